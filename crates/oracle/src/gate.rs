//! The gate: every answer is an event first and a number second.

mod block;
mod select;

use std::sync::Arc;

use reticent_accountant::{Adjacency, Event, Ledger, Mechanism, Taint, Unit, View};
use reticent_noise::{Digest, Entropy, Hasher, NoiseKey};
use reticent_problem::Shape;
use reticent_problem::losses::Loss;

use crate::claim::{Claim, booked};
use crate::inside::Inside;
use crate::keyed::{Books, Keyed};
use crate::oracle::{Asked, Oracle};
use crate::plan::Plan;
use crate::queries::{Erased, Query, check_point};
use crate::refusal::Refusal;
use crate::released::Released;
use crate::sums::{Blocks, Private, Split};
use crate::table::PrivateTable;
use crate::terms::Terms;
pub(crate) use block::{Block, unit};
pub use select::{PrivateSelection, Selected};

/// How a gate is opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Opening {
    /// Which tables are neighbours.
    pub adjacency: Adjacency,
    /// Whether a neighbour differs in a record or in a user.
    pub unit: Unit,
    /// Who looks.
    pub view: View,
    /// A public estimate of the number of units; add-remove needs it, replace-one does not use it.
    pub public_n: Option<u64>,
    /// The constant behind the intercept; 0 for a model without one.
    pub intercept: f64,
}

/// Private data behind a ledger.
pub struct Gate {
    inside: Inside,
    source: Source,
    block: Option<Block>,
    ledger: Ledger,
    plan: Option<Plan>,
    split: Option<Split>,
    transcript: Option<Vec<Vec<f64>>>,
    claim: Option<Claim>,
    #[cfg(feature = "seeded-bugs")]
    reused: Option<u64>,
}

/// Where the noise comes from.
#[derive(Debug)]
enum Source {
    Stream(Box<Entropy>),
    Keyed(Keyed),
}

/// Not derived: the text of a gate is for anybody, and its fields are not.
impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("terms", &self.inside.terms).finish_non_exhaustive()
    }
}

impl Gate {
    /// A gate on `table` for the gradients of `loss`, answering with noise from `entropy`.
    pub fn open(
        table: PrivateTable,
        loss: impl Into<Arc<dyn Loss>>,
        opening: &Opening,
        entropy: Entropy,
    ) -> Result<Self, Refusal> {
        let seeded = entropy.is_seeded();
        Self::new(table, loss.into(), opening, seeded, |_, _| Source::Stream(Box::new(entropy)))
    }

    /// A gate whose noise follows from a key and from what is asked, so that a step that is done
    /// again says the same bits and is entered once. Steps are told apart by [`Gate::begin`]; `run`
    /// tells runs apart.
    pub fn open_keyed(
        table: PrivateTable,
        loss: impl Into<Arc<dyn Loss>>,
        opening: &Opening,
        key: NoiseKey,
        run: &Digest,
    ) -> Result<Self, Refusal> {
        let seeded = key.is_seeded();
        Self::new(table, loss.into(), opening, seeded, |table, loss| {
            Source::Keyed(Keyed::new(key, run, table, &(opening, loss)))
        })
    }

    fn new(
        table: PrivateTable,
        loss: Arc<dyn Loss>,
        opening: &Opening,
        seeded: bool,
        source: impl FnOnce(&reticent_data::Table, &dyn Loss) -> Source,
    ) -> Result<Self, Refusal> {
        let source = source(table.table(), &*loss);
        let unpaid = table.drafted_the_schema();
        let Opening { adjacency, unit, view, public_n, intercept } = *opening;
        let private = match unit {
            Unit::Record => Private::by_record(table.into_table(), intercept)?,
            Unit::User => Private::by_user(table.into_table(), intercept)?,
        };
        let terms = match adjacency {
            Adjacency::ReplaceOne => Terms::replace_one(unit, view, private.units() as u64),
            Adjacency::AddRemove => Terms::add_remove(unit, view, public_n.unwrap_or(0))?,
        };
        let mut ledger = Ledger::new();
        if seeded {
            ledger.taint(Taint::SeededNoise);
        }
        if unpaid {
            ledger.taint(Taint::UnpaidRead);
        }
        Ok(Gate {
            inside: Inside::new(private, loss, terms),
            source,
            block: None,
            ledger,
            plan: None,
            split: None,
            transcript: None,
            claim: None,
            #[cfg(feature = "seeded-bugs")]
            reused: None,
        })
    }

