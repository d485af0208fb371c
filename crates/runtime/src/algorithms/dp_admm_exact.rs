//! ADMM whose providers solve their own problem exactly: the baselines of DP-ADMM (DPA19,
//! Algorithms 1 and 2).
//!
//! ```text
//! minimise Σ_i [ f_i(w_i) + r(w_i) ]  subject to  w_i = w
//!
//! provider i:  w_i⁺ = argmin_v { f_i(v) + r(v) − γ_iᵀv + (ρ/2)‖v − w‖² },   w̃_i⁺ = w_i⁺ + N(0, σ² I)
//! trainer:     w⁺ = mean(w̃_i⁺) − mean(γ_i)/ρ,   γ_i⁺ = γ_i − ρ(w̃_i⁺ − w⁺)
//! ```
//!
//! Without noise it is Algorithm 1, for any convex penalty with a prox. Where r has kinks the
//! provider finds its minimiser by proximal gradient steps, whose distance from it falls by L/(L +
//! ρ) with each, L the smoothness of the loss:
//!
//! ```text
//! v ← prox_{tr}( v − t[∇f_i(v) − γ_i + ρ(v − w)] ),   t = 1/(L + ρ)
//! ```
//!
//! Algorithm 2 is for r = (l/2)‖·‖² alone. Its noise is that of an *exact* minimiser, which no
//! solver finds; the gate's minimiser has a proven distance from it, which its noise covers (E7).
//! The objective is (l + ρ)-strongly convex, not only l (the paper's λ/N), so the sensitivity is
//! 2C/(m(l + ρ)) and not 2C/(ml).
//!
//! Released: one w̃_i⁺ a round, as a Gaussian event of the provider's own gate. Requires: a smooth
//! loss with a bounded gradient; the penalty l2 or none, and without noise any convex one; the
//! identity constraint. Reference: DPA19,
//! Algorithms 1 and 2; proofs/minimiser.md.

use reticent_accountant::View;
use reticent_admm::Refused;
use reticent_oracle::queries::{ClippedMean, Gradient, Minimiser};
use reticent_oracle::{Oracle, Quadratic, Refusal, Sampling};
use serde::{Deserialize, Serialize};

use super::star::{Common, HonestRange, Provider, Star, Trainer};
use super::{Protocol, ProtocolEntry, ProtocolRecipe};
use crate::responder::Respond;

pub(crate) const ENTRY: ProtocolEntry = ProtocolEntry {
    name: "dp-admm-exact",
    about: "providers' own minimisers with noise against a trainer's average: the baseline of dp-admm",
    reference: "DPA19, Algorithms 1 and 2, with E7",
    takes: &["iterations", "rho", "average"],
    views: &[View::Local],
    along_graph: false,
    private: true,
    build,
};

/// Far fewer than for linearised steps.
const ROUNDS: u64 = 30;

/// As for dp-admm.
const RHO: f64 = 0.1;

/// The remaining part of a provider's distance from its minimiser, if the penalty has kinks.
const LEFT: f64 = 1e-9;

#[derive(Clone, Debug)]
struct Exact {
    common: Common,
    r: Penalised,
    row_norm: f64,
    /// The norm of a gradient.
    slope: f64,
}

/// What r is.
#[derive(Clone, Copy, Debug)]
enum Penalised {
    /// l.
    Ridge(f64),
    /// Only without noise: the step t, and a sufficient number of steps.
    Kinks { step: f64, inner: u32 },
}

impl Penalised {
    /// The curvature that it adds.
    fn ridge(self) -> f64 {
        if let Penalised::Ridge(ridge) = self { ridge } else { 0.0 }
    }
}

