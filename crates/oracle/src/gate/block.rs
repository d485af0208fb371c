//! A party's own block, kept inside its gate without noise ([`PartyBlock`]).
//!
//! The block is a function of the party's records and of the public z₁, z₂, … alone: a party that
//! was away follows the z's that it missed, and one that lost its memory follows all of them. It
//! leaves in one of two ways, both clipped to its bound: [`Gate::encrypt_block`] for a trusted
//! aggregator who adds noise to the sum, [`Gate::mask`] behind masks with a share of the noise. Where
//! records are the unit, neighbours' blocks are as far apart as [`BlockTerms::moves`] says, and not
//! twice the bound. Proof: proofs/trust.md.

use reticent_accountant::{Adjacency, Taint, Unit, View};
use reticent_masks::{AggregationTerms as MaskTerms, FixedPoint, Member, MemberId, NoiseShare};
use reticent_noise::{Digest, Hasher};

use super::{Gate, Keyed, NoiseSource};
use crate::cipher::{AggregatorKey, EncryptedBlock};
use crate::queries::{ResidualTerms, add_noise, check_point, check_range, wrong};
use crate::refusal::Refusal;
use crate::sums::{BlockTerms, Grid, PartyBlock};

fn check(params: &BlockTerms) -> Result<(), Refusal> {
    check_range("clip", params.clip, 1e-50, 1e50)?;
    check_range("prox step", params.step, 1e-50, 1e50)?;
    check_range("relaxation", params.relaxation, 1e-6, 1.0 - 1e-6)?;
    check_range("row norm", params.row_norm, 1e-50, 1e50)?;
    check_range("inner steps", f64::from(params.inner), 1.0, 1e6)
}

/// What is protected where blocks move on these terms.
pub(crate) fn unit(params: &BlockTerms) -> Unit {
    if params.one_record.is_some() { Unit::Record } else { Unit::User }
}

/// The block, and what stands for all that it has come from.
#[derive(Debug)]
pub(crate) struct GateBlock {
    party: PartyBlock,
    lineage: Digest,
}

impl Gate<Keyed> {
    /// Moves the party's block, which starts at 0, along the public `zs`, of which the first has
    /// number `first`, counted from 0. Those that it has followed already are passed over. The
    /// answer is how many it has followed; it is less than `first` when the party has missed some,
    /// and then nothing has moved. Nothing is released.
    pub fn follow(
        &mut self,
        first: u32,
        zs: &[Vec<f64>],
        params: &BlockTerms,
    ) -> Result<u32, Refusal> {
        check(params)?;
        let shape = self.inside.shape();
        zs.iter().try_for_each(|z| check_point(z, shape))?;
        let rows_and_loss = self.inside.rows_and_loss()?;
        if !params.holds(rows_and_loss) {
            return Err(wrong(
                "this party has fewer records, or another loss, than its block's terms say",
            ));
        }
        let basis = self.inside.basis;
        let fresh = || GateBlock { party: PartyBlock::new(shape.len(), *params), lineage: basis };
        let GateBlock { party, lineage } = self.block.get_or_insert_with(fresh);
        if party.params() != params {
            return Err(wrong("a block moves on the same terms from its start to its end"));
        }
        if party.followed() >= first {
            for z in zs.iter().skip((party.followed() - first) as usize) {
                if !party.may_follow(z, rows_and_loss.private.records()) {
                    return Err(Refusal::Diverged(
                        "a block was to move more often than foreseen, or along numbers so large that rounding would be \
                         seen beside one record"
                            .to_owned(),
                    ));
                }
                party.advance(rows_and_loss, z);
                *lineage =
                    Hasher::new("block").field(lineage).numbers(z).canonical(params)?.finish();
            }
        }
        Ok(party.followed())
    }

