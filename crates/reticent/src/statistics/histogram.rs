//! Histograms of columns: one noisy answer for all of them. Categories are those of the schema,
//! numbers are parted by public edges. Proof: proofs/bin-counts.md.

use reticent_accountant::Adjacency;
use reticent_oracle::queries::{BinCounts, Bins};
use reticent_oracle::tables::Role;
use reticent_oracle::{Oracle, Refusal, Terms};
use serde::Serialize;

use super::column::{NumberColumn, Toward};
use super::{Columns, Statistics, Value};
use crate::certificate::Certificate;
use crate::error::Error;
use crate::job::Job;
use crate::procedure::{Asking, Question, RunFindings};

/// Bins of a column of numbers by default.
const BINS: usize = 10;

/// A checked job for histograms, made by [`Statistics::histogram`].
pub type HistogramJob = Job<Binning>;

/// The bins of columns of numbers; those of categories are in the schema.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Partition {
    /// Ten bins of equal width between the bounds.
    #[default]
    Usual,
    /// This number of bins of equal width between the bounds.
    Equal(usize),
    /// At these numbers, which increase between the bounds. The first bin begins at the lower bound,
    /// and the last one ends at the upper.
    At(Vec<f64>),
}

/// The question for histograms of columns.
#[derive(Debug)]
pub struct Binning {
    columns: Columns,
    of: Vec<Binned>,
    bins: Vec<Bins>,
}

/// One column, and what its bins are called.
#[derive(Debug)]
struct Binned {
    column: String,
    labels: Vec<Label>,
    missing: Option<Value>,
}

/// A category, the part of the range that a bin is, or neither where a record has no category.
type Label = (Option<String>, Option<[Value; 2]>);

/// The number of units in one bin.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BinCount {
    /// The category; of a bin that is for none of them, and of numbers, nothing.
    pub category: Option<String>,
    /// The numbers from which (included) and up to which (not included, but for the last bin) the
    /// bin goes.
    pub range: Option<[Value; 2]>,
    /// Records or users, with noise: it may be negative, and no whole number.
    pub count: f64,
    /// An interval for the number without noise, at the confidence of the job.
    pub interval: [f64; 2],
}

/// The histogram of one column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnHistogram {
    /// The name of the column.
    pub column: String,
    /// Its bins: categories in the order of the schema with one for none of them behind, or ranges.
    pub bins: Vec<BinCount>,
    /// The standard deviation of the noise of one bin.
    pub deviation: f64,
    /// The number that a missing one is counted as; of categories nothing.
    pub missing: Option<Value>,
}

/// Histograms of columns.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Histograms {
    /// Each column in the order of the question.
    pub columns: Vec<ColumnHistogram>,
    /// The number of units where it is public: the bins of each column add up to it.
    pub n: Option<u64>,
    /// The confidence of each interval.
    pub confidence: f64,
    /// The certificate.
    pub certificate: Certificate,
}

impl Statistics {
    /// Checks a job for the histograms of these columns: one answer for all of them.
    ///
    /// # Errors
    /// If something is missing or cannot be, such as edges outside the bounds.
    pub fn histogram<S: Into<String>>(
        self,
        columns: impl IntoIterator<Item = S>,
        partition: &Partition,
    ) -> Result<HistogramJob, Error> {
        let names: Vec<String> = columns.into_iter().map(Into::into).collect();
        let columns = self.check("histogram", &names, false)?;
        let numbers = names.iter().filter(|name| columns.number(name).is_some()).count();
        match partition {
            Partition::At(_) if numbers != 1 => {
                let why = "edges are those of one column of numbers; ask about each one by itself";
                return Err(Error::value("edges", "given", why));
            }
            Partition::Equal(bins) if numbers == 0 || !(1..=1024).contains(bins) => {
                let why = "it must be from 1 to 1024, for a column of numbers";
                return Err(Error::value("bins", bins, why));
            }
            _ => {}
        }
        let parted = names.iter().map(|name| columns.parted(name, partition));
        let (of, bins) = parted.collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        Job::asking(Binning { columns, of, bins })
    }
}

