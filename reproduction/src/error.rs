//! Why an experiment was not run.

use std::fmt::Display;
use std::path::PathBuf;

use crate::experiments::CATALOGUE;

/// Why an experiment was not run.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A name that no experiment has.
    #[error("there is no experiment {0}; there are all, {known}", known = names())]
    Unknown(String),
    /// A data set that is not there.
    #[error("the data set {name} is not there: {todo}")]
    Missing {
        /// Its name.
        name: &'static str,
        /// Where to get it.
        todo: String,
    },
    /// A file that cannot be read or written.
    #[error("cannot use {}: {reason}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A job that was refused.
    #[error(transparent)]
    Job(#[from] reticent::Error),
    /// Whoever was told what is being done stopped it.
    #[error("the experiment was stopped")]
    Stopped,
    /// An account that cannot be made.
    #[error("the privacy of the experiment cannot be counted: {0}")]
    Account(String),
}

/// The names of all experiments.
fn names() -> String {
    CATALOGUE.iter().map(|one| one.id()).collect::<Vec<_>>().join(", ")
}

impl ExperimentError {
    pub(crate) fn file(file: impl Into<PathBuf>, reason: impl Display) -> Self {
        ExperimentError::File { file: file.into(), reason: reason.to_string() }
    }

    pub(crate) fn account(why: impl Display) -> Self {
        ExperimentError::Account(why.to_string())
    }
}
