//! How the limits of a test are read as an ε.
//!
//! By a threshold they are, whatever the mechanism. Where the law of the mechanism is known but for
//! the scale of its noise, they say more: let δ_s(ε) be the profile that the books give to the same
//! run with s times the noise. If
//!
//! ```text
//! p̲ > e^ε p̄' + δ_s(ε)   or   1 − p̄' > e^ε (1 − p̲) + δ_s(ε)      for some ε
//! ```
//!
//! then the run is not one with s times the noise or more, and its ε is at least that of s. At s =
//! 1 it contradicts the books outright: the alarm does not hang on the family. For Gaussian runs it
//! is Φ⁻¹(p̲) − Φ⁻¹(p̄') (Nasr et al. 2023, section 3). All counts are used where they are large,
//! which is much sharper than a threshold far out. Proof note: `proofs/audit.md`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use reticent::Error;
use reticent::accountant::{Adjacency, Event, Ledger, LedgerEntry, Refused, Unit, View};
use reticent::internal::accountant::statistics::normal_quantile;
use reticent::internal::accountant::{Gdp, delta as delta_at, epsilon as epsilon_at};

use crate::subject::AuditSubject;
use crate::threshold::{AttackComparison, TestLimits};

/// Where the profile is looked at.
const EPSILONS: [f64; 5] = [0.0, 0.5, 1.2, 2.2, 3.6];

/// Scales of the noise that are tried: from so many times less to so many times more. At 1 there is
/// none: who is at the border is not above it.
const SCALES: (f64, f64) = (0.4, 6.0);

/// How often the range of scales is halved, when a test is chosen and when its limits are read.
const HALVINGS: [u32; 2] = [4, 7];

/// What is known of the law of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LawFamily {
    /// Gaussian privacy, of whatever μ.
    Gaussian,
    /// The plan with more noise or less.
    Books,
    /// Nothing.
    Unknown,
}

/// A reader of limits, for one audit.
pub(crate) struct LimitReader<'a> {
    pub subject: &'a AuditSubject,
    pub family: LawFamily,
    pub delta: f64,
    pub adjacency: Adjacency,
    /// The plan as it is, by which profiles are known again.
    plan: String,
}

/// Profiles by plan and scale: many cells of the map have the same. The lock is not held while one
/// is computed, which takes seconds: only who wants the same waits.
static KNOWN: Mutex<BTreeMap<(String, u64), Arc<ProfileCell>>> = Mutex::new(BTreeMap::new());

/// A profile that is computed once; `None` where there is none.
type ProfileCell = OnceLock<Option<ProfileScale>>;

/// The profile of the plan at one scale, and its ε.
#[derive(Clone, Debug)]
struct ProfileScale {
    deltas: Vec<f64>,
    epsilon: f64,
}

impl<'a> LimitReader<'a> {
    pub fn new(
        subject: &'a AuditSubject,
        family: LawFamily,
        delta: f64,
        adjacency: Adjacency,
    ) -> Self {
        let plan = match (family, subject.plan_at(1.0)) {
            (LawFamily::Books, Ok(plan)) => words(&plan, delta),
            _ => String::new(),
        };
        LimitReader { subject, family, delta, adjacency, plan }
    }

    /// The least ε that the limits allow, by all that is known.
    pub fn epsilon(&self, limits: TestLimits) -> Result<f64, Error> {
        self.by_halving(limits, HALVINGS[1])
    }

    /// The same, for choosing.
    pub fn rough(&self, limits: TestLimits) -> Result<f64, Error> {
        self.by_halving(limits, HALVINGS[0])
    }

    fn by_halving(&self, limits: TestLimits, halvings: u32) -> Result<f64, Error> {
        let plain = limits.epsilon(self.delta);
        Ok(plain.max(match self.family {
            LawFamily::Gaussian => epsilon_of(mu_above(limits), self.delta, self.adjacency)?,
            LawFamily::Books => by_scale(halvings, |scale| self.contradicted(scale, limits)),
            LawFamily::Unknown => 0.0,
        }))
    }

    /// ε of this scale, if the limits contradict it.
    fn contradicted(&self, scale: f64, limits: TestLimits) -> Option<f64> {
        let place = (self.plan.clone(), scale.to_bits());
        let cell = {
            let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(place).or_default())
        };
        let profile = cell.get_or_init(|| self.profile(scale)).as_ref()?;
        let TestLimits { often, seldom } = limits;
        let broken = |(epsilon, delta): (&f64, &f64)| {
            let factor = epsilon.exp();
            often > factor * seldom + delta || 1.0 - seldom > factor * (1.0 - often) + delta
        };
        EPSILONS.iter().zip(&profile.deltas).any(broken).then_some(profile.epsilon)
    }

    fn profile(&self, scale: f64) -> Option<ProfileScale> {
        let plan = self.subject.plan_at(scale).ok()?;
        let deltas = EPSILONS.iter().map(|&epsilon| Some(delta_at(&plan, epsilon).ok()?.upper));
        Some(ProfileScale {
            deltas: deltas.collect::<Option<_>>()?,
            epsilon: epsilon_at(&plan, self.delta).ok()?.lower.max(0.0),
        })
    }
}

