//! A worker's side: rows of one table in memory, which says exact sums over them to the gate that it
//! belongs to.

use std::sync::Arc;

use reticent_noise::{Digest, NoiseKey};
use reticent_problem::losses::Loss;
use serde::{Deserialize, Serialize};

use super::message::{ShardHello, ShardReply, ShardRequest, basis_digest, write_answer};
use super::self_test;
use crate::gate::{Gate, PrivacyModel, private};
use crate::holder::{Holder, TableHolder};
use crate::parties::{agreed, marked};
use crate::queries::{check_basis, wrong};
use crate::refusal::Refusal;
use crate::table::PrivateTable;

/// Which shard it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardSeat {
    /// Its number, from 0 on.
    pub number: u32,
    /// Of how many.
    pub of: u32,
    /// Whether all read the same files and each keeps a part of them; otherwise each has files of its
    /// own.
    pub split: bool,
}

/// Rows of one table, with a worker that its owner trusts as the gate itself: what it says has no noise
/// and is in no books here.
pub struct Shard {
    table: TableHolder,
    loss: Arc<dyn Loss>,
    hello: ShardHello,
    identity: Digest,
    /// Stands for the basis that the rows are in.
    basis: Digest,
}

/// Not derived: it would show the rows.
impl std::fmt::Debug for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shard").field("seat", &self.hello.seat).finish_non_exhaustive()
    }
}

impl Shard {
    /// The shard at `seat` of a table, or of a table of its own; `files` stands for what was read, under
    /// `key`, which all shards of a run have in common; `build` for the file of the program.
    ///
    /// # Errors
    /// If the rows cannot be summed over, or their weights are not all the same.
    pub fn new(
        table: PrivateTable,
        (loss, opening): (Arc<dyn Loss>, &PrivacyModel),
        seat: ShardSeat,
        (files, key, build): (Vec<Digest>, &[u8; 32], &Digest),
    ) -> Result<Self, Refusal> {
        if seat.number >= seat.of {
            return Err(wrong("a shard's number is below the number of shards"));
        }
        let whole = private(table.share(), &*loss, opening)?.units() as u64;
        let table = match seat.split {
            true => table.section(seat.number as usize, seat.of as usize, opening.unit)?,
            false => table,
        };
        let own = (NoiseKey::recall((*key).into(), false), key);
        let rows = Gate::fingerprint_of(&table, &*loss, opening, own)?;
        let (drafted, agreed) = (table.drafted_the_schema(), agreed(opening, &*loss)?);
        let table = TableHolder::new(private(table, &*loss, opening)?);
        if table.private.weights().is_some() {
            return Err(Refusal::Weighted);
        }
        let hello = ShardHello {
            program: ShardHello::program(),
            build: *build,
            arithmetic: self_test(),
            agreed,
            rows,
            files,
            seat,
            units: table.units() as u64,
            records: table.private.records() as u64,
            whole,
            features: table.private.features() as u64,
            drafted,
        };
        let identity = hello.identity()?;
        Ok(Shard { table, loss, hello, identity, basis: [0; 32] })
    }

    /// The answer to a request. The same request has the same answer, however often it is asked.
    ///
    /// # Errors
    /// If it is no request; nothing has then been said.
    pub fn answer(&mut self, request: &[u8]) -> Result<Vec<u8>, Refusal> {
        let none = || wrong("a shard was asked what no driver of this program asks");
        let (asked, drawn) = ShardRequest::unpack(request).ok_or_else(none)?;
        let mut steps = Vec::new();
        let reply = match asked {
            ShardRequest::Hello if drawn.is_empty() => {
                ShardReply::Hello(Box::new(self.hello.clone()))
            }
            ShardRequest::Basis(images) if drawn.is_empty() => {
                check_basis(images.as_deref(), self.table.native_width())?;
                self.table.set_basis(images.as_deref())?;
                self.basis = basis_digest(images.as_deref());
                ShardReply::Basis
            }
            ShardRequest::Sum { basis, .. } if basis != self.basis => ShardReply::NoBasis,
            ShardRequest::Sum { what, sampled, .. } => {
                let shape = self.table.shape(self.loss.outputs());
                what.check(shape)?;
                what.fits(&*self.loss)?;
                let chosen = match sampled {
                    true => Some(marked(drawn, self.table.units()).ok_or_else(none)?),
                    false if drawn.is_empty() => None,
                    false => return Err(none()),
                };
                steps = vec![0; what.len(shape)];
                self.table.sum(&what, &*self.loss, chosen.as_deref(), &mut steps)?;
                ShardReply::Sum
            }
            ShardRequest::Hello | ShardRequest::Basis(_) => return Err(none()),
        };
        write_answer(&self.identity, request, (reply, &steps))
    }
}
