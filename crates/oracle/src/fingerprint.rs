//! By what a budget knows a table again: digests under the budget's own key, of each file or of the
//! rows in memory. Whoever does not have the key learns nothing from them, not even whether two
//! budgets are about one table.
//!
//! A digest catches slips: the same file under another name, packed, or among others; the same rows
//! in another order. A copy in another format, or with one value changed, is another table, and that
//! nobody is in both remains what somebody said.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::SystemTime;

use reticent_data::{ContentListener, DataError, Dataset, visit_bytes, visit_content};
use reticent_noise::{Digest, Hasher};

/// So much of a file is hashed at a time.
const CHUNK: usize = 1 << 16;

/// Pieces that may wait to be hashed.
const WAITING: usize = 32;

/// The length of a file, and when it was written to.
pub type FileStamp = (u64, SystemTime);

/// The digest of what a file holds, unpacked, under `key`.
///
/// # Errors
/// A file that cannot be read or unpacked.
pub fn content(file: &Path, key: &[u8; 32]) -> Result<Digest, DataError> {
    let mut hasher = ContentHasher::new(key);
    visit_bytes(file, &mut |bytes| hasher.bytes(bytes))?;
    Ok(hasher.finished())
}

/// The digest of what a file holds, while it is read: as [`content`] has it, because what is hashed
/// are whole pieces and the rest, however the bytes come. A thread of its own hashes: whoever reads does
/// not wait for it, unless it falls behind.
pub(crate) struct ContentHasher {
    key: [u8; 32],
    /// What is not a whole piece yet.
    piece: Vec<u8>,
    /// Who hashes the file that is read, from its first piece on.
    thread: Option<HashingThread>,
    /// The digests of the files that are over.
    pub(crate) found: Vec<Digest>,
}

/// Takes the pieces of one file.
struct HashingThread {
    pieces: SyncSender<Vec<u8>>,
    digest: JoinHandle<Digest>,
}

impl HashingThread {
    fn new(key: [u8; 32]) -> Self {
        let (pieces, waiting) = sync_channel::<Vec<u8>>(WAITING);
        let digest = std::thread::spawn(move || {
            let mut hasher = Hasher::new("reticent table content");
            hasher.field(&key);
            let mut length = 0;
            for piece in waiting {
                hasher.field(&piece);
                length += piece.len() as u64;
            }
            hasher.number(length).finish()
        });
        HashingThread { pieces, digest }
    }
}

impl ContentHasher {
    pub(crate) fn new(key: &[u8; 32]) -> Self {
        ContentHasher { key: *key, piece: Vec::new(), thread: None, found: Vec::new() }
    }

    /// Hands on the piece that there is.
    fn hand_on(&mut self) {
        let piece = std::mem::take(&mut self.piece);
        let thread = self.thread.get_or_insert_with(|| HashingThread::new(self.key));
        // A thread that has panicked is told of at the end.
        let _ = thread.pieces.send(piece);
    }

    /// The digest of what came since the last file was over.
    fn finished(&mut self) -> Digest {
        if !self.piece.is_empty() {
            self.hand_on();
        }
        let thread = self.thread.take().unwrap_or_else(|| HashingThread::new(self.key));
        drop(thread.pieces);
        thread.digest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl ContentListener for ContentHasher {
    fn bytes(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK - self.piece.len()));
            self.piece.reserve_exact(CHUNK - self.piece.len());
            self.piece.extend_from_slice(now);
            if self.piece.len() == CHUNK {
                self.hand_on();
            }
            bytes = later;
        }
    }

    fn end(&mut self) {
        let digest = self.finished();
        self.found.push(digest);
    }
}

/// The digests of rows in memory under `key`: of all of them, and of their columns alone. The order
/// of rows does not count, because a table that is shuffled is of the same people; targets are left
/// out of the second, because one table is often fitted to several.
pub fn contents(rows: &Dataset<'_>, key: &[u8; 32]) -> (Digest, Digest) {
    let (mut whole, mut columns) = (Vec::new(), Vec::new());
    visit_content(rows, &mut |row, target| {
        let of = |purpose| {
            let mut hasher = Hasher::new(purpose);
            hasher.field(key).field(row);
            hasher
        };
        whole.push(of("reticent row in memory").field(target).finish());
        columns.push(of("reticent columns in memory").finish());
    });
    (of_rows("reticent rows in memory", whole, key), of_rows("reticent rows alone", columns, key))
}

fn of_rows(purpose: &str, mut rows: Vec<Digest>, key: &[u8; 32]) -> Digest {
    rows.sort_unstable();
    let mut hasher = Hasher::new(purpose);
    hasher.field(key).number(rows.len() as u64);
    rows.iter().for_each(|row| _ = hasher.field(row));
    hasher.finish()
}

