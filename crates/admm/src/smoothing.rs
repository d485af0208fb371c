//! Laplacian smoothing of a noisy gradient (LS22, Algorithms 1 and 2).
//!
//! ```text
//! Q_ν = I − ν L,   L the periodic 1-D Laplacian:  (L a)_j = a_{j−1} − 2 a_j + a_{j+1},  indices modulo d
//!
//! Q_ν⁻¹ a = ifft( fft(a)_i / (1 + 2ν − 2ν cos(2πi/d)) )
//! ```
//!
//! Neighbouring entries are averaged and the sum of the entries is kept. Independent noise `u`
//! enters the utility bound as `E[uᵀQ_ν⁻¹u] = τ·E[uᵀu]` with
//! `τ = (1/d) Σ_i 1/(1 + 2ν − 2ν cos(2πi/d))`, which tends to `1/√(4ν + 1)` (LS22, Theorem 3 and
//! Remark 1). Smoothing is applied to what has been released, so it costs no privacy; whether it
//! helps depends on whether neighbouring features have to do with each other.
//!
//! `Q_ν` has eigenvalues from 1 to `‖Q_ν‖₂ ≤ 1 + 4ν`, so smoothing never makes a vector longer. The
//! cyclic tridiagonal solve would do as well; the transform is the form of the paper and as exact.

use std::fmt;
use std::sync::Arc;

use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};

use reticent_oracle::Refused;

/// `Q_ν⁻¹` for vectors of one length, with room to work in.
pub struct Smoothing {
    nu: f64,
    length: usize,
    /// Nothing to do when this is absent.
    transform: Option<Transform>,
}

struct Transform {
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    /// `1/(d·eigenvalue)`: the transform there and back multiplies by d.
    factors: Vec<f64>,
    spectrum: Vec<Complex<f64>>,
    scratch: Vec<Complex<f64>>,
}

impl Smoothing {
    /// LS22's strength of smoothing, for the published versions.
    pub const LS22: f64 = 2.0;

    /// What there is unless it is asked for: smoothing replaces each entry of a gradient by an
    /// average with the columns beside it, which have nothing to do with it unless the columns are
    /// in an order that means something (time, frequency, place). In a table of attributes it keeps
    /// the model from telling a column from its neighbours.
    pub const NONE: f64 = 0.0;

    /// Smoothing of strength `nu ≥ 0` for vectors of this length; `nu = 0` leaves them alone to the
    /// bit.
    pub fn new(nu: f64, length: usize) -> Result<Self, Refused> {
        if !(nu.is_finite() && nu >= 0.0) {
            return Err(Refused {
                name: "smoothing",
                given: nu.to_string(),
                allowed: "a finite number of at least 0 is needed; 0 is no smoothing".to_owned(),
            });
        }
        // A vector of one entry has only the constant part, which smoothing keeps.
        let transform = (nu > 0.0 && length > 1).then(|| {
            let mut planner = RealFftPlanner::new();
            let (forward, inverse) =
                (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
            Transform {
                factors: (0..=length / 2)
                    .map(|i| 1.0 / (length as f64 * eigenvalue(nu, i, length)))
                    .collect(),
                spectrum: forward.make_output_vec(),
                scratch: vec![
                    Complex::default();
                    forward.get_scratch_len().max(inverse.get_scratch_len())
                ],
                forward,
                inverse,
            }
        });
        Ok(Self { nu, length, transform })
    }

    /// The strength ν.
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// `a ← Q_ν⁻¹ a`, in place.
    ///
    /// # Panics
    /// If `a` has another length than the operator.
    pub fn apply(&mut self, a: &mut [f64]) {
        assert_eq!(a.len(), self.length, "smoothing is for vectors of length {}", self.length);
        let Some(t) = &mut self.transform else {
            return;
        };
        let lengths = "the plan made the buffers, so that their lengths fit";
        t.forward.process_with_scratch(a, &mut t.spectrum, &mut t.scratch).expect(lengths);
        for (s, f) in t.spectrum.iter_mut().zip(&t.factors) {
            *s *= f;
        }
        // Real by symmetry; said again because a gradient with ∞ in it makes them NaN, which the
        // inverse would call an error.
        t.spectrum[0].im = 0.0;
        if self.length.is_multiple_of(2) {
            t.spectrum[self.length / 2].im = 0.0;
        }
        t.inverse.process_with_scratch(&mut t.spectrum, a, &mut t.scratch).expect(lengths);
    }

    /// `‖Q_ν‖₂`, the largest eigenvalue, which the step size of the strongly convex case needs.
    pub fn norm(&self) -> f64 {
        eigenvalue(self.nu, self.length / 2, self.length.max(1))
    }

    /// `τ`, the mean of the eigenvalues of `Q_ν⁻¹` (LS22, Theorem 3): the share of the noise in the
    /// utility bound that smoothing leaves.
    pub fn tau(&self) -> f64 {
        let n = self.length.max(1);
        (0..n).map(|i| 1.0 / eigenvalue(self.nu, i, n)).sum::<f64>() / n as f64
    }
}

impl fmt::Debug for Smoothing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Smoothing").field("nu", &self.nu).field("length", &self.length).finish()
    }
}