    /// Enters the events of a query, and answers it.
    pub fn ask<Q: Query>(&mut self, query: &Q) -> Result<Released<Q::Answer>, Refusal> {
        (self as &mut dyn Oracle).ask(query)
    }

    /// From here on, keeps a copy of every answer. What was released is public, and this is the
    /// view of whoever sees it all.
    pub fn keep_transcript(&mut self) {
        self.transcript = Some(Vec::new());
    }

    /// The answers since [`Gate::keep_transcript`], in their order.
    pub fn take_transcript(&mut self) -> Vec<Vec<f64>> {
        self.transcript.take().unwrap_or_default()
    }

    /// From here on, answers with a known defect, for an audit to find.
    #[cfg(feature = "seeded-bugs")]
    pub fn spoil(&mut self, bug: crate::bug::Bug) -> Result<(), Refusal> {
        if let Source::Stream(entropy) = &mut self.source {
            self.reused = bug.reused_seed(entropy)?;
        }
        self.inside.bug = Some(bug);
        Ok(())
    }

    /// From here on, answers only what `plan` foresees, in its order.
    pub fn bind(&mut self, plan: Ledger) {
        self.plan = Some(Plan::new(plan));
    }

    /// From here on, answers nothing more often than `plan` has it: the order is free, and there
    /// need not be an end. What was answered before counts.
    pub fn bind_within(&mut self, plan: &Ledger) -> Result<(), Refusal> {
        let mut plan = Plan::within(plan);
        for entry in self.ledger.entries() {
            (0..entry.count()).try_for_each(|_| plan.foresees(entry.event()))?;
        }
        self.plan = Some(plan);
        Ok(())
    }

    /// Begins the step with this label (or goes on with it, if it is the current one): what is
    /// asked from here on is answered with the noise of this step. For a gate with a key; another
    /// has no steps.
    pub fn begin(&mut self, label: &Digest) {
        if let Source::Keyed(keyed) = &mut self.source {
            keyed.begin(label);
        }
    }

    /// Stands for its table, its terms and its key: what noise is repeated for must not have
    /// changed. `None` for a gate without a key.
    pub fn fingerprint(&self) -> Result<Option<Digest>, Refusal> {
        match &self.source {
            Source::Stream(_) => Ok(None),
            Source::Keyed(keyed) => Ok(Some(keyed.fingerprint()?)),
        }
    }

    /// What must survive a crash, for [`Gate::recall`]; `None` for a gate without a key, which
    /// cannot go on.
    pub fn books(&self) -> Option<Books> {
        match &self.source {
            Source::Stream(_) => None,
            Source::Keyed(keyed) => Some(keyed.books(&self.ledger)),
        }
    }

    /// Goes on from the books of a gate that was opened with the same key on the same table. Books
    /// that were written to already are not replaced: there is no way to make them say less.
    pub fn recall(&mut self, books: &Books) -> Result<(), Refusal> {
        let Source::Keyed(keyed) = &mut self.source else { return Err(Refusal::NoKey) };
        if self.ledger.total_events() > 0 {
            return Err(Refusal::BooksInUse);
        }
        keyed.recall(books);
        for entry in books.ledger.entries() {
            if let Some(plan) = &mut self.plan {
                (0..entry.count()).try_for_each(|_| plan.foresees(entry.event()))?;
            }
            self.ledger.append_many(entry.event().clone(), entry.count());
        }
        books.ledger.taints().iter().for_each(|&taint| self.ledger.taint(taint));
        Ok(())
    }

    /// Records why the books of this gate are no guarantee; it cannot be taken back.
    pub fn taint(&mut self, taint: Taint) {
        self.ledger.taint(taint);
    }

    /// What has been recorded so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Closes the gate; the data go, the books stay. Of a gate that was bound they say the plan,
    /// whatever was used of it: that little was used may be the doing of an answer. A plan that
    /// must be followed to its end and was not is an error of the program: what was calibrated is
    /// not what ran.
    pub fn close(self) -> Result<Ledger, Refusal> {
        let Some(plan) = self.plan else { return Ok(self.ledger) };
        let mut ledger = plan.finish()?;
        self.ledger.taints().iter().for_each(|&taint| ledger.taint(taint));
        Ok(ledger)
    }