fn build(recipe: &ProtocolRecipe<'_>) -> Result<Box<dyn Protocol>, Refused> {
    recipe.only(&ENTRY)?;
    recipe.needs_plain_convex(&ENTRY)?;
    let penalty = recipe.regulariser.penalty();
    if !recipe.public.lipschitz.is_finite() || !recipe.public.gradient_lipschitz().is_finite() {
        let allowed = format!(
            "{} needs a smooth loss with a bounded derivative (logistic, huber); use dp-admm",
            ENTRY.name
        );
        return Err(Refused::new("loss", "this loss", allowed));
    }
    let common = Common::new(recipe, ROUNDS, RHO)?;
    let smooth = recipe.public.gradient_lipschitz();
    let r = match penalty.ridge() {
        Some(ridge) => Penalised::Ridge(ridge),
        None => Penalised::Kinks {
            step: 1.0 / (smooth + common.rho),
            inner: (LEFT.ln() / (smooth / (smooth + common.rho)).ln()).ceil().max(1.0) as u32,
        },
    };
    Ok(Box::new(Star(Exact {
        common,
        r,
        row_norm: recipe.public.row_norm,
        slope: recipe.public.lipschitz * recipe.public.row_norm,
    })))
}

/// The request to a provider.
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
        if let Penalised::Kinks { step, inner } = self.r {
            return self.descend(request, (step, inner), noise, oracle);
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
        let ridge = self.r.ridge();
        let penalty =
            (ridge > 0.0).then(|| (self.common.regulariser.constraint(), 1.0 / ridge, &*origin));
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

impl Exact {
    /// Algorithm 1 for a penalty with kinks: the noise that Algorithm 2 would need is unknown, so
    /// there is none.
    fn descend(
        &self,
        request: &Augmented,
        (step, inner): (f64, u32),
        noise: f64,
        oracle: &mut dyn Oracle,
    ) -> Result<Vec<f64>, Refusal> {
        if noise != 0.0 {
            return Err(Refusal::BadQuery(format!(
                "with noise (Algorithm 2) {} finds proven minimisers for the penalties l2 and none alone; use \
                 dp-admm, or noise = 0 for Algorithm 1, which is not private",
                ENTRY.name
            )));
        }
        let Common { rho, regulariser, .. } = &self.common;
        let mean =
            ClippedMean { clip: self.slope, noise_multiplier: 0.0, sampling: Sampling::Full };
        let mut v = request.consensus.clone();
        for _ in 0..inner {
            let g = oracle.ask(&Gradient { at: &v, mean })?.into_inner();
            for (j, v) in v.iter_mut().enumerate() {
                *v -= step * (g[j] - request.dual[j] + rho * (*v - request.consensus[j]));
            }
            regulariser.prox_y(&mut v, step);
        }
        Ok(v)
    }
}

impl Provider for Exact {
    fn common(&self) -> &Common {
        &self.common
    }

    fn asked(&self) -> u64 {
        match self.r {
            Penalised::Ridge(_) => 1,
            Penalised::Kinks { inner, .. } => inner.into(),
        }
    }

    fn request(&self, trainer: &Trainer, _: u32, party: usize) -> Augmented {
        Augmented { consensus: trainer.consensus.clone(), dual: trainer.dual[party].clone() }
    }

    fn reach(&self, request: &Augmented, party: usize, noise: f64) -> HonestRange {
        // Without the loss the minimiser is known; a loss with slopes of at most C moves it by C
        // over the curvature.
        let curvature = |j: usize| {
            let shape = self.common.regulariser.shape();
            self.common.rho + if j < shape.features * shape.outputs { self.r.ridge() } else { 0.0 }
        };
        let mut centre: Vec<f64> = (0..self.common.len())
            .map(|j| (request.dual[j] + self.common.rho * request.consensus[j]) / curvature(j))
            .collect();
        if let Penalised::Kinks { .. } = self.r {
            self.common.regulariser.prox_y(&mut centre, 1.0 / self.common.rho);
        }
        // The gate's own distance from the minimiser is at most as much again.
        let noisy = noise * ((self.common.len() as f64).sqrt() + 6.0)
            / (self.common.units[party] as f64).max(1.0);
        HonestRange { centre, radius: 2.0 * self.slope / self.common.rho * (1.0 + noisy) }
    }

    fn bare(&self, _: &Augmented, answer: Vec<f64>, _: usize, _: f64) -> Vec<f64> {
        answer
    }
}
