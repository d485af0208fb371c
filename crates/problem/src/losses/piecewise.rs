//! A loss of one's own, as data: a convex function whose slope is straight between points
//! `(u₁, s₁), …, (u_m, s_m)` and stays what it is beyond the first and the last.
//!
//! ```text
//! φ'(u) = s₁ for u ≤ u₁,   s_i + b_i (u − u_i) between u_i and u_{i+1},   s_m for u ≥ u_m
//! b_i   = (s_{i+1} − s_i)/(u_{i+1} − u_i) ≥ 0
//! ```
//!
//! The gate shows a loss every score and every target, so it runs no code but this library's; what
//! is needed to say almost any loss is its slope at a few points. `|φ'| ≤ max(|s₁|, |s_m|)` and
//! `φ'' ≤ max b_i` follow from the points, and are rounded up: nobody has to be believed. Proof:
//! proofs/piecewise.md.
//!
//! The prox solves `w + t φ'(w) = u`. The left side ascends and is straight between the points
//! `u_i + t s_i`, so it is one division in the right piece.

use super::{Argument, Entry, ScalarLoss};
use crate::ParseError;
use crate::catalogue::{Fallback, Parameter, Range};

/// Points and slopes beyond this are a slip of the keyboard, and would overflow in products.
const LARGEST: f64 = 1e100;

/// A nearer pair of points than this, relatively, is a kink and no piece.
const NEAREST: f64 = 1e-9;

/// What a quotient of two differences may be off by, in units in the last place, and more.
const ROUNDING: f64 = 1.0 + 8.0 * f64::EPSILON;

/// The points of the slope, checked.
#[derive(Clone, Debug, PartialEq)]
struct SlopePoints {
    at: Vec<f64>,
    slope: Vec<f64>,
    /// The curvature behind each point but the last.
    bend: Vec<f64>,
    /// φ at each point; its least value anywhere is 0.
    value: Vec<f64>,
}

impl SlopePoints {
    /// From `u₁, s₁, u₂, s₂, …`.
    fn new(name: &'static str, numbers: &[f64], margin: bool) -> Result<Self, ParseError> {
        let refuse = |range: &str| ParseError::OutOfRange {
            name,
            parameter: "points",
            given: crate::catalogue::spec("", numbers).trim_start_matches(':').to_owned(),
            range: range.to_owned(),
        };
        let even = numbers.len() >= 4 && numbers.len().is_multiple_of(2);
        if !even || numbers.iter().any(|x| x.is_nan() || x.abs() > LARGEST) {
            return Err(refuse("two or more pairs u,s of finite numbers"));
        }
        let at: Vec<f64> = numbers.iter().step_by(2).map(|u| u + 0.0).collect();
        let slope: Vec<f64> = numbers.iter().skip(1).step_by(2).map(|s| s + 0.0).collect();
        let apart = |pair: &[f64]| {
            pair[1] - pair[0] > NEAREST * (pair[0].abs() + pair[1].abs()).max(f64::MIN_POSITIVE)
        };
        if !at.windows(2).all(apart) {
            return Err(refuse("pairs u,s whose u ascend"));
        }
        if !slope.is_sorted() {
            return Err(refuse("pairs u,s whose s never descend, so that the loss is convex"));
        }
        let (first, last) = (slope[0], slope[slope.len() - 1]);
        if margin && !(first < 0.0 && last == 0.0) {
            return Err(refuse(
                "pairs u,s whose s go from below 0 to 0, as a loss of margins does",
            ));
        }
        if !(margin || first < 0.0 && last > 0.0) {
            return Err(refuse("pairs u,s whose s go from below 0 to above 0"));
        }
        let pieces = || at.windows(2).zip(slope.windows(2));
        let bend: Vec<f64> = pieces().map(|(u, s)| (s[1] - s[0]) / (u[1] - u[0])).collect();
        if !bend.iter().all(|bend| (ROUNDING * bend).is_finite()) {
            return Err(refuse("pairs u,s whose u are not so near that the curvature overflows"));
        }
        // A quotient below the normal numbers may be rounded to nothing: no bound, and a value of
        // 0·∞.
        let rises = |s: &[f64]| s[1] > s[0];
        if slope.windows(2).zip(&bend).any(|(s, bend)| rises(s) && !bend.is_normal()) {
            return Err(refuse("pairs u,s whose s differ by more than nothing for their u"));
        }
        let value = values(&at, &slope);
        Ok(SlopePoints { at, slope, bend, value })
    }

