//! An algorithm outside asks what there is to ask, and may be written for any query.

use reticent_oracle::queries::{ClippedMean, Gradient, Query};
use reticent_oracle::{Oracle, Refusal, Released};

fn ask<Q: Query>(oracle: &mut dyn Oracle, query: &Q) -> Result<Released<Q::Answer>, Refusal> {
    oracle.ask(query)
}

fn gradient(oracle: &mut dyn Oracle, mean: ClippedMean) -> Result<Released<Vec<f64>>, Refusal> {
    let at = vec![0.0; oracle.shape().len()];
    ask(oracle, &Gradient { at: &at, mean })
}

pub fn main() {
    let _ = gradient;
}
