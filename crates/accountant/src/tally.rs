//! A ledger sorted out for counting: equal events together, in an order that does not depend on when they happened.

use crate::events::Mechanism;
use crate::ledger::Ledger;
use crate::pld::Loss;
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
        let adjacency = ledger.entries().first().map_or_else(Adjacency::default, |e| e.event().adjacency());
        let parts = ledger.entries().iter().map(|e| (e.event().mechanism().clone(), e.count()));
        Self::new(adjacency, parts)
    }

    /// Equal events are counted together.
    pub(crate) fn new(adjacency: Adjacency, events: impl IntoIterator<Item = (Mechanism, u64)>) -> Self {
        let mut sorted: BTreeMap<String, (Mechanism, u64)> = BTreeMap::new();
        for (mechanism, count) in events {
            // The debug form shows every digit of every parameter, which makes it a faithful key.
            let entry = sorted.entry(format!("{mechanism:?}")).or_insert((mechanism, 0));
            entry.1 = entry.1.saturating_add(count);
        }
        Self { adjacency, parts: sorted.into_values().collect() }
    }

    /// A sum over the events, `None` as soon as one has no such cost.
    fn sum(&self, cost: impl Fn(&Mechanism) -> Option<f64>) -> Option<f64> {
        self.parts
            .iter()
            .try_fold(0.0, |sum, (mechanism, count)| Some(sum + cost(mechanism)? * *count as f64))
    }

    /// μ of the whole when every event is exactly Gaussian.
    pub(crate) fn gdp(&self) -> Option<f64> {
        let square = self.sum(|m| m.cost().gdp(self.adjacency).map(|mu| mu * mu))?;
        Some(square.sqrt())
    }

    /// The sum of the pure ε, outside failures.
    pub(crate) fn pure(&self) -> Option<f64> {
        self.sum(|m| m.cost().pure(self.adjacency)).map(|sum| round::up(sum, 4.0 + self.parts.len() as f64))
    }

    /// Probability that some event fails altogether.
    pub(crate) fn failure(&self) -> f64 {
        self.sum(|m| Some(m.cost().failure())).unwrap_or(1.0).min(1.0)
    }

    /// The Rényi curves as functions of the order; costs that do not depend on the order are prepared once.
    pub(crate) fn rdp(&self) -> Option<impl Fn(f64) -> f64 + use<>> {
        let mut curves = Vec::with_capacity(self.parts.len());
        for (mechanism, count) in &self.parts {
            curves.push((mechanism.cost().rdp(self.adjacency)?, *count as f64));
        }
        let operations = 16.0 + curves.len() as f64;
        Some(move |order: f64| round::up(curves.iter().map(|(c, n)| c(order) * n).sum::<f64>(), operations))
    }

    /// The losses in the two directions (removal first), Gaussians gathered into one.
    pub(crate) fn losses(&self) -> Option<[Vec<(Loss, u64)>; 2]> {
        let (mut removal, mut addition) = (Vec::new(), Vec::new());
        let mut square = 0.0;
        for (mechanism, count) in &self.parts {
            if let Some(mu) = mechanism.cost().gdp(self.adjacency) {
                square += mu * mu * *count as f64;
                continue;
            }
            let (first, second) = mechanism.cost().losses(self.adjacency)?;
            removal.push((first, *count));
            addition.push((second, *count));
        }
        if square > 0.0 {
            let gaussian = Loss::gaussian(round::up(square, 8.0).sqrt());
            removal.push((gaussian.clone(), 1));
            addition.push((gaussian, 1));
        }
        Some([removal, addition])
    }

    /// ε at ln δ by the best order, with the given conversion.
    pub(crate) fn best_order(&self, convert: impl Fn(f64, f64) -> f64) -> Option<f64> {
        let curve = self.rdp()?;
        Some(rdp::minimise(|order: f64| convert(order, curve(order))))
    }
}
