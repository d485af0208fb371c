//! A stream of noise cannot be copied, nor a gate with its stream: equal noise cancels.

use reticent_oracle::{Entropy, Gate};

fn twice(entropy: &Entropy, gate: &Gate) {
    let _ = Entropy::clone(entropy);
    let _ = Gate::clone(gate);
}

fn main() {
    let _: fn(&Entropy, &Gate) = twice;
}
