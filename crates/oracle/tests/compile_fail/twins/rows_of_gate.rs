//! The books of a gate are open.

use reticent_oracle::{Gate, Oracle};

fn look(gate: &mut Gate, oracle: &mut dyn Oracle) {
    let _ = gate.ledger();
    let _ = oracle.terms().population();
}

pub fn main() {
    let _: fn(&mut Gate, &mut dyn Oracle) = look;
}
