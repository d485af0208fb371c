//! 300 random cases against dp_accounting's PLD and the closed form, and the closed form over its
//! whole range. The files are made by `golden/make_accounting.py`.

#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use reticent_accountant::*;
use serde_json::Value;

fn read(name: &str) -> Vec<Value> {
    let path = format!("{}/../../golden/accountant/{name}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap()
}

fn count(mechanism: impl Into<Mechanism>, adjacency: Adjacency, steps: u64) -> Ledger {
    let mut ledger = Ledger::new();
    ledger
        .append_many(Event::new(mechanism, adjacency, Unit::Record, View::Central).unwrap(), steps);
    ledger
}

#[test]
fn random_cases() {
    let cases = read("grid.json");
    assert_eq!(cases.len(), 300);
    let (mut widest, mut above) = (0.0_f64, 0.0_f64);
    for case in &cases {
        let adjacency = case["adjacency"].as_str().unwrap().parse().unwrap();
        let mechanism = PoissonGaussian::new(number(case, "z"), number(case, "q")).unwrap();
        let ledger = count(mechanism, adjacency, case["steps"].as_u64().unwrap());
        let reference = number(case, "epsilon");
        let bound = epsilon(&ledger, number(case, "delta")).unwrap();
        assert!(bound.lower <= reference * (1.0 + 1e-6) + 1e-12, "{case}: {bound:?}");
        assert!(bound.upper >= reference * (1.0 - 1e-6), "{case}: {bound:?}");
        if reference > 0.05 {
            widest = widest.max((bound.upper - bound.lower) / reference);
            above = above.max(bound.upper / reference - 1.0);
        }
    }
    println!("widest relative gap {widest}, largest excess over the reference {above}");
    assert!(widest < 0.02 && above < 1e-3, "widest relative gap {widest}, largest excess {above}");
}

#[test]
fn the_closed_form_has_all_its_digits() {
    for case in read("gaussian.json") {
        let (mu, want) = (number(&case, "mu"), number(&case, "epsilon"));
        let ledger = count(Gdp::new(mu).unwrap(), Adjacency::AddRemove, 1);
        let bound = epsilon(&ledger, number(&case, "delta")).unwrap();
        assert!(bound.lower <= want && want <= bound.upper, "{case}: {bound:?}");
        assert!(bound.upper - bound.lower <= 4e-12 * want, "{case}: {bound:?}");
    }
}

/// A record that is hardly ever drawn: all of the tail is hers, the variance is not. The truth has
/// 40 digits (mpmath). The window of the transform used to lie above the ε asked for, and what is
/// to the left of it was forgotten.
#[test]
fn a_profile_far_from_the_bulk_is_not_forgotten() {
    let rare = PoissonGaussian::new(0.221_688_789_195_115, 5.857_358_545_566_549e-12).unwrap();
    let bound = delta(&count(rare, Adjacency::ReplaceOne, 1), 0.658_671_023_746_933_8).unwrap();
    let truth = 8.474_323_925_303_501e-16;
    assert!(bound.lower <= truth && truth <= bound.upper && bound.upper < 1e-12, "{bound:?}");
}
