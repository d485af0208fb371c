//! `reticent …`: from a table to a certified model, on the command line.
//!
//! A command is a file in `commands/`: its flags, and what it answers. Here the arguments are read,
//! the answer is spoken and the exit code is chosen.

mod answer;
mod commands;
mod event_text;
mod failure;
mod flags;
mod layout;
mod number;
mod predictions;
mod progress;
mod purse;
mod repeated;
mod settings;
mod sheet;
mod tracing;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::answer::OutputFormat;
use crate::commands::Command;

/// Train convex models on sensitive tables with differential privacy, and a certificate for each.
#[derive(Debug, Parser)]
#[command(name = "reticent", version, arg_required_else_help = true, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Print one JSON object on standard output, and nothing else there
    #[arg(long, global = true)]
    json: bool,

    /// No progress, no remarks, and no report where a file is written; results and errors are said
    #[arg(long, global = true)]
    quiet: bool,
}

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    match Cli::try_parse_from(&words) {
        Ok(cli) => {
            let format = OutputFormat { json: cli.json, quiet: cli.quiet };
            progress::set_quiet(cli.quiet);
            let is_report = cli.command.is_report();
            let said = cli
                .command
                .run(format)
                .and_then(|answer| format.say(&answer, is_report).map(|()| answer.code()));
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
