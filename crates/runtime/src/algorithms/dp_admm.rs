//! DP-ADMM: providers that linearise their own loss, a trainer that averages (DPA19, Algorithm 3,
//! with E9 and E10).
//!
//! ```text
//! minimise Σ_i [ f_i(w_i) + r(w_i) ]  subject to  w_i = w,   f_i the mean over the records of provider i, r = (λ/N)R
//!
//! provider i:  w_i⁺ = ( −g_i(w̃_i) − r'(w̃_i) + γ_i + ρ w + w̃_i/η_k ) / (ρ + 1/η_k)
//!              w̃_i⁺ = w_i⁺ + N(0, σ_{i,k}² I)
//! trainer:     w⁺ = mean(w̃_i⁺) − mean(γ_i)/ρ,   γ_i⁺ = γ_i − ρ(w̃_i⁺ − w⁺)
//! ```
//!
//! Step sizes, with C the clip (the paper's S₁), S₂ and S₄ those of r, S₃ the smoothness of the
//! loss, D the public `diameter` (the paper takes it from the data, E9), m the number of units and
//! `z` the noise multiplier:
//!
//! ```text
//! kinks:   η_k = D / ((C + S₂) √(2k))
//! smooth:  1/η_k = S₃ + S₄ + C z √(2k) / (m D)
//! ```
//!
//! In the paper's letters √(2 ln(1.25/δ))/ε is σ over the sensitivity, which is z/2; without noise
//! the smooth step is constant.
//!
//! Noise. w_i⁺ is the mean gradient times −1/(ρ + 1/η_k) plus what the trainer knows, so noise of z
//! clips on the sum is noise σ_{i,k} = zC/(m(ρ + 1/η_k)) on w_i⁺, whose sensitivity is 2C/(m(ρ +
//! 1/η_k)) (DPA19, Lemma 1): both shrink with η_k and their ratio does not. The trainer sees all of
//! w̃, and γ follows from it, so the provider need not keep either.
//!
//! Released: one w̃_i⁺ a round, as a Gaussian event of the provider's own gate. `as-published`
//! claims for each round what the paper's moments accountant counts, ρ = 2/z² (zero-concentrated),
//! and has the noise with which that accountant comes to the ε that is asked for,
//! with erratum E10: its Theorem 2 prints a σ without ε. Requires: a convex penalty with a
//! subgradient (no constraint set); the identity constraint. Any convex loss. Reference: DPA19,
//! Algorithm 3, Lemma 1, Theorems 1, 3 and 4.

use reticent_accountant::{Method, View};
use reticent_admm::{Refused, StepSize, positive};
use reticent_oracle::queries::{ClippedMean, Gradient};
use reticent_oracle::{Oracle, PaperClaim, Refusal, Sampling};
use serde::{Deserialize, Serialize};

use super::star::{Common, HonestRange, Provider, Star, Trainer};
use super::{Protocol, ProtocolEntry, ProtocolRecipe};
use crate::responder::Respond;

pub(crate) const ENTRY: ProtocolEntry = ProtocolEntry {
    name: "dp-admm",
    about: "providers' noisy linearised steps against a trainer's average, with kinks allowed",
    reference: "DPA19, Algorithm 3, with E9 and E10",
    takes: &["iterations", "clip", "step", "rho", "diameter", "average", "as_published"],
    views: &[View::Local],
    along_graph: false,
    private: true,
    build,
};

/// The paper's experiments.
const ROUNDS: u64 = 100;

/// A stiffness for means of losses with a curvature of ¼.
const RHO: f64 = 0.1;

/// A distance that the parameters of standardised problems do not exceed.
const DIAMETER: f64 = 10.0;

/// The number of the erratum.
const E10: u8 = 10;

#[derive(Clone, Debug)]
struct DpAdmm {
    common: Common,
    clip: f64,
    steps: Steps,
    published: bool,
}

/// η_k.
#[derive(Clone, Copy, Debug)]
enum Steps {
    Given(StepSize),
    Kinks { diameter: f64, slope: f64 },
    Smooth { diameter: f64, curvature: f64 },
}

