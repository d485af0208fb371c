//! Differential-privacy accounting: events in, proven bounds out.
//!
//! An [`Event`] is a frozen description of one use of the data, a [`Ledger`] an append-only list of
//! events, and [`epsilon`], [`delta`], [`report`] turn a ledger into a [`Bound`] `{lower, upper}`:
//! the true privacy parameter lies between the two, and `upper` is the one to promise.
//!
//! ```
//! use reticent_accountant::{epsilon, Adjacency, Event, Gaussian, Ledger, Unit, View};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let step = Event::new(Gaussian::new(2.0)?, Adjacency::AddRemove, Unit::Record, View::Central)?;
//! let mut ledger = Ledger::new();
//! ledger.append(step);
//! let bound = epsilon(&ledger, 1e-5)?;
//! assert!((bound.upper - 1.993).abs() < 1e-3);
//! # Ok(())
//! # }
//! ```
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod account;
mod bound;
mod calibrate;
mod charge;
mod event;
pub mod events;
pub mod extended;
mod filter;
mod gdp;
mod ledger;
mod methods;
mod outward;
mod pld;
mod rdp;
mod round;
mod special;
pub mod statistics;
mod tally;
mod trade_off;
pub mod views;
mod vocabulary;

pub use account::{
    AccountError, AccountReport, ReportLine, curve, delta, epsilon, gdp_mu, profile, rdp_curve,
    report, scope,
};
pub use bound::{Bound, Method};
pub use calibrate::{
    Calibration, CalibrationError, RateCalibration, StepsCalibration, calibrate, calibrate_by,
    calibrate_rate, calibrate_steps,
};
pub use charge::Charge;
pub use event::Event;
pub use events::*;
pub use filter::{Filter, FilterError};
pub use ledger::{Ledger, LedgerEntry, LedgerError, Taint};
/// How every crate refuses a value.
pub use reticent_core::Refused;
pub use trade_off::trade_off;
pub use vocabulary::{Adjacency, Unit, View};

/// The example of the README is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
