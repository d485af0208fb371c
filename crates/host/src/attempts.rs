//! The number of attempts at a run to which a party has given its random number.
//!
//! Where more follows from the identifier of a run, such as the members of a masked sum, a member
//! that can make attempts fail can choose among identifiers: the lead knows the identifier when all
//! have revealed, and a party when it is told the terms. So a party counts its attempts and takes
//! part in no more of them than its noise allows. The count is on the disk before the number is
//! sent. It belongs to the journal, which joins one run: neither a restart nor another roster or
//! job resets it. Proof: proofs/network.md, "A server of steps".

use crate::error::HostError;
use crate::journal::RunJournal;

/// The name of the count in a journal.
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

    /// Counts one more attempt; the count is on the disk when this returns.
    ///
    /// # Errors
    /// If the largest number of attempts is reached, or the count cannot be written.
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
