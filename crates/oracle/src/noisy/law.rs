//! How the noise of a sum is dealt to the parties, and what it counts for.
//!
//! ```text
//! Z  the noise of the sum over all m parties, in clips, as the algorithm asks for it; each adds Z/√m
//!
//! local               a party's answer is seen by itself:            its own Z/√m counts
//! secure-aggregation  sums of at least T members are seen, of whom c may be corrupt and know their own:
//!                     the noise of the T − c others counts, Z·√((T − c)/m)
//! ```
//!
//! So a sum has √m, or √(m/(T − c)), times as much noise as a party is counted for: the *excess*. An
//! algorithm that is run with Z is run with the noise that its answers have.

use reticent_accountant::{Adjacency, Event, View};
use reticent_masks::{AggregationTerms as MaskTerms, NoiseShare, SumMembers};
use reticent_noise::{Digest, Sampling};
use reticent_problem::Shape;
use serde::Serialize;

use crate::queries::{AskedSum, RecordSum, wrong};
use crate::refusal::Refusal;
use crate::sums::grid::BITS;
use crate::terms::Terms;

/// How many deviations of noise the ring of a masked sum has room for, and half of the ring.
const TAILS: f64 = 12.0;
pub(super) const HALF: f64 = 9_223_372_036_854_775_808.0;

/// Who adds which part of the noise of a sum, and who sees what. Public, and agreed on beforehand.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum SumLaw {
    /// Every party's answer is seen by the server.
    Local {
        /// How many parties there are.
        parties: u32,
    },
    /// The server sees sums behind masks.
    Masked(SumMembers),
}

impl SumLaw {
    /// Of so many parties whose answers are seen one by one.
    ///
    /// # Errors
    /// If there is none.
    pub fn local(parties: u32) -> Result<Self, Refusal> {
        match parties {
            0 => Err(wrong("at least one party is needed")),
            parties => Ok(SumLaw::Local { parties }),
        }
    }

    /// Of so many parties, all of them members of every masked sum, of whom a fraction `honest` is
    /// honest.
    ///
    /// # Errors
    /// If so many may be corrupt that no honest noise is certain, or there are too few for masks.
    pub fn masked(parties: u32, honest: f64) -> Result<Self, Refusal> {
        SumLaw::masked_of(parties, parties, honest)
    }

    /// The same for so many that are left of `whole`, of whom a fraction `honest` is honest: whoever
    /// has struck the others may have left the corrupt in.
    ///
    /// # Errors
    /// As [`SumLaw::masked`].
    pub fn masked_of(whole: u32, parties: u32, honest: f64) -> Result<Self, Refusal> {
        let masked = |error: &dyn std::fmt::Display| Refusal::BadQuery(error.to_string());
        let members =
            SumMembers::left_of(whole, parties, honest).map_err(|error| masked(&error))?;
        let terms = members.terms(&[0; 32], 1, 1).map_err(|error| masked(&error))?;
        members.share(&terms, HALF.sqrt()).map_err(|error| masked(&error))?;
        Ok(SumLaw::Masked(members))
    }

    /// The trust model: who sees the messages.
    pub fn view(&self) -> View {
        match self {
            SumLaw::Local { .. } => View::Local,
            SumLaw::Masked(_) => View::SecureAggregation,
        }
    }

    /// How many parties there are.
    pub fn parties(&self) -> u32 {
        match self {
            SumLaw::Local { parties } => *parties,
            SumLaw::Masked(members) => members.members(),
        }
    }

    /// How many times as much noise a sum has as a party is counted for.
    pub fn excess(&self) -> f64 {
        let counted = match self {
            SumLaw::Local { .. } => 1,
            SumLaw::Masked(members) => members.certain(),
        };
        (f64::from(self.parties()) / f64::from(counted)).sqrt()
    }

