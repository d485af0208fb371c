//! What the papers' theorems say of utility, beside what was measured, a file a paper.
//!
//! These are bounds on the error of models, as printed but for the corrections that are named. None
//! is about privacy, and none is certified. A theorem that leaves its constant open (𝒪) is taken
//! with a constant of 1, and says so.

pub(crate) mod dpa19;
pub(crate) mod fp23;
pub(crate) mod ls22;
pub(crate) mod ra18;
pub(crate) mod rdp20;

use crate::report::{Figure, Series};
use crate::statistics::SampleMean;

/// The bound of a theorem at several x.
#[derive(Clone, Debug)]
pub(crate) struct TheoremBound {
    /// What it is called in the picture: "Theorem 3".
    pub theorem: String,
    /// Whether it is an order alone.
    pub open: bool,
    pub points: Vec<(f64, f64)>,
}

impl TheoremBound {
    /// A bound as printed.
    pub fn new(theorem: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        TheoremBound { theorem: theorem.into(), open: false, points }
    }

    /// One whose constant the theorem leaves open.
    pub fn open(theorem: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        TheoremBound { open: true, ..TheoremBound::new(theorem, points) }
    }

    /// What came of it in the picture, in words; numbers are beside those of the picture.
    fn meaning(&self, drawn: usize, top: f64) -> &'static str {
        let finite = || self.points.iter().map(|point| point.1).filter(|y| y.is_finite());
        let least = finite().fold(f64::INFINITY, f64::min);
        match drawn {
            _ if finite().next().is_none() => "infinite here",
            0 if least > top => "above everything that is drawn",
            0 => "below everything that is drawn",
            1 => "within the picture at one point alone",
            _ => "",
        }
    }
}

/// The figure with the bounds that are within it. No axis is stretched: a bound is drawn between the
/// least and the largest mean that the picture has. Those that are not drawn are said together, once
/// for all figures of an experiment for which the same is to be said; their numbers are in the CSV.
pub(crate) fn beside(
    mut figure: Figure,
    bounds: &[TheoremBound],
    notes: &mut Vec<String>,
) -> Figure {
    let means = figure.series.iter().flat_map(|series| &series.points);
    let means = means.map(|(_, values)| SampleMean::of(values).value);
    let all: Vec<f64> = means.chain(figure.rules.iter().map(|rule| rule.0)).collect();
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let top = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut left: Vec<(&'static str, Vec<String>)> = Vec::new();
    for bound in bounds {
        let within = bound.points.iter().copied().filter(|(_, y)| (low..=top).contains(y));
        let within: Vec<(f64, f64)> = within.collect();
        let constant = if bound.open { ", c = 1" } else { "" };
        let name = format!("{}{constant}", bound.theorem);
        let meaning = bound.meaning(within.len(), top);
        // One point is no line.
        if within.len() > 1 {
            figure.series.push(Series::exact(name.clone(), within).quiet());
        } else {
            figure.unseen.push(Series::exact(name.clone(), bound.points.clone()));
        }
        match left.iter_mut().find(|(said, _)| *said == meaning) {
            Some((_, names)) => names.push(name),
            None if !meaning.is_empty() => left.push((meaning, vec![name])),
            None => (),
        }
    }
    for (meaning, names) in left {
        let note = format!("Not drawn: {} ({meaning}).", names.join("; "));
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    figure
}

#[cfg(test)]
mod tests {
    use reticent_plot::Axis;

    use super::*;

    #[test]
    fn a_bound_stretches_no_axis_and_is_always_said() {
        let figure = || {
            let measured = Series::exact("measured", vec![(1.0, 2.0), (2.0, 4.0)]);
            Figure::new("f", "F", Axis::linear("x"), Axis::linear("y")).with(vec![measured])
        };
        let mut notes = Vec::new();
        let bounds = [
            TheoremBound::new("Theorem 1", vec![(0.5, 9.0), (1.0, 4.0), (2.0, 3.0)]),
            TheoremBound::open("Theorem 2", vec![(1.0, 3.1e4)]),
            TheoremBound::new("Theorem 3", vec![(1.0, f64::INFINITY)]),
            TheoremBound::new("Theorem 4", vec![(1.0, 1.0)]),
            TheoremBound::new("Theorem 5", vec![(1.0, 3.0), (2.0, 9.0)]),
        ];
        let with = beside(figure(), &bounds, &mut notes);
        assert_eq!(with.series.len(), 2, "only the first is within the picture");
        assert_eq!(with.series[1].points, [(1.0, vec![4.0]), (2.0, vec![3.0])]);
        assert_eq!(with.unseen.len(), 4, "the numbers of all others are kept");
        assert!(with.csv().contains("\"Theorem 2, c = 1 (not drawn)\",1,31000,"), "{}", with.csv());
        assert_eq!(
            notes,
            [
                "Not drawn: Theorem 2, c = 1 (above everything that is drawn).",
                "Not drawn: Theorem 3 (infinite here).",
                "Not drawn: Theorem 4 (below everything that is drawn).",
                "Not drawn: Theorem 5 (within the picture at one point alone).",
            ]
        );
        beside(figure(), &bounds, &mut notes);
        assert_eq!(notes.len(), 4, "nothing is said twice");
    }
}
