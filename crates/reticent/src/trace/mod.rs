//! What a run comes to, iteration by iteration.
//!
//! ```text
//! iteration ─► released values ─► norms, ε so far            always
//!                    │
//!                    └─► PublicData ─► objective, gap, …     only where the table is said to be public
//! ```
//!
//! Without [`PublicData`] a trace is written from what the gate has released and from the plan, and
//! is covered by the certificate of the run. With it the trace reads the table freely and is **not
//! private**, as its columns and its note say. The run cannot tell whether it is watched: the
//! observer is given iterates and gives nothing back, so that the model and its certificate are the
//! same with and without (proofs/trace.md).

mod public_data;
mod recorder;
mod row;

pub use public_data::{Examined, PublicData};
pub(crate) use recorder::{Recorder, Rounds};
pub use row::{Trace, TraceRow};

use reticent_admm::Iterate;

/// How a run is traced.
///
/// # Examples
///
/// ```
/// use reticent::tables::{Dataset, Schema, Target};
/// use reticent::trace::{PublicData, Tracing};
/// use reticent::{Budget, Fit, Run, Settings, Solver, penalties::L2};
///
/// # fn main() -> Result<(), reticent::Error> {
/// let (x, y): (Vec<f64>, Vec<u32>) = (0..500).map(|i| (f64::from(i % 10), i % 10 / 5)).unzip();
/// let schema = Schema::bounded(&[(0.0, 10.0)], Target::classes(["no", "yes"])?)?;
/// let table = Dataset::dense(&x, 500, 1)?.with_targets(&y)?;
/// let solver = Solver::ssadmm().with(Settings { iterations: Some(20), ..Settings::default() })?;
/// let job = Fit::new(schema)
///     .penalty(L2::new(0.01)?)
///     .solver(solver)
///     .budget(Budget::new(1.0, 1e-6)?)
///     .check()?;
///
/// // This table is made up, so that its objective may be written down.
/// let mut public = PublicData::of_job(&job, &table)?;
/// let tracing = Tracing::new(1, Some(&mut public));
/// let fitted = job.run(&table, Run::traced(tracing))?;
/// let trace = fitted.trace.as_ref().unwrap();
///
/// assert!(fitted.model.certificate().certified && trace.rows.len() == 20);
/// assert!(trace.rows[19].epsilon <= 1.0 && trace.rows[19].running.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Tracing<'p> {
    /// Every so many iterations a row; 0 and 1 are every one. The last has a row in any case.
    pub every: u64,
    /// The table of the run, where it is public. Whoever gives it says so; the trace is then not
    /// private.
    pub public: Option<&'p mut PublicData>,
}

impl<'p> Tracing<'p> {
    /// A row every so many iterations, with what is measured on the table if that is public.
    pub fn new(every: u64, public: Option<&'p mut PublicData>) -> Self {
        Tracing { every, public }
    }
}

/// What an observer of a run is shown at the end of an iteration.
pub(crate) type At<'a> = &'a dyn Iterate;

/// `‖v‖`.
fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}
