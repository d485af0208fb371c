//! The exponential mechanism over integer scores and their negatives, drawn exactly and without a
//! look at all of them.
//!
//! Entry j of an integer score s_j is two candidates, `(j, +)` of score s_j and `(j, −)` of score
//! −s_j; a candidate of score q has probability ∝ 2^(q/β), β a whole number. Entries are kept by
//! the level ℓ = ⌊|s|/β⌋. With r = |s| − ℓβ, the candidate with the sign of s has weight 2^(ℓ + r/β)
//! and the other one 2^(−ℓ − r/β), so that
//!
//! 1. a group, of all entries of a level and one of the two candidates, is drawn with probability ∝
//!    its size times 2^(ℓ+1), or 2^(−ℓ): integers, but for groups so far below the first that one
//!    unit stands for what is less;
//! 2. a member of it is drawn evenly;
//! 3. it is kept with probability 2^(r/β − 1), or 2^(−r/β), and for a group that one unit stood for
//!    also with probability 2^(−k), k how far below the unit it is; otherwise all begins again.
//!
//! Size, unit and coins multiply to the weight of each candidate, so that the law is exact. No coin
//! but that of the last groups fails oftener than every other time. The time of a draw goes with the
//! number of levels that are not empty, and so depends on the scores. Proof note:
//! `proofs/exponential-mechanism.md`.

use std::collections::BTreeMap;

use crate::entropy::{Entropy, EntropyError};
use crate::grid::{Digits, halving_coin};

/// How far below the first group one unit stands for what is less, in halvings: 2³² candidates of
/// 2³⁰ units each fit in a word.
const DEPTH: u64 = 30;

/// Integer scores by their levels.
#[derive(Clone, PartialEq)]
pub struct ScoreLevels {
    scale: u64,
    scores: Vec<i64>,
    /// Where each entry stands among those of its level.
    places: Vec<u32>,
    levels: BTreeMap<u64, Vec<u32>>,
}

/// What was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoredDraw {
    /// The entry.
    pub index: usize,
    /// Whether it is the entry's score that counted, or the negative of it.
    pub positive: bool,
}

/// The candidates of one level with the sign of their scores, or against it.
struct Group<'a> {
    entries: &'a [u32],
    with: bool,
    /// Halvings below the first group.
    below: u64,
}

impl Group<'_> {
    /// Units of each candidate, as a power of two.
    fn shift(&self) -> u64 {
        DEPTH.saturating_sub(self.below)
    }

    /// The entry that so many are smaller than. They stand in the order in which scores came to this
    /// level, and what is drawn must follow from the scores and the random words alone.
    fn entry(&self, rank: usize) -> usize {
        *self.entries.to_vec().select_nth_unstable(rank).1 as usize
    }

    /// Units of all of them.
    fn units(&self) -> u64 {
        (self.entries.len() as u64) << self.shift()
    }
}

impl ScoreLevels {
    /// The entries with these scores, where a candidate of score q has weight 2^(q/`scale`). `None`
    /// for a scale of 0, no entries, or more of them than can be numbered.
    pub fn new(scale: u64, scores: Vec<i64>) -> Option<Self> {
        if scale == 0 || scores.is_empty() || scores.len() > 1 << 31 {
            return None;
        }
        let mut all =
            ScoreLevels { scale, places: vec![0; scores.len()], scores, levels: BTreeMap::new() };
        (0..all.scores.len()).for_each(|index| all.enter(index));
        Some(all)
    }

    /// β.
    pub fn scale(&self) -> u64 {
        self.scale
    }

    /// The scores.
    pub fn scores(&self) -> &[i64] {
        &self.scores
    }

    /// Gives an entry another score.
    pub fn set(&mut self, index: usize, score: i64) {
        let (old, new) = (self.level(self.scores[index]), self.level(score));
        if old == new {
            self.scores[index] = score;
            return;
        }
        if let Some(entries) = self.levels.get_mut(&old) {
            let place = self.places[index];
            entries.swap_remove(place as usize);
            match entries.get(place as usize) {
                Some(&moved) => self.places[moved as usize] = place,
                None if entries.is_empty() => drop(self.levels.remove(&old)),
                None => {}
            }
        }
        self.scores[index] = score;
        self.enter(index);
    }

    /// Draws one.
    pub fn draw(&self, entropy: &mut Entropy) -> Result<ScoredDraw, EntropyError> {
        entropy.ready()?;
        Ok(self.drawn(entropy))
    }

    fn level(&self, score: i64) -> u64 {
        score.unsigned_abs() / self.scale
    }

    /// Puts an entry with those of its level.
    fn enter(&mut self, index: usize) {
        let entries = self.levels.entry(self.level(self.scores[index])).or_default();
        self.places[index] = entries.len() as u32;
        entries.push(index as u32);
    }

    /// All groups, the first one first.
    fn groups(&self) -> impl Iterator<Item = Group<'_>> {
        let top = self.levels.last_key_value().map_or(0, |(&level, _)| level);
        let with = self.levels.iter().rev().map(move |(&level, entries)| Group {
            entries,
            with: true,
            below: top - level,
        });
        let against = self.levels.iter().map(move |(&level, entries)| Group {
            entries,
            with: false,
            below: top + 1 + level,
        });
        with.chain(against)
    }

    /// The candidate that stands at so many units, and how many halvings its group is below one
    /// unit.
    fn at(&self, mut unit: u64) -> (usize, bool, u64) {
        for group in self.groups() {
            if unit < group.units() {
                let entry = group.entry((unit >> group.shift()) as usize);
                return (entry, group.with, group.below.saturating_sub(DEPTH));
            }
            unit -= group.units();
        }
        unreachable!("there are as many units as all groups have")
    }

    /// Units of all groups.
    pub(crate) fn units(&self) -> u64 {
        self.groups().map(|group| group.units()).sum()
    }

    pub(crate) fn drawn<D: Digits>(&self, digits: &mut D) -> ScoredDraw {
        let units = self.units();
        loop {
            let unit = digits.below(units);
            if let Some(drawn) = self.kept(unit, digits) {
                return drawn;
            }
        }
    }

    /// The candidate at this unit, if it is kept.
    pub(crate) fn kept<D: Digits>(&self, unit: u64, digits: &mut D) -> Option<ScoredDraw> {
        let (index, with, halvings) = self.at(unit);
        let score = self.scores[index];
        let rest = score.unsigned_abs() % self.scale;
        let part = if with { self.scale - rest } else { rest };
        let kept =
            (0..halvings).all(|_| digits.below(2) == 0) && halving_coin(part, self.scale, digits);
        kept.then_some(ScoredDraw { index, positive: with == (score >= 0) })
    }
}

/// Not derived: it would show the scores.
impl std::fmt::Debug for ScoreLevels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ScoreLevels(..)")
    }
}
