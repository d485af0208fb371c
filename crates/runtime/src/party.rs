//! A party: its records behind its own gate, its own budget, its own books.

use reticent_accountant::Ledger;
use reticent_masks::{FixedPoint, Member, MemberId, NoiseShare, Terms as MaskTerms};
use reticent_oracle::queries::ResidualTerms;
use reticent_oracle::{
    BlockCipher, BlockTerms, Books, Digest, EncryptedBlock, Gate, Keyed, Oracle, Refusal, Terms,
};

use crate::error::RunError;
use crate::message::PartyId;
use crate::rejected::Rejected;

/// A party and what it has spent.
#[derive(Debug)]
pub struct Party {
    id: PartyId,
    gate: Gate<Keyed>,
    plan: Ledger,
    /// How many public z's its block has followed, or is to follow again after a crash.
    followed: u32,
}

impl Party {
    /// The party behind `gate`, which was opened with the party's own key. It answers no more than
    /// `plan`: the part of what the run may ask of it that is within its own budget.
    pub fn new(id: PartyId, mut gate: Gate<Keyed>, plan: &Ledger) -> Result<Self, Refusal> {
        gate.bind_within(plan)?;
        Ok(Party { id, gate, plan: plan.clone(), followed: 0 })
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

    /// The terms of its books.
    pub fn terms(&self) -> &Terms {
        self.gate.terms()
    }

    /// Does a step whose label is `label`: the digest of all that led to it. The same step again
    /// gives the same answer and is not counted again. `None`: the party's budget does not allow
    /// it, nothing was answered.
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

    /// Its block, for its trusted aggregator alone.
    pub fn encrypt_block(
        &mut self,
        label: &Digest,
        cipher: &BlockCipher,
        round: u32,
    ) -> Result<EncryptedBlock, Rejected> {
        self.gate.begin(label);
        self.gate.encrypt_block(cipher, round, self.id.0).map_err(refused)
    }

    /// The noise of a residual and nothing else: for a walk, from a user who has nothing left to
    /// spend.
    pub fn cover(&mut self, label: &Digest, params: &ResidualTerms) -> Result<Vec<f64>, Rejected> {
        self.gate.begin(label);
        self.gate.cover(params).map_err(refused)
    }

    /// Its block behind masks; `None` when its budget does not allow it.
    pub fn mask(
        &mut self,
        label: &Digest,
        code: &FixedPoint,
        share: &NoiseShare,
        masks: &MaskTerms,
        id: MemberId,
    ) -> Result<Option<Member>, Rejected> {
        self.gate.begin(label);
        match self.gate.mask(code, share, masks, id) {
            Ok(member) => Ok(Some(member)),
            Err(Refusal::Exhausted) => Ok(None),
            Err(refusal) => Err(refused(refusal)),
        }
    }

    /// Its books, as text: the events are written in a form that tells their kinds by name, which
    /// the compact form of messages cannot read back.
    pub(crate) fn books(&self) -> Result<String, RunError> {
        serde_json::to_string(&(self.gate.books(), self.followed))
            .map_err(|_| RunError::Snapshot("books that cannot be written"))
    }

    pub(crate) fn recall(&mut self, books: &str) -> Result<(), RunError> {
        let (books, followed): (Books, u32) = serde_json::from_str(books)
            .map_err(|_| RunError::Snapshot("books that cannot be read"))?;
        self.followed = followed;
        Ok(self.gate.recall(&books)?)
    }
}

fn refused(refusal: Refusal) -> Rejected {
    Rejected::Gate(refusal.to_string())
}
