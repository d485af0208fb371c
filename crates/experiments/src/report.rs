//! What came of an experiment: figures with their numbers, and claims.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use reticent_plot::{Axis, Curve, Plot};

use crate::claim::Claim;
use crate::error::Error;
use crate::experiment::Experiment;
use crate::statistics::Mean;

/// One curve: for every x, a value of each seed.
#[derive(Clone, Debug)]
pub struct Series {
    /// What it is of.
    pub name: String,
    /// The values at each x.
    pub points: Vec<(f64, Vec<f64>)>,
    /// Whether it is for comparison only.
    pub quiet: bool,
}

impl Series {
    /// An empty one.
    pub fn new(name: impl Into<String>) -> Self {
        Series { name: name.into(), points: Vec::new(), quiet: false }
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

    /// The mean over all x, for each seed: what claims are checked on.
    pub fn by_seed(&self) -> Vec<f64> {
        let seeds = self.points.iter().map(|(_, values)| values.len()).min().unwrap_or(0);
        let mean = |seed: usize| self.points.iter().map(|(_, values)| values[seed]).sum::<f64>();
        (0..seeds).map(|seed| mean(seed) / self.points.len() as f64).collect()
    }

    /// What the seeds gave at one x.
    pub fn at(&self, x: f64) -> &[f64] {
        self.points.iter().find(|(at, _)| *at == x).map_or(&[], |(_, values)| values)
    }

    fn curve(&self) -> Curve {
        let means = self.points.iter().map(|(x, values)| (*x, Mean::of(values)));
        let band = means
            .clone()
            .filter(|(_, mean)| mean.error.is_finite())
            .map(|(x, mean)| (x, mean.value - mean.error, mean.value + mean.error))
            .collect();
        let line = Curve::line(&self.name, means.map(|(x, mean)| (x, mean.value)).collect());
        if self.quiet { line.quiet() } else { line.with_band(band) }
    }
}

/// A picture and the numbers in it.
#[derive(Clone, Debug)]
pub struct Figure {
    /// The name of its files.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What is to be known to read it.
    pub caption: String,
    /// Across and up.
    pub axes: (Axis, Axis),
    /// The curves.
    pub series: Vec<Series>,
    /// Values that no x changes.
    pub rules: Vec<(f64, String)>,
}

impl Figure {
    /// An empty one.
    pub fn new(name: &str, title: &str, x: Axis, y: Axis) -> Self {
        Figure {
            name: name.to_owned(),
            title: title.to_owned(),
            caption: String::new(),
            axes: (x, y),
            series: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// With what is to be known to read it.
    #[must_use]
    pub fn captioned(self, caption: impl Into<String>) -> Self {
        Figure { caption: caption.into(), ..self }
    }

    /// With these curves.
    #[must_use]
    pub fn with(self, series: Vec<Series>) -> Self {
        Figure { series, ..self }
    }

    /// With a value that no x changes.
    #[must_use]
    pub fn with_rule(mut self, y: f64, name: &str) -> Self {
        self.rules.push((y, name.to_owned()));
        self
    }

    /// The picture.
    pub fn svg(&self) -> String {
        let (x, y) = self.axes.clone();
        let mut plot = Plot::new(&self.title, x, y).described(&self.caption);
        for series in &self.series {
            plot = plot.with(series.curve());
        }
        for (y, name) in &self.rules {
            plot = plot.with_rule(*y, name);
        }
        plot.to_file()
    }

    /// The numbers: a line for each point.
    pub fn csv(&self) -> String {
        let mut text = "series,x,mean,standard_error,runs\n".to_owned();
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        for Series { name, points, .. } in &self.series {
            for (x, values) in points {
                let Mean { value, error, runs } = Mean::of(values);
                let error = if error.is_nan() { String::new() } else { error.to_string() };
                let _ = writeln!(text, "{},{x},{value},{error},{runs}", quoted(name));
            }
        }
        for (y, name) in &self.rules {
            let _ = writeln!(text, "{},,{y},,", quoted(name));
        }
        text
    }
}

/// What came of an experiment.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The pictures.
    pub figures: Vec<Figure>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// What is to be known: what was reduced, what was not available.
    pub notes: Vec<String>,
    /// The simulated tables that stood in for public ones.
    pub stand_ins: Vec<String>,
}

impl Report {
    /// `claims.md`: every claim with its verdict and its numbers. Pictures are in the folder `at`,
    /// which is empty or ends in `/`.
    pub fn markdown(&self, experiment: &dyn Experiment, at: &str) -> String {
        let mut text =
            format!("# {}\n\n{}: {}.\n\n", experiment.id(), experiment.paper(), experiment.about());
        for name in &self.stand_ins {
            let _ = writeln!(
                text,
                "**Stand-in**: {name} was not there, and a simulated table stood in for it; nothing below is about it.\n"
            );
        }
        text.push_str("| claim | version | | numbers |\n| --- | --- | --- | --- |\n");
        let stand_in = if self.stand_ins.is_empty() { "" } else { " (stand-in)" };
        for Claim { text: claim, version, verdict, numbers } in &self.claims {
            let (version, verdict) = (version.words(), verdict.words());
            let _ = writeln!(text, "| {claim} | {version} | **{verdict}**{stand_in} | {numbers} |");
        }
        for figure in &self.figures {
            let _ = write!(
                text,
                "\n![{}]({at}{}.svg)\n\n{}\n",
                figure.title, figure.name, figure.caption
            );
        }
        if !self.notes.is_empty() {
            text.push_str("\nTo know:\n\n");
        }
        for note in &self.notes {
            let _ = writeln!(text, "- {note}");
        }
        text
    }

    /// Writes `claims.md`, and for each figure its picture and its numbers, into this folder.
    ///
    /// # Errors
    /// If the folder cannot be written to.
    pub fn write(&self, experiment: &dyn Experiment, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        fs::create_dir_all(folder).map_err(|why| Error::file(folder, why))?;
        let mut files = vec![("claims.md".to_owned(), self.markdown(experiment, ""))];
        for figure in &self.figures {
            files.push((format!("{}.svg", figure.name), figure.svg()));
            files.push((format!("{}.csv", figure.name), figure.csv()));
        }
        let write = |(name, text): (String, String)| {
            let path = folder.join(name);
            fs::write(&path, text).map_err(|why| Error::file(&path, why))?;
            Ok(path)
        };
        files.into_iter().map(write).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_kept_apart_until_claims_are_checked() {
        let mut series = Series::new("a");
        for (x, value) in [(1.0, 1.0), (2.0, 3.0), (1.0, 2.0), (2.0, 6.0)] {
            series.add(x, value);
        }
        assert_eq!(series.by_seed(), [2.0, 4.0]);
        assert_eq!(series.at(1.0), [1.0, 2.0]);
        assert!(series.at(9.0).is_empty());
        let figure = Figure::new("f", "F", Axis::linear("x"), Axis::linear("y"))
            .with(vec![series])
            .with_rule(5.0, "without noise");
        let csv = figure.csv();
        assert!(csv.contains("\"a\",1,1.5,0.5,2"), "{csv}");
        assert!(csv.contains("\"without noise\",,5,,"), "{csv}");
        assert!(figure.svg().contains("without noise"));
    }
}
