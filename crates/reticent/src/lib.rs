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
//! The same from an array of `ndarray`, with the feature of that name:
//!
#![cfg_attr(feature = "ndarray", doc = "```")]
#![cfg_attr(not(feature = "ndarray"), doc = "```ignore")]
//! use ndarray::{Array1, Array2};
//! use reticent::tables::{Dataset, Schema, Target};
//! use reticent::{Budget, Fit};
//!
//! # fn main() -> Result<(), reticent::Error> {
//! let x = Array2::from_shape_fn((1_000, 2), |(i, j)| ((2 * i + j) * 37 % 90) as f64);
//! let y: Array1<u32> = x.rows().into_iter().map(|row| u32::from(row[0] > 45.0)).collect();
//!
//! let schema = Schema::bounded(&[(0.0, 90.0), (0.0, 90.0)], Target::classes(["well", "ill"])?)?;
//! let job = Fit::new(schema).budget(Budget::new(1.0, 1e-6)?).check()?;
//! let model = job.fit(&Dataset::from(&x).with_targets(&y)?)?.model;
//! assert!(model.certificate().certified);
//! # Ok(())
//! # }
//! ```
//!
//! A matrix of compressed sparse rows, its rows scaled into a norm; a value of a certificate:
//!
//! ```
//! use reticent::tables::{Dataset, Schema, Target};
//! use reticent::{Budget, Fit};
//!
//! # fn main() -> Result<(), reticent::Error> {
//! let n = 1_000;
//! let starts: Vec<usize> = (0..=n).collect();
//! let columns: Vec<u32> = (0..n as u32).map(|i| i % 40).collect();
//! let values = vec![1.0; n];
//! let y: Vec<f64> = columns.iter().map(|column| f64::from(*column) / 40.0).collect();
//!
//! let schema = Schema::sparse_of_norm(40, 1.0, Target::range(0.0, 1.0)?)?;
//! let job = Fit::new(schema).budget(Budget::new(1.0, 1e-6)?).check()?;
//! let table = Dataset::csr(&starts, &columns, &values, 40)?.with_targets(&y)?;
//! assert!(job.fit(&table)?.model.certificate().epsilon <= 1.0);
//! # Ok(())
//! # }
//! ```
//!
//! More are in the folder `examples` of this crate.
//!
//! # Features
//!
//! `parquet` (on by itself) reads Parquet files, `arrow` takes record batches in memory and `ndarray`
//! arrays, and `clap` makes flags of [`Spec`] and [`Guarantee`].
//!
//! # What is kept stable
//!
//! What this page lists, under [Semantic Versioning](https://semver.org/spec/v2.0.0.html); likewise
//! the crates `reticent-accountant`, `reticent-budget` and `reticent-cli`. The other crates of the
//! workspace are internal.
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod axis;
mod budget;
mod cached;
mod canonical;
pub mod certificate;
mod class_weights;
mod column_curve;
mod count;
mod curves;
mod draft;
mod error;
mod evaluation;
mod export;
mod fit;
#[cfg(feature = "clap")]
#[doc(hidden)] // for the command line
pub mod flags;
mod graph;
mod guarantee;
mod identity;
mod job;
mod job_file;
pub mod map;
mod model;
mod named_files;
mod number_pile;
mod objective;
mod outlook;
mod parts;
mod payable;
mod predict;
mod problem_options;
mod procedure;
mod quality;
mod ranking;
mod recalibration;
mod record_weights;
mod repeat;
mod results;
mod run;
mod settings;
mod sharded;
pub mod simulate;
mod solver;
mod source;
mod spec;
mod stage;
mod standard_errors;
mod statistics;
mod surface;
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
pub use column_curve::{ColumnCurve, ColumnCurvePoint, CurveBand, CurveEstimate};
pub use count::{CountJob, Counted, Counting};
pub use curves::Curves;
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
pub use predict::{Measured, Predicted, Prediction, PredictionInput};
pub use quality::{Confusion, Quality};
pub use ranking::RocCurves;
pub use recalibration::Recalibration;
pub use reticent_accountant::{Adjacency, Unit, View};
pub use reticent_admm::{Progress, Settings};
pub use reticent_oracle::{CachedTable, PrivateTable, Sampling};
pub use reticent_problem::{Constraint, Graph};
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
pub use surface::{PairSurface, SurfaceEstimate, SurfacePoint, SurfaceSide};
pub use training::{Fitted, Training};
pub use tune::{Tune, Tuned};
pub use units::Units;
pub use verdict::{Scope, Verdict};
pub use verify::{CheckOutcome, Document, Standing, Verification, VerifyCheck, verify};

