//! Rows that several parties hold, who trust one aggregator with exact sums over them: the holder of
//! a gate without a table.
//!
//! ```text
//! aggregator → party:  what is summed, which of the party's units are drawn     closed for the party
//! party → aggregator:  the integers of its rows                                 closed for the aggregator
//! aggregator:          Σ over the parties, to the gate: noise once
//! ```
//!
//! Integers add up to the same bits as over one table with all the rows, the parties' one behind the
//! other. Every party is asked every time, in as many bytes whoever is drawn, and told of its own
//! units alone. What carries the messages sees closed bytes. Proof: proofs/holders.md.

mod entrusted;
mod held_units;
mod request;

use rayon::prelude::*;
use reticent_masks::{Line, Receiver, ReceiverKey};
use reticent_noise::{Digest, NoiseKey};
use reticent_problem::Shape;
use reticent_problem::losses::Loss;
use serde::{Deserialize, Serialize};

use crate::gate::{PrivacyModel, TellsHolders};
use crate::holder::Holder;
use crate::queries::{RecordSum, wrong};
use crate::refusal::Refusal;
use crate::sums::TableError;
use crate::sums::grid::MAX_RECORDS;
pub use entrusted::{EntrustedProgress, EntrustedTable};
pub(crate) use held_units::HeldUnits;
use request::{Direction, HolderGreeting, HolderRequest, bound_to, greeting};
pub(crate) use request::{agreed, marked, read_steps, write_steps};

/// What carries closed requests to the parties and brings their closed answers back. It may lose
/// them, and the run then ends; it can neither read nor change them.
pub trait Carrier: std::fmt::Debug + Send + Sync {
    /// What `party` says to the request of a round. Rounds count from 1; parties are asked at the
    /// same time.
    ///
    /// # Errors
    /// If there is no answer.
    fn exchange(&self, party: u32, round: u32, request: Vec<u8>) -> Result<Vec<u8>, Refusal>;
}

/// By which parties greet the aggregator of a run. Public.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntrustKey {
    receiver: ReceiverKey,
    run: Digest,
}

impl EntrustKey {
    /// The run that it is for.
    pub fn run(&self) -> &Digest {
        &self.run
    }
}

/// Whom the parties of one run trust with exact sums.
#[derive(Debug)]
pub struct SumAggregator {
    receiver: Receiver,
    run: Digest,
    seeded: bool,
}

impl SumAggregator {
    /// The aggregator that has this key; `run` is public, and another for every run.
    pub fn new(key: &NoiseKey, run: &Digest) -> Self {
        // All of the run's bits: who names runs could choose two that agree in a part of them.
        let words = run.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
        let (own, _) = words.fold(key.child(0), |key, word| key.child(word)).expose();
        SumAggregator { receiver: Receiver::new(&own), run: *run, seeded: key.is_seeded() }
    }

    /// What the parties greet it with.
    pub fn public_key(&self) -> EntrustKey {
        EntrustKey { receiver: self.receiver.public(), run: self.run }
    }

    /// The parties that sent these greetings, in their order, with rows of so many features, and an
    /// intercept or none.
    ///
    /// # Errors
    /// If a greeting is none, or of rows of another width, or opened on other terms than others'.
    pub fn admit(
        self,
        greetings: &[Vec<u8>],
        (features, intercept): (usize, bool),
        carrier: Box<dyn Carrier>,
    ) -> Result<HeldRows, Refusal> {
        let mut seats = Vec::with_capacity(greetings.len());
        let (mut units, mut drafted, mut seeded) = (0_usize, false, self.seeded);
        let mut agreed = None;
        for (party, greeting) in (0..).zip(greetings) {
            let hello = self.hello(party, greeting).ok_or(Refusal::ForgedBlock { party })?;
            if hello.features != features as u64 {
                return Err(wrong(
                    "a party's rows have another number of features than the schema of the run",
                ));
            }
            let own = usize::try_from(hello.units).unwrap_or(usize::MAX);
            let (line, held) = (Line::new(&hello.key), HeldUnits { first: units, count: own });
            seats.push(HeldParty { line, held });
            units = units.saturating_add(own);
            (drafted, seeded) = (drafted | hello.drafted, seeded | hello.seeded);
            if *agreed.get_or_insert(hello.agreed) != hello.agreed {
                return Err(other_terms());
            }
        }
        if units > MAX_RECORDS {
            return Err(TableError::TooManyRecords { allowed: MAX_RECORDS }.into());
        }
        let native = Shape { features, outputs: 1, intercept };
        Ok(HeldRows {
            seats,
            units,
            drafted,
            seeded,
            agreed,
            native,
            mapped: false,
            one_each: false,
            run: self.run,
            round: 0,
            ended: false,
            carrier,
        })
    }

    fn hello(&self, party: u32, bytes: &[u8]) -> Option<HolderGreeting> {
        let sealed = postcard::from_bytes(bytes).ok()?;
        let opened = self.receiver.open(&greeting(&self.run, party), &sealed)?;
        postcard::from_bytes(&opened).ok()
    }
}

/// One party, as the aggregator knows it.
#[derive(Debug)]
struct HeldParty {
    line: Line,
    held: HeldUnits,
}

