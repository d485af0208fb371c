//! The gate: every answer is an event first and a number second.

mod block;
mod elsewhere;
mod select;
mod shared_passes;
mod source;
mod sum;

use std::sync::Arc;

use reticent_accountant::{Adjacency, Ledger, Taint, Unit, View};
use reticent_noise::{Digest, Entropy, Hasher, NoiseKey};
use reticent_problem::Shape;
use reticent_problem::losses::Loss;
use serde::Serialize;

use crate::books::Books;
use crate::claim::{PaperClaim, booked};
use crate::holder::{Holder, TableHolder};
use crate::inside::GateState;
use crate::oracle::{Asked, Oracle};
use crate::parties::HeldRows;
use crate::queries::{Erased, Query, check_basis, check_point};
use crate::refusal::Refusal;
use crate::released::Released;
use crate::sums::{Blocks, Private, PrivateLoss, Split};
use crate::table::PrivateTable;
use crate::terms::Terms;
use block::GateBlock;
pub(crate) use block::unit;
pub(crate) use elsewhere::{TellsHolders, fits_elsewhere};
pub use select::{PrivateSelection, Selected};
pub use shared_passes::{LaneHolder, LaneRows, SharedPasses};
pub use source::{Keyed, NoiseSource, Stream};

/// How a gate is opened.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PrivacyModel {
    /// Which tables are neighbours.
    pub adjacency: Adjacency,
    /// Whether a neighbour differs in a record or in a user.
    pub unit: Unit,
    /// The trust model: who sees the messages.
    pub view: View,
    /// A public estimate of the number of units; add-remove needs it, replace-one does not use it.
    pub public_n: Option<u64>,
    /// The constant behind the intercept; 0 for a model without one.
    pub intercept: f64,
}

/// Private data behind its books. A gate with a [`Stream`] draws fresh noise for every answer; the
/// noise of a gate with a [`Keyed`] source follows from a key and from what is asked, so that a step
/// that is done again says the same bits and is entered once.
pub struct Gate<S = Stream> {
    inside: GateState,
    source: S,
    books: Books,
    block: Option<GateBlock>,
    split: Option<Split>,
    transcript: Option<Vec<Vec<f64>>>,
    listener: Option<Listener>,
    claim: Option<PaperClaim>,
}

/// What hears every answer: the answer, and how many events the books have with it.
pub type Listener = Box<dyn FnMut(&[f64], u64) + Send>;

/// Not derived: the text of a gate is for anybody, and its fields are not.
impl<S> std::fmt::Debug for Gate<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gate").field("terms", &self.inside.terms).finish_non_exhaustive()
    }
}

impl Gate {
    /// A gate on `table` for the gradients of `loss`, answering with noise from `entropy`.
    pub fn open(
        table: PrivateTable,
        loss: impl Into<Arc<dyn Loss>>,
        opening: &PrivacyModel,
        entropy: Entropy,
    ) -> Result<Self, Refusal> {
        let seeded = entropy.is_seeded();
        Self::new(table, loss.into(), opening, seeded, Stream::new(entropy))
    }

    /// The same on rows that others hold and entrust to this gate: it answers what is a sum over
    /// records, with the same bits as on one table of them all.
    pub fn open_held(
        rows: HeldRows,
        loss: impl Into<Arc<dyn Loss>>,
        opening: &PrivacyModel,
        entropy: Entropy,
    ) -> Result<Self, Refusal> {
        let loss = loss.into();
        rows.check(opening, &*loss)?;
        // Who knows a seed reads what was said under it.
        let seeded = entropy.is_seeded() || rows.is_seeded();
        let drafted = rows.drafted_the_schema();
        Self::on(Box::new(rows), (loss, opening), (seeded, drafted), Stream::new(entropy))
    }

    /// From here on, noise follows from `key`, of this run alone, and from what is asked: whoever does
    /// the run again after a crash has the same answers to the same questions, and independent noise
    /// for others.
    pub fn repeat(&mut self, key: NoiseKey) {
        if key.is_seeded() {
            self.books.taint(Taint::SeededNoise);
        }
        self.source.repeat(key);
    }

    /// For what leaves without noise: the data, and the multipliers of a split.
    pub(crate) fn behind(&mut self) -> (&mut Books, &mut GateState, &mut Option<Split>) {
        (&mut self.books, &mut self.inside, &mut self.split)
    }
}

