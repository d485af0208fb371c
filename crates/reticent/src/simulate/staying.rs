//! The parties that stay in a run on noisy sums: whose noise counts, and how many units they have.

use reticent_accountant::{Adjacency, Unit, View};
use reticent_oracle::{PrivacyModel, PrivateTable, SumLaw};

use crate::error::Error;

/// The number of parties that stay.
#[derive(Clone, Copy, Debug)]
pub(super) struct StayingParties {
    pub parties: u32,
    /// Of all parties.
    pub whole: u32,
}

/// Who adds which noise between so many parties.
pub(super) fn law(view: View, staying: StayingParties, honest: f64) -> Result<SumLaw, Error> {
    let law = match view {
        View::SecureAggregation => SumLaw::masked_of(staying.whole, staying.parties, honest),
        _ => SumLaw::local(staying.parties),
    };
    law.map_err(|why| Error::value("trust", view, why.to_string()))
}

/// What those who stay have of the public number of units of all: where their own numbers are private
/// each counts for the same share.
pub(super) fn share_of(all: u64, StayingParties { parties, whole }: StayingParties) -> u64 {
    let own = u128::from(all) * u128::from(parties) / u128::from(whole.max(1));
    u64::try_from(own).unwrap_or(all).max(1)
}

/// The number of units of all parties that answers are divided by. Under replace-one it is public.
pub(super) fn population(opening: &PrivacyModel, tables: &[PrivateTable]) -> u64 {
    match (opening.unit, opening.adjacency) {
        (_, Adjacency::AddRemove) => opening.public_n.unwrap_or(0),
        (Unit::Party, _) => tables.len() as u64,
        (Unit::User, adjacency) => {
            tables.iter().filter_map(|table| table.persons_of_party(adjacency)).sum()
        }
        (unit, adjacency) => {
            tables.iter().filter_map(|table| table.public_count(unit, adjacency)).sum()
        }
    }
}
