//! A table in shards: workers of one owner hold its rows and say exact sums, the gate is with the
//! driver.
//!
//! ```text
//! driver (gate): event, sample ──what is summed, who is drawn──► every shard: clip, round, add
//!                noise once   ◄──────────── integers ───────────
//! ```
//!
//! What carries the bytes is a [`Shards`]: processes, Ray, MPI, anything that starts workers and
//! moves bytes. A worker is a [`Shard`]: rows in memory today; a shard on a GPU would answer the same
//! requests. Whoever carries, and whoever holds, is inside the trust in the gate: nothing is closed
//! here. Every answer names the worker by all that its integers follow from, so that one that was
//! started anew goes on where it has the same rows, the same program and the same arithmetic, and
//! ends the run where it has not. Proof: proofs/holders.md.

mod enrolment;
mod message;
mod self_test;
mod shard;

use reticent_noise::Digest;
use reticent_problem::Shape;
use reticent_problem::losses::Loss;

use crate::gate::PrivacyModel;
use crate::holder::Holder;
use crate::parties::{HeldUnits, agreed};
use crate::queries::RecordSum;
use crate::refusal::Refusal;
use crate::sums::RecordStatistic;
pub use enrolment::count_persons;
use enrolment::{check_files, check_sizes, greeted};
use message::{ShardReply, ShardRequest, basis_digest, read_answer};
pub use self_test::self_test;
pub use shard::{Shard, ShardSeat};

/// How often a shard may be without the basis in one question: once for every time that it was
/// started anew.
const TRIES: usize = 8;

/// What carries requests to the shards of a table and brings their answers. It may start a worker
/// that is lost anew, and ask it again: an answer has the same bits however often it is asked for.
pub trait Shards: std::fmt::Debug + Send + Sync {
    /// How many shards there are.
    fn count(&self) -> usize;

    /// What these shards say to these requests, in the order of the requests. They are asked at the
    /// same time.
    ///
    /// # Errors
    /// If one does not answer.
    fn ask(&self, requests: &[(usize, &[u8])]) -> Result<Vec<Vec<u8>>, Refusal>;
}

/// One shard, as the driver knows it.
#[derive(Debug)]
struct EnrolledShard {
    /// Stands for all that its integers follow from.
    identity: Digest,
    held: HeldUnits,
}

/// The rows of all shards, for [`Gate::open_sharded`](crate::Gate::open_sharded).
#[derive(Debug)]
pub struct ShardedRows {
    shards: Vec<EnrolledShard>,
    units: usize,
    drafted: bool,
    /// What was read, file by file.
    files: Vec<Digest>,
    agreed: Digest,
    native: Shape,
    /// The basis that the rows are in, where they are not as they came.
    basis: Option<Vec<f64>>,
    /// Whether a shard did not answer, or answered what it cannot: nobody is asked again.
    ended: bool,
    engine: Box<dyn Shards>,
}

fn refused(shard: usize, why: &'static str) -> Refusal {
    Refusal::Shard { shard, why }
}

