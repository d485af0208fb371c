//! Where a run between parties is kept, and the key that it begins or goes on with.

use std::path::Path;

use reticent_oracle::{NoiseKey, Refusal};
use reticent_runtime::Checkpoint;

use super::check::SimulationJob;
use crate::error::Error;

/// Where a run is kept, so that it can go on after a crash.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct CheckpointOptions<'a> {
    /// The file that is written at the end of every round.
    pub checkpoint: Option<&'a Path>,
    /// Whether to go on from it.
    pub resume: bool,
}

impl<'a> CheckpointOptions<'a> {
    /// The file that is written at the end of every round, and whether to go on from it.
    pub fn new(checkpoint: Option<&'a Path>, resume: bool) -> Self {
        CheckpointOptions { checkpoint, resume }
    }
}

impl SimulationJob {
    /// The key of the run, and the checkpoint that it comes from.
    pub(super) fn key(
        &self,
        keep: CheckpointOptions<'_>,
    ) -> Result<(Option<Checkpoint>, NoiseKey), Error> {
        if keep.resume {
            let file = keep.checkpoint.ok_or(Error::Missing {
                what: "the checkpoint",
                todo: "say with `checkpoint = FILE` what to resume from",
            })?;
            let checkpoint = Checkpoint::load(file)?;
            let key = checkpoint.key();
            return Ok((Some(checkpoint), key));
        }
        let key = match self.seed {
            Some(seed) => NoiseKey::seeded(seed),
            None => NoiseKey::secure().map_err(Refusal::from)?,
        };
        Ok((None, key))
    }
}
