//! A reader that notices what passes through it: whether it is the file that the schema was drafted
//! from, and whatever a listener makes of it. It is done while the file is read, once: a pipe cannot
//! be read twice, and a file may change in between.

use crate::schema::{Drafted, Fingerprint};
use std::cell::RefCell;
#[cfg(feature = "parquet")]
use std::fs::File;
#[cfg(feature = "parquet")]
use std::io::Seek;
use std::io::{self, Read};
use std::rc::Rc;

/// Hears the bytes of files while they are read, unpacked, as [`visit_bytes`](crate::visit_bytes)
/// would hand them on, however they are cut.
pub trait ContentListener {
    /// The next bytes.
    fn bytes(&mut self, bytes: &[u8]);

    /// The file is over, and was read to its end.
    fn end(&mut self);
}

/// A listener that is shared with whoever reads.
pub type SharedListener = Rc<RefCell<dyn ContentListener>>;

/// What was seen so far.
pub(super) struct Watch<'a> {
    drafted: Option<&'a Drafted>,
    seen: ByteWitness,
}

#[derive(Clone)]
struct ByteWitness {
    drafted: Option<Rc<RefCell<Fingerprint>>>,
    heard: Option<SharedListener>,
}

impl ByteWitness {
    fn update(&self, bytes: &[u8]) {
        if let Some(seen) = &self.drafted {
            seen.borrow_mut().update(bytes);
        }
        if let Some(listener) = &self.heard {
            listener.borrow_mut().bytes(bytes);
        }
    }
}

impl<'a> Watch<'a> {
    /// What looks for the file of a draft, and tells a listener; `None` where there is neither.
    pub(super) fn new(
        drafted: Option<&'a Drafted>,
        listener: Option<&SharedListener>,
    ) -> Option<Self> {
        let seen = drafted.map(|drafted| Rc::new(RefCell::new(drafted.fingerprint())));
        let seen = ByteWitness { drafted: seen, heard: listener.cloned() };
        (drafted.is_some() || listener.is_some()).then_some(Self { drafted, seen })
    }

    /// `reader`, watched.
    pub(super) fn over(&self, reader: Box<dyn Read>) -> Box<dyn Read> {
        Box::new(WatchedFile { reader, seen: self.seen.clone() })
    }

    /// Reads a file that is not read in order afterwards, and goes back to its beginning.
    #[cfg(feature = "parquet")]
    pub(super) fn pass(&self, mut file: &File) -> io::Result<()> {
        all(file, |bytes| self.seen.update(bytes))?;
        file.rewind()
    }

    /// The file is over: whether all that was read is the file of the draft.
    pub(super) fn end(self) -> bool {
        if let Some(listener) = &self.seen.heard {
            listener.borrow_mut().end();
        }
        let found = self.drafted.zip(self.seen.drafted);
        found.is_some_and(|(drafted, seen)| drafted.is_of(&seen.borrow()))
    }
}

struct WatchedFile {
    reader: Box<dyn Read>,
    seen: ByteWitness,
}

impl Read for WatchedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.seen.update(&buffer[..count]);
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
