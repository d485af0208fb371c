//! Means over seeds, and what they are worth.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// The coverage of every interval that a verdict rests on.
pub const LEVEL: f64 = 0.95;

/// A mean over runs, with its standard deviation and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleMean {
    /// The mean.
    pub value: f64,
    /// The standard deviation of one run; NaN for one run.
    pub deviation: f64,
    /// The standard error of the mean; NaN for one run.
    pub error: f64,
    /// How many runs.
    pub runs: usize,
}

impl SampleMean {
    /// The mean of these.
    pub fn of(values: &[f64]) -> Self {
        let runs = values.len();
        let value = values.iter().sum::<f64>() / runs as f64;
        let squares: f64 = values.iter().map(|v| (v - value).powi(2)).sum();
        let deviation = if runs > 1 { (squares / (runs - 1) as f64).sqrt() } else { f64::NAN };
        SampleMean { value, deviation, error: deviation / (runs as f64).sqrt(), runs }
    }

    /// In words: `0.0123 ± 0.0004`, with the standard deviation of one run.
    pub fn words(&self) -> String {
        if self.deviation.is_nan() {
            format!("{} (one run)", number(self.value))
        } else {
            format!("{} ± {}", number(self.value), number(self.deviation))
        }
    }
}

/// A number as it is written in a verdict: four decimals, or three digits where these show nothing.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1e6 || (size > 0.0 && size < 1e-3) {
        format!("{value:.2e}")
    } else {
        format!("{value:.4}")
    }
}

/// Student's t-interval for the mean of independent observations of a normal law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end; NaN for fewer than two observations.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// The interval of these with coverage [`LEVEL`].
    pub fn of(values: &[f64]) -> Self {
        let SampleMean { value, error, runs, .. } = SampleMean::of(values);
        if runs < 2 {
            return Interval { low: f64::NAN, high: f64::NAN };
        }
        let reach = student(runs - 1, LEVEL) * error;
        Interval { low: value - reach, high: value + reach }
    }

    /// In words: `[0.0123, 0.0456]`.
    pub(crate) fn words(&self) -> String {
        format!("[{}, {}]", number(self.low), number(self.high))
    }
}

/// The t with P(|T| ≤ t) = `level` for Student's law with so many degrees of freedom, by bisection
/// in θ = arctan(t/√ν), where the probability is a finite sum.
pub(crate) fn student(freedom: usize, level: f64) -> f64 {
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if within(freedom, middle) < level { low = middle } else { high = middle }
    }
    (freedom as f64).sqrt() * high.tan()
}

/// P(|T| ≤ √ν tan θ) for a whole ν (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn within(freedom: usize, theta: f64) -> f64 {
    let (sin, cos) = theta.sin_cos();
    let odd = freedom % 2 == 1;
    let (mut term, mut sum) = (if odd { cos } else { 1.0 }, 0.0);
    // The powers of cos θ up to ν − 2, of the parity of ν.
    let mut power = freedom % 2;
    while power + 2 <= freedom {
        sum += term;
        term *= cos * cos * (power + 1) as f64 / (power + 2) as f64;
        power += 2;
    }
    if odd { FRAC_2_PI * (theta + sin * sum) } else { sin * sum }
}

/// The slope of the straight line through these points that has the least squares.
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let over: f64 = points.iter().map(|(a, b)| (a - x) * (b - y)).sum();
    over / points.iter().map(|(a, _)| (a - x).powi(2)).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn means_know_their_deviation_and_their_error() {
        let mean = SampleMean::of(&[1.0, 2.0, 3.0]);
        assert_eq!((mean.value, mean.deviation, mean.runs), (2.0, 1.0, 3));
        assert!((mean.error - (1.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!(SampleMean::of(&[4.0]).error.is_nan());
        assert_eq!(SampleMean::of(&[4.0]).words(), "4.0000 (one run)");
        assert_eq!(SampleMean::of(&[1e-5, 3e-5]).words(), "2.00e-5 ± 1.41e-5");
    }

    /// Fisher's table, two-sided, to all its digits and some more.
    #[test]
    fn quantiles_of_student_are_those_of_the_table() {
        for (freedom, level, expected) in [
            (1, 0.95, 12.706_204_736),
            (2, 0.95, 4.302_652_730),
            (3, 0.95, 3.182_446_305),
            (4, 0.95, 2.776_445_105),
            (9, 0.95, 2.262_157_163),
            (19, 0.95, 2.093_024_054),
            (30, 0.95, 2.042_272_456),
            (1_000, 0.95, 1.962_339_081),
            (1, 0.5, 1.0),
            (4, 0.99, 4.604_094_871),
            (9, 0.999, 4.780_912_586),
        ] {
            let found = student(freedom, level);
            assert!((found / expected - 1.0).abs() < 1e-8, "{freedom} {level}: {found}");
        }
    }

    #[test]
    fn an_interval_is_that_of_the_textbook() {
        // Mean 3, s² = 2.5, t(4) = 2.776: 3 ± 1.963.
        let Interval { low, high } = Interval::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((low - 1.036_756_839).abs() < 1e-8 && (high - 4.963_243_161).abs() < 1e-8);
        assert!(Interval::of(&[1.0]).low.is_nan());
    }

    /// Of 4,000 samples of 5 the number that miss their mean is binomial with p = 0.05: more than
    /// 4.4 standard deviations off is once in 100,000.
    #[test]
    fn intervals_cover_as_often_as_they_say() {
        let mut random = Random::new(7, 95);
        let runs = 4_000;
        let missed = (0..runs)
            .filter(|_| {
                let sample: Vec<f64> = (0..5).map(|_| 2.0 + 3.0 * random.normal()).collect();
                let Interval { low, high } = Interval::of(&sample);
                !(low..=high).contains(&2.0)
            })
            .count() as f64;
        let (expected, deviation) = (200.0, (f64::from(runs) * 0.05 * 0.95).sqrt());
        assert!((missed - expected).abs() < 4.4 * deviation, "{missed} of {runs} missed");
    }

    #[test]
    fn a_line_has_its_slope() {
        assert!((slope(&[(0.0, 1.0), (1.0, -1.0), (2.0, -3.0)]) + 2.0).abs() < 1e-12);
    }
}
