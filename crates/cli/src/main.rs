//! `reticent …`: from a table to a certified model, on the command line.
//!
//! A command is a file in `commands/`: its flags, and what it answers. Here the arguments are read,
//! the answer is spoken and the exit code is chosen.

mod answer;
mod commands;
mod delivery;
mod event_text;
mod failure;
mod flags;
mod groups;
mod layout;
mod number;
mod parties;
mod predictions;
mod progress;
mod promise_flags;
mod purse;
mod repeated;
mod settings;
mod sheet;
mod spool;
mod tracing;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser};

use crate::answer::OutputFormat;
use crate::commands::Command;

/// Train convex models on sensitive tables with differential privacy, and a certificate for each.
#[derive(Debug, Parser)]
#[command(name = "reticent", version = env!("RETICENT_VERSION"), arg_required_else_help = true, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Print one JSON object on standard output, and nothing else there
    #[arg(long, global = true)]
    json: bool,

    /// Print no progress, no remarks and, if a file is written, no report; results and errors are printed
    #[arg(long, short, global = true)]
    quiet: bool,
}

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    let parsed = groups::grouped(Cli::command()).try_get_matches_from(&words);
    match parsed.and_then(|found| Cli::from_arg_matches(&found)) {
        Ok(cli) => {
            let format = OutputFormat { json: cli.json, quiet: cli.quiet };
            progress::set_quiet(cli.quiet);
            let is_report = cli.command.is_report();
            let name = cli.command.name();
            let done = cli.command.run(format).map_err(|failure| failure.of_command(name));
            let said = done.and_then(|answer| {
                let said = format.say(&answer, is_report);
                // What is a mere report is delivered when it is written, whoever hears of it.
                if (said.is_ok() || is_report) && answer.unwritten.is_none() {
                    answer.kept.iter().for_each(|kept| delivery::forget(kept));
                }
                said.map(|()| answer.code())
            });
            match said {
                Ok(code) => code,
                Err(failure) => format.fail(&failure),
            }
        }
        // The arguments could not be read, so whether they ask for JSON is found out by looking for
        // the word.
        Err(error) => {
            let words = words.iter().take_while(|word| *word != "--");
            let json = words.into_iter().any(|word| word == "--json");
            OutputFormat { json, quiet: false }.usage(&error)
        }
    }
}
