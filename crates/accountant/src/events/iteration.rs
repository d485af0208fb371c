//! One contribution to a random walk on the complete graph, as another user of the walk sees it.
//!
//! Each step is a non-expansive map of the token plus Gaussian noise that hides one contribution
//! with local divergence D_α = α μ²/2 (μ the local sensitivity-to-noise ratio under replace-one;
//! 8αγ²L²/σ² is μ = 4γL/σ). The noise of the steps from a contribution until the token next comes
//! to the observer hides it, and all others of its maker in between: their shifts are taken off as
//! evenly as their order allows. Over all paths c contributions cost c·D at every order,
//!
//! > D = ln M / (α − 1),   about (1 + ln n)/n of D_α
//!
//! with M of [`Spans`]. Counting each contribution up to the observer's next visit by itself, as
//! the papers do, gives ln(n)/(n − 1) of D_α, but two that are made between two visits would be
//! hidden by the same noise twice: their shifts add up, and the sum of their costs understates
//! (erratum E12). Proof note: `proofs/iteration.md`.

use super::checked::{checked, out_of_range, positive};
use super::spans::Spans;
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
        let (square, spans) = (self.mu * self.mu, Spans::new(self.users));
        Some(Box::new(move |order| {
            let local = order * square / 2.0;
            let most = (order - 1.0) * local;
            // The local guarantee holds for whoever sees less than every message.
            if most > LARGEST {
                return local;
            }
            let seen = Upper::new(up(spans.price(most).value() / (order - 1.0), 4.0));
            seen.least(Upper::new(local)).value()
        }))
    }
}

/// Above it e^x is out of reach, and nothing is gained.
const LARGEST: f64 = 600.0;

#[cfg(test)]
mod tests {
    use super::super::spans::tests::cost;
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
    #[derive(Clone, Copy, Debug)]
    struct Others {
        noisy: u64,
        silent: u64,
        /// Whether the victim's first step since the observer looked is one that forgets the token.
        forgetful: bool,
    }

    /// E exp((α − 1)·(Σ over the observer's visits of its divergence − the claimed cost of the
    /// victim's steps)) over all paths. The maps are the identity and the shifts add up, so m of
    /// the victim's steps among g have the divergence m²/g; where the first of them forgets what
    /// came before it, g is counted from there, which is the worst that is known.
    fn excess(others: Others, local: f64, claimed: f64, left: u32, gap: Gap) -> f64 {
        if left == 0 {
            return 1.0;
        }
        let (noisy, silent) = (others.noisy as f64, others.silent as f64);
        let rest = |gap| excess(others, local, claimed, left - 1, gap);
        let seen = f64::from(gap.victim).powi(2) / f64::from(gap.all.max(1));
        let observer = (local * seen).exp() * rest(Gap::default());
        let victim = (-claimed).exp() * rest(Gap { victim: gap.victim + 1, all: gap.all + 1 });
        let hides = u32::from(gap.victim > 0 || !others.forgetful);
        let other = if others.noisy > 0 { rest(Gap { all: gap.all + hides, ..gap }) } else { 0.0 };
        let nobody = if others.silent > 0 { rest(gap) } else { 0.0 };
        (observer + victim + noisy * other + silent * nobody) / (2.0 + noisy + silent)
    }

    /// E exp(s·(what is seen costs)) over all paths of `left` steps, from the spans since the
    /// observer last looked; a user makes `cap` contributions at the most, and adds noise without
    /// data after that.
    fn counted(users: u64, s: f64, left: u32, cap: u32, spans: &[u32]) -> f64 {
        if left == 0 {
            return 1.0;
        }
        let n = users as f64;
        let longer = |spans: &[u32]| {
            let mut spans = spans.to_vec();
            spans.last_mut().into_iter().for_each(|last| *last += 1);
            spans
        };
        let rest = |cap, spans: &[u32]| counted(users, s, left - 1, cap, spans);
        let seen = (s * cost(spans, n)).exp() * rest(cap, &[]);
        let other = rest(cap, &longer(spans));
        let victim = match cap {
            0 => other,
            _ => rest(cap - 1, &[spans, &[1]].concat()),
        };
        (seen + victim + (n - 2.0) * other) / n
    }

    /// Of shifts larger than the noise too: two users hide nothing, and many never more than all but
    /// their share. (A cost that does not follow the square of µ is larger below µ = 1, where it
    /// passes for a bound.)
    #[test]
    fn a_cost_follows_the_square_of_the_shift() {
        for mu in [0.2, 1.0, 1.7, 3.0, 20.0] {
            for order in [1.5, 4.0] {
                let local = order * mu * mu / 2.0;
                let cost = |users: u64| {
                    let event = Iteration::new(mu, users).unwrap();
                    event.rdp(Adjacency::ReplaceOne).unwrap()(order) / local
                };
                assert!((cost(2) - 1.0).abs() < 1e-9, "mu {mu}, order {order}: {}", cost(2));
                let among = cost(100);
                assert!((0.01..=1.0 + 1e-9).contains(&among), "mu {mu}, order {order}: {among}");
            }
        }
    }

    /// However the cap cuts the walk off: c contributions cost no more than c events.
    #[test]
    fn a_cap_of_contributions_costs_no_more_than_as_many_events() {
        for users in [2, 3, 4, 10] {
            for (mu, order) in [(0.1, 2.0), (0.5, 2.0), (0.5, 4.0), (1.0, 3.0)] {
                let curve = Iteration::new(mu, users).unwrap().rdp(Adjacency::ReplaceOne).unwrap();
                let s = (order - 1.0) * order * mu * mu / 2.0;
                let claimed = (order - 1.0) * curve(order);
                for cap in [1, 2, 3, HOPS] {
                    let most = (f64::from(cap) * claimed).exp();
                    // The first contribution is made at once, so that many are.
                    let mean = counted(users, s, HOPS, cap - 1, &[1]);
                    assert!(mean <= most, "{users} users, cap {cap}, s {s}: {mean} {most}");
                }
            }
        }
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
                    for (noisy, silent, forgetful) in [
                        (users - 2, 0, false),
                        (users - 1, 0, false),
                        (users - 2, 1, false),
                        (users - 2, 0, true),
                    ] {
                        let others = Others { noisy, silent, forgetful };
                        let excess = excess(others, local, claimed, HOPS, Gap::default());
                        assert!(
                            excess <= 1.0 + 1e-12,
                            "{others:?}, mu {mu}, order {order}: {excess}"
                        );
                    }
                }
            }
        }
    }
}
