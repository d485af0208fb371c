//! Why a job was not paid for, or did not come to its end.

use reticent::Error;
use reticent_budget::BudgetError;

/// Why a job was not paid for, or did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum PaymentError {
    /// The budget refused, or cannot be used; nothing was asked.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The job could not be opened, or ended on its way.
    #[error(transparent)]
    Job(#[from] Error),
    /// The budget of one party refused, or cannot be used; nothing was asked, and nobody pays.
    #[error("party {party}: {why}{}", needed.as_ref().map(|needed| format!(" ({needed})")).unwrap_or_default())]
    Party {
        /// Its number, from 0.
        party: usize,
        /// What its budget says.
        why: BudgetError,
        /// Why the run does not go on without it, where that is what ended it.
        needed: Option<String>,
    },
    /// Two parties with the same budget, or with copies of one.
    #[error(
        "parties {} and {} have the same budget, or copies of one: each party needs its own budget",
        .0, .1
    )]
    OneBudget(usize, usize),
    /// A job that no budget holds; nothing was reserved, and nothing was asked.
    #[error("no budget holds this job: {0}")]
    NoGuarantee(String),
    /// A table that has the same file twice, of a job that protects records.
    #[error(
        "the table has the same file twice: each of its records is used twice, and a budget counts one use"
    )]
    Twice,
    /// Standard input, which is not there a second time.
    #[error("a budget identifies its table by file; standard input cannot be used")]
    StandardInput,
    /// A pipe or a device, which is not there a second time either.
    #[error("a budget identifies its table by file; a pipe or a device cannot be used")]
    Pipe,
    /// Somebody wrote the table while it was read.
    #[error("the table was written while it was read: nothing was reserved")]
    Changed,
    /// A journal of a sweep that was begun without a budget.
    #[error("the journal does not say which job of the budget paid for the sweep")]
    Unreserved,
    /// A file that cannot be read a second time.
    #[error("the table cannot be read twice: {0}")]
    Unreadable(String),
}

impl PaymentError {
    /// Whether the table is nothing that could be read twice: it must not be read at all.
    #[must_use]
    pub fn is_no_file(&self) -> bool {
        matches!(self, PaymentError::StandardInput | PaymentError::Pipe)
    }

    /// What to do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            PaymentError::Budget(_) | PaymentError::Job(_) | PaymentError::Party { .. } => {
                "nothing was reserved"
            }
            PaymentError::OneBudget(..) => {
                "make a budget for each party with `reticent budget new`, or pay from one for the whole table"
            }
            PaymentError::NoGuarantee(_) => "nothing was reserved, and nothing was asked",
            PaymentError::Twice => {
                "give each file once; where a person has several records, protect users"
            }
            PaymentError::StandardInput | PaymentError::Pipe => "give a file",
            PaymentError::Changed => "try again when it is at rest",
            PaymentError::Unreserved => "begin another sweep, in another folder",
            PaymentError::Unreadable(_) => "a budget knows its table by its files",
        }
    }
}
