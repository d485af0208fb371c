//! A ledger of one's own can be written: a plan.

use reticent_accountant::{Event, Ledger};
use reticent_oracle::Gate;

fn plan(gate: &mut Gate, event: Event) {
    let mut ledger = Ledger::new();
    ledger.append(event);
    gate.bind(ledger);
}

pub fn main() {
    let _: fn(&mut Gate, Event) = plan;
}
