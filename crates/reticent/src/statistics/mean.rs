//! Means of columns: one noisy answer for all of them, over a number of units that is public, or
//! over one that was counted with them. Proof: proofs/mean.md.

use reticent_accountant::Adjacency;
use reticent_oracle::queries::ColumnSums;
use reticent_oracle::{Oracle, Refusal, Terms};
use serde::Serialize;

use super::column::{NumberColumn, Toward};
use super::{Columns, Statistics, Value};
use crate::certificate::Certificate;
use crate::error::Error;
use crate::job::Job;
use crate::procedure::{Asking, Question, RunFindings};

/// A checked job for means, made by [`Statistics::mean`].
pub type MeanJob = Job<Averaging>;

/// The question for means of columns.
#[derive(Debug)]
pub struct Averaging {
    columns: Columns,
    of: Vec<NumberColumn>,
    features: Vec<usize>,
    /// Whether units are counted with the sums, because their number is private and none is given.
    counted: bool,
}

/// The divisor of sums: the true number of units, a given one, or one with noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Divisor {
    /// The true number of units, public under replace-one.
    Exact,
    /// The public number that was given.
    Given,
    /// The number of units with noise, from the same answer.
    Noisy,
}

/// The mean of one column, in its units.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnMean {
    /// The name of the column.
    pub column: String,
    /// The mean, cut to the bounds; nothing where the noise leaves nothing to say.
    pub value: Option<Value>,
    /// An interval for the mean of this table without noise, at the confidence of the job.
    pub interval: [Value; 2],
    /// The standard deviation of the noise in the mean (of days, in days); nothing where the mean is.
    pub deviation: Option<f64>,
    /// The public bounds, which values outside count as.
    pub bounds: [Value; 2],
    /// The value that a missing one counts as.
    pub missing: Value,
}

/// Means of columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnMeans {
    /// Each column in the order of the question.
    pub columns: Vec<ColumnMean>,
    /// The divisor of the sums.
    pub n: f64,
    /// The origin of the divisor.
    pub n_is: Divisor,
    /// The confidence of each interval.
    pub confidence: f64,
    /// The certificate.
    pub certificate: Certificate,
}

impl Statistics {
    /// Checks a job for the means of these columns: one answer for all of them. Under add-remove
    /// without a public number of units they are counted in the same answer.
    ///
    /// # Errors
    /// If something is missing or cannot be, such as the mean of categories.
    pub fn mean<S: Into<String>>(
        self,
        columns: impl IntoIterator<Item = S>,
    ) -> Result<MeanJob, Error> {
        let names: Vec<String> = columns.into_iter().map(Into::into).collect();
        let columns = self.check("mean", &names, false)?;
        let of = columns.numbers(&names)?;
        let features = of.iter().map(|column| column.feature).collect();
        let counted = columns.adjacency() == Adjacency::AddRemove && columns.given_n.is_none();
        Job::asking(Averaging { columns, of, features, counted })
    }
}

impl Averaging {
    fn query(&self, noise_multiplier: f64) -> ColumnSums<'_> {
        ColumnSums { features: &self.features, counted: self.counted, noise_multiplier }
    }

    fn one(&self, column: &NumberColumn, sum: f64, over: &Denominator) -> ColumnMean {
        let (lower, upper) = column.numeric.bounds();
        let ratio = over.ratio(sum);
        let decoded = |encoded: f64| column.decoded(encoded.clamp(-1.0, 1.0));
        ColumnMean {
            column: column.name.clone(),
            value: ratio.map(|(mean, _)| column.value(decoded(mean), Toward::Nearest)),
            interval: column.interval(over.interval(sum).map(decoded)),
            deviation: ratio.map(|(_, noise)| noise * (upper - lower) / 2.0),
            bounds: column.bounds(),
            missing: column.missing(),
        }
    }
}

/// What a sum is divided by, with the noise of both.
#[derive(Clone, Copy, Debug)]
struct Denominator {
    n: f64,
    /// Deviations of the noise of the sum and of `n`.
    noise: (f64, f64),
    /// How many deviations an interval reaches.
    reach: f64,
}

