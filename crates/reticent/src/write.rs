//! Files that appear whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::model::Model;

/// Writes `model.json` and `certificate.json` to a folder, which is made if it is not there. Both
/// are written in full beside their places before either is moved there, so a full disk leaves what
/// was there as it was.
///
/// # Errors
/// If the folder cannot be made or written; what was there is then as it was.
pub fn write_model(model: &Model, folder: &Path) -> Result<PathBuf, Error> {
    let made = !folder.exists();
    fs::create_dir_all(folder).map_err(|error| Error::write(folder, &error))?;
    let path = folder.join("model.json");
    let written = write_both(model, folder, &path);
    if written.is_err() && made {
        // Takes away an empty folder only; that it may fail is no news beside the error itself.
        let _ = fs::remove_dir(folder);
    }
    written.map(|()| path)
}

fn write_both(model: &Model, folder: &Path, path: &Path) -> Result<(), Error> {
    let beside = folder.join("certificate.json");
    let certificate = json(model.certificate(), &beside)?;
    let model = json(model, path)?;
    certificate.finish()?;
    model.finish()
}

/// Refuses a folder that cannot be written to, or made, before any work is done for it. Leaves
/// nothing behind.
///
/// # Errors
/// If it cannot.
pub fn check_folder(folder: &Path) -> Result<(), Error> {
    let here = |path: &'_ Path| {
        if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() }
    };
    let there = folder
        .ancestors()
        .map(here)
        .find(|path| path.exists())
        .unwrap_or_else(|| PathBuf::from("."));
    if !there.is_dir() {
        let reason = format!("{} is a file, and a folder is needed", there.display());
        return Err(Error::Write { file: folder.to_owned(), reason });
    }
    tempfile::tempfile_in(&there).map(drop).map_err(|error| Error::write(folder, &error))
}

/// The files that a result is made of, each with what tells that this program wrote it.
const RESULTS: [(&str, &[&str]); 3] = [
    ("model.json", &["coefficients", "preprocessing", "certificate"]),
    ("certificate.json", &["certified", "epsilon", "ledger"]),
    ("parties.json", &["party", "epsilon"]),
];

/// Refuses a folder in which a result would take the place of something else: a model of this
/// program is replaced by another, a file of somebody else is not, unless they say so.
///
/// # Errors
/// If something else is there.
pub fn check_results(folder: &Path, force: bool) -> Result<(), Error> {
    for (name, keys) in RESULTS {
        let path = folder.join(name);
        if !force && fs::metadata(&path).is_ok() && !is_ours(&path, keys) {
            let what = "which this program did not write, or not whole";
            return Err(Error::Exists { file: path, what });
        }
    }
    Ok(())
}

fn is_ours(path: &Path, keys: &[&str]) -> bool {
    let value = fs::read(path).ok().and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
    let has_keys = |value: &Value| keys.iter().all(|key| value.get(key).is_some());
    match value {
        Some(Value::Array(list)) => list.iter().all(has_keys),
        Some(value) => has_keys(&value),
        None => false,
    }
}

/// Refuses to write over a file that is there. Pipes and devices hold nothing that could be lost.
///
/// # Errors
/// If a file is there.
pub fn check_new(path: &Path, force: bool) -> Result<(), Error> {
    let there = fs::metadata(path).is_ok_and(|there| there.is_file());
    if there && !force {
        Err(Error::Exists { file: path.to_owned(), what: "a file" })
    } else {
        Ok(())
    }
}

/// A file that is written piece by piece and appears whole, or not at all. What is no file, such as
/// a pipe or a device, is written to directly: renaming would put a file in its place.
#[derive(Debug)]
pub struct NewFile {
    place: Place,
    path: PathBuf,
}

#[derive(Debug)]
enum Place {
    Beside(NamedTempFile),
    Direct(fs::File),
}

impl NewFile {
    /// Starts it.
    ///
    /// # Errors
    /// If the place cannot be written.
    pub fn create(path: &Path) -> Result<Self, Error> {
        let fail = |error: std::io::Error| Error::write(path, &error);
        let place = if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            Place::Direct(fs::OpenOptions::new().write(true).open(path).map_err(fail)?)
        } else {
            let folder = path
                .parent()
                .filter(|folder| !folder.as_os_str().is_empty())
                .unwrap_or(Path::new("."));
            let mut builder = tempfile::Builder::new();
            builder.prefix(".reticent-");
            // A temporary file is for its owner's eyes alone; a result is as readable as the user's
            // other files.
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            Place::Beside(builder.tempfile_in(folder).map_err(fail)?)
        };
        Ok(NewFile { place, path: path.to_owned() })
    }

    /// Puts it in its place.
    ///
    /// # Errors
    /// If the disk is full, or the place cannot be written.
    pub fn finish(self) -> Result<(), Error> {
        let fail = |error: std::io::Error| Error::write(&self.path, &error);
        match self.place {
            Place::Direct(mut file) => file.flush().map_err(fail),
            Place::Beside(file) => {
                file.as_file().sync_all().map_err(fail)?;
                file.persist(&self.path).map(drop).map_err(|error| fail(error.error))
            }
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.place {
            Place::Beside(file) => file.write(bytes),
            Place::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.place {
            Place::Beside(file) => file.flush(),
            Place::Direct(file) => file.flush(),
        }
    }
}

/// Writes a text file by atomic rename.
///
/// # Errors
/// If the place cannot be written.
pub fn write_text(text: &str, path: &Path) -> Result<(), Error> {
    staged(text, path)?.finish()
}

fn staged(text: &str, path: &Path) -> Result<NewFile, Error> {
    let mut file = NewFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|error| Error::write(path, &error))?;
    Ok(file)
}

fn json(value: &impl Serialize, path: &Path) -> Result<NewFile, Error> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::Write { file: path.to_owned(), reason: error.to_string() })?;
    staged(&format!("{text}\n"), path)
}