impl Gate<Keyed> {
    /// A gate whose noise follows from a key. Steps are told apart by [`Gate::begin`]; `run` tells
    /// runs apart.
    pub fn open_keyed(
        table: PrivateTable,
        loss: impl Into<Arc<dyn Loss>>,
        opening: &PrivacyModel,
        key: NoiseKey,
        run: &Digest,
    ) -> Result<Self, Refusal> {
        let (loss, seeded) = (loss.into(), key.is_seeded());
        let keyed = Keyed::new(key, run, table.table(), opening, &*loss)?;
        Self::new(table, loss, opening, seeded, keyed)
    }

    /// Begins the step with this label (or goes on with it, if it is the current one): what is
    /// asked from here on is answered with the noise of this step.
    pub fn begin(&mut self, label: &Digest) {
        self.books.begin(label);
    }

    /// Stands for its table, its terms and its key: what noise is repeated for must not have
    /// changed.
    pub fn fingerprint(&self) -> Result<Digest, Refusal> {
        Ok(self.source.fingerprint()?)
    }

    /// The same of a table that no gate is opened on here.
    ///
    /// # Errors
    /// If it has no canonical bytes.
    pub fn fingerprint_of(
        table: &PrivateTable,
        loss: &dyn Loss,
        opening: &PrivacyModel,
        (key, run): (NoiseKey, &Digest),
    ) -> Result<Digest, Refusal> {
        Ok(Keyed::new(key, run, table.table(), opening, loss)?.fingerprint()?)
    }

    /// What must survive a crash, for [`Gate::recall`].
    pub fn books(&self) -> &Books {
        &self.books
    }

    /// Goes on from the books of a gate that was opened with the same key on the same table. Books
    /// that were written to already are not replaced: there is no way to make them say less.
    pub fn recall(&mut self, books: &Books) -> Result<(), Refusal> {
        self.books.recall(books)
    }
}

impl<S: NoiseSource> Gate<S> {
    fn new(
        table: PrivateTable,
        loss: Arc<dyn Loss>,
        opening: &PrivacyModel,
        seeded: bool,
        source: S,
    ) -> Result<Self, Refusal> {
        let drafted = table.drafted_the_schema();
        let holder = Box::new(TableHolder::new(private(table, &*loss, opening)?));
        Self::on(holder, (loss, opening), (seeded, drafted), source)
    }

    fn on(
        holder: Box<dyn Holder>,
        (loss, opening): (Arc<dyn Loss>, &PrivacyModel),
        (seeded, drafted): (bool, bool),
        source: S,
    ) -> Result<Self, Refusal> {
        let mut books = Books::new(seeded);
        if drafted {
            books.taint(Taint::UnpaidRead);
        }
        let PrivacyModel { adjacency, unit, view, public_n, .. } = *opening;
        let terms = match adjacency {
            Adjacency::ReplaceOne => Terms::replace_one(unit, view, holder.units() as u64),
            Adjacency::AddRemove => Terms::add_remove(unit, view, public_n.unwrap_or(0))?,
        };
        Ok(Gate {
            inside: GateState::new(holder, loss, terms),
            source,
            books,
            block: None,
            split: None,
            transcript: None,
            listener: None,
            claim: None,
        })
    }

