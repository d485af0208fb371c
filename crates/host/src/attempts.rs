//! How often a party has given its random number to an attempt at a run.
//!
//! Where more follows from the run's name than which run it is (who is in a masked sum), whoever may let
//! attempts fail chooses among names: the lead knows the name when all have revealed, and any party when it is
//! told the terms. So a party counts its attempts, and gives its number to no more of them than its noise is for.
//! The count is on the disk before the number is sent, and is of one job and one roster: starting again does not
//! take it back. Proof: proofs/network.md, "A server of steps".

use reticent_core::hex;
use reticent_noise::{Digest, Hasher};

use crate::error::HostError;
use crate::journal::RunJournal;

/// The attempts at a run of one job and one roster.
#[derive(Clone, Debug)]
pub(crate) struct AttemptCount {
    name: String,
    most: u32,
}

impl AttemptCount {
    pub fn new(job: &Digest, roster: &Digest, most: u32) -> Self {
        let of = Hasher::new("reticent attempts").field(job).field(roster).finish();
        AttemptCount { name: format!("attempts {}", hex(&of)), most }
    }

    /// One more: it is counted when this returns.
    ///
    /// # Errors
    /// If there were as many as there may be, or it cannot be written.
    pub fn add(&self, journal: &mut RunJournal) -> Result<(), HostError> {
        let so_far = journal.get::<u32>(&self.name)?.unwrap_or(0);
        if so_far >= self.most {
            return Err(HostError::Attempts { most: self.most });
        }
        journal.commit(|change| change.set(&self.name, &(so_far + 1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_counted_for_each_job_and_roster_through_restarts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.journal");
        let own = AttemptCount::new(&[1; 32], &[2; 32], 3);
        for _ in 0..3 {
            own.add(&mut RunJournal::open(&path).unwrap()).unwrap();
        }
        // Another job in between does not make the first one new.
        for (job, roster) in [([3; 32], [2; 32]), ([1; 32], [4; 32])] {
            let other = AttemptCount::new(&job, &roster, 1);
            other.add(&mut RunJournal::open(&path).unwrap()).unwrap();
        }
        for _ in 0..2 {
            let refused = own.add(&mut RunJournal::open(&path).unwrap());
            assert!(matches!(refused, Err(HostError::Attempts { most: 3 })), "{refused:?}");
        }
        let full = AttemptCount::new(&[5; 32], &[2; 32], 1);
        let mut journal = RunJournal::open(&path).unwrap();
        journal.refuse_writes().unwrap();
        assert!(matches!(full.add(&mut journal), Err(HostError::Journal { .. })));
    }
}
