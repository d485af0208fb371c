//! How much oftener a value was seen on one table than on the other, learned from runs that are not
//! counted afterwards.
//!
//! Where units are drawn, an answer with the canary in it says much and one without says nothing; a
//! sum of answers weighs both alike. The logarithm of the likelihood ratio does not, and the most
//! powerful test is a threshold of it (Neyman and Pearson 1933). It is estimated answer by answer
//! in bins with equally many runs; that this forgets how the answers hang together costs power and
//! no validity.

use crate::attack::{AttackStatistic, PARTS, Scores, WEIGHED};

/// So many bins resolve a normal law to a few thousandths of its power.
const BINS: usize = 32;

/// Logarithms of ratios by bins, for each part of a run.
#[derive(Debug)]
pub(crate) struct Likelihood(Vec<LikelihoodPart>);

#[derive(Debug)]
struct LikelihoodPart {
    /// Upper ends of all bins but the last.
    ends: Vec<f64>,
    ratios: Vec<f64>,
}

impl Likelihood {
    pub fn learn([with, without]: &[Vec<Scores>; 2]) -> Self {
        let part = |column: usize| {
            let mut pooled: Vec<f64> =
                with.iter().chain(without).map(|scores| scores[column]).collect();
            pooled.sort_by(f64::total_cmp);
            let bins = BINS.min(pooled.len() / 20).max(1);
            let mut ends: Vec<f64> = (1..bins).map(|i| pooled[i * pooled.len() / bins]).collect();
            ends.dedup();
            let count = |runs: &[Scores]| {
                let mut counts = vec![0.5_f64; ends.len() + 1];
                runs.iter().for_each(|scores| {
                    counts[ends.partition_point(|end| *end < scores[column])] += 1.0
                });
                counts
            };
            let (ours, theirs) = (count(with), count(without));
            let size = (without.len() as f64 / with.len() as f64).ln();
            let ratios = ours.iter().zip(&theirs).map(|(a, b)| (a / b).ln() + size).collect();
            LikelihoodPart { ends, ratios }
        };
        // The model follows from the answers where there are any; twice the same would count twice.
        let all: Vec<usize> = (PARTS..PARTS + crate::attack::ANSWERS).collect();
        let answered = with.iter().any(|scores| scores[PARTS].is_finite());
        let columns = if answered { all } else { vec![PARTS + crate::attack::ANSWERS] };
        Likelihood(
            (0..WEIGHED)
                .map(|column| {
                    if columns.contains(&column) {
                        part(column)
                    } else {
                        LikelihoodPart { ends: Vec::new(), ratios: vec![0.0] }
                    }
                })
                .collect(),
        )
    }

    /// Fills the statistic in.
    pub fn fill(&self, runs: &mut [Vec<Scores>; 2]) {
        for scores in runs.iter_mut().flatten() {
            let ratio = |(column, part): (usize, &LikelihoodPart)| {
                part.ratios[part.ends.partition_point(|end| *end < scores[column])]
            };
            scores[AttackStatistic::Likelihood as usize] =
                self.0.iter().enumerate().map(ratio).sum();
        }
    }
}
