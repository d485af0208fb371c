//! Train convex models on sensitive tables with differential privacy, and a certificate for each.
//!
//! A [`Spec`] describes a job; [`Spec::check`] turns it into a [`Job`](job::Job) without reading
//! the data, and [`Job::fit`](job::Job::fit) does it. The result is a [`Model`] with its
//! [`Certificate`] inside.

mod axis;
pub mod certificate;
mod draft;
mod error;
mod export;
mod fit;
mod graph;
pub mod job;
pub mod map;
mod model;
mod predict;
mod repeat;
mod run;
mod settings;
pub mod simulate;
mod spec;
mod tune;
mod units;
mod verdict;
mod write;

pub use certificate::Certificate;
pub use draft::draft_schema;
pub use error::Error;
pub use export::{ExportFormat, SqlNames};
pub use fit::{Fitted, Progress};
pub use model::{Coefficient, Model};
pub use predict::{Asked, Measured, Predicted, Prediction};
pub use repeat::{Repeat, Seen};
pub use reticent_accountant as accountant;
pub use reticent_admm as admm;
pub use reticent_oracle::tables;
pub use reticent_oracle::without_privacy::{Confusion, Curves, Quality};
pub use reticent_problem as problem;
pub use reticent_runtime as runtime;
pub use settings::read_settings;
pub use spec::Spec;
pub use tune::Tuned;
pub use units::Units;
pub use verdict::{Scope, Verdict};
pub use write::{NewFile, check_folder, check_new, check_results, write_model, write_text};