    fn parameters(&self) -> Vec<f64> {
        self.at.iter().zip(&self.slope).flat_map(|(u, s)| [*u, *s]).collect()
    }

    /// The point before `u`; `None` for one before all of them.
    fn before(&self, u: f64) -> Option<usize> {
        self.at.partition_point(|at| *at <= u).checked_sub(1)
    }

    fn phi(&self, u: f64) -> f64 {
        let Some(i) = self.before(u) else {
            return self.value[0] + self.slope[0] * (u - self.at[0]);
        };
        let Some(&bend) = self.bend.get(i) else {
            return self.value[i] + self.slope[i] * (u - self.at[i]);
        };
        // From the end that is nearer to the least value: no two terms cancel.
        if self.slope[i] >= 0.0 {
            let d = u - self.at[i];
            self.value[i] + self.slope[i] * d + 0.5 * bend * d * d
        } else if self.slope[i + 1] <= 0.0 {
            let d = self.at[i + 1] - u;
            self.value[i + 1] - self.slope[i + 1] * d + 0.5 * bend * d * d
        } else {
            let d = u - (self.at[i] - self.slope[i] / bend);
            0.5 * bend * d * d
        }
    }

    fn slope(&self, u: f64) -> f64 {
        match self.before(u) {
            None => self.slope[0],
            Some(i) if i + 1 == self.at.len() => self.slope[i],
            // Within the ends of the piece, whatever is rounded: the bound of the slope is exact.
            Some(i) => (self.slope[i] + self.bend[i] * (u - self.at[i]))
                .clamp(self.slope[i], self.slope[i + 1]),
        }
    }

    fn curvature(&self, u: f64) -> f64 {
        self.before(u).and_then(|i| self.bend.get(i)).copied().unwrap_or(0.0)
    }

    fn prox(&self, u: f64, step: f64) -> f64 {
        let reached = |i: usize| self.at[i] + step * self.slope[i] <= u;
        let last = self.at.len() - 1;
        match (0..=last).rev().find(|&i| reached(i)) {
            None => u - step * self.slope[0],
            Some(i) if i == last => u - step * self.slope[last],
            Some(i) => {
                let beyond = u - self.at[i] - step * self.slope[i];
                (self.at[i] + beyond / (1.0 + step * self.bend[i])).min(self.at[i + 1])
            }
        }
    }

    fn max_derivative(&self) -> f64 {
        self.slope[0].abs().max(self.slope[self.slope.len() - 1].abs())
    }

    fn max_curvature(&self) -> f64 {
        ROUNDING * self.bend.iter().copied().fold(0.0, f64::max)
    }
}

/// φ at the points, from the place where its slope is 0, and it is too, outward.
fn values(at: &[f64], slope: &[f64]) -> Vec<f64> {
    // A piece of the slope is straight, so its area is that of a trapezium.
    let area = |i: usize| 0.5 * (slope[i] + slope[i + 1]) * (at[i + 1] - at[i]);
    let rise = |i: usize| {
        let whole = slope[i + 1] - slope[i];
        0.5 * (at[i + 1] - at[i]) / whole
    };
    let mut value = vec![0.0; at.len()];
    let least = slope.partition_point(|s| *s <= 0.0) - 1;
    if slope[least] < 0.0 {
        value[least] = slope[least] * slope[least] * rise(least);
    }
    for i in (0..least).rev() {
        value[i] = value[i + 1] - area(i);
    }
    for i in least + 1..at.len() {
        value[i] = if i == least + 1 && slope[least] < 0.0 {
            slope[i] * slope[i] * rise(least)
        } else {
            value[i - 1] + area(i - 1)
        };
    }
    value
}