/// A table in shards, held by workers of its owner: what carries bytes to them is a
/// [`Shards`](shards::Shards), a file for each engine.
pub mod shards {
    pub use crate::sharded::{ShardWorkers, Sharding};
    pub use reticent_oracle::{Refusal, Shard, Shards};
}

/// Schemas, and tables in memory and in files. Rows are not among them.
pub mod tables {
    pub use crate::draft::draft_schema;
    pub use reticent_oracle::tables::{
        Categorical, Column, DataError, Dataset, DraftOptions, Drafted, Format, Head, IdForm,
        Indices, KeptCell, KeptKind, Labels, Numeric, Owner, Owners, ReadCounts, ReadOptions,
        RecordWeight, Role, Scale, Schema, SchemaDraft, SchemaError, Target, TargetKind, Targets,
        Unknown,
    };
}

/// The books of a run and what they cost. The crate `reticent-accountant` has all of it, and every
/// mechanism.
pub mod accountant {
    pub use reticent_accountant::{
        AccountError, AccountReport, Adjacency, Bound, Calibration, CalibrationError, Event,
        Gaussian, Ledger, LedgerEntry, LedgerError, Mechanism, Method, Refused, ReportLine, Taint,
        Unit, View, calibrate, curve, delta, epsilon, gdp_mu, profile, rdp_curve, report,
        trade_off,
    };
}

/// The objective: a loss, a penalty, a constraint and the shape of a parameter.
pub mod problem {
    pub use reticent_problem::{
        Constraint, Edge, Graph, Loss, LossTarget, ParseError, Penalty, Regulariser, Shape,
        ShapeError, SparseMatrix,
    };
}

/// The losses.
pub mod losses {
    pub use reticent_problem::losses::{
        Absolute, Hinge, Huber, HuberisedHinge, Logistic, Multinomial, PiecewiseMargin,
        PiecewiseResidual, Squared, SquaredHinge, Weighted, parse,
    };
}

/// The penalties. [`Separable`](penalties::Separable) is what one of your own implements, if it is a
/// sum over the entries of a parameter; otherwise [`Penalty`](problem::Penalty).
pub mod penalties {
    pub use reticent_problem::penalties::{
        Bounds, ElasticNet, GroupLasso, L1, L2, L2Ball, Mcp, NoPenalty, Nuclear, Scad, Separable,
        parse,
    };
}

/// The values of [`Settings`] that are no numbers.
pub mod admm {
    pub use reticent_admm::{
        AutoChoice, Average, BlockOrder, BlockSchedule, NoiseSchedule, PartyRho, PerParty,
        Progress, Release, RunPart, Settings, Smoothing, StepSize, WalkState,
    };
}

/// For the other crates of this workspace, which are released together with this one: what pays, what
/// attacks, what a command writes, and the crates below. It changes without notice.
#[doc(hidden)]
pub mod internal {
    pub use crate::named_files::{all_named_files, named_files};
    pub use crate::payable::{PaidByParties, Payable, unplanned};
    pub use crate::procedure::Question;
    pub use crate::procedure::Seen;
    pub use crate::repeat::Repeat;
    pub use crate::results::{check_folder, check_results, write_results};
    pub use crate::settings::read_settings;
    pub use crate::stage::FileContents;
    pub use crate::task::whole_budget;
    pub use crate::weaknesses::seldom_drawn;
    pub use crate::write::{NewFile, check_new, write_text};
    pub use reticent_accountant as accountant;
    pub use reticent_admm as admm;
    pub use reticent_oracle::tables;
    pub use reticent_problem as problem;
    pub use reticent_runtime as runtime;
}

/// The example of the project's own page is held to what it says.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
mod readme {}
