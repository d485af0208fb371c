//! A public or simulated table in memory, from which metrics are computed freely.

use std::sync::OnceLock;

use reticent::Graph;
use reticent::problem::Edge;
use reticent::tables::Dataset;
use sha2::{Digest, Sha256};

use crate::error::ExperimentError;
use crate::random::Random;
use crate::store::ModelStore;

/// Rows in compressed form, of norm 1 at most, and their targets.
#[derive(Clone, Debug, Default)]
pub struct RowTable {
    /// How many features there are.
    pub columns: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
    /// −1 or +1 where there are two classes, else a number within ±1.
    pub targets: Vec<f64>,
    /// Whether the targets are classes.
    pub classes: bool,
    /// Where models of it are kept.
    store: Option<ModelStore>,
    digest: OnceLock<String>,
}

impl RowTable {
    /// A table without rows.
    pub fn new(columns: usize, classes: bool) -> Self {
        RowTable { columns, classes, starts: vec![0], ..RowTable::default() }
    }

    /// Adds a row, shortened to norm 1 if it is longer.
    pub fn push(&mut self, row: impl IntoIterator<Item = (u32, f64)>, target: f64) {
        let start = self.values.len();
        for (index, value) in row {
            if value != 0.0 {
                self.indices.push(index);
                self.values.push(value);
            }
        }
        let norm = self.values[start..].iter().map(|v| v * v).sum::<f64>().sqrt();
        if norm > 1.0 {
            self.values[start..].iter_mut().for_each(|v| *v /= norm);
        }
        self.starts.push(self.values.len());
        self.targets.push(target);
        self.digest = OnceLock::new();
    }

    /// Its models, and those of its parts, are kept here.
    #[must_use]
    pub(crate) fn kept_in(self, store: Option<&ModelStore>) -> Self {
        RowTable { store: store.cloned(), ..self }
    }

    /// Where its models are kept.
    pub(crate) fn store(&self) -> Option<&ModelStore> {
        self.store.as_ref()
    }

