//! The releases of a run on noisy sums, so that it can continue after a crash: the algorithm runs
//! again over these answers, and nobody is asked twice. Proof: proofs/noisy-sums.md.

use std::path::{Path, PathBuf};

use reticent_noise::{Digest, NoiseKey};
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpoint;
use crate::entrusted::Post;
use crate::error::RunError;
use crate::wire;

/// One round: the request and the opened sum.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::noisy) struct KeptSum {
    pub usual: Vec<u8>,
    pub behind: Option<(u32, Vec<u8>)>,
    /// The parties that did not receive the request.
    pub deaf: Vec<u32>,
    pub values: Vec<i64>,
    /// The parties that are not in the sum.
    pub absent: Vec<u32>,
}

/// The rounds of a run, and the file that keeps them.
#[derive(Debug)]
pub(in crate::noisy) struct KeptSums {
    pub rounds: Vec<KeptSum>,
    /// The fingerprint of every party's table.
    tables: Digest,
    file: Option<(PathBuf, Digest, NoiseKey)>,
}

impl KeptSums {
    pub fn new(tables: Digest) -> Self {
        KeptSums { rounds: Vec::new(), tables, file: None }
    }

    /// Keeps the run of `job` under `key` in this file from here on.
    pub fn keep(&mut self, file: &Path, job: Digest, key: NoiseKey) {
        self.file = Some((file.to_owned(), job, key));
    }

    /// Continues from a checkpoint of the same job on the same tables.
    pub fn resume(&mut self, checkpoint: &Checkpoint, job: &Digest) -> Result<(), RunError> {
        checkpoint.is_of(job, &self.tables)?;
        let kept = checkpoint.nodes.first().ok_or(RunError::Snapshot("it has no sums"))?;
        self.rounds = wire::unpack(kept)?;
        Ok(())
    }

    /// Records a round, on the disk if there is a file.
    pub fn add(&mut self, kept: KeptSum, post: &Post) -> Result<(), RunError> {
        self.rounds.push(kept);
        let Some((file, job, key)) = &self.file else { return Ok(()) };
        let round = self.rounds.len() as u32;
        let mut checkpoint = Checkpoint::new(*job, self.tables, key, round);
        (checkpoint.traffic, checkpoint.rejections) = (post.traffic(), post.rejections());
        checkpoint.nodes = vec![wire::pack(&self.rounds)?];
        checkpoint.save(file)
    }
}
