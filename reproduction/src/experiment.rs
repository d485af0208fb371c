//! What an experiment is, and what it runs with.

use std::fmt;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use crate::claim::Reason;
use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::report::ExperimentReport;
use crate::store::ModelStore;

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

    /// What is other than in the paper's figure or table, in whole sentences: its caption.
    fn changes(&self) -> &'static str {
        ""
    }

    /// Why claims do not hold. One that does not and has no reason is printed as unexplained.
    fn reasons(&self) -> &'static [Reason] {
        &[]
    }

    /// Runs it.
    ///
    /// # Errors
    /// If a data set is not there, a job is refused, or whoever is told stops it.
    fn run(&self, context: &mut Context<'_>) -> Result<ExperimentReport, ExperimentError>;
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
    /// Where models are kept, so that a run that was stopped goes on where it was.
    pub store: Option<ModelStore>,
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
        Context { data_dir: None, quick: true, seeds: None, rows: None, store: None, tell }
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

    /// Does the work of every cell on all cores, and returns what came of each, in order. Whoever is
    /// told hears of a cell when it is begun, and may stop what is not.
    pub(crate) fn each<C: Sync, T: Send>(
        &mut self,
        cells: &[C],
        name: impl Fn(&C) -> String + Sync,
        work: impl Fn(&C) -> Result<T, ExperimentError> + Sync,
    ) -> Result<Vec<T>, ExperimentError> {
        let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (sender, received) = mpsc::channel::<Sign<T>>();
        let worker = |sender: mpsc::Sender<Sign<T>>| {
            while !stop.load(Ordering::Relaxed) {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(cell) = cells.get(place) else { break };
                // Nobody listens any more only when all is to end.
                let _ = sender.send(Sign::Begun(name(cell)));
                let _ = sender.send(Sign::Done(place, work(cell)));
            }
        };
        let mut found: Vec<Option<T>> = cells.iter().map(|_| None).collect();
        let mut failed = None;
        // Threads of their own and not rayon's: who waits for a calibration there may be handed the
        // very cell that holds it.
        thread::scope(|scope| {
            let cores = thread::available_parallelism().map_or(1, usize::from);
            for _ in 0..cores.min(cells.len()) {
                let (worker, sender) = (&worker, sender.clone());
                scope.spawn(move || worker(sender));
            }
            drop(sender);
            let mut begun = 0;
            for sign in received {
                let result = match sign {
                    Sign::Begun(_) if failed.is_some() => Ok(()),
                    Sign::Begun(name) => {
                        begun += 1;
                        self.say(&format!("{begun} of {}: {name}", cells.len()))
                    }
                    Sign::Done(place, done) => done.map(|value| found[place] = Some(value)),
                };
                if let Err(why) = result {
                    stop.store(true, Ordering::Relaxed);
                    failed.get_or_insert(why);
                }
            }
        });
        match failed {
            Some(why) => Err(why),
            None => found.into_iter().map(|value| value.ok_or(ExperimentError::Stopped)).collect(),
        }
    }

    /// Tells what is being done next, unless it is to be stopped.
    pub(crate) fn say(&mut self, what: &str) -> Result<(), ExperimentError> {
        match (self.tell)(what) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(ExperimentError::Stopped),
        }
    }
}

/// What a worker has to say.
enum Sign<T> {
    Begun(String),
    Done(usize, Result<T, ExperimentError>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back_in_order_and_everyone_is_told() {
        let mut told = Vec::new();
        let mut tell = |what: &str| {
            told.push(what.to_owned());
            ControlFlow::Continue(())
        };
        let mut context = Context::quick(&mut tell);
        let cells: Vec<u64> = (0..50).collect();
        let squares = context.each(&cells, |k| format!("cell {k}"), |k| Ok(k * k)).unwrap();
        assert_eq!(squares, cells.iter().map(|k| k * k).collect::<Vec<_>>());
        assert_eq!(told.len(), 50);
        assert!(told[0].starts_with("1 of 50: cell "), "{}", told[0]);
        assert!(told[49].starts_with("50 of 50: cell "), "{}", told[49]);
    }

    #[test]
    fn the_first_failure_ends_all() {
        let mut tell = |_: &str| ControlFlow::Continue(());
        let mut context = Context::quick(&mut tell);
        let done = AtomicUsize::new(0);
        let failed = context.each(
            &[0; 10_000],
            |_| String::new(),
            |_| {
                done.fetch_add(1, Ordering::Relaxed);
                thread::sleep(std::time::Duration::from_millis(1));
                Err::<(), _>(ExperimentError::account("no"))
            },
        );
        assert!(matches!(failed, Err(ExperimentError::Account(_))), "{failed:?}");
        assert!(done.into_inner() < 10_000);
    }
}
