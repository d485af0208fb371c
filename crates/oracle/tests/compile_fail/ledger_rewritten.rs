//! The ledger of a gate can be read and not changed.

use reticent_accountant::{Event, Ledger};
use reticent_oracle::Gate;

fn cook(gate: &mut Gate, event: Event) {
    gate.ledger().append(event);
    gate.ledger = Ledger::new();
}

fn main() {
    let _: fn(&mut Gate, Event) = cook;
}
