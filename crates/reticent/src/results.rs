//! The files that a run leaves in a folder: they are of one run, or they are not there.
//!
//! * A folder that is not there yet is made under another name beside its place, and appears with
//!   all its files by one rename.
//! * In a folder that is there already, with whatever else is in it, the model is the one file that
//!   counts, and it has its certificate inside. Copies of the old certificate are taken away before
//!   the model is replaced by one rename, and those of the new are put there after. Whenever it is
//!   cut short, what is there is of one run: the old files, a model whose copy of the certificate is
//!   missing, or the new files.
//!
//! Two that write at once wait for each other. What a run that was killed left half-written is taken
//! away by the next.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::NamedTempFile;

use crate::error::Error;
use crate::model::Model;

const MODEL: &str = "model.json";
const CERTIFICATE: &str = "certificate.json";
const PARTIES: &str = "parties.json";

/// What files and folders begin with that are not finished.
const STAGED: &str = ".reticent-result-";

/// Held while files are replaced.
const LOCK: &str = ".reticent.lock";

/// Nobody writes a model for so long.
const STALE: Duration = Duration::from_secs(3600);

impl Model {
    /// Writes `model.json` and `certificate.json` to a folder, which is made if it is not there, and
    /// says where the model is.
    ///
    /// # Errors
    /// If the folder cannot be made or written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, Error> {
        write_results(self, None, folder)
    }
}

/// Writes as [`Model::write`] does, with the text of `parties.json` beside the two files.
///
/// # Errors
/// If the folder cannot be made or written.
pub fn write_results(
    model: &Model,
    parties: Option<&str>,
    folder: &Path,
) -> Result<PathBuf, Error> {
    let certificate = ResultText::Text(model.certificate().to_json()?);
    let mut texts = vec![(CERTIFICATE, certificate), (MODEL, ResultText::Model(model))];
    texts.extend(parties.map(|text| (PARTIES, ResultText::Text(text.to_owned()))));
    if folder.exists() || !appear(&texts, folder)? {
        replace(&texts, folder)?;
    }
    Ok(folder.join(MODEL))
}

/// What stands in a file.
enum ResultText<'a> {
    Text(String),
    /// As [`Model::to_json`] has it, and never whole in memory: a wide one is most of what a party of a run on a
    /// network has there.
    Model(&'a Model),
}

impl ResultText<'_> {
    fn write(&self, file: &mut impl Write) -> io::Result<()> {
        match self {
            ResultText::Text(text) => file.write_all(text.as_bytes()),
            ResultText::Model(model) => {
                let mut out = io::BufWriter::new(file);
                serde_json::to_writer_pretty(&mut out, model)?;
                out.write_all(b"\n")?;
                out.flush()
            }
        }
    }
}

