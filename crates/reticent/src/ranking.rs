//! How well numbers rank the records of a class above the others, and how well they are
//! probabilities.

use std::path::Path;

use crate::error::Error;
use crate::number_pile::{NumberPile, PileOrder};

/// Curves of one class against the rest, thinned to what a picture shows.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RocCurves {
    /// (share of the others above the threshold, share of the class above it), from (0, 0) to (1,
    /// 1).
    pub roc: Vec<(f64, f64)>,
    /// (recall, precision), from the highest threshold down.
    pub precision_recall: Vec<(f64, f64)>,
    /// (mean probability, share of the class) of the records in each tenth of [0, 1]; empty where
    /// there are no probabilities.
    pub calibration: Vec<(f64, f64)>,
}

/// More points than this are not told apart in a picture.
const POINTS: usize = 400;

/// The records of an evaluation by one number each, those of the class and the others.
#[derive(Debug)]
pub(crate) struct RankedRecords {
    own: NumberPile,
    others: NumberPile,
}

impl RankedRecords {
    /// No records. With a folder, those beyond `most` of each kind are in files there.
    pub(crate) fn new(folder: Option<&Path>, most: usize) -> Self {
        let pile = || NumberPile::new(PileOrder::Size, folder, most);
        RankedRecords { own: pile(), others: pile() }
    }

    /// One more record.
    pub(crate) fn add(&mut self, rank: f64, of_the_class: bool) -> Result<(), Error> {
        if of_the_class { self.own.push(rank) } else { self.others.push(rank) }
    }

    /// How many of the class and of the others have each number, from the least on.
    fn each_tie(&mut self, mut each: impl FnMut(f64, f64)) -> Result<(), Error> {
        let (mut own, mut others) = (self.own.read()?, self.others.read()?);
        let (mut positive, mut negative) = (own.next()?, others.next()?);
        loop {
            let rank = match (positive, negative) {
                (Some(a), Some(b)) => a.min(b),
                (Some(rank), None) | (None, Some(rank)) => rank,
                (None, None) => return Ok(()),
            };
            let mut counts = (0.0, 0.0);
            while positive.is_some_and(|own| own <= rank || own.is_nan()) {
                (counts.0, positive) = (counts.0 + 1.0, own.next()?);
            }
            while negative.is_some_and(|other| other <= rank || other.is_nan()) {
                (counts.1, negative) = (counts.1 + 1.0, others.next()?);
            }
            each(counts.0, counts.1);
        }
    }

    /// The probability that a record of the class ranks above another, ties counting half
    /// (Mann–Whitney). NaN where one of the two kinds does not occur.
    pub(crate) fn area(&mut self) -> Result<f64, Error> {
        let (mut below, mut pairs) = (0.0, 0.0);
        self.each_tie(|positive, negative| {
            pairs += positive * (below + 0.5 * negative);
            below += negative;
        })?;
        Ok(pairs / (below * self.own.count() as f64))
    }

    /// The curves, with what the tenths of probabilities have of the class.
    pub(crate) fn curves(&mut self, tenths: Option<&Tenths>) -> Result<RocCurves, Error> {
        let mut ties = 0_usize;
        self.each_tie(|_, _| ties += 1)?;
        let (positives, negatives) = (self.own.count() as f64, self.others.count() as f64);
        let (kept_of_roc, kept_of_recall) = (thinned(ties + 1), thinned(ties));
        let (mut hits, mut others, mut left) = (positives, negatives, ties);
        let (mut roc, mut precision_recall) = (Vec::new(), Vec::new());
        // From the least on, so that what is above a threshold is what is left.
        self.each_tie(|positive, negative| {
            if kept_of_roc(left) {
                roc.push((others / negatives, hits / positives));
            }
            left -= 1;
            if kept_of_recall(left) {
                precision_recall.push((hits / positives, hits / (hits + others)));
            }
            hits -= positive;
            others -= negative;
        })?;
        roc.push((0.0, 0.0));
        roc.reverse();
        precision_recall.reverse();
        let calibration = tenths.map(Tenths::means).unwrap_or_default();
        Ok(RocCurves { roc, precision_recall, calibration })
    }
}

/// The sum of the probabilities, the number of the class, and the number of records in each tenth of
/// [0, 1].
#[derive(Clone, Debug, Default)]
pub(crate) struct Tenths([(f64, f64, f64); 10]);

impl Tenths {
    /// One more record.
    pub(crate) fn add(&mut self, probability: f64, of_the_class: bool) {
        let tenth = &mut self.0[((probability * 10.0) as usize).min(9)];
        *tenth = (tenth.0 + probability, tenth.1 + f64::from(of_the_class), tenth.2 + 1.0);
    }

    /// How far the probabilities are from the shares, over all records.
    pub(crate) fn far(&self) -> f64 {
        self.0.iter().map(|(p, share, _)| (p - share).abs()).sum()
    }

    fn means(&self) -> Vec<(f64, f64)> {
        let filled = self.0.iter().filter(|(.., count)| *count > 0.0);
        filled.map(|(p, share, count)| (p / count, share / count)).collect()
    }
}

