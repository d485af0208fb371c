//! Losses far beyond the range of e^x: every number here was once wrong, or lies where such numbers are.

#![allow(clippy::unwrap_used)]

use reticent_accountant::*;

fn event(mechanism: impl Into<Mechanism>, adjacency: Adjacency) -> Event {
    Event::new(mechanism, adjacency, Unit::Record, View::Central).unwrap()
}

fn ledger(mechanism: impl Into<Mechanism>, adjacency: Adjacency, count: u64) -> Ledger {
    let mut ledger = Ledger::new();
    ledger.append_many(event(mechanism, adjacency), count);
    ledger
}

fn poisson(z: f64, rate: f64, adjacency: Adjacency, steps: u64) -> Ledger {
    ledger(PoissonGaussian::new(z, rate).unwrap(), adjacency, steps)
}

const BOTH: [Adjacency; 2] = [Adjacency::ReplaceOne, Adjacency::AddRemove];

/// `lower ≤ truth ≤ upper`, and the two are within `factor` of each other.
fn brackets(bound: Bound, truth: f64, factor: f64) {
    assert!(bound.lower <= truth && truth <= bound.upper, "{truth} is not within {bound:?}");
    assert!(bound.upper <= factor * bound.lower, "{bound:?} is wider than a factor of {factor}");
}

#[test]
fn a_hopeless_run_has_delta_one() {
    for adjacency in BOTH {
        let bound = delta(&poisson(0.5, 0.5, adjacency, 10_000), 1.0).unwrap();
        brackets(bound, 1.0, 1.001);
    }
}

/// Σ Binomial(500, .01) draws of a loss of 1/(2·.03²): Rényi says 8765 beside it.
#[test]
fn rare_draws_with_little_noise_are_not_free() {
    for adjacency in BOTH {
        let ledger = poisson(0.03, 0.01, adjacency, 500);
        let bound = epsilon(&ledger, 5e-4).unwrap();
        assert!(bound.upper > 5000.0 && bound.upper < 9000.0, "{bound:?}");
        assert!(bound.lower > 0.8 * bound.upper, "{bound:?}");
        let at = delta(&ledger, 2000.0).unwrap();
        assert!(at.lower > 0.5 && at.upper < 1.01 * at.lower, "{at:?}");
    }
}

/// 100 answers of randomised response with ε = 70 hardly ever lie: the loss is 7000 but for e^{−65}.
#[test]
fn many_pure_events_are_not_free() {
    let ledger = ledger(PureDp::new(70.0).unwrap(), Adjacency::ReplaceOne, 100);
    brackets(delta(&ledger, 601.0).unwrap(), 1.0, 1.02);
    let bound = epsilon(&ledger, 1e-5).unwrap();
    brackets(bound, 7000.0 - 1e-5, 1.001);
}

#[test]
fn a_mixture_of_full_and_sampled_steps_is_not_free() {
    let mut both = ledger(Gaussian::new(0.05).unwrap(), Adjacency::AddRemove, 50);
    both.append_many(event(PoissonGaussian::new(0.05, 0.5).unwrap(), Adjacency::AddRemove), 50);
    let full = epsilon(&ledger(Gaussian::new(0.05).unwrap(), Adjacency::AddRemove, 50), 1e-5).unwrap();
    let bound = epsilon(&both, 1e-5).unwrap();
    assert!(bound.upper >= full.lower && bound.lower >= 0.9 * bound.upper, "{bound:?} {full:?}");
    assert!(delta(&both, 1.0).unwrap().lower > 0.999);
}

/// One in 100,000 is drawn, and δ covers nearly all of that: the loss itself is large all the same.
#[test]
fn a_rate_just_above_delta_is_not_free() {
    let drawn = WithoutReplacementGaussian::new(0.01, 1, 100_000).unwrap();
    brackets(epsilon(&ledger(drawn, Adjacency::ReplaceOne, 1), 9.99e-6).unwrap(), 19_369.0, 1.01);
    let drawn = poisson(0.001, 1e-5, Adjacency::AddRemove, 1);
    brackets(epsilon(&drawn, 5e-6).unwrap(), 499_987.0, 1.01);
}

/// The lower end was 0 here, beside an upper one of 46,418.
#[test]
fn the_lower_end_is_of_use_where_losses_are_large() {
    for adjacency in BOTH {
        let bound = epsilon(&poisson(0.1, 0.1, adjacency, 10_000), 1e-5).unwrap();
        assert!(bound.lower > 0.9 * bound.upper, "{adjacency}: {bound:?}");
    }
}

/// A rate below δ: an outcome that shows the draw is what δ allows for, whatever the noise.
#[test]
fn calibration_with_a_rate_below_delta_is_finite_and_fits() {
    for adjacency in BOTH {
        let plan = |z: f64| -> Result<Ledger, EventError> {
            let step = PoissonGaussian::new(z, 0.000_219)?;
            let mut ledger = Ledger::new();
            ledger.append(Event::new(step, adjacency, Unit::Record, View::Central)?);
            Ok(ledger)
        };
        let found = calibrate(1.0, 0.003_01, plan).unwrap();
        assert!(found.noise_multiplier > 0.0 && found.epsilon.upper <= 1.0, "{found:?}");
        let again = epsilon(&plan(found.noise_multiplier).unwrap(), 0.003_01).unwrap();
        assert!(again.upper <= 1.0, "{again:?}");
    }
}
