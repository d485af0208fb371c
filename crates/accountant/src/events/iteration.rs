//! One contribution to a random walk on the complete graph, as another user of the walk sees it.
//!
//! Each step is a non-expansive map of the token plus Gaussian noise that hides one contribution with local divergence
//! D_α = α μ²/2 (μ the local sensitivity-to-noise ratio under replace-one; 8αγ²L²/σ² is μ = 4γL/σ). If
//! (α−1)·D_α ≤ 1, the view of another user among n is at most (1 + (α−1)D_α) · D_α · ln(n)/(n−1) at order α: amplification
//! by iteration averaged over when the token next comes by, with the weak-convexity factor 1 + c, c = (α−1)D_α, kept
//! (erratum E12). Outside that range of orders nothing is claimed. Proof note: `proofs/iteration.md`.

use super::checked::{checked, out_of_range, positive};
use super::{Cost, Curve, EventError};
use crate::vocabulary::Adjacency;

checked! {
    /// One contribution to a random walk over `users` users, as another of them sees it.
    pub struct Iteration = "iteration" {
        /// Local ratio of sensitivity to noise of one contribution, under replace-one.
        mu: f64,
        /// Users among whom the token walks.
        users: u64,
    }
    check(raw) {
        positive(Self::KIND, "mu", raw.mu)?;
        if raw.users < 2 {
            return Err(out_of_range(Self::KIND, "users", raw.users, "2 or more"));
        }
    }
}

impl std::fmt::Display for Iteration {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a contribution with local mu {} to a walk among {} users", self.mu, self.users)
    }
}

impl Cost for Iteration {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn check(&self, adjacency: Adjacency) -> Result<(), EventError> {
        match adjacency {
            Adjacency::ReplaceOne => Ok(()),
            Adjacency::AddRemove => Err(EventError::Undefined {
                event: Self::KIND,
                adjacency,
                reason: "the walk's users are public and only their data may change; use replace-one",
            }),
        }
    }

    /// Where (α−1)·α·μ²/2 is 1, and a little before.
    fn corner(&self) -> Option<f64> {
        Some((0.5 + 0.5 * (1.0 + 8.0 / (self.mu * self.mu)).sqrt()) * (1.0 - 1e-12))
            .filter(|order| *order > 1.0)
    }

    fn rdp(&self, _adjacency: Adjacency) -> Option<Curve> {
        let (square, n) = (self.mu * self.mu, self.users as f64);
        // With two users the other one sees every second step: no more than the local guarantee is claimed.
        let share = (n.ln() / (n - 1.0)).min(1.0);
        Some(Box::new(move |order| {
            let local = order * square / 2.0;
            let weak = (order - 1.0) * local;
            // The local guarantee holds for whoever sees less than every message.
            if weak <= 1.0 { local.min((1.0 + weak) * local * share) } else { local }
        }))
    }
}
