//! The arithmetic of a step: settings, schedules, and the recycled update.

use std::sync::Arc;

use reticent_admm::{NoiseSchedule, Refused, Release, not_negative, positive};
use reticent_oracle::{Oracle, Refusal};
use reticent_problem::{Regulariser, Shape};

use super::Variant;
use super::defaults::PeerDefaults;
use super::release::ReleaseKind;
use super::state::{NetworkStep, PeerState};
use crate::algorithms::{ProtocolEntry, ProtocolRecipe};

/// The default number of rounds in which growing penalties grow.
const GROWS: f64 = 100.0;

/// A bound on honest scores: a score of 1000 has the same effect as a larger one, for all losses in
/// use.
const REACH: f64 = 1e3;

/// The largest growth: more than any run can use, and far below the loss of digits in sums.
const MOST_GROWN: f64 = 1e9;

/// The rule of a peer's steps. Public, and the same for all peers except for η.
#[derive(Clone, Debug)]
pub(super) struct StepRule {
    variant: Variant,
    way: ReleaseKind,
    regulariser: Arc<Regulariser>,
    rounds: u32,
    /// η_i, the peer's own.
    eta: f64,
    /// The dual step of all peers: the λ_i of all must add up to 0.
    theta: f64,
    gamma: f64,
    /// C.
    weight: f64,
    growth: f64,
    radius: f64,
    schedule: NoiseSchedule,
}

impl StepRule {
    /// The rule of a peer with this C, and the smallest η of all.
    pub fn new(
        recipe: &ProtocolRecipe<'_>,
        entry: &ProtocolEntry,
        variant: Variant,
        (weight, least): (f64, f64),
        (release, usual): (Release, &PeerDefaults),
    ) -> Result<Self, Refused> {
        let settings = recipe.settings;
        let rounds = settings.iterations_or(usual.rounds)? as u32;
        let grows = (GROWS / f64::from(rounds)).min(1.0);
        let growth = settings.growth.unwrap_or_else(|| variant.growth.powf(grows));
        if !(growth >= 1.0 && growth.powf(f64::from(rounds)) <= MOST_GROWN) {
            let allowed = format!(
                "a factor of at least 1 is needed, with which the penalty grows by at most {MOST_GROWN:e} in \
                 {rounds} iterations"
            );
            return Err(Refused::new("growth", growth, allowed));
        }
        let (name, gamma) = settings.proximal_weight()?.unwrap_or(("proximal", usual.proximal));
        let steps = if variant.recycles { rounds.div_ceil(2) } else { rounds };
        Ok(StepRule {
            variant,
            way: ReleaseKind::new(recipe, entry, release, usual.clip)?,
            regulariser: Arc::clone(recipe.regulariser),
            rounds,
            eta: least,
            theta: positive("dual_step", settings.dual_step.unwrap_or(least))?,
            gamma: not_negative(name, gamma)?,
            weight,
            growth,
            radius: positive("radius", settings.radius.unwrap_or(REACH / recipe.public.row_norm))?,
            schedule: settings.noise_schedule.unwrap_or_default().over(steps)?,
        })
    }

    /// The same for a peer with this η.
    pub fn with_eta(&self, eta: f64) -> Self {
        StepRule { eta, ..self.clone() }
    }

    pub fn rounds(&self) -> u32 {
        self.rounds
    }

    pub fn shape(&self) -> Shape {
        self.regulariser.shape()
    }

    pub fn len(&self) -> usize {
        self.shape().len()
    }

    /// C.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Whether fresh steps are linearised as well.
    pub fn is_linearised(&self) -> bool {
        matches!(self.way, ReleaseKind::Gradient { .. })
    }

    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Whether step `k`, counted from 1, is a fresh one.
    pub fn is_fresh(&self, k: u32) -> bool {
        !self.variant.recycles || k % 2 == 1
    }

    fn grown(&self, k: u32) -> f64 {
        self.growth.powf(f64::from(k.saturating_sub(1)))
    }

    /// η of step `k`.
    pub fn eta(&self, k: u32) -> f64 {
        self.eta * self.grown(k)
    }

    /// θ of step `k`.
    pub fn theta(&self, k: u32) -> f64 {
        if self.variant.fixed_dual { self.theta } else { self.theta * self.grown(k) }
    }

    /// The largest norm of an honest s after step `k`.
    pub fn reach(&self, k: u32) -> f64 {
        f64::from(k) * self.theta(k) * self.radius
    }

    pub fn noise_on_penalty(&self) -> bool {
        self.variant.noise_on_penalty
    }

    pub fn price_depends_on_party(&self) -> bool {
        self.way.price_depends_on_party()
    }

    /// Whether settings make the noise of steps differ.
    pub fn has_schedule(&self) -> bool {
        self.schedule != NoiseSchedule::Constant
    }

    /// The most events of a fresh step.
    pub fn events_of_a_step(&self) -> u64 {
        self.way.events()
    }

    /// `2ηV_i + γ`, the curvature of a linearised step.
    pub fn stiffness(&self, k: u32, state: &PeerState) -> f64 {
        2.0 * self.eta(k) * state.degree() + self.gamma * self.grown(k)
    }

    pub fn penalty_curvature(&self) -> f64 {
        self.regulariser.penalty().strong_convexity()
    }

    /// The noisy gradient that an adversary can compute from the broadcast of a fresh step.
    pub fn made_public(&self, k: u32, state: &PeerState, f: &[f64]) -> Vec<f64> {
        self.way.made_public(self, k, state, f)
    }

    /// Step `k`, fresh: the only place that queries the gate, in a rehearsal and in a run.
    pub fn fresh(
        &self,
        k: u32,
        noise: f64,
        state: &PeerState,
        oracle: &mut dyn Oracle,
    ) -> Result<NetworkStep, Refusal> {
        let noise = match self.variant {
            Variant { private: false, .. } => 0.0,
            Variant { noise_on_penalty: true, .. } => noise * self.grown(k),
            _ => noise,
        };
        let number = if self.variant.recycles { k.div_ceil(2) } else { k };
        let noise = noise * self.schedule.at(number);
        self.way.ask(self, k, noise, state, oracle)
    }

    /// Step `k` from a public gradient.
    pub fn recycled(&self, k: u32, state: &PeerState) -> NetworkStep {
        let zero = vec![0.0; self.len()];
        let f = self.linearised(k, state, state.gradient.as_deref().unwrap_or(&zero));
        NetworkStep { f, gradient: None }
    }

    /// `argmin { gᵀf + r(f) + 2λᵀf + η Σ_j ‖½(f_i + f_j) − f‖² + (γ/2)‖f − f_i‖² }`.
    pub fn linearised(&self, k: u32, state: &PeerState, gradient: &[f64]) -> Vec<f64> {
        let step = 1.0 / self.stiffness(k, state);
        let mut f = state.own.f.clone();
        for ((f, pull), g) in f.iter_mut().zip(state.pull(self.eta(k))).zip(gradient) {
            *f -= step * (g + pull);
        }
        self.regulariser.prox_y(&mut f, step);
        f
    }
}
