//! What a budget knows of the run that it pays for. A journal can be set back, by a backup or the copy of a
//! machine, and says then that nothing was answered; so the budget is told of the joining and of the first
//! answer, each before it is sent, and what is reserved goes back only where it knows of no answer.
//!
//! Proof: proofs/network.md, 3.

use std::path::{Path, PathBuf};

use reticent_budget::Store;

use crate::error::HostError;

/// The part of a job in a budget that is begun when its run is joined.
const JOINED: u32 = 0;

/// The part that is begun with the first answer.
const ANSWERED: u32 = 1;

/// The job of a budget that pays for a run.
#[derive(Debug)]
pub(crate) struct AnswerPayer {
    file: PathBuf,
    job: u64,
    hash: String,
    /// Whether the budget knows of an answer, as far as this process has told it.
    told: bool,
}

impl AnswerPayer {
    pub fn new(file: &Path, (job, hash): &(u64, String)) -> Self {
        AnswerPayer { file: file.to_owned(), job: *job, hash: hash.clone(), told: false }
    }

    /// Notes that the run is joined. The job must be open: what was given back, or closed, answers nothing.
    pub fn join(&self) -> Result<(), HostError> {
        self.begin(JOINED)
    }

    /// Notes that something is about to be answered.
    pub fn note(&mut self) -> Result<(), HostError> {
        if !self.told {
            self.begin(ANSWERED)?;
            self.told = true;
        }
        Ok(())
    }

    /// Whether anything was answered, whatever the journal has of it.
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
