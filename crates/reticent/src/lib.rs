//! Train convex models on sensitive tables with differential privacy, and a certificate for each.
//!
//! A [`Spec`] describes a job; [`Spec::check`] turns it into a [`Job`](job::Job) without reading
//! the data, and [`Job::fit`](job::Job::fit) does it. The result is a [`Model`] with its
//! [`Certificate`] inside.

mod axis;
mod budget;
pub mod certificate;
mod draft;
mod error;
mod export;
mod fit;
mod graph;
mod job;
mod job_file;
pub mod map;
mod model;
mod objective;
mod predict;
mod repeat;
mod run;
mod settings;
pub mod simulate;
mod solver;
mod source;
mod spec;
mod stage;
mod task;
mod tune;
mod typed;
mod units;
mod verdict;
mod write;

pub use budget::Budget;
pub use certificate::Certificate;
pub use draft::draft_schema;
pub use error::Error;
pub use export::{ExportFormat, SqlNames};
pub use fit::Fit;
pub use graph::PrivateGraph;
pub use job::{Fitted, Job, Ready};
pub use job_file::JobFile;
pub use model::{Coefficient, Model};
pub use objective::{Objective, Problem};
pub use predict::{Asked, Measured, Predicted, Prediction};
pub use repeat::{Repeat, Seen};
pub use reticent_accountant as accountant;
pub use reticent_accountant::{Adjacency, Unit, View};
pub use reticent_admm as admm;
pub use reticent_admm::{Progress, Settings};
pub use reticent_oracle::not_private::{Confusion, Curves, Quality};
pub use reticent_oracle::tables;
pub use reticent_oracle::{PrivateTable, Sampling};
pub use reticent_problem as problem;
pub use reticent_problem::{Constraint, Graph};
pub use reticent_problem::{constraints, losses, penalties};
pub use reticent_runtime as runtime;
pub use settings::read_settings;
pub use solver::Solver;
pub use source::{Files, Source};
pub use spec::Spec;
pub use stage::{Stage, Watch, unwatched};
pub use tune::{Tune, Tuned};
pub use units::Units;
pub use verdict::{Scope, Verdict};
pub use write::{NewFile, check_folder, check_new, check_results, write_model, write_text};
