//! A table in a cache file that is kept: read once, and found again as long as its files hold the same.
//!
//! What the files hold is hashed again every time, which costs a scan of them and no encoding. The file
//! says what it is of: the bytes of the table, its schema, how it is read, the program. It is believed
//! because it is its user's own in a folder that nobody else may write to (`data/src/cache/kept.rs`); what
//! a clip rests on is still computed from the rows at every scan. Proof: proofs/holders.md.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use reticent_data::{
    CacheError, CachedRows, ContentListener, DataError, Format, KeptLabel, ReadOptions, Schema,
    SharedListener, kept_name, visit_bytes,
};
use reticent_noise::{Digest, Hasher};

use crate::cached_table::CachedTable;
use crate::fingerprint::{ContentHasher, FileStamp, stamps};

/// The key of the digests in the file: whoever reads them has the rows beside them.
const NO_KEY: [u8; 32] = [0; 32];

/// Hashes what files hold, for the kept file and for whoever else asks.
struct KeptHashers {
    own: ContentHasher,
    other: Option<ContentHasher>,
}

impl ContentListener for KeptHashers {
    fn bytes(&mut self, bytes: &[u8]) {
        self.own.bytes(bytes);
        self.other.iter_mut().for_each(|other| other.bytes(bytes));
    }

    fn end(&mut self) {
        self.own.end();
        self.other.iter_mut().for_each(ContentListener::end);
    }
}

impl KeptHashers {
    fn new(key: Option<&[u8; 32]>) -> Self {
        KeptHashers { own: ContentHasher::new(&NO_KEY), other: key.map(ContentHasher::new) }
    }

    /// The digests for the kept file, and those under the other key.
    fn found(&mut self) -> (Vec<Digest>, Vec<Digest>) {
        let other = self.other.as_mut().map(|other| std::mem::take(&mut other.found));
        (std::mem::take(&mut self.own.found), other.unwrap_or_default())
    }
}

impl CachedTable {
    /// As [`CachedTable::load`], into a file that stays in `folder` and is used again for the same
    /// table. With a key, the digests that [`CachedTable::load_known`] gives come with it.
    ///
    /// # Errors
    /// As there; if others may write to the folder or have put a file there in its place; and for standard
    /// input, which cannot be read twice.
    pub fn load_kept(
        paths: &[PathBuf],
        reading: impl Into<ReadOptions>,
        schema: &Schema,
        folder: &Path,
        key: Option<&[u8; 32]>,
    ) -> Result<(Self, Vec<Digest>), DataError> {
        let (schema, reading) = (schema.with_roles(None, None)?, reading.into());
        if !paths.iter().all(|path| path.is_file()) {
            let why = "a table that is no file cannot be read again for the next run";
            return Err(CacheError::NotKept(why).into());
        }
        let before = TableStamps::of(paths)?;
        let encoding = encoding(paths, reading, &schema);
        let name = kept_name(&encoding);
        let found = CachedRows::kept(folder, &name, &encoding)?;
        let of = |rows: CachedRows, drafted_from| CachedTable {
            rows: Arc::new(rows),
            drafted_from,
            schema: Some(Arc::new(schema.clone())),
        };
        if let Some((rows, label)) = found {
            let mut hashers = KeptHashers::new(key);
            for path in paths {
                visit_bytes(path, &mut |bytes| hashers.bytes(bytes))?;
                hashers.end();
            }
            let (contents, known) = hashers.found();
            if contents == label.contents {
                return Ok((of(rows, label.drafted_from), known));
            }
        }
        let hashers = Rc::new(RefCell::new(KeptHashers::new(key)));
        let listener: SharedListener = hashers.clone();
        let (rows, drafted_from) =
            reticent_data::cache_and_tell(paths, reading, &schema, folder, &listener)?;
        let (contents, known) = hashers.borrow_mut().found();
        // A Parquet file is hashed and decoded one after the other: what is kept must be of both.
        before.are_still_those_of(paths)?;
        rows.keep(&name, &KeptLabel { encoding, contents, drafted_from })?;
        Ok((of(rows, drafted_from), known))
    }
}

/// What shows that somebody has written to the files of a table.
struct TableStamps(Vec<FileStamp>);

impl TableStamps {
    fn of(paths: &[PathBuf]) -> Result<Self, CacheError> {
        let found = stamps(paths).map_err(|error| CacheError::Read(error.to_string()))?;
        Ok(TableStamps(found))
    }

    fn are_still_those_of(&self, paths: &[PathBuf]) -> Result<(), CacheError> {
        match TableStamps::of(paths)?.0 == self.0 {
            true => Ok(()),
            false => Err(CacheError::TableChanged),
        }
    }
}

/// Stands for all that decides how these files are encoded: another version, build or machine may do
/// it otherwise.
fn encoding(paths: &[PathBuf], reading: ReadOptions, schema: &Schema) -> Digest {
    let mut hasher = Hasher::new("reticent kept cache 2");
    for word in [env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS] {
        hasher.field(word.as_bytes());
    }
    hasher.field(&reticent_data::encoding_digest());
    hasher.field(&schema.canonical_bytes());
    let (format, max_line) = reading.fields();
    hasher.field(format.map_or("", Format::name).as_bytes());
    hasher.field(&max_line.map_or([0; 9], |most| {
        let mut bytes = [1; 9];
        bytes[1..].copy_from_slice(&most.to_le_bytes());
        bytes
    }));
    for path in paths {
        // A link may say another format, or another delimiter, than the file that it leads to.
        hasher.field(path.file_name().unwrap_or_default().as_encoded_bytes());
        let path = path.canonicalize().unwrap_or_else(|_| path.clone());
        hasher.field(path.as_os_str().as_encoded_bytes());
    }
    hasher.finish()
}

#[cfg(test)]
#[path = "kept_table_tests.rs"]
mod tests;
