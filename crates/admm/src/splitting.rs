//! One linearised ADMM step with Laplacian smoothing, the iteration that DP-SADMM and DP-VRADMM
//! share (LS22, equations 3 and 5).
//!
//! ```text
//! minimise F(x) + r(y)  subject to  A x + B y = c
//!
//! y⁺ = argmin_y { r(y) + (β/2)‖A x + B y − c + λ‖² }
//! x⁺ = x − α Q_ν⁻¹ [ G + β Aᵀ(A x + B y⁺ − c + λ) ],    α = η/γ
//! λ⁺ = λ + A x⁺ + B y⁺ − c
//! ```
//!
//! Step. With `γ = 1 + ηβ‖AᵀA‖₂` the step `α = 1/(1/η + β‖AᵀA‖₂)` never exceeds `1/(L + β‖AᵀA‖₂)`
//! while `η ≤ 1/L`, `L` the Lipschitz constant of `∇F`. Smoothing has eigenvalues of at most 1, so
//! it does not change that.
//!
//! Strong convexity. A μ-strongly convex penalty on `x = y` may lend the loss its strength:
//! `F + (μ/2)‖·‖²` and `r − (μ/2)‖·‖²` are the same problem. What is left of the penalty is convex,
//! and its prox is the prox of `r`:
//!
//! ```text
//! prox_{t(r − μ‖·‖²/2)}(v) = prox_{s r}( v/(1 − tμ) ),   s = t/(1 − tμ),   tμ < 1
//! ```
//!
//! Behind a graph, `A = [φ; I]`, the ridge on the coefficients alone may be lent in the same way: it
//! is LS22's strongly convex problem, whose f has the ridge. The rows of φ keep their prox.
//!
//! In coordinates of its own (see [`crate::basis`]) `γQ_ν` is `M + ηβAᵀA`: the step of x is measured
//! by M, and what the constraint adds to it is not linearised, as there `‖AᵀA‖₂` is far above what
//! it is in most directions. Nothing is lent.

use std::sync::Arc;

use reticent_problem::Regulariser;

use crate::basis::Basis;
use crate::catalogue::{AlgorithmEntry, Recipe};
use crate::settings::{not_negative, positive};
use crate::smoothing::Smoothing;
use crate::step_size::StepSize;
use reticent_oracle::Refused;

/// `β‖AᵀA‖₂` over `L` for `x = y`, unless β is given: the two agree soon whatever it is, and at 1
/// half of every step would be lost to it. Any other constraint gets its half, or it would be
/// obeyed too late.
const STIFFNESS: f64 = 0.1;

fn stiffness(regulariser: &Regulariser) -> f64 {
    if regulariser.constraint().is_identity() { STIFFNESS } else { 1.0 }
}

/// ν: as it is given, and else none unless the run is as published.
fn nu(recipe: &Recipe<'_>) -> Result<f64, Refused> {
    let outputs = recipe.public.shape.outputs;
    match recipe.settings.smoothing {
        Some(nu) if nu > 0.0 && outputs > 1 => Err(Refused::new(
            "smoothing",
            nu,
            format!(
                "smoothing averages neighbouring features and is for one output; this model has {outputs} \
                 outputs (classes): use smoothing = 0"
            ),
        )),
        Some(nu) => Ok(nu),
        None if recipe.as_published() && outputs == 1 => Ok(Smoothing::LS22),
        None => Ok(Smoothing::NONE),
    }
}

/// The iterates, and what stays the same between steps.
#[derive(Debug)]
pub(crate) struct Splitting {
    regulariser: Arc<Regulariser>,
    smoothing: Smoothing,
    basis: Option<Basis>,
    beta: f64,
    /// What the penalty has lent the loss.
    lent: f64,
    /// μ that step sizes may count on; 0 in the general convex case.
    mu: f64,
    step: AlphaStep,
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    /// λ, scaled: the multiplier over β.
    pub dual: Vec<f64>,
    residual: Vec<f64>,
    direction: Vec<f64>,
}

/// How α comes about.
#[derive(Clone, Copy, Debug)]
struct AlphaStep {
    eta: Option<StepSize>,
    /// Whether β was given.
    beta: bool,
    gamma: Option<f64>,
    /// `β‖AᵀA‖₂`.
    stiffness: f64,
    /// `L`, or 0 for a loss without one: then nothing holds η back but its own decay.
    smooth: f64,
    /// What of the usual η_k the noise allows.
    length: f64,
}

/// What η_k is when the user did not say.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Schedule {
    /// `1/L`, or `1/√k` for a loss without an L. LS22's choice for DP-SADMM, general convex, is
    /// `1/√k` throughout, which is a matter of units: on short rows it is far too short a step.
    Smooth,
    /// `2γ‖Q_ν‖₂/(μk)`: LS22's choice for DP-SADMM, strongly convex.
    Harmonic,
    /// `1/√k`, as LS22 prints it for DP-SADMM, general convex.
    Sqrt,
    /// The same in every step: LS22's choice for DP-VRADMM.
    Constant,
}

