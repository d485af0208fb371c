//! Why a command has no answer, and the exit code for it.

use std::io;

use reticent::Error;

/// Why a command has no answer.
#[derive(Debug)]
pub enum Failure {
    /// The job could not be done.
    Job(Error),
    /// Standard output cannot be written.
    Output(io::Error),
    /// The arguments can be read but do not make sense together.
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
}

impl Failure {
    /// A job that a command other than `fit` described: what its hint points to is that command's
    /// help.
    pub fn of(command: &str, error: Error) -> Self {
        if error.is_budget() {
            return Failure::Job(error);
        }
        let help = format!("reticent {command} --help");
        let hint = match &error {
            // Where nothing runs, nothing could have been released.
            Error::Account(_) if command != "simulate" => format!("see `{help}`"),
            other => other.hint().replace("reticent fit --help", &help),
        };
        Failure::Usage { message: error.to_string(), hint }
    }

    /// 3 when the budget was refused, 2 for everything else that was asked wrongly.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Job(error) if error.is_budget() => 3,
            _ => 2,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Failure::Job(error) => error.hint(),
            Failure::Output(_) => "check that the disk has room".to_owned(),
            Failure::Usage { hint, .. } => hint.clone(),
        }
    }

    /// Whether the reader of standard output went away.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Job(error) => error.fmt(f),
            Failure::Output(error) => {
                write!(f, "cannot write to standard output: {}", error.kind())
            }
            Failure::Usage { message, .. } => f.write_str(message),
        }
    }
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Job(error.into())
    }
}
