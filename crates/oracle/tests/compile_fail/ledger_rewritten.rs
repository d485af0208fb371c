//! The ledger of a gate can be read and not changed.

use reticent_accountant::Ledger;
use reticent_oracle::Gate;

fn cook(gate: &mut Gate) {
    gate.ledger = Ledger::new();
}

fn main() {
    let _: fn(&mut Gate) = cook;
}