macro_rules! piecewise {
    ($(#[doc = $doc:literal])+ $type:ident $name:literal $argument:ident $entry:ident
     $about:literal $usual:expr) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $type(SlopePoints);

        pub(super) const $entry: Entry = Entry {
            name: $type::NAME,
            parameters: &[Parameter {
                name: "points",
                range: Range::List,
                fallback: Fallback::List($usual),
            }],
            about: $about,
            build: |p| Ok(Box::new($type(SlopePoints::new($type::NAME, p, $type::IS_MARGIN)?))),
        };

        impl $type {
            const IS_MARGIN: bool = matches!($type::ARGUMENT, Argument::Margin);

            /// The loss whose slope is straight between these points `(u, slope)`.
            ///
            /// # Errors
            /// If there are fewer than two points, `u` does not ascend, the slopes descend, so that
            /// it would not be convex, or have not the signs that such a loss has.
            pub fn new(points: &[(f64, f64)]) -> Result<Self, ParseError> {
                let numbers: Vec<f64> = points.iter().flat_map(|&(u, s)| [u, s]).collect();
                Ok($type(SlopePoints::new($type::NAME, &numbers, $type::IS_MARGIN)?))
            }
        }

        impl ScalarLoss for $type {
            const NAME: &'static str = $name;
            const ARGUMENT: Argument = Argument::$argument;

            fn parameters(&self) -> Vec<f64> {
                self.0.parameters()
            }

            fn phi(&self, u: f64) -> f64 {
                self.0.phi(u)
            }

            fn slope(&self, u: f64) -> f64 {
                self.0.slope(u)
            }

            fn curvature(&self, u: f64) -> f64 {
                self.0.curvature(u)
            }

            fn prox_phi(&self, u: f64, step: f64) -> f64 {
                self.0.prox(u, step)
            }

            fn max_derivative(&self) -> f64 {
                self.0.max_derivative()
            }

            fn max_curvature(&self) -> f64 {
                self.0.max_curvature()
            }
        }
    };
}

piecewise! {
    /// A loss of the margin `u = b·w` of two classes, by the points of its slope, which goes from
    /// below 0 to 0.
    ///
    /// # Examples
    /// ```
    /// use reticent_problem::losses::{Loss, PiecewiseMargin};
    /// // Mistakes pull with all their weight up to a margin of 0, less up to 1, and not beyond.
    /// let loss = PiecewiseMargin::new(&[(0.0, -1.0), (1.0, 0.0)])?;
    /// assert_eq!((loss.lipschitz(), loss.value(&[2.0], 1.0)), (1.0, 0.0));
    /// # Ok::<(), reticent_problem::ParseError>(())
    /// ```
    PiecewiseMargin "piecewise-margin" Margin MARGIN
    "two classes; a loss of one's own, by points u,slope,… of its slope in the margin, from below 0 to 0"
    &[0.0, -1.0, 1.0, 0.0]
}

