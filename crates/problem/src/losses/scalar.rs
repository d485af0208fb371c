use super::{Loss, LossTarget, sealed::Sealed};

/// What a one-score loss is a function of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The margin `u = b·w`, with `b = ±1`.
    Margin,
    /// The residual `u = w − b`.
    Residual,
}

/// A convex function `φ(u)` of the margin or the residual. Its [`Loss`] follows: with `b² = 1` the
/// prox in the score is `b·prox(b·w)` for a margin, and `b + prox(w − b)` for a residual.
pub trait ScalarLoss: Sealed + std::fmt::Debug + Send + Sync {
    /// The name in the catalogue.
    const NAME: &'static str;
    /// What the one score and the target are combined to: a margin or a residual.
    const ARGUMENT: Argument;

    /// Its parameters, as in its description.
    fn parameters(&self) -> Vec<f64> {
        Vec::new()
    }

    /// The loss `φ(u)` of the margin or residual `u`.
    fn phi(&self, u: f64) -> f64;

    /// `φ'(u)`, a subgradient at a kink.
    fn slope(&self, u: f64) -> f64;

    /// `u ← φ'(u)` for many arguments.
    #[inline(always)]
    fn slopes(&self, us: &mut [f64]) {
        us.iter_mut().for_each(|u| *u = self.slope(*u));
    }

    /// `φ''(u)`, one of its two limits where it jumps.
    fn curvature(&self, u: f64) -> f64;

    /// `argmin_w φ(w) + (w − u)²/(2·step)`.
    fn prox_phi(&self, u: f64, step: f64) -> f64;

    /// Whether `φ` is decreasing; every margin loss of the catalogue is, and no loss of a residual.
    fn decreasing(&self) -> bool {
        Self::ARGUMENT == Argument::Margin
    }

    /// A bound of `|φ'|`.
    fn max_derivative(&self) -> f64;

    /// A bound of `φ''`.
    fn max_curvature(&self) -> f64;
}

impl<T: ScalarLoss> Loss for T {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn spec(&self) -> String {
        crate::catalogue::spec(T::NAME, &self.parameters())
    }

    fn target(&self) -> LossTarget {
        match T::ARGUMENT {
            Argument::Margin => LossTarget::Binary,
            Argument::Residual => LossTarget::Real,
        }
    }

    fn value(&self, scores: &[f64], target: f64) -> f64 {
        self.phi(argument::<T>(scores[0], target))
    }

    fn derivative(&self, scores: &[f64], target: f64, out: &mut [f64]) {
        let slope = self.slope(argument::<T>(scores[0], target));
        out[0] = match T::ARGUMENT {
            Argument::Margin => target * slope,
            Argument::Residual => slope,
        };
    }

    fn derivatives(&self, scores: &[f64], targets: &[f64], out: &mut [f64]) {
        pulp::Arch::new().dispatch(BatchedSlopes { loss: self, scores, targets, out });
    }

    fn curvature(&self, scores: &[f64], target: f64, out: &mut [f64]) {
        out[0] = self.curvature(argument::<T>(scores[0], target));
    }

    fn prox(&self, scores: &[f64], target: f64, step: f64, out: &mut [f64]) {
        let u = self.prox_phi(argument::<T>(scores[0], target), step);
        out[0] = match T::ARGUMENT {
            Argument::Margin => target * u,
            Argument::Residual => target + u,
        };
    }

    fn one_sided(&self) -> bool {
        self.decreasing()
    }

    fn lipschitz(&self) -> f64 {
        self.max_derivative()
    }

    fn smoothness(&self) -> f64 {
        self.max_curvature()
    }
}

/// Many derivatives, with the widest vector instructions of this machine. The bits are the same with
/// any: every operation is rounded on its own.
struct BatchedSlopes<'a, T> {
    loss: &'a T,
    scores: &'a [f64],
    targets: &'a [f64],
    out: &'a mut [f64],
}

impl<T: ScalarLoss> pulp::WithSimd for BatchedSlopes<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _: S) {
        let BatchedSlopes { loss, scores, targets, out } = self;
        for ((out, &score), &target) in out.iter_mut().zip(scores).zip(targets) {
            *out = argument::<T>(score, target);
        }
        loss.slopes(out);
        if T::ARGUMENT == Argument::Margin {
            out.iter_mut().zip(targets).for_each(|(slope, target)| *slope *= target);
        }
    }
}

#[inline(always)]
fn argument<T: ScalarLoss>(score: f64, target: f64) -> f64 {
    match T::ARGUMENT {
        Argument::Margin => target * score,
        Argument::Residual => score - target,
    }
}
