//! A curve: for every x, a value of each seed.

use reticent_plot::PlotCurve;
use serde::{Deserialize, Serialize};

use crate::claim::Version;
use crate::statistics::SampleMean;

/// One curve: for every x, a value of each seed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    /// The method or the parameter that it is of.
    pub name: String,
    /// Which version of it.
    pub version: Version,
    /// The values at each x.
    pub points: Vec<(f64, Vec<f64>)>,
    /// Whether it is for comparison only.
    pub quiet: bool,
}

/// What is at the end of a name that says its version.
const VERSIONS: [(&str, Version); 2] =
    [(" (published)", Version::AsPublished), (" (certified)", Version::Certified)];

impl Series {
    /// An empty one. A name that ends in `(published)` or `(certified)` says its version; without,
    /// it is certified.
    pub fn new(name: impl Into<String>) -> Self {
        let mut name = name.into();
        let mut version = Version::Certified;
        for (end, said) in VERSIONS {
            if let Some(method) = name.strip_suffix(end) {
                (name, version) = (method.to_owned(), said);
            }
        }
        Series { name, version, points: Vec::new(), quiet: false }
    }

    /// One number at each x, which no chance is in.
    pub fn exact(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        let points = points.into_iter().map(|(x, y)| (x, vec![y])).collect();
        Series { points, ..Series::new(name) }
    }

    /// For comparison: drawn thin.
    #[must_use]
    pub fn quiet(self) -> Self {
        Series { quiet: true, ..self }
    }

    /// Adds what a seed gave at `x`. Seeds come in the same order at every x.
    pub fn add(&mut self, x: f64, value: f64) {
        match self.points.iter_mut().find(|(at, _)| *at == x) {
            Some((_, values)) => values.push(value),
            None => self.points.push((x, vec![value])),
        }
    }

    /// What the seeds gave at one x.
    pub fn at(&self, x: f64) -> &[f64] {
        self.points.iter().find(|(at, _)| *at == x).map_or(&[], |(_, values)| values)
    }

    /// The name with its version, as tables have it.
    pub(crate) fn full_name(&self) -> String {
        let end = VERSIONS.iter().find(|(_, version)| *version == self.version);
        match end {
            Some((end, Version::AsPublished)) => format!("{}{end}", self.name),
            _ => self.name.clone(),
        }
    }

    /// How many runs are behind each of its points, at most.
    pub(crate) fn runs(&self) -> usize {
        self.points.iter().map(|(_, values)| values.len()).max().unwrap_or(0)
    }

    /// Its line and its band.
    pub(crate) fn curve(&self, band: Band) -> PlotCurve {
        let means = self.points.iter().map(|(x, values)| (*x, SampleMean::of(values).value));
        let line = PlotCurve::line(&self.name, means.collect());
        if self.quiet || self.runs() < 2 {
            return if self.quiet { line.quiet() } else { line };
        }
        let around = self.points.iter().filter(|(_, values)| values.len() > 1);
        let around = around.map(|(x, values)| {
            let (low, high) = band.around(values);
            (*x, low, high)
        });
        line.with_band(around.collect())
    }
}

/// What a band around a curve is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Band {
    /// One standard deviation of a run to either side.
    #[default]
    Deviation,
    /// From the least to the largest run.
    Range,
}

impl Band {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Band::Deviation => "± 1 standard deviation",
            Band::Range => "least to largest",
        }
    }

    pub(crate) fn around(self, values: &[f64]) -> (f64, f64) {
        let SampleMean { value, deviation, .. } = SampleMean::of(values);
        match self {
            Band::Deviation => (value - deviation, value + deviation),
            Band::Range => {
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                (least, values.iter().copied().fold(f64::NEG_INFINITY, f64::max))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_kept_apart() {
        let mut series = Series::new("a");
        for (x, value) in [(1.0, 1.0), (2.0, 3.0), (1.0, 2.0), (2.0, 6.0)] {
            series.add(x, value);
        }
        assert_eq!(series.at(1.0), [1.0, 2.0]);
        assert!(series.at(9.0).is_empty());
        assert_eq!(series.runs(), 2);
    }

    #[test]
    fn a_name_says_its_version() {
        let published = Series::new("VRADMM (published)");
        assert_eq!((published.name.as_str(), published.version), ("VRADMM", Version::AsPublished));
        assert_eq!(published.full_name(), "VRADMM (published)");
        let certified = Series::new("mpADMM (certified)");
        assert_eq!((certified.name.as_str(), certified.version), ("mpADMM", Version::Certified));
        assert_eq!(certified.full_name(), "mpADMM");
    }

    #[test]
    fn a_band_is_a_deviation_or_the_range() {
        assert_eq!(Band::Deviation.around(&[1.0, 2.0, 3.0]), (1.0, 3.0));
        assert_eq!(Band::Range.around(&[1.0, 2.0, 3.5]), (1.0, 3.5));
    }
}
