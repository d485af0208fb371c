//! Events and ledgers: checked at the door, refused by name, unchanged by a trip through JSON.

#![allow(clippy::unwrap_used)]

use reticent_accountant::{
    Adjacency, Event, EventError, Gaussian, Ledger, NonPrivate, PoissonGaussian, Taint, Unit, View,
    WithoutReplacementGaussian, calibrate, delta, epsilon,
};

fn gaussian(z: f64) -> Event {
    Event::new(Gaussian::new(z).unwrap(), Adjacency::ReplaceOne, Unit::Record, View::Central).unwrap()
}

#[test]
fn bad_parameters_are_named() {
    let message = Gaussian::new(-1.0).unwrap_err().to_string();
    assert_eq!(message, "gaussian: noise_multiplier is -1, but it must be a finite number greater than 0");
    assert!(PoissonGaussian::new(1.0, 0.0).is_err());
    assert!(WithoutReplacementGaussian::new(1.0, 11, 10).is_err());
}

#[test]
fn without_replacement_is_refused_under_add_remove() {
    let mechanism = WithoutReplacementGaussian::new(1.0, 1, 10).unwrap();
    let error = Event::new(mechanism, Adjacency::AddRemove, Unit::Record, View::Central).unwrap_err();
    assert!(matches!(error, EventError::Undefined { adjacency: Adjacency::AddRemove, .. }));
}

#[test]
fn json_goes_through_the_same_door() {
    let text = r#"{"mechanism":{"kind":"gaussian","noise_multiplier":2.0},"adjacency":"replace-one","unit":"record","view":"central"}"#;
    let event: Event = serde_json::from_str(text).unwrap();
    assert_eq!(event, gaussian(2.0));
    assert_eq!(serde_json::to_string(&event).unwrap(), text);
    assert!(serde_json::from_str::<Event>(&text.replace("2.0", "-2.0")).is_err());
    assert!(serde_json::from_str::<Event>(&text.replace("\"kind\"", "\"q\":1,\"kind\"")).is_err());
    let wor = r#"{"mechanism":{"kind":"without-replacement-gaussian","noise_multiplier":2.0,"size":1,"population":2},"adjacency":"add-remove","unit":"record","view":"central"}"#;
    assert!(serde_json::from_str::<Event>(wor).is_err());
}

#[test]
fn ledgers_merge_compare_and_survive() {
    let mut ledger = Ledger::new();
    ledger.append(gaussian(2.0));
    ledger.append_many(gaussian(2.0), 9);
    ledger.append(
        Event::new(NonPrivate::new().unwrap(), Adjacency::ReplaceOne, Unit::Record, View::Central).unwrap(),
    );
    ledger.append_many(gaussian(2.0), 0);
    ledger.taint(Taint::SeededNoise);
    ledger.taint(Taint::AsPublished(3));
    ledger.taint(Taint::SeededNoise);
    assert_eq!(ledger.entries().len(), 2);
    assert_eq!(ledger.total_events(), 11);
    assert_eq!(ledger.taints(), [Taint::SeededNoise, Taint::AsPublished(3)]);
    let text = serde_json::to_string(&ledger).unwrap();
    assert!(text.starts_with(r#"{"version":1,"#), "{text}");
    assert_eq!(serde_json::from_str::<Ledger>(&text).unwrap(), ledger);
    let error = serde_json::from_str::<Ledger>(&text.replace("\"version\":1", "\"version\":2")).unwrap_err();
    assert!(error.to_string().contains("version 2"), "{error}");
    assert!(serde_json::from_str::<Ledger>(&text.replace("\"count\":10", "\"count\":0")).is_err());
    assert_eq!(epsilon(&ledger, 1e-5).unwrap().upper, f64::INFINITY);
}

#[test]
fn calibration_never_overshoots() {
    for target in [0.01, 0.5, 3.0, 50.0] {
        let plan = |z: f64| -> Result<Ledger, EventError> {
            let mut ledger = Ledger::new();
            let step = Event::new(Gaussian::new(z)?, Adjacency::AddRemove, Unit::Record, View::Central)?;
            ledger.append_many(step, 100);
            Ok(ledger)
        };
        let found = calibrate(target, 1e-5, plan).unwrap();
        assert!(found.epsilon.upper <= target);
        assert!(found.epsilon.upper > target * (1.0 - 1e-5));
    }
}

/// Found by fuzzing: few steps of a tiny rate asked for a lattice of 2³¹ bytes for one loss.
#[test]
fn a_narrow_window_in_a_wide_loss_needs_no_giant_lattice() {
    let step = PoissonGaussian::new(0.324_469_095_434_128_16, 1.669_710_168_729_315_7e-8).unwrap();
    let event = Event::new(step, Adjacency::AddRemove, Unit::Record, View::Central).unwrap();
    let mut ledger = Ledger::new();
    ledger.append_many(event, 1);
    let tiny = 1.423_643_600_100_912_5e-193;
    for bound in [epsilon(&ledger, tiny).unwrap(), delta(&ledger, tiny).unwrap()] {
        assert!(bound.lower <= bound.upper && bound.upper.is_finite(), "{bound:?}");
    }
}
