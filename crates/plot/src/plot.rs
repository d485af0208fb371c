//! A picture of curves between two axes.

use crate::axis::Axis;
use crate::curve::PlotCurve;
use crate::draw;

/// How large a picture is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// For a screen or paper: names stand beside the curves.
    Wide,
    /// For a telephone: names stand above.
    Narrow,
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Plot {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) curves: Vec<PlotCurve>,
    pub(crate) rules: Vec<(f64, String)>,
    pub(crate) stamp: String,
    pub(crate) note: String,
}

impl Plot {
    /// An empty picture.
    #[must_use]
    pub fn new(title: &str, x: Axis, y: Axis) -> Self {
        let (title, empty) = (title.to_owned(), String::new);
        let (curves, rules) = (Vec::new(), Vec::new());
        Self { title, description: empty(), x, y, curves, rules, stamp: empty(), note: empty() }
    }

    /// What is to be seen, for whoever does not see it.
    #[must_use]
    pub fn described(self, description: &str) -> Self {
        Self { description: description.to_owned(), ..self }
    }

    /// With one more curve.
    #[must_use]
    pub fn with(mut self, curve: PlotCurve) -> Self {
        self.curves.push(curve);
        self
    }

    /// With a line across at `y`, for a limit.
    #[must_use]
    pub fn with_rule(mut self, y: f64, name: &str) -> Self {
        self.rules.push((y, name.to_owned()));
        self
    }

    /// With a warning below its title.
    #[must_use]
    pub fn stamped(self, warning: &str) -> Self {
        Self { stamp: warning.to_owned(), ..self }
    }

    /// With a remark in its lower right corner, in faint ink: what bands are.
    #[must_use]
    pub fn noted(self, note: &str) -> Self {
        Self { note: note.to_owned(), ..self }
    }

    /// A file that stands alone: with its title above and its style inside.
    #[must_use]
    pub fn to_file(&self) -> String {
        draw::plot(self, Size::Wide, "plot", true)
    }

    /// A part of a page that has [`STYLE`](crate::STYLE). `id` is unique in the page, of letters,
    /// digits and dashes; any other sign is left out.
    #[must_use]
    pub fn to_page(&self, size: Size, id: &str) -> String {
        draw::plot(self, size, id, false)
    }
}
