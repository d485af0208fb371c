//! How often a party has given its random number to an attempt at a run.
//!
//! Where more follows from the run's name than which run it is (who is in a masked sum), whoever may let
//! attempts fail chooses among names: the lead knows the name when all have revealed, and any party when it is
//! told the terms. So a party counts its attempts, and gives its number to no more of them than its noise is for.
//! The count is on the disk before the number is sent, and is of the journal, which joins one run: neither starting
//! again takes it back nor another roster, which a member has all sign for a new key, nor another job.
//! Proof: proofs/network.md, "A server of steps".

use crate::error::HostError;
use crate::journal::RunJournal;

/// What the count is called in a journal.
const NAME: &str = "attempts";

/// The attempts at the run of a journal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttemptCount {
    most: u32,
}

impl AttemptCount {
    pub fn new(most: u32) -> Self {
        AttemptCount { most }
    }

    /// One more: it is counted when this returns.
    ///
    /// # Errors
    /// If there were as many as there may be, or it cannot be written.
    pub fn add(&self, journal: &mut RunJournal) -> Result<(), HostError> {
        let so_far = journal.get::<u32>(NAME)?.unwrap_or(0);
        if so_far >= self.most {
            return Err(HostError::Attempts { most: self.most });
        }
        journal.commit(|change| change.set(NAME, &(so_far + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_counted_for_a_journal_through_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.journal");
        for _ in 0..3 {
            AttemptCount::new(3).add(&mut RunJournal::open(&path).unwrap()).unwrap();
        }
        for _ in 0..2 {
            let refused = AttemptCount::new(3).add(&mut RunJournal::open(&path).unwrap());
            assert!(matches!(refused, Err(HostError::Attempts { most: 3 })), "{refused:?}");
        }
        let mut full = RunJournal::open(&folder.path().join("full.journal")).unwrap();
        full.refuse_writes().unwrap();
        let kept = AttemptCount::new(1).add(&mut full);
        assert!(matches!(kept, Err(HostError::Journal { .. })), "{kept:?}");
    }
}
