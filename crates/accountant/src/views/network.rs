//! The network adversary is one peer, honest but curious, that sees the tokens that pass through
//! it.
//!
//! A contribution of a stateless step with an L-Lipschitz loss and step γ moves the token by at
//! most 4γL against noise σ, ε_loc(α) = 8αγ²L²/σ²; another user's view of it is amplified as in
//! [`crate::Iteration`], even if that user knows the whole path of the token, and so who sent it.

use crate::events::{EventError, Iteration};
use crate::vocabulary::View;

pub(super) fn covers(asked: View) -> bool {
    asked == View::Network
}

/// One contribution to a walk among `users`, as another of them sees it. Compose over the cap on
/// contributions that each user enforces itself.
///
/// # Errors
/// When 4γL/σ is not a positive number, or there are fewer than two users.
pub fn network_contribution(
    gamma: f64,
    lipschitz: f64,
    sigma: f64,
    users: u64,
) -> Result<Iteration, EventError> {
    Iteration::new(4.0 * gamma * lipschitz / sigma, users)
}