piecewise! {
    /// A loss of the residual `u = w − b` of a number, by the points of its slope, which goes from
    /// below 0 to above 0.
    ///
    /// # Examples
    /// ```
    /// use reticent_problem::losses::{Loss, PiecewiseResidual};
    /// // Too little is three times as bad as too much.
    /// let loss = PiecewiseResidual::new(&[(-0.1, -3.0), (0.0, 0.0), (0.1, 1.0)])?;
    /// assert_eq!(loss.lipschitz(), 3.0);
    /// # Ok::<(), reticent_problem::ParseError>(())
    /// ```
    PiecewiseResidual "piecewise-residual" Residual RESIDUAL
    "a number; a loss of one's own, by points u,slope,… of its slope in the residual, from below 0 to above 0"
    &[-1.0, -1.0, 1.0, 1.0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::losses::{Huber, HuberisedHinge, Loss};

    #[test]
    fn known_losses_are_said_by_their_points() {
        let huber = Huber::new(1.5).unwrap();
        let same = PiecewiseResidual::new(&[(-1.5, -1.5), (1.5, 1.5)]).unwrap();
        for i in -40..=40 {
            let u = f64::from(i) / 10.0;
            assert!((huber.phi(u) - same.phi(u)).abs() < 1e-14, "{u}");
            assert!((huber.slope(u) - same.slope(u)).abs() < 1e-15, "{u}");
            assert!((huber.prox_phi(u, 0.7) - same.prox_phi(u, 0.7)).abs() < 1e-14, "{u}");
        }
        assert_eq!(huber.lipschitz(), same.lipschitz());
        assert!((1.0..1.0 + 1e-12).contains(&same.smoothness()));
        let hinge = HuberisedHinge::new(0.5).unwrap();
        let same = PiecewiseMargin::new(&[(0.5, -1.0), (1.5, 0.0)]).unwrap();
        for i in -40..=40 {
            let u = f64::from(i) / 10.0;
            assert!((hinge.phi(u) - same.phi(u)).abs() < 1e-14, "{u}");
        }
    }

    #[test]
    fn a_bend_that_is_not_finite_is_refused() {
        let near = PiecewiseResidual::new(&[(0.0, -1.0), (1e-310, 1.0)]);
        assert!(near.unwrap_err().to_string().contains("curvature"));
        let least = PiecewiseMargin::new(&[(0.0, -1.0), (1e-300, 0.0)]).unwrap();
        assert!(least.smoothness().is_finite());
    }

    /// The slope 1e-300 over 1e100 has a curvature that no number says: it was declared as 0, and
    /// the value was 0·∞.
    #[test]
    fn a_bend_that_is_rounded_to_nothing_is_refused() {
        let flat = PiecewiseResidual::new(&[(0.0, -1e-300), (1e100, 1e-300)]);
        assert!(flat.unwrap_err().to_string().contains("more than nothing"));
        let small = PiecewiseResidual::new(&[(0.0, -1e-150), (1e100, 1e-150)]).unwrap();
        assert!(small.smoothness() > 0.0 && small.phi(0.0).is_finite());
    }

    #[test]
    fn what_is_not_convex_or_has_the_wrong_signs_is_refused() {
        let residual = |points: &[(f64, f64)]| PiecewiseResidual::new(points).is_err();
        assert!(residual(&[(0.0, -1.0)]) && residual(&[]));
        assert!(residual(&[(0.0, 1.0), (1.0, -1.0)]), "not convex");
        assert!(residual(&[(1.0, -1.0), (0.0, 1.0)]), "u descends");
        assert!(residual(&[(1.0, -1.0), (1.0 + 1e-12, 1.0)]), "a kink");
        assert!(residual(&[(0.0, 0.0), (1.0, 1.0)]), "no slope to the left");
        assert!(
            residual(&[(0.0, -1.0), (f64::NAN, 1.0)]) && residual(&[(0.0, -1.0), (1.0, 1e200)])
        );
        let margin = |points: &[(f64, f64)]| PiecewiseMargin::new(points).is_err();
        assert!(margin(&[(0.0, -1.0), (1.0, 1.0)]), "mistakes are not to be rewarded");
        assert!(margin(&[(0.0, -1.0), (1.0, -0.5)]), "no least value");
        assert!(crate::losses::parse("piecewise-margin:0,-1,1", None).is_err());
        assert!(crate::losses::parse("piecewise-margin:0,-1,1,x", None).is_err());
    }
}
