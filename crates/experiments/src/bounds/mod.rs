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
use crate::statistics::Mean;

/// The bound of a theorem at several x.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    /// What it is called in the picture: "Theorem 3".
    pub theorem: String,
    /// Whether it is an order alone.
    pub open: bool,
    pub points: Vec<(f64, f64)>,
}

impl Bound {
    /// A bound as printed.
    pub fn new(theorem: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Bound { theorem: theorem.into(), open: false, points }
    }

    /// One whose constant the theorem leaves open.
    pub fn open(theorem: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Bound { open: true, ..Bound::new(theorem, points) }
    }

    /// What it says in a sentence, with what came of it in the picture.
    fn words(&self, drawn: usize, top: f64) -> String {
        let finite: Vec<f64> =
            self.points.iter().map(|point| point.1).filter(|y| y.is_finite()).collect();
        let most = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = finite.iter().copied().fold(f64::INFINITY, f64::min);
        let (name, constant) =
            (&self.theorem, if self.open { ", with 1 for its open constant," } else { "" });
        if finite.is_empty() {
            return format!("The bound of {name} at these numbers is infinite: no help here.");
        }
        let range = if least == most {
            format!("{least:.2e}")
        } else {
            format!("{least:.2e} to {most:.2e}")
        };
        let meaning = match drawn {
            0 if least > top => "above everything that is drawn: no help here",
            0 => "below everything that is drawn",
            1 => "within the picture at one point alone, and not drawn",
            all if all == self.points.len() => "drawn",
            _ => "drawn where it is within the picture",
        };
        format!("The bound of {name}{constant} at these numbers is {range}: {meaning}.")
    }
}

/// The figure with the bounds that are within it, and a note of each. No axis is stretched: a bound
/// is drawn between the least and the largest mean that the picture has.
pub(crate) fn beside(mut figure: Figure, bounds: &[Bound], notes: &mut Vec<String>) -> Figure {
    let means = figure.series.iter().flat_map(|series| &series.points);
    let means = means.map(|(_, values)| Mean::of(values).value);
    let all: Vec<f64> = means.chain(figure.rules.iter().map(|rule| rule.0)).collect();
    let low = all.iter().copied().fold(f64::INFINITY, f64::min);
    let top = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    for bound in bounds {
        let within = bound.points.iter().copied().filter(|(_, y)| (low..=top).contains(y));
        let within: Vec<(f64, f64)> = within.collect();
        let note = format!("{}: {}", figure.title, bound.words(within.len(), top));
        if !notes.contains(&note) {
            notes.push(note);
        }
        // One point is no line.
        if within.len() > 1 {
            let constant = if bound.open { ", c = 1" } else { "" };
            let name = format!("{}{constant}", bound.theorem);
            figure.series.push(Series::exact(name, within).quiet());
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
            Bound::new("Theorem 1", vec![(0.5, 9.0), (1.0, 4.0), (2.0, 3.0)]),
            Bound::open("Theorem 2", vec![(1.0, 3.1e4)]),
            Bound::new("Theorem 3", vec![(1.0, f64::INFINITY)]),
            Bound::new("Theorem 4", vec![(1.0, 1.0)]),
            Bound::new("Theorem 5", vec![(1.0, 3.0), (2.0, 9.0)]),
        ];
        let with = beside(figure(), &bounds, &mut notes);
        assert_eq!(with.series.len(), 2, "only the first is within the picture");
        assert_eq!(with.series[1].points, [(1.0, vec![4.0]), (2.0, vec![3.0])]);
        assert!(notes[0].contains("drawn where it is within"), "{}", notes[0]);
        assert!(notes[1].contains("open constant") && notes[1].contains("3.10e4: above"));
        assert!(notes[2].contains("infinite"));
        assert!(notes[3].contains("below everything"));
        assert!(notes[4].contains("one point alone"), "{}", notes[4]);
        beside(figure(), &bounds, &mut notes);
        assert_eq!(notes.len(), 5, "nothing is said twice");
    }
}
