//! A party's own prox: `argmin_x f(x) + ‖x − v‖²/(2γ)`, `f` the mean of its records' losses.
//!
//! ```text
//! x ← z;   k times:   x ← x − s ( mean_i clip(∇f_i(x), C) + (x − v)/γ ),   s = 1/(β + 1/γ)
//! ```
//!
//! `β` is a public bound of the curvature (that of the loss times R², R the public row norm; a
//! longer row counts as nothing). A loss with kinks has no β; it gets the steps 2γ/(j + 2) of the
//! subgradient method on a strongly convex function. Started at `z`, the result is `z` if and only
//! if `z` is the prox, whatever `k`: the consensus that a run converges to is not moved by the
//! inexactness of this solver. Nor is privacy: see [`ProxTerms::moves_at_most`].
//!
//! Sequential on purpose: parties are stepped in parallel, and a party has few records.

use reticent_problem::losses::Loss;

use super::pass::finite;
use super::private::{Private, PrivateLoss, norm_above};
use super::rows::{RowAccess, with_rows};
use super::solver::residual_error;

/// How a prox is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProxTerms {
    /// γ.
    pub step: f64,
    /// k.
    pub inner: u32,
    /// C, of one record's gradient.
    pub record_clip: f64,
    /// R.
    pub row_norm: f64,
}

/// Norms are rounded up by their makers, by less than this.
const ROUNDING: f64 = 1e-9;

impl ProxTerms {
    /// β, for a loss with this curvature in its score.
    pub(crate) fn curvature(&self, smoothness: f64) -> f64 {
        smoothness * (self.row_norm * (1.0 + ROUNDING)).powi(2)
    }

    /// What rounding adds to a result at the most, where no iterate is further than `reach` from 0
    /// and a score less its target is off by `residual` beside what the score is.
    pub(crate) fn rounding(
        &self,
        beta: f64,
        (len, records): (usize, usize),
        reach: f64,
        residual: f64,
    ) -> f64 {
        let terms = (len + records + 64) as f64;
        f64::EPSILON * 64.0 * terms * (1.0 + self.step * beta) * reach
            + self.step * beta / self.row_norm * residual
    }

    /// Whether the prox at `v = z` is, step for step, a non-expansive map of `z`: no gradient is
    /// clipped, and the steps are short enough for the curvature (proofs/walk.md).
    pub fn is_not_expansive(&self, loss: &dyn Loss) -> bool {
        loss.lipschitz() * self.row_norm <= self.record_clip * (1.0 + ROUNDING)
            && self.curvature(loss.smoothness()).is_finite()
    }

    /// The prox at `v`, from `z`.
    pub fn point(&self, of: PrivateLoss<'_>, v: &[f64], z: &[f64]) -> Vec<f64> {
        with_rows!(of.private.rows(), rows => self.descend(rows, of.private, of.loss, v, z))
    }

    fn descend(
        &self,
        rows: &impl RowAccess,
        private: &Private,
        loss: &dyn Loss,
        v: &[f64],
        z: &[f64],
    ) -> Vec<f64> {
        let beta = self.curvature(loss.smoothness());
        let mut x = z.to_vec();
        let mut gradient = vec![0.0; x.len()];
        let outputs = loss.outputs();
        let (mut scores, mut slopes) = (vec![0.0; outputs], vec![0.0; outputs]);
        let features = private.features() * outputs;
        let weight = 1.0 / private.records().max(1) as f64;
        for j in 0..self.inner {
            gradient.fill(0.0);
            for i in 0..private.records() {
                private.scores(rows, i, &x, &mut scores);
                loss.derivative(&scores, private.target(i), &mut slopes);
                slopes.iter_mut().for_each(finite);
                let norm = private.norm_above(i);
                let size = norm_above(slopes.iter().map(|s| s * s).sum(), outputs) * norm;
                let fits = norm <= self.row_norm * (1.0 + ROUNDING);
                let factor = if fits { weight * (self.record_clip / size).min(1.0) } else { 0.0 };
                slopes.iter_mut().for_each(|s| *s *= factor);
                let (whole, last) = gradient.split_at_mut(features);
                match &*slopes {
                    &[t] => rows.add(i, t, whole, |v| v),
                    many => rows.add_outer(i, many, whole, |v| v),
                }
                last.iter_mut().zip(&slopes).for_each(|(sum, t)| *sum += t * private.intercept());
            }
            let s = if beta.is_finite() {
                1.0 / (beta + 1.0 / self.step)
            } else {
                2.0 * self.step / (f64::from(j) + 2.0)
            };
            for ((x, g), v) in x.iter_mut().zip(&gradient).zip(v) {
                *x -= s * (g + (*x - v) / self.step);
            }
        }
        x.iter_mut().for_each(finite);
        x
    }

