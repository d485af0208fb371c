//! The same test, read as a statement on Gaussian differential privacy (Nasr et al. 2023, section 3).
//!
//! A μ-GDP mechanism has P(S | D) ≤ Φ(Φ⁻¹(P(S | D')) + μ) for every S (Dong, Roth and Su 2022), so
//!
//! ```text
//! μ ≥ Φ⁻¹(p̲) − Φ⁻¹(p̄')
//! ```
//!
//! at the confidence of the two limits, and ε(δ) of that μ follows. The first step holds for every mechanism;
//! the second says what ε is for a mechanism whose trade-off curve *is* Gaussian. So it is offered where the
//! books say that a run is exactly μ-GDP, and refused elsewhere. It uses the middle of the curve, where
//! counts are large, and is therefore much sharper than a threshold far out.

use reticent::Error;
use reticent::accountant::{Event, Gdp, Ledger, View, epsilon};
use reticent_statistics::normal_quantile;

use crate::attack::Statistic;
use crate::report::AuditReport;
use crate::spec::AuditSpec;
use crate::subject::Subject;
use crate::threshold::{Limits, best};

/// The audit.
pub(crate) fn audit(spec: &AuditSpec, told: &(dyn Fn(u64, u64) + Sync)) -> Result<AuditReport, Error> {
    let subject = Subject::new(spec)?;
    if subject.mu().is_none() {
        return Err(Error::Value {
            name: "method",
            given: "gdp".to_owned(),
            allowed:
                "a run with sampling is not exactly Gaussian, and the fit would not be a bound; use threshold"
                    .to_owned(),
        });
    }
    let (test, limits) = best(spec, &subject, told, mu_above)?;
    spec.report(
        (subject.epsilon()?, subject.view()),
        epsilon_of(mu_above(limits), spec)?,
        Statistic::ALL[test.statistic],
    )
}

/// The least μ that the limits allow.
fn mu_above(Limits { often, seldom }: Limits) -> f64 {
    if often <= 0.0 || seldom >= 1.0 {
        return 0.0;
    }
    // Limits of 1 and 0 do not occur with finite counts but for rounding.
    (normal_quantile(often.min(1.0 - 1e-12)) - normal_quantile(seldom.max(1e-300))).max(0.0)
}

/// ε(δ) of μ-GDP, from below.
fn epsilon_of(mu: f64, spec: &AuditSpec) -> Result<f64, Error> {
    if mu == 0.0 {
        return Ok(0.0);
    }
    let refuse = |error: &dyn std::fmt::Display| Error::Value {
        name: "epsilon",
        given: format!("a measured mu of {mu}"),
        allowed: error.to_string(),
    };
    let gdp = Gdp::new(mu).map_err(|error| refuse(&error))?;
    let event = Event::new(gdp, spec.adjacency, reticent::accountant::Unit::Record, View::Central)
        .map_err(|error| refuse(&error))?;
    let mut ledger = Ledger::new();
    ledger.append(event);
    Ok(epsilon(&ledger, spec.delta)?.lower.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_statistics::normal_cdf;

    #[test]
    fn the_curve_of_a_gaussian_gives_its_mu_at_every_threshold() {
        for t in [-1.0, 0.0, 2.5] {
            let limits = Limits { often: normal_cdf(1.2 - t), seldom: normal_cdf(-t) };
            assert!((mu_above(limits) - 1.2).abs() < 1e-9);
        }
        assert_eq!(mu_above(Limits { often: 0.0, seldom: 0.1 }), 0.0);
    }

    #[test]
    fn epsilon_of_mu_is_the_known_one() {
        // dp_accounting: get_epsilon_gaussian(1/1.2, 1e-3)
        let spec = AuditSpec { delta: 1e-3, ..AuditSpec::default() };
        let found = epsilon_of(1.2, &spec).unwrap();
        assert!((3.8..4.1).contains(&found), "{found}");
    }
}
