//! How well numbers rank the records of a class above the others, and how well they are
//! probabilities.

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

/// The probability that a record of the class ranks above another, ties counting half
/// (Mann–Whitney). NaN where one of the two kinds does not occur.
pub fn area(mut ranked: Vec<(f64, bool)>) -> f64 {
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut pairs) = (0.0, 0.0);
    for tied in ranked.chunk_by(|a, b| a.0 == b.0) {
        let positive = tied.iter().filter(|(_, positive)| *positive).count() as f64;
        let negative = tied.len() as f64 - positive;
        pairs += positive * (below + 0.5 * negative);
        below += negative;
    }
    pairs / (below * (ranked.len() as f64 - below))
}

/// The curves of a class; `probability` reads a rank as one, where it is.
pub fn curves(mut ranked: Vec<(f64, bool)>, probability: Option<&dyn Fn(f64) -> f64>) -> RocCurves {
    let calibration = probability.map(|read| calibration(&ranked, read)).unwrap_or_default();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let positives = ranked.iter().filter(|(_, positive)| *positive).count() as f64;
    let negatives = ranked.len() as f64 - positives;
    let (mut hits, mut others) = (0.0, 0.0);
    let mut roc = vec![(0.0, 0.0)];
    let mut precision_recall = Vec::new();
    for tied in ranked.chunk_by(|a, b| a.0 == b.0) {
        let positive = tied.iter().filter(|(_, positive)| *positive).count() as f64;
        hits += positive;
        others += tied.len() as f64 - positive;
        roc.push((others / negatives, hits / positives));
        precision_recall.push((hits / positives, hits / (hits + others)));
    }
    RocCurves { roc: thinned(roc), precision_recall: thinned(precision_recall), calibration }
}

fn calibration(ranked: &[(f64, bool)], probability: &dyn Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let tenths = tenths(ranked, probability);
    let filled = tenths.iter().filter(|(.., count)| *count > 0.0);
    filled.map(|(p, share, count)| (p / count, share / count)).collect()
}

/// The sum of the probabilities, the number of the class, and the number of records in each tenth
/// of [0, 1].
pub fn tenths(ranked: &[(f64, bool)], probability: &dyn Fn(f64) -> f64) -> [(f64, f64, f64); 10] {
    let mut tenths = [(0.0, 0.0, 0.0); 10];
    for (rank, positive) in ranked {
        let p = probability(*rank);
        let tenth = &mut tenths[((p * 10.0) as usize).min(9)];
        *tenth = (tenth.0 + p, tenth.1 + f64::from(*positive), tenth.2 + 1.0);
    }
    tenths
}

fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let last = points.len().saturating_sub(1);
    let every = points.len().div_ceil(POINTS).max(1);
    points
        .into_iter()
        .enumerate()
        .filter(|(i, _)| i % every == 0 || *i == last)
        .map(|(_, p)| p)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs() {
        assert_eq!(area(vec![(0.1, false), (0.4, false), (0.8, true)]), 1.0);
        assert_eq!(area(vec![(0.1, true), (0.4, false)]), 0.0);
        assert_eq!(area(vec![(0.3, true), (0.3, false)]), 0.5);
        assert_eq!(
            area(vec![
                (0.1, false),
                (0.4, true),
                (0.35, true),
                (0.2, false),
                (0.3, true),
                (0.33, false)
            ]),
            8.0 / 9.0
        );
        assert!(area(vec![(0.3, true)]).is_nan());
    }

    #[test]
    fn curves_step_through_the_records_and_tenths_are_means() {
        let all = curves(vec![(0.15, false), (0.45, true), (0.95, true)], Some(&|p| p));
        assert_eq!(all.roc, [(0.0, 0.0), (0.0, 0.5), (0.0, 1.0), (1.0, 1.0)]);
        assert_eq!(all.precision_recall, [(0.5, 1.0), (1.0, 1.0), (1.0, 2.0 / 3.0)]);
        assert_eq!(all.calibration, [(0.15, 0.0), (0.45, 1.0), (0.95, 1.0)]);
        assert!(curves(vec![(7.0, true)], None).calibration.is_empty());
        let long = curves((0..10_000).map(|i| (f64::from(i), i % 2 == 0)).collect(), None);
        assert!(long.roc.len() <= POINTS + 2 && long.roc.last() == Some(&(1.0, 1.0)));
    }
}
