//! By what a budget knows a table again: a digest of its files under the budget's own key. Whoever
//! does not have the key learns nothing from it, not even whether two budgets are about one table.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use reticent_noise::{Digest, Hasher};

/// So much of a file is hashed at a time.
const CHUNK: usize = 1 << 16;

/// The digest of the bytes of `files`, one behind the other, under `key`.
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
pub fn stamps<P: AsRef<Path>>(files: &[P]) -> io::Result<Vec<(u64, SystemTime)>> {
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
}