    /// A digest of its rows and targets, for models that are kept.
    pub(crate) fn digest(&self) -> &str {
        self.digest.get_or_init(|| {
            let mut sum = Sha256::new();
            sum.update(format!("{} {} {}", self.columns, self.len(), self.classes));
            self.starts.iter().for_each(|start| sum.update((*start as u64).to_le_bytes()));
            self.indices.iter().for_each(|index| sum.update(index.to_le_bytes()));
            let numbers = self.values.iter().chain(&self.targets);
            numbers.for_each(|value| sum.update(value.to_bits().to_le_bytes()));
            sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
        })
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// The features of a row that are not 0.
    pub fn row(&self, i: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        self.indices[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// These rows of it.
    pub fn take(&self, rows: &[usize]) -> RowTable {
        let mut taken = RowTable::new(self.columns, self.classes).kept_in(self.store());
        rows.iter().for_each(|&i| taken.push(self.row(i), self.targets[i]));
        taken
    }

    /// A share of the rows to train on and the rest to test on, other ones for each seed.
    pub fn split(&self, train: f64, seed: u64) -> (RowTable, RowTable) {
        let order = Random::new(seed, 77).shuffled(self.len());
        let (train, test) = order.split_at((self.len() as f64 * train) as usize);
        (self.take(train), self.take(test))
    }

    /// The rows cut at random into so many parts, of sizes that differ by one at most: for each
    /// part, the rest to train on and the part to test on. Other cuts for each seed.
    pub fn folds(
        &self,
        parts: usize,
        seed: u64,
    ) -> impl Iterator<Item = (RowTable, RowTable)> + '_ {
        let (order, n) = (Random::new(seed, 79).shuffled(self.len()), self.len());
        (0..parts).map(move |part| {
            let (from, to) = (part * n / parts, (part + 1) * n / parts);
            let train: Vec<usize> = [&order[..from], &order[to..]].concat();
            (self.take(&train), self.take(&order[from..to]))
        })
    }

    /// At most so many rows, chosen at random.
    pub fn at_most(self, rows: usize) -> RowTable {
        if self.len() <= rows {
            return self;
        }
        self.take(&Random::new(1, 78).shuffled(self.len())[..rows])
    }

    /// The score of a row under a model.
    pub fn score(&self, i: usize, x: &[f64]) -> f64 {
        self.row(i).map(|(j, value)| value * x[j as usize]).sum()
    }

    /// The share of rows whose class the model has right. A score of 0 is one of the first class, as
    /// it is for `predict`: a row without any feature has no other.
    pub fn accuracy(&self, x: &[f64]) -> f64 {
        let right = |i: &usize| (self.score(*i, x) > 0.0) == (self.targets[*i] > 0.0);
        (0..self.len()).filter(right).count() as f64 / self.len() as f64
    }

    /// The share of the larger class: the accuracy of who looks at nothing.
    pub fn majority(&self) -> f64 {
        let positive = self.targets.iter().filter(|target| **target > 0.0).count();
        positive.max(self.len() - positive) as f64 / self.len() as f64
    }

    /// The mean square of what the model is off by.
    pub fn mean_square(&self, x: &[f64]) -> f64 {
        let off = |i: usize| (self.score(i, x) - self.targets[i]).powi(2);
        (0..self.len()).map(off).sum::<f64>() / self.len() as f64
    }

    /// For a job.
    ///
    /// # Errors
    /// Never for a table that was made by [`RowTable::push`].
    pub fn dataset(&self) -> Result<Dataset<'_>, ExperimentError> {
        let rows = Dataset::csr(&self.starts, &self.indices, &self.values, self.columns)
            .map_err(reticent::Error::from)?;
        let dataset = if self.classes {
            let places = |target: &f64| u32::from(*target > 0.0);
            rows.with_targets(self.targets.iter().map(places).collect::<Vec<_>>())
        } else {
            rows.with_targets(&self.targets)
        };
        Ok(dataset.map_err(reticent::Error::from)?)
    }

    /// The graph of the pairs of features that go together most, as many edges as features. From
    /// rows that nothing is trained on it is public (docs/errata.md, E6).
    ///
    /// # Errors
    /// Never: edges are between features that there are.
    pub fn graph(&self) -> Result<Graph, ExperimentError> {
        let d = self.columns;
        let (mut moments, mut squares) = (vec![0.0; d * d], vec![0.0_f64; d]);
        for i in 0..self.len() {
            let row: Vec<(u32, f64)> = self.row(i).collect();
            for (k, &(a, value)) in row.iter().enumerate() {
                squares[a as usize] += value * value;
                for &(b, other) in &row[k + 1..] {
                    let (low, high) = (a.min(b) as usize, a.max(b) as usize);
                    moments[low * d + high] += value * other;
                }
            }
        }
        let mut pairs: Vec<(usize, usize, f64)> = Vec::new();
        for a in 0..d {
            for b in a + 1..d {
                let both = (squares[a] * squares[b]).sqrt();
                if moments[a * d + b] != 0.0 && both > 0.0 {
                    pairs.push((a, b, moments[a * d + b] / both));
                }
            }
        }
        pairs.sort_by(|one, other| other.2.abs().total_cmp(&one.2.abs()));
        pairs.truncate(d);
        let edge = |&(from, to, r): &(usize, usize, f64)| Edge { from, to, weight: r.signum() };
        let edges = pairs.iter().map(edge).collect();
        Ok(Graph::new(d, edges).map_err(reticent::Error::from)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_kept_and_metrics_are_right() {
        let mut table = RowTable::new(3, true);
        table.push([(0, 3.0), (2, 4.0)], 1.0);
        table.push([(1, 0.5)], -1.0);
        table.push([], -1.0);
        assert_eq!(table.row(0).collect::<Vec<_>>(), [(0, 0.6), (2, 0.8)]);
        // The row without features has a score of 0 and the first class.
        assert_eq!(table.accuracy(&[1.0, -1.0, 0.0]), 1.0);
        assert_eq!(table.accuracy(&[-1.0, 1.0, 0.0]), 1.0 / 3.0);
        assert_eq!(table.majority(), 2.0 / 3.0);
        let (train, test) = table.split(0.67, 5);
        assert_eq!((train.len(), test.len()), (2, 1));
        let folds: Vec<(RowTable, RowTable)> = table.folds(2, 1).collect();
        let sizes: Vec<_> = folds.iter().map(|(train, test)| (train.len(), test.len())).collect();
        assert_eq!(sizes, [(2, 1), (1, 2)]);
        let mut tested: Vec<f64> =
            folds.iter().flat_map(|(_, test)| test.targets.clone()).collect();
        tested.sort_by(f64::total_cmp);
        assert_eq!(tested, [-1.0, -1.0, 1.0], "every row is tested on once");
        assert_eq!(table.graph().unwrap().edges().len(), 1);
        assert_eq!(table.mean_square(&[0.0; 3]), 1.0);
    }

    #[test]
    fn another_row_is_another_digest() {
        let mut table = RowTable::new(2, true);
        table.push([(0, 0.5)], 1.0);
        let first = table.digest().to_owned();
        assert_eq!(table.clone().take(&[0]).digest(), first);
        table.push([(1, 0.5)], -1.0);
        assert_ne!(table.digest(), first);
        assert_ne!(table.digest(), table.take(&[1, 0]).digest());
    }
}