fn build(recipe: &ProtocolRecipe<'_>) -> Result<Box<dyn Protocol>, Refused> {
    recipe.only(&ENTRY)?;
    recipe.needs_plain_convex(&ENTRY)?;
    let settings = recipe.settings;
    let shape = recipe.regulariser.shape();
    let penalty = recipe.regulariser.penalty();
    let diameter = positive("diameter", settings.diameter.unwrap_or(DIAMETER))?;
    let clip = settings.clip_or_bound(recipe.public)?;
    let (s2, s4) = (penalty.lipschitz(shape.features, shape.outputs), penalty.smoothness());
    // A ridge has no bounded gradient, but one on a ball of this diameter around 0.
    let slope = s2.min(s4 * diameter);
    if !slope.is_finite() {
        let allowed = format!(
            "{} takes its gradient, and it has none that is bounded: use l1, l2 or none",
            ENTRY.name
        );
        return Err(Refused::new("penalty", penalty.spec(), allowed));
    }
    let curvature = recipe.public.gradient_lipschitz() + s4;
    let steps = match settings.step {
        Some(step) => Steps::Given(step),
        None if curvature.is_finite() && curvature > 0.0 => Steps::Smooth { diameter, curvature },
        None => Steps::Kinks { diameter, slope: clip + slope },
    };
    Ok(Box::new(Star(DpAdmm {
        common: Common::new(recipe, ROUNDS, RHO)?,
        clip,
        steps,
        published: settings.as_published.unwrap_or(false),
    })))
}

/// The request to a provider: all that its step needs but its data.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct LinearisedStep {
    k: u32,
    /// w.
    consensus: Vec<f64>,
    /// w̃_i.
    own: Vec<f64>,
    /// γ_i.
    dual: Vec<f64>,
}

impl DpAdmm {
    /// η_k for a provider of `units` units.
    fn eta(&self, k: u32, units: f64, noise: f64) -> f64 {
        let root = (2.0 * f64::from(k)).sqrt();
        match self.steps {
            Steps::Given(step) => step.at(u64::from(k), 1.0),
            Steps::Kinks { diameter, slope } => diameter / (slope * root),
            Steps::Smooth { diameter, curvature } => {
                1.0 / (curvature + self.clip * noise * root / (units.max(1.0) * diameter))
            }
        }
    }

    /// w_i⁺ with a given (noisy) gradient: affine in it.
    fn update(&self, request: &LinearisedStep, g: &[f64], eta: f64) -> Vec<f64> {
        let mut slope = vec![0.0; g.len()];
        self.common.regulariser.subgradient(&request.own, &mut slope);
        (0..g.len())
            .map(|j| {
                let pull =
                    request.dual[j] + self.common.rho * request.consensus[j] + request.own[j] / eta;
                (pull - g[j] - slope[j]) / (self.common.rho + 1.0 / eta)
            })
            .collect()
    }

    /// Whether a request has the lengths that the arithmetic needs.
    fn fits(&self, request: &LinearisedStep) -> bool {
        [&request.consensus, &request.own, &request.dual]
            .iter()
            .all(|v| v.len() == self.common.len())
    }
}

impl Respond for DpAdmm {
    type Request = LinearisedStep;

    fn answer(
        &self,
        request: &LinearisedStep,
        noise: f64,
        oracle: &mut dyn Oracle,
    ) -> Result<Vec<f64>, Refusal> {
        if !self.fits(request) {
            return Err(Refusal::BadQuery(
                "a request of another length than the parameter".to_owned(),
            ));
        }
        let units = oracle.terms().population() as f64;
        let params =
            ClippedMean { clip: self.clip, noise_multiplier: noise, sampling: Sampling::Full };
        if self.published {
            oracle.claim(PaperClaim::zcdp(E10, 2.0 / (noise * noise)));
        }
        let g = oracle.ask(&Gradient { at: &request.own, mean: params })?.into_inner();
        Ok(self.update(request, &g, self.eta(request.k, units, noise)))
    }
}

impl Provider for DpAdmm {
    fn common(&self) -> &Common {
        &self.common
    }

    fn counted_by(&self) -> Option<Method> {
        self.published.then_some(Method::Moments)
    }

