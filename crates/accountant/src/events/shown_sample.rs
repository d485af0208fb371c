//! Gaussian noise on a sum over a sample that the adversary is taken to see.
//!
//! Where what is drawn is not what is protected (parties are drawn, one record of a party is
//! protected), the sum may show who was drawn, and chance hides nothing. What it still does is to
//! leave most rounds without the protected one. The worst pair, sample included: with probability q
//! the Gaussian pair N(μ, 1) against N(0, 1), else twice the same; μ = 1/z (add-remove) or 2/z
//! (replace-one), in both directions alike. So
//!
//! > D_α = ln(1 + q(e^{(α−1)αμ²/2} − 1))/(α − 1)
//!
//! exactly, and the profile is q times that of the Gaussian. Proof note: `proofs/trust.md`.

use super::checked::{checked, out_of_range, positive};
use super::{Curve, EventCost, Mechanism, ratio};
use crate::outward::at_most;
use crate::round::up;
use crate::vocabulary::Adjacency;

checked! {
    /// Gaussian noise on a sum over a sample that is seen.
    pub struct ShownSample = "shown-sample" {
        /// Standard deviation of the noise over the clip, half of what a replaced unit moves the
        /// sum by.
        noise_multiplier: f64,
        /// Probability with which what holds the protected unit is drawn.
        rate: f64,
    }
    check(raw) {
        positive(Self::KIND, "noise_multiplier", raw.noise_multiplier)?;
        if !(raw.rate > 0.0 && raw.rate <= 1.0) {
            return Err(out_of_range(Self::KIND, "rate", raw.rate, "in (0, 1]"));
        }
    }
}

impl std::fmt::Display for ShownSample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (z, rate) = (self.noise_multiplier, self.rate);
        write!(f, "Gaussian noise of {z} clips on a sample of rate {rate} that is seen")
    }
}

/// Above it e^x is out of reach, and the Gaussian's own divergence, which is never smaller, serves.
const LARGEST: f64 = 600.0;

impl EventCost for ShownSample {
    fn kind(&self) -> &'static str {
        Self::KIND
    }

    fn gdp(&self, adjacency: Adjacency) -> Option<f64> {
        (self.rate == 1.0).then(|| ratio(self.noise_multiplier, adjacency))
    }

    fn rdp(&self, adjacency: Adjacency) -> Option<Curve> {
        let (rate, mu) = (self.rate, ratio(self.noise_multiplier, adjacency));
        Some(Box::new(move |order| {
            let seen = up(order * mu * mu / 2.0, 8.0);
            let most = (order - 1.0) * seen;
            if most > LARGEST {
                return seen;
            }
            at_most(up((rate * most.exp_m1()).ln_1p() / (order - 1.0), 1024.0), seen)
        }))
    }

    fn scaled(&self, by: f64) -> Option<Mechanism> {
        ShownSample::new(self.noise_multiplier * by, self.rate).ok().map(Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Event, Ledger, Unit, View, delta, gdp};

    /// k of n rounds show the protected one, and then it is a Gaussian of ratio μ√k: the profile of
    /// n rounds is the mean of the Gaussians' over a binomial k, and what is counted is never below
    /// it.
    #[test]
    fn the_rounds_that_show_it_are_counted() {
        for (z, rate, rounds) in
            [(4.0, 0.1, 1_u32), (8.0, 0.3, 20), (20.0, 0.05, 100), (2.0, 0.5, 3)]
        {
            let event = ShownSample::new(z, rate).unwrap();
            let mut ledger = Ledger::new();
            let event =
                Event::new(event, Adjacency::ReplaceOne, Unit::Record, View::Central).unwrap();
            ledger.append_many(event, rounds.into());
            for epsilon in [0.1, 1.0, 2.0] {
                let mut chance = (1.0 - rate).powi(rounds as i32);
                let mut exact = 0.0;
                for k in 0..=rounds {
                    if k > 0 {
                        chance *= rate / (1.0 - rate) * f64::from(rounds + 1 - k) / f64::from(k);
                        exact +=
                            chance * gdp::delta(2.0 / z * f64::from(k).sqrt(), epsilon).0.value();
                    }
                }
                let counted = delta(&ledger, epsilon).unwrap().upper;
                assert!(counted >= exact, "{z} {rate} {rounds} at {epsilon}: {counted} {exact}");
                assert!(
                    counted <= 60.0 * exact + 1e-12,
                    "{z} {rate} {rounds} at {epsilon}: {counted} {exact}"
                );
            }
        }
    }
}
