//! What the runs of each point came to: mean and spread.

use std::collections::{BTreeMap, BTreeSet};

use super::grid::Sweep;
use super::journal::Finished;

/// A mean over runs.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunMean {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of one run; 0 of a single one.
    pub deviation: f64,
    /// The number of runs that have it.
    pub runs: usize,
}

impl RunMean {
    /// Of these numbers, those that are finite; `None` where none is.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().filter(|value| value.is_finite()).collect();
        let runs = values.len();
        if runs == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / runs as f64;
        let square: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if runs > 1 { (square / (runs - 1) as f64).sqrt() } else { 0.0 };
        Some(RunMean { mean, deviation, runs })
    }

    /// The standard error of the mean.
    pub fn error(&self) -> f64 {
        self.deviation / (self.runs as f64).sqrt()
    }
}

/// The results of the runs of one point.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The runs that are over, with a model.
    pub runs: usize,
    /// The runs that ended without a model.
    pub failed: usize,
    /// The metrics, by name.
    pub metrics: BTreeMap<String, RunMean>,
}

/// A summary for each point of the sweep, in order.
pub fn summary(sweep: &Sweep, finished: &BTreeMap<usize, Finished>) -> Vec<Summary> {
    let one = |point: usize| {
        let own: Vec<&Finished> = finished
            .values()
            .filter(|run| sweep.run(run.run).is_some_and(|(of, _)| of == point))
            .collect();
        let good: Vec<&&Finished> = own.iter().filter(|run| run.failed.is_none()).collect();
        let names: BTreeSet<&String> = good.iter().flat_map(|run| run.metrics.keys()).collect();
        let metric = |name: &&String| {
            let values = good.iter().filter_map(|run| run.metrics.get(*name).copied());
            RunMean::of(values).map(|mean| ((*name).clone(), mean))
        };
        let metrics = names.iter().filter_map(metric).collect();
        Summary { runs: good.len(), failed: own.len() - good.len(), metrics }
    };
    (0..sweep.points().len()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_its_spread_and_leaves_out_what_is_no_number() {
        let mean = RunMean::of([1.0, 3.0, f64::NAN]).unwrap();
        assert_eq!((mean.mean, mean.runs), (2.0, 2));
        assert!(
            (mean.deviation - 2.0_f64.sqrt()).abs() < 1e-15 && (mean.error() - 1.0).abs() < 1e-15
        );
        assert_eq!(RunMean::of([5.0]).unwrap().deviation, 0.0);
        assert_eq!(RunMean::of([]), None);
    }
}
