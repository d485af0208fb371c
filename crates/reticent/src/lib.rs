//! Train convex models on sensitive tables with differential privacy, and a certificate for each.
//!
//! A [`Fit`] says what is fitted and at what price; a [`Source`] says on what: files, or a
//! [`Dataset`](tables::Dataset) in memory. [`Fit::check`] finds everything that can be wrong before
//! there is a table, and [`Job::fit`] does it. The result is a [`Model`] with its [`Certificate`]
//! inside. [`Tune`] chooses among fits within one budget, and a [`Simulation`](simulate::Simulation)
//! runs between parties that show each other no record. An [`Evaluation`] says what a model is worth
//! on a table, within a budget as well. [`Spec`] and [`JobFile`] are the same jobs
//! as text, for flags and files.
//!
//! # Examples
//!
//! A matrix in memory, its bounds public, at ε = 1:
//!
//! ```
//! use reticent::tables::{Dataset, Schema, Target};
//! use reticent::{Budget, Fit, losses::Logistic, penalties::L2};
//!
//! # fn main() -> Result<(), reticent::Error> {
//! let (n, d) = (1_000, 2);
//! let x: Vec<f64> = (0..n * d).map(|i| (i * 37 % 90) as f64).collect();
//! let y: Vec<u32> = x.chunks(d).map(|row| u32::from(row[0] > 45.0)).collect();
//!
//! let schema = Schema::bounded(&[(0.0, 90.0), (0.0, 90.0)], Target::classes(["well", "ill"])?)?;
//! let job = Fit::new(schema)
//!     .loss(Logistic)
//!     .penalty(L2::new(1e-3)?)
//!     .budget(Budget::new(1.0, 1e-6)?)
//!     .check()?;
//! let model = job.fit(&Dataset::dense(&x, n, d)?.with_targets(&y)?)?.model;
//!
//! assert!(model.certificate().certified && model.certificate().epsilon <= 1.0);
//! let asked = Dataset::dense(&[80.0, 10.0][..], 1, 2)?;
//! println!("{:?}", model.predict_dataset(&asked)?);
//! # Ok(())
//! # }
//! ```
//!
//! More are in the folder `examples` of this crate.
//!
//! # Features
//!
//! `parquet` (on by itself) reads Parquet files, `arrow` takes record batches in memory, and `clap`
//! makes flags of [`Spec`] and [`Guarantee`].
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod axis;
mod budget;
mod canonical;
pub mod certificate;
mod class_weights;
mod count;
mod draft;
mod error;
mod evaluation;
mod export;
mod fit;
#[cfg(feature = "clap")]
pub mod flags;
mod graph;
mod guarantee;
mod identity;
mod job;
mod job_file;
pub mod map;
mod model;
mod objective;
mod outlook;
mod payable;
mod predict;
mod procedure;
mod quality;
mod ranking;
mod recalibration;
mod repeat;
mod results;
mod run;
mod settings;
pub mod simulate;
mod solver;
mod source;
mod spec;
mod stage;
mod standard_errors;
mod statistics;
pub mod sweep;
mod task;
pub mod trace;
mod training;
mod tune;
mod typed;
mod units;
mod verdict;
pub mod verify;
mod weaknesses;
mod write;

pub use budget::Budget;
pub use certificate::Certificate;
pub use class_weights::ClassWeights;
pub use count::{CountJob, Counted, Counting};
pub use draft::draft_schema;
pub use error::Error;
pub use evaluation::{
    Estimate, Evaluated, Evaluating, Evaluation, EvaluationJob, PrivateClasses, PrivateNumbers,
    PrivateQuality, Reliability,
};
pub use export::{ExportFormat, SqlNames};
pub use fit::Fit;
pub use graph::PrivateGraph;
pub use guarantee::Guarantee;
pub use identity::{Identity, PublicKey, Signature};
pub use job::{Job, Ready};
pub use job_file::JobFile;
pub use model::{Coefficient, Model};
pub use objective::{Objective, Problem};
pub use outlook::UtilityForecast;
pub use payable::{Payable, unplanned};
pub use predict::{Measured, Predicted, Prediction, PredictionInput};
pub use procedure::Seen;
pub use quality::{Confusion, Quality};
pub use ranking::RocCurves;
pub use recalibration::Recalibration;
pub use repeat::Repeat;
pub use results::{check_folder, check_results, write_model, write_results};
pub use reticent_accountant as accountant;
pub use reticent_accountant::{Adjacency, Unit, View};
pub use reticent_admm as admm;
pub use reticent_admm::{Progress, Settings};
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
pub use stage::{Run, Stage, Watch};
pub use standard_errors::{CoefficientEstimate, StandardErrors};
pub use statistics::{
    Averaging, BinCount, Binning, ColumnHistogram, ColumnMean, ColumnMeans, ColumnQuantiles,
    Divisor, HistogramJob, Histograms, MeanJob, Partition, QuantileJob, QuantileValue, Quantiles,
    Ranking, Statistics, Value,
};
#[doc(hidden)] // for audits, which build what the product builds
pub use task::whole_budget;
pub use training::{Fitted, Training};
pub use tune::{Tune, Tuned};
pub use units::Units;
pub use verdict::{Scope, Verdict};
pub use verify::{CheckOutcome, Document, Standing, Verification, VerifyCheck, verify};
pub use weaknesses::seldom_drawn;
pub use write::{NewFile, check_new, write_text};

/// The example of the project's own page is held to what it says.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