    fn request(&self, trainer: &Trainer, round: u32, party: usize) -> LinearisedStep {
        LinearisedStep {
            k: round,
            consensus: trainer.consensus.clone(),
            own: trainer.own[party].clone(),
            dual: trainer.dual[party].clone(),
        }
    }

    fn reach(&self, request: &LinearisedStep, party: usize, noise: f64) -> HonestRange {
        let units = self.common.units[party] as f64;
        let eta = self.eta(request.k, units, noise);
        let zeros = vec![0.0; self.common.len()];
        let noisy = 1.0 + noise * ((self.common.len() as f64).sqrt() + 6.0) / units.max(1.0);
        let radius = self.clip * noisy / (self.common.rho + 1.0 / eta);
        HonestRange { centre: self.update(request, &zeros, eta), radius }
    }

    fn bare(
        &self,
        request: &LinearisedStep,
        answer: Vec<f64>,
        party: usize,
        noise: f64,
    ) -> Vec<f64> {
        let eta = self.eta(request.k, self.common.units[party] as f64, noise);
        let base = self.update(request, &vec![0.0; self.common.len()], eta);
        base.iter()
            .zip(answer)
            .map(|(base, answer)| (base - answer) * (self.common.rho + 1.0 / eta))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_problem::{Regulariser, Shape, penalties};
    use std::sync::Arc;

    fn algorithm(steps: Steps) -> DpAdmm {
        let shape = Shape { features: 2, outputs: 1, intercept: false };
        let penalty = penalties::parse("l1:0.1").unwrap();
        let regulariser = Arc::new(Regulariser::plain(penalty, shape));
        let common =
            Common { rounds: 3, rho: 0.5, regulariser, units: vec![4, 4], averaged: false };
        DpAdmm { common, clip: 1.0, steps, published: false }
    }

    #[test]
    fn steps_are_the_papers() {
        let kinks = algorithm(Steps::Kinks { diameter: 3.0, slope: 1.5 });
        assert_eq!(kinks.eta(2, 4.0, 7.0), 1.0);
        let smooth = algorithm(Steps::Smooth { diameter: 2.0, curvature: 0.25 });
        assert_eq!([smooth.eta(1, 4.0, 0.0), smooth.eta(9, 4.0, 0.0)], [4.0, 4.0]);
        // DPA19's own form: 2 S₁ √(4k ln(1.25/δ)) / (m ε D) with σ/Δ = √(2 ln(1.25/δ))/ε = z/2.
        let (k, m, d, epsilon, delta) = (7.0_f64, 4.0, 2.0, 0.5_f64, 1e-3_f64);
        let z = 2.0 * (2.0 * (1.25 / delta).ln()).sqrt() / epsilon;
        let theirs =
            1.0 / (0.25 + 2.0 * (4.0 * k * (1.25 / delta).ln()).sqrt() / (m * epsilon * d));
        assert!((smooth.eta(7, m, z) - theirs).abs() < 1e-12);
    }

    /// The minimiser of the linearised augmented Lagrangian (DPA19, equation 2): its gradient there
    /// is zero.
    #[test]
    fn the_update_minimises_the_linearised_lagrangian() {
        let it = algorithm(Steps::Kinks { diameter: 3.0, slope: 1.5 });
        let request = LinearisedStep {
            k: 1,
            consensus: vec![0.3, -0.2],
            own: vec![0.5, -0.7],
            dual: vec![0.05, 0.01],
        };
        let (g, eta) = ([0.2, -0.4], 0.8);
        let w = it.update(&request, &g, eta);
        for j in 0..2 {
            let slope = g[j] + 0.1 * request.own[j].signum() - request.dual[j]
                + it.common.rho * (w[j] - request.consensus[j])
                + (w[j] - request.own[j]) / eta;
            assert!(slope.abs() < 1e-12, "{slope}");
        }
        let eta = it.eta(1, 4.0, 1.0);
        let bare = it.bare(&request, it.update(&request, &g, eta), 0, 1.0);
        assert!(
            bare.iter().zip(&g).all(|(a, b)| (a - b).abs() < 1e-12),
            "an adversary recovers what was released"
        );
    }
}
