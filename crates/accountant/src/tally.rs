//! A ledger sorted out for counting: equal events together, in an order that does not depend on
//! when they happened.

use crate::events::Mechanism;
use crate::ledger::Ledger;
use crate::outward::{Lower, Upper, largest};
use crate::pld::PrivacyLoss;
use crate::rdp;
use crate::round;
use crate::vocabulary::Adjacency;
use std::collections::BTreeMap;

/// Events under one adjacency, with counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub adjacency: Adjacency,
    pub parts: Vec<(Mechanism, u64)>,
}

impl Tally {
    /// The events of a ledger that has been found consistent.
    pub(crate) fn of(ledger: &Ledger) -> Self {
        let adjacency =
            ledger.entries().first().map_or_else(Adjacency::default, |e| e.event().adjacency());
        let parts = ledger.entries().iter().map(|e| (e.event().mechanism().clone(), e.count()));
        Self::new(adjacency, parts)
    }

    /// Equal events are counted together.
    pub(crate) fn new(
        adjacency: Adjacency,
        events: impl IntoIterator<Item = (Mechanism, u64)>,
    ) -> Self {
        let mut sorted: BTreeMap<Vec<u8>, (Mechanism, u64)> = BTreeMap::new();
        let mut full = Vec::new();
        for (mechanism, count) in events {
            // Canonical bytes: every parameter, bit by bit.
            let Ok(key) = postcard::to_allocvec(&mechanism) else {
                // What cannot be compared is counted by itself.
                full.push((mechanism, count));
                continue;
            };
            let entry = sorted.entry(key).or_insert_with(|| (mechanism.clone(), 0));
            match entry.1.checked_add(count) {
                Some(sum) if entry.0 == mechanism => entry.1 = sum,
                // More than a counter holds is counted in two places, not forgotten.
                _ => full.push((mechanism, count)),
            }
        }
        Self { adjacency, parts: sorted.into_values().chain(full).collect() }
    }

    /// A sum over the events, `None` as soon as one has no such cost.
    fn sum(&self, cost: impl Fn(&Mechanism) -> Option<f64>) -> Option<f64> {
        self.parts
            .iter()
            .try_fold(0.0, |sum, (mechanism, count)| Some(sum + cost(mechanism)? * *count as f64))
    }

    /// μ of the whole when every event is exactly Gaussian.
    pub(crate) fn gdp(&self) -> Option<f64> {
        let ratios: Option<Vec<_>> = self
            .parts
            .iter()
            .map(|(m, count)| Some((m.cost().gdp(self.adjacency)?, *count)))
            .collect();
        Some(length(&ratios?))
    }

    /// The sum of the pure ε, outside failures.
    pub(crate) fn pure(&self) -> Option<f64> {
        self.sum(|m| m.cost().pure(self.adjacency))
            .map(|sum| round::up(sum, 4.0 + self.parts.len() as f64))
    }

    /// Both ends of ε at δ = 0, if every event is pure and none can fail. What has a worst pair
    /// reaches its ε.
    pub(crate) fn pure_ends(&self) -> Option<(Lower, Upper)> {
        if self.failure() != 0.0 {
            return None;
        }
        let upper = Upper::new(self.pure()?);
        let reached = |m: &Mechanism| {
            if m.cost().losses(self.adjacency).is_some() {
                m.cost().pure(self.adjacency)
            } else {
                Some(0.0)
            }
        };
        let lower = round::down(self.sum(reached)?, 4.0 + self.parts.len() as f64);
        Some((Lower::new(lower), upper))
    }

    /// Probability that some event fails altogether.
    pub(crate) fn failure(&self) -> f64 {
        let sum = self.sum(|m| Some(m.cost().failure())).unwrap_or(1.0);
        if sum == 0.0 {
            0.0
        } else {
            Upper::delta(round::up(sum, 4.0 + self.parts.len() as f64)).value()
        }
    }

