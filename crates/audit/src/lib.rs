//! An attack on the product itself: the same job is run many times on two tables that differ in one
//! record, and how well an adversary can tell the two apart gives a lower bound on ε, with a
//! confidence.
//!
//! ```text
//! pair of tables ─► real fits, real gate ─► transcripts ─► scores ─► test ─► ε ≥ …
//! ```
//!
//! A lower bound above the certified ε is a proof (at its confidence) that something is wrong. A
//! lower bound below it proves nothing: another attack may do better.

mod asked;
mod asked_sums;
mod attack;
mod cell;
mod discriminant;
mod evaluated;
mod learned;
mod likelihood;
mod map;
mod method;
mod one_run;
mod pair;
mod parties;
mod reading;
mod report;
mod search;
#[cfg(reticent_seeded_bugs)]
mod seeded;
mod spec;
mod subject;
mod sums;
mod threshold;

pub use attack::{AttackStatistic, Told};
pub use map::{CellReport, TIGHT, audit_map, markdown};
pub use method::AuditMethod;
pub use pair::{CanaryChange, Neighbours, Others};
pub use report::AuditReport;
pub use reticent_oracle::Sampling;
pub use spec::AuditSpec;

#[cfg(reticent_seeded_bugs)]
pub use reticent_oracle::Bug;

/// Without the condition there is nothing to switch on.
///
/// ```compile_fail,E0432
/// use reticent_oracle::Bug;
/// ```
#[cfg(all(doctest, not(reticent_seeded_bugs)))]
struct NoBugByDefault;

use std::ops::ControlFlow;

use reticent::Error;
use reticent::accountant::Refused;

use reading::LawFamily;
use subject::AuditSubject;

/// Does what the specification asks for.
pub fn run(spec: &AuditSpec) -> Result<AuditReport, Error> {
    run_told(spec, &|_, _| ControlFlow::Continue(()))
}

/// The same, and `told` hears how many of how many runs are done and may stop it.
pub fn run_told(spec: &AuditSpec, told: &Told<'_>) -> Result<AuditReport, Error> {
    spec.check()?;
    if spec.method == AuditMethod::OneRun {
        return one_run::audit(spec);
    }
    let subject = AuditSubject::new(spec)?;
    let family = match (spec.method, subject.family()) {
        (AuditMethod::Gdp, LawFamily::Gaussian) | (AuditMethod::Profile, LawFamily::Gaussian) => {
            LawFamily::Gaussian
        }
        (AuditMethod::Gdp, _) => {
            let why = "a run like this is not exactly Gaussian, and the fit would not be a bound; \
                       use threshold or profile";
            return Err(Refused::new("method", "gdp", why).into());
        }
        (AuditMethod::Profile, family) => family,
        _ => LawFamily::Unknown,
    };
    let found = search::search(spec, &subject, family, told)?;
    spec.report((subject.epsilon()?, subject.view()), found)
}
