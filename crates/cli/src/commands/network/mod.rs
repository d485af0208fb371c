//! Runs between parties on machines of their own: `reticent roster`, `lead`, `join` and `run`.

pub mod join;
pub mod lead;
pub mod roster;
pub mod run;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use reticent::internal::write_results;
use reticent::{Model, Progress, Stage};
use reticent_host::{HostError, Notice, Notify};
use reticent_payment::PaymentError;

use crate::answer::{aside, object};
use crate::failure::CommandFailure;
use crate::progress::{JobBar, said};

/// Why a command about a run on a network has no answer.
pub fn failure(command: &'static str) -> impl Fn(HostError) -> CommandFailure {
    move |error| match error {
        HostError::Job(error) => CommandFailure::of(command, error),
        HostError::Payment(PaymentError::Job(error)) => CommandFailure::of(command, error),
        HostError::Payment(error) => CommandFailure::of_payment(error).of_command(command),
        // Whoever was away may be there the next time.
        absent @ HostError::Absent { .. } => {
            CommandFailure::Waiting { message: absent.to_string(), hint: absent.hint() }
        }
        other => CommandFailure::Usage { message: other.to_string(), hint: other.hint() },
    }
}

/// Writes the model of a run that is over; one that cannot be written is still in the journal.
pub fn write_model(
    command: &'static str,
    model: &Model,
    out: &Path,
    journal: &Path,
) -> Result<PathBuf, CommandFailure> {
    write_results(model, None, out).map_err(|why| CommandFailure::Undelivered {
        message: format!(
            "the run is over, but {}. The model is in the journal, {}.",
            CommandFailure::of(command, why),
            journal.display()
        ),
        hint: "make room and type the same command again: it writes the model, asks nobody and charges nothing"
            .to_owned(),
    })
}

/// Tells of a run as it goes: a line each for people, or a line of JSON each, on standard error.
pub fn teller(json: bool) -> (Notify, Arc<Mutex<Option<JobBar>>>) {
    let bar = Arc::new(Mutex::new((!json).then(|| JobBar::new("iteration"))));
    let own = Arc::clone(&bar);
    let tell = move |notice: &Notice| {
        if json {
            return aside(&object(notice).to_string());
        }
        let mut bar = own.lock().unwrap_or_else(PoisonError::into_inner);
        match (notice, bar.as_mut()) {
            (Notice::Iteration { done, of }, Some(bar)) => {
                let progress = Progress { done: *done, of: *of };
                let _ = bar.watch(Stage::Iteration(progress));
            }
            _ => text(notice).iter().for_each(|line| said(line)),
        }
    };
    (Arc::new(tell), bar)
}

/// Takes the bar away.
pub fn finish(bar: &Mutex<Option<JobBar>>) {
    if let Some(bar) = bar.lock().unwrap_or_else(PoisonError::into_inner).take() {
        bar.finish();
    }
}

/// The names, or the first of many.
fn some_of(names: &[String]) -> String {
    const SHOWN: usize = 16;
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn text(notice: &Notice) -> Option<String> {
    Some(match notice {
        Notice::Waiting { names } => format!("Waiting for {}.", some_of(names)),
        Notice::Arrived { name } => format!("{name} is here."),
        Notice::Unreached { name, why } => {
            format!("{name} is not reached yet: {why}. Retrying.")
        }
        Notice::Reached { name, again: false } => {
            format!("Connected to {name}: the run begins when all are there.")
        }
        Notice::Reached { name, again: true } => format!("Connected to {name} again."),
        Notice::LeftEarly { name } => {
            format!(
                "{name} left before the run was agreed on: nothing is spent, and all begin again."
            )
        }
        Notice::Struck { parties } => {
            format!("{} did not come: the run begins without them.", some_of(parties))
        }
        Notice::Forfeited { name, round } => {
            format!("{name} has left for good: the others continue from round {round}.")
        }
        Notice::Rejected { name } => format!("Refused, or not listened to: {name}."),
        Notice::Began { run, again: false } => format!("Run {} has begun.", &run[..16]),
        Notice::Began { run, again: true } => format!("Run {} continues.", &run[..16]),
        Notice::Delivered { name } => format!("{name} has the model."),
        _ => return None,
    })
}
