//! A party's own block `u`, kept inside its gate without noise.
//!
//! ```text
//! x  = prox_{γf}(2z − u) = 2z − u − γg,   g clipped to norm C
//! u⁺ = (1 − 2λ)u + 2λ(z − γg)
//! ```
//!
//! With `u = p + c`, `p⁺ = (1 − 2λ)p + 2λz` is public and `c⁺ = (1 − 2λ)c − 2λγg` stays within `B = γC·max(1, λ/(1 − λ))`. The
//! block is a function of the party's records and of the public z₁, z₂, … alone: a party that was away follows the z's
//! that it missed, and one that lost its memory follows all of them. It leaves in one of two ways, both clipped to `B`:
//! [`Gate::entrust`] for a trustee who adds noise to the sum, [`Gate::veil`] behind masks with a share of the noise.
//! Proof: proofs/trust.md.

use reticent_accountant::{Adjacency, Unit, View};
use reticent_masks::{FixedPoint, Member, MemberId, NoiseShare, Terms as MaskTerms};
use reticent_noise::{Digest, Hasher};
use reticent_sums::{Prox, finite, norm_above};

use super::{Gate, Source};
use crate::queries::{check_point, check_range};
use crate::refusal::Refusal;
use crate::trustee::{Entrusted, Seal, clipped_steps};

/// How a block moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BlockTerms {
    /// The largest norm `C` of the gradient part.
    pub clip: f64,
    /// A public bound of the norm of a row.
    pub row_norm: f64,
    /// The step `γ` of the prox.
    pub step: f64,
    /// Steps of the inner solver.
    pub inner: u32,
    /// The averaging parameter `λ`, below 1.
    pub relaxation: f64,
}

impl BlockTerms {
    /// `B`: no block is further from its public centre.
    pub fn bound(&self) -> f64 {
        self.step * self.clip * (self.relaxation / (1.0 - self.relaxation)).max(1.0)
    }

    /// `p⁺`.
    pub fn centre(&self, p: &mut [f64], z: &[f64]) {
        let keep = 1.0 - 2.0 * self.relaxation;
        p.iter_mut().zip(z).for_each(|(p, z)| *p = keep * *p + (1.0 - keep) * z);
    }

    fn check(&self) -> Result<(), Refusal> {
        check_range("clip", self.clip, 1e-50, 1e50)?;
        check_range("prox step", self.step, 1e-50, 1e50)?;
        check_range("relaxation", self.relaxation, 1e-6, 1.0 - 1e-6)?;
        check_range("row norm", self.row_norm, 1e-50, 1e50)?;
        check_range("inner steps", f64::from(self.inner), 1.0, 1e6)
    }
}

/// The block: `u = centre + offset`.
#[derive(Debug)]
pub(crate) struct Block {
    centre: Vec<f64>,
    offset: Vec<f64>,
    followed: u32,
    lineage: Digest,
}

impl Gate {
    /// Moves the party's block, which starts at 0, along the public `zs`, of which the first has number `first`, counted
    /// from 0. Those that it has followed already are passed over. The answer is how many it has followed; it is less
    /// than `first` when the party has missed some, and then nothing has moved. Nothing is released.
    pub fn follow(&mut self, first: u32, zs: &[Vec<f64>], how: &BlockTerms) -> Result<u32, Refusal> {
        how.check()?;
        let shape = self.inside.shape();
        zs.iter().try_for_each(|z| check_point(z, shape))?;
        let mut block = self.block.take().unwrap_or_else(|| Block {
            centre: vec![0.0; shape.len()],
            offset: vec![0.0; shape.len()],
            followed: 0,
            lineage: [0; 32],
        });
        if block.followed >= first {
            for z in zs.iter().skip((block.followed - first) as usize) {
                self.advance(&mut block, z, how);
            }
        }
        let followed = block.followed;
        self.block = Some(block);
        Ok(followed)
    }

    fn advance(&self, block: &mut Block, z: &[f64], how: &BlockTerms) {
        let BlockTerms { clip, row_norm, step, inner, relaxation } = *how;
        let u = block.centre.iter().zip(&block.offset).map(|(p, c)| p + c);
        let v: Vec<f64> = z.iter().zip(u).map(|(z, u)| 2.0 * z - u).collect();
        // The whole gradient part is clipped below, so a record's need not be.
        let x =
            Prox { step, inner, record_clip: f64::MAX, row_norm }.point(self.inside.rows_and_loss(), &v, z);
        let mut g: Vec<f64> = v.iter().zip(&x).map(|(v, x)| (v - x) / step).collect();
        g.iter_mut().for_each(finite);
        let factor = clip / norm_above(g.iter().map(|g| g * g).sum(), g.len()).max(clip);
        for (c, g) in block.offset.iter_mut().zip(&g) {
            *c = (1.0 - 2.0 * relaxation) * *c - 2.0 * relaxation * step * factor * g;
            finite(c);
        }
        how.centre(&mut block.centre, z);
        block.followed += 1;
        block.lineage = Hasher::new("block").field(&block.lineage).numbers(z).debug(how).finish();
    }

    /// The block, clipped to `bound`, for the one who holds the key of `seal`, and for nobody else. It costs nothing here:
    /// the trustee enters what it releases.
    pub fn entrust(&mut self, seal: &Seal, bound: f64) -> Result<Entrusted, Refusal> {
        let (Some(block), Source::Keyed(keyed)) = (&self.block, &self.source) else {
            return Err(Refusal::NoKey);
        };
        let context = keyed.context(&block.lineage, &("entrust", bound));
        Ok(seal.close(&clipped_steps(&block.offset, bound), &mut keyed.entropy(&context))?)
    }

    /// The block, clipped to `bound`, with this party's share of the noise, as a member of a masked sum; entered in the
    /// books as what the sum costs. A member is good for one round of masks: the terms must be new.
    pub fn veil(
        &mut self,
        bound: f64,
        code: &FixedPoint,
        share: &NoiseShare,
        masks: &MaskTerms,
        id: MemberId,
    ) -> Result<Member, Refusal> {
        let terms = self.inside.terms;
        if (terms.adjacency(), terms.unit(), terms.view())
            != (Adjacency::ReplaceOne, Unit::User, View::SecureAggregation)
        {
            return Err(Refusal::BadQuery(
                "a masked sum protects the user, under replace-one, from whoever sees the sums".to_owned(),
            ));
        }
        let veiled = |error: &dyn std::fmt::Display| Refusal::BadQuery(error.to_string());
        let event = share.event(2.0 * bound / code.step(), Adjacency::ReplaceOne, Unit::User);
        let event = event.map_err(|error| veiled(&error))?;
        let (Some(block), Source::Keyed(keyed)) = (&self.block, &mut self.source) else {
            return Err(Refusal::NoKey);
        };
        let context =
            keyed.context(&block.lineage, &("veil", bound, code, share, masks.run(), masks.round(), id));
        if !keyed.knows(&context) {
            if let Some(plan) = &mut self.plan {
                plan.foresees(&event)?;
            }
            self.ledger.append(event);
            keyed.remember(context);
        }
        let mut entropy = keyed.entropy(&context);
        let values = share.perturb(&mut entropy, &code.encode_clipped(&block.offset, bound))?;
        let key = entropy.key()?;
        Member::new(masks.clone(), id, &key, values).map_err(|error| veiled(&error))
    }
}
