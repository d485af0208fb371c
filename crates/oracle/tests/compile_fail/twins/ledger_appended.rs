//! The ledger of a gate can be copied, and the copy is one's own.

use reticent_accountant::Event;
use reticent_oracle::Gate;

fn copy(gate: &mut Gate, event: Event) {
    let mut ledger = gate.ledger().clone();
    ledger.append(event);
}

pub fn main() {
    let _: fn(&mut Gate, Event) = copy;
}
