//! Momentum: a point moved on by a part of its last change (Nesterov's extrapolation, with a
//! limit).
//!
//! ```text
//! u = v⁺ + β_k (v⁺ − v),   β_k = min( (k − 1)/(k + 2), β )
//! ```
//!
//! With a step of at most 1/L the method is stable for every β of at most 1, and k steps of it go
//! as far as about k²/4 steps without.

use reticent_oracle::Refused;

/// How far, in steps without momentum, so many steps with at most `most` of it go.
pub(crate) fn ahead(steps: f64, most: f64) -> f64 {
    (0.25 * steps * steps).max(steps).min(steps / (1.0 - most).max(1e-9))
}

/// The fewest steps that go so far: the inverse of [`ahead`].
pub(crate) fn needed(far: f64, most: f64) -> f64 {
    far.min(2.0 * far.sqrt()).max(far * (1.0 - most))
}

/// β and v.
#[derive(Clone, Debug)]
pub(crate) struct Momentum {
    most: f64,
    last: Vec<f64>,
}

impl Momentum {
    /// Starts at 0. No momentum unless it is given.
    pub fn new(given: Option<f64>, len: usize) -> Result<Self, Refused> {
        let most = given.unwrap_or(0.0);
        if (0.0..=1.0).contains(&most) {
            return Ok(Momentum { most, last: vec![0.0; len] });
        }
        Err(Refused::new("momentum", most, "a number from 0 to 1 is needed"))
    }

    /// β_k.
    fn at(&self, k: u64) -> f64 {
        ((k as f64 - 1.0) / (k as f64 + 2.0)).min(self.most)
    }

    /// `v⁺ = β_k v + (1 − β_k) g` in place of `g`: an average of the gradients so far in which late
    /// ones count more.
    pub fn average(&mut self, k: u64, g: &mut [f64]) {
        let beta = self.at(k);
        for (g, last) in g.iter_mut().zip(&mut self.last) {
            *last += (1.0 - beta) * (*g - *last);
            *g = *last;
        }
    }

    /// From `v⁺`, the iterate `k` (from 1), to the point to go on from, in place.
    pub fn add(&mut self, k: u64, v: &mut [f64]) {
        let beta = self.at(k);
        for (v, last) in v.iter_mut().zip(&mut self.last) {
            let now = *v;
            *v += beta * (now - *last);
            *last = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_are_needed_go_as_far_as_was_asked() {
        for most in [0.0, 0.7, 0.97] {
            for far in [0.3, 1.0, 3.0, 7.0, 100.0, 5e3, 1e6] {
                let back = ahead(needed(far, most), most);
                assert!((back / far - 1.0).abs() < 1e-9, "{most} {far}: {back}");
            }
        }
    }

    #[test]
    fn none_leaves_the_iterates_alone_to_the_bit() {
        let mut none = Momentum::new(None, 1).unwrap();
        for (k, v) in [(1, 0.3), (2, -0.7), (3, 1e300)] {
            let mut x = [v];
            none.add(k, &mut x);
            assert_eq!(x, [v]);
        }
    }

    #[test]
    fn an_average_is_of_all_that_came_before() {
        let of = |most| {
            let mut momentum = Momentum::new(Some(most), 1).unwrap();
            let mut last = 0.0;
            for (k, g) in [(1, 2.0), (2, 6.0), (3, -1.0)] {
                let mut g = [g];
                momentum.average(k, &mut g);
                last = g[0];
            }
            last
        };
        // 2, then 2/4 + 6·3/4 = 5, then 5·2/5 − 3/5.
        assert!((of(1.0) - 1.4_f64).abs() < 1e-15);
        assert_eq!(of(0.0), -1.0);
    }

    #[test]
    fn it_grows_up_to_its_limit() {
        let moved = |most, k| {
            let mut momentum = Momentum::new(Some(most), 1).unwrap();
            let mut x = [1.0];
            momentum.add(k, &mut x);
            x[0] - 1.0
        };
        assert_eq!(moved(1.0, 1), 0.0);
        assert!((moved(1.0, 4) - 0.5_f64).abs() < 1e-15);
        assert!((moved(0.9, 1000) - 0.9_f64).abs() < 1e-15);
        assert!(Momentum::new(Some(1.1), 1).is_err() && Momentum::new(Some(f64::NAN), 1).is_err());
    }
}
