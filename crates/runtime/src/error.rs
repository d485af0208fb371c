//! Why a run cannot be, or cannot go on.

use std::path::PathBuf;

use reticent_accountant::{AccountError, CalibrationError};
use reticent_admm::Refused;
use reticent_noise::EntropyError;
use reticent_oracle::Refusal;

use crate::rejected::Rejected;

/// Why there is no result. Never says anything about the data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A gate did not answer.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A parameter with a value that is not allowed.
    #[error(transparent)]
    Value(#[from] Refused),
    /// The budget does not allow the plan.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// The books do not balance.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// No random numbers.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// A message that cannot be written.
    #[error(transparent)]
    Message(#[from] Rejected),
    /// A file of a run.
    #[error("{}: {reason}", file.display())]
    File {
        /// Its path.
        file: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A plan with more events than the rounds are said to use: what a trace says of the rounds
    /// before the last would be too little.
    #[error(
        "a defect of the algorithm: a plan has {planned} events, and its rounds count {counted}; nothing was asked"
    )]
    Uncounted {
        /// The events of the plan.
        planned: u64,
        /// Those that all rounds are said to use.
        counted: u64,
    },
    /// A masked sum that cannot be opened, whoever is waited for.
    #[error("the masked sum of round {round} was not opened: {why}")]
    Unopened {
        /// Its round.
        round: u32,
        /// By whom, and why.
        why: String,
    },
    /// A snapshot that does not fit the nodes.
    #[error("the checkpoint does not fit this run: {0}; start anew, without `resume`")]
    Snapshot(&'static str),
}
