//! Exact ADMM: the problem solved to convergence, without any privacy.
//!
//! ```text
//! minimise F(x) + r(y)  subject to  A x + B y = c,      F(x) = (1/n) Σ f(x; dᵢ)
//!
//! x⁺ = argmin_x F(x) + (ρ/2)‖A x + B y − c + u‖²
//! h  = α (A x⁺ − c) − (1 − α) B y
//! y⁺ = argmin_y r(y) + (ρ/2)‖B y + h + u‖²
//! u⁺ = u + h + B y⁺
//! ```
//!
//! The first line is Newton's method (module `newton`), α is over-relaxation. A loss with kinks
//! (hinge, absolute) has its scores split off as one more constraint `w = X x`, with `w` minimised
//! together with `x`: still two blocks, `(x, w)` and `y`, so still ADMM with its guarantee.
//!
//! Released: the loss, its gradients and its curvature as they are; every use is a non-private
//! event, ε = ∞. Promise: when the status is [`SolverStatus::Converged`] and the penalty is convex, the
//! objective is within 10⁻⁶ relative of the optimum. The solver stops at an estimate of the gap
//! (below) that is a hundred times finer, ten times for a loss with kinks. With SCAD or MCP it is a
//! stationary point.
//!
//! Stopping: `F(x) + r(y) − p* ≤ −λᵀ(A x + B y − c) + sᵀ(x − x*)` with `λ = ρu` and `s` the dual
//! residual (Boyd et al. 2011, inequality 3.11); `‖x‖` stands in for the unknown `‖x − x*‖`.
//! Residual stopping reads the data, which is why no other algorithm here does it.
//!
//! Reference: Boyd et al. 2011, sections 3.1–3.4.

mod newton;

use reticent_oracle::without_privacy::ExactOracle;
use reticent_oracle::{Refusal, Refused};
use reticent_problem::Regulariser;

use crate::catalogue::{AlgorithmEntry, AlgorithmKind};
use crate::settings::{Settings, positive};
use newton::Newton;

/// Over-relaxation (Boyd et al. 2011, section 3.4.3).
const ALPHA: f64 = 1.6;

/// The step of the envelope of a loss with kinks, in units of the score. A shorter one needs fewer
/// iterations and harder Newton steps; this is where the two are in balance on the problems of the
/// tests.
const SPLIT_STEP: f64 = 0.003;

/// With kinks everywhere the problem is close to a linear program, where ADMM is slow and the
/// estimate of the gap far above the gap; so the solver stops at a larger one.
const KINKS: f64 = 10.0;

/// What `‖x‖` counts for at least when it stands in for a distance: an `x` still at 0 is no sign of
/// an optimum.
const LEAST_SIZE: f64 = 1e-3;

/// How far ρ may move in one go, and how far from where it started.
const RHO_STRIDE: f64 = 100.0;
const RHO_RANGE: f64 = 1e6;

/// What the exact solver can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExactSettings {
    /// The most iterations it makes.
    pub iterations: u64,
    /// The relative gap at which it stops.
    pub tolerance: f64,
    /// ρ at the start; in proportion to the curvature of the loss when it is not given.
    pub rho: Option<f64>,
}

impl Default for ExactSettings {
    fn default() -> Self {
        ExactSettings { iterations: 5_000, tolerance: 1e-8, rho: None }
    }
}

pub(crate) const ENTRY: AlgorithmEntry = AlgorithmEntry {
    name: "exact",
    about: "ADMM to convergence on the exact objective; no privacy at all (ε = ∞)",
    reference: "Boyd et al. 2011, section 3",
    takes: &["iterations", "rho"],
    penalty: "l2:0.1",
    needs_penalty: false,
    kind: AlgorithmKind::Exact,
};

impl TryFrom<&Settings> for ExactSettings {
    type Error = Refused;

    fn try_from(settings: &Settings) -> Result<Self, Refused> {
        settings.only("exact", ENTRY.takes)?;
        let default = ExactSettings::default();
        Ok(ExactSettings {
            iterations: settings.iterations_or(default.iterations)?,
            rho: settings.rho.map(|rho| positive("rho", rho)).transpose()?,
            ..default
        })
    }
}

/// Why the solver stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SolverStatus {
    /// The estimate of the gap is below the tolerance.
    Converged,
    /// It was not, after all the iterations: the problem has no minimiser, or is very badly scaled.
    IterationLimit,
}

/// What the solver found.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactSolution {
    /// The parameter.
    pub x: Vec<f64>,
    /// The objective at it, the penalty included.
    pub objective: f64,
    /// Iterations made.
    pub iterations: u64,
    /// Why it stopped.
    pub status: SolverStatus,
}

