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

use super::Algorithm;
use crate::catalogue::{Built, Entry, Kind, Recipe};

pub(crate) const ENTRY: Entry = Entry {
    name: "output-perturbation",
    about: "the ridge solution once, with noise on it; a baseline, for the penalty l2",
    reference: "Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 1",
    takes: &[],
    kind: Kind::Private(build),
};

#[derive(Debug)]
struct OutputPerturbation {
    row_norm: f64,
    ridge: f64,
    noise_multiplier: f64,
    x: Vec<f64>,
}

fn build(recipe: &Recipe<'_>) -> Result<Built, Refused> {
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
        x: vec![0.0; public.shape.len()],
    };
    Ok(Built { algorithm: Box::new(algorithm), iterations: 1 })
}

impl Algorithm for OutputPerturbation {
    fn step(&mut self, _k: u64, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let linear = vec![0.0; self.x.len()];
        let params = Minimiser {
            row_norm: self.row_norm,
            public: Quadratic { ridge: self.ridge, linear: &linear, penalty: None },
            start: &self.x,
            image: false,
            noise_multiplier: self.noise_multiplier,
        };
        let released = oracle.ask(&params)?.into_inner();
        self.x = released;
        Ok(())
    }

    fn solution(&self) -> Vec<f64> {
        self.x.clone()
    }
}
