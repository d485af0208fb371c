//! A party: its records behind its own gate, its own budget, and its own books.

use reticent_accountant::Ledger;
use reticent_masks::{AggregationTerms as MaskTerms, FixedPoint, Member, MemberId, NoiseShare};
use reticent_oracle::queries::ResidualTerms;
use reticent_oracle::{
    AggregatorKey, BlockTerms, Books, Digest, EncryptedBlock, Gate, Keyed, Oracle, Refusal, Terms,
};

use crate::error::RunError;
use crate::message::PartyId;
use crate::rejected::Rejected;

/// The budget that one party has set aside, and how much of it was used.
#[derive(Clone, Debug)]
pub struct PartyReport {
    /// The party.
    pub id: PartyId,
    /// The cost for its certificate.
    pub ledger: Ledger,
    /// The number of answers of its own gate.
    pub answers: u64,
    /// The terms of the cost.
    pub terms: Terms,
}

/// A party and its spending.
#[derive(Debug)]
pub struct Party {
    id: PartyId,
    gate: Gate<Keyed>,
    plan: Ledger,
    /// The terms of the books that count for it.
    terms: Terms,
    /// The number of public z's that its block has followed, or is to follow again after a crash.
    followed: u32,
}

impl Party {
    /// The party behind `gate`, which was opened with the party's own key. It answers no more than
    /// `plan`: the part of the run's queries that is within its own budget. `terms` are those of
    /// the books that count for it, which may differ from its gate's.
    pub fn new(
        id: PartyId,
        mut gate: Gate<Keyed>,
        plan: Ledger,
        terms: Terms,
    ) -> Result<Self, Refusal> {
        gate.bind_within(&plan)?;
        Ok(Party { id, gate, plan, terms, followed: 0 })
    }

    /// The number of the party.
    pub fn id(&self) -> PartyId {
        self.id
    }

    /// Its spending, with any reasons why that is no guarantee.
    pub fn ledger(&self) -> &Ledger {
        self.gate.ledger()
    }

    /// Its plan, which is decided before the run and never changes.
    pub fn plan(&self) -> &Ledger {
        &self.plan
    }

    /// Begins the step with this label, the digest of all that led to it: the next queries of the
    /// gate belong to it. A repeated step gives the same answer and is not counted again.
    pub fn begin(&mut self, label: &Digest) -> &mut dyn Oracle {
        self.gate.begin(label);
        &mut self.gate
    }

    /// The cost for its certificate: its whole plan, used or not, with the taints of its own books.
    /// The used part depends on chance that is seen, or on a caller that may choose by the answers,
    /// and the sum over such a choice bounds nothing (proofs/filter.md).
    pub fn report(&self) -> PartyReport {
        let mut ledger = self.plan.clone();
        self.ledger().taints().iter().for_each(|&taint| ledger.taint(taint));
        let answers = self.ledger().total_events();
        PartyReport { id: self.id, ledger, answers, terms: self.terms }
    }

    /// The fingerprint of its table, its terms and its key.
    pub(crate) fn fingerprint(&self) -> Result<Digest, Refusal> {
        self.gate.fingerprint()
    }

    /// Moves its block along public z's, the first of which has the number `first`; returns how
    /// many it has followed. Nothing is released, and a party that was away catches up.
    pub fn follow(
        &mut self,
        first: u32,
        zs: &[Vec<f64>],
        params: &BlockTerms,
    ) -> Result<u32, Rejected> {
        self.followed = self.gate.follow(first, zs, params).map_err(refused)?;
        Ok(self.followed)
    }

    /// Restores its block after a crash along the z's of the run, of which it may have followed
    /// fewer.
    pub(crate) fn catch_up(
        &mut self,
        zs: &[Vec<f64>],
        params: &BlockTerms,
    ) -> Result<(), RunError> {
        let seen =
            zs.get(..self.followed as usize).ok_or(RunError::Snapshot("a party that is ahead"))?;
        self.follow(0, seen, params)?;
        Ok(())
    }

    /// Its block, for the trusted aggregator alone.
    pub fn encrypt_block(
        &mut self,
        label: &Digest,
        aggregator: &AggregatorKey,
        round: u32,
    ) -> Result<EncryptedBlock, Rejected> {
        self.gate.begin(label);
        self.gate.encrypt_block(aggregator, round, self.id.0).map_err(refused)
    }

    /// The noise of a residual alone, in the current step: for a walk, from a user with no budget
    /// left.
    pub fn cover(&mut self, params: &ResidualTerms) -> Result<Vec<f64>, Rejected> {
        self.gate.cover(params).map_err(refused)
    }

    /// Its masked block; `None` if its budget does not allow it. `fresh` is a key of the operating
    /// system for the masks; without it they follow from the party's own key.
    pub fn mask(
        &mut self,
        label: &Digest,
        code: &FixedPoint,
        share: &NoiseShare,
        masks: &MaskTerms,
        (id, fresh): (MemberId, Option<&[u8; 32]>),
    ) -> Result<Option<Member>, Rejected> {
        self.gate.begin(label);
        unless_spent(self.gate.mask(code, share, masks, (id, fresh))).map_err(refused)
    }

    /// Its books, and the number of z's that its block has followed.
    pub(crate) fn books(&self) -> (&Books, u32) {
        (self.gate.books(), self.followed)
    }

    pub(crate) fn recall(&mut self, books: &Books, followed: u32) -> Result<(), RunError> {
        self.followed = followed;
        Ok(self.gate.recall(books)?)
    }
}

/// `None` if the party's budget does not allow an answer: a query without room in the budget is not
/// in its plan.
pub(crate) fn unless_spent<T>(answer: Result<T, Refusal>) -> Result<Option<T>, Refusal> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Refusal::Exhausted | Refusal::Unplanned { .. }) => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

pub(crate) fn refused(refusal: Refusal) -> Rejected {
    Rejected::Gate(refusal.to_string())
}
