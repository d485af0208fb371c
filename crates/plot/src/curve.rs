//! What is drawn between the axes.

/// A line with a name, and perhaps a band of what it may be instead.
#[derive(Clone, Debug)]
pub struct Curve {
    pub(crate) name: String,
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) band: Vec<(f64, f64, f64)>,
    pub(crate) steps: bool,
    pub(crate) quiet: bool,
}

impl Curve {
    /// Points in order, joined; those that are not finite are left out.
    #[must_use]
    pub fn line(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.to_owned(), points, band: Vec::new(), steps: false, quiet: false }
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

    /// For comparison: a thin line in faint ink.
    #[must_use]
    pub fn quiet(self) -> Self {
        Self { quiet: true, ..self }
    }
}
