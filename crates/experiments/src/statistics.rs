//! Means over seeds, and what they are worth.

/// A mean over runs with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean.
    pub value: f64,
    /// The standard error of it; NaN for one run.
    pub error: f64,
    /// How many runs.
    pub runs: usize,
}

impl Mean {
    /// The mean of these.
    pub fn of(values: &[f64]) -> Self {
        let runs = values.len();
        let value = values.iter().sum::<f64>() / runs as f64;
        let squares: f64 = values.iter().map(|v| (v - value).powi(2)).sum();
        let error = if runs > 1 { (squares / (runs * (runs - 1)) as f64).sqrt() } else { f64::NAN };
        Mean { value, error, runs }
    }

    /// In words: `0.0123 ± 0.0004`.
    pub fn words(&self) -> String {
        if self.error.is_nan() {
            format!("{:.4} (one run)", self.value)
        } else {
            format!("{:.4} ± {:.4}", self.value, self.error)
        }
    }
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

    #[test]
    fn means_know_their_error() {
        let mean = Mean::of(&[1.0, 2.0, 3.0]);
        assert_eq!((mean.value, mean.runs), (2.0, 3));
        assert!((mean.error - (1.0_f64 / 3.0).sqrt()).abs() < 1e-15);
        assert!(Mean::of(&[4.0]).error.is_nan());
        assert_eq!(Mean::of(&[4.0]).words(), "4.0000 (one run)");
    }

    #[test]
    fn a_line_has_its_slope() {
        assert!((slope(&[(0.0, 1.0), (1.0, -1.0), (2.0, -3.0)]) + 2.0).abs() < 1e-12);
    }
}
