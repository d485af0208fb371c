//! A cache file that is kept for the next run, and what must hold before it is used again.
//!
//! ```text
//! blocks │ what it is of, where the blocks lie, the persons │ SHA-256 of that │ its length │ MAGIC
//! ```
//!
//! It has a name only once it is whole: the file without a name is linked into its folder at the end. Only
//! its user may open it, and nobody else may write to the folder. What another user put there in its
//! place is refused by its owner; a file of the same user whose list is damaged, or that is of something else, is
//! as none, and is replaced; a damaged block is found when it is read, and ends the run. A file is never
//! written into: whoever has the old one open keeps that.

use super::bytes::{Bytes, put_number, put_whole};
use super::cached_rows::{CachedPeople, CachedRows};
use super::file::{BlockPlace, CacheError, CacheFile};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The last bytes of a file; another form of it has another number.
const MAGIC: &[u8; 16] = b"reticent cache 1";

/// Bytes behind what is hashed: the hash, the length and [`MAGIC`].
const END: usize = 32 + 8 + MAGIC.len();

/// The first and the last letters of the name of a file.
const NAME: (&str, &str) = ("reticent-", ".cache");

/// Bytes of the encoding that the name of a file has.
const NAMED: usize = 16;

/// The name of a file: of the encoding and no row.
pub fn kept_name(encoding: &[u8; 32]) -> String {
    let hex: String = encoding.iter().take(NAMED).map(|byte| format!("{byte:02x}")).collect();
    format!("{}{hex}{}", NAME.0, NAME.1)
}

/// Whether a file is called as [`kept_name`] calls one: it is then no part of a table, also where it lies
/// in the table's own folder.
pub fn is_kept_name(name: &OsStr) -> bool {
    let name = name.to_str().and_then(|name| name.strip_prefix(NAME.0)?.strip_suffix(NAME.1));
    let digit = |letter: u8| matches!(letter, b'0'..=b'9' | b'a'..=b'f');
    name.is_some_and(|hex| hex.len() == 2 * NAMED && hex.bytes().all(digit))
}

/// What a kept cache is of. A file that says otherwise is not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptLabel {
    /// Stands for all that decides how a table is encoded, and for the names of its files.
    pub encoding: [u8; 32],
    /// Stand for what the files of the table hold.
    pub contents: Vec<[u8; 32]>,
    /// Whether the schema was drafted from it.
    pub drafted_from: bool,
}

impl CachedRows {
    /// Keeps the file under `name` in its folder, in place of whatever has the name.
    ///
    /// # Errors
    /// If others may write to the folder, or the file cannot be written or get a name.
    pub fn keep(&self, name: &str, label: &KeptLabel) -> Result<(), CacheError> {
        named::own_folder(self.folder())?;
        let mut bytes = Vec::new();
        self.write_label(label, &mut bytes);
        let hash = Sha256::digest(&bytes);
        let length = bytes.len();
        bytes.extend_from_slice(&hash);
        put_number(length, &mut bytes);
        bytes.extend_from_slice(MAGIC);
        self.by_record().finish_with(&bytes, |file| named::link(file, self.folder(), name))
    }

    /// The table that is kept under `name` in `folder`, with what it is of; `None` where there is no
    /// whole one that is encoded so.
    ///
    /// # Errors
    /// If others may write to the folder, or a file of this name is not its user's own.
    pub fn kept(
        folder: &Path,
        name: &str,
        encoding: &[u8; 32],
    ) -> Result<Option<(Self, KeptLabel)>, CacheError> {
        let Some(mut file) = named::open(folder, name)? else { return Ok(None) };
        let Some((end, bytes)) = trailer(&mut file) else { return Ok(None) };
        let found = read_table(&mut Bytes::new(&bytes), end, file, folder);
        Ok(found.filter(|(_, label)| label.encoding == *encoding))
    }

    fn write_label(&self, label: &KeptLabel, out: &mut Vec<u8>) {
        out.extend_from_slice(&label.encoding);
        out.push(label.drafted_from.into());
        put_number(label.contents.len(), out);
        label.contents.iter().for_each(|content| out.extend_from_slice(content));
        let (columns, block) = (self.columns(), self.block_bytes());
        [columns, block].into_iter().for_each(|number| put_number(number, out));
        out.push(self.is_weighted().into());
        let rows = self.by_record();
        put_number(rows.blocks(), out);
        for place in rows.places() {
            [place.len, place.units].into_iter().for_each(|number| put_number(number, out));
            out.extend_from_slice(&place.checksum.to_le_bytes());
        }
        match self.people() {
            None => out.push(0),
            Some(people) => {
                out.push(1);
                put_number(people.places.len(), out);
                put_whole(people.places.iter().copied(), out);
                put_whole(people.rows.iter().copied(), out);
            }
        }
    }
}

/// What stands behind the blocks, if it is whole, and where it begins.
fn trailer(file: &mut File) -> Option<(u64, Vec<u8>)> {
    let all = file.metadata().ok()?.len();
    let mut end = [0; END];
    file.seek(SeekFrom::Start(all.checked_sub(END as u64)?)).ok()?;
    file.read_exact(&mut end).ok()?;
    let (hash, rest) = end.split_at(32);
    let length = Bytes::new(rest).number()?;
    let from = all.checked_sub(END as u64)?.checked_sub(length as u64)?;
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(from)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    let whole = rest.ends_with(MAGIC) && Sha256::digest(&bytes).as_slice() == hash;
    whole.then_some((from, bytes))
}

