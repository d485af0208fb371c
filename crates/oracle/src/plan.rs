use reticent_accountant::{Event, Ledger};

use crate::refusal::Refusal;

/// A ledger written in advance, and how far it has been followed.
#[derive(Debug)]
pub(crate) struct Plan {
    ledger: Ledger,
    entry: usize,
    used: u64,
}

impl Plan {
    pub fn new(ledger: Ledger) -> Self {
        Plan { ledger, entry: 0, used: 0 }
    }

    /// Moves past `event` if it is the next one; refuses it otherwise.
    pub fn foresees(&mut self, event: &Event) -> Result<(), Refusal> {
        match self.ledger.entries().get(self.entry) {
            Some(next) if next.event() == event => {
                self.used += 1;
                if self.used == next.count() {
                    (self.entry, self.used) = (self.entry + 1, 0);
                }
                Ok(())
            }
            next => Err(Refusal::Unplanned {
                asked: event.to_string(),
                planned: next.map_or("nothing more".to_owned(), |next| next.event().to_string()),
            }),
        }
    }

    /// Refuses a plan that has not been followed to its end.
    pub fn finish(self) -> Result<(), Refusal> {
        match self.ledger.entries().get(self.entry) {
            None => Ok(()),
            Some(left) => Err(Refusal::Unplanned {
                asked: "nothing more".to_owned(),
                planned: left.event().to_string(),
            }),
        }
    }
}
