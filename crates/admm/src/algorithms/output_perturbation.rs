//! Output perturbation: the ridge solution, once, with noise (Chaudhuri, Monteleoni and Sarwate
//! 2011, Algorithm 1, with Gaussian noise).
//!
//! ```text
//! x* = argmin (1/n) Σ f(x; dᵢ) + (μ/2)‖x‖²
//! released: x* + N(0, σ² I)
//! ```
//!
//! The gate minimises to a proven accuracy, which its sensitivity 2C/(nμ) includes: privacy does
//! not rest on a solver having converged (E7).
//!
//! Released: x*, as one plain Gaussian event. Requires: the penalty `l2` with the identity
//! constraint; a loss with a bounded and continuous derivative; replace-one. The intercept is
//! penalised with the rest, without which it would have no sensitivity. Reference: Chaudhuri et al.
//! 2011, Algorithm 1, Theorem 6.

use reticent_oracle::queries::Minimiser;
use reticent_oracle::{Oracle, Quadratic, Refusal, Refused};

use super::{Algorithm, Tell, told};
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "output-perturbation",
    about: "the ridge solution once, with noise on it; a baseline, for the penalty l2",
    reference: "Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 1",
    takes: &[],
    penalty: "l2:0.1",
    needs_penalty: true,
    kind: AlgorithmKind::Private(build),
};

#[derive(Debug)]
struct OutputPerturbation {
    row_norm: f64,
    ridge: f64,
    noise_multiplier: f64,
    len: usize,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { public, regulariser, noise_multiplier, .. } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    recipe.needs_bounded_smooth(&ENTRY)?;
    let penalty = regulariser.penalty();
    let Some(ridge) = penalty.ridge().filter(|ridge| *ridge > 0.0) else {
        return Err(Refused::new(
            "penalty",
            penalty.spec(),
            "output-perturbation solves the ridge problem: give l2:LAMBDA with LAMBDA > 0",
        ));
    };
    let algorithm = OutputPerturbation {
        row_norm: public.row_norm,
        ridge,
        noise_multiplier: *noise_multiplier,
        len: public.shape.len(),
    };
    Ok(Box::new(algorithm))
}

impl Algorithm for OutputPerturbation {
    fn iterations(&self) -> u64 {
        1
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        let zeros = vec![0.0; self.len];
        let query = Minimiser {
            row_norm: self.row_norm,
            public: Quadratic { ridge: self.ridge, linear: &zeros, penalty: None },
            start: &zeros,
            image: false,
            noise_multiplier: self.noise_multiplier,
        };
        let x = oracle.ask(&query)?.into_inner();
        told(tell, 1, 1, &x)?;
        Ok(x)
    }
}
