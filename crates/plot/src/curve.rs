//! What is drawn between the axes.

use crate::theme::{HUES, SERIES};

/// A line with a name, and perhaps a band of what it may be instead.
#[derive(Clone, Debug)]
pub struct PlotCurve {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) band: Vec<(f64, f64, f64)>,
    pub(crate) steps: bool,
    pub(crate) quiet: bool,
    pub(crate) hue: Option<usize>,
}

impl PlotCurve {
    /// Points in order, joined; those that are not finite are left out.
    #[must_use]
    pub fn line(name: &str, points: Vec<(f64, f64)>) -> Self {
        let (name, band) = (name.to_owned(), Vec::new());
        Self { name, points, band, steps: false, quiet: false, hue: None }
    }

    /// A value that holds until the next point.
    #[must_use]
    pub fn steps(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self { steps: true, ..Self::line(name, points) }
    }

    /// With a band: x, its lower and its upper end.
    #[must_use]
    pub fn with_band(self, band: Vec<(f64, f64, f64)>) -> Self {
        Self { band, ..self }
    }

    /// In this colour, of [`HUES`](crate::HUES), whatever its place in the picture is.
    #[must_use]
    pub fn coloured(self, hue: usize) -> Self {
        Self { hue: Some(hue), ..self }
    }

    /// For comparison: a thin line in faint ink.
    #[must_use]
    pub fn quiet(self) -> Self {
        Self { quiet: true, ..self }
    }

    /// Its colour as the `k`-th of a picture.
    pub(crate) fn hue(&self, k: usize) -> usize {
        self.hue.map_or(k % SERIES, |hue| hue % HUES)
    }
}
