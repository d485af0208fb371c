//! On what a job is done: files, or a table that the caller has.

use std::path::{Path, PathBuf};

use reticent_oracle::tables::{Dataset, ReadOptions, Schema};
use reticent_oracle::{CachedTable, Digest, PrivateTable};

use crate::cached::in_memory_alone;
use crate::error::Error;

/// The files of one table, in order, and how they are read.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Files {
    /// The files; `-` is standard input.
    pub paths: Vec<PathBuf>,
    /// The options of reading.
    pub reading: ReadOptions,
    /// The folder of a cache file that the table is read into, in place of memory.
    pub cache: Option<PathBuf>,
    /// Whether that file is kept, and used again for the same table. Nobody else may write to the
    /// folder then.
    pub keep_cache: bool,
}

/// Where a cache file is, and whether it stays there.
#[derive(Debug)]
pub(crate) struct CacheFolder<'a> {
    pub(crate) path: &'a Path,
    keep: bool,
}

impl CacheFolder<'_> {
    /// The table in a file there, with the digests of its files under `key`.
    pub(crate) fn load(
        &self,
        paths: &[PathBuf],
        reading: ReadOptions,
        schema: &Schema,
        key: Option<&[u8; 32]>,
    ) -> Result<(CachedTable, Vec<Digest>), Error> {
        let CacheFolder { path, keep } = *self;
        Ok(match key {
            _ if keep => CachedTable::load_kept(paths, reading, schema, path, key)?,
            Some(key) => CachedTable::load_known(paths, reading, schema, path, key)?,
            None => (CachedTable::load(paths, reading, schema, path)?, Vec::new()),
        })
    }
}

impl Files {
    /// One file, whose format is told by its name.
    pub fn one(path: impl Into<PathBuf>) -> Self {
        Files::all(vec![path.into()])
    }

    /// Several files of one table, whose formats are told by their names.
    ///
    /// # Examples
    ///
    /// In memory, or in a cache file:
    ///
    /// ```
    /// use reticent::Files;
    ///
    /// let files = Files::all(vec!["2023.csv".into(), "2024.csv".into()]);
    /// let cached = files.clone().with(|it| it.cache = Some("cache".into()));
    /// assert!(files.cache.is_none() && cached.paths == files.paths);
    /// ```
    pub fn all(paths: Vec<PathBuf>) -> Self {
        Files { paths, ..Files::default() }
    }

    /// These with fields set.
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }

    /// Where the table is read into a file, if it is. The folder and whether the file is kept may come
    /// from a job file and from flags, so that the two are seen together here.
    ///
    /// # Errors
    /// If a file is to be kept and there is no folder.
    pub(crate) fn cache_folder(&self) -> Result<Option<CacheFolder<'_>>, Error> {
        match &self.cache {
            None if self.keep_cache => {
                let why = "there is no folder to keep it in; give one as `cache`";
                Err(Error::value("keep_cache", "true", why))
            }
            path => Ok(path.as_ref().map(|path| CacheFolder { path, keep: self.keep_cache })),
        }
    }
}

/// The data of a job: files, or a table in memory. It is no part of the description of the job, so that
/// the same job can be checked before there is a table.
#[derive(Debug)]
#[non_exhaustive]
pub enum Source<'a> {
    /// Files, read one behind the other.
    Files(Files),
    /// A table in memory. It is read where it is, and the encoded table is the one copy.
    Memory(&'a Dataset<'a>),
    /// A table that is already behind the gate's door, encoded under the schema of the job.
    Table(PrivateTable),
    /// The same in a cache file.
    Cached(CachedTable),
}

/// A table, wherever it is.
#[derive(Debug)]
pub(crate) enum LoadedTable {
    /// In memory.
    Memory(PrivateTable),
    /// In a cache file.
    Cached(CachedTable),
}

impl LoadedTable {
    /// Another handle on the same table.
    pub(crate) fn share(&self) -> Source<'static> {
        match self {
            LoadedTable::Memory(table) => Source::Table(table.share()),
            LoadedTable::Cached(table) => Source::Cached(table.share()),
        }
    }
}

impl Source<'_> {
    /// Whether the table is, or will be, in a cache file.
    pub(crate) fn is_cached(&self) -> bool {
        match self {
            Source::Files(files) => files.cache.is_some() || files.keep_cache,
            Source::Cached(_) => true,
            Source::Memory(_) | Source::Table(_) => false,
        }
    }

    /// The table in memory.
    pub(crate) fn load(self, schema: &Schema) -> Result<PrivateTable, Error> {
        match self {
            Source::Files(Files { paths, .. }) if paths.is_empty() => Err(no_table()),
            Source::Files(files) => match files.cache_folder()? {
                Some(folder) => Err(in_memory_alone(folder.path)),
                None => Ok(PrivateTable::load_all(&files.paths, files.reading, schema)?),
            },
            Source::Memory(dataset) => Ok(PrivateTable::encode(dataset, schema)?),
            Source::Table(table) if table.is_under(schema) => Ok(table),
            Source::Cached(_) => Err(in_memory_alone(Path::new("a cached table"))),
            Source::Table(_) => Err(other_schema()),
        }
    }

    /// The table, wherever it is to be.
    pub(crate) fn load_anywhere(self, schema: &Schema) -> Result<LoadedTable, Error> {
        match self {
            Source::Files(files) if !files.paths.is_empty() => match files.cache_folder()? {
                Some(folder) => {
                    let (table, _) = folder.load(&files.paths, files.reading, schema, None)?;
                    Ok(LoadedTable::Cached(table))
                }
                None => Source::Files(files).load(schema).map(LoadedTable::Memory),
            },
            Source::Cached(table) if table.is_under(schema) => Ok(LoadedTable::Cached(table)),
            Source::Cached(_) => Err(other_schema()),
            source => source.load(schema).map(LoadedTable::Memory),
        }
    }
}

pub(crate) fn no_table() -> Error {
    Error::Missing {
        what: "the table",
        todo: "give a CSV, LIBSVM or Parquet file, with `data` in a job file or by its name",
    }
}

fn other_schema() -> Error {
    let why = "it is not encoded under the schema of the job; encode it with that one";
    Error::value("data", "a table that was encoded before", why)
}

impl From<Files> for Source<'_> {
    fn from(files: Files) -> Self {
        Source::Files(files)
    }
}

impl From<&Files> for Source<'_> {
    fn from(files: &Files) -> Self {
        Source::Files(files.clone())
    }
}

impl From<&Path> for Source<'_> {
    fn from(path: &Path) -> Self {
        Source::Files(Files::one(path))
    }
}

impl<'a> From<&'a Dataset<'a>> for Source<'a> {
    fn from(dataset: &'a Dataset<'a>) -> Self {
        Source::Memory(dataset)
    }
}

impl From<PrivateTable> for Source<'_> {
    fn from(table: PrivateTable) -> Self {
        Source::Table(table)
    }
}

impl From<CachedTable> for Source<'_> {
    fn from(table: CachedTable) -> Self {
        Source::Cached(table)
    }
}
