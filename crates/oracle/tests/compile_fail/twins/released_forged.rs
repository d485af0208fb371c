//! Released values are made by asking.

use reticent_accountant::{Unit, View};
use reticent_oracle::queries::{ClippedMean, Gradient};
use reticent_oracle::{Rehearsal, Released, Sampling, Terms};
use reticent_problem::Shape;

pub fn main() {
    let shape = Shape { features: 1, outputs: 1, intercept: false };
    let terms = Terms::add_remove(Unit::Record, View::Central, 10).unwrap();
    let params = ClippedMean { clip: 1.0, noise_multiplier: 1.0, sampling: Sampling::Full };
    let released: Released<Vec<f64>> =
        Rehearsal::new(shape, terms).ask(&Gradient { at: &[0.0], mean: params }).unwrap();
    assert_eq!(released.get().len(), 1);
}
