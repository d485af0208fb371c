//! `reticent run`: where a run on a network stands, from the journal of a member.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use reticent_host::{RunJournal, RunStage, RunStatus, forfeit};
use serde_json::json;

use super::failure;
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::wrapped;

#[derive(Debug, Subcommand)]
pub enum RunCommand {
    /// Show where a run stands
    Status(JournalArgs),
    /// End a run for good on this machine: nothing more is asked or answered, what was stays counted
    Forfeit(JournalArgs),
}

#[derive(Debug, Args)]
pub struct JournalArgs {
    /// Your journal; no other command may have it open
    journal: PathBuf,
}

impl RunCommand {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let (file, ends) = match self {
            RunCommand::Status(JournalArgs { journal }) => (journal, false),
            RunCommand::Forfeit(JournalArgs { journal }) => (journal, true),
        };
        if !file.exists() {
            let message = format!("there is no journal {}", file.display());
            let hint = "`reticent lead` and `reticent join` make one".to_owned();
            return Err(CommandFailure::Usage { message, hint });
        }
        let status = RunJournal::open(&file).and_then(|mut journal| match ends {
            true => forfeit(&mut journal),
            false => RunStatus::of(&journal),
        });
        Ok(answer(&file, &status.map_err(failure("run"))?))
    }
}

fn answer(file: &Path, status: &RunStatus) -> Answer {
    let (stage, said) = match status.stage {
        RunStage::Empty => ("empty", "no run is agreed on, and nothing is spent"),
        RunStage::Signed => ("signed", "a run is signed and not joined; nothing is spent"),
        RunStage::Begun => ("begun", "it is on, and the same command goes on with it"),
        RunStage::Over => ("over", "it is over, and the model is here"),
        _ => ("ended", "it has ended without a model; what was answered counts in full"),
    };
    let run = status.run.as_deref().map_or(String::new(), |run| format!("Run {}: ", &run[..16]));
    let job = status.job.map_or(String::new(), |job| format!(" It is job {job} of the budget."));
    let why = status.ended.as_deref().map_or(String::new(), |why| format!(" Why: {why}."));
    let text = wrapped(&format!("{run}{said}.{job}{why}"));
    let object = json!({
        "journal": file, "run": status.run, "stage": stage, "job": status.job,
        "ended": status.ended,
    });
    Answer { text, object, ..Answer::default() }
}
