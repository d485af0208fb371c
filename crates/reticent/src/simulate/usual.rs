//! The algorithm of a run between parties where none is named: the best that has what is asked for.

use reticent_accountant::{Unit, View};
use reticent_runtime::{ProtocolEntry, USUAL};

use super::held;

/// What the default depends on: public words of a job, and nothing of its table.
pub(super) struct Unnamed {
    pub trust: Option<View>,
    /// Whether each party is a person, or protected as one.
    pub persons: bool,
    /// Whether something goes wrong on purpose.
    pub failing: bool,
    /// Whether parties have an ε, or a budget, of their own.
    pub own_budgets: bool,
    pub noise: Option<f64>,
}

/// Whether what is protected are the parties themselves, where each row may say with which it is.
pub(super) fn are_parties(unit: Option<Unit>, placed: bool) -> bool {
    match unit {
        Some(Unit::Party) => true,
        Some(Unit::Record) => false,
        Some(Unit::User) | None => !placed,
    }
}

/// `auto`, which is best (docs/federated.md); `federated` where a party is a person, who takes part in
/// samples of the rounds, and for what `auto` does not have.
pub(super) fn usual(asked: &Unnamed) -> &'static ProtocolEntry {
    let Unnamed { trust, persons, failing, own_budgets, noise } = *asked;
    let peers = trust == Some(View::Network);
    if persons || peers || failing || own_budgets || noise == Some(0.0) {
        return USUAL;
    }
    held::find(BEST).unwrap_or(USUAL)
}

/// The algorithm that is best where it can be run.
pub(super) const BEST: &str = "auto";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_is_the_default_but_for_what_it_does_not_have() {
        let all = || Unnamed {
            trust: None,
            persons: false,
            failing: false,
            own_budgets: false,
            noise: None,
        };
        let auto = [
            all(),
            Unnamed { trust: Some(View::Central), ..all() },
            Unnamed { trust: Some(View::SecureAggregation), noise: Some(2.0), ..all() },
        ];
        let federated = [
            Unnamed { trust: Some(View::Network), ..all() },
            Unnamed { persons: true, ..all() },
            Unnamed { failing: true, ..all() },
            Unnamed { own_budgets: true, ..all() },
            Unnamed { noise: Some(0.0), ..all() },
        ];
        assert!(auto.iter().all(|asked| usual(asked).name == "auto"));
        assert!(federated.iter().all(|asked| usual(asked).name == "federated"));
    }
}