/// The rows of parties who trust this process with their exact sums; for
/// [`Gate::open_held`](crate::Gate::open_held).
#[derive(Debug)]
pub struct HeldRows {
    seats: Vec<HeldParty>,
    units: usize,
    drafted: bool,
    seeded: bool,
    /// What the parties have opened their tables for; `None` without any.
    agreed: Option<Digest>,
    native: Shape,
    mapped: bool,
    /// Whether each party has one unit, and everybody knows that it has.
    one_each: bool,
    run: Digest,
    round: u32,
    /// Whether somebody did not answer: some may then have changed the basis, and others not.
    ended: bool,
    carrier: Box<dyn Carrier>,
}

fn other_terms() -> Refusal {
    wrong("the parties have opened their tables on other terms, or for another loss, than the run")
}

impl HeldRows {
    /// The same where each party is one unit, a person or a party, which is public: samples may then be
    /// drawn among them, of which no message tells how many a party has.
    ///
    /// # Errors
    /// If a party has none, or several.
    pub fn one_unit_each(mut self) -> Result<Self, Refusal> {
        if self.seats.iter().any(|seat| seat.held.count != 1) {
            return Err(wrong("a party is not one unit, as was said of all of them"));
        }
        self.one_each = true;
        Ok(self)
    }

    /// Whether a party's table, or one that may be it, is what the schema was drafted from.
    pub(crate) fn drafted_the_schema(&self) -> bool {
        self.drafted
    }

    /// Whether what the lines are closed by is from a seed, for anybody to read who knows it.
    pub(crate) fn is_seeded(&self) -> bool {
        self.seeded
    }

    /// Refuses a gate on other terms than the parties', or of nobody.
    pub(crate) fn check(&self, opening: &PrivacyModel, loss: &dyn Loss) -> Result<(), Refusal> {
        match self.agreed == Some(agreed(opening, loss)?) {
            true => Ok(()),
            false => Err(other_terms()),
        }
    }

    /// Asks every party, adds what they say up. Who was not answered by all asks nobody again.
    fn ask(
        &mut self,
        request: &HolderRequest<'_>,
        chosen: Option<&[u32]>,
        len: usize,
    ) -> Result<Vec<i64>, Refusal> {
        if self.ended {
            return Err(wrong("a party has not answered before, which has ended the run"));
        }
        let sum = self.exchange(request, chosen, len);
        self.ended = sum.is_err();
        sum
    }

    fn exchange(
        &mut self,
        request: &HolderRequest<'_>,
        chosen: Option<&[u32]>,
        len: usize,
    ) -> Result<Vec<i64>, Refusal> {
        self.round = self.round.checked_add(1).ok_or_else(|| wrong("there are too many rounds"))?;
        let said = request.pack()?;
        let HeldRows { seats, run, round, carrier, .. } = &*self;
        let held: Vec<HeldUnits> = seats.iter().map(|seat| seat.held).collect();
        let drawn = chosen.map(|chosen| HeldUnits::drawn(&held, chosen));
        let one = |party: usize| -> Result<Vec<i64>, Refusal> {
            let (seat, number) = (&seats[party], party as u32);
            let forged = Refusal::ForgedBlock { party: number };
            let mut bytes = said.clone();
            drawn.iter().for_each(|drawn| bytes.extend_from_slice(&drawn[party]));
            let context = bound_to(run, number, *round, Direction::Asked);
            let closed = seat.line.close(&context, &bytes);
            let closed = closed.ok_or_else(|| wrong("a request is too long to be closed"))?;
            let answer = carrier.exchange(number, *round, closed)?;
            let context = bound_to(run, number, *round, Direction::Answered);
            let Some(answer) = seat.line.open(&context, &answer) else { return Err(forged) };
            // Anything else is none that this program says.
            read_steps(&answer).filter(|steps| seat.held.can_say(steps, len)).ok_or(forged)
        };
        let add = |mut sum: Vec<i64>, steps: Vec<i64>| {
            sum.iter_mut().zip(&steps).for_each(|(sum, step)| *sum += step);
            sum
        };
        (0..seats.len())
            .into_par_iter()
            .try_fold(|| vec![0; len], |sum, party| Ok(add(sum, one(party)?)))
            .try_reduce(|| vec![0; len], |a, b| Ok(add(a, b)))
    }
}

impl Holder for HeldRows {
    fn units(&self) -> usize {
        self.units
    }

    fn shape(&self, outputs: usize) -> Shape {
        match self.mapped {
            true => Shape { features: self.native_width(), outputs, intercept: false },
            false => Shape { outputs, ..self.native },
        }
    }

    fn native_width(&self) -> usize {
        self.native.features + usize::from(self.native.intercept)
    }

    fn tells(&self) -> TellsHolders {
        match self.one_each {
            true => TellsHolders::OneUnitEach,
            false => TellsHolders::Several,
        }
    }

    fn set_basis(&mut self, images: Option<&[f64]>) -> Result<(), Refusal> {
        // Rows as they came are the state of a gate that is new.
        if images.is_some() || self.mapped {
            self.ask(&HolderRequest::Basis(images.map(Into::into)), None, 0)?;
        }
        self.mapped = images.is_some();
        Ok(())
    }

    fn sum(
        &mut self,
        what: &RecordSum<'_>,
        _: &dyn Loss,
        chosen: Option<&[u32]>,
        out: &mut [i64],
    ) -> Result<(), Refusal> {
        let request = HolderRequest::Sum { what: what.clone(), sampled: chosen.is_some() };
        out.copy_from_slice(&self.ask(&request, chosen, out.len())?);
        Ok(())
    }
}

#[cfg(test)]
mod entrusted_tests;
