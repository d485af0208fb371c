//! `φ(w; b) = ln Σ_j e^{w_j} − w_b`, softmax regression over `k` classes. With `p = softmax(w)`:
//! `φ' = p − e_b`, `‖φ'‖ ≤ √2`; `φ'' = diag(p) − ppᵀ`, whose eigenvalues are at most ½ (Böhning
//! 1992).
//!
//! **Prox.** The answer obeys `w_j + t·p_j = v_j` with `v = s + t·e_b`, and `p_j = e^{w_j − L}` for
//! `L = ln Σ e^{w}`. So `x = t·p_j` solves `x + ln x = ln t + v_j − L`, an increasing function of
//! one number, and `L` is fixed by `Σ p_j = 1`, whose left side decreases in `L`. With
//! `v* = max v`, the largest `p` is 1 at `L = v* − t` and `1/k` at `L = v* − t/k + ln k`, so the
//! root lies between. Two nested roots with sure brackets; Newton's method on the `k` scores would
//! need a line search and has no such end.

use super::{Entry, Loss, LossTarget};
use crate::ParseError;
use crate::catalogue::{self, Fallback, Parameter, Range};
use crate::root::increasing_root;

const CLASSES: Parameter =
    Parameter { name: "classes", range: Range::Whole(2, 100_000), fallback: Fallback::Classes };

const NAME: &str = "multinomial";

/// The softmax loss over `k` classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multinomial {
    classes: usize,
}

pub(super) const ENTRY: Entry = Entry {
    name: NAME,
    parameters: &[CLASSES],
    about: "several classes; multinomial logistic regression (softmax), gives probabilities",
    build: |p| Ok(Box::new(Multinomial::new(p[0])?)),
};

impl Multinomial {
    /// The softmax loss over a whole number of classes, at least 2.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`], with the range, if a parameter is outside it.
    pub fn new(classes: f64) -> Result<Self, ParseError> {
        Ok(Self { classes: CLASSES.check(NAME, classes)? as usize })
    }
}

impl Loss for Multinomial {
    fn name(&self) -> &'static str {
        NAME
    }

    fn spec(&self) -> String {
        catalogue::spec(NAME, &[self.classes as f64])
    }

    fn target(&self) -> LossTarget {
        LossTarget::Classes(self.classes)
    }

    fn outputs(&self) -> usize {
        self.classes
    }

    fn value(&self, scores: &[f64], target: f64) -> f64 {
        let top = largest(scores);
        // The largest term is 1 and is left to ln_1p, so that a sure and right answer keeps its
        // tiny loss.
        let mut first = true;
        let rest: f64 = scores
            .iter()
            .filter(|w| !(**w == top && std::mem::take(&mut first)))
            .map(|w| (w - top).exp())
            .sum();
        rest.ln_1p() + (top - scores[target as usize])
    }

    fn derivative(&self, scores: &[f64], target: f64, out: &mut [f64]) {
        softmax(scores, out);
        let b = target as usize;
        // p_b − 1 = −Σ of the others, without the cancellation.
        out[b] = 0.0;
        out[b] = -out.iter().sum::<f64>();
    }

    fn curvature(&self, scores: &[f64], _target: f64, out: &mut [f64]) {
        let k = self.classes;
        let mut p = vec![0.0; k];
        softmax(scores, &mut p);
        for i in 0..k {
            let mut others = 0.0;
            for j in (0..k).filter(|j| *j != i) {
                out[i * k + j] = -p[i] * p[j];
                others += p[j];
            }
            out[i * k + i] = p[i] * others;
        }
    }

    fn prox(&self, scores: &[f64], target: f64, step: f64, out: &mut [f64]) {
        let b = target as usize;
        let k = self.classes as f64;
        out.copy_from_slice(scores);
        out[b] += step;
        // From here on v and L are measured from v*, so that their rounding does not depend on it.
        let top = largest(out);
        let log_step = step.ln();
        let share = |v: f64, l: f64| omega(log_step + (v - top) - l) / step;
        let l = increasing_root(-step, -step / k + k.ln(), |l| {
            let (mut value, mut slope) = (1.0, 0.0);
            for v in out.iter() {
                let p = share(*v, l);
                value -= p;
                slope += p / (1.0 + step * p);
            }
            (value, slope)
        });
        let mut others = 0.0;
        for j in (0..self.classes).filter(|j| *j != b) {
            let p = share(out[j], l);
            others += p;
            out[j] = scores[j] - step * p;
        }
        // t(1 − p_b), from the sum for the same reason as in the derivative.
        out[b] = scores[b] + step * others.min(1.0);
    }

    fn lipschitz(&self) -> f64 {
        std::f64::consts::SQRT_2
    }

    fn smoothness(&self) -> f64 {
        0.5
    }
}

fn largest(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn softmax(scores: &[f64], out: &mut [f64]) {
    let top = largest(scores);
    let mut sum = 0.0;
    for (o, w) in out.iter_mut().zip(scores) {
        *o = (w - top).exp();
        sum += *o;
    }
    for o in out {
        *o /= sum;
    }
}

/// The root `x > 0` of `x + ln x = y` (Wright's omega function), by Newton's method, which rises to
/// the root from below after the first step because the left side is concave.
fn omega(y: f64) -> f64 {
    // Below e^{-40} the term x is lost in rounding, and ln of a subnormal x would mislead Newton.
    if y < -40.0 {
        return y.exp();
    }
    let mut x = if y > 1.0 { y - y.ln() } else { y.exp() / (1.0 + y.exp()) };
    for _ in 0..16 {
        let change = x * (y - x - x.ln()) / (1.0 + x);
        x += change;
        if change.abs() <= f64::EPSILON * x {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omega_solves_its_equation() {
        assert!((omega(1.0) - 1.0).abs() < 1e-15);
        assert!((omega(0.0) - 0.567_143_290_409_783_8).abs() < 1e-15);
        for i in -700..2000 {
            let y = f64::from(i);
            let x = omega(y);
            assert!(
                (x + x.ln() - y).abs() <= 4.0 * f64::EPSILON * y.abs().max(1.0),
                "y = {y}, x = {x}"
            );
        }
        assert_eq!(omega(-1e4), 0.0);
    }

    #[test]
    fn sure_answers_keep_their_tiny_loss() {
        let loss = Multinomial::new(3.0).unwrap();
        let value = loss.value(&[50.0, 0.0, 0.0], 0.0);
        assert!((value / (2.0 * (-50f64).exp()) - 1.0).abs() < 1e-12);
        let mut g = [0.0; 3];
        loss.derivative(&[50.0, 0.0, 0.0], 0.0, &mut g);
        assert!((g[0] / (-2.0 * (-50f64).exp()) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn two_classes_are_the_logistic_loss_of_the_difference() {
        let (two, logistic) = (Multinomial::new(2.0).unwrap(), super::super::Logistic);
        for s in [-30.0, -1.0, 0.0, 0.5, 40.0] {
            let (a, b) = (two.value(&[s / 2.0, -s / 2.0], 0.0), logistic.value(&[s], 1.0));
            assert!((a - b).abs() <= 1e-14 * b.max(1.0), "{s}: {a} {b}");
        }
    }
}
