//! The noise of a sum when every party adds its own share: n independent discrete Gaussians per
//! coordinate.
//!
//! Let each of n parties add N_ℤ(0, s²) to each of d integer coordinates, s ≥ ½, and let
//! neighbouring sums differ by at most Δ in the ℓ₂ norm, all in steps of the grid. The sum with its
//! noise is ρ-zCDP with
//!
//! > ρ = ½(Δ/(√n·s) + τ√d)²,  τ = 10 Σ_{k=1}^{n−1} e^(−2π²s²·k/(k+1))
//!
//! (Kairouz, Liu, Steinke 2021, Theorem 1; its other two bounds are better only where τ matters,
//! and a grid that fine is free). Parties beyond the n that are counted only add independent noise
//! to the outcome, which is post-processing. Proof note: `proofs/noise-distributed.md`.

use crate::events::{EventError, Zcdp};
use crate::round::{down, up};

/// Terms of τ that are summed one by one; each later one is at most the last of these.
const TERMS: u64 = 1000;

/// Shares of noise for which there is no theorem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DistributedNoiseError {
    /// The shares are too small for the grid.
    #[error(
        "each party's noise is {share} steps of the grid, at least 0.5 is needed: take a finer grid (more fraction bits) or more noise"
    )]
    Share {
        /// The value that was given.
        share: f64,
    },
    /// Nobody's noise is sure.
    #[error("no party's noise is certain to be there: raise the threshold or the honest fraction")]
    Nobody,
    /// A sensitivity that is negative or not finite.
    #[error("a sensitivity must be a finite number of steps, at least 0, got {0}")]
    Sensitivity(f64),
    /// The books refuse the result.
    #[error(transparent)]
    Event(#[from] EventError),
}

/// The event of a sum of `dimension` integers with ℓ₂ sensitivity `sensitivity` to which at least
/// `parties` honest parties each add a discrete Gaussian of parameter `share`; lengths in steps of
/// the grid.
///
/// # Errors
/// For shares below half a step, no party, or a sensitivity that is none.
pub fn distributed_gaussian(
    share: f64,
    parties: u64,
    sensitivity: f64,
    dimension: u64,
) -> Result<Zcdp, DistributedNoiseError> {
    if !(share >= 0.5 && share.is_finite()) {
        return Err(DistributedNoiseError::Share { share });
    }
    if parties == 0 {
        return Err(DistributedNoiseError::Nobody);
    }
    if !(sensitivity >= 0.0 && sensitivity.is_finite()) {
        return Err(DistributedNoiseError::Sensitivity(sensitivity));
    }
    let main = up(sensitivity / (share * (parties as f64).sqrt()), 6.0);
    let rest = up(tau(share, parties) * (dimension as f64).sqrt(), 6.0);
    let epsilon = up(main + rest, 2.0);
    Ok(Zcdp::new(up(0.5 * epsilon * epsilon, 4.0))?)
}

