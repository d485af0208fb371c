//! What a command answers, and how it is spoken: results on standard output, remarks and errors on
//! standard error; with `--json` one object on standard output, errors included.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use reticent::internal::write_text;
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
}

/// What a remark begins with that says that a guarantee does not hold.
pub const ALARM: &str = "ALARM";

impl Answer {
    /// Writes a result that was paid for, and says where; what cannot be written is shown instead, for
    /// it cannot be had again for nothing.
    pub fn write(&mut self, key: &str, what: &str, result: &Value, out: &Path) {
        let whole = format!("{result:#}\n");
        match write_text(&whole, out) {
            Ok(()) => {
                self.text += &format!("\nWrote {}{what}.\n", out.display());
                self.object[key] = json!(out);
            }
            Err(why) => {
                self.text += &format!("\n{whole}");
                self.object[key] = result.clone();
                self.remarks.push(format!(
                    "{why}. What was to be written{what} is shown instead: keep it, for the budget is spent."
                ));
            }
        }
    }

    /// 1 where there is an alarm, so that whoever runs an audit unseen is told.
    pub fn code(&self) -> ExitCode {
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
        let said = match (self.json, self.quiet && is_report) {
            (true, _) => print(&format!("{}\n", answer.object)),
            (false, true) => Ok(()),
            (false, false) => print(&visible(&shortened(&answer.text))),
        };
        said.map_err(CommandFailure::Output)?;
        let shouted = |remark: &&String| !self.quiet || remark.starts_with("NOT PRIVATE");
        answer.remarks.iter().filter(shouted).for_each(|remark| aside(&shortened(remark)));
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
        if self.json && print(&format!("{}\n", json!({ "error": message, "hint": hint }))).is_ok() {
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