/// `1 + 2ν − 2ν cos(2πi/d)`, written with a square so that nothing cancels for small angles.
fn eigenvalue(nu: f64, i: usize, length: usize) -> f64 {
    let half = (std::f64::consts::PI * i as f64 / length as f64).sin();
    1.0 + 4.0 * nu * half * half
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(length: usize) -> Vec<f64> {
        (0..length).map(|i| ((i * i + 1) as f64 * 0.731).sin() * 3.0 + 0.2).collect()
    }

    /// `Q_ν` from its definition.
    fn q(nu: f64, d: usize) -> Vec<Vec<f64>> {
        let mut q = vec![vec![0.0; d]; d];
        for (j, row) in q.iter_mut().enumerate() {
            row[j] += 1.0 + 2.0 * nu;
            row[(j + 1) % d] -= nu;
            row[(j + d - 1) % d] -= nu;
        }
        q
    }

    /// Gaussian elimination with pivoting.
    fn solve(mut q: Vec<Vec<f64>>, mut a: Vec<f64>) -> Vec<f64> {
        let d = a.len();
        for c in 0..d {
            let pivot = (c..d).max_by(|i, j| q[*i][c].abs().total_cmp(&q[*j][c].abs())).unwrap();
            q.swap(c, pivot);
            a.swap(c, pivot);
            let top = q[c].clone();
            for r in c + 1..d {
                let factor = q[r][c] / top[c];
                q[r].iter_mut().zip(&top).for_each(|(q, t)| *q -= factor * t);
                a[r] -= factor * a[c];
            }
        }
        for c in (0..d).rev() {
            a[c] = (a[c] - (c + 1..d).map(|k| q[c][k] * a[k]).sum::<f64>()) / q[c][c];
        }
        a
    }

    const LENGTHS: [usize; 14] = [1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 60, 97, 100, 128];
    const STRENGTHS: [f64; 5] = [1e-9, 0.1, 2.0, 10.0, 1000.0];

    #[test]
    fn equals_the_dense_inverse() {
        for d in LENGTHS {
            for nu in STRENGTHS {
                let mut a = vector(d);
                let expected = solve(q(nu, d), a.clone());
                Smoothing::new(nu, d).unwrap().apply(&mut a);
                for (a, e) in a.iter().zip(&expected) {
                    assert!((a - e).abs() < 1e-12, "d = {d}, ν = {nu}: {a} {e}");
                }
            }
        }
    }

    #[test]
    fn undoes_the_operator_for_long_vectors() {
        for d in [1009, 4096, 10_007] {
            let a = vector(d);
            let mut s = a.clone();
            Smoothing::new(2.0, d).unwrap().apply(&mut s);
            for j in 0..d {
                let back = 5.0 * s[j] - 2.0 * (s[(j + 1) % d] + s[(j + d - 1) % d]);
                assert!((back - a[j]).abs() < 1e-12, "d = {d}");
            }
        }
    }

    #[test]
    fn nothing_happens_for_nu_zero_or_one_entry() {
        for d in LENGTHS {
            let a: Vec<f64> = vector(d).into_iter().map(|v| v * 1e-7 + 0.1).collect();
            let mut s = a.clone();
            Smoothing::new(0.0, d).unwrap().apply(&mut s);
            assert!(s.iter().zip(&a).all(|(s, a)| s.to_bits() == a.to_bits()));
        }
        let mut one = [0.3];
        Smoothing::new(5.0, 1).unwrap().apply(&mut one);
        assert_eq!(one, [0.3]);
        Smoothing::new(5.0, 0).unwrap().apply(&mut []);
    }

    #[test]
    fn keeps_the_sum_and_never_lengthens() {
        for d in LENGTHS {
            for nu in STRENGTHS {
                let a = vector(d);
                let mut s = a.clone();
                let mut smoothing = Smoothing::new(nu, d).unwrap();
                smoothing.apply(&mut s);
                let (before, after): (f64, f64) = (a.iter().sum(), s.iter().sum());
                assert!((before - after).abs() < 1e-11, "{before} {after}");
                let length = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
                assert!(length(&s) <= length(&a) * (1.0 + 1e-14));
                assert!(length(&s) * smoothing.norm() >= length(&a) * (1.0 - 1e-12));
                // The buffers carry nothing from one call to the next.
                let mut again = a.clone();
                smoothing.apply(&mut again);
                assert_eq!(s, again);
            }
        }
    }

    /// The mean of the eigenvalues is the mean of the diagonal of the inverse, which a unit vector
    /// shows.
    #[test]
    fn tau_and_norm_are_those_of_the_matrix() {
        for d in LENGTHS {
            for nu in [0.0, 0.5, 2.0, 10.0] {
                let mut unit = vec![0.0; d];
                unit[0] = 1.0;
                let mut smoothing = Smoothing::new(nu, d).unwrap();
                smoothing.apply(&mut unit);
                assert!((smoothing.tau() - unit[0]).abs() < 1e-14, "d = {d}, ν = {nu}");
                let even = if d > 1 && d % 2 == 0 { 1.0 + 4.0 * nu } else { f64::NAN };
                assert!(even.is_nan() || (smoothing.norm() - even).abs() < 1e-12);
                assert!(smoothing.norm() <= 1.0 + 4.0 * nu);
            }
        }
        // LS22's closed form, Remark 1.
        for (nu, d) in [(0.5, 3), (2.0, 7), (10.0, 16)] {
            let root = f64::sqrt(4.0 * nu + 1.0);
            let p = ((2.0 * nu + 1.0 - root) / (2.0 * nu)).powi(d as i32);
            let expected = (1.0 + p) / ((1.0 - p) * root);
            assert!((Smoothing::new(nu, d).unwrap().tau() - expected).abs() < 1e-14);
        }
        let long = Smoothing::new(2.0, 10_000).unwrap();
        assert!((long.tau() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn broken_numbers_stay_broken_and_bad_strengths_are_refused() {
        for d in [2, 7, 8] {
            for bad in [f64::NAN, f64::INFINITY] {
                let mut a = vector(d);
                a[1] = bad;
                Smoothing::new(2.0, d).unwrap().apply(&mut a);
                assert!(a.iter().any(|a| !a.is_finite()));
            }
        }
        for nu in [-1.0, f64::NAN, f64::INFINITY] {
            assert!(Smoothing::new(nu, 4).is_err(), "{nu}");
        }
        assert_eq!(
            Smoothing::new(-1.0, 4).unwrap_err().to_string(),
            "smoothing = -1: a finite number of at least 0 is needed; 0 is no smoothing"
        );
    }
}
