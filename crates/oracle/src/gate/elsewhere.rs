//! Gates on rows that are not in memory: a table in a file, a table in shards, and what may be asked of
//! rows elsewhere, which is sums alone. Proof: proofs/holders.md.

use std::sync::Arc;

use reticent_noise::Entropy;
use reticent_problem::losses::Loss;

use super::{Gate, PrivacyModel, Stream};
use crate::cached_table::CachedTable;
use crate::file_holder::FileHolder;
use crate::queries::Erased;
use crate::refusal::Refusal;
use crate::shards::ShardedRows;
use crate::terms::Terms;

impl Gate {
    /// A gate on a table in a file: it answers what is a sum over records, with the same bits as on
    /// the table in memory.
    pub fn open_cached(
        table: CachedTable,
        loss: impl Into<Arc<dyn Loss>>,
        opening: &PrivacyModel,
        entropy: Entropy,
    ) -> Result<Self, Refusal> {
        let (loss, seeded) = (loss.into(), entropy.is_seeded());
        let drafted = table.drafted_the_schema();
        let holder = FileHolder::new(table.into_rows(), &*loss, opening)?;
        Self::on(Box::new(holder), (loss, opening), (seeded, drafted), Stream::new(entropy))
    }

    /// A gate on a table in shards: it answers what is a sum over records, with the same bits as on
    /// the table in memory.
    pub fn open_sharded(
        rows: ShardedRows,
        loss: impl Into<Arc<dyn Loss>>,
        opening: &PrivacyModel,
        entropy: Entropy,
    ) -> Result<Self, Refusal> {
        let (loss, seeded) = (loss.into(), entropy.is_seeded());
        rows.check(opening, &*loss)?;
        let drafted = rows.drafted_the_schema();
        Self::on(Box::new(rows), (loss, opening), (seeded, drafted), Stream::new(entropy))
    }
}

/// What is told to whoever has the rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TellsHolders {
    /// Nothing leaves the machine of the gate.
    Nothing,
    /// Requests travel to parties, each with one unit, which is public.
    OneUnitEach,
    /// Requests travel to parties, and how many units a party has may follow from the rows.
    Several,
}

/// Refuses what is asked of rows that are not in memory here and is no sum; a sample whose size would
/// tell theirs, where requests travel.
pub(crate) fn fits_elsewhere(
    query: &dyn Erased,
    terms: &Terms,
    tells: TellsHolders,
) -> Result<(), Refusal> {
    match (query.fits_held(terms), tells) {
        (Err(Refusal::SampleTellsSizes | Refusal::SampleOfPersonsHeld), TellsHolders::Nothing) => {
            Ok(())
        }
        (Err(Refusal::SampleOfPersonsHeld), TellsHolders::OneUnitEach) => Ok(()),
        (fits, _) => fits,
    }
}
