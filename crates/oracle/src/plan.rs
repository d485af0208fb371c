use reticent_accountant::{Event, Ledger};

use crate::refusal::Refusal;

/// A ledger written in advance, and how far it has been followed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LedgerPlan {
    /// Every event, in its order.
    Exact { ledger: Ledger, entry: usize, used: u64 },
    /// No event more often than the ledger has it; in any order, and not necessarily all of them.
    Within { ledger: Ledger, left: Vec<(Event, u64)> },
}

impl LedgerPlan {
    pub fn new(ledger: Ledger) -> Self {
        LedgerPlan::Exact { ledger, entry: 0, used: 0 }
    }

    pub fn within(ledger: &Ledger) -> Self {
        let mut left: Vec<(Event, u64)> = Vec::new();
        for entry in ledger.entries() {
            match left.iter_mut().find(|(event, _)| event == entry.event()) {
                Some((_, count)) => *count += entry.count(),
                None => left.push((entry.event().clone(), entry.count())),
            }
        }
        LedgerPlan::Within { ledger: ledger.clone(), left }
    }

    /// Moves past `event` if it is foreseen; refuses it otherwise.
    pub fn foresees(&mut self, event: &Event) -> Result<(), Refusal> {
        match self {
            LedgerPlan::Exact { ledger, entry, used } => match ledger.entries().get(*entry) {
                Some(next) if next.event() == event => {
                    *used += 1;
                    if *used == next.count() {
                        (*entry, *used) = (*entry + 1, 0);
                    }
                    Ok(())
                }
                next => Err(Refusal::Unplanned {
                    asked: event.to_string(),
                    planned: next
                        .map_or("nothing more".to_owned(), |next| next.event().to_string()),
                }),
            },
            // A budget too small for a single answer.
            LedgerPlan::Within { left, .. } if left.is_empty() => Err(Refusal::Exhausted),
            LedgerPlan::Within { left, .. } => {
                match left.iter_mut().find(|(planned, _)| planned == event) {
                    Some((_, count)) if *count > 0 => {
                        *count -= 1;
                        Ok(())
                    }
                    Some(_) => Err(Refusal::Exhausted),
                    None => Err(Refusal::Unplanned {
                        asked: event.to_string(),
                        planned: left.first().map_or("nothing".to_owned(), |(event, _)| {
                            format!("{event}, and others")
                        }),
                    }),
                }
            }
        }
    }

    /// Moves past all of a ledger.
    pub fn follow(&mut self, ledger: &Ledger) -> Result<(), Refusal> {
        ledger
            .entries()
            .iter()
            .try_for_each(|entry| (0..entry.count()).try_for_each(|_| self.foresees(entry.event())))
    }

    /// What is to be certified: all of it. Refuses a plan that has not been followed to the end
    /// that it must be followed to.
    ///
    /// Who may stop early may stop because of an answer, and the bound of what was used does not
    /// hold at a step that was chosen by looking (proofs/filter.md).
    pub fn finish(self) -> Result<Ledger, Refusal> {
        let (ledger, entry) = match self {
            LedgerPlan::Within { ledger, .. } => return Ok(ledger),
            LedgerPlan::Exact { ledger, entry, .. } => (ledger, entry),
        };
        match ledger.entries().get(entry) {
            None => Ok(ledger),
            Some(left) => Err(Refusal::Unplanned {
                asked: "nothing more".to_owned(),
                planned: left.event().to_string(),
            }),
        }
    }
}
