//! What is promised and true, and yet worth little: remarks for people, computed from public
//! numbers.

use reticent_accountant::{Ledger, Mechanism, Unit};
use reticent_core::four_digits_up;

use crate::certificate::Certificate;

/// A budget above this is remarked on: odds may move by a factor of more than 20,000.
const MUCH: f64 = 10.0;

impl Certificate {
    /// Remarks on a guarantee that holds and protects little. They are not refusals: the choice is
    /// the user's.
    pub fn weaknesses(&self) -> Vec<String> {
        let Certificate { epsilon, delta, population, unit, certified, .. } = self;
        let mut remarks = Vec::new();
        if *certified && *delta * *population as f64 >= 1.0 {
            let units = unit.plural();
            remarks.push(format!(
                "delta = {delta:e} is not below one over the number of {units} ({population}): whoever published whole \
                 {units} at random, one in {:.0}, would keep that promise too. Take a delta far below {:.0e}.",
                1.0 / delta,
                1.0 / *population as f64
            ));
        }
        remarks.extend(seldom_drawn(&self.ledger, *delta, *unit).filter(|_| *certified));
        if *certified && *epsilon > MUCH {
            remarks.push(format!(
                "epsilon = {} is large: the odds of a guess about one {unit} may move by a factor of e^{0}. Values \
                 from 0.1 to {MUCH} are usual (docs/which-epsilon.md).",
                four_digits_up(*epsilon)
            ));
        }
        remarks
    }
}

/// A δ that covers most of the chance to be drawn at all: a budget that hardly any noise keeps.
pub fn seldom_drawn(ledger: &Ledger, delta: f64, unit: Unit) -> Option<String> {
    let rate = |mechanism: &Mechanism| match mechanism {
        Mechanism::PoissonGaussian(drawn) => drawn.rate(),
        Mechanism::WithoutReplacementGaussian(drawn) => drawn.rate(),
        _ => 1.0,
    };
    let never: f64 = ledger
        .entries()
        .iter()
        .map(|entry| entry.count() as f64 * (-rate(entry.event().mechanism())).ln_1p())
        .sum();
    let drawn = -never.exp_m1();
    (drawn > 0.0 && 2.0 * delta >= drawn).then(|| {
        format!(
            "With chance delta everything may be told. A {unit} is drawn at all with a chance of {drawn:.1e}, and \
             delta = {delta:e} covers at least half of that, so that next to no noise keeps the budget and whoever is \
             drawn is hardly protected. Choose a smaller delta, far below {drawn:.1e}."
        )
    })
}