impl ShardedRows {
    /// Enrols the workers of `engine`, of this build of the program, on these terms: nothing is asked
    /// about rows before all of them are known to be of one program and one arithmetic.
    ///
    /// # Errors
    /// If a worker is of another program, computes other numbers, has opened its rows on other terms
    /// or has another seat; if rows are with two of them, or there are too many.
    pub fn enrol(
        engine: Box<dyn Shards>,
        (opening, loss): (&PrivacyModel, &dyn Loss),
        (features, build): (usize, &Digest),
    ) -> Result<Self, Refusal> {
        let agreed = agreed(opening, loss)?;
        let asked = ShardRequest::Hello.pack()?;
        let all: Vec<(usize, &[u8])> = (0..engine.count()).map(|k| (k, &*asked)).collect();
        let answers = engine.ask(&all)?;
        if answers.len() != all.len() || all.is_empty() {
            return Err(Refusal::ShardEngine("it brought another number of answers".to_owned()));
        }
        let (mut shards, mut hellos) = (Vec::new(), Vec::new());
        let mut first = 0_usize;
        for (k, answer) in answers.iter().enumerate() {
            let (identity, hello) = greeted(k, &asked, answer)?;
            hello.check((k, answers.len()), build, &agreed, features)?;
            let held =
                HeldUnits { first, count: usize::try_from(hello.units).unwrap_or(usize::MAX) };
            shards.push(EnrolledShard { identity, held });
            first = first.saturating_add(held.count);
            hellos.push(hello);
        }
        check_sizes(&hellos)?;
        check_files(&hellos)?;
        let native = Shape { features, outputs: 1, intercept: opening.intercept != 0.0 };
        let drafted = hellos.iter().any(|hello| hello.drafted);
        // All of them have read the same where they split one table.
        let parts = if hellos[0].seat.split { 1 } else { hellos.len() };
        let files = hellos.iter().take(parts).flat_map(|hello| hello.files.clone()).collect();
        let mut rows = ShardedRows {
            shards,
            units: first,
            drafted,
            files,
            agreed,
            native,
            basis: None,
            ended: false,
            engine,
        };
        rows.count_again()?;
        Ok(rows)
    }

    /// Whether there are so many units: for whoever has counted them otherwise.
    pub fn are(&self, units: usize) -> bool {
        self.units == units
    }

    /// Whether this is what the workers have read, file by file, under the key of the run.
    pub fn have_read(&self, files: &[Digest]) -> bool {
        self.files == files
    }

    pub(crate) fn drafted_the_schema(&self) -> bool {
        self.drafted
    }

    /// Refuses a gate on other terms than the shards'.
    pub(crate) fn check(&self, opening: &PrivacyModel, loss: &dyn Loss) -> Result<(), Refusal> {
        match self.agreed == agreed(opening, loss)? {
            true => Ok(()),
            false => Err(refused(0, OTHER_TERMS)),
        }
    }

    /// Has every shard add 1 up over its units: what it says of its size is what its sums are over.
    fn count_again(&mut self) -> Result<(), Refusal> {
        let what = RecordSum::Count { of: RecordStatistic::RowNorm, at_most: f64::INFINITY };
        let one = self_test::count_of_one(&what)?;
        let sums = self.ask_each(&what, None, 1)?;
        let sums = sums.iter().zip(&self.shards).enumerate();
        for (k, (sum, shard)) in sums {
            if sum != &[one * shard.held.count as i64] {
                return Err(refused(k, "counts another number of units than it has enrolled with"));
            }
        }
        Ok(())
    }

    /// The sum of each shard. Who was not answered by all asks nobody again.
    fn ask_each(
        &mut self,
        what: &RecordSum<'_>,
        chosen: Option<&[u32]>,
        len: usize,
    ) -> Result<Vec<Vec<i64>>, Refusal> {
        if self.ended {
            return Err(Refusal::ShardEngine("a shard has ended the run before".to_owned()));
        }
        let sums = self.exchange(what, chosen, len);
        self.ended = sums.is_err();
        sums
    }

    fn exchange(
        &self,
        what: &RecordSum<'_>,
        chosen: Option<&[u32]>,
        len: usize,
    ) -> Result<Vec<Vec<i64>>, Refusal> {
        let basis = basis_digest(self.basis.as_deref());
        let request = ShardRequest::Sum { what: what.clone(), sampled: chosen.is_some(), basis };
        let said = request.pack()?;
        let held: Vec<HeldUnits> = self.shards.iter().map(|shard| shard.held).collect();
        let own: Option<Vec<Vec<u8>>> = chosen.map(|chosen| {
            let drawn = HeldUnits::drawn(&held, chosen).into_iter();
            drawn.map(|bits| [&*said, &*bits].concat()).collect()
        });
        let body = |k: usize| own.as_ref().map_or(&*said, |own| &*own[k]);
        let mut sums = vec![Vec::new(); self.shards.len()];
        let mut open: Vec<usize> = (0..self.shards.len()).collect();
        for _ in 0..TRIES {
            let asked: Vec<(usize, &[u8])> = open.iter().map(|&k| (k, body(k))).collect();
            let mut again = Vec::new();
            for (&(k, request), answer) in asked.iter().zip(self.carried(&asked)?) {
                match self.heard(k, request, &answer)? {
                    (ShardReply::Sum, steps) => sums[k] = self.within(k, steps, len)?,
                    (ShardReply::NoBasis, _) => again.push(k),
                    _ => return Err(refused(k, OTHER_ANSWER)),
                }
            }
            if again.is_empty() {
                return Ok(sums);
            }
            self.tell_basis(&again)?;
            open = again;
        }
        Err(refused(open[0], "was started anew too often in one question"))
    }

