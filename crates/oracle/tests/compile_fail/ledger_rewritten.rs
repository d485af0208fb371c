//! The books of a gate can be read and not changed.

use reticent_oracle::{Books, Gate};

fn cook(gate: &mut Gate) {
    gate.books = Books::default();
}

fn main() {
    let _: fn(&mut Gate) = cook;
}
