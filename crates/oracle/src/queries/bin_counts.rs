//! How many units have a value in each of public bins, for one column or several, with Gaussian
//! noise.
//!
//! A record adds 1 to one bin of each of `m` columns, a user the shares of its records. No entry is
//! below 0 and the vector has norm at most `√m`, so that a removal moves the sum by at most `√m`,
//! one clip, and a replacement by at most `√(2m)`: the noise of `z` clips is made √2 smaller there.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/bin-counts.md,
//! proofs/sensitivity-clipped-sum.md, proofs/noise-gaussian-grid.md.

use std::f64::consts::FRAC_1_SQRT_2;

use reticent_accountant::{Adjacency, Event};
use reticent_noise::entropy::Entropy;
use reticent_problem::Shape;
use serde::Serialize;

use super::{Query, add_noise, check_finite, check_noise, wrong};
use crate::inside::GateState;
use crate::refusal::Refusal;
use crate::sums::{Grid, Private, RecordStatistic, Vectors};
use crate::terms::Terms;

/// The most bins of one question, over all columns.
const MOST_BINS: usize = 4096;

/// The bins of one column of a table. Every record is in just one of them, whatever its row is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Bins {
    /// One for each of `len` features from `first`, of which a record has the first that is above
    /// ½, and one behind them for a record that has none.
    Categories {
        /// The feature of the first category.
        first: usize,
        /// Categories.
        len: usize,
    },
    /// Those between increasing edges. A record at an edge is in the bin above it.
    Edges {
        /// The feature.
        feature: usize,
        /// What parts the bins, one fewer than there are.
        edges: Vec<f64>,
    },
}

impl Bins {
    /// Bins.
    pub fn count(&self) -> usize {
        match self {
            Bins::Categories { len, .. } => len + 1,
            Bins::Edges { edges, .. } => edges.len() + 1,
        }
    }

    /// The bin of record `i`.
    fn of(&self, private: &Private, i: usize) -> usize {
        match self {
            Bins::Categories { first, len } => {
                let mut found = *len;
                private.each_entry(i, |feature, value| {
                    if (*first..first + len).contains(&feature) && value > 0.5 {
                        found = found.min(feature - first);
                    }
                });
                found
            }
            Bins::Edges { feature, edges } => {
                let value = RecordStatistic::Feature(*feature).value(private, i);
                edges.partition_point(|edge| *edge <= value)
            }
        }
    }

    fn check(&self, shape: Shape) -> Result<(), Refusal> {
        let (first, features) = match self {
            Bins::Categories { first, len } => (*first, *len),
            Bins::Edges { feature, edges } => {
                check_finite(edges)?;
                if edges.windows(2).any(|pair| pair[0] >= pair[1]) {
                    return Err(wrong("the edges of the bins must increase"));
                }
                (*feature, 1)
            }
        };
        match first.checked_add(features).is_some_and(|end| features > 0 && end <= shape.features) {
            true => Ok(()),
            false => Err(wrong("bins are of features that a row has, and of at least one")),
        }
    }
}

/// The noisy numbers of units in the bins of each column, one column behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BinCounts<'a> {
    /// The columns.
    pub of: &'a [Bins],
    /// `z`.
    pub noise_multiplier: f64,
}

impl BinCounts<'_> {
    /// The standard deviation of the noise on a count, which is public.
    pub fn deviation(&self, terms: &Terms) -> f64 {
        self.noise_multiplier * factor(terms) * self.clip()
    }

    fn clip(&self) -> f64 {
        (self.of.len() as f64).sqrt()
    }

    fn len(&self) -> usize {
        self.of.iter().map(Bins::count).sum()
    }
}

/// What the noise of `z` clips is multiplied with.
fn factor(terms: &Terms) -> f64 {
    match terms.adjacency() {
        Adjacency::ReplaceOne => FRAC_1_SQRT_2 * (1.0 + f64::EPSILON),
        Adjacency::AddRemove => 1.0,
    }
}

impl Query for BinCounts<'_> {
    const NAME: &'static str = "bin counts";
    type Answer = Vec<f64>;

    fn check(&self, shape: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)?;
        self.of.iter().try_for_each(|bins| bins.check(shape))?;
        match (1..=MOST_BINS).contains(&self.len()) {
            true => Ok(()),
            false => Err(wrong("one question is about 1 to 4096 bins, over all columns")),
        }
    }

    fn events(&self, _: Shape, terms: &Terms) -> Result<Vec<Event>, Refusal> {
        Ok(vec![terms.noisy(self.noise_multiplier)?])
    }

    fn made_up(&self, _: Shape, terms: &Terms, _: &mut dyn FnMut() -> f64) -> Vec<f64> {
        vec![terms.population() as f64 / self.len() as f64; self.len()]
    }

    fn answer(&self, inside: &mut GateState, entropy: &mut Entropy) -> Result<Vec<f64>, Refusal> {
        #[cfg(reticent_seeded_bugs)]
        let noise = crate::bug::spoiled_noise(inside, self.noise_multiplier);
        #[cfg(not(reticent_seeded_bugs))]
        let noise = self.noise_multiplier;
        let GateState { private, terms, pass, .. } = inside;
        let mut sum = vec![0; self.len()];
        let grid = Grid::new(sum.len());
        let vectors = Vectors { units: private.units(), chosen: None, clip: self.clip(), grid };
        pass.entry_sum(&vectors, &mut sum, |unit, entries| {
            let records = private.records_in(unit);
            let share = 1.0 / records.len() as f64;
            for &i in records.iter() {
                let mut before = 0;
                for bins in self.of {
                    entries.push((before + bins.of(private, i as usize), share));
                    before += bins.count();
                }
            }
            // Each bin once, in order, whichever record comes first.
            entries.sort_unstable_by_key(|(bin, _)| *bin);
            entries.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0.0 };
                same
            });
        });
        add_noise(entropy, noise * factor(terms), &mut sum)?;
        let step = grid.step(self.clip());
        Ok(sum.iter().map(|&steps| steps as f64 * step).collect())
    }
}