    /// The block, clipped to its bound, for the trusted aggregator of this key, and for nobody
    /// else. It costs nothing here: the aggregator, whose terms these must be, enters what it
    /// releases.
    pub fn encrypt_block(
        &mut self,
        aggregator: &AggregatorKey,
        round: u32,
        party: u32,
    ) -> Result<EncryptedBlock, Refusal> {
        let Some(GateBlock { party: block, lineage }) = &self.block else { return Err(no_block()) };
        if block.params() != aggregator.params() {
            return Err(wrong("a block is encrypted on the terms on which it has moved"));
        }
        let bound = block.params().bound();
        // The noise of the sum is drawn from the aggregator's key, and this party's books are all
        // that its certificate is made from.
        if aggregator.is_seeded() {
            self.books.taint(Taint::SeededNoise);
        }
        let mut hasher = self.source.hasher("encrypt", &self.books, lineage);
        let context = hasher.canonical(&(bound, round, party))?.finish();
        self.books.enter(Some(context), Vec::new())?;
        let steps = Grid::new(block.offset().len()).clipped(block.offset(), bound);
        // The steps too: should a block ever come out otherwise, on another machine or by another
        // library of mathematics, it is closed by another key. Not in the books, which would tell it.
        let closing = Hasher::new("reticent box").field(&context).canonical(&steps)?.finish();
        self.source.draw(closing, |entropy| aggregator.encrypt(round, party, &steps, entropy))
    }

    /// The block, clipped to its bound, with this party's share of the noise, as a member of a
    /// masked sum; entered in the books as what the sum costs. A member is good for one round of
    /// masks: who has been one is refused another in that round and in those before, because a
    /// second one with the same keys would take the first one's mask off. Its masks come from `fresh`,
    /// a key of the operating system, or follow from all that the vector follows from.
    pub fn mask(
        &mut self,
        code: &FixedPoint,
        share: &NoiseShare,
        masks: &MaskTerms,
        (id, fresh): (MemberId, Option<&[u8; 32]>),
    ) -> Result<Member, Refusal> {
        let (terms, len) = (self.inside.terms, self.inside.shape().len());
        let Some(GateBlock { party, lineage }) = &self.block else { return Err(no_block()) };
        let (params, unit) = (party.params(), terms.unit());
        let whole = params.one_record.is_none();
        if (terms.adjacency(), unit.is_whole(), terms.view())
            != (Adjacency::ReplaceOne, whole, View::SecureAggregation)
        {
            return Err(wrong(
                "a masked sum protects what its blocks' terms say, under replace-one, from whoever sees the sums",
            ));
        }
        let masked = |error: &dyn std::fmt::Display| Refusal::BadQuery(error.to_string());
        let event =
            share.event(params.moves_in_steps(code.step(), len), Adjacency::ReplaceOne, unit);
        let event = event.map_err(|error| masked(&error))?;
        let bound = params.bound();
        let mut hasher = self.source.hasher("mask", &self.books, lineage);
        let asked = (bound, code, share, masks.run(), masks.round(), id);
        let context = hasher.canonical(&asked)?.finish();
        if self.books.knows(&context) {
            return Err(Refusal::RoundReleased(masks.round()));
        }
        let source = &mut self.source;
        #[cfg(reticent_seeded_bugs)]
        let share = &crate::bug::spoiled_share(self.inside.bug, share, masks)
            .map_err(|error| masked(&error))?;
        let member = || {
            source.draw(context, |entropy| {
                let values = share.perturb(entropy, &code.encode_clipped(party.offset(), bound))?;
                let key = match fresh {
                    Some(key) => zeroize::Zeroizing::new(*key),
                    None => entropy.key()?,
                };
                Member::new(masks.clone(), id, &key, values).map_err(|error| masked(&error))
            })
        };
        let released = self.books.release_once(masks.round(), context, vec![event], member)?;
        Ok(released.into_inner())
    }

    /// Noise as that of a residual, and no residual: what a user of a walk adds who has no
    /// contribution left, where others' steps are to be hidden. It follows from no record, and costs
    /// nothing. Proof: proofs/walk.md.
    pub fn cover(&mut self, params: &ResidualTerms) -> Result<Vec<f64>, Refusal> {
        let mut steps = vec![0; self.inside.shape().len()];
        let Some(lattice) = params.lattice(steps.len()) else {
            return Err(wrong(
                "noise without a residual is for a walk whose steps hide one another",
            ));
        };
        params.check()?;
        let mut hasher = self.source.hasher("cover", &self.books, &self.inside.lineage);
        let context = hasher.canonical(params)?.finish();
        self.source
            .draw(context, |entropy| add_noise(entropy, params.noise_multiplier, &mut steps))?;
        Ok(lattice.message(&steps))
    }
}

fn no_block() -> Refusal {
    wrong("there is no block: it must follow a consensus first")
}
