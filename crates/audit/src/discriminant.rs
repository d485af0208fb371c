//! A weight for every coordinate of every answer, learned from runs that are not counted afterwards.
//!
//! For answers with independent normal noise of known variances the most powerful test of two means
//! is a threshold of Σ (m − m')/σ² · x (Fisher 1936 with a diagonal covariance). Means and variances
//! are those of the runs it is learned from; that they are estimates, and that answers hang
//! together, costs power and no validity.

use crate::attack::{AttackStatistic, Scores, WEIGHED};

/// The weights of the coordinates.
#[derive(Debug)]
pub(crate) struct Discriminant(Vec<f64>);

impl Discriminant {
    pub fn learn([with, without]: &[Vec<Scores>; 2]) -> Self {
        let width = with.first().or(without.first()).map_or(WEIGHED, |scores| scores.len());
        let weight = |column: usize| {
            let [(mean, variance), (other, spread)] =
                [with, without].map(|runs| moments(runs, column));
            let weight = (mean - other) / (0.5 * (variance + spread));
            if weight.is_finite() { weight } else { 0.0 }
        };
        Discriminant((WEIGHED..width).map(weight).collect())
    }

    /// Fills the statistic in. A run that was refused keeps the place that no other has.
    pub fn fill(&self, runs: &mut [Vec<Scores>; 2]) {
        for scores in runs.iter_mut().flatten() {
            let weighed = self.0.iter().zip(&scores[WEIGHED..]);
            let sum: f64 = weighed.filter(|(weight, _)| **weight != 0.0).map(|(w, x)| w * x).sum();
            scores[AttackStatistic::Discriminant as usize] =
                if sum.is_finite() { sum } else { f64::INFINITY };
        }
    }
}

/// Mean and variance of a column over the runs that came to their end.
fn moments(runs: &[Scores], column: usize) -> (f64, f64) {
    let finite = || runs.iter().map(|scores| scores[column]).filter(|x| x.is_finite());
    let count = finite().count() as f64;
    let mean = finite().sum::<f64>() / count;
    (mean, finite().map(|x| (x - mean).powi(2)).sum::<f64>() / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two coordinates that move by the same, one with four times the deviation.
    #[test]
    fn what_moves_far_for_its_noise_weighs_most() {
        let run = |shift: f64| {
            move |i: i32| {
                let mut scores: Scores = std::array::from_fn(|_| 0.0);
                scores[WEIGHED] = f64::from(i % 2) + shift;
                scores[WEIGHED + 1] = 4.0 * f64::from(i / 2 % 2) + shift;
                scores
            }
        };
        let mut runs: [Vec<Scores>; 2] = [0.5, 0.0].map(|shift| (0..100).map(run(shift)).collect());
        // One that was refused moves nothing and is last in the order.
        runs[0].push(std::array::from_fn(|_| f64::INFINITY));
        let learned = Discriminant::learn(&runs);
        let ratio = learned.0[0] / learned.0[1];
        assert!((ratio - 16.0).abs() < 1e-9, "{ratio}");
        assert!(learned.0[2..].iter().all(|&weight| weight == 0.0));
        learned.fill(&mut runs);
        let filled = |scores: &Scores| scores[AttackStatistic::Discriminant as usize];
        assert_eq!(filled(&runs[0][100]), f64::INFINITY);
        assert!(filled(&runs[0][1]) > filled(&runs[1][1]));
    }
}
