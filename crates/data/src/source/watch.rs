//! A reader that notices whether what passes through it is the file that the schema was drafted
//! from. It is done while the file is read, once: a pipe cannot be read twice, and a file may
//! change in between.

use crate::schema::{Drafted, Fingerprint};
use std::cell::RefCell;
#[cfg(feature = "parquet")]
use std::fs::File;
#[cfg(feature = "parquet")]
use std::io::Seek;
use std::io::{self, Read};
use std::rc::Rc;

/// What was seen so far.
pub(super) struct Watch<'a> {
    drafted: &'a Drafted,
    seen: Rc<RefCell<Fingerprint>>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(drafted: &'a Drafted) -> Self {
        Self { drafted, seen: Rc::new(RefCell::new(drafted.fingerprint())) }
    }

    /// `reader`, watched.
    pub(super) fn over(&self, reader: Box<dyn Read>) -> Box<dyn Read> {
        Box::new(WatchedFile { reader, seen: Rc::clone(&self.seen) })
    }

    /// Reads a file that is not read in order afterwards, and goes back to its beginning.
    #[cfg(feature = "parquet")]
    pub(super) fn pass(&self, mut file: &File) -> io::Result<()> {
        all(file, |bytes| self.seen.borrow_mut().update(bytes))?;
        file.rewind()
    }

    /// Whether all that was read is the file.
    pub(super) fn is_it(&self) -> bool {
        self.drafted.is_of(&self.seen.borrow())
    }
}

struct WatchedFile {
    reader: Box<dyn Read>,
    seen: Rc<RefCell<Fingerprint>>,
}

impl Read for WatchedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.seen.borrow_mut().update(&buffer[..count]);
        Ok(count)
    }
}

/// Reads all that there is.
pub(super) fn all(mut reader: impl Read, mut see: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok(()),
            count => see(&buffer[..count]),
        }
    }
}