impl Splitting {
    pub fn new(recipe: &Recipe<'_>, entry: &AlgorithmEntry) -> Result<Self, Refused> {
        let Recipe { settings, public, regulariser, .. } = recipe;
        recipe.needs_convex(entry)?;
        let shape = public.shape;
        let smooth = public.gradient_lipschitz();
        // 0 for a loss with kinks and for one that is flat.
        let smooth = if smooth.is_finite() { smooth } else { 0.0 };
        let gram = regulariser.gram_norm();
        let scale = if gram > 0.0 { gram } else { 1.0 };
        let usual = stiffness(regulariser) * public.curvature() / scale;
        let beta = positive("rho", settings.rho.unwrap_or(usual))?;
        let nu = nu(recipe)?;
        let asked =
            settings.strong_convexity.map(|mu| not_negative("strong_convexity", mu)).transpose()?;
        let asked = if recipe.is_preconditioned(entry)? { Some(0.0) } else { asked };
        // At most β/2, so that the prox of what is left has a step.
        let lent = match asked {
            Some(0.0) => 0.0,
            _ if regulariser.constraint().is_identity() => {
                regulariser.penalty().strong_convexity().min(0.5 * beta)
            }
            _ => regulariser.penalty().coefficient_ridge().min(0.5 * beta),
        };
        let gamma =
            settings.proximal_weight()?.map(|(name, gamma)| positive(name, gamma)).transpose()?;
        Ok(Splitting {
            regulariser: Arc::clone(regulariser),
            // The intercept has no neighbours and is left out of it.
            smoothing: Smoothing::new(nu, shape.features)?,
            basis: None,
            beta,
            lent,
            mu: asked.unwrap_or(lent),
            step: AlphaStep {
                eta: settings.step,
                beta: settings.rho.is_some(),
                gamma,
                stiffness: beta * gram,
                smooth: smooth + lent,
                length: 1.0,
            },
            x: vec![0.0; shape.len()],
            y: vec![0.0; regulariser.y_len()],
            dual: vec![0.0; regulariser.y_len()],
            residual: vec![0.0; regulariser.y_len()],
            direction: vec![0.0; shape.len()],
        })
    }

    /// Takes steps of so much of the usual length.
    pub fn shorten(&mut self, length: f64) {
        self.step.length = length;
    }

    /// Goes over to other coordinates and their step; β follows from them unless it was given.
    pub fn enter(&mut self, basis: Basis, step: StepSize, per_epoch: f64) {
        if !self.step.beta {
            let eta = step.at(1, per_epoch);
            self.beta = stiffness(&self.regulariser) / (eta * basis.most());
        }
        self.step.eta = Some(step);
        self.basis = Some(basis);
    }

    /// The coordinates that gradients are asked for in.
    pub fn basis(&self) -> Option<&Basis> {
        self.basis.as_ref()
    }

    /// Whether step sizes may count on strong convexity.
    pub fn is_strongly_convex(&self) -> bool {
        self.mu > 0.0
    }

    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// The longest α for a step of `eta` in the loss: η/γ with γ = 1 + ηβ‖AᵀA‖₂.
    pub fn alpha_of(&self, eta: f64) -> f64 {
        eta / (1.0 + eta * self.step.stiffness)
    }

    /// `α = η_k/γ` of step `k`.
    pub fn alpha(&self, k: u64, per_epoch: f64, schedule: Schedule) -> f64 {
        let AlphaStep { eta, gamma, stiffness, smooth, length, .. } = self.step;
        let over_gamma = |eta: f64| match self.basis {
            None => eta / gamma.unwrap_or(1.0 + eta * stiffness),
            Some(_) => eta,
        };
        if let Some(eta) = eta {
            return over_gamma(eta.at(k, per_epoch));
        }
        // LS22's theorems want η of the order of 1/L; a longer step would not converge even without
        // noise.
        let longest = if smooth > 0.0 { length / smooth } else { f64::INFINITY };
        match schedule {
            Schedule::Sqrt => over_gamma(1.0 / (k as f64).sqrt()),
            Schedule::Smooth if smooth == 0.0 => over_gamma(length / (k as f64).sqrt()),
            Schedule::Smooth => over_gamma(longest),
            // η/γ is what counts, and γ cancels.
            Schedule::Harmonic => (2.0 * self.smoothing.norm() / (self.mu * k as f64))
                .min(1.0 / (1.0 / longest + stiffness)),
            // A loss with kinks and a constant step: 1 in the scores, as for the other algorithms.
            Schedule::Constant if smooth == 0.0 => over_gamma(length),
            Schedule::Constant => over_gamma(longest),
        }
    }