    /// The stream that noise is drawn from, for a gate without a key.
    fn stream(&mut self) -> Result<&mut Entropy, Refusal> {
        match &mut self.source {
            Source::Stream(entropy) => Ok(entropy),
            Source::Keyed(_) => Err(Refusal::NoStream),
        }
    }

    /// What the noise of an answer follows from, for a gate with a key.
    fn context(&self, query: &dyn Erased) -> Option<Digest> {
        match &self.source {
            Source::Stream(_) => None,
            Source::Keyed(keyed) => Some(keyed.context(&self.inside.lineage, query)),
        }
    }

    /// Whether this very answer is in the books.
    fn knows(&self, context: Option<&Digest>) -> bool {
        matches!((&self.source, context), (Source::Keyed(keyed), Some(context)) if keyed.knows(context))
    }

    fn remember(&mut self, context: Option<Digest>) {
        if let (Source::Keyed(keyed), Some(context)) = (&mut self.source, context) {
            keyed.remember(context);
        }
    }

    fn answer(&mut self, query: &dyn Erased, context: Option<Digest>) -> Result<Vec<f64>, Refusal> {
        match (&mut self.source, context) {
            (Source::Keyed(keyed), Some(context)) => {
                let answer = query.answer(&mut self.inside, &mut keyed.entropy(&context))?;
                if query.moves_blocks() {
                    self.inside.lineage = context;
                }
                Ok(answer)
            }
            (Source::Stream(entropy), _) => {
                #[cfg(feature = "seeded-bugs")]
                if let Some(seed) = self.reused {
                    **entropy = Entropy::seeded(seed);
                }
                query.answer(&mut self.inside, entropy)
            }
            (Source::Keyed(_), None) => Err(Refusal::NoKey),
        }
    }

    fn record(&mut self, event: Event) -> Result<(), Refusal> {
        if let Some(plan) = &mut self.plan {
            plan.foresees(&event)?;
        }
        self.ledger.append(event);
        Ok(())
    }

    /// The way of the exact solver, whose every step is a release of its own: the event, and then
    /// the data.
    pub(crate) fn record_unprotected(
        &mut self,
        mechanism: impl Into<Mechanism>,
    ) -> Result<(&mut Inside, &mut Option<Split>), Refusal> {
        self.record(self.inside.terms.event(mechanism)?)?;
        Ok((&mut self.inside, &mut self.split))
    }

    pub(crate) fn inside(&self) -> &Inside {
        &self.inside
    }
}

impl Asked for Gate {
    /// The one way out. The event is in the ledger before the answer is computed, so a crash in
    /// between overstates what was spent and never understates it.
    fn ask_raw(&mut self, query: &dyn Erased) -> Result<Released<Vec<f64>>, Refusal> {
        let claim = self.claim.take();
        let (shape, terms) = (self.inside.shape(), self.inside.terms);
        query.check(shape, &terms)?;
        query.fits(&self.inside)?;
        if query.moves_blocks() && self.inside.blocks.is_none() {
            return Err(Refusal::NoConsensus);
        }
        let context = self.context(query);
        if !self.knows(context.as_ref()) {
            for event in booked(query, claim.as_ref(), (shape, &terms), &mut self.ledger)? {
                self.record(event)?;
            }
            self.remember(context);
        }
        let answer = self.answer(query, context)?;
        if let Some(transcript) = &mut self.transcript
            && claim.is_none_or(|claim| claim.is_seen())
        {
            transcript.push(answer.clone());
        }
        Ok(Released::new(answer))
    }
}

impl Oracle for Gate {
    fn shape(&self) -> Shape {
        self.inside.shape()
    }

    fn terms(&self) -> &Terms {
        &self.inside.terms
    }

    fn claim(&mut self, claim: Claim) {
        self.claim = Some(claim);
    }

    fn open_consensus(&mut self, start: &[f64]) -> Result<(), Refusal> {
        check_point(start, self.inside.shape())?;
        let Inside { private, loss, .. } = &self.inside;
        self.inside.blocks = Some(Blocks::at(start, private.records(), loss.outputs()));
        self.inside.lineage = Hasher::new("open consensus").numbers(start).finish();
        Ok(())
    }
}