/// Minimises the mean loss of `oracle` plus the penalty.
pub fn solve(
    oracle: &mut dyn ExactOracle,
    regulariser: &Regulariser,
    settings: &ExactSettings,
) -> Result<ExactSolution, Refusal> {
    let n = oracle.shape().len();
    let split = oracle.smoothness().is_infinite();
    let tolerance = settings.tolerance * if split { KINKS } else { 1.0 };
    if split {
        oracle.split(SPLIT_STEP)?;
    }
    let mut newton = Newton::new(oracle, regulariser)?;
    let curvature = if split { 0.0 } else { oracle.smoothness() } / (100 * n.max(1)) as f64;
    let mut rho = Rho::new(settings.rho, newton.mean_curvature().max(curvature), regulariser);
    let mut at = Iterates::new(regulariser, n);
    let mut inner = f64::INFINITY;
    let mut status = SolverStatus::IterationLimit;
    let mut iterations = 0;

    while iterations < settings.iterations {
        iterations += 1;
        at.aim();
        let Iterates { target, x, .. } = &mut at;
        let gradient = newton.minimise(oracle, regulariser, rho.value, target, x, inner)?;
        at.follow(rho.value);

        let PrimalDual { primal, dual } = at.residuals(rho.value);
        let lambda = rho.value * norm(at.u.iter().copied());
        let size = norm(at.x.iter().copied()).max(LEAST_SIZE);
        let mut gap = lambda * primal + size * (dual + gradient);
        let mut loss = newton.value();
        if split {
            gap += oracle.raise_multipliers(&at.x, ALPHA)?;
            loss = oracle.loss(&at.x)?;
            newton.forget();
        }
        if gap <= tolerance * (loss + regulariser.value(&at.y)) {
            status = SolverStatus::Converged;
            break;
        }
        let size = at.sizes(rho.value);
        let factor = rho.balance(iterations, primal / size.primal, dual / size.dual);
        at.u.iter_mut().for_each(|u| *u /= factor);
        inner = 0.1 * dual.min(rho.value * primal);
    }

    let x = if regulariser.constraint().is_identity() { at.y } else { at.x };
    let objective = oracle.loss(&x)? + regulariser.value_at(&x);
    Ok(ExactSolution { x, objective, iterations, status })
}

/// x, y and the scaled multipliers u, and room to work in.
struct Iterates<'a> {
    regulariser: &'a Regulariser,
    x: Vec<f64>,
    y: Vec<f64>,
    u: Vec<f64>,
    /// A x − c.
    ax: Vec<f64>,
    /// What it is pulled towards: −B y − u.
    target: Vec<f64>,
    change: Vec<f64>,
    s: Vec<f64>,
}

impl<'a> Iterates<'a> {
    fn new(regulariser: &'a Regulariser, n: usize) -> Self {
        let (x, zeros) = (vec![0.0; n], vec![0.0; regulariser.y_len()]);
        let mut y = zeros.clone();
        regulariser.y_of(&x, &mut y);
        let (u, ax, target) = (zeros.clone(), zeros.clone(), zeros.clone());
        Iterates { regulariser, s: x.clone(), x, y, u, ax, target, change: zeros }
    }

    fn b(&self) -> f64 {
        self.regulariser.constraint().b()
    }

    /// Before x moves.
    fn aim(&mut self) {
        let b = self.b();
        let pulled = self.target.iter_mut().zip(&self.y).zip(&self.u);
        pulled.for_each(|((t, y), u)| *t = -b * y - u);
    }

    /// The steps of y and u, after that of x.
    fn follow(&mut self, rho: f64) {
        let b = self.b();
        let Iterates { regulariser, x, y, u, ax, change, .. } = self;
        regulariser.apply_a(x, ax);
        regulariser.subtract_c(ax);
        // u + h, which the new y is to cancel and which then becomes the new u.
        for i in 0..y.len() {
            change[i] = -(u[i] + ax[i] + b * y[i]);
            u[i] += ALPHA * ax[i] - (1.0 - ALPHA) * b * y[i];
        }
        y.copy_from_slice(u);
        regulariser.argmin_y(y, rho);
        for i in 0..y.len() {
            u[i] += b * y[i];
            change[i] += u[i];
        }
    }

    /// How far the constraint is from holding, and the multipliers from being right.
    fn residuals(&mut self, rho: f64) -> PrimalDual {
        let b = self.b();
        let primal = norm(self.ax.iter().zip(&self.y).map(|(ax, y)| ax + b * y));
        self.regulariser.apply_at(&self.change, &mut self.s);
        PrimalDual { primal, dual: rho * norm(self.s.iter().copied()) }
    }

    /// What these two are small or large beside.
    fn sizes(&mut self, rho: f64) -> PrimalDual {
        let y = self.b().abs() * norm(self.y.iter().copied());
        self.regulariser.apply_at(&self.u, &mut self.s);
        let primal = norm(self.ax.iter().copied()).max(y);
        PrimalDual { primal, dual: rho * norm(self.s.iter().copied()) }
    }
}

/// A number of the constraint, and one of the multipliers.
struct PrimalDual {
    primal: f64,
    dual: f64,
}

/// The penalty parameter and how it moves.
struct Rho {
    value: f64,
    lowest: f64,
    highest: f64,
    /// The iteration of the next move.
    next: u64,
}

impl Rho {
    fn new(given: Option<f64>, curvature: f64, regulariser: &Regulariser) -> Self {
        let start = given.unwrap_or(curvature.max(1e-6) / regulariser.gram_norm());
        // Below the weak convexity the second update has more than one answer.
        let b = regulariser.constraint().b();
        let convex = 2.0 * regulariser.penalty().weak_convexity() / (b * b);
        let lowest = (start / RHO_RANGE).max(convex);
        Rho { value: start.max(lowest), lowest, highest: (start * RHO_RANGE).max(lowest), next: 4 }
    }

    /// Moves ρ so that the two relative residuals become alike (Boyd et al. 2011, section 3.4.1),
    /// at iterations further and further apart: between two moves it is plain ADMM, which
    /// converges. Returns by how much.
    fn balance(&mut self, iteration: u64, primal: f64, dual: f64) -> f64 {
        if iteration < self.next {
            return 1.0;
        }
        let ratio = (primal / dual).sqrt();
        if !(ratio.is_finite() || primal > 0.0) || (0.5..2.0).contains(&ratio) {
            self.next += 4;
            return 1.0;
        }
        self.next = iteration + iteration.max(4) / 2;
        let before = self.value;
        let ratio = ratio.clamp(1.0 / RHO_STRIDE, RHO_STRIDE);
        self.value = (self.value * ratio).clamp(self.lowest, self.highest);
        self.value / before
    }
}

/// The Euclidean norm.
fn norm(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|v| v * v).sum::<f64>().sqrt()
}
