//! What a command answers, and how it is spoken: results on standard output, remarks and errors on
//! standard error; with `--json` one object on standard output, errors included.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use serde_json::{Value, json};

use crate::failure::CommandFailure;
use crate::number::shortened;

/// What a command has to say.
#[derive(Debug, Default)]
pub struct Answer {
    /// For people.
    pub text: String,
    /// For programs.
    pub object: Value,
    /// What must not be overlooked, whoever reads.
    pub remarks: Vec<String>,
    /// What was paid for and could not be written.
    pub unwritten: Option<Unwritten>,
    /// Where what was paid for is kept until it is delivered.
    pub kept: Option<PathBuf>,
}

/// A result that was paid for and could not be written where it was asked for.
#[derive(Debug)]
pub struct Unwritten {
    /// Why, where it is instead, and what was charged.
    pub message: String,
    /// What to do.
    pub hint: String,
}

/// The exit code of a job that was paid for and whose result could not be written.
pub const UNWRITTEN: u8 = 4;

/// What a remark begins with that says that a guarantee does not hold.
pub const ALARM: &str = "ALARM";

/// An error for programs.
#[derive(Serialize)]
struct ErrorObject<'a> {
    error: &'a str,
    hint: &'a str,
}

/// A result as JSON.
pub fn object(result: &impl Serialize) -> Value {
    json!(result)
}

impl Answer {
    /// A result, for people and for programs.
    pub fn of(text: String, result: &impl Serialize) -> Self {
        Answer { text, object: object(result), ..Answer::default() }
    }

    /// 4 where a result that was paid for could not be written, 1 where there is an alarm, so that
    /// whoever runs it unseen is told.
    pub fn code(&self) -> ExitCode {
        if self.unwritten.is_some() {
            return ExitCode::from(UNWRITTEN);
        }
        ExitCode::from(u8::from(self.remarks.iter().any(|remark| remark.starts_with(ALARM))))
    }
}

/// How it is said.
#[derive(Clone, Copy, Debug)]
pub struct OutputFormat {
    /// As JSON.
    pub json: bool,
    /// Without what can be done without. That a model is not private is said all the same.
    pub quiet: bool,
}

impl OutputFormat {
    /// Says an answer; one that is a mere report of what was written can be left unsaid.
    pub fn say(self, answer: &Answer, is_report: bool) -> Result<(), CommandFailure> {
        let object = || match (&answer.unwritten, answer.object.clone()) {
            (Some(why), Value::Object(mut fields)) => {
                fields.insert("error".to_owned(), why.message.clone().into());
                fields.insert("hint".to_owned(), why.hint.clone().into());
                Value::Object(fields)
            }
            (_, object) => object,
        };
        let said = match (self.json, self.quiet && is_report && answer.unwritten.is_none()) {
            (true, _) => print(&format!("{}\n", object())),
            (false, true) => Ok(()),
            (false, false) => print(&visible(&shortened(&answer.text))),
        };
        said.map_err(|error| match &answer.kept {
            Some(kept) if !is_report => CommandFailure::Undelivered {
                message: format!(
                    "the job is done and charged, but cannot write to standard output: {}. The result is kept in {}",
                    error.kind(),
                    kept.display()
                ),
                hint: "ask the same again: the kept result is delivered and nothing is charged".to_owned(),
            },
            _ => CommandFailure::Output(error),
        })?;
        let shouted = |remark: &&String| !self.quiet || remark.starts_with("NOT PRIVATE");
        answer.remarks.iter().filter(shouted).for_each(|remark| aside(&shortened(remark)));
        if let (Some(why), false) = (&answer.unwritten, self.json) {
            aside(&format!("error: {}", shortened(&why.message)));
            aside(&format!(" hint: {}", why.hint));
        }
        Ok(())
    }

    /// Says why there is no answer.
    pub fn fail(self, failure: &CommandFailure) -> ExitCode {
        if failure.is_broken_pipe() {
            // Whoever read the output has had enough; that is not an error.
            return ExitCode::SUCCESS;
        }
        self.error(&shortened(&failure.to_string()), &shortened(&failure.hint()));
        ExitCode::from(failure.code())
    }

    /// Says what is wrong with the arguments, or gives the help that they ask for.
    pub fn usage(self, error: &clap::Error) -> ExitCode {
        if !error.use_stderr() {
            // Help and version; there is nobody to tell if that cannot be printed.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        if self.json {
            let text = error.render().to_string();
            let mut parts = text.trim().splitn(2, "\n\n").map(words);
            let message = parts.next().unwrap_or_default();
            self.error(
                message.strip_prefix("error: ").unwrap_or(&message),
                &parts.next().unwrap_or_default(),
            );
        } else {
            let _ = error.print();
        }
        ExitCode::from(2)
    }

    fn error(self, message: &str, hint: &str) {
        let error = || object(&ErrorObject { error: message, hint });
        if self.json && print(&format!("{}\n", error())).is_ok() {
            return;
        }
        aside(&format!("error: {message}"));
        // Some messages say already what to do.
        if !message.contains(hint) {
            aside(&format!(" hint: {hint}"));
        }
    }
}

/// On one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Says something on standard error. If nobody reads there any more, as behind `2>&1 | head`, there
/// is nobody to tell, and what was done is done; `eprintln!` would panic.
pub fn aside(text: &str) {
    let _ = writeln!(io::stderr(), "{}", visible(text));
}

/// What is said for people, without what a terminal would obey and without what turns the direction
/// of writing: names and notes come out of files, and a file could draw an answer of its own.
fn visible(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    text.chars().map(|c| if hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::visible;

    /// An algorithm's name out of a file that would clear the screen and write an answer of its own.
    #[test]
    fn a_file_cannot_draw_on_the_terminal() {
        let drawn =
            visible("x\u{1b}[2J\u{1b}[Hholds\u{1b}[8m\r\u{202e}\u{9b}31m\nnext\tword ε ≤ 1");
        assert_eq!(
            drawn,
            "x\u{fffd}[2J\u{fffd}[Hholds\u{fffd}[8m\u{fffd}\u{fffd}\u{fffd}31m\nnext\tword ε ≤ 1"
        );
    }
}
