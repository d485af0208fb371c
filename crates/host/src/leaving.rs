//! Parties that have left a run for good, in the lead's journal: each decision is on the disk
//! before it has an effect.

use reticent_runtime::Staying;

use crate::carrier::{Lines, locked};
use crate::error::HostError;
use crate::options::Notice;

/// The names in the lead's journal of the decisions to continue, and of the parties that the
/// operator has removed.
pub(crate) const STAYINGS: &str = "stayings";
pub(crate) const DROPPED: &str = "dropped";

/// The name of the list of the parties of the run.
pub(crate) const PARTIES: &str = "parties";

/// The name of the mark that no party can ever be left out.
pub(crate) const ALL_STAY: &str = "all stay";

impl Lines {
    /// The decisions to continue without some parties, in order.
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

    /// Excludes a party for good, and tells it when it connects.
    pub fn forfeit(&self, party: u32, round: u32) {
        let name = self.roster.name(party);
        let why = format!("the others have gone on without {name}, from round {round} on");
        if locked(&self.gone).insert(party) || !self.hall.is_out(self.seats[party as usize]) {
            self.hall.forfeit(self.seats[party as usize], &why);
            self.dismiss(party, &why);
            self.options.tell(Notice::Forfeited { name, round });
        }
    }

    /// Reports an invalid message of a party; the run may continue.
    pub fn note(&self, party: u32, what: &str) {
        self.note_of_all(&format!("{}: {what}", self.roster.name(party)));
    }

    /// The same if its sender is unknown.
    pub fn note_of_all(&self, what: &str) {
        self.hall.count("against the protocol");
        self.options.tell(Notice::Rejected { name: what.to_owned() });
    }

    /// Whether the party takes part to the end.
    pub fn stays(&self, party: u32) -> bool {
        !locked(&self.gone).contains(&party)
    }

    /// The error for a member that is away.
    pub fn absent(&self, who: String) -> HostError {
        HostError::Absent { who, seconds: self.options.patience.as_secs(), why: None }
    }
}
