//! From noisy sums to what a model of a number is worth: arithmetic on released values.
//!
//! With `b` the encoded target, `d` half of the error and `r` the length of the target's range,
//!
//! ```text
//! R² = 1 − 4 Σd² / (Σb² − (Σb)²/n),   MSE = r² Σd²/n,   MAE = r Σ|d|/n
//! ```

use serde::Serialize;

use super::estimate::{Estimate, spread};

/// A variance of the targets below so many standard deviations of its noise is not seen well enough
/// for R² to be taken.
const SEEN: f64 = 5.0;

/// Private estimates of the quality of a model of a number, in the units of the target. Their
/// intervals are for the noise; the sampling error is in none of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PrivateNumbers {
    /// The share of the variance that is explained.
    pub r2: Estimate,
    /// The mean absolute error.
    pub mae: Estimate,
    /// The mean squared error.
    pub mse: Estimate,
    /// Its root.
    pub rmse: Estimate,
    /// Units; with noise where their number is private.
    pub n: f64,
    /// Whether that is the true number.
    pub n_is_exact: bool,
}

/// How the sums were asked for.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    /// The noise of each sum.
    pub deviations: Vec<f64>,
    /// The true number of units, where it is public.
    pub n: Option<f64>,
    /// The length of the target's range.
    pub range: f64,
    pub confidence: f64,
}

impl Sums {
    /// The figures.
    pub fn read(&self, answer: &[f64]) -> PrivateNumbers {
        let Sums { deviations, range, confidence, .. } = self;
        let noise = |figure: &dyn Fn(&[f64]) -> f64| spread(answer, |i| deviations[i], figure);
        let estimate = |figure: &dyn Fn(&[f64]) -> f64, ends: [f64; 2]| {
            Estimate::new(figure(answer), noise(figure), 0.0, None, (*confidence, ends))
        };
        let variance = |sums: &[f64]| {
            let [n, b, square, ..] = self.sums(sums);
            (square + 0.5 * n) / n - (b / n).powi(2)
        };
        let mean_square = |sums: &[f64]| {
            let [n, _, _, d, _] = self.sums(sums);
            (d + 0.5 * n) / n
        };
        let mean_size = |sums: &[f64]| {
            let [n, .., d] = self.sums(sums);
            (d + 0.5 * n) / n
        };
        let [n, ..] = self.sums(answer);
        let counted = self.n.is_some() || n > SEEN * deviations[0];
        let r2 = if counted && variance(answer) > SEEN * noise(&variance) {
            let r2 = |sums: &[f64]| 1.0 - 4.0 * mean_square(sums) / variance(sums);
            estimate(&r2, [f64::NEG_INFINITY, 1.0])
        } else {
            Estimate::unknown([f64::NEG_INFINITY, 1.0])
        };
        let known = |figure: &dyn Fn(&[f64]) -> f64| match counted {
            true => estimate(figure, [0.0, 1.0]),
            false => Estimate::unknown([0.0, 1.0]),
        };
        let mse = known(&mean_square).map(|d| range * range * d);
        let rmse = known(&mean_square).map(|d| range * d.max(0.0).sqrt());
        let mae = known(&mean_size).map(|d| range * d);
        PrivateNumbers { r2, mae, mse, rmse, n, n_is_exact: self.n.is_some() }
    }

    /// The number of units, and the four sums.
    fn sums(&self, answer: &[f64]) -> [f64; 5] {
        let mut all = [self.n.unwrap_or(0.0), 0.0, 0.0, 0.0, 0.0];
        let from = all.len() - answer.len().min(all.len());
        all[from..].iter_mut().zip(answer).for_each(|(place, sum)| *place = *sum);
        all
    }
}
