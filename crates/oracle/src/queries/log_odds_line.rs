//! What moves a line through the log-odds of a released model towards the labels, with Gaussian
//! noise: the gradient and the second derivatives of the log-likelihood in a slope and a shift.
//!
//! ```text
//! s = score cut to [−B, B],   p = σ(a·s + c),   r = [second class] − p,   h = 4p(1−p)
//! a record adds  v = ( r·s/B, r, κ·h·(s/B)², κ·h·s/B, κ·h ) / √2,   κ = 0.4
//! ```
//!
//! A user adds the mean over its records. Every vector has norm at most 1 (the note has the
//! arithmetic of κ), and is noised as a clipped gradient is.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/recalibration.md,
//! proofs/sensitivity-clipped-sum.md, proofs/noise-gaussian-grid.md.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use reticent_problem::Shape;
use serde::Serialize;

use super::record_sum::{RecordSum, SumScope};
use super::sum_query::{AskedSum, SumQuery};
use super::{check_finite, check_noise, check_range, wrong};
use crate::holder::TableHolder;
use crate::refusal::Refusal;
use crate::sums::with_rows;
use crate::terms::Terms;

/// How much second derivatives weigh beside the gradient: so much that no record gets longer.
const KAPPA: f64 = 0.4;

/// Numbers of an answer.
pub(super) const LEN: usize = 5;

/// The noisy mean gradient and second derivatives of the log-likelihood of two classes in the slope
/// and the shift of a line through a model's log-odds: `[g_a, g_c, h_aa, h_ac, h_cc]`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LogOddsLine<'a> {
    /// The parameter of the model.
    pub at: &'a [f64],
    /// The slope `a` and the shift `c`.
    pub line: [f64; 2],
    /// `B`: log-odds beyond it count as it.
    pub most: f64,
    /// `z`.
    pub noise_multiplier: f64,
}

impl LogOddsLine<'_> {
    /// The standard deviations of the noise on the numbers of the answer, which are public.
    pub fn deviations(&self, terms: &Terms) -> [f64; LEN] {
        self.units().map(|unit| self.noise_multiplier * unit / terms.population() as f64)
    }

    /// What one clip is in each number.
    fn units(&self) -> [f64; LEN] {
        let (b, bend) = (self.most, SQRT_2 / (4.0 * KAPPA));
        [SQRT_2 * b, SQRT_2, bend * b * b, bend * b, bend]
    }
}

impl SumQuery for LogOddsLine<'_> {
    const NAME: &'static str = "log-odds line";
    type Answer = Vec<f64>;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)
    }

    fn asked(&self, _: &Terms) -> AskedSum<'_> {
        let what = RecordSum::LogOddsLine { at: self.at.into(), line: self.line, most: self.most };
        AskedSum::of_all(what, self.noise_multiplier)
    }

    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> Vec<f64> {
        let step = self.asked(terms).what.step(shape) / terms.population() as f64;
        sum.iter().zip(self.units()).map(|(&n, unit)| n as f64 * step * unit).collect()
    }

    fn made_up(&self, _: Shape, _: &Terms, next: &mut dyn FnMut() -> f64) -> Vec<f64> {
        (0..LEN).map(|_| next()).collect()
    }
}

/// Refuses a line or a bound of log-odds that cannot be.
pub(super) fn check(line: &[f64; 2], most: f64, shape: Shape) -> Result<(), Refusal> {
    check_finite(line)?;
    check_range("most log-odds", most, 1e-3, 1e3)?;
    match shape.outputs {
        1 => Ok(()),
        _ => Err(wrong("a line through log-odds is for two classes")),
    }
}

pub(super) fn add_up(
    TableHolder { private, pass }: &mut TableHolder,
    (at, line, most): (&[f64], &[f64; 2], f64),
    over: &SumScope<'_>,
    out: &mut [i64],
) {
    pass.vector_sum(&over.of(private.units()), out, |unit, whole, _| {
        let records = private.records_in(unit);
        for i in records.iter().map(|&i| i as usize) {
            let mut score = [0.0];
            with_rows!(private.rows(), rows => private.scores(rows, i, at, &mut score));
            let own = vector((line, most), score[0], private.target(i) > 0.0);
            whole.iter_mut().zip(own).for_each(|(sum, x)| *sum += x / records.len() as f64);
        }
    });
}

/// The vector of a record.
fn vector((line, most): (&[f64; 2], f64), score: f64, second: bool) -> [f64; LEN] {
    // A score that overflowed says nothing.
    let s = if score.is_nan() { 0.0 } else { score.clamp(-most, most) };
    let p = 1.0 / (1.0 + (-(line[0] * s + line[1])).exp());
    let p = if p.is_nan() { 0.5 } else { p };
    let (u, r) = (s / most, f64::from(u8::from(second)) - p);
    let h = KAPPA * 4.0 * p * (1.0 - p);
    [r * u, r, h * u * u, h * u, h].map(|x| FRAC_1_SQRT_2 * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The note's bound, at every line and score, and reached where a record is wholly wrong.
    #[test]
    fn no_record_is_longer_than_one_clip_and_the_worst_is_as_long() {
        let norm = |v: [f64; LEN]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut longest = 0.0_f64;
        for slope in [-30.0, -1.0, 0.0, 0.3, 1.0, 4.0, 1e300] {
            for shift in [-1e300, -20.0, -2.0, 0.0, 0.7, 20.0] {
                for k in -400..=400 {
                    let line = [slope, shift];
                    for second in [false, true] {
                        for score in [0.02 * f64::from(k), f64::INFINITY, f64::NAN] {
                            longest = longest.max(norm(vector((&line, 5.0), score, second)));
                        }
                    }
                }
            }
        }
        assert!(longest <= 1.0 + 1e-15 && longest > 1.0 - 1e-9, "{longest}");
    }
}
