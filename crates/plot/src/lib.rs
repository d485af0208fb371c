//! Pictures as SVG: curves with bands, steps over time, and bars.
//!
//! A [`Plot`] has two [`Axis`] and some [`PlotCurve`]s; [`Bars`] have a name and a number each. Either is
//! drawn for a file that stands alone ([`Plot::to_file`]), with its style inside, or for a page
//! ([`Plot::to_page`]), which brings [`STYLE`] once for all its pictures.
//!
//! ```
//! use reticent_plot::{Axis, PlotCurve, Plot};
//!
//! let plot = Plot::new("What the run costs", Axis::log("δ"), Axis::linear("ε").from_zero())
//!     .with(PlotCurve::line("promised", vec![(1e-8, 1.2), (1e-6, 1.0), (1e-4, 0.8)]));
//! assert!(plot.to_file().contains("<title"));
//! ```

mod axis;
mod bars;
mod curve;
mod draw;
mod labels;
mod overlap;
mod plot;
mod svg;
mod theme;
mod time;

pub use axis::Axis;
pub use bars::{Bar, Bars, share};
pub use curve::PlotCurve;
pub use overlap::overlaps;
pub use plot::{Plot, Size};
pub use theme::{HUES, STYLE};
pub use time::{day, seconds};

/// The example of the README is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
