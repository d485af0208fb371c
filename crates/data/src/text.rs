//! A small text file: a schema, a job, a model. Not a table, so it is read as a whole, up to a
//! limit: what is given by mistake may have no end.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Bytes that such a file may have; a model of a million columns has fewer.
const MOST: usize = 1 << 30;
/// Bytes that are read before the next look at them.
const BLOCK: u64 = 1 << 20;

/// Reads a text file as a whole.
pub fn read_text(path: &Path) -> Result<String> {
    let (mut file, mut bytes) = (File::open(path)?, Vec::new());
    // What a file says of its length saves the room that a vector grows by; a device says 0.
    let size = file.metadata().map_or(0, |there| there.len());
    bytes.reserve_exact(usize::try_from(size).map_or(0, |size| size.min(MOST)) + 1);
    loop {
        let before = bytes.len();
        if file.by_ref().take(BLOCK).read_to_end(&mut bytes)? == 0 {
            break;
        }
        // No text has a zero byte, and a device that has nothing else is found out at once.
        if memchr::memchr(0, &bytes[before..]).is_some() {
            return Err(Error::from(ErrorKind::InvalidData));
        }
        if bytes.len() > MOST {
            return Err(Error::from(ErrorKind::FileTooLarge));
        }
    }
    String::from_utf8(bytes).map_err(|_| Error::from(ErrorKind::InvalidData))
}
