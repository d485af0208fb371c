//! What a job tells while it runs, and how it is stopped.

use std::ops::ControlFlow;

use reticent_admm::Progress;
use reticent_oracle::Refusal;

use crate::error::Error;

/// The part of a job that is at work. Nothing in it is computed from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The table is being read.
    Reading,
    /// The noise is being calibrated.
    Calibrating,
    /// The algorithm runs. Not every one tells of its iterations: how many runs a choice takes is
    /// secret.
    Running,
    /// So many of so many iterations, or rounds between parties, are done.
    Iteration(Progress),
}

/// Who is told of every stage and may stop the job by [`ControlFlow::Break`]. A job that is stopped
/// before its first iteration has spent nothing; one that is stopped later has spent its budget, as
/// [`Error::Spent`] says.
pub type Watch<'w> = dyn FnMut(Stage) -> ControlFlow<()> + 'w;

/// Lets a job go on to its end, and tells nobody.
pub fn unwatched(_: Stage) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Tells of a stage at which nothing has been asked about the data yet.
pub(crate) fn enter(stage: Stage, watch: &mut Watch<'_>) -> Result<(), Error> {
    match watch(stage) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Refusal::Stopped.into()),
    }
}
