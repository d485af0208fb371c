//! An attack on the product itself: the same job is run many times on two tables that differ in one record,
//! and how well an adversary can tell the two apart gives a lower bound on ε, with a confidence.
//!
//! ```text
//! pair of tables ─► real fits, real gate ─► transcripts ─► scores ─► test ─► ε ≥ …
//! ```
//!
//! A lower bound above the certified ε is a proof (at its confidence) that something is wrong. A lower bound
//! below it proves nothing: another attack may do better.

mod attack;
mod crowd;
mod gdp;
mod method;
mod one_run;
mod pair;
mod report;
mod spec;
mod subject;
mod threshold;

pub use attack::Statistic;
pub use method::Method;
pub use pair::Others;
pub use report::AuditReport;
pub use reticent_oracle::Sampling;
pub use spec::AuditSpec;

#[cfg(feature = "seeded-bugs")]
pub use reticent_oracle::Bug;

/// Without the feature there is nothing to switch on.
///
/// ```compile_fail,E0432
/// use reticent_oracle::Bug;
/// ```
#[cfg(all(doctest, not(feature = "seeded-bugs")))]
struct NoBugByDefault;

use reticent::Error;

/// Does what the specification asks for.
pub fn run(spec: &AuditSpec) -> Result<AuditReport, Error> {
    run_told(spec, &|_, _| {})
}

/// The same, and `told` hears how many of how many runs are done, from several threads.
pub fn run_told(spec: &AuditSpec, told: &(dyn Fn(u64, u64) + Sync)) -> Result<AuditReport, Error> {
    spec.check()?;
    match spec.method {
        Method::Threshold => threshold::audit(spec, told),
        Method::Gdp => gdp::audit(spec, told),
        Method::OneRun => one_run::audit(spec),
    }
}
