//! How a lower bound is made from runs.

reticent_oracle::words! {
    /// A way to a lower bound on ε.
    #[derive(Default, Eq)]
    pub enum AuditMethod = "method" {
        /// The best threshold on half of the runs, its error rates on the other half.
        #[default]
        Threshold = "threshold",
        /// The same test, read as a statement on μ-GDP; for runs that are exactly Gaussian.
        Gdp = "gdp",
        /// The same test, read by all that is known of the law of the run.
        Profile = "profile",
        /// Many canaries in one run.
        OneRun = "one-run",
    }
}
