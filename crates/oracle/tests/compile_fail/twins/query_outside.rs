//! An algorithm outside asks what there is to ask.

use reticent_oracle::{GradientTerms, Oracle, Refusal, Released};

fn ask(oracle: &mut dyn Oracle, params: &GradientTerms) -> Result<Released<Vec<f64>>, Refusal> {
    let at = vec![0.0; oracle.shape().len()];
    oracle.gradient(&at, params)
}

pub fn main() {
    let _ = ask;
}
