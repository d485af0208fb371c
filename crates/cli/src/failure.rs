//! Why a command has no answer, and the exit code for it.

use std::io;

use reticent::Error;
use reticent_budget::BudgetError;
use reticent_payment::PaymentError;

use crate::answer::UNWRITTEN;
use crate::flags::{flag_of, in_flags, typed};

/// The exit code of a command that goes on when somebody comes.
const WAITING: u8 = 5;

/// A command that is said later.
const UNSAID: &str = "";

/// Why a command has no answer.
#[derive(Debug)]
pub enum CommandFailure {
    /// The job could not be done.
    Job {
        /// The command that described it.
        command: &'static str,
        /// Why.
        error: Error,
    },
    /// Standard output cannot be written.
    Output(io::Error),
    /// A result that was paid for could not be written, and is kept.
    Undelivered {
        /// Why, and where it is.
        message: String,
        /// What to do.
        hint: String,
    },
    /// Somebody was not there in time, and the same command goes on when it is.
    #[cfg_attr(not(feature = "network"), allow(dead_code))]
    Waiting {
        /// Who.
        message: String,
        /// What to do.
        hint: String,
    },
    /// A budget refused, or could not be used.
    Budget(BudgetError),
    /// The budget of a party did.
    PartyBudget {
        /// Which one, and why.
        message: String,
        /// What its budget says.
        error: BudgetError,
    },
    /// The arguments can be read but do not make sense together.
    Usage {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: String,
    },
}

impl CommandFailure {
    /// A job that a command other than `fit` described.
    pub fn of(command: &'static str, error: Error) -> Self {
        CommandFailure::Job { command, error }
    }

    /// The same for what was said to be a fit's and is another command's.
    pub fn by(self, command: &'static str) -> Self {
        match self {
            CommandFailure::Job { error, .. } => CommandFailure::of(command, error),
            other => other,
        }
    }

    /// The same for what nobody said which command it came from.
    pub fn of_command(self, command: &'static str) -> Self {
        match self {
            CommandFailure::Job { command: UNSAID, error } => CommandFailure::of(command, error),
            other => other,
        }
    }

    /// A job that was not paid for, or did not come to its end.
    pub fn of_payment(error: PaymentError) -> Self {
        let said = error.to_string();
        match error {
            PaymentError::Budget(error) => CommandFailure::Budget(error),
            PaymentError::Job(error) => error.into(),
            PaymentError::Party { why, .. } => {
                CommandFailure::PartyBudget { message: in_flags(&said), error: why }
            }
            other => {
                CommandFailure::Usage { message: other.to_string(), hint: other.hint().to_owned() }
            }
        }
    }

    /// 5 when somebody was not there and the same command goes on, 4 when a result that was paid for could not be
    /// delivered, 3 when the budget was refused, 2 for
    /// everything else that was asked wrongly.
    pub fn code(&self) -> u8 {
        match self {
            CommandFailure::Job { error, .. } if error.is_budget() => 3,
            CommandFailure::Budget(error) | CommandFailure::PartyBudget { error, .. }
                if error.is_refusal() =>
            {
                3
            }
            CommandFailure::Undelivered { .. } => UNWRITTEN,
            CommandFailure::Waiting { .. } => WAITING,
            _ => 2,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            CommandFailure::Job { command, error } => hint(command, error),
            CommandFailure::PartyBudget { error: BudgetError::AnotherTable { .. }, .. } => {
                "the budget of a party belongs to its share of the table: deal it as before, give the budgets in \
                 the order of the parties, or make new ones"
                    .to_owned()
            }
            CommandFailure::Budget(error) | CommandFailure::PartyBudget { error, .. } => {
                budget_hint(error).to_owned()
            }
            CommandFailure::Output(_) => "check that the disk has room".to_owned(),
            CommandFailure::Undelivered { hint, .. }
            | CommandFailure::Waiting { hint, .. }
            | CommandFailure::Usage { hint, .. } => hint.clone(),
        }
    }

    /// Whether the reader of standard output went away.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, CommandFailure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl std::fmt::Display for CommandFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            CommandFailure::Job { error, .. } => f.write_str(&message(error)),
            CommandFailure::Budget(error) => f.write_str(&in_flags(&error.to_string())),
            CommandFailure::Output(error) => {
                write!(f, "cannot write to standard output: {}", error.kind())
            }
            CommandFailure::Undelivered { message, .. }
            | CommandFailure::Waiting { message, .. }
            | CommandFailure::PartyBudget { message, .. }
            | CommandFailure::Usage { message, .. } => f.write_str(message),
        }
    }
}

