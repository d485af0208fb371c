//! The numbers that the specification names.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use reticent_accountant::*;

fn ledger(mechanism: impl Into<Mechanism>, adjacency: Adjacency, count: u64) -> Ledger {
    let mut ledger = Ledger::new();
    ledger
        .append_many(Event::new(mechanism, adjacency, Unit::Record, View::Central).unwrap(), count);
    ledger
}

fn poisson(rate: f64, z: f64, steps: u64) -> Ledger {
    ledger(PoissonGaussian::new(z, rate).unwrap(), Adjacency::AddRemove, steps)
}

fn by(report: &AccountReport, method: Method) -> f64 {
    report.lines.iter().find(|line| line.method == method).unwrap().bound.as_ref().unwrap().upper
}

#[test]
fn poisson_add_remove() {
    let report = report(&poisson(0.01, 1.0, 10_000), 1e-5).unwrap();
    let best = report.best;
    assert_eq!(best.method, Method::Pld);
    assert!((best.upper - 6.1877).abs() <= 0.0015, "{best:?}");
    assert!(best.lower <= 6.1877 && 6.1877 <= best.upper + 1e-4, "{best:?}");
    assert!(best.upper - best.lower <= 2e-3, "{best:?}");
    let rdp = by(&report, Method::Rdp);
    assert!(rdp >= best.upper && rdp <= 6.72, "{rdp}");
    assert!(by(&report, Method::Mironov17) >= rdp);
}

#[test]
fn one_gaussian() {
    for (adjacency, want) in [(Adjacency::AddRemove, 1.993), (Adjacency::ReplaceOne, 4.377)] {
        let full = ledger(Gaussian::new(2.0).unwrap(), adjacency, 1);
        let report = report(&full, 1e-5).unwrap();
        assert!((report.best.upper - want).abs() < 5e-4, "{report:?}");
        assert!((by(&report, Method::Pld) - want).abs() < 6e-4, "{report:?}");
        assert!(by(&report, Method::Rdp) >= want, "{report:?}");
        let sampled = ledger(PoissonGaussian::new(2.0, 1.0).unwrap(), adjacency, 1);
        assert_eq!(epsilon(&sampled, 1e-5).unwrap(), report.best);
    }
}

#[test]
fn moments_accountant_of_dpa19() {
    for (per_step, moments, exact) in [(0.05, 0.5009, 0.2772), (0.1, 1.0193, 0.6339)] {
        let delta = 1e-3_f64;
        // DPA19 Thm. 1: noise over sensitivity is √(2 ln(1.25/δ))/ε; here noise over clip,
        // replace-one.
        let z = 2.0 * (2.0 * (1.25 / delta).ln()).sqrt() / per_step;
        let report =
            report(&ledger(Gaussian::new(z).unwrap(), Adjacency::ReplaceOne, 100), delta).unwrap();
        assert!((by(&report, Method::Moments) - moments).abs() < 5e-5, "{report:?}");
        assert!((report.best.upper - exact).abs() < 5e-5, "{report:?}");
    }
}

#[test]
fn without_replacement() {
    let sampled = WithoutReplacementGaussian::new(2.0, 326, 32_561).unwrap();
    let report = report(&ledger(sampled, Adjacency::ReplaceOne, 1000), 1e-5).unwrap();
    let rdp = by(&report, Method::Rdp);
    assert!((rdp - 3.581).abs() < 2e-3, "{rdp}");
    assert!(report.best.upper < rdp && report.best.method == Method::Pld);
}

#[test]
fn calibration() {
    let plan = |z: f64| -> Result<Ledger, EventError> {
        let mut ledger = Ledger::new();
        let step = PoissonGaussian::new(z, 0.01)?;
        ledger.append_many(
            Event::new(step, Adjacency::AddRemove, Unit::Record, View::Central)?,
            10_000,
        );
        Ok(ledger)
    };
    let found = calibrate(1.0, 1e-5, plan).unwrap();
    assert!((found.noise_multiplier / 3.813 - 1.0).abs() < 0.002, "{found:?}");
    assert!(found.epsilon.upper <= 1.0);
    assert_eq!(calibrate(1.0, 1e-5, plan).unwrap(), found);
}

#[test]
fn small_noise() {
    let full = epsilon(&poisson(1.0, 0.05, 100), 1e-5).unwrap();
    assert!((full.upper - 20_851.99).abs() < 0.01, "{full:?}");
    for (rate, z) in [(0.1, 0.3), (0.5, 0.2)] {
        let bound = epsilon(&poisson(rate, z, 1000), 1e-5).unwrap();
        assert!(bound.upper.is_finite() && bound.upper < bound.lower * 1.005, "{bound:?}");
    }
}
