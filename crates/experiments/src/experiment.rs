//! What an experiment is, and what it runs with.

use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;

use crate::data::DataSet;
use crate::error::Error;
use crate::report::Report;

/// An experiment of a paper.
pub trait Experiment: fmt::Debug + Sync {
    /// What users type.
    fn id(&self) -> &'static str;

    /// The paper it is from.
    fn paper(&self) -> &'static str;

    /// What is measured, in a line.
    fn about(&self) -> &'static str;

    /// The public tables that it needs; none where all is simulated.
    fn needs(&self) -> &'static [DataSet];

    /// What the paper claims, a sentence each.
    fn claims(&self) -> &'static [&'static str];

    /// Runs it.
    ///
    /// # Errors
    /// If a data set is not there, a job is refused, or whoever is told stops it.
    fn run(&self, context: &mut Context<'_>) -> Result<Report, Error>;
}

/// Whoever is told what is being done, before every run, and may stop it there by
/// [`ControlFlow::Break`].
pub type Tell<'t> = dyn FnMut(&str) -> ControlFlow<()> + 't;

/// Fewer rows cannot be dealt to parties and split.
const FEWEST: usize = 100;

/// What an experiment is run with.
pub struct Context<'t> {
    /// Where public tables are.
    pub data_dir: Option<PathBuf>,
    /// Everything small: few seeds, few ε, few rows.
    pub quick: bool,
    /// So many seeds in place of the experiment's own number.
    pub seeds: Option<u64>,
    /// At most so many rows of a table, chosen at random.
    pub rows: Option<usize>,
    /// Who is told.
    pub tell: &'t mut Tell<'t>,
}

impl fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context").field("quick", &self.quick).finish_non_exhaustive()
    }
}

impl<'t> Context<'t> {
    /// Small, on simulated stand-ins.
    pub fn quick(tell: &'t mut Tell<'t>) -> Self {
        Context { data_dir: None, quick: true, seeds: None, rows: None, tell }
    }

    /// The one of two that suits the size.
    pub(crate) fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// The rows of a table: so many, or fewer where fewer are asked for.
    pub(crate) fn rows(&self, full: usize, quick: usize) -> usize {
        self.pick(full, quick).min(self.rows.unwrap_or(usize::MAX)).max(FEWEST)
    }

    /// The seeds, from 1.
    pub(crate) fn seeds(&self, full: u64, quick: u64) -> std::ops::RangeInclusive<u64> {
        1..=self.seeds.unwrap_or(self.pick(full, quick)).max(1)
    }

    /// Tells what is being done next, unless it is to be stopped.
    pub(crate) fn say(&mut self, what: &str) -> Result<(), Error> {
        match (self.tell)(what) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped),
        }
    }
}
