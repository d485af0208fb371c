//! The state of a run, from the journal of a member, and its end by the member's operator.

use reticent_core::hex;

use crate::agreeing::SignedRun;
use crate::error::HostError;
use crate::journal::RunJournal;
use crate::kept::Kept;
use crate::lead::run_of;
use crate::leaving::{ALL_STAY, DROPPED, PARTIES};
use crate::serving::JoinedRun;

/// The state of a run in a journal, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunStatus {
    /// The identifier of the run, in hexadecimal digits; `None` before all have agreed on one.
    pub run: Option<String>,
    /// The stage.
    pub stage: RunStage,
    /// The job in the party's budget, if it has one.
    pub job: Option<u64>,
    /// Why the run has ended.
    pub ended: Option<String>,
}

/// The stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunStage {
    /// Nothing is agreed on, and nothing is spent.
    Empty,
    /// The party has signed a run that it has not joined; nothing is spent.
    Signed,
    /// The run has begun; the same command continues it.
    Begun,
    /// The run is over, and the model is in the journal.
    Over,
    /// The run has ended without a model.
    Ended,
}

impl RunStatus {
    /// The state in a journal of the lead or of a party.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn of(journal: &RunJournal) -> Result<Self, HostError> {
        let (run, job, stage) = if let Some(kept) = journal.get::<Kept>("model")? {
            (Some(kept.run), kept.reservation.map(|job| job.number), RunStage::Over)
        } else if let Some(joined) = journal.get::<JoinedRun>("joined")? {
            let job = joined.reservation.map(|job| job.number);
            (Some(joined.signed.run), job, RunStage::Begun)
        } else if let Some(run) = run_of(journal)? {
            (Some(run.0), None, run.1)
        } else if let Some(signed) = journal.get::<SignedRun>("signed")? {
            (Some(signed.run), None, RunStage::Signed)
        } else {
            (None, None, RunStage::Empty)
        };
        let ended = journal.get::<String>("ended")?;
        let stage = if ended.is_some() { RunStage::Ended } else { stage };
        Ok(RunStatus { run: run.map(|run| hex(&run)), stage, job, ended })
    }
}

/// Ends a run for good on this machine: no later requests or answers. Earlier answers stay counted.
///
/// # Errors
/// If no run has begun, or the journal cannot be written.
pub fn forfeit(journal: &mut RunJournal) -> Result<RunStatus, HostError> {
    let before = RunStatus::of(journal)?;
    match before.stage {
        RunStage::Begun | RunStage::Signed => {}
        _ => return Err(HostError::journal(journal.path(), "no run is on in it")),
    }
    journal.commit(|change| {
        change.set("ended", &"its operator has forfeited it")?;
        ["signed", "joined", "node", "begun"]
            .into_iter()
            .try_for_each(|name| change.forget(name))?;
        change.forget_mail()?;
        change.forget_answers()
    })?;
    journal.wipe();
    let ended = journal.get::<String>("ended")?;
    Ok(RunStatus { stage: RunStage::Ended, ended, ..before })
}

/// Removes a party that has left for good: when the lead is started again, it does not wait for it,
/// and has the others continue without it, if the run file and the law of the noise allow that.
///
/// # Errors
/// If the journal is not that of a lead in a run, no party can be left out of that run, there is no
/// such party, or the journal cannot be written.
pub fn let_go(journal: &mut RunJournal, name: &str) -> Result<RunStatus, HostError> {
    let before = RunStatus::of(journal)?;
    let parties = journal.get::<Vec<String>>(PARTIES)?.unwrap_or_default();
    if before.stage != RunStage::Begun || parties.is_empty() {
        let why = "it is not that of a lead whose run is on, and nobody else lets a party go";
        return Err(HostError::journal(journal.path(), why));
    }
    if journal.has(ALL_STAY)? {
        let why = "nobody is left out of its run: under `trust = central`, and among nodes, who is away is waited for";
        return Err(HostError::journal(journal.path(), why));
    }
    if !parties.iter().any(|party| party == name) {
        let why = format!("there is no party {name} in its run, but {}", parties.join(", "));
        return Err(HostError::journal(journal.path(), why));
    }
    let mut dropped = journal.get::<Vec<String>>(DROPPED)?.unwrap_or_default();
    if !dropped.iter().any(|party| party == name) {
        dropped.push(name.to_owned());
    }
    journal.commit(|change| change.set(DROPPED, &dropped))?;
    Ok(before)
}
