//! The algorithms, a file each, and their catalogue.

use std::ops::ControlFlow;

use reticent_oracle::{Oracle, Refusal, Refused};

use crate::catalogue::AlgorithmEntry;

/// A file for each algorithm, and the catalogue of them all.
macro_rules! algorithms {
    ($($name:ident,)*) => {
        $(pub(crate) mod $name;)*

        /// Every algorithm, in the order in which they are listed.
        pub const CATALOGUE: &[AlgorithmEntry] = &[auto::ENTRY, crate::exact::ENTRY, $($name::ENTRY),*];
    };
}

pub(crate) mod auto;

// A line for each: adding an algorithm is its file and a line here.
algorithms! {
    general,
    consensus,
    ssadmm,
    mpadmm,
    sadmm,
    vradmm,
    dp_sgd,
    dp_cd,
    dp_fw,
    stagewise,
    output_perturbation,
    amp,
    objp,
}

/// One private algorithm at its start, ready to run.
///
/// A run is arithmetic on released values. It asks the same queries in the same order whatever the
/// answers were, so that a rehearsal on no data gives the plan of the run.
pub trait Algorithm {
    /// How many iterations it makes.
    fn iterations(&self) -> u64;

    /// Runs to the end and gives the parameter to publish, a function of released values. `tell`
    /// hears of every iteration.
    ///
    /// # Errors
    /// What the oracle refuses, and [`Refusal::Stopped`] when `tell` says so. What was asked until
    /// then is spent.
    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal>;

    /// The noise multiplier that the paper has for this (ε, δ), for a run as published whose paper
    /// counts otherwise than the accountant; `None` is the least noise by the claims in the books.
    ///
    /// # Errors
    /// If the paper has no noise for it.
    fn printed_noise(&self, _epsilon: f64, _delta: f64) -> Result<Option<f64>, Refused> {
        Ok(None)
    }
}

/// Where a run is after an iteration. All of it follows from released values and costs nothing; it
/// is computed when it is asked for.
pub trait Iterate {
    /// The iterate itself.
    fn running(&self) -> Vec<f64>;

    /// What would be published if this iteration were the last: an average, where there is one.
    fn published(&self) -> Vec<f64>;

    /// `‖A x + B y − c‖`, how far the iterates are from obeying the constraint; `None` for an
    /// algorithm that has no second variable.
    fn residual(&self) -> Option<f64> {
        None
    }
}

/// The one iterate of an algorithm that has no others.
impl Iterate for Vec<f64> {
    fn running(&self) -> Vec<f64> {
        self.clone()
    }

    fn published(&self) -> Vec<f64> {
        self.clone()
    }
}

/// How far a run has come. Nothing in it is computed from the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Iterations done.
    pub done: u64,
    /// Iterations that there will be.
    pub of: u64,
}

/// Who is told of every iteration and where it has come to, and may stop the run. There is no
/// stopping rule besides, because one that read the data would leak.
pub type Tell<'t> = dyn FnMut(Progress, &dyn Iterate) -> ControlFlow<()> + 't;

/// For a run that nobody watches: it goes on to its end.
pub fn unwatched(_: Progress, _: &dyn Iterate) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Tells that `done` of `of` iterations are done, and where they have come to.
pub(crate) fn told(
    tell: &mut Tell<'_>,
    done: u64,
    of: u64,
    at: &dyn Iterate,
) -> Result<(), Refusal> {
    match tell(Progress { done, of }, at) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(Refusal::Stopped),
    }
}
