//! How many units have a value in each of public bins, for one column or several, with Gaussian
//! noise.
//!
//! A record adds 1 to one bin of each of `m` columns, a user the shares of its records. No entry is
//! below 0 and the vector has norm at most `√m`, so that a removal moves the sum by at most `√m`,
//! one clip, and a replacement by at most `√(2m)`: the noise of `z` clips is made √2 smaller there.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/bin-counts.md,
//! proofs/sensitivity-clipped-sum.md, proofs/noise-gaussian-grid.md.

use reticent_problem::Shape;
use serde::{Deserialize, Serialize};

use super::record_sum::{RecordSum, SumScope};
use super::sum_query::{AskedSum, SumQuery};
use super::{check_finite, check_noise, wrong};
use crate::holder::TableHolder;
use crate::refusal::Refusal;
use crate::sums::{Private, RecordStatistic};
use crate::terms::Terms;

/// The most bins of one question, over all columns.
const MOST_BINS: usize = 4096;

/// The bins of one column of a table. Every record is in just one of them, whatever its row is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
        let asked = self.asked(terms);
        asked.noise(terms) * asked.what.clip()
    }
}

pub(super) fn clip(of: &[Bins]) -> f64 {
    (of.len() as f64).sqrt()
}

pub(super) fn len(of: &[Bins]) -> usize {
    of.iter().map(Bins::count).sum()
}

impl SumQuery for BinCounts<'_> {
    const NAME: &'static str = "bin counts";
    type Answer = Vec<f64>;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)
    }

    fn asked(&self, _: &Terms) -> AskedSum<'_> {
        AskedSum::of_all(RecordSum::BinCounts { of: self.of.into() }, self.noise_multiplier)
    }

    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> Vec<f64> {
        let step = self.asked(terms).what.step(shape);
        sum.iter().map(|&steps| steps as f64 * step).collect()
    }

    fn made_up(&self, _: Shape, terms: &Terms, _: &mut dyn FnMut() -> f64) -> Vec<f64> {
        vec![terms.population() as f64 / len(self.of) as f64; len(self.of)]
    }
}

pub(super) fn check(of: &[Bins], shape: Shape) -> Result<(), Refusal> {
    of.iter().try_for_each(|bins| bins.check(shape))?;
    match (1..=MOST_BINS).contains(&len(of)) {
        true => Ok(()),
        false => Err(wrong("one question is about 1 to 4096 bins, over all columns")),
    }
}

pub(super) fn add_up(
    TableHolder { private, pass }: &mut TableHolder,
    of: &[Bins],
    over: &SumScope<'_>,
    out: &mut [i64],
) {
    pass.entry_sum(&over.of(private.units()), out, |unit, entries| {
        let records = private.records_in(unit);
        let share = 1.0 / records.len() as f64;
        for &i in records.iter() {
            let mut before = 0;
            for bins in of {
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
}