/// Makes the folder with all its files at once; false if somebody else was faster.
fn appear(texts: &[(&str, ResultText<'_>)], folder: &Path) -> Result<bool, Error> {
    let fail = |error: io::Error| Error::write(folder, &error);
    let parent = parent(folder);
    fs::create_dir_all(parent).map_err(fail)?;
    clean(parent, |path| path.is_dir() && is_old(path));
    let mut builder = tempfile::Builder::new();
    builder.prefix(STAGED);
    // As readable as the user's other folders.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    let staged = builder.tempdir_in(parent).map_err(fail)?;
    for (name, text) in texts {
        let written = File::create_new(staged.path().join(name)).and_then(|mut file| {
            text.write(&mut file)?;
            file.sync_all()
        });
        written.map_err(|error| Error::write(&folder.join(name), &error))?;
    }
    sync(staged.path()).map_err(fail)?;
    match fs::rename(staged.path(), folder) {
        Ok(()) => {
            // There is nothing left to take away under the old name.
            let _ = staged.keep();
            sync(parent).map_err(fail)?;
            Ok(true)
        }
        // Somebody else's folder is not replaced; its files are, one after the other.
        Err(_) if folder.is_dir() => Ok(false),
        Err(error) => Err(fail(error)),
    }
}

/// Puts the files into a folder that is there.
fn replace(texts: &[(&str, ResultText<'_>)], folder: &Path) -> Result<(), Error> {
    let fail = |error: io::Error| Error::write(folder, &error);
    let _lock = Lock::take(folder).map_err(fail)?;
    // Whoever staged these was killed: nobody else writes here now.
    clean(folder, Path::is_file);
    let mut staged = Vec::with_capacity(texts.len());
    for (name, text) in texts {
        let path = folder.join(name);
        if path.is_dir() {
            return Err(Error::write(&path, &io::Error::from(io::ErrorKind::IsADirectory)));
        }
        let file = stage(text, folder).map_err(|error| Error::write(&path, &error))?;
        staged.push((file, path));
    }
    for name in [CERTIFICATE, PARTIES] {
        let path = folder.join(name);
        let replaced = texts.iter().any(|(new, _)| *new == name);
        if path.is_file() && (replaced || is_ours(&path, keys(name))) {
            fs::remove_file(path).map_err(fail)?;
        }
    }
    sync(folder).map_err(fail)?;
    // The model first: what is beside it is never of another run.
    staged.sort_by_key(|(_, path)| !path.ends_with(MODEL));
    for (file, path) in staged {
        file.persist(&path).map_err(|error| Error::write(&path, &error.error))?;
    }
    sync(folder).map_err(fail)
}

fn stage(text: &ResultText<'_>, folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(STAGED);
    // A temporary file is for its owner's eyes alone; a result is as readable as the user's other
    // files.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(folder)?;
    text.write(&mut file)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Takes away what was not finished, as far as it is stale; what cannot be taken away is in nobody's
/// way.
fn clean(folder: &Path, is_stale: impl Fn(&Path) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with(STAGED) && is_stale(&path) {
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}

fn is_old(path: &Path) -> bool {
    let changed = fs::metadata(path).and_then(|there| there.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > STALE))
}

/// Puts the names in a folder on the disk; where folders cannot be opened, the system does it.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// The folder that something is in.
pub(crate) fn parent(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The right to replace files in a folder, given back when dropped or when the process ends.
struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Waits until nobody else has it.
    fn take(folder: &Path) -> io::Result<Self> {
        let path = folder.join(LOCK);
        loop {
            let file = Self::open(&path)?;
            file.lock()?;
            // Whoever had it before has taken the file away, and a third may have made it anew.
            if is_at(&file, &path) {
                return Ok(Lock { file, path });
            }
        }
    }

    fn open(path: &Path) -> io::Result<File> {
        let made = fs::OpenOptions::new().create(true).truncate(false).write(true).open(path);
        match made {
            // Another user's, in a folder of several: it can be locked all the same.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => File::open(path),
            other => other,
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // A file that stays is in nobody's way, and the lock ends with the file handle.
        if cfg!(unix) {
            let _ = fs::remove_file(&self.path);
        }
        let _ = self.file.unlock();
    }
}

/// Whether the open file is the one that has this name now.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let same = |a: &fs::Metadata, b: &fs::Metadata| a.ino() == b.ino() && a.dev() == b.dev();
        let both = file.metadata().ok().zip(fs::metadata(path).ok());
        both.is_some_and(|(open, named)| same(&open, &named))
    }
    #[cfg(not(unix))]
    {
        // It is never taken away there.
        let _ = file;
        path.exists()
    }
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
    let fail = |error: io::Error| Error::write(folder, &error);
    let file = tempfile::tempfile_in(&there).map_err(fail)?;
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(_) => Err(Error::Write {
            file: folder.to_owned(),
            reason: "files there cannot be locked; choose a folder on a local disk".to_owned(),
        }),
    }
}

/// The files that a result is made of, each with what tells that this program wrote it.
const RESULTS: [(&str, &[&str]); 3] = [
    (MODEL, &["coefficients", "preprocessing", "certificate"]),
    (CERTIFICATE, &["certified", "epsilon", "ledger"]),
    (PARTIES, &["party", "epsilon"]),
];

fn keys(name: &str) -> &'static [&'static str] {
    RESULTS.iter().find(|(result, _)| *result == name).map_or(&[], |(_, keys)| keys)
}

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
