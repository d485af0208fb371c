//! How wrong a prediction is about one record, between 0 and 1: what models are compared by when
//! one of several is chosen privately. It does not depend on the loss that they were trained with.
//!
//! ```text
//! classes:  ½ Σ_k (p_k − [k = b])²,   p the softmax of the scores (two classes: of 0 and the score)
//! a number: ((ŵ − b)/2)²,             ŵ the score brought into [−1, 1], where encoded targets lie
//! ```
//!
//! For classes it is half of Brier's score. A share of right answers would be as bounded, but where
//! one class is rare it is the same for every model; this one is least, on average, for the true
//! probabilities.

use crate::LossTarget;

/// The error of a record with these scores and this target, in [0, 1].
///
/// # Examples
///
/// ```
/// use reticent_problem::{LossTarget, prediction_error};
///
/// assert_eq!(prediction_error(LossTarget::Binary, &[0.0], 1.0), 0.25);
/// assert_eq!(prediction_error(LossTarget::Real, &[1.0], -1.0), 1.0);
/// ```
pub fn prediction_error(kind: LossTarget, scores: &[f64], target: f64) -> f64 {
    let error = match (kind, scores) {
        (LossTarget::Real, scores) => {
            let score = scores.first().map_or(f64::NAN, |score| score.clamp(-1.0, 1.0));
            (0.5 * (score - target)).powi(2)
        }
        (LossTarget::Binary, scores) => {
            let margin = scores.first().map_or(f64::NAN, |score| score * target.signum());
            // 1 − p of the right class, without overflow.
            let wrong = if margin > 0.0 {
                (-margin).exp() / (1.0 + (-margin).exp())
            } else {
                1.0 / (1.0 + margin.exp())
            };
            wrong * wrong
        }
        (LossTarget::Classes(_), scores) => classes(scores, target as usize),
    };
    // A score that is no number is as wrong as can be.
    if error.is_nan() { 1.0 } else { error.clamp(0.0, 1.0) }
}

fn classes(scores: &[f64], class: usize) -> f64 {
    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = scores.iter().map(|score| (score - top).exp()).sum();
    let error = |(k, score): (usize, &f64)| {
        let p = (score - top).exp() / total;
        (p - if k == class { 1.0 } else { 0.0 }).powi(2)
    };
    0.5 * scores.iter().enumerate().map(error).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_classes_are_the_same_either_way() {
        for score in [-800.0, -3.0, -0.1, 0.0, 2.0, 40.0, 900.0] {
            for (target, class) in [(-1.0, 0.0), (1.0, 1.0)] {
                let binary = prediction_error(LossTarget::Binary, &[score], target);
                let many = prediction_error(LossTarget::Classes(2), &[0.0, score], class);
                assert!((binary - many).abs() < 1e-15, "{score} {target}: {binary} {many}");
            }
        }
        assert_eq!(prediction_error(LossTarget::Binary, &[0.0], 1.0), 0.25);
        assert_eq!(prediction_error(LossTarget::Binary, &[900.0], -1.0), 1.0);
    }

    #[test]
    fn it_stays_between_0_and_1() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308, 0.0, 1.0];
        for a in odd {
            for b in odd {
                for (kind, scores, target) in [
                    (LossTarget::Real, &[a][..], 1.0),
                    (LossTarget::Binary, &[a], -1.0),
                    (LossTarget::Classes(3), &[a, b, 0.5], 2.0),
                ] {
                    let error = prediction_error(kind, scores, target);
                    assert!((0.0..=1.0).contains(&error), "{kind:?} {scores:?}: {error}");
                }
            }
        }
        assert_eq!(prediction_error(LossTarget::Real, &[9.0], -1.0), 1.0);
        assert_eq!(prediction_error(LossTarget::Real, &[0.25], 0.25), 0.0);
    }

    /// Least, on average, at the true probability: what makes it a fair judge.
    #[test]
    fn the_truth_has_the_least_expected_error() {
        let truth = 0.3_f64;
        let expected = |score: f64| {
            truth * prediction_error(LossTarget::Binary, &[score], 1.0)
                + (1.0 - truth) * prediction_error(LossTarget::Binary, &[score], -1.0)
        };
        let best = (truth / (1.0 - truth)).ln();
        for other in [-3.0, -1.0, 0.0, 0.5, best + 0.1, best - 0.1] {
            assert!(expected(best) < expected(other), "{other}");
        }
    }
}
