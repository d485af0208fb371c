//! What came of an experiment: figures with their numbers, and claims.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::claim::Claim;
use crate::error::ExperimentError;
pub(crate) use crate::figure::Figure;
pub(crate) use crate::series::Series;

/// What came of an experiment.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ExperimentReport {
    /// The pictures as the experiment has them; [`ExperimentReport::pictures`] are drawn.
    pub figures: Vec<Figure>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// What is to be known: what was reduced, what was not available.
    pub notes: Vec<String>,
    /// The simulated tables that stood in for public ones.
    pub stand_ins: Vec<String>,
}

impl ExperimentReport {
    /// The pictures that are drawn: what is certified and what is as published apart, each with the
    /// bounds that are within it.
    pub fn pictures(&self) -> Vec<Figure> {
        self.figures.iter().cloned().flat_map(Figure::apart).map(Figure::settled).collect()
    }

    /// Keeps the report in a file, with the numbers of every run, so that pictures and page can be
    /// made again without one. The format has infinite numbers, which JSON has not.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn keep(&self, file: &Path) -> Result<(), ExperimentError> {
        let bytes = postcard::to_allocvec(self).map_err(|why| ExperimentError::file(file, why))?;
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(file, bytes))
            .map_err(|why| ExperimentError::file(file, why))
    }

    /// Reads a kept report; `None` if there is none that this program can read.
    pub fn kept(file: &Path) -> Option<Self> {
        postcard::from_bytes(&fs::read(file).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use reticent_plot::Axis;

    use super::*;

    #[test]
    fn a_kept_report_draws_the_same_pictures() {
        let series = Series::exact("VRADMM", vec![(1.0, 2.0), (2.0, f64::INFINITY)]);
        let figure = Figure::new("gap", "Gap", Axis::log("x"), Axis::linear("y"));
        let figure = figure.with(vec![series]).captioned("δ = 1e-3.");
        let report = ExperimentReport { figures: vec![figure], ..ExperimentReport::default() };
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kept/gap.report");
        assert!(ExperimentReport::kept(&file).is_none());
        report.keep(&file).unwrap();
        let again = ExperimentReport::kept(&file).unwrap();
        assert_eq!(again.figures[0].svg(), report.figures[0].svg());
        assert_eq!(again.figures[0].csv(), report.figures[0].csv());
    }
}
