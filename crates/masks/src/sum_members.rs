//! Who makes a masked sum, by public numbers: how many must stay, how many may be corrupt, and who
//! has masks in common with whom. One rule for every sum that is opened in this program.

use crate::corrupt::Corrupt;
use crate::graph::{Sparsity, SparsityError};
use crate::noise_share::{NoiseShare, NoiseShareError};
use crate::terms::{AggregationTerms, MOST_HOLDERS, TermsError};

/// The share of the members of a sum that must stay.
const STAY: f64 = 0.75;

/// Powers of two by which a sparse graph may fail: privacy, and a round.
const FAILURE: (u32, u32) = (40, 20);

/// The chance that a sum has more corrupt members than are counted with; all sums of a party
/// together are in its δ.
const MORE_CORRUPT: f64 = 1.0 / (1_u64 << 30) as f64;

/// The members of each sum of a run.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct SumMembers {
    members: u32,
    threshold: u32,
    corrupt: u32,
    degree: u32,
    quorum: u32,
    failure: f64,
}

impl SumMembers {
    /// So many members of a population of whom a fraction `honest` is honest. Up to 255 have masks
    /// in common with everybody, more with as few as is safe.
    ///
    /// # Errors
    /// If there are too many of them who may be corrupt or leave.
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_masks::SumMembers;
    ///
    /// // Of ten parties eight must stay and two may be corrupt: the noise of six is counted.
    /// let members = SumMembers::choose(10, 10, 0.8)?;
    /// assert_eq!((members.threshold(), members.corrupt(), members.certain()), (8, 2, 6));
    /// # Ok::<(), reticent_masks::SparsityError>(())
    /// ```
    pub fn choose(members: u32, population: u32, honest: f64) -> Result<Self, SparsityError> {
        SumMembers::after_attempts(members, population, honest, 1)
    }

    /// The same where who is drawn follows from a name that others may refuse: they let attempts at one
    /// fail, up to `attempts` in all, until they like the draw. The chance of a sum with more corrupt members
    /// is counted for all of the attempts together.
    ///
    /// # Errors
    /// As [`SumMembers::choose`].
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_masks::SumMembers;
    ///
    /// // 40 of 1,000: who may choose among 64 draws has one or two more at its side.
    /// let once = SumMembers::choose(40, 1_000, 0.9)?;
    /// let chosen = SumMembers::after_attempts(40, 1_000, 0.9, 64)?;
    /// assert!(chosen.corrupt() > once.corrupt() && chosen.corrupt() < once.corrupt() + 5);
    /// # Ok::<(), reticent_masks::SparsityError>(())
    /// ```
    pub fn after_attempts(
        members: u32,
        population: u32,
        honest: f64,
        attempts: u32,
    ) -> Result<Self, SparsityError> {
        SumMembers::drawn_of(population, (members, population), honest, attempts)
    }

    /// The same of a population that is left of `whole`, where others may have seen to it who is left: as
    /// many of it may be corrupt as of the whole.
    ///
    /// # Errors
    /// As [`SumMembers::choose`].
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_masks::SumMembers;
    ///
    /// // A hundred of a thousand may be corrupt, and all of them among the 500 that are left.
    /// let left = SumMembers::drawn_of(1_000, (40, 500), 0.9, 64)?;
    /// assert_eq!(left, SumMembers::after_attempts(40, 500, 0.8, 64)?);
    /// # Ok::<(), reticent_masks::SparsityError>(())
    /// ```
    pub fn drawn_of(
        whole: u32,
        (members, population): (u32, u32),
        honest: f64,
        attempts: u32,
    ) -> Result<Self, SparsityError> {
        let times = f64::from(attempts.max(1));
        let Corrupt { most, chance } =
            Corrupt::left_of(whole, (members, population), honest, MORE_CORRUPT / times);
        // The part in 10⁶ that the chance has too much is more than these roundings.
        let drawn = SumMembers::with(members, Corrupt { most, chance: 0.0 })?;
        Ok(SumMembers { failure: (times * (chance + drawn.failure)).min(1.0), ..drawn })
    }

    /// So many members that are left of `whole`, a fraction `honest` of whom is honest, where others may
    /// have seen to it who is left: all that are corrupt among the whole may be among them.
    ///
    /// # Errors
    /// As [`SumMembers::choose`].
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_masks::SumMembers;
    ///
    /// // Two of ten may be corrupt, and both of them among the five that are left.
    /// let left = SumMembers::left_of(10, 5, 0.8)?;
    /// assert_eq!((left.corrupt(), SumMembers::choose(5, 5, 0.8)?.corrupt()), (2, 1));
    /// # Ok::<(), reticent_masks::SparsityError>(())
    /// ```
    pub fn left_of(whole: u32, members: u32, honest: f64) -> Result<Self, SparsityError> {
        SumMembers::drawn_of(whole, (members, members), honest, 1)
    }