/// Which of so many points of a curve are shown, by their numbers from the highest threshold down.
fn thinned(points: usize) -> impl Fn(usize) -> bool {
    let last = points.saturating_sub(1);
    let every = points.div_ceil(POINTS).max(1);
    move |point| point % every == 0 || point == last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(records: &[(f64, bool)]) -> RankedRecords {
        let mut ranking = RankedRecords::new(None, 1);
        records.iter().for_each(|&(rank, own)| ranking.add(rank, own).unwrap());
        ranking
    }

    fn area(records: &[(f64, bool)]) -> f64 {
        ranking(records).area().unwrap()
    }

    #[test]
    fn the_area_counts_pairs() {
        assert_eq!(area(&[(0.1, false), (0.4, false), (0.8, true)]), 1.0);
        assert_eq!(area(&[(0.1, true), (0.4, false)]), 0.0);
        assert_eq!(area(&[(0.3, true), (0.3, false)]), 0.5);
        assert_eq!(area(&[(0.0, true), (-0.0, false)]), 0.5, "a zero is a zero");
        let six =
            [(0.1, false), (0.4, true), (0.35, true), (0.2, false), (0.3, true), (0.33, false)];
        assert_eq!(area(&six), 8.0 / 9.0);
        assert!(area(&[(0.3, true)]).is_nan());
    }

    #[test]
    fn curves_step_through_the_records_and_tenths_are_means() {
        let records = [(0.15, false), (0.45, true), (0.95, true)];
        let mut tenths = Tenths::default();
        records.iter().for_each(|&(p, own)| tenths.add(p, own));
        let all = ranking(&records).curves(Some(&tenths)).unwrap();
        assert_eq!(all.roc, [(0.0, 0.0), (0.0, 0.5), (0.0, 1.0), (1.0, 1.0)]);
        assert_eq!(all.precision_recall, [(0.5, 1.0), (1.0, 1.0), (1.0, 2.0 / 3.0)]);
        assert_eq!(all.calibration, [(0.15, 0.0), (0.45, 1.0), (0.95, 1.0)]);
        assert!(ranking(&[(7.0, true)]).curves(None).unwrap().calibration.is_empty());
        let long: Vec<_> = (0..10_000).map(|i| (f64::from(i), i % 2 == 0)).collect();
        let long = ranking(&long).curves(None).unwrap();
        assert!(long.roc.len() <= POINTS + 2 && long.roc.last() == Some(&(1.0, 1.0)));
    }

    /// All records in memory, sorted, one tie behind the other from the highest threshold down.
    fn by_sorting(mut ranked: Vec<(f64, bool)>) -> (f64, RocCurves) {
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let positives = ranked.iter().filter(|(_, own)| *own).count() as f64;
        let negatives = ranked.len() as f64 - positives;
        let (mut hits, mut others, mut pairs) = (0.0, 0.0, 0.0);
        let (mut roc, mut precision_recall) = (vec![(0.0, 0.0)], Vec::new());
        for tied in ranked.chunk_by(|a, b| a.0 == b.0) {
            let positive = tied.iter().filter(|(_, own)| *own).count() as f64;
            let negative = tied.len() as f64 - positive;
            pairs += positive * (negatives - others - negative + 0.5 * negative);
            hits += positive;
            others += negative;
            roc.push((others / negatives, hits / positives));
            precision_recall.push((hits / positives, hits / (hits + others)));
        }
        let thin = |points: Vec<(f64, f64)>| {
            let (last, every) = (points.len() - 1, points.len().div_ceil(POINTS).max(1));
            let kept = points.into_iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last);
            kept.map(|(_, point)| point).collect()
        };
        let (roc, precision_recall) = (thin(roc), thin(precision_recall));
        let calibration = Vec::new();
        (pairs / (positives * negatives), RocCurves { roc, precision_recall, calibration })
    }

    /// Held and in runs in a file, the figures are those of all records sorted in memory, to the bit.
    #[test]
    fn figures_are_those_of_records_that_are_sorted_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        for (count, values) in [(7, 3), (400, 1000), (401, 100_000), (20_000, 5000), (20_000, 50)] {
            let record = |i: usize| (((i * 7919 + 13) % values) as f64 / 7.0 - 9.0, i * i % 7 < 3);
            let records: Vec<(f64, bool)> = (0..count).map(record).collect();
            let (area, curves) = by_sorting(records.clone());
            for (folder, most) in [(None, 1), (Some(folder.path()), 900), (Some(folder.path()), 3)]
            {
                if count / most > 2_500 {
                    continue;
                }
                let mut ranking = RankedRecords::new(folder, most);
                records.iter().for_each(|&(rank, own)| ranking.add(rank, own).unwrap());
                assert_eq!(ranking.area().unwrap().to_bits(), area.to_bits(), "{count} {most}");
                assert_eq!(ranking.curves(None).unwrap(), curves, "{count} {most}");
            }
        }
    }
}
