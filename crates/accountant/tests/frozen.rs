//! The serialised form of ledgers. `golden/ledger.json` has an entry for every kind of mechanism,
//! every adjacency, unit, view and taint. A name or an order that changes here is a new format:
//! it gets a version, and old files still open.
//!
//! `RETICENT_FREEZE=1 cargo test -p reticent-accountant --test accountant frozen` writes the file
//! anew.

#![allow(clippy::unwrap_used)]

use std::path::Path;

use reticent_accountant::{
    Adjacency, ApproximateDp, ApproximateZcdp, Choice, Event, ExponentialMechanism, Gaussian, Gdp,
    Iteration, Laplace, Ledger, Mechanism, NonPrivate, ObjectivePerturbation, Parallel,
    PoissonGaussian, PureDp, Repetitions, Selection, ShownSample, Taint, Unit, View,
    WithoutReplacementGaussian, Zcdp,
};

fn mechanisms() -> Vec<Mechanism> {
    let gaussian = Mechanism::from(Gaussian::new(2.0).unwrap());
    let laplace = Mechanism::from(Laplace::new(3.0).unwrap());
    let runs = |count| vec![(gaussian.clone(), count), (laplace.clone(), 1)];
    let selection = |law| Mechanism::from(Selection::new(runs(2), law).unwrap());
    vec![
        gaussian.clone(),
        PoissonGaussian::new(1.5, 0.25).unwrap().into(),
        WithoutReplacementGaussian::new(1.5, 10, 100).unwrap().into(),
        ShownSample::new(2.0, 0.125).unwrap().into(),
        laplace.clone(),
        ObjectivePerturbation::new(4.0, 0.25).unwrap().into(),
        PureDp::new(0.5).unwrap().into(),
        ApproximateDp::new(0.5, 1e-6).unwrap().into(),
        Zcdp::new(0.25).unwrap().into(),
        ApproximateZcdp::new(0.25, 1e-9).unwrap().into(),
        Gdp::new(0.75).unwrap().into(),
        selection(Repetitions::TruncatedNegativeBinomial { eta: 1.0, gamma: 0.25 }),
        selection(Repetitions::Poisson { mean: 4.0 }),
        selection(Repetitions::PositivePoisson { rate: 4.0 }),
        Choice::new(vec![runs(1), runs(3)]).unwrap().into(),
        Iteration::new(0.5, 12).unwrap().into(),
        Parallel::new(vec![gaussian, laplace]).unwrap().into(),
        NonPrivate::new().unwrap().into(),
        ExponentialMechanism::new(3.0).unwrap().into(),
    ]
}

fn ledger() -> Ledger {
    let mut ledger = Ledger::new();
    for (count, mechanism) in (1..).zip(mechanisms()) {
        let event = Event::new(mechanism, Adjacency::ReplaceOne, Unit::Record, View::Central);
        ledger.append_many(event.unwrap(), count);
    }
    for unit in [Unit::Record, Unit::User] {
        for view in [View::Central, View::Local, View::SecureAggregation, View::Network] {
            let gaussian = Gaussian::new(8.0).unwrap();
            ledger.append(Event::new(gaussian, Adjacency::AddRemove, unit, view).unwrap());
        }
    }
    for taint in [Taint::SeededNoise, Taint::AsPublished(3), Taint::UnpaidRead, Taint::RawRelease] {
        ledger.taint(taint);
    }
    ledger
}

#[test]
fn the_form_of_a_ledger_is_what_it_was() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/ledger.json");
    let text = serde_json::to_string_pretty(&ledger()).unwrap() + "\n";
    if std::env::var_os("RETICENT_FREEZE").is_some() {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, &text).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap();
    assert_eq!(golden, text);
    assert_eq!(serde_json::from_str::<Ledger>(&golden).unwrap(), ledger());
}

#[test]
fn every_kind_of_mechanism_is_in_the_frozen_ledger() {
    let mut kinds: Vec<_> = mechanisms().iter().map(Mechanism::kind).collect();
    kinds.dedup();
    // What is added stands at the end of the ledger, and where it belongs in the catalogue.
    kinds.sort_unstable();
    let mut all = Mechanism::KINDS.to_vec();
    all.sort_unstable();
    assert_eq!(kinds, all);
}