    fn with(members: u32, Corrupt { most, chance }: Corrupt) -> Result<Self, SparsityError> {
        let threshold =
            ((f64::from(members) * STAY).ceil() as u32).max(members / 2 + 1).min(members);
        // However honest all are: a member hears what follows from the sum, and can take its own noise off.
        let corrupt = most.max(u32::from(members > 1));
        if members <= MOST_HOLDERS {
            let (degree, quorum) = (members.saturating_sub(1), threshold);
            return Ok(SumMembers { members, threshold, corrupt, degree, quorum, failure: chance });
        }
        let Sparsity { degree, quorum, privacy_failure, .. } =
            Sparsity::choose(members, corrupt, members - threshold, FAILURE.0, FAILURE.1)?;
        let failure = chance + privacy_failure;
        Ok(SumMembers { members, threshold, corrupt, degree, quorum, failure })
    }

    /// How many members there are.
    #[must_use]
    pub fn members(&self) -> u32 {
        self.members
    }

    /// How many must stay.
    #[must_use]
    pub fn threshold(&self) -> u32 {
        self.threshold
    }

    /// How many may be corrupt.
    #[must_use]
    pub fn corrupt(&self) -> u32 {
        self.corrupt
    }

    /// How many honest shares every opened sum holds.
    #[must_use]
    pub fn certain(&self) -> u32 {
        self.threshold.saturating_sub(self.corrupt)
    }

    /// Whether two lists of who is in a sum cannot both be agreed on, whatever a collector shows to
    /// whom: a list has a threshold of signatures, honest members sign one list, and 2t > m + c.
    #[must_use]
    pub fn has_one_list(&self) -> bool {
        self.is_complete() && 2 * self.threshold > self.members + self.corrupt
    }

    /// Whether everybody has masks in common with everybody.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.degree + 1 == self.members
    }

    /// The terms of the sum of a round, of vectors of so many entries.
    ///
    /// # Errors
    /// [`TermsError`] says which number is out of range.
    pub fn terms(
        &self,
        run: &[u8; 32],
        round: u64,
        dimension: u32,
    ) -> Result<AggregationTerms, TermsError> {
        let SumMembers { members, threshold, degree, quorum, .. } = *self;
        AggregationTerms::sparse(*run, round, members, threshold, dimension, degree, quorum)
    }

    /// The share of a noise of parameter `sigma`, in steps, that the honest have together where
    /// nobody leaves.
    ///
    /// # Errors
    /// When no honest noise is certain, or a share is below half a step.
    pub fn share(
        &self,
        terms: &AggregationTerms,
        sigma: f64,
    ) -> Result<NoiseShare, NoiseShareError> {
        Ok(NoiseShare::new(terms, self.corrupt, sigma)?.failing(self.failure))
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn few_are_everybodys_neighbours_and_many_are_not() {
        let few = SumMembers::choose(255, 255, 0.8).unwrap();
        assert!(few.is_complete() && few.failure == 0.0);
        assert_eq!((few.threshold(), few.corrupt(), few.certain()), (192, 51, 141));
        let many = SumMembers::choose(256, 256, 0.8).unwrap();
        assert!(!many.is_complete() && many.failure > 0.0 && many.failure <= 1e-12);
        assert_eq!(many.terms(&[0; 32], 1, 4).unwrap().degree(), many.degree);
        // Two lists of 8 of ten have six in common, of whom two may be corrupt.
        assert!(SumMembers::choose(10, 10, 0.8).unwrap().has_one_list());
        assert!(!SumMembers::choose(10, 10, 0.4).unwrap().has_one_list());
        // More than half must stay, whatever three quarters are.
        assert_eq!(SumMembers::choose(2, 2, 0.8).unwrap().threshold(), 2);
        assert_eq!(SumMembers::choose(3, 3, 0.8).unwrap().certain(), 2);
    }

    #[test]
    fn a_member_is_one_that_knows_its_own_noise() {
        for (members, population) in [(2, 2), (10, 10), (10, 1000), (400, 400)] {
            assert_eq!(SumMembers::choose(members, population, 1.0).unwrap().corrupt(), 1);
        }
        assert_eq!(SumMembers::choose(1, 9, 1.0).unwrap().corrupt(), 0);
    }

    /// Whoever may choose among draws has so many times the chance of a bad one; what is counted with is as
    /// rare for all of them together as it is for one. Of all members nobody is drawn.
    #[test]
    fn a_choice_among_draws_is_counted_for() {
        for (members, population) in [(40, 1_000), (100, 1_000), (200, 10_000)] {
            let once = SumMembers::choose(members, population, 0.9).unwrap();
            let chosen = SumMembers::after_attempts(members, population, 0.9, 64).unwrap();
            let one = Corrupt::among(members, population, 0.9, MORE_CORRUPT / 64.0);
            assert_eq!((chosen.corrupt(), chosen.failure), (one.most, 64.0 * one.chance));
            assert!(chosen.corrupt() > once.corrupt(), "{once:?} {chosen:?}");
            assert!(chosen.failure > 0.0 && chosen.failure <= MORE_CORRUPT, "{chosen:?}");
            assert_eq!(SumMembers::after_attempts(members, population, 0.9, 1).unwrap(), once);
        }
        let all = SumMembers::after_attempts(10, 10, 0.8, 64).unwrap();
        assert_eq!(all, SumMembers::choose(10, 10, 0.8).unwrap());
        let sparse = SumMembers::after_attempts(400, 400, 0.9, 64).unwrap();
        let once = SumMembers::choose(400, 400, 0.9).unwrap();
        assert_eq!(sparse.failure, 64.0 * once.failure, "the graph is of the name too");
    }
}
