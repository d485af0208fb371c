//! A picture and the numbers in it.
//!
//! What is certified and what is as published are never in one picture, but for a certified method
//! that has no published version and is compared with one that has: [`Figure::apart`] draws two.

use std::fmt::Write as _;

use reticent_plot::{Axis, Plot};
use serde::{Deserialize, Serialize};

use crate::claim::Version;
use crate::colours::hues;
use crate::series::{Band, Series};
use crate::statistics::{SampleMean, number};

/// At the end of the name of a certified method in a picture of published ones.
const CERTIFIED: &str = " (certified)";

/// By what factor a baseline is below all that is compared that is not drawn.
const FAR: f64 = 20.0;

/// The least and the largest of these.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)))
}

/// A picture and the numbers in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Figure {
    /// The name of its files.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What is to be known to read it, beside what the experiment changes.
    pub caption: String,
    /// Across and up.
    pub axes: (Axis, Axis),
    /// The curves.
    pub series: Vec<Series>,
    /// Values that no x changes.
    pub rules: Vec<(f64, String)>,
    /// What bands are.
    pub band: Band,
    /// Bounds that are not within the picture, whose numbers are written all the same.
    pub unseen: Vec<Series>,
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
            band: Band::default(),
            unseen: Vec::new(),
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

    /// With bands of this kind.
    #[must_use]
    pub fn banded(self, band: Band) -> Self {
        Figure { band, ..self }
    }

    /// All its curves are of this version.
    #[must_use]
    pub fn of(mut self, version: Version) -> Self {
        self.series.iter_mut().for_each(|series| series.version = version);
        self
    }

    /// The axis upward no further than these curves and their bands go; of others what is beyond is
    /// cut, and the caption says so.
    #[must_use]
    pub fn focused(mut self, names: &[&str]) -> Self {
        let band = self.band;
        let focus = |series: &&Series| names.contains(&series.name.as_str());
        let ends = self.series.iter().filter(focus).flat_map(|series| &series.points);
        let ends = ends.map(|(_, values)| match values.len() {
            1 => (values[0], values[0]),
            _ => band.around(values),
        });
        let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), end| {
            (low.min(end.0), high.max(end.1))
        });
        let room = 0.05 * (high - low);
        let within = |y: f64| (low - room..=high + room).contains(&y);
        let cut = self.series.iter().filter(|series| !focus(series)).filter(|series| {
            series.points.iter().any(|(_, values)| !within(SampleMean::of(values).value))
        });
        let cut: Vec<&str> = cut.map(|series| series.name.as_str()).collect();
        if !cut.is_empty() {
            let gap = if self.caption.is_empty() { "" } else { " " };
            let _ = write!(self.caption, "{gap}The axis is cut: {} goes on.", cut.join(", "));
        }
        self.axes.1 = self.axes.1.within(low - room, high + room);
        self
    }

    /// The version that the picture is of: as published where a curve is, and else that of all.
    pub fn version(&self) -> Version {
        let mut loud = self.series.iter().filter(|series| !series.quiet).map(|s| s.version);
        let first = loud.clone().next().unwrap_or(Version::Certified);
        if loud.clone().any(|version| version == Version::AsPublished) {
            Version::AsPublished
        } else if loud.all(|version| version == first) {
            first
        } else {
            Version::Certified
        }
    }

    /// The picture as one, or as two: certified, and as published.
    pub fn apart(self) -> Vec<Figure> {
        let published = |series: &Series| series.version == Version::AsPublished && !series.quiet;
        let (theirs, ours): (Vec<Series>, Vec<Series>) =
            self.series.iter().cloned().partition(published);
        // What stands beside published curves says that it is certified: such a picture is apart.
        let beside = |series: &Series| series.quiet || series.name.ends_with(CERTIFIED);
        if theirs.is_empty() || ours.iter().all(beside) {
            return vec![self];
        }
        let names: Vec<String> = theirs.iter().map(|series| series.name.clone()).collect();
        let beside = ours.iter().filter(|series| !names.contains(&series.name)).cloned();
        let beside = beside.map(|series| match series.quiet {
            true => series,
            false => Series { name: format!("{}{CERTIFIED}", series.name), ..series },
        });
        let series = theirs.into_iter().chain(beside).collect();
        let title = |what: &str| format!("{}, {what}", self.title);
        let published = Figure {
            name: format!("{}-published", self.name),
            title: title("as published"),
            series,
            ..self.clone()
        };
        vec![Figure { title: title("certified"), series: ours, ..self }, published]
    }

    /// Without what would hide the comparison: bounds that leave the picture, of which half a line
    /// says little, and on a logarithmic axis baselines far below all that is compared. Their numbers
    /// stay in the CSV, and the caption names them.
    #[must_use]
    pub fn settled(mut self) -> Self {
        let ends = |series: &Series| range(series.points.iter().map(|point| point.0));
        let means =
            |series: &Series| range(series.points.iter().map(|(_, v)| SampleMean::of(v).value));
        let loud = || self.series.iter().filter(|series| !series.quiet);
        let (first, last) = range(loud().flat_map(|series| <[f64; 2]>::from(ends(series))));
        let least = loud().map(|series| means(series).0).fold(f64::INFINITY, f64::min);
        let logarithmic = self.axes.1.is_log();
        let bound = |series: &Series| series.name.starts_with("Theorem");
        let leaves = |series: &Series| match bound(series) {
            true => ends(series).0 > first || ends(series).1 < last,
            false => logarithmic && means(series).1 * FAR < least,
        };
        let (left, drawn): (Vec<Series>, Vec<Series>) =
            self.series.into_iter().partition(|series| series.quiet && leaves(series));
        let (bounds, below): (Vec<&Series>, Vec<&Series>) = left.iter().partition(|s| bound(s));
        let named = |all: &[&Series], word: &dyn Fn(&Series) -> String| {
            all.iter().map(|series| word(series)).collect::<Vec<_>>().join("; ")
        };
        let mut said = Vec::from_iter((!self.caption.is_empty()).then(|| self.caption.clone()));
        if !bounds.is_empty() {
            let names = named(&bounds, &|series| series.name.clone());
            said.push(format!("Not drawn, as it leaves the range of the picture: {names}."));
        }
        if !below.is_empty() {
            let words = |s: &Series| format!("{} ({})", s.name, number(means(s).1));
            said.push(format!("Far below the picture: {}.", named(&below, &words)));
        }
        self.caption = said.join(" ");
        self.unseen.extend(left);
        Figure { series: drawn, ..self }
    }

    /// The picture.
    pub fn svg(&self) -> String {
        let (x, y) = self.axes.clone();
        let mut plot = Plot::new(&self.title, x, y).described(&self.caption);
        if let Some(stamp) = self.version().stamp() {
            plot = plot.stamped(stamp);
        }
        if let Some(note) = self.note() {
            plot = plot.noted(&note);
        }
        for (series, hue) in self.series.iter().zip(self.hues()) {
            let curve = series.curve(self.band);
            plot = plot.with(match hue {
                Some(hue) => curve.coloured(hue),
                None => curve,
            });
        }
        for (y, name) in &self.rules {
            plot = plot.with_rule(*y, name);
        }
        plot.to_file()
    }

    /// The colour of each curve; nothing for a name that the table of colours lacks.
    fn hues(&self) -> Vec<Option<usize>> {
        hues(self.series.iter().map(|series| series.name.as_str()))
    }

    /// The curves whose names the table of colours lacks.
    pub fn uncoloured(&self) -> Vec<&str> {
        let loud = self.series.iter().zip(self.hues()).filter(|(series, _)| !series.quiet);
        loud.filter(|(_, hue)| hue.is_none()).map(|(series, _)| series.name.as_str()).collect()
    }

    /// How many runs there are and what the bands are; nothing where no chance is in it.
    fn note(&self) -> Option<String> {
        let loud = || self.series.iter().filter(|series| !series.quiet).map(Series::runs);
        let (least, most) = (loud().min()?, loud().max()?);
        let runs =
            if least == most { format!("{most} runs") } else { format!("{least} to {most} runs") };
        (most > 1).then(|| format!("{runs}, band {}", self.band.words()))
    }

    /// The numbers: a line for each point.
    pub fn csv(&self) -> String {
        let mut text = "series,x,mean,standard_deviation,standard_error,runs\n".to_owned();
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let known = |value: f64| if value.is_nan() { String::new() } else { value.to_string() };
        let unseen = |series: &Series| Series {
            name: format!("{} (not drawn)", series.name),
            ..series.clone()
        };
        for series in self.series.iter().cloned().chain(self.unseen.iter().map(unseen)) {
            let name = quoted(&series.full_name());
            for (x, values) in series.points.iter().filter(|(_, values)| values[0].is_finite()) {
                let SampleMean { value, deviation, error, runs } = SampleMean::of(values);
                let (deviation, error) = (known(deviation), known(error));
                let _ = writeln!(text, "{name},{x},{value},{deviation},{error},{runs}");
            }
        }
        for (y, name) in &self.rules {
            let _ = writeln!(text, "{},,{y},,,", quoted(name));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(names: &[&str]) -> Figure {
        let series = names.iter().map(|name| Series::exact(*name, vec![(1.0, 2.0), (2.0, 1.0)]));
        Figure::new("gap", "Gap", Axis::linear("x"), Axis::linear("y")).with(series.collect())
    }

    #[test]
    fn numbers_are_written_with_their_deviation() {
        let mut series = Series::new("a");
        [1.0, 2.0].into_iter().for_each(|value| series.add(1.0, value));
        let figure = Figure::new("f", "F", Axis::linear("x"), Axis::linear("y"))
            .with(vec![series])
            .with_rule(5.0, "without noise");
        let csv = figure.csv();
        assert!(csv.contains("\"a\",1,1.5,0.7071067811865476,0.5,2"), "{csv}");
        assert!(csv.contains("\"without noise\",,5,,,"), "{csv}");
        assert!(figure.svg().contains("without noise"));
    }

    #[test]
    fn certified_and_published_are_drawn_apart() {
        let mut both = figure(&["VRADMM", "VRADMM (published)", "ssADMM"]);
        both.series.push(Series::exact("SVRG-ADMM", vec![(1.0, 0.1)]).quiet());
        let pictures = both.apart();
        let names = |k: usize| -> Vec<&str> {
            pictures[k].series.iter().map(|series| series.name.as_str()).collect()
        };
        assert_eq!(names(0), ["VRADMM", "ssADMM", "SVRG-ADMM"]);
        assert_eq!(names(1), ["VRADMM", "ssADMM (certified)", "SVRG-ADMM"]);
        assert_eq!(
            (pictures[0].name.as_str(), pictures[1].name.as_str()),
            ("gap", "gap-published")
        );
        assert_eq!(pictures[0].version(), Version::Certified);
        assert_eq!(pictures[1].version(), Version::AsPublished);
        for picture in &pictures {
            assert_eq!(picture.clone().apart().len(), 1, "apart is apart: {}", picture.name);
        }
        assert_eq!(figure(&["VRADMM", "ssADMM"]).apart().len(), 1);
        assert_eq!(figure(&["VRADMM (published)"]).apart().len(), 1);
        let free = figure(&["ADMM"]).of(Version::WithoutNoise);
        assert_eq!(free.version(), Version::WithoutNoise);
    }

    #[test]
    fn what_is_not_private_says_so_in_the_picture() {
        let svg = |version| figure(&["VRADMM"]).of(version).svg();
        assert!(svg(Version::AsPublished).contains(">NOT PRIVATE: as published</text>"));
        assert!(svg(Version::WithoutNoise).contains(">NOT PRIVATE: without noise</text>"));
        for private in [Version::Certified, Version::Printed, Version::Accounting] {
            assert!(!svg(private).contains("NOT PRIVATE"), "{private:?}");
        }
    }

    #[test]
    fn bands_are_named_in_the_picture() {
        let mut noisy = figure(&["VRADMM"]);
        assert_eq!(noisy.note(), None, "one run has no band");
        noisy.series[0].add(1.0, 3.0);
        noisy.series[0].add(2.0, 3.0);
        assert_eq!(noisy.note().unwrap(), "2 runs, band ± 1 standard deviation");
        assert!(noisy.banded(Band::Range).svg().contains("2 runs, band least to largest"));
    }

    #[test]
    fn a_bound_that_leaves_the_picture_is_named_and_not_drawn() {
        let mut figure = figure(&["DP-ADMM"]);
        figure.series.push(Series::exact("Theorem 3", vec![(2.0, 9.0)]).quiet());
        figure.series.push(Series::exact("Theorem 4", vec![(1.0, 2.0), (2.0, 1.5)]).quiet());
        figure.series.push(Series::exact("zero", vec![(1.0, 2.0)]).quiet());
        let figure = figure.captioned("δ = 1e-3.").settled();
        let said = "δ = 1e-3. Not drawn, as it leaves the range of the picture: Theorem 3.";
        assert_eq!(figure.caption, said);
        let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
        assert_eq!(names, ["DP-ADMM", "Theorem 4", "zero"]);
        assert!(figure.csv().contains("\"Theorem 3 (not drawn)\",2,9"), "{}", figure.csv());
    }

    #[test]
    fn a_baseline_far_below_stretches_no_axis() {
        let mut figure = figure(&["VRADMM"]);
        figure.axes.1 = Axis::log("gap");
        for (name, y) in [("STOC-ADMM", 0.1), ("SVRG-ADMM", 1e-6)] {
            figure.series.push(Series::exact(name, vec![(1.0, y), (2.0, y)]).quiet());
        }
        let figure = figure.settled();
        assert_eq!(figure.caption, "Far below the picture: SVRG-ADMM (1.00e-6).");
        assert_eq!((figure.series.len(), figure.unseen.len()), (2, 1));
    }

    #[test]
    fn an_axis_that_is_cut_says_so() {
        let mut figure = figure(&["DP-ADMM", "Algorithm 2"]);
        figure.series.push(Series::exact("as printed", vec![(1.0, 900.0)]));
        let figure = figure.captioned("δ = 1e-3.").focused(&["DP-ADMM", "Algorithm 2"]);
        assert_eq!(figure.caption, "δ = 1e-3. The axis is cut: as printed goes on.");
        assert!(!figure.svg().contains(">900<") && !figure.svg().contains(">1000<"));
    }
}
