//! What must hold for every input: no error, hang or NaN; monotone in every argument; order
//! irrelevant; both ends in order; no method below another's lower bound.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use proptest::prelude::*;
use reticent_accountant::*;

fn event(rate: f64, z: f64, adjacency: Adjacency) -> Event {
    Event::new(PoissonGaussian::new(z, rate).unwrap(), adjacency, Unit::Record, View::Central)
        .unwrap()
}

fn ledger(rate: f64, z: f64, steps: u64, adjacency: Adjacency) -> Ledger {
    let mut ledger = Ledger::new();
    ledger.append_many(event(rate, z, adjacency), steps);
    ledger
}

fn adjacency() -> impl Strategy<Value = Adjacency> {
    prop_oneof![Just(Adjacency::AddRemove), Just(Adjacency::ReplaceOne)]
}

/// Ten to a power that is uniform between the two.
fn log10(low: f64, high: f64) -> impl Strategy<Value = f64> {
    (low..=high).prop_map(|exponent| 10.0_f64.powf(exponent))
}

/// The numeric bounds move by their own precision; what is monotone may differ by that.
const PRECISION: f64 = 2e-4;

fn not_above(less: &Bound, more: &Bound) -> bool {
    less.lower <= more.upper && less.upper <= more.upper * (1.0 + PRECISION) + 1e-6
}

#[test]
fn every_corner_of_the_range_has_a_finite_bound() {
    for adjacency in [Adjacency::AddRemove, Adjacency::ReplaceOne] {
        for z in [0.01, 0.3, 1.0, 1e3, 1e6] {
            for rate in [1e-9, 1e-3, 0.5, 1.0] {
                for steps in [1, 1000, 10_000_000] {
                    for delta in [1e-300, 1e-20, 1e-5, 0.5] {
                        let bound = epsilon(&ledger(rate, z, steps, adjacency), delta).unwrap();
                        let case = format!(
                            "z {z} rate {rate} steps {steps} delta {delta} {adjacency}: {bound:?}"
                        );
                        assert!(bound.upper.is_finite(), "{case}");
                        assert!(0.0 <= bound.lower && bound.lower <= bound.upper, "{case}");
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn finite_and_ordered_everywhere(
        z in log10(-2.0, 6.0), rate in log10(-9.0, 0.0), steps in log10(0.0, 7.0), delta in log10(-300.0, -0.31),
        adjacency in adjacency(),
    ) {
        let bound = epsilon(&ledger(rate, z, steps as u64, adjacency), delta).unwrap();
        prop_assert!(bound.upper.is_finite() && bound.lower <= bound.upper && bound.lower >= 0.0, "{:?}", bound);
    }

    #[test]
    fn monotone_in_every_argument(
        z in log10(-0.5, 1.5), rate in log10(-4.0, -0.3), steps in 1_u64..3000, delta in log10(-12.0, -2.0),
        more in 1.05_f64..3.0, adjacency in adjacency(),
    ) {
        let base = epsilon(&ledger(rate, z, steps, adjacency), delta).unwrap();
        let noisier = epsilon(&ledger(rate, z * more, steps, adjacency), delta).unwrap();
        prop_assert!(not_above(&noisier, &base), "noise: {noisier:?} {base:?}");
        let denser = epsilon(&ledger((rate * more).min(1.0), z, steps, adjacency), delta).unwrap();
        prop_assert!(not_above(&base, &denser), "rate: {base:?} {denser:?}");
        let longer = epsilon(&ledger(rate, z, (steps as f64 * more) as u64 + 1, adjacency), delta).unwrap();
        prop_assert!(not_above(&base, &longer), "steps: {base:?} {longer:?}");
        let looser = epsilon(&ledger(rate, z, steps, adjacency), (delta * more).min(0.5)).unwrap();
        prop_assert!(not_above(&looser, &base), "delta: {looser:?} {base:?}");
    }

    #[test]
    fn repetition_is_composition_and_order_does_not_matter(
        z in log10(-0.3, 1.0), other in log10(-0.3, 1.0), rate in log10(-3.0, -0.5), steps in 1_u64..200,
        delta in log10(-10.0, -2.0), adjacency in adjacency(),
    ) {
        let (a, b) = (event(rate, z, adjacency), event(rate, other, adjacency));
        let mut sorted = Ledger::new();
        sorted.append_many(a.clone(), steps);
        sorted.append_many(b.clone(), steps);
        let mut mixed = Ledger::new();
        for _ in 0..steps {
            mixed.append(b.clone());
            mixed.append(a.clone());
        }
        prop_assert_eq!(epsilon(&sorted, delta).unwrap(), epsilon(&mixed, delta).unwrap());
    }

    #[test]
    fn no_method_is_below_a_proven_lower_bound(
        z in log10(-0.3, 1.0), rate in log10(-3.0, 0.0), steps in 1_u64..2000, delta in log10(-10.0, -2.0),
        adjacency in adjacency(),
    ) {
        let report = report(&ledger(rate, z, steps, adjacency), delta).unwrap();
        for line in &report.lines {
            if let Ok(bound) = &line.bound {
                prop_assert!(bound.upper >= report.best.lower, "{line:?} {:?}", report.best);
                prop_assert!(bound.lower <= report.best.upper, "{line:?} {:?}", report.best);
            }
        }
    }

    #[test]
    fn the_two_questions_agree(
        z in log10(-0.3, 1.0), rate in log10(-3.0, 0.0), steps in 1_u64..2000, target in log10(-10.0, -2.0),
        adjacency in adjacency(),
    ) {
        let ledger = ledger(rate, z, steps, adjacency);
        let bound = epsilon(&ledger, target).unwrap();
        if bound.lower > 0.0 {
            // δ at the upper ε cannot exceed δ, at the lower ε cannot be below it.
            prop_assert!(delta(&ledger, bound.upper).unwrap().lower <= target * (1.0 + 1e-9));
            prop_assert!(delta(&ledger, bound.lower).unwrap().upper >= target * (1.0 - 1e-9));
        }
    }

    #[test]
    fn mixed_mechanisms_are_counted_together(
        z in log10(-0.3, 1.0), scale in log10(0.0, 2.0), pure in 0.0_f64..0.3, delta in log10(-9.0, -2.0),
    ) {
        let adjacency = Adjacency::ReplaceOne;
        let make = |m: Mechanism| Event::new(m, adjacency, Unit::Record, View::Central).unwrap();
        let mut ledger = Ledger::new();
        ledger.append_many(make(Gaussian::new(z * 5.0).unwrap().into()), 10);
        ledger.append_many(make(WithoutReplacementGaussian::new(z, 1, 50).unwrap().into()), 20);
        let part = epsilon(&ledger, delta).unwrap();
        ledger.append_many(make(Laplace::new(scale * 4.0).unwrap().into()), 3);
        ledger.append_many(make(PureDp::new(pure).unwrap().into()), 2);
        ledger.append(make(ApproximateDp::new(pure, delta / 10.0).unwrap().into()));
        let whole = report(&ledger, delta).unwrap();
        prop_assert!(whole.best.upper.is_finite());
        prop_assert!(part.lower <= whole.best.upper, "{part:?} {whole:?}");
        let rdp = whole.lines.iter().find(|line| line.method == Method::Rdp).unwrap().bound.as_ref().unwrap();
        prop_assert!(rdp.upper >= whole.best.lower);
    }
}
