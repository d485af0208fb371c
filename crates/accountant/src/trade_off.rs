//! The trade-off function f(a): the smallest false-negative rate of any test of level a
//! (Dong–Roth–Su 2022).
//!
//! It is the upper envelope of the lines that the profile gives: f(a) = sup_ε max(1 − δ(ε) − e^ε a,
//! e^{−ε}(1 − δ(ε) − a)). Any set of ε gives a lower bound when δ is bounded from above, and that
//! is the safe side: the attacker does no better.

use crate::account::{self, AccountError};
use crate::ledger::Ledger;
use crate::outward::{Lower, at_most};

/// Largest ε looked at, and how many.
const LARGEST: f64 = 60.0;
const POINTS: u32 = 40;

/// The trade-off function of a ledger: for each level in [0, 1], a lower bound on the
/// false-negative rate of any test with that false-positive rate. Whoever tries to tell two
/// neighbouring tables apart does no better.
///
/// # Errors
/// As [`crate::delta`].
///
/// # Examples
///
/// ```
/// use reticent_accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View, trade_off};
///
/// let mut ledger = Ledger::new();
/// let once = Gaussian::new(1.0)?;
/// ledger.append(Event::new(once, Adjacency::AddRemove, Unit::Record, View::Central)?);
/// // One false alarm in twenty: at least 73 % of the true changes go unnoticed.
/// let (level, missed) = trade_off(&ledger, &[0.05])?[0];
/// assert!(level == 0.05 && missed > 0.73 && missed < 0.741);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn trade_off(ledger: &Ledger, levels: &[f64]) -> Result<Vec<(f64, f64)>, AccountError> {
    // Cubes: dense near 0, where the middle of the curve is decided.
    let epsilons: Vec<f64> =
        (0..=POINTS).map(|k| LARGEST * (f64::from(k) / f64::from(POINTS)).powi(3)).collect();
    let profile = account::profile(ledger, &epsilons)?;
    Ok(levels
        .iter()
        .map(|&level| {
            let best = profile.iter().fold(Lower::ZERO, |best, (epsilon, bound)| {
                let rest = 1.0 - bound.upper;
                let (one, other) =
                    (rest - epsilon.exp() * level, (-epsilon).exp() * (rest - level));
                best.largest(Lower::new(one)).largest(Lower::new(other))
            });
            (level, Lower::new(at_most(best.value(), 1.0 - level)).value())
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::ndtr;
    use crate::{Adjacency, Event, Gaussian, Unit, View};

    #[test]
    fn a_gaussian_is_bounded_closely_from_below() {
        let mut ledger = Ledger::new();
        let gaussian = Gaussian::new(1.0).unwrap();
        ledger.append(
            Event::new(gaussian, Adjacency::AddRemove, Unit::Record, View::Central).unwrap(),
        );
        // Level Φ(−t) has false-negative rate Φ(t − 1).
        for t in [-1.0, 0.0, 0.5, 1.0, 2.0] {
            let (_, got) = trade_off(&ledger, &[ndtr(-t)]).unwrap()[0];
            let want = ndtr(t - 1.0);
            assert!(got <= want + 1e-12 && got > want - 0.01, "{t}: {got} {want}");
        }
    }
}