    /// Adds the gradient at `x` of what the penalty has lent the loss.
    pub fn add_lent(&self, x: &[f64], g: &mut [f64]) {
        let shape = self.regulariser.shape();
        let features = shape.features * shape.outputs;
        for (g, x) in g[..features].iter_mut().zip(x) {
            *g += self.lent * x;
        }
    }

    /// One step with `G = g`, the gradient of the loss and of what it was lent.
    pub fn step(&mut self, g: &[f64], alpha: f64) {
        let Splitting {
            regulariser, smoothing, basis, beta, x, y, dual, residual, direction, ..
        } = self;
        let beta = *beta;
        regulariser.apply_a(x, y);
        regulariser.subtract_c(y);
        y.iter_mut().zip(&*dual).for_each(|(y, l)| *y += l);
        if self.lent > 0.0 {
            // Only for x = y and graphs, where B = −1: the argument of the prox is y as it stands.
            // The intercept is not penalised, has lent nothing, and comes last; before it are the
            // coefficients, and before them what a graph has besides.
            let shape = regulariser.shape();
            let last = y.len() - if shape.intercept { shape.outputs } else { 0 };
            let first = last.saturating_sub(shape.features * shape.outputs);
            let keep = 1.0 - self.lent / beta;
            let mut others = y.clone();
            y[first..last].iter_mut().for_each(|y| *y /= keep);
            regulariser.prox_y(y, 1.0 / (beta - self.lent));
            if first > 0 {
                regulariser.argmin_y(&mut others, beta);
                y[..first].copy_from_slice(&others[..first]);
            }
        } else {
            regulariser.argmin_y(y, beta);
        }
        regulariser.residual(x, y, residual);
        residual.iter_mut().zip(&*dual).for_each(|(r, l)| *r += l);
        regulariser.apply_at(residual, direction);
        direction.iter_mut().zip(g).for_each(|(d, g)| *d = g + beta * *d);
        let features = regulariser.shape().features;
        if smoothing.nu() > 0.0 {
            smoothing.apply(&mut direction[..features]);
        }
        if let Some(basis) = basis {
            let step = basis.solve(direction, alpha, beta);
            x.iter_mut().zip(&step).for_each(|(x, step)| *x -= step);
        } else {
            x.iter_mut().zip(&*direction).for_each(|(x, d)| *x -= alpha * d);
        }
        regulariser.residual(x, y, residual);
        dual.iter_mut().zip(&*residual).for_each(|(l, r)| *l += r);
    }

    /// `‖A x + B y − c‖` of the iterates, which the last step has computed.
    pub fn residual(&self) -> f64 {
        self.residual.iter().map(|r| r * r).sum::<f64>().sqrt()
    }

    /// The model of an average of the iterates: `y` when it is the parameter itself, because it has
    /// the zeros (and obeys the constraints) of the penalty, and else `x`.
    pub fn model<'a>(&self, x: &'a [f64], y: &'a [f64]) -> &'a [f64] {
        if self.regulariser.constraint().is_identity() { y } else { x }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::sadmm::ENTRY;
    use crate::linearised::distance;
    use crate::settings::{ProblemFacts, Settings};
    use reticent_problem::{Shape, penalties};

    /// In the coordinates of the table it is the iteration that it was, to rounding.
    #[test]
    fn the_coordinates_of_the_table_change_nothing() {
        let shape = Shape { features: 3, outputs: 2, intercept: true };
        let regulariser = Regulariser::plain(penalties::parse("l1:0.05").unwrap(), shape);
        let public = ProblemFacts {
            shape,
            population: 100,
            row_norm: 1.0,
            constant: 0.0,
            numeric: false,
            logistic: true,
            lipschitz: 1.0,
            smoothness: 1.0,
            whole_budget: 1.0,
        };
        let settings = Settings { rho: Some(0.3), ..Settings::default() };
        let regulariser = Arc::new(regulariser);
        let recipe = Recipe {
            settings: &settings,
            public: &public,
            regulariser: &regulariser,
            noise_multiplier: 1.0,
        };
        let new = || Splitting::new(&recipe, &ENTRY).unwrap();
        let (mut plain, mut other) = (new(), new());
        let step = StepSize::Constant(0.7);
        plain.step.eta = Some(step);
        other.enter(Basis::unchanged(&regulariser), step, 1.0);
        for k in 1..20 {
            let g: Vec<f64> = (0..8).map(|i| (3.0 * k as f64 + f64::from(i)).sin()).collect();
            for admm in [&mut plain, &mut other] {
                admm.step(&g, admm.alpha(k, 1.0, Schedule::Smooth));
            }
        }
        assert!(distance(&plain.x, &[0.0; 8]) > 0.1);
        assert!(distance(&plain.x, &other.x) < 1e-12 && distance(&plain.y, &other.y) < 1e-12);
    }
}
