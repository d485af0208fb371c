//! A party's own block, kept inside its gate without noise ([`PartyBlock`]).
//!
//! The block is a function of the party's records and of the public z₁, z₂, … alone: a party that
//! was away follows the z's that it missed, and one that lost its memory follows all of them. It
//! leaves in one of two ways, both clipped to its bound: [`Gate::entrust`] for a trustee who adds
//! noise to the sum, [`Gate::mask`] behind masks with a share of the noise. Where records are the
//! unit, neighbours' blocks are as far apart as [`BlockTerms::moves`] says, and not twice the
//! bound. Proof: proofs/trust.md.

use reticent_accountant::{Adjacency, Unit, View};
use reticent_masks::{FixedPoint, Member, MemberId, NoiseShare, Terms as MaskTerms};
use reticent_noise::{Digest, Hasher};

use super::{Gate, Source};
use crate::aggregator::{Seal, SealedBlock, clipped_steps};
use crate::queries::{check_point, check_range, wrong};
use crate::refusal::Refusal;
use crate::sums::{BlockTerms, PartyBlock};

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
pub(crate) struct Block {
    party: PartyBlock,
    lineage: Digest,
}

impl Gate {
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
        let rows_and_loss = self.inside.rows_and_loss();
        if !params.holds(rows_and_loss) {
            return Err(wrong(
                "this party has fewer records, or another loss, than its block's terms say",
            ));
        }
        let fresh = || Block { party: PartyBlock::new(shape.len(), *params), lineage: [0; 32] };
        let Block { party, lineage } = self.block.get_or_insert_with(fresh);
        if party.params() != params {
            return Err(wrong("a block moves on the same terms from its start to its end"));
        }
        if party.followed() >= first {
            for z in zs.iter().skip((party.followed() - first) as usize) {
                if !party.may_follow(z, rows_and_loss.0.records()) {
                    return Err(Refusal::Diverged(
                        "a block was to move more often than foreseen, or along numbers so large that rounding would be \
                         seen beside one record"
                            .to_owned(),
                    ));
                }
                party.advance(rows_and_loss, z);
                *lineage = Hasher::new("block").field(lineage).numbers(z).debug(params).finish();
            }
        }
        Ok(party.followed())
    }

    /// The block, clipped to its bound, for the one who holds the key of `seal`, and for nobody
    /// else. It costs nothing here: the trustee, whose terms these must be, enters what it
    /// releases.
    pub fn entrust(&mut self, seal: &Seal) -> Result<SealedBlock, Refusal> {
        let (Some(Block { party, lineage }), Source::Keyed(keyed)) = (&self.block, &self.source)
        else {
            return Err(Refusal::NoKey);
        };
        if party.params() != seal.params() {
            return Err(wrong("a block is entrusted on the terms on which it has moved"));
        }
        let bound = party.params().bound();
        let context = keyed.context(lineage, &("entrust", bound));
        Ok(seal.close(&clipped_steps(party.offset(), bound), &mut keyed.entropy(&context))?)
    }

    /// The block, clipped to its bound, with this party's share of the noise, as a member of a
    /// masked sum; entered in the books as what the sum costs. A member is good for one round of
    /// masks: the terms must be new.
    pub fn mask(
        &mut self,
        code: &FixedPoint,
        share: &NoiseShare,
        masks: &MaskTerms,
        id: MemberId,
    ) -> Result<Member, Refusal> {
        let (terms, len) = (self.inside.terms, self.inside.shape().len());
        let (Some(Block { party, lineage }), Source::Keyed(keyed)) =
            (&self.block, &mut self.source)
        else {
            return Err(Refusal::NoKey);
        };
        let (params, unit) = (party.params(), unit(party.params()));
        if (terms.adjacency(), terms.unit(), terms.view())
            != (Adjacency::ReplaceOne, unit, View::SecureAggregation)
        {
            return Err(wrong(
                "a masked sum protects what its blocks' terms say, under replace-one, from whoever sees the sums",
            ));
        }
        let veiled = |error: &dyn std::fmt::Display| Refusal::BadQuery(error.to_string());
        let event =
            share.event(params.moves_in_steps(code.step(), len), Adjacency::ReplaceOne, unit);
        let event = event.map_err(|error| veiled(&error))?;
        let bound = params.bound();
        let context =
            keyed.context(lineage, &("veil", bound, code, share, masks.run(), masks.round(), id));
        if !keyed.knows(&context) {
            if let Some(plan) = &mut self.plan {
                plan.foresees(&event)?;
            }
            self.ledger.append(event);
            keyed.remember(context);
        }
        let mut entropy = keyed.entropy(&context);
        let values = share.perturb(&mut entropy, &code.encode_clipped(party.offset(), bound))?;
        let key = entropy.key()?;
        Member::new(masks.clone(), id, &key, values).map_err(|error| veiled(&error))
    }
}
