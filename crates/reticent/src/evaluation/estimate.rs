//! A figure that was computed from noisy answers, and how far it can be trusted.

use reticent_accountant::statistics::normal_quantile;
use serde::Serialize;

/// A figure of an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Estimate {
    /// The figure; nothing where the noise leaves nothing to say.
    pub value: Option<f64>,
    /// An interval for the same figure without noise, at the confidence of the evaluation: the noise and
    /// what the bins hide are in it, the sampling error is not.
    pub interval: [f64; 2],
    /// The standard deviation of the noise in the figure.
    pub noise: f64,
    /// By how much scores that are known by their bins alone may put the figure off.
    pub discretisation: f64,
    /// An interval for the figure of the population from which the records were drawn independently: the
    /// sampling error is in it as well. Nothing where it is not estimated.
    pub population: Option<[f64; 2]>,
}

/// What a figure may be.
pub(super) type Range = [f64; 2];

/// Shares, and areas under curves.
pub(super) const SHARE: Range = [0.0, 1.0];

impl Estimate {
    /// A figure with normal noise. `sampling` is the standard deviation of its sampling error.
    pub(super) fn new(
        value: f64,
        noise: f64,
        discretisation: f64,
        sampling: Option<f64>,
        (confidence, range): (f64, Range),
    ) -> Self {
        if !(value.is_finite() && noise.is_finite() && discretisation.is_finite()) {
            return Self::unknown(range);
        }
        let z = normal_quantile(0.5 + 0.5 * confidence);
        // Clamped before the interval is laid around it: noise that leaves the range would
        // otherwise shrink the interval to one end of it, as if nothing were in doubt. What is
        // in the range is never farther from the clamped value than from the noisy one.
        let value = value.clamp(range[0], range[1]);
        let around = |deviation: f64| {
            let off = z * deviation + discretisation;
            [value - off, value + off].map(|end| end.clamp(range[0], range[1]))
        };
        Estimate {
            value: Some(value),
            interval: around(noise),
            noise,
            discretisation,
            population: sampling.map(|sampling| around(noise.hypot(sampling))),
        }
    }

    /// Nothing can be said.
    pub(super) fn unknown(range: Range) -> Self {
        let (noise, discretisation) = (f64::INFINITY, 0.0);
        Estimate { value: None, interval: range, noise, discretisation, population: None }
    }

    /// The figure after a change of units that keeps the order.
    pub(super) fn map(self, read: impl Fn(f64) -> f64) -> Self {
        let value = self.value.map(&read);
        let slope = self.value.map_or(f64::NAN, |at| {
            let step = 1e-6 * at.abs().max(1e-6);
            (read(at + step) - read(at)) / step
        });
        Estimate {
            value,
            interval: self.interval.map(&read),
            noise: self.noise * slope,
            discretisation: self.discretisation * slope,
            population: self.population.map(|ends| ends.map(&read)),
        }
    }
}

/// The standard deviation of `figure` under independent normal noise on its arguments, to first
/// order: the slopes are taken over a tenth of the noise to each side.
pub(super) fn spread(
    at: &[f64],
    deviation: impl Fn(usize) -> f64,
    figure: impl Fn(&[f64]) -> f64,
) -> f64 {
    let mut moved = at.to_vec();
    let mut square = 0.0;
    for i in 0..at.len() {
        let step = 0.1 * deviation(i);
        moved[i] = at[i] + step;
        let above = figure(&moved);
        moved[i] = at[i] - step;
        let below = figure(&moved);
        moved[i] = at[i];
        square += ((above - below) / 0.2).powi(2);
    }
    square.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Noise took an accuracy of 1 above it once, and the interval was [1, 1].
    #[test]
    fn noise_beyond_the_range_leaves_an_interval() {
        for (value, end) in [(1.2, 1.0), (-0.3, 0.0)] {
            let found = Estimate::new(value, 0.02, 0.0, Some(0.01), (0.95, SHARE));
            let [low, high] = found.interval;
            assert!(low <= end && end <= high && high - low > 0.039, "{found:?}");
            assert_eq!(found.value, Some(end));
        }
    }

    #[test]
    fn noise_adds_up_in_squares_and_intervals_stay_in_range() {
        let sum = spread(&[1.0, 2.0], |i| [3.0, 4.0][i], |x| x[0] - x[1]);
        assert!((sum - 5.0).abs() < 1e-9);
        let accuracy = Estimate::new(0.98, 0.02, 0.0, Some(0.01), (0.95, SHARE));
        assert_eq!(accuracy.interval[1], 1.0);
        assert!((accuracy.interval[0] - 0.9408).abs() < 1e-4, "{accuracy:?}");
        assert!(accuracy.population.unwrap()[0] < accuracy.interval[0]);
        let nothing = Estimate::new(f64::NAN, 0.1, 0.0, None, (0.95, SHARE));
        assert_eq!((nothing.value, nothing.interval), (None, [0.0, 1.0]));
        let root = Estimate::new(4.0, 0.1, 0.0, None, (0.95, [0.0, 9.0])).map(f64::sqrt);
        assert!(root.value == Some(2.0) && (root.noise - 0.025).abs() < 1e-6, "{root:?}");
    }
}
