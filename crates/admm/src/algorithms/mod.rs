//! The algorithms, a file each, and the loop that runs one.

use std::ops::ControlFlow;

use reticent_oracle::{Oracle, Refusal};

pub(crate) mod amp;
pub(crate) mod auto;
pub(crate) mod consensus;
pub(crate) mod dp_cd;
pub(crate) mod dp_fw;
pub(crate) mod dp_sgd;
pub(crate) mod general;
pub(crate) mod mpadmm;
pub(crate) mod objp;
pub(crate) mod output_perturbation;
pub(crate) mod sadmm;
pub(crate) mod ssadmm;
pub(crate) mod vradmm;

/// One private algorithm, ready to run: a state, and a step that asks the gate.
///
/// A step is arithmetic on released values. It asks the same queries in the same order whatever the
/// answers were, so that a rehearsal on no data gives the plan of the run.
pub trait Algorithm {
    /// Iteration `k`, counted from 1.
    fn step(&mut self, k: u64, oracle: &mut dyn Oracle) -> Result<(), Refusal>;

    /// The parameter to publish: a function of released values.
    fn solution(&self) -> Vec<f64>;
}

/// How far a run has come. Nothing in it is computed from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Iterations done.
    pub done: u64,
    /// Iterations that there will be.
    pub of: u64,
}

/// Who is told of every iteration, and may stop the run. There is no stopping rule besides, because
/// one that read the data would leak.
pub type Tell<'t> = dyn FnMut(Progress) -> ControlFlow<()> + 't;

/// Lets a run go on to its end, and tells nobody.
pub fn unwatched(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Runs `iterations` steps.
///
/// # Errors
/// What the oracle refuses, and [`Refusal::Stopped`] when `tell` says so. What was asked until then
/// is spent.
pub fn run(
    algorithm: &mut dyn Algorithm,
    iterations: u64,
    oracle: &mut dyn Oracle,
    tell: &mut Tell<'_>,
) -> Result<Vec<f64>, Refusal> {
    for k in 1..=iterations {
        algorithm.step(k, oracle)?;
        if tell(Progress { done: k, of: iterations }).is_break() {
            return Err(Refusal::Stopped);
        }
    }
    Ok(algorithm.solution())
}