/// τ, rounded up. It falls with the share and is below 10⁻³⁰⁰ long before 10³ steps, where squares
/// are still finite.
fn tau(share: f64, parties: u64) -> f64 {
    let share = crate::outward::at_most(share, 1e3);
    let full = down(2.0 * std::f64::consts::PI.powi(2) * share * share, 10.0);
    let term = |k: u64| up((-down(full * k as f64 / (k as f64 + 1.0), 6.0)).exp(), 4.0);
    let last = parties.saturating_sub(1).min(TERMS);
    let summed: f64 = (1..=last).map(term).sum();
    let beyond = (parties - 1 - last) as f64 * if last == 0 { 0.0 } else { term(last) };
    up(10.0 * (summed + beyond), TERMS as f64 + 4.0)
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    /// P(Σ of `parties` discrete Gaussians = v) for |v| ≤ `reach`, by convolution.
    fn law(share: f64, parties: u64, reach: i64) -> Vec<f64> {
        let weight = |v: i64| (-(v as f64).powi(2) / (2.0 * share * share)).exp();
        let all: f64 = (-reach..=reach).map(weight).sum();
        let one: Vec<f64> = (-reach..=reach).map(|v| weight(v) / all).collect();
        let at = |p: &[f64], v: i64| {
            usize::try_from(v + reach).ok().and_then(|i| p.get(i)).copied().unwrap_or(0.0)
        };
        (1..parties).fold(one.clone(), |sum, _| {
            (-reach..=reach)
                .map(|v| (-reach..=reach).map(|u| at(&sum, u) * at(&one, v - u)).sum())
                .collect()
        })
    }

    /// The theorem against the divergence itself, computed from the law of the sum, in one
    /// dimension: D_α ≤ ρα, and at a fine grid not by much.
    #[test]
    fn the_divergence_of_the_sum_is_within_the_bound() {
        let reach = 60;
        let mut compared = 0;
        for (share, parties) in [(0.5, 2), (0.5, 5), (0.7, 3), (1.0, 2), (1.5, 4), (2.0, 3)] {
            let p = law(share, parties, reach);
            for shift in [1_i64, 2, 3] {
                let rho = distributed_gaussian(share, parties, shift as f64, 1).unwrap().rho();
                for order in [1.01, 1.5, 2.0, 4.0, 10.0] {
                    // The moment sits around order·shift; leave out what double precision cannot
                    // hold there.
                    let far = order * shift as f64 + 8.0 * share * (parties as f64).sqrt();
                    if far > 40.0 || far * far / (2.0 * share * share * parties as f64) > 600.0 {
                        continue;
                    }
                    let moment: f64 = (-45..=45_i64)
                        .map(|v| (p[(v + reach) as usize], p[(v - shift + reach) as usize]))
                        .filter(|(a, b)| a.min(*b) > 1e-300)
                        .map(|(a, b)| (order * a.ln() + (1.0 - order) * b.ln()).exp())
                        .sum();
                    compared += 1;
                    let divergence = moment.ln() / (order - 1.0);
                    assert!(
                        divergence <= rho * order * (1.0 + 1e-9),
                        "{share} {parties} {shift} {order}: {divergence} {rho}"
                    );
                    if share >= 1.5 {
                        assert!(
                            divergence > 0.999 * rho * order,
                            "{share} {parties} {shift} {order}: {divergence} {rho}"
                        );
                    }
                }
            }
        }
        assert!(compared > 60, "{compared}");
    }

    #[test]
    fn tau_is_rounded_up_and_long_sums_are_bounded() {
        let plain = |share: f64, n: u64| -> f64 {
            let exponent = 2.0 * (std::f64::consts::PI * share).powi(2);
            10.0 * (1..n).map(|k| (-exponent * k as f64 / (k as f64 + 1.0)).exp()).sum::<f64>()
        };
        for share in [0.5, 1.0, 2.0, 5.0, 1e300] {
            for parties in [1, 2, 3, 100, 1001, 5000] {
                let (found, plain) = (tau(share, parties), plain(share, parties));
                assert!(
                    found >= plain && found <= plain * 1.01 + 1e-300,
                    "{share} {parties}: {found} {plain}"
                );
            }
        }
        let alone = distributed_gaussian(4.0, 1, 4.0, 1).unwrap().rho();
        assert!((0.5..0.5 + 1e-12).contains(&alone), "one party's noise has no τ: {alone}");
    }

    #[test]
    fn what_has_no_theorem_is_refused_by_name() {
        assert!(matches!(
            distributed_gaussian(0.49, 3, 1.0, 1),
            Err(DistributedNoiseError::Share { .. })
        ));
        assert!(matches!(
            distributed_gaussian(f64::NAN, 3, 1.0, 1),
            Err(DistributedNoiseError::Share { .. })
        ));
        assert_eq!(distributed_gaussian(1.0, 0, 1.0, 1), Err(DistributedNoiseError::Nobody));
        assert!(matches!(
            distributed_gaussian(1.0, 3, f64::INFINITY, 1),
            Err(DistributedNoiseError::Sensitivity(_))
        ));
    }
}
