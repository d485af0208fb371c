//! A file as bytes, `.gz` and `.xz` unpacked on the way.

use crate::DataError;
use crate::error::{FileProblem, system_words};
use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

const BUFFER: usize = 1 << 18;

/// Opens `path`. Compression is told by the first bytes, which belong to the container and not to the data.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>, DataError> {
    unpacked(plain(path)?, &path.display().to_string())
}

/// Bytes from elsewhere, unpacked likewise; `name` is for messages.
pub(super) fn unpacked(source: impl Read + 'static, name: &str) -> Result<Box<dyn Read>, DataError> {
    let mut file = BufReader::with_capacity(BUFFER, source);
    let start = file.fill_buf().map_err(|e| failed(name, &e))?;
    if start.is_empty() {
        return Err(DataError::file(name, FileProblem::Empty));
    }
    Ok(if start.starts_with(&[0x1f, 0x8b]) {
        Box::new(MultiGzDecoder::new(file))
    } else if start.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
        Box::new(XzDecoder::new_multi_decoder(file))
    } else {
        Box::new(file)
    })
}

/// Opens `path` as it is.
pub(super) fn plain(path: &Path) -> Result<File, DataError> {
    no_folder(path)?;
    File::open(path).map_err(|e| failed(&path.display().to_string(), &e))
}

/// Refuses a folder, before anything is said of its name.
pub(super) fn no_folder(path: &Path) -> Result<(), DataError> {
    if path.is_dir() {
        let problem = FileProblem::Open("it is a folder, and a file is needed".into());
        return Err(DataError::file(&path.display().to_string(), problem));
    }
    Ok(())
}

fn failed(name: &str, e: &std::io::Error) -> DataError {
    DataError::file(name, FileProblem::Open(system_words(e)))
}
