//! Who sits where in a run between persons.
//!
//! Where a party is a person, the party's number is its seat: who is heard first, who is whose
//! neighbour, whose message gets lost. What a person is protected by is proven for every seating in
//! which all others keep their seats, so no seat may follow from the table: a neighbour with a row
//! less, or under another id, would move everybody behind it. Seats are drawn by the run's key,
//! uniformly and without regard to the table, and told to nobody; a run that goes on has the same
//! key and so the same seats. Proof note: `proofs/seating.md`.

use reticent_noise::{EntropyError, Hasher, NoiseKey};
use reticent_oracle::PrivateTable;

/// What the draw is called under the key.
const LABEL: &str = "reticent seats";

/// What a certificate says of it.
pub(super) const ASSUMED: &str = "each party is one person with all of their records, and who sits where is drawn \
                                  uniformly by the run's key and told to nobody: a person is promised what is \
                                  promised to the party who spends most";

/// The tables of the persons, each at the seat that is drawn for it.
pub(super) fn seated(
    tables: Vec<PrivateTable>,
    key: &NoiseKey,
) -> Result<Vec<PrivateTable>, EntropyError> {
    let order = key.entropy(&Hasher::new(LABEL).finish()).order(tables.len())?;
    let mut tables: Vec<Option<PrivateTable>> = tables.into_iter().map(Some).collect();
    Ok(order.into_iter().filter_map(|person| tables[person as usize].take()).collect())
}
