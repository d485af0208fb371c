//! A file, or standard input, as bytes: `.gz`, `.xz`, `.bz2`, `.zst` and `.zip` unpacked on the
//! way.

use super::zip;
use crate::DataError;
use crate::error::{FileProblem, system_words};
use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

const BUFFER: usize = 1 << 18;

/// So many bytes are handed on at a time.
const PIECE: u64 = 1 << 16;

/// The name that stands for standard input.
const STANDARD: &str = "-";

/// The name of a file in messages.
pub(super) fn name(path: &Path) -> String {
    if is_standard(path) { "standard input".into() } else { path.display().to_string() }
}

pub(super) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == STANDARD
}

/// Hands on the bytes of a file, unpacked as whoever reads it unpacks it, in whole pieces of
/// `PIECE` and what is left: how the system hands them out does not show.
///
/// # Errors
/// A folder, an empty file, or one that cannot be opened or unpacked.
pub fn visit_bytes(path: &Path, see: &mut dyn FnMut(&[u8])) -> Result<(), DataError> {
    no_folder(path)?;
    let mut reader = open(path)?.take(PIECE);
    let mut piece = Vec::new();
    loop {
        piece.clear();
        reader.read_to_end(&mut piece).map_err(|e| failed(&name(path), &e))?;
        if piece.is_empty() {
            return Ok(());
        }
        see(&piece);
        reader.set_limit(PIECE);
    }
}

/// Opens `path`. Compression is told by the first bytes, which belong to the container and not to
/// the data.
pub(super) fn open(path: &Path) -> Result<Box<dyn Read>, DataError> {
    let name = name(path);
    if is_standard(path) {
        return unpacked(BufReader::with_capacity(BUFFER, std::io::stdin()), &name);
    }
    let mut file = BufReader::with_capacity(BUFFER, plain(path)?);
    if start(&mut file, &name)?.starts_with(zip::MAGIC) {
        // Its list of members is at the end.
        return zip::member(plain(path)?, &name);
    }
    unpacked(file, &name)
}

fn unpacked(mut file: impl BufRead + 'static, name: &str) -> Result<Box<dyn Read>, DataError> {
    let start = start(&mut file, name)?;
    let failed = |reason: std::io::Error| {
        DataError::file(name, FileProblem::Read { line: 0, reason: reason.to_string() })
    };
    Ok(if start.starts_with(&[0x1f, 0x8b]) {
        Box::new(MultiGzDecoder::new(file))
    } else if start.starts_with(&[0xfd, b'7', b'z', b'X', b'Z', 0]) {
        Box::new(XzDecoder::new_multi_decoder(file))
    } else if start.starts_with(b"BZh") {
        Box::new(bzip2::bufread::MultiBzDecoder::new(file))
    } else if start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        Box::new(zstd::stream::read::Decoder::with_buffer(file).map_err(failed)?)
    } else if start.starts_with(zip::MAGIC) {
        return Err(DataError::file(name, FileProblem::NotFromStandardInput("a .zip archive")));
    } else {
        Box::new(file)
    })
}

/// The first bytes; a file without any is refused.
fn start<'a>(file: &'a mut impl BufRead, name: &str) -> Result<&'a [u8], DataError> {
    let start = file.fill_buf().map_err(|e| failed(name, &e))?;
    if start.is_empty() {
        return Err(DataError::file(name, FileProblem::Empty));
    }
    Ok(start)
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

pub(super) fn failed(name: &str, e: &std::io::Error) -> DataError {
    DataError::file(name, FileProblem::Open(system_words(e)))
}
