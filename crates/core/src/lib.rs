//! What every crate of Reticent needs and none owns: words that users type ([`words!`],
//! [`Refused`]), numbers for people, hexadecimal digits and the calendar.
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

pub mod calendar;
mod digits;
mod hex;
mod words;

pub use digits::{four_digits, four_digits_down, four_digits_up};
pub use hex::{from_hex, hex};
pub use words::{Refused, Typed};

/// For what [`words!`] makes in other crates.
#[doc(hidden)]
pub use serde;
