//! Why a budget does not do what it is asked: what was given, what is allowed and what to do.

use std::path::{Path, PathBuf};

use reticent_accountant::{CalibrationError, FilterError};
use reticent_noise::EntropyError;

/// The error of a budget that refuses a request.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BudgetError {
    /// There is a file of that name.
    #[error("{} is there already: nothing was changed", .0.display())]
    Exists(PathBuf),
    /// There is no such file.
    #[error("there is no budget {}", .0.display())]
    Missing(PathBuf),
    /// A file that is something else, or was changed by something else.
    #[error("{} is not a valid budget: {why}", file.display())]
    NotABudget {
        /// Its path.
        file: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Written by a newer program.
    #[error(
        "{} has format version {given}, this program reads up to version {known}: update the program",
        file.display()
    )]
    Newer {
        /// Its path.
        file: PathBuf,
        /// What the file says.
        given: i64,
        /// What this program writes.
        known: i64,
    },
    /// A value that cannot be.
    #[error("{name} = {given}: {allowed}")]
    Value {
        /// The parameter.
        name: &'static str,
        /// What was given.
        given: String,
        /// What is allowed.
        allowed: String,
    },
    /// A job that protects others, or from others, than the budget.
    #[error("the job is incompatible with the budget: {0}")]
    Scope(String),
    /// The budget does not allow it.
    #[error(
        "the job does not fit into the budget: with it {} of epsilon = {ceiling} at delta = {delta:e} would be \
         counted, and {counted:.4} is now; a job with Gaussian noise fits up to epsilon = {left:.4} at delta = {at:e}",
        with_it(*together)
    )]
    DoesNotFit {
        /// What is counted now.
        counted: f64,
        /// What would be counted with it.
        together: f64,
        /// The budget's ε.
        ceiling: f64,
        /// The budget's δ.
        delta: f64,
        /// The largest ε of a job with Gaussian noise that fits.
        left: f64,
        /// The δ that it is at.
        at: f64,
    },
    /// More was released than was promised.
    #[error(
        "more was released than the budget of epsilon = {epsilon} at delta = {delta:e} allows: its guarantee is \
         broken, and no job can be admitted"
    )]
    Broken {
        /// The budget's ε.
        epsilon: f64,
        /// The budget's δ.
        delta: f64,
    },
    /// A plan that cannot be counted.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// No noise makes such a plan.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    /// A table that the budget does not know.
    #[error(
        "this is not the table of the budget {dataset}, and its relation to that table is not declared"
    )]
    AnotherTable {
        /// The data set of the budget.
        dataset: String,
    },
    /// A table that is said to be of other people, and has a file that the budget knows.
    #[error(
        "a file of this table already belongs to the budget {dataset}, so its people cannot be disjoint from its tables"
    )]
    NotDisjoint {
        /// The data set of the budget.
        dataset: String,
    },
    /// A job whose users are others than the budget's.
    #[error(
        "the budget {dataset} protects the users of the column {known}, and the job uses {given}"
    )]
    OtherUsers {
        /// The data set of the budget.
        dataset: String,
        /// The column that the budget is bound to.
        known: String,
        /// The column of the job.
        given: String,
    },
    /// A reservation that was made in another budget.
    #[error("job {0} was not reserved in this budget: nothing was changed")]
    ReservedElsewhere(u64),
    /// A job that is closed, or was never begun.
    #[error("there is no open job {0}")]
    NotOpen(u64),
    /// The history contradicts itself.
    #[error("line {line} of the history is inconsistent: {what}")]
    Damaged {
        /// Counted from 1.
        line: u64,
        /// In which way.
        what: String,
    },
    /// A line that was there once is not any more.
    #[error(
        "none of the {lines} lines of the history has this hash: the file is of an older state than when it was \
         written down, or is another budget"
    )]
    NoSuchLine {
        /// How many lines there are.
        lines: u64,
    },
    /// Somebody else is writing, for longer than one waits.
    #[error("{} is held by another process", .0.display())]
    Busy(PathBuf),
    /// The file may not be written.
    #[error("{} cannot be written", .0.display())]
    ReadOnly(PathBuf),
    /// There is no room.
    #[error("{} could not be written to its end (is the disk full?): nothing was reserved", .0.display())]
    Full(PathBuf),
    /// Somebody removed or replaced the file while it was open.
    #[error("{} was removed or replaced while it was in use: nothing was reserved", .0.display())]
    Gone(PathBuf),
    /// The same, noticed after it was written.
    #[error(
        "{} was removed or replaced while it was written: the line is in the old file, and perhaps not in the \
         new one; do not query the data",
        .0.display()
    )]
    GoneSince(PathBuf),
    /// A file with a second name: each name has a log of its own, and does not know the other's.
    #[error("{} has a second name (a hard link), under which jobs would not be seen", .0.display())]
    Linked(PathBuf),
    /// A file that is mounted by itself: beside each of its places is a log of its own.
    #[error(
        "{} is a mount of its own: jobs that are reserved under another path of the file would not be seen",
        .0.display()
    )]
    Mounted(PathBuf),
    /// A file system on which two processes cannot keep out of each other's way.
    #[error("{} cannot be locked where it is ({why})", file.display())]
    Locking {
        /// Its path.
        file: PathBuf,
        /// What failed.
        why: String,
    },
    /// Anything else about the file.
    #[error("{} cannot be used: {why}", file.display())]
    Storage {
        /// Its path.
        file: PathBuf,
        /// What failed.
        why: String,
    },
    /// The operating system has no random numbers.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

