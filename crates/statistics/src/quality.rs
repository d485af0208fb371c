//! How good predictions are: accuracy, area under the ROC curve, log-loss; R² and error.

/// How good a model is on a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quality {
    /// For classes.
    Classes {
        /// The share of records whose best-scored class is theirs.
        accuracy: f64,
        /// The area under the ROC curve; the mean over classes against the rest when there are more than two.
        /// NaN when a class does not occur.
        auc: f64,
        /// The mean negative log-likelihood, scores read as log-odds.
        log_loss: f64,
        /// Records.
        n: usize,
    },
    /// For numbers, in the units of the target.
    Range {
        /// The share of the variance that is explained.
        r2: f64,
        /// The root of the mean squared error.
        rmse: f64,
        /// Records.
        n: usize,
    },
}

/// The quality of predicted numbers, which `decode` brings back to their own units as it does the targets.
pub fn regression(scores: &[f64], targets: &[f64], decode: &dyn Fn(f64) -> f64) -> Quality {
    let n = targets.len();
    let targets: Vec<f64> = targets.iter().map(|&b| decode(b)).collect();
    let mean = targets.iter().sum::<f64>() / n as f64;
    let error: f64 = targets.iter().zip(scores).map(|(b, &s)| (b - decode(s)).powi(2)).sum();
    let spread: f64 = targets.iter().map(|b| (b - mean).powi(2)).sum();
    Quality::Range { r2: 1.0 - error / spread, rmse: (error / n as f64).sqrt(), n }
}

/// The quality of scores, a row of `outputs` for each record: the class with the largest is predicted.
pub fn classification(scores: &[f64], classes: &[usize], outputs: usize) -> Quality {
    let n = classes.len();
    let mut right = 0;
    let mut log_loss = 0.0;
    for (scores, &class) in scores.chunks_exact(outputs).zip(classes) {
        let best = (1..outputs).fold(0, |best, k| if scores[k] > scores[best] { k } else { best });
        right += usize::from(best == class);
        let top = scores[best];
        log_loss += top - scores[class] + scores.iter().map(|s| (s - top).exp()).sum::<f64>().ln();
    }
    let against_rest = |k: usize| {
        let ranked =
            scores.chunks_exact(outputs).zip(classes).map(|(scores, &class)| (scores[k], class == k));
        area(ranked.collect())
    };
    let auc = match outputs {
        2 => against_rest(1),
        _ => (0..outputs).map(against_rest).sum::<f64>() / outputs as f64,
    };
    Quality::Classes { accuracy: right as f64 / n as f64, auc, log_loss: log_loss / n as f64, n }
}

/// The probability that a positive scores above a negative, ties counting half (Mann–Whitney).
fn area(mut ranked: Vec<(f64, bool)>) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_counts_pairs() {
        assert_eq!(area(vec![(0.1, false), (0.4, true), (0.35, false), (0.8, true)]), 1.0);
        assert_eq!(area(vec![(0.1, true), (0.4, false)]), 0.0);
        assert_eq!(area(vec![(0.3, true), (0.3, false)]), 0.5);
        assert_eq!(
            area(vec![(0.1, false), (0.4, true), (0.35, true), (0.2, false), (0.3, true), (0.33, false)]),
            8.0 / 9.0
        );
    }

    #[test]
    fn classes_are_scored_as_log_odds() {
        let Quality::Classes { accuracy, log_loss, n, .. } =
            classification(&[0.0, 2.0, 0.0, -1.0], &[1, 1], 2)
        else {
            panic!("classes were asked for")
        };
        assert_eq!((accuracy, n), (0.5, 2));
        let expected = ((-2.0_f64).exp().ln_1p() + 1.0_f64.exp().ln_1p()) / 2.0;
        assert!((log_loss - expected).abs() < 1e-15);
    }

    #[test]
    fn the_mean_explains_nothing() {
        let quality = regression(&[0.0, 0.0], &[1.0, -1.0], &|b| 10.0 * b);
        assert_eq!(quality, Quality::Range { r2: 0.0, rmse: 10.0, n: 2 });
    }
}
