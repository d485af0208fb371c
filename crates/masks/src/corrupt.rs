//! How many members of a masked sum may be corrupt, where a fraction of the *population* is.
//!
//! Of n parties at least ⌊h·n⌋ are honest; the m members of a sum are drawn from them without
//! replacement, without regard to who is corrupt. For an honest member the number of the corrupt
//! among the m − 1 others is hypergeometric, Hyp(n − 1, n − ⌊h·n⌋, m − 1): no fraction of the
//! members is certain, and the chance of more than are counted with is part of δ. Proof note:
//! `proofs/noise-distributed.md`.

use crate::graph::hypergeometric_tail;

/// So many members of a sum are corrupt at the most, but for a chance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corrupt {
    /// How many are counted with.
    pub most: u32,
    /// Upper bound on the chance that an honest member's sum has more.
    pub chance: f64,
}

impl Corrupt {
    /// The fewest that `members` of `population` have more of with a chance of at most `chance`,
    /// when a fraction `honest` of the population is honest.
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_masks::Corrupt;
    ///
    /// // 40 of 1,000 parties, a tenth of whom is corrupt: four of them, give or take bad luck.
    /// let corrupt = Corrupt::among(40, 1_000, 0.9, 1e-9);
    /// assert!(corrupt.most > 4 && corrupt.most < 30 && corrupt.chance <= 1e-9);
    /// ```
    #[must_use]
    pub fn among(members: u32, population: u32, honest: f64, chance: f64) -> Self {
        Corrupt::left_of(population, (members, population), honest, chance)
    }

    /// The same of a population that is left of `whole`, a fraction `honest` of whom is honest, where others
    /// may have seen to it who is left: all that are corrupt among the whole may be among them.
    #[must_use]
    pub fn left_of(
        whole: u32,
        (members, population): (u32, u32),
        honest: f64,
        chance: f64,
    ) -> Self {
        let sure = (honest * f64::from(whole)).floor().clamp(0.0, f64::from(whole)) as u32;
        let corrupt = (whole - sure).min(population);
        let most = corrupt.min(members);
        if members >= population {
            return Corrupt { most, chance: 0.0 };
        }
        let more_than = |k: u32| {
            if k >= most {
                return 0.0;
            }
            // A part in 10⁶ is more than all roundings of the logarithms together.
            let tail =
                hypergeometric_tail(population - 1, corrupt, members.saturating_sub(1), k + 1);
            (tail * (1.0 + 1e-6)).min(1.0)
        };
        // The tail falls with k.
        let (mut low, mut high) = (0, most);
        while low < high {
            let middle = low + (high - low) / 2;
            if more_than(middle) <= chance { high = middle } else { low = middle + 1 }
        }
        Corrupt { most: low, chance: more_than(low) }
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    /// Ten of a hundred, of whom twenty are corrupt: two on average, and one sum in forty has more
    /// than four.
    #[test]
    fn a_fraction_of_the_population_is_not_one_of_a_sum() {
        let all = Corrupt::among(100, 100, 0.8, 1e-9);
        assert_eq!(all, Corrupt { most: 20, chance: 0.0 });
        let loose = Corrupt::among(10, 100, 0.8, 0.05);
        assert_eq!(loose.most, 4);
        assert!((0.01..0.03).contains(&loose.chance), "{loose:?}");
        let strict = Corrupt::among(10, 100, 0.8, 1e-9);
        assert_eq!(
            strict,
            Corrupt { most: 9, chance: 0.0 },
            "nine corrupt others are not as rare as that"
        );
        let many = Corrupt::among(200, 10_000, 0.8, 0.5_f64.powi(30));
        assert!(
            (70..90).contains(&many.most) && many.chance > 0.0 && many.chance < 1e-9,
            "{many:?}"
        );
    }

    /// Whoever strikes honest parties before a draw leaves the corrupt in, and a sum has more of them.
    #[test]
    fn of_a_population_that_others_have_thinned_as_many_are_corrupt_as_before() {
        let left = |left| Corrupt::left_of(100, (10, left), 0.8, 0.05);
        assert_eq!(left(100), Corrupt::among(10, 100, 0.8, 0.05));
        assert_eq!(left(50), Corrupt::among(10, 50, 0.6, 0.05));
        assert!(left(50).most > left(100).most && left(30).most > left(50).most);
        // All who are left may be corrupt, but for the one who asks.
        assert_eq!(left(20), Corrupt { most: 9, chance: 0.0 });
        assert_eq!(
            Corrupt::left_of(10, (5, 5), 0.8, 1e-9),
            Corrupt { most: 2, chance: 0.0 },
            "nobody is drawn"
        );
    }

    /// Against the chances written out for small numbers: every way to draw 3 others from 7, of
    /// whom 2 are corrupt.
    #[test]
    fn the_tail_is_that_of_all_draws() {
        let ways = |chosen: u32| [0, 1].iter().filter(|&&bad| chosen & (1 << bad) != 0).count();
        let draws: Vec<u32> = (0..128_u32).filter(|set| set.count_ones() == 3).collect();
        let two = draws.iter().filter(|&&set| ways(set) >= 2).count() as f64 / draws.len() as f64;
        let found = Corrupt::among(4, 8, 0.75, two * 1.01);
        assert_eq!(found.most, 1);
        assert!((found.chance / two - 1.0).abs() < 1e-5, "{found:?} {two}");
    }
}
