//! What a budget knows of the run that it pays for. A journal can be restored from a backup or
//! copied with its machine, and then lacks answers that were given. So the budget is told of the
//! joining and of the first answer, each before it is sent. A reservation is given back only if the
//! budget knows of no answer.
//!
//! Proof: proofs/network.md, 3.

use std::path::{Path, PathBuf};

use reticent_budget::Store;
use serde::{Deserialize, Serialize};

use crate::error::HostError;

/// The part of a job in a budget that begins when its run is joined.
const JOINED: u32 = 0;

/// The part that begins with the first answer.
const ANSWERED: u32 = 1;

/// A job in a budget: its number, and the hash of the line that reserved it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReservedJob {
    /// The number.
    pub number: u64,
    /// The hash.
    pub hash: String,
}

/// The job in a budget that pays for a run.
#[derive(Debug)]
pub(crate) struct AnswerPayer {
    file: PathBuf,
    job: u64,
    hash: String,
    /// Whether this process has told the budget of an answer.
    told: bool,
}

impl AnswerPayer {
    pub fn new(file: &Path, ReservedJob { number, hash }: ReservedJob) -> Self {
        AnswerPayer { file: file.to_owned(), job: number, hash, told: false }
    }

    /// Records in the budget that the run is joined. The job must be open: a job that was closed or
    /// given back pays for no answer.
    pub fn join(&self) -> Result<(), HostError> {
        self.begin(JOINED)
    }

    /// Records in the budget that an answer is about to be given.
    pub fn note(&mut self) -> Result<(), HostError> {
        if !self.told {
            self.begin(ANSWERED)?;
            self.told = true;
        }
        Ok(())
    }

    /// Whether anything was answered, according to the budget and not to the journal.
    pub fn has_answered(&self) -> Result<bool, HostError> {
        let store = Store::open(&self.file)?;
        let own = store.reservation(self.job, &self.hash)?;
        Ok(self.told || store.has_begun(&own, ANSWERED)?)
    }

    fn begin(&self, part: u32) -> Result<(), HostError> {
        let mut store = Store::open(&self.file)?;
        let own = store.reservation(self.job, &self.hash)?;
        store.begin_part(&own, part)?;
        Ok(())
    }
}
