//! Files that appear whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::model::Model;

/// Writes `model.json` and `certificate.json` to a folder, which is made if it is not there. Both are written
/// in full beside their places before either is moved there, so a full disk leaves what was there as it was.
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
    let certificate = Staged::json(model.certificate(), &beside)?;
    let model = Staged::json(model, path)?;
    certificate.appear()?;
    model.appear()
}

/// Refuses a folder that cannot be written to, or made, before any work is done for it. Leaves nothing
/// behind.
pub fn check_folder(folder: &Path) -> Result<(), Error> {
    let here =
        |path: &'_ Path| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.to_owned() };
    let there = folder.ancestors().map(here).find(|path| path.exists()).unwrap_or_else(|| PathBuf::from("."));
    if !there.is_dir() {
        let reason = format!("{} is a file, and a folder is needed", there.display());
        return Err(Error::Write { file: folder.to_owned(), reason });
    }
    tempfile::tempfile_in(&there).map(drop).map_err(|error| Error::write(folder, &error))
}

/// Writes a text file by atomic rename. What is no file, such as a pipe or a device, is written to directly:
/// renaming would put a file in its place.
pub fn write_text(text: &str, path: &Path) -> Result<(), Error> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return fs::write(path, text).map_err(|error| Error::write(path, &error));
    }
    Staged::text(text, path)?.appear()
}

/// A file that is whole but not yet in its place.
struct Staged<'p> {
    file: NamedTempFile,
    path: &'p Path,
}

impl<'p> Staged<'p> {
    fn json(value: &impl Serialize, path: &'p Path) -> Result<Self, Error> {
        let mut text = serde_json::to_string_pretty(value)
            .map_err(|error| Error::Write { file: path.to_owned(), reason: error.to_string() })?;
        text.push('\n');
        Self::text(&text, path)
    }

    fn text(text: &str, path: &'p Path) -> Result<Self, Error> {
        let fail = |error: std::io::Error| Error::write(path, &error);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".reticent-");
        // A temporary file is for its owner's eyes alone; a result is as readable as the user's other files.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(folder).map_err(fail)?;
        file.write_all(text.as_bytes()).map_err(fail)?;
        file.as_file().sync_all().map_err(fail)?;
        Ok(Staged { file, path })
    }

    fn appear(self) -> Result<(), Error> {
        self.file.persist(self.path).map(drop).map_err(|error| Error::write(self.path, &error.error))
    }
}
