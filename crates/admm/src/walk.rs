//! What the users of a random walk keep between two visits of the token (FP23, Algorithm 4).

reticent_oracle::words! {
    /// Whether a user keeps its own variable.
    #[derive(Default, Eq)]
    pub enum WalkState = "walk" {
        /// Nothing is kept: every step is one map of the token.
        #[default]
        Stateless = "stateless" " (nothing is kept between visits)",
        /// Each user keeps its `u_i`, as in the paper.
        Stateful = "stateful" " (each user keeps its own variable)",
    }
}
