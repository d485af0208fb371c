//! What is inside a gate stays inside, and the gate's own way out is not for others.

use reticent_oracle::{Gate, Oracle};

fn look(gate: &mut Gate, oracle: &mut dyn Oracle) {
    let _ = &gate.inside;
    let _ = &gate.source;
    let _ = oracle.inside;
}

fn main() {
    let _: fn(&mut Gate, &mut dyn Oracle) = look;
}