/// What is wrong, parameters as flags. What quotes a file is left as it is: a column may be called
/// as a flag is.
fn message(error: &Error) -> String {
    match error {
        Error::Value(refused) => {
            format!("{} = {}: {}", typed(refused.name), refused.given, in_flags(&refused.allowed))
        }
        Error::Missing { .. } | Error::Refused(_) | Error::Run(_) => in_flags(&error.to_string()),
        Error::Spent { why, .. } | Error::Unfinished { why, .. } => message(why),
        other => other.to_string(),
    }
}

/// What to do, in the words of the command line.
fn hint(command: &str, error: &Error) -> String {
    match error {
        Error::Value(refused) => {
            match flag_of(command, refused.name) {
                Some(flag) => format!("see `reticent {command} --help` for {flag}"),
                None => format!("see `reticent {command} --help`"),
            }
        }
        Error::SpecSyntax { .. } => "keys are the flags of `reticent fit` without the dashes in front \
                                     and with _ for - within, as in public_n = 1000 (but intercept = \
                                     false for --no-intercept); [parties] and [failures] are for \
                                     `reticent simulate`"
            .to_owned(),
        Error::Altered { .. } => {
            "put back the file as it was written, or fit again; `reticent verify` says what does not fit"
                .to_owned()
        }
        Error::Key { .. } => "`reticent identity new FILE` makes a key".to_owned(),
        Error::Parse(_) => {
            "`reticent list losses|penalties|constraints|algorithms` shows what there is".to_owned()
        }
        Error::Unfinished { .. } => format!(
            "{}; its job stays open in the budget until then, or until `reticent budget forfeit` closes it",
            in_flags(&error.hint())
        ),
        // Where nothing runs, nothing could have been released.
        Error::Account(_) if ["account", "audit"].contains(&command) => {
            format!("see `reticent {command} --help`")
        }
        other => in_flags(&other.hint()),
    }
}

impl<E: Into<Error>> From<E> for CommandFailure {
    fn from(error: E) -> Self {
        CommandFailure::Job { command: UNSAID, error: error.into() }
    }
}

/// What to do about a budget that refuses.
fn budget_hint(error: &BudgetError) -> &'static str {
    match error {
        BudgetError::Exists(_) => "give another name: a budget is never replaced",
        BudgetError::Missing(_) => "make one with `reticent budget new FILE --epsilon E --delta D`",
        BudgetError::NotABudget { .. } | BudgetError::Damaged { .. } => {
            "nothing is admitted by a budget that contradicts itself: put back the last copy that checks, and \
             record what was released since with `reticent budget import`"
        }
        BudgetError::Newer { .. } => "use the newer program",
        BudgetError::Value { .. } => "see `reticent budget --help`",
        BudgetError::DoesNotFit { .. } => {
            "nothing was reserved: ask for less, or see `reticent budget show`"
        }
        BudgetError::Broken { .. } => "`reticent budget show` says which release it was",
        BudgetError::AnotherTable { .. } => {
            "say --new-edition if it is about the same people, or --disjoint-people if nobody is in both; or make a \
             budget of its own for it"
        }
        BudgetError::NotDisjoint { .. } => {
            "leave out the file that is known, and pay for the others by a job of their own first; or say \
             --new-edition if they are of the same people"
        }
        BudgetError::OtherUsers { .. } => {
            "nothing was reserved: name the users by the same column in the schema, or make a budget of its own"
        }
        BudgetError::NotOpen(_) | BudgetError::ReservedElsewhere(_) => {
            "`reticent budget show` lists the jobs"
        }
        BudgetError::NoSuchLine { .. } => {
            "put back the newest copy, and record what was released since with `reticent budget import`"
        }
        BudgetError::Busy(_) => "try again when it is done",
        BudgetError::ReadOnly(_) => "check that you may write the file and its folder",
        BudgetError::Full(_) => "make room and try again",
        BudgetError::GoneSince(_) => {
            "put back the file that was there, and `reticent budget show` it"
        }
        BudgetError::Linked(_) => {
            "remove the other name; copy a history with `reticent budget export`"
        }
        BudgetError::Mounted(_) => "mount its folder in place of the file",
        BudgetError::Gone(_) => "put it back, and check what was released meanwhile",
        BudgetError::Locking { .. } => "keep budgets on a local disk",
        BudgetError::Storage { .. } => "check the path and that you may read and write there",
        BudgetError::Entropy(_) => "nothing was made",
        // A scope, a filter or a calibration that the accountant refuses.
        _ => "nothing was reserved; see docs/budgets.md",
    }
}
