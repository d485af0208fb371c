//! How a job is run: who hears of its stages and may stop it, and whether it is traced.

use std::ops::ControlFlow;

use reticent_admm::Progress;
use reticent_oracle::Refusal;

use crate::error::Error;
use crate::trace::Tracing;

/// The part of a job that is at work. Nothing in it is computed from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

/// How a job is run. By default nobody is told of its progress, it goes on to its end, and it is not
/// traced.
///
/// # Examples
/// ```
/// use std::ops::ControlFlow;
///
/// use reticent::Run;
///
/// let mut told = |stage| {
///     println!("{stage:?}");
///     ControlFlow::Continue(())
/// };
/// let run = Run::watched(&mut told);
/// assert!(run.trace.is_none());
/// ```
#[derive(Default)]
#[non_exhaustive]
pub struct Run<'r> {
    /// Is told of every stage, and may stop the job.
    pub on_progress: Option<&'r mut Watch<'r>>,
    /// How the run is traced; [`check_traceable`](crate::Job::check_traceable) says whether it can
    /// be.
    pub trace: Option<Tracing<'r>>,
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("trace", &self.trace).finish_non_exhaustive()
    }
}

impl<'r> Run<'r> {
    /// A run that somebody watches.
    pub fn watched(on_progress: &'r mut Watch<'_>) -> Self {
        Run { on_progress: Some(on_progress), trace: None }
    }

    /// A run that is traced.
    pub fn traced(trace: Tracing<'r>) -> Self {
        Run { on_progress: None, trace: Some(trace) }
    }

    /// The same run, traced in this way or not.
    pub fn with_trace(mut self, trace: Option<Tracing<'r>>) -> Self {
        self.trace = trace;
        self
    }

    /// Tells of a stage, and gives back whether to go on.
    pub fn tell(&mut self, stage: Stage) -> ControlFlow<()> {
        match &mut self.on_progress {
            Some(watch) => watch(stage),
            None => ControlFlow::Continue(()),
        }
    }

    /// Tells of a stage at which nothing has been asked about the data yet.
    ///
    /// # Errors
    /// If whoever watches stops the job.
    pub(crate) fn enter(&mut self, stage: Stage) -> Result<(), Error> {
        match self.tell(stage) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Refusal::Stopped.into()),
        }
    }
}
