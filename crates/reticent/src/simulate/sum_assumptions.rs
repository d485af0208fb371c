//! What a guarantee of noisy sums takes as given.

use reticent_accountant::Ledger;
use reticent_oracle::{PrivacyModel, SumLaw};

use super::check::SimulationJob;
use super::dealing::{dealt, placed_persons};
use super::run::BETWEEN_PARTIES;

/// How noisy sums are asked for, as far as a guarantee says it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SumConduct {
    /// Of a secret sample of each party's records.
    pub sampled: bool,
    /// Members know each other's keys by signatures.
    pub signed: bool,
    /// Parties may have several persons each, who are protected.
    pub persons: bool,
}

/// What a guarantee of noisy sums takes as given, whatever is asked.
pub(super) fn assumed_of_sums(
    law: &SumLaw,
    opening: &PrivacyModel,
    conduct: SumConduct,
) -> Vec<String> {
    let mut assumed = match law {
        SumLaw::Local { .. } => vec![
            "the server, and whoever it tells, sees every answer of each party; what covers a record there is its \
             own party's noise, and no other's is counted"
                .to_owned(),
        ],
        SumLaw::Masked(_) => masked_assumptions(law, conduct.signed),
    };
    if conduct.sampled {
        assumed.push(
            "who is in a party's sample is drawn by its own key and told to nobody; it hides nothing from the party \
             itself"
                .to_owned(),
        );
    }
    assumed.extend(BETWEEN_PARTIES.map(str::to_owned));
    match conduct.persons {
        true => assumed.extend(placed_persons(opening.view)),
        false => assumed.push(dealt(opening)),
    }
    assumed
}

/// What a guarantee of masked sums takes as given; `signed` where members sign what they say.
fn masked_assumptions(law: &SumLaw, signed: bool) -> Vec<String> {
    let SumLaw::Masked(members) = law else { return Vec::new() };
    let (all, few) = (members.members(), members.corrupt());
    let server = match signed {
        false => format!(
            "the server follows the protocol of the masked sums, and of {all} parties no more than {few} do not, or \
             tell others their noise; who they are was settled before"
        ),
        true => format!(
            "of {all} parties no more than {few} do not follow the protocol of the masked sums, or tell the server or \
             others their noise; who they are was settled before; the server may do as it likes"
        ),
    };
    let ciphers = match signed {
        false => "X25519, HKDF-SHA256, ChaCha20 and Poly1305",
        true => "Ed25519, X25519, HKDF-SHA256, ChaCha20 and Poly1305",
    };
    let mut masked =
        vec![server, format!("{ciphers} are as hard to break as they are believed to be")];
    let (stay, certain) = (members.threshold(), members.certain());
    masked.push(match signed {
        false => format!(
            "every sum has the noise of at least {stay} parties, of which {certain} are counted; the records of a \
             party that leaves a sum are missing from it, and who leaves is public"
        ),
        true => format!(
            "every sum has the noise of at least {stay} parties, of which {certain} are counted; a party is missing \
             from a sum only where all who are in it have signed that it has left for good"
        ),
    });
    if !members.is_complete() {
        masked.push(
            "who is corrupt and who leaves does not depend on who has masks in common with whom"
                .to_owned(),
        );
    }
    masked
}

impl SimulationJob {
    /// What the guarantee of each party takes as given; `signed` where members know each other's keys
    /// by signatures and sum those that all have agreed on or nobody, so that nothing rests on the server.
    pub(super) fn assumed(&self, law: &SumLaw, sampled: bool, signed: bool) -> Vec<String> {
        let persons = self.dealing().persons;
        let conduct = SumConduct { sampled, signed, persons };
        let mut assumed = assumed_of_sums(law, &self.opening, conduct);
        assumed.extend(self.objective.assumptions(self.opening.unit));
        assumed
    }
}

/// Whether a plan has a secret sample.
pub(super) fn plan_is_sampled(plan: &Ledger) -> bool {
    use reticent_accountant::Mechanism;
    let drawn = |entry: &reticent_accountant::LedgerEntry| {
        let mechanism = entry.event().mechanism();
        matches!(
            mechanism,
            Mechanism::PoissonGaussian(_) | Mechanism::WithoutReplacementGaussian(_)
        )
    };
    plan.entries().iter().any(drawn)
}