    /// Gives the basis to shards that are without: all of them after a change, one that was started
    /// anew.
    fn tell_basis(&self, to: &[usize]) -> Result<(), Refusal> {
        let said = ShardRequest::Basis(self.basis.as_deref().map(Into::into)).pack()?;
        let asked: Vec<(usize, &[u8])> = to.iter().map(|&k| (k, &*said)).collect();
        for (&(k, request), answer) in asked.iter().zip(self.carried(&asked)?) {
            match self.heard(k, request, &answer)? {
                (ShardReply::Basis, _) => (),
                _ => return Err(refused(k, OTHER_ANSWER)),
            }
        }
        Ok(())
    }

    fn carried(&self, asked: &[(usize, &[u8])]) -> Result<Vec<Vec<u8>>, Refusal> {
        let answers = self.engine.ask(asked)?;
        match answers.len() == asked.len() {
            true => Ok(answers),
            false => Err(Refusal::ShardEngine("it brought another number of answers".to_owned())),
        }
    }

    /// An answer, if it is of the worker that was enrolled, to this request, whole.
    fn heard(
        &self,
        shard: usize,
        request: &[u8],
        answer: &[u8],
    ) -> Result<(ShardReply, Vec<i64>), Refusal> {
        let found = read_answer(request, answer).ok_or_else(|| refused(shard, CHANGED))?;
        match found.identity == self.shards[shard].identity {
            true => Ok((found.reply, found.steps)),
            false => Err(refused(shard, REPLACED)),
        }
    }

    /// Sums that its units can have.
    fn within(&self, shard: usize, steps: Vec<i64>, len: usize) -> Result<Vec<i64>, Refusal> {
        match self.shards[shard].held.can_say(&steps, len) {
            true => Ok(steps),
            false => Err(refused(shard, OTHER_ANSWER)),
        }
    }
}

const OTHER_TERMS: &str =
    "has opened its rows on other terms, or for another loss or schema, than the run";
const CHANGED: &str = "gave an answer that was changed on its way, or is to another question";
const OTHER_ANSWER: &str = "gave an answer that its rows cannot have";
const REPLACED: &str = "was replaced by a worker with other rows, of another program or of another arithmetic; give every machine the \
                        same files and the same package, and run again";

impl Holder for ShardedRows {
    fn units(&self) -> usize {
        self.units
    }

    fn shape(&self, outputs: usize) -> Shape {
        match self.basis {
            Some(_) => Shape { features: self.native_width(), outputs, intercept: false },
            None => Shape { outputs, ..self.native },
        }
    }

    fn native_width(&self) -> usize {
        self.native.features + usize::from(self.native.intercept)
    }

    fn set_basis(&mut self, images: Option<&[f64]>) -> Result<(), Refusal> {
        if images.is_none() && self.basis.is_none() {
            return Ok(());
        }
        self.basis = images.map(<[f64]>::to_vec);
        let all: Vec<usize> = (0..self.shards.len()).collect();
        let told = self.tell_basis(&all);
        self.ended |= told.is_err();
        told
    }

    fn sum(
        &mut self,
        what: &RecordSum<'_>,
        _: &dyn Loss,
        chosen: Option<&[u32]>,
        out: &mut [i64],
    ) -> Result<(), Refusal> {
        let sums = self.ask_each(what, chosen, out.len())?;
        out.fill(0);
        for sum in &sums {
            out.iter_mut().zip(sum).for_each(|(total, step)| *total += step);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
