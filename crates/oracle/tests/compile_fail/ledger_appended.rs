//! Nobody but the gate adds to its ledger.

use reticent_accountant::Event;
use reticent_oracle::Gate;

fn pad(gate: &mut Gate, event: Event) {
    gate.ledger().append(event);
}

fn main() {
    let _: fn(&mut Gate, Event) = pad;
}
