//! The experiments of the papers behind Reticent, as jobs to run again.
//!
//! An [`Experiment`] trains its models in this process, draws what the paper draws, and checks the
//! paper's claims on the numbers. Everything here is about public or simulated tables: metrics read
//! them freely, and what is trained on them is trained with seeds, so that a run can be repeated. A
//! model of these runs is therefore never private itself; *certified* means that the same run
//! without its seed has a certificate for the ε that is said.
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod between;
mod bounds;
mod claim;
mod colours;
mod data;
mod error;
mod experiment;
mod experiments;
mod figure;
mod page;
mod penalty;
mod random;
mod report;
mod results;
mod series;
mod statistics;
mod store;
mod table;
mod train;

pub use claim::{Claim, ClaimVerdict, Class, Reason, Version};
pub use data::DataSet;
pub use error::ExperimentError;
pub use experiment::{Context, Experiment};
pub use experiments::{CATALOGUE, find};
pub use figure::Figure;
pub use page::{Done, page, section};
pub use report::ExperimentReport;
pub use results::{Explained, Picture, Results};
pub use series::{Band, Series};
pub use statistics::{Interval, LEVEL, SampleMean};
pub use store::{ModelStore, build};
pub use table::RowTable;

/// The example of the README is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
