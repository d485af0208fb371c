//! Sums that leave a gate as integers with this party's own noise: to be seen as they are, or behind
//! masks. Proof: proofs/noisy-sums.md.

use reticent_accountant::{Event, View};
use reticent_masks::{AggregationTerms as MaskTerms, Member, MemberId, NoiseShare};
use reticent_noise::Digest;

use super::{Gate, Keyed, NoiseSource};
use crate::noisy::masked_event;
use crate::queries::{AskedSum, RecordSum, wrong};
use crate::refusal::Refusal;
use crate::released::Released;

impl Gate<Keyed> {
    /// Refuses records that have weights, whose sums between parties no note is about.
    pub(crate) fn check_alike(&self) -> Result<(), Refusal> {
        self.inside.check_alike()
    }

    /// A sum with its noise, in steps of its grid, in the step that was begun. A round has one
    /// answer: the same again is said again, and another one is refused.
    pub(crate) fn say_sum(
        &mut self,
        round: u32,
        asked: &AskedSum<'_>,
    ) -> Result<Released<Vec<i64>>, Refusal> {
        let (shape, terms) = (self.inside.shape(), self.inside.terms);
        asked.what.check(shape)?;
        asked.what.fits(&*self.inside.loss)?;
        if terms.view() != View::Local {
            return Err(wrong("an answer that is seen by itself is for the local view"));
        }
        let event = asked.event(&terms)?;
        let mut hasher = self.source.hasher("sum", &self.books, &self.inside.lineage);
        let AskedSum { what, sampling, noise_multiplier } = asked;
        let context = hasher.canonical(&(round, what, sampling, noise_multiplier))?.finish();
        let Gate { inside, source, books, .. } = self;
        #[cfg(reticent_seeded_bugs)]
        let (asked, scale) = &crate::bug::spoiled_sum(inside, asked.clone());
        let answer = || {
            let said = source.draw(context, |entropy| inside.noisy_sum(asked, entropy));
            #[cfg(reticent_seeded_bugs)]
            let said = said
                .map(|said| said.into_iter().map(|steps| (steps as f64 * scale) as i64).collect());
            said
        };
        books.release_once(round.into(), context, vec![event], answer)
    }

    /// Enters a sum that was answered before a crash.
    pub(crate) fn recall_sum(
        &mut self,
        round: u32,
        asked: Digest,
        event: Event,
    ) -> Result<(), Refusal> {
        self.books.release_once(round.into(), asked, vec![event], || Ok(())).map(drop)
    }

    /// A sum over all units with this party's share of the noise, as a member of a masked sum;
    /// entered as what the sum costs. A member is good for one round of masks. Its masks are from
    /// `key`, or from the noise's own words; with a key the same is made again for who goes on with
    /// what it was, in the same bytes.
    pub(crate) fn mask_sum(
        &mut self,
        what: &RecordSum<'_>,
        share: &NoiseShare,
        masks: &MaskTerms,
        (id, key): (MemberId, Option<&[u8; 32]>),
    ) -> Result<Member, Refusal> {
        let (shape, terms) = (self.inside.shape(), self.inside.terms);
        what.check(shape)?;
        what.fits(&*self.inside.loss)?;
        if terms.view() != View::SecureAggregation {
            return Err(wrong("a member of a masked sum is for the view that sees sums"));
        }
        let event = masked_event(share, what, &terms)?;
        let mut hasher = self.source.hasher("masked sum", &self.books, &self.inside.lineage);
        let asked = (what, share, masks.run(), masks.round(), id);
        let context = hasher.canonical(&asked)?.finish();
        if key.is_none() && self.books.knows(&context) {
            return Err(Refusal::RoundReleased(masks.round()));
        }
        let masked = |error: &dyn std::fmt::Display| Refusal::BadQuery(error.to_string());
        let Gate { inside, source, books, .. } = self;
        #[cfg(reticent_seeded_bugs)]
        let share =
            &crate::bug::spoiled_share(inside.bug, share, masks).map_err(|error| masked(&error))?;
        let member = || {
            source.draw(context, |entropy| {
                let mut sum = vec![0; what.len(shape)];
                inside.holder.sum(what, &*inside.loss, None, &mut sum)?;
                let values = share.perturb(entropy, &sum)?;
                let drawn = entropy.key()?;
                Member::new(masks.clone(), id, key.unwrap_or(&drawn), values)
                    .map_err(|error| masked(&error))
            })
        };
        Ok(books.release_once(masks.round(), context, vec![event], member)?.into_inner())
    }
}
