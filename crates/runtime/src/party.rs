//! A party: its records behind its own gate, its own budget, its own books.

use reticent_accountant::Ledger;
use reticent_masks::{AggregationTerms as MaskTerms, FixedPoint, Member, MemberId, NoiseShare};
use reticent_oracle::queries::ResidualTerms;
use reticent_oracle::{
    AggregatorKey, BlockTerms, Books, Digest, EncryptedBlock, Gate, Keyed, Oracle, Refusal, Terms,
};

use crate::error::RunError;
use crate::message::PartyId;
use crate::rejected::Rejected;

/// What one party has set aside, and how much of it was asked for.
#[derive(Clone, Debug)]
pub struct PartyReport {
    /// Who.
    pub id: PartyId,
    /// What its certificate counts.
    pub ledger: Ledger,
    /// How often its own gate has answered.
    pub answers: u64,
    /// On which terms.
    pub terms: Terms,
}

/// A party and what it has spent.
#[derive(Debug)]
pub struct Party {
    id: PartyId,
    gate: Gate<Keyed>,
    plan: Ledger,
    /// Those of the books that count for it.
    terms: Terms,
    /// How many public z's its block has followed, or is to follow again after a crash.
    followed: u32,
}

impl Party {
    /// The party behind `gate`, which was opened with the party's own key. It answers no more than
    /// `plan`: the part of what the run may ask of it that is within its own budget. `terms` are
    /// those of the books that count for it, which need not be its gate's.
    pub fn new(
        id: PartyId,
        mut gate: Gate<Keyed>,
        plan: Ledger,
        terms: Terms,
    ) -> Result<Self, Refusal> {
        gate.bind_within(&plan)?;
        Ok(Party { id, gate, plan, terms, followed: 0 })
    }

    /// Who it is.
    pub fn id(&self) -> PartyId {
        self.id
    }

    /// What it has spent, and why that would be no guarantee.
    pub fn ledger(&self) -> &Ledger {
        self.gate.ledger()
    }

    /// What it may spend: decided before the run, and the same whatever happens in it.
    pub fn plan(&self) -> &Ledger {
        &self.plan
    }

    /// Begins the step whose label is `label`, the digest of all that led to it: what is asked of
    /// the gate belongs to it. The same step again gives the same answer and is not counted again.
    pub fn begin(&mut self, label: &Digest) -> &mut dyn Oracle {
        self.gate.begin(label);
        &mut self.gate
    }

    /// What its certificate counts: its whole plan, used or not, with what taints its own books.
    /// What was used is decided on the way, by chance that is seen or by an asker who may choose by
    /// looking at the answers, and a sum of what such a choice came to bounds nothing
    /// (proofs/filter.md).
    pub fn report(&self) -> PartyReport {
        let mut ledger = self.plan.clone();
        self.ledger().taints().iter().for_each(|&taint| ledger.taint(taint));
        let answers = self.ledger().total_events();
        PartyReport { id: self.id, ledger, answers, terms: self.terms }
    }

    /// Stands for its table, its terms and its key.
    pub(crate) fn fingerprint(&self) -> Result<Digest, Refusal> {
        self.gate.fingerprint()
    }

    /// Moves its block along public z's, of which the first has number `first`; how many it has
    /// followed. Nothing is released, and a party that was away catches up.
    pub fn follow(
        &mut self,
        first: u32,
        zs: &[Vec<f64>],
        params: &BlockTerms,
    ) -> Result<u32, Rejected> {
        self.followed = self.gate.follow(first, zs, params).map_err(refused)?;
        Ok(self.followed)
    }

    /// After a crash: brings its block to where it was, along the z's of the run, of which it may
    /// have seen fewer.
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

    /// The noise of a residual and nothing else, in the step that was begun: for a walk, from a user
    /// who has nothing left to spend.
    pub fn cover(&mut self, params: &ResidualTerms) -> Result<Vec<f64>, Rejected> {
        self.gate.cover(params).map_err(refused)
    }

    /// Its block behind masks; `None` when its budget does not allow it. `fresh` is a key of the operating
    /// system that the masks come from; without one they follow from the party's own key.
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

    /// Its books, and how many z's its block has followed.
    pub(crate) fn books(&self) -> (&Books, u32) {
        (self.gate.books(), self.followed)
    }

    pub(crate) fn recall(&mut self, books: &Books, followed: u32) -> Result<(), RunError> {
        self.followed = followed;
        Ok(self.gate.recall(books)?)
    }
}

/// `None` where the party's budget does not allow an answer: what it has no room for at all is not
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
