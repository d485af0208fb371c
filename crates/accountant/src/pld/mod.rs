//! Privacy-loss distributions: any list of events that can give their worst pairs, composed
//! numerically with an upper and a lower bound.
//!
//! 1. A sketch of each loss (a few hundred points) gives the moments K(s), hence the tilt, the
//!    window and the lattice.
//! 2. Each loss is put on the lattice pessimistically or optimistically (`discretise`), finely
//!    where its tilted mass lies.
//! 3. The measures are tilted and composed by FFT (`compose`).
//! 4. δ(ε) = ∞-mass + e^{K(s)} Σ_{ℓ>ε} tilted(ℓ) e^{−sℓ} (1 − e^{ε−ℓ}), widened by every error made
//!    on the way.
//!
//! Connecting dots a step h apart raises ln E[e^{sL}] by s(s+1)h²/12 per event, hence ε by
//! (s+1)h²/12: this sets h.

mod compose;
mod discretise;
pub(crate) mod loss;
mod plan;
mod single;
mod tail;
mod tilt;

use crate::outward::{Lower, Upper};
pub(crate) use loss::PrivacyLoss;
use plan::AccountingPlan;
pub(crate) use single::floor;

/// Relative precision of ε that is aimed at, and the ε below which it is absolute.
pub(crate) const FINE: f64 = 2e-5;
pub(crate) const COARSE: f64 = 1e-3;
const FLOOR: f64 = 1e-3;

/// What is asked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BoundQuery {
    /// ε at this δ.
    Epsilon(f64),
    /// δ at this ε.
    Delta(f64),
}

/// Which side of the truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Lower,
    Upper,
}

impl Side {
    fn sign(self) -> f64 {
        if self == Side::Upper { 1.0 } else { -1.0 }
    }
}

/// Both ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundEnds {
    pub lower: Lower,
    pub upper: Upper,
    /// Whether `upper` was read off the lattice. Otherwise the moments of a sketch gave it, and
    /// better moments may give less.
    pub read: bool,
}

/// Upper bound over both directions (removal, addition) and, if asked for, a lower bound.
pub(crate) fn bound(
    losses: &[Vec<(PrivacyLoss, u64)>; 2],
    query: BoundQuery,
    precision: f64,
    lower: bool,
) -> Option<BoundEnds> {
    let [removal, addition] = losses;
    let plans = (
        AccountingPlan::new(removal, query),
        (removal != addition).then(|| AccountingPlan::new(addition, query)),
    );
    let (main, found) = match plans {
        (Some(main), None) => {
            let found = main.upper(precision);
            (main, found)
        }
        (Some(one), Some(Some(two))) => {
            let swap = !two.proven.within(one.proven.value());
            let (main, other) = if swap { (two, one) } else { (one, two) };
            let mut found = main.upper(precision);
            let first = found.0.value();
            // A coarse look is mostly enough to see that the other direction costs less.
            if !other.proven.within(first) && !other.upper(16.0 * precision).0.within(first) {
                let (upper, read) = other.upper(precision);
                found = (upper.largest(found.0), read && found.1);
            }
            (main, found)
        }
        (one, other) => {
            let unplanned = plan::crude(if one.is_some() { addition } else { removal }, query);
            let main = one.or(other.flatten())?;
            let (upper, read) = main.upper(precision);
            let dearer = !unplanned.within(upper.value());
            (main, (upper.largest(unplanned), read && !dearer))
        }
    };
    let (upper, read) = found;
    let lower = if lower { main.lower(8.0 * precision) } else { Lower::ZERO };
    // Two ends that contradict each other prove nothing.
    (upper.value().is_finite() && !lower.contradicts(upper)).then_some(BoundEnds {
        lower,
        upper,
        read,
    })
}
