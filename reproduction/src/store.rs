//! Models that were trained before, by a digest of all that decides them: the rows, the problem, the
//! algorithm with its settings, the price and the seed. So a run that was stopped goes on where it
//! was, and a changed caption trains nothing again.
//!
//! A change of the algorithms themselves is not in the digest: each model says the build that
//! trained it, and how many are of another build is told. Whoever wants these trained again says so.

use std::fmt::Debug;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::ExperimentError;

/// A folder of models.
#[derive(Clone, Debug)]
pub struct ModelStore(Arc<StoreFolder>);

#[derive(Debug)]
struct StoreFolder {
    folder: PathBuf,
    build: String,
    /// Whether models of other builds are trained again.
    again: bool,
    foreign: AtomicUsize,
}

/// What a file has.
#[derive(Serialize, Deserialize)]
struct Entry {
    build: String,
    models: Vec<Vec<f64>>,
}

impl ModelStore {
    /// The folder, which is made when there is something to keep, the build that trains now, and
    /// whether it trains again what another one has trained.
    pub fn new(folder: impl Into<PathBuf>, build: &str, again: bool) -> Self {
        let (folder, build) = (folder.into(), build.to_owned());
        ModelStore(Arc::new(StoreFolder { folder, build, again, foreign: AtomicUsize::new(0) }))
    }

    /// How many models that were taken from here another build has trained.
    pub fn foreign(&self) -> usize {
        self.0.foreign.load(Ordering::Relaxed)
    }

    /// The models of this description: those that are kept, or those that `train` makes.
    pub(crate) fn models(
        &self,
        described: &dyn Debug,
        train: impl FnOnce() -> Result<Vec<Vec<f64>>, ExperimentError>,
    ) -> Result<Vec<Vec<f64>>, ExperimentError> {
        let StoreFolder { folder, build, again, foreign } = &*self.0;
        let path = folder.join(format!("{}.json", digest(&format!("{described:?}"))));
        let kept = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        if let Some(Entry { build: by, models }) = kept
            && (by == *build || !again)
        {
            foreign.fetch_add(usize::from(by != *build), Ordering::Relaxed);
            return Ok(models);
        }
        let entry = Entry { build: build.clone(), models: train()? };
        // JSON has no NaN: such a model is trained again.
        let text = serde_json::to_vec(&entry).map_err(|why| ExperimentError::file(&path, why))?;
        // Whoever is stopped between leaves no half of a file under its name.
        let half = path.with_extension("half");
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&half, text))
            .and_then(|()| fs::rename(&half, &path))
            .map_err(|why| ExperimentError::file(&path, why))?;
        Ok(entry.models)
    }
}

/// A digest of the program that runs, by which builds are told apart; empty where it cannot be read.
pub fn build() -> String {
    let program = std::env::current_exe().and_then(fs::read).unwrap_or_default();
    if program.is_empty() { String::new() } else { shortened(&program) }
}

/// SHA-256 of a text, its first 128 bits.
pub(crate) fn digest(text: &str) -> String {
    shortened(text.as_bytes())
}

fn shortened(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_trained_is_not_trained_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut trained = 0;
        let mut model = |store: &ModelStore, seed: u64| {
            let train = || {
                trained += 1;
                Ok(vec![vec![0.1 + seed as f64, 1.0 / 3.0]])
            };
            store.models(&("ssadmm", seed), train).unwrap()
        };
        let store = ModelStore::new(folder.path().join("models"), "one", false);
        let first = model(&store, 1);
        assert_eq!(model(&store, 1), first, "to the last bit");
        assert_ne!(model(&store, 2), first);
        let other = ModelStore::new(folder.path().join("models"), "two", false);
        assert_eq!(model(&other, 1), first);
        let again = ModelStore::new(folder.path().join("models"), "two", true);
        assert_eq!((model(&again, 1), model(&again, 1)), (first.clone(), first));
        assert_eq!((store.foreign(), other.foreign(), again.foreign()), (0, 1, 0));
        assert_eq!(trained, 3);
    }

    #[test]
    fn a_failure_and_half_a_file_are_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let store = ModelStore::new(folder.path(), "one", false);
        assert!(store.models(&1, || Err(ExperimentError::Stopped)).is_err());
        assert_eq!(store.models(&1, || Ok(vec![vec![2.0]])).unwrap(), [[2.0]]);
        let file = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
        fs::write(file, "{\"build\":").unwrap();
        assert_eq!(store.models(&1, || Ok(vec![vec![3.0]])).unwrap(), [[3.0]]);
    }
}