fn with_it(together: f64) -> String {
    if together.is_finite() { format!("{together:.4}") } else { "more than any part".to_owned() }
}

impl BudgetError {
    /// Whether it was the budget that stood in the way.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        matches!(self, BudgetError::DoesNotFit { .. } | BudgetError::Broken { .. })
    }

    /// What SQLite said, in words.
    pub(crate) fn from_sqlite(file: &Path, error: &rusqlite::Error) -> Self {
        use rusqlite::ErrorCode as Code;
        let file = file.to_owned();
        let not_a_budget =
            |why: &str| BudgetError::NotABudget { file: file.clone(), why: why.into() };
        let rusqlite::Error::SqliteFailure(failure, _) = error else {
            return not_a_budget("a field is not what it should be");
        };
        match failure.code {
            Code::DatabaseBusy | Code::DatabaseLocked => BudgetError::Busy(file),
            Code::ReadOnly | Code::PermissionDenied => BudgetError::ReadOnly(file),
            Code::DiskFull => BudgetError::Full(file),
            Code::NotADatabase => not_a_budget("it is no database"),
            Code::DatabaseCorrupt => not_a_budget("the database is damaged"),
            Code::FileLockingProtocolFailed => {
                BudgetError::Locking { file, why: "locking protocol".to_owned() }
            }
            Code::CannotOpen => {
                BudgetError::Storage { file, why: "it cannot be opened".to_owned() }
            }
            Code::SystemIoFailure => match failure.extended_code {
                rusqlite::ffi::SQLITE_IOERR_LOCK
                | rusqlite::ffi::SQLITE_IOERR_RDLOCK
                | rusqlite::ffi::SQLITE_IOERR_UNLOCK
                | rusqlite::ffi::SQLITE_IOERR_CHECKRESERVEDLOCK
                | rusqlite::ffi::SQLITE_IOERR_SHMLOCK
                | rusqlite::ffi::SQLITE_IOERR_SHMMAP
                | rusqlite::ffi::SQLITE_IOERR_SHMOPEN => {
                    BudgetError::Locking { file, why: "no shared lock".to_owned() }
                }
                rusqlite::ffi::SQLITE_IOERR_WRITE
                | rusqlite::ffi::SQLITE_IOERR_FSYNC
                | rusqlite::ffi::SQLITE_IOERR_SHMSIZE
                | rusqlite::ffi::SQLITE_IOERR_TRUNCATE => BudgetError::Full(file),
                _ => BudgetError::Storage { file, why: "reading or writing failed".to_owned() },
            },
            Code::ConstraintViolation => not_a_budget("its history refuses a line"),
            other => BudgetError::Storage { file, why: format!("{other:?}") },
        }
    }
}
