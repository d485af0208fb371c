//! The public facts that settings are derived from.

use reticent_problem::Shape;

/// The residual, in halves of the range of the target, that a loss without a bounded slope is
/// clipped at where nothing is known of it and there is little signal, and the signal from which on
/// nothing is clipped.
const RESIDUAL: f64 = 0.2;
const WIDE: f64 = 160.0;

/// The scale of the logistic loss.
const SCORES: f64 = 4.0;

/// What may be known without spending anything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProblemFacts {
    /// The layout of the parameter.
    pub shape: Shape,
    /// The public number of units.
    pub population: u64,
    /// A bound of the norm of a row, the constant behind the intercept included.
    pub row_norm: f64,
    /// The constant behind the intercept; 0 where there is none.
    pub constant: f64,
    /// Whether the target is a number, scaled to [−1, 1].
    pub numeric: bool,
    /// Whether the loss is the logistic one, and all classes count alike.
    pub logistic: bool,
    /// A bound of the derivative of the loss in the scores; ∞ when there is none.
    pub lipschitz: f64,
    /// A bound of its curvature; ∞ when there is none.
    pub smoothness: f64,
    /// The noise, in clips, with which a single answer about everything spends the whole budget:
    /// what ε, δ and the adjacency come to.
    pub whole_budget: f64,
}

impl ProblemFacts {
    /// The same for who has a share of the budget. Costs add up as squares, near enough for
    /// choosing settings.
    pub fn with_share(self, share: f64) -> Self {
        ProblemFacts { whole_budget: self.whole_budget / share.sqrt(), ..self }
    }

    /// The number of units over the noise of one answer, in clips: how much larger than its noise
    /// the sum of a quantity can be in which all units agree.
    pub fn signal(&self) -> f64 {
        self.population as f64 / self.whole_budget
    }

    /// A bound of the derivative of the loss in the scores; for a loss without one, the slope that
    /// gradients are clipped at: that of a score of 0 and a class, and for a number its residual,
    /// all of a scaled target where there is signal for its noise, and where there is little a
    /// fifth of it, because most targets fill no more of their range.
    pub fn slope(&self) -> f64 {
        match (self.lipschitz.is_finite(), self.numeric) {
            (true, _) => self.lipschitz,
            (false, false) => 1.0,
            (false, true) => (self.signal() / WIDE).clamp(RESIDUAL, 1.0),
        }
    }

    /// How many times the scale of the loss, its slope over its curvature, the scores of two classes
    /// go: to 4, where that of the logistic loss is. A hinge that is rounded in a narrow place is
    /// narrow there alone. 1 for numbers, for several scores and for a loss with kinks.
    pub(crate) fn reach(&self) -> f64 {
        let times = SCORES * self.smoothness / self.slope();
        let one = self.numeric || self.shape.outputs > 1 || !times.is_finite();
        if one { 1.0 } else { times.max(1.0) }
    }

    /// A Lipschitz constant `L` of the gradient of one unit's loss in the parameter: the curvature
    /// in the score times the square of the row norm; ∞ for a loss with kinks.
    pub fn gradient_lipschitz(&self) -> f64 {
        self.smoothness * self.row_norm.powi(2)
    }

    /// `L`, or where there is none, as for a loss with kinks, R²: that of a loss of curvature 1.
    pub fn curvature(&self) -> f64 {
        let smooth = self.gradient_lipschitz();
        if smooth.is_finite() && smooth > 0.0 { smooth } else { self.row_norm.powi(2) }
    }
}
