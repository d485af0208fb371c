//! Why a run on a network did not begin or did not finish.

use std::path::{Path, PathBuf};

use reticent_budget::BudgetError;
use reticent_payment::PaymentError;
use reticent_runtime::{Rejected, RunError};

use crate::links::LinkError;
use crate::message::Rejection;

/// Why a run on a network did not begin or did not finish.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The job is invalid or failed.
    #[error(transparent)]
    Job(#[from] reticent::Error),
    /// A node of the run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The party's budget does not allow the run, or failed.
    #[error(transparent)]
    Payment(#[from] PaymentError),
    /// A roster that is invalid, or is not signed by all.
    #[error("the roster {}: {reason}", file.display())]
    Roster {
        /// Its path.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An invalid run file or party file.
    #[error("{}: {reason}", file.display())]
    File {
        /// Its path.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A journal that cannot be used. Nothing is sent that it does not hold.
    #[error("the journal {}: {reason}", file.display())]
    Journal {
        /// Its path.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The connection failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The other side refused.
    #[error("{who} refuses: {why}")]
    Refused {
        /// The name of the other side.
        who: String,
        /// The reason.
        why: Rejection,
    },
    /// A member did not connect, or did not come back, in time. What was agreed on is kept.
    #[error("{who} did not come within {seconds} s{}", last_try(.why.as_deref()))]
    Absent {
        /// The name of the member.
        who: String,
        /// The time that was waited, in seconds.
        seconds: u64,
        /// Why attempts to reach it have failed, if it is dialled.
        why: Option<String>,
    },
    /// The other side has deviated from the agreement. Nothing more is answered.
    #[error("{who} deviates from the agreement: {what}")]
    Disagreed {
        /// The name of the other side.
        who: String,
        /// What it did.
        what: String,
    },
    /// This party has given its random number to as many attempts at a run as its noise allows.
    #[error(
        "this party has given its random number to {most} attempts at a run with this journal, and refuses more: the \
         members of a sum follow from the run's name, and somebody may be waiting for a favourable one"
    )]
    Attempts {
        /// The largest number of attempts.
        most: u32,
    },
    /// The others do not begin the run. This party has joined none, and nothing is spent.
    #[error("the run has not begun: {0}")]
    NotBegun(String),
    /// The run is over for this party.
    #[error("the run has ended: {0}")]
    Ended(String),
}

/// The last failure to reach a member, as a clause.
fn last_try(why: Option<&str>) -> String {
    why.map_or(String::new(), |why| format!(": {why}"))
}

/// Why a file cannot be read.
pub(crate) fn unread(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "it cannot be read: you may not".to_owned(),
        other => format!("it cannot be read: {other}"),
    }
}

impl HostError {
    pub(crate) fn journal(file: &Path, reason: impl ToString) -> Self {
        HostError::Journal { file: file.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn disagreed(who: impl Into<String>, what: impl Into<String>) -> Self {
        HostError::Disagreed { who: who.into(), what: what.into() }
    }

    /// Whether the same command may continue the run.
    pub fn may_go_on(&self) -> bool {
        matches!(self, HostError::Absent { .. } | HostError::Link(_))
    }

    /// Whether the reservation of the party stays open: the same command may continue, or it is
    /// unknown whether anything was answered. A budget that is busy, or whose disk is full, can be
    /// written to a moment later: if that closed the job, the run could not continue and its cost
    /// would be lost.
    pub(crate) fn keeps_reservation(&self) -> bool {
        self.may_go_on() || matches!(self, HostError::Journal { .. } | HostError::Payment(_))
    }

    /// Whether a budget was the reason.
    pub fn is_budget(&self) -> bool {
        match self {
            HostError::Job(error) => error.is_budget(),
            HostError::Payment(PaymentError::Budget(error)) => error.is_refusal(),
            HostError::Payment(PaymentError::Job(error)) => error.is_budget(),
            _ => false,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            HostError::Job(error) => error.hint(),
            HostError::Payment(error) => error.hint().to_owned(),
            HostError::Run(_) => "`reticent run status` says whether anything was answered; what was counts in full".to_owned(),
            HostError::Roster { .. } => {
                "`reticent roster show` says who is in it and who has signed".to_owned()
            }
            HostError::File { .. } => "see docs/network.md".to_owned(),
            HostError::Journal { .. } => {
                "check that you may write it and the disk has room; nothing was sent that it does not hold".to_owned()
            }
            HostError::Absent { .. } | HostError::Link(_) => {
                "run the same command again to continue; answers that were given count in full".to_owned()
            }
            HostError::Refused { why, .. } => why.hint().to_owned(),
            HostError::Disagreed { .. } => {
                "compare roster and run file with the others; nothing more is answered".to_owned()
            }
            HostError::Attempts { .. } => {
                "nothing was spent; find out with the others who has left each time before you begin anew with new \
                 journals".to_owned()
            }
            HostError::NotBegun(_) => {
                "nothing was spent; when it is settled with the others, the same command with the same journal \
                 takes part again".to_owned()
            }
            HostError::Ended(_) => {
                "begin a new run with a journal of its own; what was answered counts in full".to_owned()
            }
        }
    }
}

impl From<Rejected> for HostError {
    fn from(rejected: Rejected) -> Self {
        HostError::Run(rejected.into())
    }
}

impl From<BudgetError> for HostError {
    fn from(error: BudgetError) -> Self {
        HostError::Payment(PaymentError::Budget(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A budget that was busy at the first answer had its job closed once it could be written to,
    /// and the run that was paid for could not continue.
    #[test]
    fn a_budget_that_cannot_be_written_to_for_a_moment_loses_no_paid_run() {
        let folder = tempfile::tempdir().unwrap();
        let gone = reticent_budget::Store::open(&folder.path().join("budget")).unwrap_err();
        assert!(HostError::from(gone).keeps_reservation());
        let file = folder.path().join("journal");
        assert!(HostError::journal(&file, "full").keeps_reservation());
        assert!(!HostError::Ended("by name".to_owned()).keeps_reservation());
        assert!(!HostError::disagreed("the lead", "another run").keeps_reservation());
    }
}