    /// How far the prox can move when one record is replaced, rounding included; ∞ where nothing is
    /// known and the clip of what is released must do.
    ///
    /// One record of `m`, one score, finite β: each step contracts by `1 − s/γ` and a replaced
    /// record adds `2sC/m`, so `2γC/m` however many steps. See proofs/local-prox.md.
    pub fn moves_at_most(
        &self,
        PrivateLoss { private, loss }: PrivateLoss<'_>,
        v: &[f64],
        z: &[f64],
    ) -> f64 {
        let beta = self.curvature(loss.smoothness());
        if loss.outputs() != 1 || !beta.is_finite() {
            return f64::INFINITY;
        }
        let m = private.records().max(1);
        let norm = |x: &[f64]| norm_above(x.iter().map(|x| x * x).sum(), x.len());
        let reach = 2.0 * norm(v) + norm(z) + self.step * self.record_clip;
        let rounding = self.rounding(beta, (v.len(), m), reach, residual_error(loss));
        2.0 * self.step * self.record_clip / m as f64 * (1.0 + ROUNDING) + 2.0 * rounding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::solver::RESIDUAL_ERROR;
    use reticent_data::{Dense, Rows, Table};
    use reticent_problem::losses;

    #[test]
    fn a_narrow_piece_is_bounded_with_its_targets() {
        let prox = ProxTerms { step: 2.0, inner: 1, record_clip: 1.0, row_norm: 0.5 };
        let smoothness = 1e9;
        let rounding = |residual| prox.rounding(prox.curvature(smoothness), (1, 1), 1e-9, residual);
        // A step of γ, a slope that is off by β₀ε, a row of norm R.
        assert!(rounding(0.0) < 2.0 * smoothness * 0.5 * f64::EPSILON);
        assert!(rounding(RESIDUAL_ERROR) >= 2.0 * smoothness * 0.5 * f64::EPSILON);
        let own = rounding(RESIDUAL_ERROR) - rounding(0.0);
        assert!(own >= 2.0 * smoothness * 0.5 * RESIDUAL_ERROR * (1.0 - 1e-9), "{own}");
    }

    fn moves(loss: &str, prox: &ProxTerms, v: &[f64], z: &[f64]) -> f64 {
        let rows = Dense { rows: 4, columns: 2, values: vec![0.25; 8] };
        let (rows, targets) = (Rows::Dense(rows), vec![1.0; 4]);
        let table =
            Table { rows, targets, users: None, weights: None, names: vec![String::new(); 2] };
        let loss = losses::parse(loss, None).unwrap();
        let private = &Private::by_record(table, 0.0).unwrap();
        prox.moves_at_most(PrivateLoss { private, loss: &*loss }, v, z)
    }

    /// The proof is about one score and a curvature: without either nothing is said of a record.
    #[test]
    fn without_one_score_and_a_curvature_nothing_is_known_of_a_record() {
        let prox = ProxTerms { step: 2.0, inner: 3, record_clip: 1.0, row_norm: 1.0 };
        assert_eq!(moves("hinge", &prox, &[0.0; 2], &[0.0; 2]), f64::INFINITY);
        assert_eq!(moves("multinomial:3", &prox, &[0.0; 6], &[0.0; 6]), f64::INFINITY);
        assert!(moves("logistic", &prox, &[0.0; 2], &[0.0; 2]).is_finite());
    }

    /// 2γC/m, and the rounding of iterates that are as long as 2‖v‖ + ‖z‖ + γC, with a curvature
    /// of rows whose norms are rounded up.
    #[test]
    fn what_a_record_moves_has_the_rounding_of_long_iterates_in_it() {
        let prox = ProxTerms { step: 2.0, inner: 3, record_clip: 1.5, row_norm: 0.5 };
        let beta = 0.25 * 0.25;
        assert!(prox.curvature(0.25) >= beta * (1.0 + 1.9e-9));
        let own = 2.0 * 2.0 * 1.5 / 4.0;
        for (v, z) in [(3e9, 0.0), (0.0, 4e9), (3e9, 4e9)] {
            let said = moves("logistic", &prox, &[v, 0.0], &[0.0, z]);
            let rounding = prox.rounding(beta, (2, 4), 2.0 * v + z + 3.0, 0.0);
            assert!(said >= own + 2.0 * rounding, "{said} {rounding}");
            assert!(said <= (own + 2.0 * rounding) * (1.0 + 1e-6), "{said} {rounding}");
        }
    }
}
