//! What two models on the same people cost together, as README.md and docs/which-epsilon.md say it.
#![allow(clippy::unwrap_used)]

use reticent::accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View, calibrate};
use reticent::{Scope, Verdict};

const README: &str = include_str!("../../../README.md");
const WHICH: &str = include_str!("../../../docs/which-epsilon.md");

fn ledger(noises: &[f64], adjacency: Adjacency) -> Ledger {
    let mut ledger = Ledger::new();
    for &noise in noises {
        let event =
            Event::new(Gaussian::new(noise).unwrap(), adjacency, Unit::Record, View::Central);
        ledger.append(event.unwrap());
    }
    ledger
}

/// Noise with which one Gaussian answer costs (1, 1e-6).
fn noise(adjacency: Adjacency) -> f64 {
    let plan = |noise| Ok::<_, std::convert::Infallible>(ledger(&[noise], adjacency));
    calibrate(1.0, 1e-6, plan).unwrap().noise_multiplier
}

fn together(noises: &[f64], adjacency: Adjacency) -> f64 {
    let scope = Scope { adjacency, unit: Unit::Record, view: View::Central };
    Verdict::of(&ledger(noises, adjacency), 2e-6, scope).unwrap().epsilon.upper
}

/// Somebody who is replaced leaves and another comes: an add-remove guarantee counts twice for
/// them.
#[test]
fn budgets_add_up_under_one_adjacency_and_not_across() {
    use Adjacency::{AddRemove, ReplaceOne};
    for adjacency in [ReplaceOne, AddRemove] {
        let one = noise(adjacency);
        assert!(together(&[one, one], adjacency) <= 2.0);
    }
    let across = together(&[noise(ReplaceOne), noise(AddRemove)], ReplaceOne);
    assert!(across > 2.0, "{across}");
    let said = format!("{across:.2}");
    assert_eq!(said, "2.32");
    assert!(
        WHICH.contains(&format!("ε = {said} at δ = 2e-6")),
        "docs/which-epsilon.md does not say {said}"
    );
    for text in [README, WHICH] {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("under the same adjacency"), "what adds up is not said");
        assert!(!words.contains(
            "Two models on the same table together cost at most the sum of their budgets."
        ));
    }
}
