//! The law of the random linear term of an objective.

reticent_core::words! {
    /// How a random linear term is drawn.
    #[derive(Default, Eq)]
    pub enum Law = "law" {
        /// Independent normal coordinates.
        #[default]
        Normal = "normal",
        /// Density falling exponentially with the norm: (ε, 0)-privacy.
        SphericalLaplace = "spherical-laplace",
    }
}
