//! `reticent run`: where a run on a network stands, from the journal of a member.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use reticent_host::{RunJournal, RunStage, RunStatus, forfeit, let_go};
use serde::Serialize;

use super::failure;
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::wrapped;

#[derive(Debug, Subcommand)]
pub enum RunCommand {
    /// Show the state of a run
    Status(JournalArgs),
    /// End a run for good on this machine: no later queries or answers; earlier ones stay counted.
    /// With --party, the lead removes a party that has left for good, and the others continue
    Forfeit(ForfeitArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "With --party, start `reticent lead` again: the others sign that they continue without the party, \
                  if the run file has `least` and enough of them remain. The party answers no more."
)]
pub struct ForfeitArgs {
    /// Your journal; no other command may have it open
    journal: PathBuf,

    /// The party that has left for good; with the lead's journal
    #[arg(long, value_name = "NAME")]
    party: Option<String>,
}

#[derive(Debug, Args)]
pub struct JournalArgs {
    /// Your journal; no other command may have it open
    journal: PathBuf,
}

impl RunCommand {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let (file, ends, party) = match self {
            RunCommand::Status(JournalArgs { journal }) => (journal, false, None),
            RunCommand::Forfeit(ForfeitArgs { journal, party }) => (journal, true, party),
        };
        if !file.exists() {
            let message = format!("there is no journal {}", file.display());
            let hint = "`reticent lead` and `reticent join` make one".to_owned();
            return Err(CommandFailure::Usage { message, hint });
        }
        let status = RunJournal::open(&file).and_then(|mut journal| match (ends, &party) {
            (true, Some(party)) => let_go(&mut journal, party),
            (true, None) => forfeit(&mut journal),
            (false, _) => RunStatus::of(&journal),
        });
        let mut said = answer(&file, &status.map_err(failure("run"))?, party.as_deref());
        if let Some(party) = party {
            let why = format!(
                "{party} is no longer waited for: start `reticent lead` again, and the others are asked to continue \
                 without it."
            );
            said.text = format!("{}\n{}", said.text.trim_end(), wrapped(&why));
        }
        Ok(said)
    }
}

/// Where a run stands.
#[derive(Serialize)]
struct StatusFields<'a> {
    journal: &'a Path,
    run: Option<&'a str>,
    stage: &'a str,
    job: Option<u64>,
    ended: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    let_go: Option<&'a str>,
}

fn answer(journal: &Path, status: &RunStatus, let_go: Option<&str>) -> Answer {
    let (stage, said) = match status.stage {
        RunStage::Empty => ("empty", "no run is agreed on, and nothing is spent"),
        RunStage::Signed => ("signed", "a run is signed and not joined; nothing is spent"),
        RunStage::Begun => ("begun", "it is running; run the same command again to continue it"),
        RunStage::Over => ("over", "it is over, and the model is here"),
        _ => ("ended", "it has ended without a model; what was answered counts in full"),
    };
    let run = status.run.as_deref().map_or(String::new(), |run| format!("Run {}: ", &run[..16]));
    let job = status.job.map_or(String::new(), |job| format!(" It is job {job} of the budget."));
    let why = status.ended.as_deref().map_or(String::new(), |why| format!(" Why: {why}."));
    let text = wrapped(&format!("{run}{said}.{job}{why}"));
    let (run, ended) = (status.run.as_deref(), status.ended.as_deref());
    Answer::of(text, &StatusFields { journal, run, stage, job: status.job, ended, let_go })
}
