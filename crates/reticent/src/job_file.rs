//! A job file: what to do, and beside it the files that the job is done on and written to. Flags
//! make the same and are laid over it.

use std::path::{Path, PathBuf};

use reticent_oracle::tables::{Format, ReadOptions, read_text};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::named_files::all_named_files;
use crate::simulate::SimulationSpec;
use crate::source::Files;
use crate::spec::{Spec, beside, keys, table};

/// A job with its files: `J` is a [`Spec`] or a [`SimulationSpec`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct JobFile<J> {
    /// The job.
    pub job: J,
    /// The files of the table.
    pub data: Files,
    /// The folder to write the model and the certificate to.
    pub out: Option<PathBuf>,
}

impl<J> JobFile<J> {
    /// A job, the files of its table, and the folder to write to.
    pub fn new(job: J, data: Files, out: Option<PathBuf>) -> Self {
        JobFile { job, data, out }
    }
}

/// The keys of a job file that are about files.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct FileKeys {
    data: Option<PathBuf>,
    more_data: Option<Vec<PathBuf>>,
    format: Option<Format>,
    max_line: Option<u64>,
    cache: Option<PathBuf>,
    keep_cache: Option<bool>,
    out: Option<PathBuf>,
}

const FILE_KEYS: [&str; 7] =
    ["data", "more_data", "format", "max_line", "cache", "keep_cache", "out"];

impl JobFile<Spec> {
    /// Reads a job file. Paths in it are relative to the file.
    ///
    /// # Errors
    /// If it cannot be read, or is no job file: the message names the key.
    ///
    /// # Examples
    /// ```
    /// use reticent::{JobFile, Spec};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("job.toml");
    /// std::fs::write(&path, "data = \"people.csv\"\nepsilon = 1.0\ndelta = 1e-6\n")?;
    /// let file = JobFile::<Spec>::read(&path)?;
    /// assert_eq!(file.job.guarantee.epsilon, Some(1.0));
    /// // Paths are relative to the file.
    /// assert_eq!(file.data.paths, [folder.path().join("people.csv")]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (files, rest) = split(path)?;
        files.beside(keys::<Spec>(rest, path)?.relative_to(path), path)
    }

    /// Merges `over` into this job; `over` wins, as flags do over the file they are given with.
    pub fn overlaid(self, over: Self) -> Self {
        let (jobs, data, out) = self.overlaid_files(over);
        JobFile { job: jobs.0.overlaid(jobs.1), data, out }
    }
}

impl JobFile<SimulationSpec> {
    /// Reads a job file with its tables `[parties]` and `[failures]`. Paths in it are relative to
    /// the file.
    ///
    /// # Errors
    /// If it cannot be read, or is no job file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let (files, rest) = split(path)?;
        files.beside(SimulationSpec::of_table(rest, path)?, path)
    }

    /// Merges `over` into this job; `over` wins.
    ///
    /// # Errors
    /// If the two do not make a job.
    pub fn overlaid(self, over: Self) -> Result<Self, Error> {
        let (jobs, data, out) = self.overlaid_files(over);
        Ok(JobFile { job: jobs.0.overlaid(jobs.1)?, data, out })
    }
}

impl<J> JobFile<J> {
    /// Both jobs, and the files of `over`, or of this one where `over` has none.
    fn overlaid_files(self, over: Self) -> ((J, J), Files, Option<PathBuf>) {
        let (below, above) = (self.data, over.data);
        let reading = above.reading.or(below.reading);
        let paths = if above.paths.is_empty() { below.paths } else { above.paths };
        let files = Files {
            paths,
            reading,
            cache: above.cache.or(below.cache),
            keep_cache: above.keep_cache || below.keep_cache,
        };
        ((self.job, over.job), files, over.out.or(self.out))
    }
}

/// The keys about files, and the rest.
pub(crate) fn split(path: &Path) -> Result<(FileKeys, toml::Table), Error> {
    let text = read_text(path).map_err(|error| Error::read(path, "the job file", &error))?;
    let (files, rest): (toml::Table, toml::Table) =
        table(&text, path)?.into_iter().partition(|(key, _)| FILE_KEYS.contains(&key.as_str()));
    Ok((keys(files, path)?, rest))
}

impl FileKeys {
    pub(crate) fn beside<J>(self, job: J, path: &Path) -> Result<JobFile<J>, Error> {
        let FileKeys { data, more_data, format, max_line, cache, keep_cache, out } = self;
        let base = path.parent().unwrap_or(Path::new(""));
        let paths: Vec<_> = data.into_iter().chain(more_data.into_iter().flatten()).collect();
        Ok(JobFile {
            job,
            data: Files {
                paths: all_named_files(base, &paths)?,
                reading: ReadOptions::from(format).with(|it| it.max_line = max_line),
                cache: cache.map(|folder| beside(base, &folder)),
                keep_cache: keep_cache.unwrap_or(false),
            },
            out: out.map(|out| beside(base, &out)),
        })
    }
}
