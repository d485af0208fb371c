//! ADMM whose providers solve their own problem exactly: the baselines of DP-ADMM (DPA19,
//! Algorithms 1 and 2).
//!
//! ```text
//! minimise Σ_i [ f_i(w_i) + r(w_i) ]  subject to  w_i = w,   r = (l/2)‖·‖²
//!
//! provider i:  w_i⁺ = argmin_v { f_i(v) + r(v) − γ_iᵀv + (ρ/2)‖v − w‖² },   w̃_i⁺ = w_i⁺ + N(0, σ² I)
//! trainer:     w⁺ = mean(w̃_i⁺) − mean(γ_i)/ρ,   γ_i⁺ = γ_i − ρ(w̃_i⁺ − w⁺)
//! ```
//!
//! Without noise it is Algorithm 1. Algorithm 2's noise is that of an *exact* minimiser, which no
//! solver finds; the gate's minimiser has a proven distance from it, which its noise covers (E7).
//! The objective is (l + ρ)-strongly convex, not only l (the paper's λ/N), so the sensitivity is
//! 2C/(m(l + ρ)) and not 2C/(ml).
//!
//! Released: one w̃_i⁺ a round, as a Gaussian event of the provider's own gate. Requires: a smooth
//! loss with a bounded gradient; the penalty l2 or none; the identity constraint. Reference: DPA19,
//! Algorithms 1 and 2; proofs/minimiser.md.

use reticent_accountant::View;
use reticent_admm::Refused;
use reticent_oracle::queries::Minimiser;
use reticent_oracle::{Oracle, Quadratic, Refusal};
use serde::{Deserialize, Serialize};

use super::star::{Common, Provider, Star, Trainer};
use super::{Entry, Protocol, Recipe};
use crate::responder::Respond;

pub(crate) const ENTRY: Entry = Entry {
    name: "dp-admm-exact",
    about: "providers' own minimisers with noise against a trainer's average: the baseline of dp-admm",
    reference: "DPA19, Algorithms 1 and 2, with E7",
    takes: &["iterations", "rho"],
    views: &[View::Local],
    along_graph: false,
    private: true,
    build,
};

/// Far fewer than for linearised steps.
const ROUNDS: u64 = 30;

/// As for dp-admm.
const RHO: f64 = 0.1;

#[derive(Clone, Debug)]
struct Exact {
    common: Common,
    /// l.
    ridge: f64,
    row_norm: f64,
    /// The norm of a gradient.
    slope: f64,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Protocol>, Refused> {
    recipe.only(&ENTRY)?;
    recipe.needs_plain_convex(&ENTRY)?;
    let penalty = recipe.regulariser.penalty();
    let ridge = penalty.strong_convexity();
    if penalty.smoothness() != ridge {
        let allowed =
            format!("{} finds proven minimisers for l2 and none alone; use dp-admm", ENTRY.name);
        return Err(Refused::new("penalty", penalty.spec(), allowed));
    }
    if !recipe.public.lipschitz.is_finite() || !recipe.public.gradient_lipschitz().is_finite() {
        let allowed = format!(
            "{} needs a smooth loss with a bounded derivative (logistic, huber); use dp-admm",
            ENTRY.name
        );
        return Err(Refused::new("loss", "this loss", allowed));
    }
    Ok(Box::new(Star(Exact {
        common: Common::new(recipe, ROUNDS, RHO)?,
        ridge,
        row_norm: recipe.public.row_norm,
        slope: recipe.public.lipschitz * recipe.public.row_norm,
    })))
}

/// What a provider is asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Augmented {
    /// w.
    consensus: Vec<f64>,
    /// γ_i.
    dual: Vec<f64>,
}

impl Respond for Exact {
    type Request = Augmented;

    fn answer(
        &self,
        request: &Augmented,
        noise: f64,
        oracle: &mut dyn Oracle,
    ) -> Result<Vec<f64>, Refusal> {
        if request.consensus.len() != self.common.len() || request.dual.len() != self.common.len() {
            return Err(Refusal::BadQuery(
                "a request of another length than the parameter".to_owned(),
            ));
        }
        // (ρ/2)‖v − w‖² as a ridge and a slope, so that it holds on the intercept too; r on the
        // features alone.
        let linear: Vec<f64> = request
            .dual
            .iter()
            .zip(&request.consensus)
            .map(|(d, w)| -d - self.common.rho * w)
            .collect();
        let shape = self.common.regulariser.shape();
        let origin = vec![0.0; shape.features * shape.outputs];
        let penalty = (self.ridge > 0.0)
            .then(|| (self.common.regulariser.constraint(), 1.0 / self.ridge, &*origin));
        let params = Minimiser {
            row_norm: self.row_norm,
            public: Quadratic { ridge: self.common.rho, linear: &linear, penalty },
            start: &request.consensus,
            image: false,
            noise_multiplier: noise,
        };
        Ok(oracle.ask(&params)?.into_inner())
    }
}

impl Provider for Exact {
    fn common(&self) -> &Common {
        &self.common
    }

    fn request(&self, trainer: &Trainer, _: u32, party: usize) -> Augmented {
        Augmented { consensus: trainer.consensus.clone(), dual: trainer.dual[party].clone() }
    }

    fn reach(&self, request: &Augmented, party: usize, noise: f64) -> (Vec<f64>, f64) {
        // Without the loss the minimiser is known; a loss with slopes of at most C moves it by C
        // over the curvature.
        let curvature = |j: usize| {
            let shape = self.common.regulariser.shape();
            self.common.rho + if j < shape.features * shape.outputs { self.ridge } else { 0.0 }
        };
        let centre = (0..self.common.len())
            .map(|j| (request.dual[j] + self.common.rho * request.consensus[j]) / curvature(j))
            .collect();
        // The gate's own distance from the minimiser is at most as much again.
        let noisy = noise * ((self.common.len() as f64).sqrt() + 6.0)
            / (self.common.units[party] as f64).max(1.0);
        (centre, 2.0 * self.slope / self.common.rho * (1.0 + noisy))
    }

    fn bare(&self, _: &Augmented, answer: Vec<f64>, _: usize, _: f64) -> Vec<f64> {
        answer
    }
}
