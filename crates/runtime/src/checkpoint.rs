//! A run on disk, so that it can continue after a crash with the same bits.
//!
//! The file is replaced as a whole at the end of a round: written under another name, flushed to
//! the disk, renamed, and the folder flushed. Whatever happens in between, the file is that of one
//! round or of the next. It holds the key of all noise, so only its owner can read it (mode 600),
//! and it must not be published while the model's privacy matters. It holds no record; under
//! `central` trust it holds the blocks that users have handed to the trustee in the round,
//! encrypted under a key that follows from the key beside them: whoever has the file can read them.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use reticent_noise::{Digest, Hasher, NoiseKey};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::error::RunError;
use crate::failures::RawMessage;
use crate::simulation::Traffic;
use crate::wire;

const MAGIC: &[u8; 8] = b"RTCTRUN5";

/// The state that a simulation needs to continue.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub(crate) job: Digest,
    /// The fingerprint of every party's table, under the key.
    pub(crate) tables: Digest,
    key: [u8; 32],
    seeded: bool,
    pub(crate) round: u32,
    pub(crate) traffic: Traffic,
    pub(crate) rejections: BTreeMap<String, u64>,
    pub(crate) late: Vec<RawMessage>,
    pub(crate) nodes: Vec<Vec<u8>>,
}

/// Not derived: it would show the key.
impl std::fmt::Debug for Checkpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoint").field("round", &self.round).finish_non_exhaustive()
    }
}

impl Checkpoint {
    pub(crate) fn new(job: Digest, tables: Digest, key: &NoiseKey, round: u32) -> Self {
        let (bytes, seeded) = key.expose();
        Checkpoint {
            job,
            tables,
            key: *bytes,
            seeded,
            round,
            traffic: Traffic::default(),
            rejections: BTreeMap::new(),
            late: Vec::new(),
            nodes: Vec::new(),
        }
    }

    /// The key of all noise of the run.
    pub fn key(&self) -> NoiseKey {
        NoiseKey::recall(Zeroizing::new(self.key), self.seeded)
    }

    /// The checkpoint of a run whose only state is its key: its steps are repeated, with the same
    /// bits.
    pub fn of_key(job: Digest, tables: Digest, key: &NoiseKey) -> Self {
        Checkpoint::new(job, tables, key, 0)
    }

    /// Refuses another job, and other tables: unchanged tables would repeat their answers with the
    /// same noise in another context, and the difference would reveal the changed ones.
    ///
    /// # Errors
    /// If it is of another job or of other tables.
    pub fn is_of(&self, job: &Digest, tables: &Digest) -> Result<(), RunError> {
        if self.job != *job {
            return Err(RunError::Snapshot(
                "it is of another job, or was begun by another version or another kind of machine",
            ));
        }
        match self.tables == *tables {
            true => Ok(()),
            false => Err(RunError::Snapshot("a table, its schema or the noise is not what it was")),
        }
    }

    /// The job of the checkpoint.
    pub fn job(&self) -> &Digest {
        &self.job
    }

    /// Writes the checkpoint to `path`, in place of the file there.
    pub fn save(&self, path: &Path) -> Result<(), RunError> {
        let fail = |error: std::io::Error| RunError::File {
            file: path.to_owned(),
            reason: format!("the checkpoint cannot be written ({})", error.kind()),
        };
        let body = Zeroizing::new(wire::pack(self)?);
        let folder =
            path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut file =
            tempfile::Builder::new().prefix(".reticent-").tempfile_in(folder).map_err(fail)?;
        file.write_all(MAGIC).map_err(fail)?;
        file.write_all(&body).map_err(fail)?;
        file.write_all(&check(&body)).map_err(fail)?;
        file.as_file().sync_all().map_err(fail)?;
        file.persist(path).map_err(|error| fail(error.error))?;
        // The folder holds the name, and is flushed separately. Not every system opens folders.
        if let Ok(folder) = std::fs::File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// Reads a checkpoint.
    pub fn load(path: &Path) -> Result<Self, RunError> {
        let refuse =
            |reason: &str| RunError::File { file: path.to_owned(), reason: reason.to_owned() };
        let bytes = Zeroizing::new(std::fs::read(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => refuse("no such checkpoint"),
            kind => refuse(&format!("the checkpoint cannot be read ({kind})")),
        })?);
        let body = bytes
            .strip_prefix(MAGIC)
            .and_then(|rest| rest.split_last_chunk::<32>())
            .ok_or_else(|| refuse("not a checkpoint of this version"))?;
        if check(body.0) != *body.1 {
            return Err(refuse("the checkpoint is damaged"));
        }
        wire::unpack(body.0).map_err(|_| refuse("not a checkpoint of this version"))
    }
}

impl Drop for Checkpoint {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.key);
    }
}

fn check(body: &[u8]) -> Digest {
    Hasher::new("reticent checkpoint").field(body).finish()
}
