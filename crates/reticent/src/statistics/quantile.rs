//! Quantiles of columns among equally spaced candidates between the bounds, by bisection on noisy
//! counts; a question for each quantile. Proof: proofs/quantile.md.

use reticent_oracle::queries::Quantile;
use reticent_oracle::{Oracle, RecordStatistic, Refusal, Terms};
use serde::Serialize;

use super::column::{NumberColumn, Toward};
use super::{Columns, Statistics, Value};
use crate::certificate::Certificate;
use crate::error::Error;
use crate::job::Job;
use crate::procedure::{Asking, Question, RunFindings};

/// Steps between the bounds by default: ten counts tell its ends apart.
const STEPS: usize = 1023;

/// The most steps between the bounds.
const MOST_STEPS: usize = 65_535;

/// The most quantiles of one job.
const MOST_QUANTILES: usize = 64;

/// A value that differs from a candidate by rounding alone is at it.
const NEAR: f64 = 1e-12;

/// A checked job for quantiles, made by [`Statistics::quantiles`].
pub type QuantileJob = Job<Ranking>;

/// The question for quantiles of columns.
#[derive(Debug)]
pub struct Ranking {
    columns: Columns,
    of: Vec<Ranked>,
    fractions: Vec<f64>,
}

/// One column with the possible answers, in its units and as the gate compares them.
#[derive(Debug)]
struct Ranked {
    column: NumberColumn,
    candidates: Vec<f64>,
    encoded: Vec<f64>,
}

/// One quantile of a column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct QuantileValue {
    /// Which one was asked for: 0.5 is the median.
    pub at: f64,
    /// The value, in the units of the column.
    pub value: Value,
    /// The value is a quantile of this table at a fraction between these two, up to the resolution,
    /// at the confidence of the job: what the noise leaves open.
    pub fractions: [f64; 2],
}

/// Quantiles of one column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnQuantiles {
    /// The name of the column.
    pub column: String,
    /// Its quantiles, by increasing fraction.
    pub quantiles: Vec<QuantileValue>,
    /// How far one possible answer is from the next (of days, in days).
    pub resolution: f64,
    /// The public bounds, which values outside count as.
    pub bounds: [Value; 2],
    /// The value that a missing one counts as.
    pub missing: Value,
}

/// Quantiles of columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Quantiles {
    /// Each column in the order of the question.
    pub columns: Vec<ColumnQuantiles>,
    /// The public number of units that fractions are of.
    pub n: u64,
    /// The confidence of all fractions of a column together.
    pub confidence: f64,
    /// The certificate.
    pub certificate: Certificate,
}

impl Statistics {
    /// Checks a job for these quantiles of each of these columns. Answers are `resolution` apart; by
    /// default the bounds are parted into 1023 steps. Under add-remove a public number of units is
    /// needed.
    ///
    /// # Errors
    /// If something is missing or cannot be, such as the quantile of categories.
    pub fn quantiles<S: Into<String>>(
        self,
        columns: impl IntoIterator<Item = S>,
        fractions: &[f64],
        resolution: Option<f64>,
    ) -> Result<QuantileJob, Error> {
        let names: Vec<String> = columns.into_iter().map(Into::into).collect();
        let columns = self.check("quantile", &names, true)?;
        let mut sorted = fractions.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        if let Some(fraction) = sorted.iter().find(|fraction| !(0.0..=1.0).contains(*fraction)) {
            return Err(Error::value("at", fraction, "it must be from 0 to 1; 0.5 is the median"));
        }
        if !(1..=MOST_QUANTILES).contains(&(sorted.len() * names.len())) {
            let why =
                format!("from 1 to {MOST_QUANTILES} quantiles are asked for, over all columns");
            return Err(Error::value("at", sorted.len() * names.len(), why));
        }
        let of = columns.numbers(&names)?.into_iter().map(|column| ranked(column, resolution));
        let of = of.collect::<Result<_, _>>()?;
        Job::asking(Ranking { columns, of, fractions: sorted })
    }
}

