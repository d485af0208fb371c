//! A party: its records behind its own gate, its own budget, its own books.

use reticent_accountant::Ledger;
use reticent_oracle::{Books, Digest, Gate, Oracle, Refusal, Terms};

use crate::error::RunError;
use crate::message::PartyId;

/// A party and what it has spent.
#[derive(Debug)]
pub struct Party {
    id: PartyId,
    gate: Gate,
}

impl Party {
    /// The party behind `gate`, which was opened with the party's own key. It answers no more than `plan`: the part of
    /// what the run may ask of it that is within its own budget.
    pub fn new(id: PartyId, mut gate: Gate, plan: &Ledger) -> Result<Self, Refusal> {
        gate.bind_within(plan)?;
        Ok(Party { id, gate })
    }

    /// Who it is.
    pub fn id(&self) -> PartyId {
        self.id
    }

    /// What it has spent, and why that would be no guarantee.
    pub fn ledger(&self) -> &Ledger {
        self.gate.ledger()
    }

    /// The terms of its books.
    pub fn terms(&self) -> &Terms {
        self.gate.terms()
    }

    /// Does a step whose label is `label`: the digest of all that led to it. The same step again gives the same answer
    /// and is not counted again. `None`: the party's budget does not allow it, nothing was answered.
    pub fn step<T>(
        &mut self,
        label: &Digest,
        ask: impl FnOnce(&mut dyn Oracle) -> Result<T, Refusal>,
    ) -> Result<Option<T>, Refusal> {
        self.gate.begin(label);
        match ask(&mut self.gate) {
            Ok(answer) => Ok(Some(answer)),
            // What its budget has no room for at all is not in its plan.
            Err(Refusal::Exhausted | Refusal::Unplanned { .. }) => Ok(None),
            Err(refusal) => Err(refusal),
        }
    }

    /// Its books, as text: the events are written in a form that tells their kinds by name, which the compact form of
    /// messages cannot read back.
    pub(crate) fn books(&self) -> Result<String, RunError> {
        let books = self.gate.books().ok_or(RunError::Snapshot("a party without a key"))?;
        serde_json::to_string(&books).map_err(|_| RunError::Snapshot("books that cannot be written"))
    }

    pub(crate) fn recall(&mut self, books: &str) -> Result<(), RunError> {
        let books: Books =
            serde_json::from_str(books).map_err(|_| RunError::Snapshot("books that cannot be read"))?;
        Ok(self.gate.recall(&books)?)
    }
}
