//! A party's side: its table, which says exact sums to the aggregator that it trusts, and to nobody
//! else.

use std::sync::Arc;

use reticent_masks::Line;
use reticent_noise::{Digest, NoiseKey};
use reticent_problem::Shape;
use reticent_problem::losses::Loss;
use serde::{Deserialize, Serialize};

use super::EntrustKey;
use super::request::{
    Direction, HolderGreeting, HolderRequest, agreed, bound_to, greeting, marked, write_steps,
};
use crate::gate::{PrivacyModel, private};
use crate::holder::{Holder, TableHolder};
use crate::queries::{check_basis, wrong};
use crate::refusal::Refusal;
use crate::table::PrivateTable;

/// A party's table, entrusted to the aggregator of one run.
///
/// Nothing is entered here and nothing has noise: what leaves is closed for the aggregator, whose
/// gate enters and noises what it releases. So whom a party greets is whom it trusts.
pub struct EntrustedTable {
    table: TableHolder,
    loss: Arc<dyn Loss>,
    line: Line,
    run: Digest,
    party: u32,
    progress: EntrustedProgress,
}

/// How far a party is in a run: what its table needs beside the rows to go on after a crash. It
/// follows from what was asked, and says nothing of the rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EntrustedProgress {
    /// The last round that was answered: none is twice.
    round: u32,
    /// The basis that the rows are in, where they are not as they came.
    pub(super) basis: Option<Vec<f64>>,
}

/// Not derived: it would show the rows.
impl std::fmt::Debug for EntrustedTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EntrustedTable").field("party", &self.party).finish_non_exhaustive()
    }
}

impl EntrustedTable {
    /// The table of party number `party`, and its greeting for the aggregator. `key` is the party's
    /// own.
    ///
    /// # Errors
    /// If the table cannot be summed over, or the aggregator's key is none.
    pub fn new(
        table: PrivateTable,
        loss: Arc<dyn Loss>,
        opening: &PrivacyModel,
        (key, party): (&NoiseKey, u32),
        to: &EntrustKey,
    ) -> Result<(Self, Vec<u8>), Refusal> {
        let (drafted, agreed) = (table.drafted_the_schema(), agreed(opening, &*loss)?);
        let table = TableHolder::new(private(table, &*loss, opening)?);
        if table.private.weights().is_some() {
            return Err(Refusal::Weighted);
        }
        let context = greeting(&to.run, party);
        let mut entropy = key.entropy(&context);
        let (own, once) = (entropy.key()?, entropy.key()?);
        let (units, features) = (table.units() as u64, table.private.features() as u64);
        let seeded = key.is_seeded();
        let hello = HolderGreeting { key: *own, units, features, drafted, seeded, agreed };
        let bytes = postcard::to_allocvec(&hello).ok().map(zeroize::Zeroizing::new);
        let sealed = bytes.and_then(|bytes| to.receiver.seal(&once, &context, &bytes));
        let sealed = sealed.and_then(|sealed| postcard::to_allocvec(&sealed).ok());
        let sealed = sealed.ok_or_else(|| wrong("the aggregator's key is none"))?;
        let line = Line::new(&own);
        let progress = EntrustedProgress::default();
        Ok((EntrustedTable { table, loss, line, run: to.run, party, progress }, sealed))
    }

    /// How far it is.
    pub fn progress(&self) -> &EntrustedProgress {
        &self.progress
    }

    /// Goes on from how far it was, on the same rows and with the same key.
    ///
    /// # Errors
    /// If that was of rows of another width.
    pub fn recall(&mut self, progress: EntrustedProgress) -> Result<(), Refusal> {
        let basis = progress.basis.as_deref();
        check_basis(basis, self.table.native_width())?;
        self.table.set_basis(basis)?;
        self.progress = progress;
        Ok(())
    }

    /// The closed answer to a closed request of a round. What is not the aggregator's, or of a round
    /// that is over, is refused.
    ///
    /// # Errors
    /// If it is refused; nothing has then been said.
    pub fn answer(&mut self, round: u32, request: &[u8]) -> Result<Vec<u8>, Refusal> {
        let EntrustedTable { table, loss, line, run, party, progress } = self;
        if round <= progress.round {
            return Err(Refusal::RoundReleased(round.into()));
        }
        let forged = Refusal::ForgedBlock { party: *party };
        let context = bound_to(run, *party, round, Direction::Asked);
        let Some(opened) = line.open(&context, request) else { return Err(forged) };
        let Some((request, drawn)) = HolderRequest::unpack(&opened) else { return Err(forged) };
        let steps = match request {
            HolderRequest::Basis(images) if drawn.is_empty() => {
                check_basis(images.as_deref(), table.native_width())?;
                table.set_basis(images.as_deref())?;
                progress.basis = images.map(std::borrow::Cow::into_owned);
                Vec::new()
            }
            HolderRequest::Sum { what, sampled } => {
                let shape: Shape = table.shape(loss.outputs());
                what.check(shape)?;
                what.fits(&**loss)?;
                let chosen = match sampled {
                    true => Some(marked(drawn, table.units()).ok_or(forged)?),
                    false if drawn.is_empty() => None,
                    false => return Err(forged),
                };
                let mut sum = vec![0; what.len(shape)];
                table.sum(&what, &**loss, chosen.as_deref(), &mut sum)?;
                sum
            }
            HolderRequest::Basis(_) => return Err(forged),
        };
        progress.round = round;
        let context = bound_to(run, *party, round, Direction::Answered);
        let closed = line.close(&context, &write_steps(&steps));
        closed.ok_or_else(|| wrong("an answer is too long to be closed"))
    }
}