impl Columns {
    fn parted(&self, name: &str, partition: &Partition) -> Result<(Binned, Bins), Error> {
        if let Some(column) = self.number(name) {
            let edges = edges(&column, partition)?;
            let labels = edges.windows(2).map(|pair| {
                let ends = [pair[0], pair[1]];
                (None, Some(ends.map(|end| column.value(end, Toward::Nearest))))
            });
            let labels = labels.collect();
            let inner = &edges[1..edges.len() - 1];
            let encoded = inner.iter().map(|&edge| column.numeric.encoded(edge)).collect();
            let bins = Bins::Edges { feature: column.feature, edges: encoded };
            let missing = Some(column.missing());
            return Ok((Binned { column: column.name, labels, missing }, bins));
        }
        let Some((place, Role::Categorical(categorical))) =
            self.schema.place_of(name).map(|(place, column)| (place, column.role()))
        else {
            return Err(Error::value("column", name, "it has neither numbers nor categories"));
        };
        let named = categorical.categories().names().map(|name| (Some(name.to_owned()), None));
        let labels = named.chain([(None, None)]).collect();
        let bins = Bins::Categories { first: place.start, len: place.len() };
        Ok((Binned { column: name.to_owned(), labels, missing: None }, bins))
    }
}

/// The edges of the bins of a column, its bounds included.
fn edges(column: &NumberColumn, partition: &Partition) -> Result<Vec<f64>, Error> {
    let (lower, upper) = column.numeric.bounds();
    let mut edges = match partition {
        Partition::Usual => column.equal_steps(BINS),
        Partition::Equal(bins) => column.equal_steps(*bins),
        Partition::At(given) => {
            if let Some(edge) = given.iter().find(|edge| !(lower..=upper).contains(*edge)) {
                let why = format!("the bounds of {} are {lower} and {upper}", column.name);
                return Err(Error::value("edges", edge, why));
            }
            let inner = given.iter().filter(|edge| **edge > lower && **edge < upper);
            [lower].into_iter().chain(inner.copied()).chain([upper]).collect()
        }
    };
    if column.days {
        // A bin of days is one of whole days.
        edges.iter_mut().for_each(|edge| *edge = edge.round());
        edges.dedup();
    }
    match edges.windows(2).all(|pair| pair[0] < pair[1]) {
        true => Ok(edges),
        false => Err(Error::value("edges", "given", "they must increase")),
    }
}

impl Binning {
    fn query(&self, noise_multiplier: f64) -> BinCounts<'_> {
        BinCounts { of: &self.bins, noise_multiplier }
    }

    fn one(
        &self,
        binned: &Binned,
        counts: &[f64],
        deviation: f64,
        n: Option<u64>,
    ) -> ColumnHistogram {
        let bins = counts.len() as f64;
        // All are in some bin: where their number is known, what is missing to it is noise.
        let lacking = n.map_or(0.0, |n| (n as f64 - counts.iter().sum::<f64>()) / bins);
        let deviation = deviation * n.map_or(1.0, |_| (1.0 - 1.0 / bins).sqrt());
        let reach = self.columns.reach(1.0) * deviation * (1.0 + 1e-9);
        let most = n.map_or(f64::INFINITY, |n| n as f64);
        let bin = |((category, range), count): (&Label, &f64)| {
            let count = count + lacking;
            // Around a count that can be: noise below 0 would leave [0, 0], which doubts nothing.
            let near = count.clamp(0.0, most);
            let interval = [near - reach, near + reach].map(|end| end.clamp(0.0, most));
            BinCount { category: category.clone(), range: range.clone(), count, interval }
        };
        ColumnHistogram {
            column: binned.column.clone(),
            bins: binned.labels.iter().zip(counts).map(bin).collect(),
            deviation,
            missing: binned.missing.clone(),
        }
    }
}

impl Question for Binning {
    const NAME: &'static str = "histogram";
    of_columns!(Histograms);

    fn ask(&self, oracle: &mut dyn Oracle, noise: &Asking<()>) -> Result<Vec<f64>, Refusal> {
        Ok(oracle.ask(&self.query(noise.multiplier))?.into_inner())
    }

    fn read(&self, found: RunFindings<'_, Asking<()>, Vec<f64>>) -> Histograms {
        let RunFindings { answer, noise, terms, certificate, .. } = found;
        let deviation = self.query(noise.multiplier).deviation(&terms);
        let public = terms.adjacency() == Adjacency::ReplaceOne;
        let n = public.then(|| terms.population());
        let mut rest = &answer[..];
        let columns = self.of.iter().map(|binned| {
            let (own, behind) = rest.split_at(binned.labels.len());
            rest = behind;
            self.one(binned, own, deviation, n)
        });
        let columns = columns.collect();
        Histograms { columns, n, confidence: self.columns.confidence, certificate }
    }
}
