//! Why a run is impossible or has failed.

use std::path::PathBuf;

use reticent_accountant::{AccountError, CalibrationError};
use reticent_admm::Refused;
use reticent_noise::EntropyError;
use reticent_oracle::Refusal;

use crate::rejected::Rejected;

/// Why there is no result. It never reveals anything about the data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A gate has refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A parameter with an invalid value.
    #[error(transparent)]
    Value(#[from] Refused),
    /// The budget does not allow the plan.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// The books do not balance.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// There are no random numbers.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
    /// A message that cannot be serialised.
    #[error(transparent)]
    Message(#[from] Rejected),
    /// A file of a run.
    #[error("{}: {reason}", file.display())]
    File {
        /// Its path.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A plan with more events than the rounds can use: the trace of the rounds before the last
    /// would count too little.
    #[error(
        "a defect of the algorithm: a plan has {planned} events, and its rounds count {counted}; nothing was asked"
    )]
    Uncounted {
        /// The events of the plan.
        planned: u64,
        /// The events that all rounds can use.
        counted: u64,
    },
    /// A masked sum that cannot be opened, however long the run waits.
    #[error("the masked sum of round {round} was not opened: {why}")]
    Unopened {
        /// Its round.
        round: u32,
        /// The reason, with the party to blame.
        why: String,
    },
    /// A snapshot that does not fit the nodes.
    #[error("the checkpoint does not fit this run: {0}; start anew, without `resume`")]
    Snapshot(&'static str),
}