    /// The Rényi curves as functions of the order; costs that do not depend on the order are
    /// prepared once.
    pub(crate) fn rdp(&self) -> Option<impl Fn(f64) -> f64 + use<>> {
        let mut curves = Vec::with_capacity(self.parts.len());
        for (mechanism, count) in &self.parts {
            curves.push((mechanism.cost().rdp(self.adjacency)?, *count as f64));
        }
        let operations = 16.0 + curves.len() as f64;
        Some(move |order: f64| {
            let sum = curves.iter().map(|(c, n)| c(order) * n).sum::<f64>();
            Upper::new(sum).up(operations).value()
        })
    }

    /// The losses in the two directions (removal first), Gaussians gathered into one.
    pub(crate) fn losses(&self) -> Option<[Vec<(PrivacyLoss, u64)>; 2]> {
        let (mut removal, mut addition) = (Vec::new(), Vec::new());
        let mut ratios = Vec::new();
        for (mechanism, count) in &self.parts {
            if let Some(mu) = mechanism.cost().gdp(self.adjacency) {
                ratios.push((mu, *count));
                continue;
            }
            let (first, second) = mechanism.cost().losses(self.adjacency)?;
            removal.push((first, *count));
            addition.push((second, *count));
        }
        if !ratios.is_empty() {
            let gaussian =
                PrivacyLoss::gaussian(round::up(length(&ratios), 8.0 + ratios.len() as f64));
            removal.push((gaussian.clone(), 1));
            addition.push((gaussian, 1));
        }
        Some([removal, addition])
    }

    /// ε at ln δ by the best order, with the given conversion.
    pub(crate) fn best_order(&self, convert: impl Fn(f64, f64) -> f64) -> Option<Upper> {
        let curve = self.rdp()?;
        Some(rdp::minimise(|order: f64| convert(order, curve(order))))
    }
}

/// √(Σ count·μ²), relative to the largest μ: the squares of small ones are beyond the range of
/// floats, and would be free.
pub(crate) fn length(ratios: &[(f64, u64)]) -> f64 {
    let largest = largest(ratios.iter().map(|(mu, _)| *mu), 0.0);
    if largest == 0.0 || largest.is_infinite() {
        return largest;
    }
    largest
        * ratios
            .iter()
            .map(|(mu, count)| (mu / largest).powi(2) * *count as f64)
            .sum::<f64>()
            .sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::*;

    /// Every kind has canonical bytes, so that equal events are counted together and unequal ones
    /// are not.
    #[test]
    fn equal_events_are_counted_together() {
        let gaussian: Mechanism = Gaussian::new(1.5).unwrap().into();
        let law = Repetitions::PositivePoisson { rate: 3.0 };
        let kinds: Vec<Mechanism> = vec![
            gaussian.clone(),
            Gaussian::new(1.5_f64.next_up()).unwrap().into(),
            PoissonGaussian::new(1.5, 0.01).unwrap().into(),
            WithoutReplacementGaussian::new(1.5, 3, 7).unwrap().into(),
            Zcdp::new(0.5).unwrap().into(),
            PureDp::new(0.5).unwrap().into(),
            NonPrivate {}.into(),
            ObjectivePerturbation::new(2.0, 0.5).unwrap().into(),
            ShownSample::new(2.0, 0.5).unwrap().into(),
            Iteration::new(0.5, 9).unwrap().into(),
            Choice::new(vec![vec![(gaussian.clone(), 2)], vec![(gaussian.clone(), 3)]])
                .unwrap()
                .into(),
            Selection::new(vec![(gaussian, 2)], law).unwrap().into(),
        ];
        let twice = kinds.iter().chain(&kinds).map(|kind| (kind.clone(), 2));
        let tally = Tally::new(Adjacency::ReplaceOne, twice);
        assert_eq!(tally.parts.len(), kinds.len());
        assert!(tally.parts.iter().all(|(_, count)| *count == 4));
    }
}