fn read_table(
    bytes: &mut Bytes<'_>,
    end: u64,
    file: File,
    folder: &Path,
) -> Option<(CachedRows, KeptLabel)> {
    let label = read_label(bytes)?;
    let rows = read_rows(bytes, end, file, folder)?;
    bytes.is_empty().then_some((rows, label))
}

fn read_label(bytes: &mut Bytes<'_>) -> Option<KeptLabel> {
    let encoding = *bytes.take(32)?.first_chunk()?;
    let drafted_from = bytes.byte()? != 0;
    let count = bytes.number()?;
    let contents = bytes.take(count.checked_mul(32)?)?.as_chunks::<32>().0.to_vec();
    Some(KeptLabel { encoding, contents, drafted_from })
}

/// The table whose blocks are the first `end` bytes of the file.
fn read_rows(bytes: &mut Bytes<'_>, end: u64, file: File, folder: &Path) -> Option<CachedRows> {
    let (columns, block) = (bytes.number()?, bytes.number()?);
    let weighted = bytes.byte()? != 0;
    let (mut places, mut at, mut first) = (Vec::new(), 0_u64, 0_usize);
    for _ in 0..bytes.number()? {
        let (len, units) = (bytes.number()?, bytes.number()?);
        let checksum = u32::from_le_bytes(*bytes.take(4)?.first_chunk()?);
        places.push(BlockPlace { at, len, checksum, first, units });
        at = at.checked_add(len as u64)?;
        first = first.checked_add(units)?;
    }
    let people = match bytes.byte()? {
        0 => None,
        _ => Some(read_people(bytes, first)?),
    };
    let file = CacheFile::of(file, places, first);
    (at == end).then(|| CachedRows::of_file(file, (columns, block), weighted, people, folder))
}

/// Persons, each with a place of its own, who have all rows.
fn read_people(bytes: &mut Bytes<'_>, records: usize) -> Option<CachedPeople> {
    let count = bytes.number()?;
    let (mut places, mut rows) = (Vec::new(), Vec::new());
    bytes.whole(count, |place| places.push(place))?;
    bytes.whole(count, |own| rows.push(own))?;
    let mut taken = vec![false; count];
    for &place in &places {
        let taken = taken.get_mut(place as usize)?;
        (!std::mem::replace(taken, true)).then_some(())?;
    }
    let all: usize = rows.iter().map(|&own| own as usize).sum();
    (all == records).then_some(CachedPeople { places, rows })
}

/// Files with a name that are their user's alone.
#[cfg(target_os = "linux")]
mod named {
    use super::super::file::private_file;
    use super::CacheError;
    use rustix::fs::{AtFlags, CWD, OFlags, linkat};
    use std::fs::{File, Metadata, OpenOptions};
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
    use std::path::Path;

    /// Refuses a folder that others may write to; gives the user whose files are made there.
    pub(super) fn own_folder(folder: &Path) -> Result<u32, CacheError> {
        let found = || -> io::Result<(Metadata, u32)> {
            Ok((std::fs::metadata(folder)?, private_file(folder)?.metadata()?.uid()))
        };
        let (found, user) = found().map_err(|error| CacheError::written(&error))?;
        let others_write = found.permissions().mode() & 0o022 != 0;
        match others_write || ![user, 0].contains(&found.uid()) {
            true => Err(CacheError::NotKept("somebody else may write to its folder")),
            false => Ok(user),
        }
    }

    /// The file of this name, if there is one.
    pub(super) fn open(folder: &Path, name: &str) -> Result<Option<File>, CacheError> {
        let user = own_folder(folder)?;
        // No link is followed, and a pipe that somebody put there is not waited for.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
        let file = OpenOptions::new().read(true).custom_flags(flags).open(folder.join(name));
        let found = file.and_then(|file| Ok((file.metadata()?, file)));
        match found {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Ok((found, file)) if is_own(&found, user) => Ok(Some(file)),
            _ => Err(CacheError::NotKept(
                "a file of its name is there that is a link, belongs to somebody else or may be opened by others",
            )),
        }
    }

    fn is_own(found: &Metadata, user: u32) -> bool {
        let closed = found.permissions().mode() & 0o077 == 0;
        found.is_file() && closed && found.uid() == user && found.nlink() == 1
    }

    /// Gives a file without a name one, in place of what has it.
    pub(super) fn link(file: &File, folder: &Path, name: &str) -> io::Result<()> {
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        // A name can be given to what has none, and not be taken from another in the same step.
        let fresh = folder.join(format!(".{name}.{}", std::process::id()));
        // Of a process of this number that was killed between the two steps.
        let _ = std::fs::remove_file(&fresh);
        linkat(CWD, own, CWD, &fresh, AtFlags::SYMLINK_FOLLOW)?;
        let renamed = std::fs::rename(&fresh, folder.join(name));
        if renamed.is_err() {
            let _ = std::fs::remove_file(&fresh);
        }
        renamed
    }
}

#[cfg(not(target_os = "linux"))]
mod named {
    use super::CacheError;
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn own_folder(_: &Path) -> Result<u32, CacheError> {
        Err(CacheError::NotKept("this system cannot name a file that is whole, and no other"))
    }

    pub(super) fn open(folder: &Path, _: &str) -> Result<Option<File>, CacheError> {
        own_folder(folder).map(|_| None)
    }

    pub(super) fn link(_: &File, _: &Path, _: &str) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