impl Denominator {
    /// Whether `n` is surely above 0.
    fn is_seen(&self) -> bool {
        self.n > self.reach * self.noise.1
    }

    /// The mean of encoded numbers, and the deviation of its noise to first order.
    fn ratio(&self, sum: f64) -> Option<(f64, f64)> {
        let mean = sum / self.n;
        let noise = self.noise.0.hypot(mean.clamp(-1.0, 1.0) * self.noise.1) / self.n;
        self.is_seen().then_some((mean, noise))
    }

    /// The θ with |sum − θn| at most `reach` times its deviation (proofs/mean.md), rounded outward.
    fn interval(&self, sum: f64) -> [f64; 2] {
        if !self.is_seen() {
            return [-1.0, 1.0];
        }
        let Denominator { n, noise: (of_sum, of_n), reach } = *self;
        // No θ of a mean is farther from the clamped sum, and without it noise beyond the bounds
        // would leave one end of them alone.
        let sum = sum.clamp(-n, n);
        let (a, b) = (n * n - (reach * of_n).powi(2), sum * n);
        let root = (b * b - a * (sum * sum - (reach * of_sum).powi(2))).max(0.0).sqrt();
        let off = 1e-9 * (root + b.abs());
        [(b - root - off) / a, (b + root + off) / a]
    }
}

impl Question for Averaging {
    const NAME: &'static str = "mean";
    of_columns!(ColumnMeans);

    fn ask(&self, oracle: &mut dyn Oracle, noise: &Asking<()>) -> Result<Vec<f64>, Refusal> {
        Ok(oracle.ask(&self.query(noise.multiplier))?.into_inner())
    }

    fn read(&self, found: RunFindings<'_, Asking<()>, Vec<f64>>) -> ColumnMeans {
        let RunFindings { answer, noise, terms, certificate, .. } = found;
        let (sum, count) = self.query(noise.multiplier).deviations();
        let (n, n_is) = match (answer.get(self.of.len()), terms.adjacency()) {
            (Some(&count), _) => (count, Divisor::Noisy),
            (None, Adjacency::ReplaceOne) => (terms.population() as f64, Divisor::Exact),
            (None, Adjacency::AddRemove) => (terms.population() as f64, Divisor::Given),
        };
        let noise = (sum, if self.counted { count } else { 0.0 });
        let over = Denominator { n, noise, reach: self.columns.reach(1.0) };
        let columns = self.of.iter().zip(&answer);
        let columns = columns.map(|(column, &sum)| self.one(column, sum, &over)).collect();
        ColumnMeans { columns, n, n_is, confidence: self.columns.confidence, certificate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_beyond_the_bounds_leaves_an_interval() {
        for noise in [(2.0, 0.0), (2.0, 3.0)] {
            let over = Denominator { n: 100.0, noise, reach: 1.96 };
            let ([low, high], [under, above]) = (over.interval(140.0), over.interval(-140.0));
            assert!(low < 0.97 && high >= 1.0 && under <= -1.0 && above > -0.97, "{low} {above}");
        }
    }

    /// Where the divisor is known, the interval is the normal one; where it is not, it holds for
    /// ratios at both ends, and says nothing where the count may be 0.
    #[test]
    fn intervals_of_ratios_are_those_of_fieller() {
        let known = Denominator { n: 100.0, noise: (2.0, 0.0), reach: 1.96 };
        let [from, to] = known.interval(50.0);
        assert!((from - 0.4608).abs() < 1e-6 && (to - 0.5392).abs() < 1e-6, "{from} {to}");
        let counted = Denominator { n: 100.0, noise: (2.0, 3.0), reach: 1.96 };
        let [from, to] = counted.interval(50.0);
        for end in [from, to] {
            let off = (50.0 - end * 100.0).abs() / 2_f64.hypot(3.0 * end);
            assert!((off - 1.96).abs() < 1e-5, "{end}: {off}");
        }
        let blind = Denominator { n: 5.0, noise: (2.0, 3.0), reach: 1.96 };
        assert_eq!((blind.interval(1.0), blind.ratio(1.0)), ([-1.0, 1.0], None));
    }
}
