//! The model of a run that is over, in parts in a party's journal. SQLite holds three copies of a
//! value in memory while it writes it, and a wide model is most of the memory of a party.

use reticent_noise::Digest;
use serde::{Deserialize, Serialize};

use crate::answer_payer::ReservedJob;
use crate::error::HostError;
use crate::journal::{Change, RunJournal};

/// The names in the journal.
pub(crate) const KEPT: &str = "model";
const PARTS: &str = "text";

/// The size of a part, in bytes.
const PART: usize = 1 << 17;

/// A model and its run.
#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    pub run: Digest,
    pub job: Digest,
    pub roster: Digest,
    /// The text; empty if it is stored in parts.
    pub model: String,
    pub reservation: Option<ReservedJob>,
}

impl Kept {
    pub fn write(&self, change: &Change<'_>) -> Result<(), HostError> {
        for (at, part) in self.model.as_bytes().chunks(PART).enumerate() {
            change.set(&format!("{PARTS} {at:06}"), &part)?;
        }
        let Kept { run, job, roster, model: _, reservation } = self;
        let (run, job, roster, reservation) = (*run, *job, *roster, reservation.clone());
        change.set(KEPT, &Kept { run, job, roster, model: String::new(), reservation })
    }

    pub fn read(journal: &RunJournal) -> Result<Option<Self>, HostError> {
        let Some(mut kept) = journal.get::<Kept>(KEPT)? else { return Ok(None) };
        if kept.model.is_empty() {
            let mut parts = journal.listed::<Vec<u8>>(PARTS)?;
            parts.sort_by(|(a, _), (b, _)| a.cmp(b));
            let text: Vec<u8> = parts.into_iter().flat_map(|(_, part)| part).collect();
            let unread = |_| HostError::journal(journal.path(), "the model cannot be read");
            kept.model = String::from_utf8(text).map_err(unread)?;
        }
        Ok(Some(kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part may end within a character.
    #[test]
    fn a_long_model_is_read_as_it_was_written_and_so_is_one_in_one_piece() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = RunJournal::open(&folder.path().join("run.journal")).unwrap();
        assert!(Kept::read(&journal).unwrap().is_none());
        let model = format!("x{}", "€".repeat(PART));
        let [run, job, roster] = [[1; 32], [2; 32], [3; 32]];
        let kept = Kept {
            run,
            job,
            roster,
            model,
            reservation: Some(ReservedJob { number: 7, hash: "of".to_owned() }),
        };
        journal.commit(|change| kept.write(change)).unwrap();
        let read = Kept::read(&journal).unwrap().unwrap();
        assert_eq!((read.model == kept.model, read.run), (true, kept.run));
        assert_eq!(read.reservation, kept.reservation);
        // The format of earlier journals.
        journal.commit(|change| change.set(KEPT, &kept)).unwrap();
        assert!(Kept::read(&journal).unwrap().unwrap().model == kept.model);
    }
}
