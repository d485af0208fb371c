//! Events that are made of others: selection, parallel parts, walks, groups.

#![allow(clippy::unwrap_used)]

use reticent_accountant::*;

fn cost(mechanism: impl Into<Mechanism>, count: u64, delta: f64) -> Bound {
    let mut ledger = Ledger::new();
    ledger
        .append_many(Event::new(mechanism, Adjacency::ReplaceOne, Unit::User, View::Central).unwrap(), count);
    epsilon(&ledger, delta).unwrap()
}

#[test]
fn choosing_costs_more_than_one_run_and_less_than_ten() {
    let run = vec![(Mechanism::from(Gaussian::new(20.0).unwrap()), 1)];
    let single = cost(Gaussian::new(20.0).unwrap(), 1, 1e-6).upper;
    let laws = [
        Repetitions::TruncatedNegativeBinomial { eta: 1.0, gamma: 0.1 },
        Repetitions::TruncatedNegativeBinomial { eta: 0.0, gamma: 0.1 },
        Repetitions::Poisson { mean: 10.0 },
    ];
    for law in laws {
        let many = cost(Selection::new(run.clone(), law).unwrap(), 1, 1e-6).upper;
        assert!(many > single && many < 10.0 * single, "{law:?}: {many} against {single}");
    }
    let geometric = Repetitions::TruncatedNegativeBinomial { eta: 1.0, gamma: 0.1 };
    assert!((geometric.mean() - 10.0).abs() < 1e-12);
    let text = serde_json::to_string(&Mechanism::from(Selection::new(run, geometric).unwrap())).unwrap();
    assert!(text.starts_with(r#"{"kind":"selection","#), "{text}");
    assert!(matches!(serde_json::from_str::<Mechanism>(&text).unwrap(), Mechanism::Selection(_)));
    assert!(serde_json::from_str::<Mechanism>(&text.replace("0.1", "1.1")).is_err());
}

#[test]
fn parallel_costs_the_largest_part() {
    let parts = vec![Gaussian::new(3.0).unwrap().into(), Gaussian::new(2.0).unwrap().into()];
    let both = cost(Parallel::new(parts).unwrap(), 5, 1e-5);
    assert_eq!(both, cost(Gaussian::new(2.0).unwrap(), 5, 1e-5));
    let mixed = vec![PureDp::new(0.1).unwrap().into(), Gaussian::new(50.0).unwrap().into()];
    assert!(cost(Parallel::new(mixed).unwrap(), 1, 1e-5).upper.is_finite());
    assert!(Parallel::new(Vec::new()).is_err());
}

#[test]
fn iteration_never_exceeds_the_local_guarantee() {
    for users in [2, 10, 1000, 1_000_000] {
        let seen = cost(Iteration::new(0.05, users).unwrap(), 20, 1e-6).upper;
        let local = cost(Zcdp::new(0.05 * 0.05 / 2.0).unwrap(), 20, 1e-6).upper;
        assert!(seen <= local * (1.0 + 1e-9), "{users}: {seen} {local}");
        assert!(users < 1000 || seen < local / 2.0, "{users}: {seen} {local}");
    }
}

#[test]
fn groups_are_exact_or_refused() {
    let gaussian = Mechanism::from(Gaussian::new(6.0).unwrap());
    assert_eq!(gaussian.group(3).unwrap(), Gaussian::new(2.0).unwrap().into());
    assert_eq!(gaussian.group(1).unwrap(), gaussian);
    let sampled = Mechanism::from(PoissonGaussian::new(6.0, 0.1).unwrap());
    let message = sampled.group(2).unwrap_err().to_string();
    assert_eq!(
        message,
        "poisson-gaussian has no exact guarantee for groups of 2: count the event per user instead"
    );
}
