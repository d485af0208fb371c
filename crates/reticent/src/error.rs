//! One error for every front-end: a message, a hint, and whether the budget was the reason.

use std::io;
use std::path::{Path, PathBuf};

use reticent_accountant::{AccountError, CalibrationError, Ledger, Refused};
use reticent_oracle::Refusal;
use reticent_oracle::tables::{DataError, SchemaError};
use reticent_problem::{ParseError, ShapeError};
use reticent_runtime::RunError;

/// The error of a job that was not done: what was given, what is allowed and what to do; never a
/// private value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that cannot be read.
    #[error("cannot read {what} {}: {reason}", file.display())]
    Read {
        /// What the file was to be.
        what: &'static str,
        /// Its path.
        file: PathBuf,
        /// The kind of failure.
        reason: String,
    },
    /// A file that cannot be written.
    #[error("cannot write {}: {reason}; nothing was left behind", file.display())]
    Write {
        /// Its path.
        file: PathBuf,
        /// The kind of failure.
        reason: String,
    },
    /// Something else is where the result is to go.
    #[error("{} is there already, {what}: nothing was written", file.display())]
    Exists {
        /// Its path.
        file: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// A job file that is not one.
    #[error("{} is not a job file: {message}", file.display())]
    SpecSyntax {
        /// Its path.
        file: PathBuf,
        /// What the reader said.
        message: String,
    },
    /// A parameter with a value that is not allowed.
    #[error(transparent)]
    Value(#[from] Refused),
    /// Something that must be given and was not.
    #[error("{what} is missing: {todo}")]
    Missing {
        /// What is missing.
        what: &'static str,
        /// How to give it.
        todo: &'static str,
    },
    /// A model file that is not one, or from another version.
    #[error("{} is not a model of this version: {reason}", file.display())]
    Model {
        /// Its path.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A model or certificate file that is not as it was written.
    #[error("{} was changed since it was written: {what}", file.display())]
    Altered {
        /// Its path.
        file: PathBuf,
        /// Which part does not fit.
        what: String,
    },
    /// A key file that is not one.
    #[error("{} is not a usable key: {reason}", file.display())]
    Key {
        /// Its path.
        file: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The budget does not allow it.
    #[error("the budget does not allow this: {0}")]
    Budget(String),
    /// A schema that is not one.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// A table that does not fit its schema.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A loss, penalty or constraint that is not one.
    #[error(transparent)]
    Parse(#[from] ParseError),
    /// A constraint of the wrong width.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The gate did not answer.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A run that ended on its way, after it was told something about the data.
    #[error("{why}")]
    Spent {
        /// Why it ended.
        why: Box<Error>,
        /// The budget that it had.
        epsilon: f64,
        /// The same.
        delta: f64,
        /// What is to be counted, where one table has one set of books: the whole plan, however far
        /// the run came, because that it ended may be the doing of an answer.
        books: Option<Box<Ledger>>,
    },
    /// A sweep on private data that ended on its way: models may be out, all of it counts, and what is
    /// left of it may go on.
    #[error("{why}")]
    Unfinished {
        /// Why it ended.
        why: Box<Error>,
        /// What its runs may cost together at most.
        epsilon: f64,
        /// The same.
        delta: f64,
    },
    /// The books do not balance.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// A run between parties cannot be, or cannot go on.
    #[error(transparent)]
    Run(RunError),
}

impl Error {
    pub(crate) fn read(file: &Path, what: &'static str, error: &io::Error) -> Self {
        Error::Read { what, file: file.to_owned(), reason: plain(error) }
    }

    pub(crate) fn write(file: &Path, error: &io::Error) -> Self {
        Error::Write { file: file.to_owned(), reason: plain(error) }
    }

    /// A file that could not be written to its end.
    pub fn written(file: &Path, error: &io::Error) -> Self {
        Error::write(file, error)
    }

    /// A parameter that cannot have the value given.
    pub fn value(name: &'static str, given: impl ToString, allowed: impl Into<String>) -> Self {
        Refused::new(name, given, allowed).into()
    }

    /// A result that cannot be written as JSON, as none is that holds finite numbers.
    pub(crate) fn no_digest(error: serde_json::Error) -> Self {
        Refused::new("model", "the result", error.to_string()).into()
    }

    pub(crate) fn spec_form(error: impl std::fmt::Display) -> Self {
        Refused::new("job", "the flags", error.to_string()).into()
    }

    /// A remedy, in a sentence.
    pub fn hint(&self) -> String {
        match self {
            Error::Read { .. } => "check the path and that you may read it".to_owned(),
            Error::Write { .. } => "check that the folder can be written and the disk has room".to_owned(),
            Error::Exists { .. } => "give another place with `out`, or `force` to replace it".to_owned(),
            Error::SpecSyntax { .. } => {
                "a key is a parameter of the job, as in public_n = 1000 (docs/settings.md); [parties] and \
                 [failures] are for a simulation"
                    .to_owned()
            }
            Error::Value(refused) => format!("give {} another value", refused.name),
            Error::Missing { todo, .. } => (*todo).to_owned(),
            Error::Model { .. } => "give the model.json that a fit wrote".to_owned(),
            Error::Altered { .. } => {
                "put back the file as it was written, or fit again; a certificate covers no other weights".to_owned()
            }
            Error::Key { .. } => "make an identity, and give its file".to_owned(),
            Error::Budget(_) => "ask for a larger epsilon or delta, or for fewer iterations".to_owned(),
            Error::Schema(error) => error.hint().to_owned(),
            Error::Data(error) => error.hint().to_owned(),
            Error::Parse(_) => {
                "see the catalogues of losses, penalties, constraints and algorithms".to_owned()
            }
            Error::Shape(_) => "give a constraint whose width is the number of features".to_owned(),
            Error::Run(RunError::File { .. }) => "check the path and that the disk has room".to_owned(),
            Error::Spent { why, epsilon, delta, .. } if !why.is_divergence() => format!(
                "no model was written, but questions about the data were answered: count epsilon = {epsilon} at \
                 delta = {delta:e} as spent"
            ),
            Error::Spent { epsilon, delta, .. } => format!(
                "no model was written, but that the run did not get to its end was found out from the data: count \
                 epsilon = {epsilon} at delta = {delta:e} as spent"
            ),
            Error::Unfinished { epsilon, delta, .. } => format!(
                "models may have been written, and the whole sweep counts, at most epsilon = {epsilon} at \
                 delta = {delta:e}; what was not begun goes on with `resume`"
            ),
            Error::Refused(_) | Error::Account(_) | Error::Run(_) => "nothing was released".to_owned(),
        }
    }

    /// Whether the caller stopped it.
    pub fn is_stop(&self) -> bool {
        match self {
            Error::Spent { why, .. } | Error::Unfinished { why, .. } => why.is_stop(),
            other => matches!(other, Error::Refused(Refusal::Stopped)),
        }
    }

    /// Whether what was released is why it ended.
    fn is_divergence(&self) -> bool {
        matches!(self, Error::Refused(refusal) if !matches!(refusal, Refusal::Stopped))
    }

    /// Whether it was the budget that stood in the way.
    pub fn is_budget(&self) -> bool {
        matches!(self, Error::Budget(_))
    }
}

/// What is wrong with a job is said in the same words whoever found it out.
impl From<RunError> for Error {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Refused(refusal) => refusal.into(),
            RunError::Value(error) => error.into(),
            RunError::Calibration(error) => error.into(),
            RunError::Account(error) => error.into(),
            other => Error::Run(other),
        }
    }
}

impl From<CalibrationError> for Error {
    fn from(error: CalibrationError) -> Self {
        match error {
            // The plan itself was tried before the search: what it refuses now is the noise.
            CalibrationError::Plan { reason, .. } => {
                Error::Budget(format!("so much noise cannot be drawn ({reason})"))
            }
            other => Error::Budget(other.to_string()),
        }
    }
}

/// What is wrong with a file, in a user's words.
pub(crate) fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        kind => kind.to_string(),
    }
}
