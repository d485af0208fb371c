//! Any bytes: either a ledger in JSON, or parameters taken from the bytes. No panic, no NaN, both
//! ends in order.
#![cfg_attr(feature = "run", no_main)]

use libfuzzer_sys::fuzz_target;
use reticent_accountant::{Adjacency, Event, Ledger, PoissonGaussian, Unit, View, delta, epsilon};

fn check(ledger: &Ledger, at: f64) {
    if let Ok(bound) = epsilon(ledger, at) {
        assert!(bound.lower >= 0.0 && bound.lower <= bound.upper, "{bound:?}");
    }
    if let Ok(bound) = delta(ledger, at.abs().min(1e3)) {
        assert!(
            bound.lower >= 0.0 && bound.lower <= bound.upper && bound.upper <= 1.0,
            "{bound:?}"
        );
    }
}

fuzz_target!(|data: &[u8]| {
    if let Ok(ledger) = serde_json::from_slice::<Ledger>(data) {
        check(&ledger, 1e-5);
        return;
    }
    let Some((head, rest)) = data.split_at_checked(16) else { return };
    let unit = |k: usize| {
        f64::from(u32::from_le_bytes([head[k], head[k + 1], head[k + 2], head[k + 3]]))
            / 4294967295.0
    };
    let between = |k: usize, low: f64, high: f64| 10f64.powf(low + (high - low) * unit(k));
    let Ok(step) = PoissonGaussian::new(between(0, -2.0, 6.0), between(4, -9.0, 0.0)) else {
        return;
    };
    let adjacency = if rest.first().is_some_and(|b| b & 1 == 1) {
        Adjacency::AddRemove
    } else {
        Adjacency::ReplaceOne
    };
    let Ok(event) = Event::new(step, adjacency, Unit::Record, View::Central) else { return };
    let mut ledger = Ledger::new();
    ledger.append_many(event, between(8, 0.0, 7.0) as u64);
    let at = between(12, -300.0, -0.31);
    assert!(epsilon(&ledger, at).is_ok_and(|bound| bound.upper.is_finite()));
    check(&ledger, at);
});

#[cfg(not(feature = "run"))]
fn main() {}
