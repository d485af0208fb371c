//! How a job is run: who hears of its stages and may stop it, and whether it is traced.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::rc::Rc;

use reticent_admm::Progress;
use reticent_oracle::tables::Schema;
use reticent_oracle::{Digest, PrivateTable, Refusal};

use crate::error::Error;
use crate::source::{Files, LoadedTable, Source};
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
    /// The number of iterations, or of rounds between parties, that are done.
    Iteration(Progress),
}

/// Progress callback: called at every stage; [`ControlFlow::Break`] stops the job. A job that is stopped
/// before its first iteration has spent nothing; one that is stopped later has spent its budget, as
/// [`Error::Spent`] says.
pub type Watch<'w> = dyn FnMut(Stage) -> ControlFlow<()> + 'w;

/// Options of a run: its progress callback and its trace. By default it has neither.
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
    /// Who wants to know what the files hold that are read.
    contents: Option<Rc<FileContents>>,
}

/// The digests of files, under a key, of the very bytes that a job reads: whoever pays for it knows
/// its table by them, and need not read it again.
#[derive(Debug)]
pub struct FileContents {
    key: [u8; 32],
    found: RefCell<Option<(Vec<PathBuf>, Vec<Digest>)>>,
}

impl FileContents {
    /// None yet.
    pub fn under(key: [u8; 32]) -> Rc<Self> {
        Rc::new(FileContents { key, found: RefCell::new(None) })
    }

    /// The digests of these files, if they were read.
    pub fn of(&self, files: &[PathBuf]) -> Option<Vec<Digest>> {
        let found = self.found.borrow();
        found.as_ref().filter(|(read, _)| read == files).map(|(_, digests)| digests.clone())
    }
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("trace", &self.trace).finish_non_exhaustive()
    }
}

impl<'r> Run<'r> {
    /// A run that somebody watches.
    pub fn watched(on_progress: &'r mut Watch<'_>) -> Self {
        Run { on_progress: Some(on_progress), ..Run::default() }
    }

    /// A run that is traced.
    pub fn traced(trace: Tracing<'r>) -> Self {
        Run { trace: Some(trace), ..Run::default() }
    }

    /// Sets how the run is traced, if at all.
    pub fn with_trace(mut self, trace: Option<Tracing<'r>>) -> Self {
        self.trace = trace;
        self
    }

    /// Notes in `contents` what the files hold that the job reads.
    #[doc(hidden)]
    pub fn hashing(&mut self, contents: Rc<FileContents>) {
        self.contents = Some(contents);
    }

    /// Whether somebody pays, who knows the table by its files.
    pub(crate) fn is_paid(&self) -> bool {
        self.contents.is_some()
    }

    /// Reads the table of a job.
    pub(crate) fn load(&self, source: Source<'_>, schema: &Schema) -> Result<PrivateTable, Error> {
        let Some(contents) = &self.contents else { return source.load(schema) };
        match source {
            Source::Files(Files { paths, reading, cache: None, keep_cache: false })
                if !paths.is_empty() =>
            {
                let (table, digests) =
                    PrivateTable::load_known(&paths, reading, schema, &contents.key)?;
                *contents.found.borrow_mut() = Some((paths, digests));
                Ok(table)
            }
            source => source.load(schema),
        }
    }

    /// The same, wherever the table is to be.
    pub(crate) fn load_anywhere(
        &self,
        source: Source<'_>,
        schema: &Schema,
    ) -> Result<LoadedTable, Error> {
        match (source, &self.contents) {
            (Source::Files(files), Some(contents)) if !files.paths.is_empty() => {
                let Some(folder) = files.cache_folder()? else {
                    return self.load(Source::Files(files), schema).map(LoadedTable::Memory);
                };
                let key = Some(&contents.key);
                let (table, digests) = folder.load(&files.paths, files.reading, schema, key)?;
                *contents.found.borrow_mut() = Some((files.paths, digests));
                Ok(LoadedTable::Cached(table))
            }
            (source, _) if source.is_cached() => source.load_anywhere(schema),
            (source, _) => self.load(source, schema).map(LoadedTable::Memory),
        }
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
