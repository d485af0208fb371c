//! `reticent completions`: what a shell wants to know, out of the flags themselves.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use serde::Serialize;

use crate::Cli;
use crate::answer::{Answer, object};

#[derive(Debug, Args)]
#[command(
    after_help = "For example: reticent completions bash > ~/.local/share/bash-completion/completions/reticent"
)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// The script of a shell.
#[derive(Serialize)]
struct ShellScript<'a> {
    shell: String,
    script: &'a str,
}

impl Completions {
    /// Does it.
    pub fn run(self) -> Answer {
        let mut bytes = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "reticent", &mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let object = object(&ShellScript { shell: self.shell.to_string(), script: &text });
        Answer { text, object, ..Answer::default() }
    }
}
