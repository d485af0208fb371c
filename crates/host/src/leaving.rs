//! Who has left a run for good, as the lead remembers it: every decision is on the disk before anything
//! follows from it.

use reticent_runtime::Staying;

use crate::carrier::{Lines, locked};
use crate::error::HostError;
use crate::options::Notice;

/// What the lead's journal calls the decisions who goes on, and whom its operator has let go.
pub(crate) const STAYINGS: &str = "stayings";
pub(crate) const DROPPED: &str = "dropped";

/// What it calls the names of the parties that are in.
pub(crate) const PARTIES: &str = "parties";

/// And that none of them can ever be left out.
pub(crate) const ALL_STAY: &str = "all stay";

impl Lines {
    /// What was decided of who goes on, in its order.
    pub fn stayings(&self) -> Vec<Staying> {
        locked(&self.stayings).clone()
    }

    /// Keeps a decision; it is on the disk when this returns.
    pub fn keep(&self, staying: Staying) -> Result<(), HostError> {
        let mut all = self.stayings();
        all.push(staying);
        let keep = || locked(&self.journal).commit(|change| change.set(STAYINGS, &all));
        self.options.writing("staying", keep)?;
        *locked(&self.stayings) = all;
        Ok(())
    }

    /// This party is out of the run for good, and is told so when it comes.
    pub fn forfeit(&self, party: u32, round: u32) {
        let name = self.roster.name(party);
        let why = format!("the others have gone on without {name}, from round {round} on");
        if locked(&self.gone).insert(party) || !self.hall.is_out(self.seats[party as usize]) {
            self.hall.forfeit(self.seats[party as usize], &why);
            self.dismiss(party, &why);
            self.options.tell(Notice::Forfeited { name, round });
        }
    }

    /// Says of a party what it has said that it should not have; the run may go on.
    pub fn note(&self, party: u32, what: &str) {
        self.note_of_all(&format!("{}: {what}", self.roster.name(party)));
    }

    /// The same where nobody can tell who has said it.
    pub fn note_of_all(&self, what: &str) {
        self.hall.count("against the protocol");
        self.options.tell(Notice::Rejected { name: what.to_owned() });
    }

    /// Who takes part to the end.
    pub fn stays(&self, party: u32) -> bool {
        !locked(&self.gone).contains(&party)
    }

    /// Why there is no answer of somebody who is away.
    pub fn absent(&self, who: String) -> HostError {
        HostError::Absent { who, seconds: self.options.patience.as_secs(), why: None }
    }
}
