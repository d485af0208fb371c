//! The textbook's methods against their formulas. They stand beside the best bound in every report,
//! and are the best where nothing else is known: one that is too small would be believed.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use reticent_accountant::*;

const DELTA: f64 = 1e-5;

fn ledger(events: &[(Mechanism, u64)]) -> Ledger {
    let mut ledger = Ledger::new();
    for (mechanism, count) in events {
        let (adjacency, unit, view) = (Adjacency::ReplaceOne, Unit::Record, View::Central);
        ledger.append_many(Event::new(mechanism.clone(), adjacency, unit, view).unwrap(), *count);
    }
    ledger
}

fn by(ledger: &Ledger, method: Method) -> f64 {
    let report = report(ledger, DELTA).unwrap();
    let line = report.lines.iter().find(|line| line.method == method).unwrap();
    line.bound.as_ref().unwrap().upper
}

/// Rounded up, and by no more than roundings are worth.
fn is_just_above(said: f64, truth: f64) {
    assert!(said >= truth && said <= truth * (1.0 + 1e-9), "{said} {truth}");
}

#[test]
fn basic_composition_adds_every_epsilon() {
    let pure = (PureDp::new(0.3).unwrap().into(), 4);
    let approximate = (ApproximateDp::new(0.5, 1e-7).unwrap().into(), 2);
    is_just_above(by(&ledger(std::slice::from_ref(&pure)), Method::Basic), 1.2);
    is_just_above(by(&ledger(&[pure, approximate]), Method::Basic), 2.2);
}

#[test]
fn advanced_composition_is_the_theorem_of_kairouz_oh_and_viswanath() {
    let parts = [(0.1_f64, 100), (0.02, 7)];
    let events = parts.map(|(epsilon, count)| (PureDp::new(epsilon).unwrap().into(), count));
    let drift: f64 = parts.iter().map(|(e, n)| *n as f64 * e * (e / 2.0).tanh()).sum();
    let square: f64 = parts.iter().map(|(e, n)| *n as f64 * e * e).sum();
    // Half of δ is for the theorem.
    let truth = drift + (2.0 * (2.0 / DELTA).ln() * square).sqrt();
    is_just_above(by(&ledger(&events), Method::Advanced), truth);
}

/// Of Gaussian events every one takes its share of the other half of δ.
#[test]
fn advanced_composition_shares_delta_among_the_events() {
    let (z, count) = (40.0, 10_u64);
    let one = ledger(&[(Gaussian::new(z).unwrap().into(), 1)]);
    let each = epsilon(&one, DELTA / 2.0 / count as f64).unwrap().upper;
    let n = count as f64;
    let truth =
        n * each * (each / 2.0).tanh() + (2.0 * (2.0 / DELTA).ln() * n * each * each).sqrt();
    let said = by(&ledger(&[(Gaussian::new(z).unwrap().into(), count)]), Method::Advanced);
    assert!((said / truth - 1.0).abs() < 1e-6, "{said} {truth}");
}

/// A contribution moves the token by 4γL at the most.
#[test]
fn a_contribution_to_a_walk_is_counted_for_all_that_it_moves() {
    let said = views::network_contribution(0.25, 4.0, 8.0, 10).unwrap();
    assert_eq!(said, Iteration::new(0.5, 10).unwrap());
}

/// DPA19: 100 iterations with noise of 2√(2 ln(1.25/δ))/0.05 clips are ε̄ = 0.5009 by its moments
/// accountant at δ = 1e-3.
#[test]
fn the_noise_of_a_paper_is_found_by_its_own_accountant() {
    let plan =
        |z: f64| -> Result<Ledger, EventError> { Ok(ledger(&[(Gaussian::new(z)?.into(), 100)])) };
    let paper = 2.0 * (2.0 * (1.25_f64 / 1e-3).ln()).sqrt() / 0.05;
    let theirs = calibrate_by(Method::Moments, 0.5009, 1e-3, plan).unwrap();
    assert!((theirs.noise_multiplier / paper - 1.0).abs() < 5e-4, "{theirs:?} {paper}");
    assert!(theirs.epsilon.upper <= 0.5009 && theirs.epsilon.method == Method::Moments);
    let ours = calibrate(0.5009, 1e-3, plan).unwrap();
    assert!(ours.noise_multiplier < theirs.noise_multiplier);
    // A method that does not apply promises nothing.
    let pure =
        |z: f64| -> Result<Ledger, EventError> { Ok(ledger(&[(PureDp::new(1.0 / z)?.into(), 1)])) };
    let none = calibrate_by(Method::Exact, 1.0, 1e-3, pure);
    assert!(matches!(none, Err(CalibrationError::OutOfReach { .. })), "{none:?}");
}
