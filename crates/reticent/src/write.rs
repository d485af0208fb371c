//! Files that appear whole or not at all.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::Error;
use crate::results::{check_folder, parent, sync};

/// Refuses to write over a file that is there, and where no file can be: a job that is paid for must
/// not learn that at its end. Pipes and devices hold nothing that could be lost.
///
/// # Errors
/// If a file or a folder is there, or its folder cannot be written or made.
pub fn check_new(path: &Path, force: bool) -> Result<(), Error> {
    match fs::metadata(path) {
        Ok(there) if there.is_file() && !force => {
            Err(Error::Exists { file: path.to_owned(), what: "a file" })
        }
        Ok(there) if there.is_dir() => {
            let reason = "it is a folder, and a file is needed".to_owned();
            Err(Error::Write { file: path.to_owned(), reason })
        }
        Ok(there) if !there.is_file() => Ok(()),
        _ => check_folder(parent(path)),
    }
}

/// A file that is written piece by piece and appears whole, or not at all. What is no file, such as
/// a pipe or a device, is written to directly: renaming would put a file in its place.
#[derive(Debug)]
pub struct NewFile {
    place: WritePlace,
    path: PathBuf,
}

#[derive(Debug)]
enum WritePlace {
    Beside(NamedTempFile),
    Direct(fs::File),
}

impl NewFile {
    /// Starts it.
    ///
    /// # Errors
    /// If the place cannot be written.
    pub fn create(path: &Path) -> Result<Self, Error> {
        // A temporary file is for its owner's eyes alone; a result is as readable as the user's
        // other files.
        Self::with_mode(path, 0o666)
    }

    /// Starts one that nobody may read or write who may not do so with the file `like`, or who is
    /// not its owner where there is no such file: records stay as private as the table is.
    ///
    /// # Errors
    /// If the place cannot be written.
    pub fn as_private_as(like: &Path, path: &Path) -> Result<Self, Error> {
        #[cfg(unix)]
        let mode = fs::metadata(like).ok().filter(fs::Metadata::is_file).map_or(0o600, |like| {
            0o600 | std::os::unix::fs::PermissionsExt::mode(&like.permissions()) & 0o666
        });
        #[cfg(not(unix))]
        let mode = fs::metadata(like).map_or(0o600, |_| 0o666);
        Self::with_mode(path, mode)
    }

    /// Starts it with these permissions, less what the user takes from all files.
    #[cfg_attr(not(unix), allow(unused_variables))]
    fn with_mode(path: &Path, mode: u32) -> Result<Self, Error> {
        let fail = |error: std::io::Error| Error::write(path, &error);
        let place = if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
            WritePlace::Direct(fs::OpenOptions::new().write(true).open(path).map_err(fail)?)
        } else {
            let mut builder = tempfile::Builder::new();
            builder.prefix(".reticent-");
            #[cfg(unix)]
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
            WritePlace::Beside(builder.tempfile_in(parent(path)).map_err(fail)?)
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
            WritePlace::Direct(mut file) => file.flush().map_err(fail),
            WritePlace::Beside(file) => {
                file.as_file().sync_all().map_err(fail)?;
                file.persist(&self.path).map_err(|error| fail(error.error))?;
                sync(parent(&self.path)).map_err(fail)
            }
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match &mut self.place {
            WritePlace::Beside(file) => file.write(bytes),
            WritePlace::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match &mut self.place {
            WritePlace::Beside(file) => file.flush(),
            WritePlace::Direct(file) => file.flush(),
        }
    }
}

/// Writes a text file by atomic rename, into a folder that is made where there is none.
///
/// # Errors
/// If the place cannot be written.
pub fn write_text(text: &str, path: &Path) -> Result<(), Error> {
    fs::create_dir_all(parent(path)).map_err(|error| Error::write(path, &error))?;
    let mut file = NewFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|error| Error::write(path, &error))?;
    file.finish()
}
