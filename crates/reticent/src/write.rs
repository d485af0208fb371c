//! Files that appear whole or not at all.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::error::Error;
use crate::model::Model;

/// Writes `model.json` and `certificate.json` to a folder, which is made if it is not there. Each file is
/// written beside its place and moved there by renaming; the model, which is the one that counts, comes last.
pub fn write_model(model: &Model, folder: &Path) -> Result<PathBuf, Error> {
    std::fs::create_dir_all(folder).map_err(|error| Error::write(folder, &error))?;
    write_json(model.certificate(), &folder.join("certificate.json"))?;
    let path = folder.join("model.json");
    write_json(model, &path)?;
    Ok(path)
}

fn write_json(value: &impl Serialize, path: &Path) -> Result<(), Error> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::Write { file: path.to_owned(), reason: error.to_string() })?;
    text.push('\n');
    write_text(&text, path)
}

/// Writes a text file by atomic rename.
pub fn write_text(text: &str, path: &Path) -> Result<(), Error> {
    let fail = |error: std::io::Error| Error::write(path, &error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".reticent-").tempfile_in(folder).map_err(fail)?;
    file.write_all(text.as_bytes()).map_err(fail)?;
    file.as_file().sync_all().map_err(fail)?;
    file.persist(path).map_err(|error| fail(error.error))?;
    Ok(())
}