    /// What one party is asked for of a sum.
    pub(crate) fn own<'a>(&self, asked: AskedSum<'a>) -> AskedSum<'a> {
        let noise_multiplier = asked.noise_multiplier / f64::from(self.parties()).sqrt();
        AskedSum { noise_multiplier, ..asked }
    }

    /// Refuses what is not proven between parties, by public numbers.
    pub(crate) fn check(
        &self,
        asked: &AskedSum<'_>,
        shape: Shape,
        terms: &Terms,
    ) -> Result<(), Refusal> {
        if terms.view() != self.view() {
            return Err(wrong("the terms of a sum are for another view than its noise"));
        }
        // Not only zero: noise that is no number is none.
        if asked.noise_multiplier.is_nan() || asked.noise_multiplier <= 0.0 {
            return Err(wrong("a sum between parties without noise is not asked for"));
        }
        match (self, asked.sampling) {
            (_, Sampling::Full) | (SumLaw::Local { .. }, Sampling::Poisson(_)) => {}
            (SumLaw::Local { .. }, _) => return Err(Refusal::SampleOfAllParties),
            (SumLaw::Masked(_), _) => return Err(Refusal::SampleBehindMasks),
        }
        if let SumLaw::Masked(_) = self {
            let noise = asked.noise(terms) * (1_u64 << BITS) as f64;
            let needed = terms.population() as f64 * (1_u64 << BITS) as f64 + TAILS * noise;
            if needed >= HALF || asked.what.len(shape) > (1 << 20) {
                return Err(wrong(
                    "a masked sum of so many records, or so many numbers, or with so much noise has no room in 64 bits",
                ));
            }
        }
        Ok(())
    }

    /// What the books of each party will say of a sum with noise of `asked`.
    pub(crate) fn event(
        &self,
        asked: &AskedSum<'_>,
        shape: Shape,
        terms: &Terms,
    ) -> Result<Event, Refusal> {
        match self {
            SumLaw::Local { .. } => self.own(asked.clone()).event(terms),
            SumLaw::Masked(_) => {
                let (share, _) = self.share(asked, shape, terms, (&[0; 32], 1))?;
                masked_event(&share, &asked.what, terms)
            }
        }
    }

    /// A member's share of the noise, and the terms of the masked sum of a round.
    pub(crate) fn share(
        &self,
        asked: &AskedSum<'_>,
        shape: Shape,
        terms: &Terms,
        (run, round): (&Digest, u32),
    ) -> Result<(NoiseShare, MaskTerms), Refusal> {
        let SumLaw::Masked(members) = self else {
            return Err(wrong("there are no masks where answers are seen one by one"));
        };
        let refuse = |error: &dyn std::fmt::Display| Refusal::BadQuery(error.to_string());
        let len = asked.what.len(shape) as u32;
        let masks = members.terms(run, round.into(), len).map_err(|error| refuse(&error))?;
        let own = self.own(asked.clone()).noise(terms) * (1_u64 << BITS) as f64;
        // What the honest have together, which is how shares are asked for.
        let honest = f64::from(members.members() - members.corrupt());
        let share = members.share(&masks, own * honest.sqrt()).map_err(|error| refuse(&error))?;
        Ok((share, masks))
    }
}

/// How far apart neighbouring sums are at most, in steps of the grid: a unit's vector is no longer
/// than 2³² of them, and what a replacement moves is twice what the noise is measured by.
fn moves_in_steps(what: &RecordSum<'_>, adjacency: Adjacency) -> f64 {
    let moved = match adjacency {
        Adjacency::AddRemove => 1.0,
        Adjacency::ReplaceOne => 2.0,
    };
    moved * what.noise(adjacency) * (1_u64 << BITS) as f64
}

/// What an opened sum costs.
pub(crate) fn masked_event(
    share: &NoiseShare,
    what: &RecordSum<'_>,
    terms: &Terms,
) -> Result<Event, Refusal> {
    let apart = moves_in_steps(what, terms.adjacency());
    share
        .event(apart, terms.adjacency(), terms.unit())
        .map_err(|error| Refusal::BadQuery(error.to_string()))
}
