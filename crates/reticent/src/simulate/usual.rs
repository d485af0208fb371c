//! The algorithm of a run between parties where none is named: the best that has what is asked for.

use reticent_accountant::{Unit, View};
use reticent_runtime::{Failures, ProtocolEntry, USUAL};

use super::held;

/// What the default depends on: public words of a job, and nothing of its table.
pub(super) struct Unnamed {
    pub trust: Option<View>,
    /// Whether each party is a person, or protected as one.
    pub persons: bool,
    /// The simulated failures.
    pub failures: Failures,
    /// Whether parties have an ε of their own.
    pub own_epsilons: bool,
    /// Whether each pays from a budget of its own.
    pub paid_by_parties: bool,
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
    let Unnamed { trust, persons, failures, own_epsilons, paid_by_parties, noise } = *asked;
    let peers = trust == Some(View::Network);
    // Who stays away for want of budget would end a run on entrusted sums.
    let ends = paid_by_parties && trust == Some(View::Central);
    let lossy = !loses_nobody(failures, trust);
    if persons || peers || ends || lossy || own_epsilons || noise == Some(0.0) {
        return USUAL;
    }
    held::find(BEST).unwrap_or(USUAL)
}

/// Whether all that goes wrong leaves every party in every sum: a run of `auto` ends, paid for, where
/// too many leave one sum, and one of `federated` loses a round.
fn loses_nobody(failures: Failures, trust: Option<View>) -> bool {
    let Failures { duplicate, reorder, seed, .. } = failures;
    let harmless = Failures { duplicate, reorder, seed, ..Failures::default() };
    match trust {
        Some(View::SecureAggregation) => failures == harmless && failures.check().is_ok(),
        _ => failures == Failures::default(),
    }
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
            failures: Failures::default(),
            own_epsilons: false,
            paid_by_parties: false,
            noise: None,
        };
        let masked = Some(View::SecureAggregation);
        let twice = Failures { duplicate: 0.5, ..Failures::default() };
        let auto = [
            all(),
            Unnamed { trust: Some(View::Central), ..all() },
            Unnamed { trust: Some(View::SecureAggregation), noise: Some(2.0), ..all() },
            Unnamed { paid_by_parties: true, ..all() },
            Unnamed { trust: masked, paid_by_parties: true, ..all() },
            Unnamed { trust: masked, failures: twice, ..all() },
        ];
        let federated = [
            Unnamed { trust: Some(View::Network), ..all() },
            Unnamed { persons: true, ..all() },
            Unnamed { failures: twice, ..all() },
            Unnamed { trust: Some(View::Central), failures: twice, ..all() },
            Unnamed { trust: masked, failures: Failures { after: 0.1, ..twice }, ..all() },
            Unnamed { own_epsilons: true, ..all() },
            Unnamed { trust: Some(View::Central), paid_by_parties: true, ..all() },
            Unnamed { persons: true, paid_by_parties: true, ..all() },
            Unnamed { noise: Some(0.0), ..all() },
        ];
        assert!(auto.iter().all(|asked| usual(asked).name == "auto"));
        assert!(federated.iter().all(|asked| usual(asked).name == "federated"));
    }
}
