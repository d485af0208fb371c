//! Queries that are sums: what is summed, as a value, and what becomes of the sum. Events come before
//! noise, and noise is added in one place (`inside.rs`). Proof: proofs/gate.md.

use reticent_accountant::{Adjacency, Event};
use reticent_noise::{Entropy, Sampling};
use reticent_problem::Shape;
use serde::Serialize;

use super::record_sum::RecordSum;
use super::{Query, QueryAnswer, wrong};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::terms::Terms;

/// A sum and the noise that it is asked with: all that its event and its answer follow from.
#[derive(Clone, Debug, PartialEq)]
pub struct AskedSum<'a> {
    /// What is summed over the records.
    pub what: RecordSum<'a>,
    /// The units that the sum is taken over.
    pub sampling: Sampling,
    /// `z`, as the event has it; the noise is `z` times [`RecordSum::noise`] clips.
    pub noise_multiplier: f64,
}

impl<'a> AskedSum<'a> {
    /// A sum over everybody.
    pub fn of_all(what: RecordSum<'a>, noise_multiplier: f64) -> Self {
        AskedSum { what, sampling: Sampling::Full, noise_multiplier }
    }

    /// The standard deviation of the noise, in clips.
    pub fn noise(&self, terms: &Terms) -> f64 {
        self.noise_multiplier * self.what.noise(terms.adjacency())
    }

    /// What the books will say. A sample is proven for noise of `z` whole clips: beside the others of
    /// a sample a unit moves the sum by a clip, though one that takes another's place moves it by less
    /// than two (proofs/poisson-gaussian.md).
    pub fn event(&self, terms: &Terms) -> Result<Event, Refusal> {
        if self.sampling != Sampling::Full && self.what.noise(terms.adjacency()) < 1.0 {
            return Err(wrong("a sum whose noise is less than its clips is taken over everybody"));
        }
        Ok(terms.event(terms.mechanism(self.sampling, self.noise_multiplier)?)?)
    }
}

/// Whoever is asked for a sum, and says it with its noise in steps of its grid.
pub type AskSum<'a> = dyn FnMut(&AskedSum<'_>) -> Result<Vec<i64>, Refusal> + 'a;

/// A query that is one sum over units, with Gaussian noise. The event follows from what is asked,
/// the answer from the noisy sum: whoever adds the rows up, and wherever the noise comes from, is
/// the same to it.
pub trait SumQuery: Serialize {
    /// See [`Query::NAME`].
    const NAME: &'static str;
    /// What is released.
    type Answer: QueryAnswer;

    /// Refuses numbers that cannot be, but for those of what is summed.
    fn check(&self, shape: Shape, terms: &Terms) -> Result<(), Refusal>;

    /// What is summed, and with how much noise.
    fn asked(&self, terms: &Terms) -> AskedSum<'_>;

    /// What the sum with its noise, in steps of its grid, says.
    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> Self::Answer;

    /// See [`Query::made_up`].
    fn made_up(&self, shape: Shape, _: &Terms, next: &mut dyn FnMut() -> f64) -> Self::Answer {
        Self::Answer::made_up(shape, next)
    }
}

impl<Q: SumQuery> Query for Q {
    const NAME: &'static str = Q::NAME;
    type Answer = Q::Answer;

    fn check(&self, shape: Shape, terms: &Terms) -> Result<(), Refusal> {
        SumQuery::check(self, shape, terms)?;
        self.asked(terms).what.check(shape)
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![self.asked(terms).event(terms)?])
    }

    fn fits(&self, inside: &GateState) -> Result<(), Refusal> {
        self.asked(&inside.terms).what.fits(&*inside.loss)
    }

    fn fits_held(&self, terms: &Terms) -> Result<(), Refusal> {
        match self.asked(terms).sampling {
            Sampling::Full => Ok(()),
            _ if terms.adjacency() == Adjacency::AddRemove => Err(Refusal::SampleTellsSizes),
            _ if terms.unit().is_whole() => Err(Refusal::SampleOfPersonsHeld),
            _ => Ok(()),
        }
    }

    fn fits_weights(&self) -> Result<(), Refusal> {
        Ok(())
    }

    fn answer_from_sums(
        &self,
        shape: Shape,
        terms: &Terms,
        ask: &mut AskSum<'_>,
    ) -> Result<Q::Answer, Refusal> {
        let sum = ask(&self.asked(terms))?;
        Ok(self.read(&sum, shape, terms))
    }

    fn made_up(&self, shape: Shape, terms: &Terms, next: &mut dyn FnMut() -> f64) -> Q::Answer {
        SumQuery::made_up(self, shape, terms, next)
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Q::Answer, Refusal> {
        let (shape, terms) = (inside.shape(), inside.terms);
        let asked = self.asked(&terms);
        #[cfg(reticent_seeded_bugs)]
        let (asked, scale) = crate::bug::spoiled_sum(inside, asked);
        let sum = inside.noisy_sum(&asked, entropy)?;
        let answer = self.read(&sum, shape, &terms);
        #[cfg(reticent_seeded_bugs)]
        let answer = crate::bug::scaled(answer, scale);
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::RecordStatistic;
    use reticent_accountant::{Unit, View};

    /// The pair of a Poisson sample is for shifts of one clip in noise of `z` clips; a count has half
    /// of that noise where units are replaced.
    #[test]
    fn a_sample_of_a_sum_with_less_noise_than_clips_has_no_event() {
        let count = || RecordSum::Count { of: RecordStatistic::Target, at_most: 0.0 };
        let moment = || RecordSum::SecondMoment { row_norm: 1.0, whole: false };
        let gradient = || RecordSum::Gradient { at: vec![0.0].into(), clip: 1.0 };
        let replaced = Terms::replace_one(Unit::Record, View::Local, 10);
        let removed = Terms::add_remove(Unit::Record, View::Local, 10).unwrap();
        let event = |what, sampling, terms: &Terms| {
            AskedSum { what, sampling, noise_multiplier: 2.0 }.event(terms)
        };
        for sampling in [Sampling::Poisson(0.5), Sampling::WithoutReplacement(5)] {
            assert!(event(count(), sampling, &replaced).is_err(), "{sampling}");
            assert!(event(moment(), sampling, &replaced).is_err(), "{sampling}");
            assert!(event(gradient(), sampling, &replaced).is_ok(), "{sampling}");
        }
        assert!(event(count(), Sampling::Poisson(0.5), &removed).is_ok());
        assert!(event(moment(), Sampling::Full, &replaced).is_ok());
    }
}
