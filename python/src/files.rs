//! The files of a table, read into memory or into a cache file, and a fit on them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use reticent::internal::all_named_files;
use reticent::{Error, Files, Fitted, UtilityForecast};

use crate::error::Failure;
use crate::job::FitRequest;
use crate::model::PyModel;
use crate::payment::{JobBill, PayingBudget, Receipt, perform};
use crate::threads::detached;

/// The files of one table, and where they are read into; every key is there.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct FilesRequest {
    /// Files, folders and patterns.
    paths: Vec<PathBuf>,
    /// The folder of a cache file.
    cache: Option<PathBuf>,
    /// Whether that file is kept.
    keep_cache: bool,
}

impl FilesRequest {
    /// All files by name. One that is there twice is refused: whose record is in it would count twice.
    pub fn files(&self) -> Result<Files, Error> {
        let FilesRequest { paths, cache, keep_cache } = self;
        let paths = all_named_files(Path::new(""), paths)?;
        let mut met = HashSet::new();
        if let Some(twice) = paths.iter().find(|path| !met.insert(identity(path))) {
            let why = "it is there twice: each of its records would count twice; name it once";
            return Err(Error::value("data", twice.display(), why));
        }
        Ok(Files::all(paths).with(|it| (it.cache, it.keep_cache) = (cache.clone(), *keep_cache)))
    }
}

/// What a file is known by: its place on the disk, which a second name of it has too, or else its path.
fn identity(path: &Path) -> (Option<(u64, u64)>, PathBuf) {
    #[cfg(unix)]
    if let Ok(found) = path.metadata() {
        use std::os::unix::fs::MetadataExt;
        return (Some((found.dev(), found.ino())), PathBuf::new());
    }
    (None, path.canonicalize().unwrap_or_else(|_| path.to_owned()))
}

/// The model, the number of iterations, whether an exact solver converged, why little is to be expected of it,
/// and the receipt.
type Made = (PyModel, u64, Option<bool>, Option<String>, Receipt);

/// Fits the table of some files.
#[pyfunction]
#[pyo3(signature = (request, files, *, budget=None))]
pub fn fit_files(
    py: Python<'_>,
    request: FitRequest,
    files: FilesRequest,
    budget: Option<PayingBudget>,
) -> PyResult<Made> {
    let done: Result<_, Failure> = detached(py, || {
        let job = request.fit()?.check()?;
        let files = files.files()?;
        let (asked, column) = (request.guarantee.asked(), job.user_column());
        let bill = JobBill { asked, column, grouped: false };
        let mut outlook = None;
        let done = perform(budget, bill, &*files.paths, false, |run| {
            let ready = job.open(&files, run)?;
            outlook = ready.outlook().as_ref().and_then(UtilityForecast::warning);
            Ok(ready)
        })?;
        Ok((done, outlook))
    })?;
    let ((Fitted { model, iterations, converged, .. }, receipt), outlook) = done?;
    Ok((PyModel(model), iterations, converged, outlook, receipt))
}