/// The digest of the bytes of `files`, one behind the other, under `key`: what budgets of format 4
/// and before know a table by.
///
/// # Errors
/// A file that cannot be read.
pub fn fingerprint<P: AsRef<Path>>(files: &[P], key: &[u8; 32]) -> io::Result<Digest> {
    let mut hasher = Hasher::new("reticent table");
    hasher.field(key).number(files.len() as u64);
    let mut chunk = vec![0; CHUNK];
    for path in files {
        let mut file = File::open(path)?;
        let mut length = 0;
        loop {
            let read = fill(&mut file, &mut chunk)?;
            if read == 0 {
                break;
            }
            hasher.field(&chunk[..read]);
            length += read as u64;
        }
        hasher.number(length);
    }
    Ok(hasher.finish())
}

/// What [`fingerprint`] would be of `files` if they were not packed: [`visit_bytes`] has the same
/// pieces.
///
/// # Errors
/// A file that cannot be read or unpacked.
pub fn fingerprint_unpacked<P: AsRef<Path>>(
    files: &[P],
    key: &[u8; 32],
) -> Result<Digest, DataError> {
    let mut hasher = Hasher::new("reticent table");
    hasher.field(key).number(files.len() as u64);
    for path in files {
        let mut length = 0;
        visit_bytes(path.as_ref(), &mut |bytes| {
            hasher.field(bytes);
            length += bytes.len() as u64;
        })?;
        hasher.number(length);
    }
    Ok(hasher.finish())
}

/// As much as there is: how a file is handed out in pieces must not show in its digest.
fn fill(file: &mut File, chunk: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < chunk.len() {
        match file.read(&mut chunk[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Length and time of change of files: what shows that somebody wrote them while they were read.
///
/// # Errors
/// Something that is not a file, as standard input: it cannot be read twice.
pub fn stamps<P: AsRef<Path>>(files: &[P]) -> io::Result<Vec<FileStamp>> {
    files
        .iter()
        .map(|path| {
            let found = std::fs::metadata(path)?;
            if !found.is_file() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
            }
            Ok((found.len(), found.modified()?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_the_key_and_the_borders_of_files_count() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let long = vec![7; 3 * CHUNK + 5];
        let mut other = long.clone();
        other[2 * CHUNK] = 8;
        let (a, b) = (write("a", &long), write("b", &other));
        let (c, d) = (write("c", b"12"), write("d", b"3"));
        let (e, f) = (write("e", b"1"), write("f", b"23"));
        let of = |files: &[&std::path::PathBuf], key: u8| fingerprint(files, &[key; 32]).unwrap();
        assert_eq!(of(&[&a], 1), of(&[&a], 1));
        let all = [of(&[&a], 1), of(&[&a], 2), of(&[&b], 1), of(&[&c, &d], 1), of(&[&e, &f], 1)];
        for (i, one) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|two| one != two), "{i}");
        }
        assert!(fingerprint(&[folder.path().join("none")], &[0; 32]).is_err());
        assert!(stamps(&[folder.path()]).is_err());
    }

    /// A packed copy of a file that is bound was another table.
    #[test]
    fn a_packed_copy_has_the_content_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let plain = folder.path().join("a.csv");
        let text = "x,y\n1,2\n".repeat(50_000);
        std::fs::write(&plain, &text).unwrap();
        let key = [1; 32];
        let own = content(&plain, &key).unwrap();
        let packed = |name: &str, bytes: Vec<u8>| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let gz = {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
            io::Write::write_all(&mut encoder, text.as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        // Two members of one stream are unpacked one behind the other, as the reader does.
        let packed_copy = packed("b.csv.gz", gz.clone());
        assert_eq!(content(&packed_copy, &key).unwrap(), own);
        let raw = fingerprint(&[&plain], &key).unwrap();
        for copy in [&plain, &packed_copy] {
            assert_eq!(fingerprint_unpacked(&[copy], &key).unwrap(), raw);
        }
        let twice = packed("c.gz", [gz.clone(), gz].concat());
        std::fs::write(&plain, text.repeat(2)).unwrap();
        assert_eq!(content(&twice, &key).unwrap(), content(&plain, &key).unwrap());
        assert_ne!(content(&twice, &key).unwrap(), own);
        assert_ne!(content(&twice, &[2; 32]).unwrap(), content(&twice, &key).unwrap());
        assert!(content(folder.path(), &key).is_err());
    }

    #[test]
    fn rows_in_memory_are_known_in_any_order_and_their_targets_apart() {
        let of = |x: &[f64], y: &[f64]| {
            let rows = Dataset::dense(x.to_vec(), y.len(), 2).unwrap();
            contents(&rows.with_targets(y.to_vec()).unwrap(), &[1; 32])
        };
        let (whole, columns) = of(&[1.0, 2.0, 3.0, 4.0], &[0.0, 1.0]);
        assert_eq!(of(&[3.0, 4.0, 1.0, 2.0], &[1.0, 0.0]), (whole, columns));
        let other = of(&[1.0, 2.0, 3.0, 4.0], &[1.0, 1.0]);
        assert!(other.0 != whole && other.1 == columns);
        let fold = of(&[1.0, 2.0], &[0.0]);
        assert!(fold.0 != whole && fold.1 != columns);
    }
}
