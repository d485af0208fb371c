//! One contribution to a random walk on the complete graph, as another user of the walk sees it.
//!
//! Each step is a non-expansive map of the token plus Gaussian noise that hides one contribution
//! with local divergence D_α = α μ²/2 (μ the local sensitivity-to-noise ratio under replace-one;
//! 8αγ²L²/σ² is μ = 4γL/σ). The noise of the l steps from a contribution until the token next comes
//! to its maker or to the observer hides it, and no other contribution of the same user uses that
//! noise, so costs add up:
//!
//! > D = ln E exp((α − 1)·D_α/min(l, n)) / (α − 1),   P(l = k) = (2/n)(1 − 2/n)^(k−1)
//!
//! at every order. Counting each contribution up to the observer's next visit, as the papers do,
//! gives ln(n)/(n − 1) of D_α for one contribution, but two that are made between two visits would
//! be hidden by the same noise twice: their shifts add up, and the sum of their costs understates
//! (erratum E12). Proof note: `proofs/iteration.md`.

use super::checked::{checked, out_of_range, positive};
use super::{Curve, EventCost, EventError};
use crate::outward::Upper;
use crate::round::up;
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

impl EventCost for Iteration {
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

    fn rdp(&self, _adjacency: Adjacency) -> Option<Curve> {
        let (square, parts) = (self.mu * self.mu, lengths(self.users));
        Some(Box::new(move |order| {
            let local = order * square / 2.0;
            let most = (order - 1.0) * local;
            // The local guarantee holds for whoever sees less than every message.
            if most > LARGEST {
                return local;
            }
            let excess: f64 =
                parts.iter().map(|(length, mass)| mass * (most / length).exp_m1()).sum();
            let seen = Upper::new(up(excess.ln_1p() / (order - 1.0), 64.0 + parts.len() as f64));
            seen.least(Upper::new(local)).value()
        }))
    }
}

/// Lengths up to here are summed one by one, those beyond in blocks that grow by one part in so
/// many.
const FINE: u64 = 128;

/// Above it e^x is out of reach, and nothing is gained.
const LARGEST: f64 = 600.0;

/// The law of min(l, n): lengths, each with the probability of those from it to the next.
fn lengths(users: u64) -> Vec<(f64, f64)> {
    let n = users as f64;
    // ln P(l > k) = k·ln(1 − 2/n).
    let stay = if users > 2 { (-2.0 / n).ln_1p() } else { f64::NEG_INFINITY };
    let beyond = |k: u64| if k == 0 { 1.0 } else { (k as f64 * stay).exp() };
    let (mut parts, mut first) = (Vec::new(), 1);
    while first < users {
        let next = first.saturating_add(1 + first / FINE).min(users);
        let mass = if users > 2 { -((next - first) as f64 * stay).exp_m1() } else { 1.0 };
        parts.push((first as f64, up(beyond(first - 1) * mass, 64.0)));
        first = next;
    }
    parts.push((n, up(beyond(users - 1), 64.0)));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of every path that is tried.
    const HOPS: u32 = 8;

    /// What the observer's token has been through since it was last there: the victim's steps, and
    /// all steps.
    #[derive(Clone, Copy, Default)]
    struct Gap {
        victim: u32,
        all: u32,
    }

    /// Who has the token beside the victim and who looks: so many with noise, and so many without
    /// data, who pass it on as it is.
    #[derive(Clone, Copy)]
    struct Others {
        noisy: u64,
        silent: u64,
    }

    /// E exp((α − 1)·(Σ over the observer's visits of its divergence − the claimed cost of the
    /// victim's steps)) over all paths. The maps are the identity and the shifts add up, so m of
    /// the victim's steps among g have the divergence m²/g.
    fn excess(others: Others, local: f64, claimed: f64, left: u32, gap: Gap) -> f64 {
        if left == 0 {
            return 1.0;
        }
        let (noisy, silent) = (others.noisy as f64, others.silent as f64);
        let rest = |gap| excess(others, local, claimed, left - 1, gap);
        let seen = f64::from(gap.victim).powi(2) / f64::from(gap.all.max(1));
        let observer = (local * seen).exp() * rest(Gap::default());
        let victim = (-claimed).exp() * rest(Gap { victim: gap.victim + 1, all: gap.all + 1 });
        let other = if others.noisy > 0 { rest(Gap { all: gap.all + 1, ..gap }) } else { 0.0 };
        let nobody = if others.silent > 0 { rest(gap) } else { 0.0 };
        (observer + victim + noisy * other + silent * nobody) / (2.0 + noisy + silent)
    }

    /// Contributions that come by together are seen together: their shifts add up before the
    /// squares are taken. Of n users one looks; or a seat without data beside them does; or one of
    /// them does, and there is such a seat (`proofs/walk.md`).
    #[test]
    fn contributions_between_two_visits_are_counted_together() {
        for users in [2, 3, 4, 10] {
            for mu in [0.01, 0.1, 0.5, 1.0] {
                let event = Iteration::new(mu, users).unwrap();
                let curve = event.rdp(Adjacency::ReplaceOne).unwrap();
                for order in [1.1, 2.0, 8.0] {
                    let local = (order - 1.0) * order * mu * mu / 2.0;
                    let claimed = (order - 1.0) * curve(order);
                    for (noisy, silent) in [(users - 2, 0), (users - 1, 0), (users - 2, 1)] {
                        let others = Others { noisy, silent };
                        let excess = excess(others, local, claimed, HOPS, Gap::default());
                        assert!(
                            excess <= 1.0 + 1e-12,
                            "{users} users, {noisy} and {silent}, mu {mu}, order {order}: {excess}"
                        );
                    }
                }
            }
        }
    }
}