    /// From here on, answers with a known defect, for an audit to find.
    #[cfg(reticent_seeded_bugs)]
    pub fn spoil(&mut self, bug: crate::bug::Bug) -> Result<(), Refusal> {
        self.source.spoil(bug)?;
        self.inside.bug = Some(bug);
        Ok(())
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

    /// From here on, `listener` hears every answer as it is released.
    pub fn listen(&mut self, listener: Listener) {
        self.listener = Some(listener);
    }

    /// From here on, answers only what `plan` foresees, in its order.
    pub fn bind(&mut self, plan: Ledger) {
        self.books.bind(plan);
    }

    /// From here on, answers nothing more often than `plan` has it: the order is free, and there
    /// need not be an end. What was answered before counts.
    pub fn bind_within(&mut self, plan: &Ledger) -> Result<(), Refusal> {
        self.books.bind_within(plan)
    }

    /// Records why the books of this gate are no guarantee; it cannot be taken back.
    pub fn taint(&mut self, taint: Taint) {
        self.books.taint(taint);
    }

    /// What has been recorded so far.
    pub fn ledger(&self) -> &Ledger {
        self.books.ledger()
    }

    /// Closes the gate; the data go, the books stay. Of a gate that was bound they say the plan,
    /// whatever was used of it: that little was used may be the doing of an answer. A plan that
    /// must be followed to its end and was not is an error of the program: what was calibrated is
    /// not what ran.
    pub fn close(self) -> Result<Ledger, Refusal> {
        self.books.close()
    }

    pub(crate) fn inside(&self) -> &GateState {
        &self.inside
    }
}

impl<S: NoiseSource> Asked for Gate<S> {
    /// Every query goes this way: check, enter, draw.
    fn ask_raw(&mut self, query: &dyn Erased) -> Result<Released<Vec<f64>>, Refusal> {
        let claim = self.claim.take();
        let Gate { inside, source, books, transcript, listener, .. } = self;
        let (shape, terms) = (inside.shape(), inside.terms);
        query.check(shape, &terms)?;
        query.fits(inside)?;
        if !inside.holder.is_here() {
            fits_elsewhere(query, &terms, inside.holder.tells())?;
        }
        if inside.is_weighted() {
            query.fits_weights()?;
        }
        if query.moves_blocks() && inside.blocks.is_none() {
            return Err(Refusal::NoConsensus);
        }
        let context = source.context(books, &inside.lineage, query)?;
        let events = booked(query, claim.as_ref(), (shape, &terms), books)?;
        let answer = || source.draw(context, |entropy| query.answer(inside, entropy));
        let released = books.release(S::known_by(context), events, answer)?;
        if query.moves_blocks() {
            inside.lineage = S::known_by(context).unwrap_or_default();
        }
        if claim.is_none_or(|claim| claim.is_seen()) {
            if let Some(transcript) = transcript {
                transcript.push(released.get().clone());
            }
            if let Some(listener) = listener {
                listener(released.get(), books.ledger().total_events());
            }
        }
        Ok(released)
    }
}

impl<S: NoiseSource> Oracle for Gate<S> {
    fn shape(&self) -> Shape {
        self.inside.shape()
    }

    fn terms(&self) -> &Terms {
        &self.inside.terms
    }

    fn claim(&mut self, claim: PaperClaim) {
        self.claim = Some(claim);
    }

    fn open_consensus(&mut self, start: &[f64]) -> Result<(), Refusal> {
        check_point(start, self.inside.shape())?;
        let PrivateLoss { private, loss } = self.inside.rows_and_loss()?;
        self.inside.blocks = Some(Blocks::at(start, private.records(), loss.outputs()));
        let mut hasher = Hasher::new("open consensus");
        if self.inside.basis != [0; 32] {
            hasher = Hasher::new("open consensus in a basis");
            hasher.field(&self.inside.basis);
        }
        self.inside.lineage = hasher.numbers(start).finish();
        Ok(())
    }

    fn set_basis(&mut self, images: Option<&[f64]>) -> Result<(), Refusal> {
        let GateState { holder, blocks, columns, basis, lineage, .. } = &mut self.inside;
        // Before anything moves: what is refused must leave rows and lineage as they were.
        check_basis(images, holder.native_width())?;
        holder.set_basis(images)?;
        // Blocks are of other coordinates. Rows as they came are the state of a gate that is new.
        (*blocks, *columns, self.block, self.split) = (None, None, None, None);
        *basis = images
            .map(|images| Hasher::new("set basis").numbers(images).finish())
            .unwrap_or_default();
        *lineage = *basis;
        Ok(())
    }
}

/// The table, opened for sums of this loss.
pub(crate) fn private(
    table: PrivateTable,
    loss: &dyn Loss,
    opening: &PrivacyModel,
) -> Result<Private, Refusal> {
    let PrivacyModel { unit, intercept, .. } = *opening;
    let private = match unit {
        Unit::Record => Private::by_record(table.into_table(), intercept)?,
        Unit::User | Unit::Party => Private::by_user(table.into_table(), intercept)?,
    };
    private.check_targets(loss)?;
    Ok(private)
}