/// ε of the least scale that is contradicted: all above it are contradicted too.
fn by_scale(halvings: u32, contradicted: impl Fn(f64) -> Option<f64>) -> f64 {
    let (least, most) = SCALES;
    let (mut low, mut high) = (least.ln(), most.ln());
    let Some(mut found) = contradicted(high.exp()) else { return 0.0 };
    for _ in 0..halvings {
        let middle = 0.5 * (low + high);
        match contradicted(middle.exp()) {
            Some(epsilon) => (high, found) = (middle, epsilon),
            None => low = middle,
        }
    }
    found
}

/// All of a plan that its profile depends on: not whom it protects and from whom.
fn words(plan: &Ledger, delta: f64) -> String {
    let entry = |entry: &LedgerEntry| {
        let event = entry.event();
        format!("{:?} {} {}", event.mechanism(), event.adjacency(), entry.count())
    };
    let entries: Vec<String> = plan.entries().iter().map(entry).collect();
    format!("{delta} {}", entries.join(", "))
}

/// The least μ that the limits allow.
pub(crate) fn mu_above(TestLimits { often, seldom }: TestLimits) -> f64 {
    let by = by_mu();
    (by.value)(TestLimits { often: (by.often)(often), seldom: (by.seldom)(seldom) })
}

/// The comparison of tests by it: quantiles of the limits, and their distance.
pub(crate) fn by_mu() -> AttackComparison<fn(TestLimits) -> f64> {
    // Limits of 1 and 0 do not occur with finite counts but for rounding.
    AttackComparison {
        often: |limit| match limit <= 0.0 {
            true => f64::NEG_INFINITY,
            false => normal_quantile(limit.min(1.0 - 1e-12)),
        },
        seldom: |limit| match limit >= 1.0 {
            true => f64::INFINITY,
            false => normal_quantile(limit.max(1e-300)),
        },
        value: |TestLimits { often, seldom }| (often - seldom).max(0.0),
    }
}

/// ε(δ) of μ-GDP, from below.
pub(crate) fn epsilon_of(mu: f64, delta: f64, adjacency: Adjacency) -> Result<f64, Error> {
    if mu == 0.0 {
        return Ok(0.0);
    }
    let refuse = |error: &dyn std::fmt::Display| {
        Refused::new("epsilon", format!("a measured mu of {mu}"), error.to_string())
    };
    let gdp = Gdp::new(mu).map_err(|error| refuse(&error))?;
    let event =
        Event::new(gdp, adjacency, Unit::Record, View::Central).map_err(|error| refuse(&error))?;
    let mut ledger = Ledger::new();
    ledger.append(event);
    Ok(epsilon_at(&ledger, delta)?.lower.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::AuditSpec;
    use reticent::internal::accountant::statistics::normal_cdf;
    use reticent_oracle::Sampling;

    #[test]
    fn the_curve_of_a_gaussian_gives_its_mu_at_every_threshold() {
        for t in [-1.0, 0.0, 2.5] {
            let limits = TestLimits { often: normal_cdf(1.2 - t), seldom: normal_cdf(-t) };
            assert!((mu_above(limits) - 1.2).abs() < 1e-9);
        }
        assert_eq!(mu_above(TestLimits { often: 0.0, seldom: 0.1 }), 0.0);
    }

    /// More noise is contradicted sooner, and has less ε: the search goes down from the most.
    #[test]
    fn the_least_scale_that_is_contradicted_is_found() {
        let found =
            |from: f64| by_scale(HALVINGS[1], |scale| (scale >= from).then_some(1.0 / scale));
        for from in [0.5, 0.9, 1.7, 5.0] {
            // ln 15 halved seven times is 0.0212.
            assert!((0.978 / from..=1.0 / from).contains(&found(from)), "{from}: {}", found(from));
        }
        assert_eq!(found(6.1), 0.0);
    }

    /// Once every reading against the books was zero.
    #[test]
    fn books_are_read_the_right_way_round() {
        let spec =
            AuditSpec { epsilon: 2.0, sampling: Sampling::Poisson(0.5), ..AuditSpec::default() };
        let subject = AuditSubject::new(&spec).unwrap();
        let reading = LimitReader::new(&subject, LawFamily::Books, spec.delta, spec.adjacency);
        let read = |often: f64, seldom: f64| {
            by_scale(HALVINGS[0], |scale| reading.contradicted(scale, TestLimits { often, seldom }))
        };
        let readings = [read(0.5, 0.5), read(0.5, 0.3), read(0.6, 0.1)];
        assert!(readings[0] == 0.0 && readings.is_sorted(), "{readings:?}");
        assert!(readings[1] > 0.2 && readings[1] < 2.0 && readings[2] > 2.0, "{readings:?}");
    }

    #[test]
    fn epsilon_of_mu_is_the_known_one() {
        // dp_accounting: get_epsilon_gaussian(1/1.2, 1e-3)
        let found = epsilon_of(1.2, 1e-3, Adjacency::ReplaceOne).unwrap();
        assert!((3.8..4.1).contains(&found), "{found}");
    }
}