/// A column with its candidates.
fn ranked(column: NumberColumn, resolution: Option<f64>) -> Result<Ranked, Error> {
    let (lower, upper) = column.numeric.bounds();
    let usual = column.days.then(|| ((upper - lower) / STEPS as f64).ceil().max(1.0));
    let candidates = match resolution.or(usual) {
        None => column.equal_steps(STEPS),
        Some(step) => {
            let steps = ((upper - lower) / step - 1e-9).ceil();
            if !(step > 0.0 && (1.0..=MOST_STEPS as f64).contains(&steps)) {
                let least = (upper - lower) / MOST_STEPS as f64;
                let why = format!(
                    "it must be from {least} to {}, in the units of {}",
                    upper - lower,
                    column.name
                );
                return Err(Error::value("resolution", step, why));
            }
            let inner = (0..steps as usize).map(|i| lower + i as f64 * step);
            inner.chain([upper]).collect()
        }
    };
    let encoded = candidates.iter().map(|&x| column.numeric.encoded(x) + NEAR).collect();
    Ok(Ranked { column, candidates, encoded })
}

impl Ranked {
    fn query(&self, fraction: f64, noise_multiplier: f64) -> Quantile<'_> {
        let of = RecordStatistic::Feature(self.column.feature);
        Quantile { of, fraction, candidates: &self.encoded, noise_multiplier }
    }

    /// The candidate that was answered.
    fn decoded(&self, answer: f64) -> f64 {
        let at = self.encoded.partition_point(|candidate| *candidate < answer);
        self.candidates[at.min(self.candidates.len() - 1)]
    }

    fn resolution(&self) -> f64 {
        self.candidates[1] - self.candidates[0]
    }
}

impl Ranking {
    fn one(
        &self,
        ranked: &Ranked,
        answers: &[f64],
        multiplier: f64,
        terms: &Terms,
    ) -> ColumnQuantiles {
        // Of what a column is asked in one job, larger fractions have larger values.
        let mut values: Vec<f64> = answers.iter().map(|&answer| ranked.decoded(answer)).collect();
        values.sort_by(f64::total_cmp);
        let query = ranked.query(0.5, multiplier);
        let counts = f64::from(query.rounds()) * self.fractions.len() as f64;
        let off = self.columns.reach(counts) * query.deviation(terms) / terms.population() as f64;
        let off = off * (1.0 + 1e-9);
        let quantile = |(&at, &value): (&f64, &f64)| QuantileValue {
            at,
            value: ranked.column.value(value, Toward::Nearest),
            fractions: [at - off, at + off].map(|end| end.clamp(0.0, 1.0)),
        };
        ColumnQuantiles {
            column: ranked.column.name.clone(),
            quantiles: self.fractions.iter().zip(&values).map(quantile).collect(),
            resolution: ranked.resolution(),
            bounds: ranked.column.bounds(),
            missing: ranked.column.missing(),
        }
    }
}

impl Question for Ranking {
    const NAME: &'static str = "quantile";
    of_columns!(Quantiles);

    fn ask(&self, oracle: &mut dyn Oracle, noise: &Asking<()>) -> Result<Vec<f64>, Refusal> {
        let all = self.of.iter().flat_map(|ranked| {
            self.fractions.iter().map(|&fraction| ranked.query(fraction, noise.multiplier))
        });
        all.map(|query| oracle.ask(&query).map(|answer| *answer.get())).collect()
    }

    fn read(&self, found: RunFindings<'_, Asking<()>, Vec<f64>>) -> Quantiles {
        let RunFindings { answer, noise, terms, certificate, .. } = found;
        let columns = self.of.iter().zip(answer.chunks(self.fractions.len()));
        let columns = columns
            .map(|(ranked, answers)| self.one(ranked, answers, noise.multiplier, &terms))
            .collect();
        let (n, confidence) = (terms.population(), self.columns.confidence);
        Quantiles { columns, n, confidence, certificate }
    }
}
