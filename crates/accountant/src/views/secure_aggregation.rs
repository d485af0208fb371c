//! The adversary behind secure aggregation sees sums, and knows the noise of the parties it has
//! corrupted.
//!
//! For the sum to carry the variance that the central guarantee needs although only a fraction h of
//! the m parties is honest, each adds 1/⌊h·m⌋ of it. If then at least ⌊h·m⌋ honest parties send,
//! the noise that the adversary does not know has at least that variance.

use crate::vocabulary::View;

pub(super) fn covers(asked: View) -> bool {
    matches!(asked, View::SecureAggregation | View::Central)
}

/// An honest fraction under which nobody is certainly honest.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "of {parties} parties a fraction {honest} is honest, which guarantees no honest party: the fraction must be in (0, 1] and cover at least one"
)]
pub struct AggregationError {
    parties: u64,
    honest: f64,
}

fn honest_parties(parties: u64, honest: f64) -> Result<f64, AggregationError> {
    let sure = (honest * parties as f64).floor();
    if honest > 0.0 && honest <= 1.0 && sure >= 1.0 {
        Ok(sure)
    } else {
        Err(AggregationError { parties, honest })
    }
}

/// Standard deviation of each party's share of a noise `sigma` on the sum.
///
/// # Errors
/// When the fraction guarantees no honest party.
pub fn share_of_noise(sigma: f64, parties: u64, honest: f64) -> Result<f64, AggregationError> {
    Ok(sigma / honest_parties(parties, honest)?.sqrt())
}

/// Standard deviation of the noise that the adversary does not know when `senders` honest parties
/// sent shares made for `parties` and `honest`: what the event must be counted with when parties
/// drop out.
///
/// # Errors
/// When the fraction guarantees no honest party.
pub fn surviving_noise(
    sigma: f64,
    parties: u64,
    honest: f64,
    senders: u64,
) -> Result<f64, AggregationError> {
    Ok(share_of_noise(sigma, parties, honest)? * (senders as f64).sqrt())
}
