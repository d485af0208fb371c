//! ADMM with objective perturbation: the loss is minimised in every iteration, with a random linear
//! term in it (the baseline of RDP20, through approximate minima perturbation; E7).
//!
//! ```text
//! minimise F(x) + r(z)  subject to  x = z,      F(x) = (1/n) Σ f(x; dᵢ)
//!
//! x⁺ = argmin_x { F(x) + yᵀx + (ρ/2)‖x − z‖² + bᵀx },   b random
//! z⁺ = prox_{r/ρ}( x⁺ + y/ρ )
//! y⁺ = y + ρ (x⁺ − z⁺)
//! ```
//!
//! Released: a point near x⁺, with the noise that covers the distance, once an iteration: an
//! objective perturbation and a Gaussian event of an eighth of its ratio, or one pure event with
//! the spherical Laplace law. One record changes the determinant by a factor of up to 1 + βR²/(nρ),
//! so ρ is not to be small: the default is 1/32 of the loss's curvature, or more where the
//! determinants of all iterations would otherwise take more than a tenth of ε (see amp). Requires:
//! a convex penalty with a prox and the identity constraint; a loss with a bounded and continuous
//! derivative; for the normal law one score whose slope has one sign, and records. Reference: Chen
//! and Lee 2020 (RDP20), section 5.2, as corrected in E7; Iyengar et al. 2019, Algorithm 1.

use std::sync::Arc;

use reticent_oracle::queries::PerturbedObjective;
use reticent_oracle::{Law, Oracle, Quadratic, Refusal, Refused};
use reticent_problem::Regulariser;

use super::amp::{law, least_ridge, shortened};
use super::{Algorithm, Iterate, Tell, told};
use crate::linearised::distance;
use crate::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use crate::settings::positive;

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "objp",
    about: "ADMM that minimises a randomly tilted objective in every iteration; few iterations",
    reference: "RDP20, section 5.2, with the mechanism of Iyengar et al. 2019",
    takes: &["iterations", "clip", "rho", "law"],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Private(build),
};

/// ρ in units of the loss's largest curvature. A larger one binds x to where it was; a smaller one
/// gives the noise room.
const RHO: f64 = 1.0 / 32.0;

/// Each is a whole minimisation, and the error falls by a constant factor in each.
const ITERATIONS: u64 = 20;

#[derive(Debug)]
struct ObjP {
    iterations: u64,
    row_norm: f64,
    smoothness: f64,
    rho: f64,
    law: Law,
    noise_multiplier: f64,
    regulariser: Arc<Regulariser>,
    x: Vec<f64>,
    z: Vec<f64>,
    y: Vec<f64>,
}

fn build(recipe: &Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused> {
    let Recipe { settings, public, regulariser, noise_multiplier } = recipe;
    recipe.only(&ENTRY)?;
    recipe.needs_identity(&ENTRY)?;
    recipe.needs_convex(&ENTRY)?;
    recipe.needs_bounded_smooth(&ENTRY)?;
    let row_norm = shortened(recipe)?;
    let iterations = settings.iterations_or(ITERATIONS)?;
    let rho = (RHO * public.smoothness * row_norm * row_norm)
        .max(least_ridge(recipe, row_norm, iterations));
    let zeros = vec![0.0; public.shape.len()];
    let algorithm = ObjP {
        iterations,
        row_norm,
        smoothness: public.smoothness,
        rho: positive("rho", settings.rho.unwrap_or(rho))?,
        law: law(recipe)?,
        noise_multiplier: *noise_multiplier,
        regulariser: Arc::clone(regulariser),
        x: zeros.clone(),
        z: zeros.clone(),
        y: zeros,
    };
    Ok(Box::new(algorithm))
}

impl Iterate for ObjP {
    fn running(&self) -> Vec<f64> {
        self.z.clone()
    }

    fn published(&self) -> Vec<f64> {
        self.z.clone()
    }

    fn residual(&self) -> Option<f64> {
        Some(distance(&self.x, &self.z))
    }
}

impl Algorithm for ObjP {
    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn run(&mut self, oracle: &mut dyn Oracle, tell: &mut Tell<'_>) -> Result<Vec<f64>, Refusal> {
        for k in 1..=self.iterations {
            let ObjP { rho, regulariser, x, z, y, .. } = self;
            let mut linear = y.clone();
            let mut ridge = 0.0;
            Quadratic::pull(0.5 * *rho, z, &mut ridge, &mut linear);
            let query = PerturbedObjective {
                row_norm: self.row_norm,
                smoothness: self.smoothness,
                public: Quadratic { ridge, linear: &linear, penalty: None },
                start: x,
                law: self.law,
                noise_multiplier: self.noise_multiplier,
            };
            let released = oracle.ask(&query)?.into_inner();
            *x = released;
            for i in 0..z.len() {
                z[i] = x[i] + y[i] / *rho;
            }
            regulariser.prox_y(z, 1.0 / *rho);
            for i in 0..y.len() {
                y[i] += *rho * (x[i] - z[i]);
            }
            told(tell, k, self.iterations, self)?;
        }
        Ok(self.published())
    }
}
