//! λ_k of every iteration, each above 0 and at most 1.

use reticent_oracle::Refused;

use crate::settings::fraction;

/// A list of λ_k, checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Relaxations(Vec<f64>);

impl Relaxations {
    /// `λ_k = at(k)` for `k` from 1 to `iterations`.
    ///
    /// # Errors
    /// A λ_k that does not lie above 0 and at most at 1.
    pub fn new(iterations: u64, at: impl Fn(u64) -> f64) -> Result<Self, Refused> {
        (1..=iterations)
            .map(|k| fraction("relaxation", at(k)))
            .collect::<Result<_, _>>()
            .map(Relaxations)
    }

    /// The same λ in every iteration.
    ///
    /// # Errors
    /// A λ that does not lie above 0 and at most at 1.
    pub fn constant(iterations: u64, relaxation: f64) -> Result<Self, Refused> {
        Relaxations::new(iterations, |_| relaxation)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// λ of iteration `k`, from 1.
    pub(crate) fn at(&self, k: u64) -> f64 {
        self.0[k as usize - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_relaxation_is_a_fraction() {
        let halves = Relaxations::new(3, |k| 0.5_f64.powi(k as i32)).unwrap();
        assert_eq!((halves.at(1), halves.at(3), halves.len()), (0.5, 0.125, 3));
        assert!(Relaxations::constant(2, 1.0).is_ok());
        for wrong in [0.0, -0.1, 1.5, f64::NAN] {
            assert!(Relaxations::constant(2, wrong).is_err(), "{wrong}");
        }
        assert!(Relaxations::new(3, |k| 2.0 / k as f64).is_err(), "λ₁ is 2");
    }
}
