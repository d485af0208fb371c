//! What a step of a decentralised algorithm releases.

reticent_oracle::words! {
    /// What is released by a step that touches data; the rest of the step follows from it.
    #[derive(Eq)]
    pub enum Release = "release" {
        /// The clipped mean gradient, with Gaussian noise: a linearised step.
        Gradient = "gradient",
        /// The minimiser of the step's objective, with Gaussian noise on it.
        Minimiser = "minimiser",
        /// The minimiser of the step's objective with a random linear term of spherical Laplace
        /// law, as in the paper.
        Objective = "objective",
        /// The same with a normal linear term.
        NormalObjective = "normal-objective",
    }
}
