//! The books: what may be spent, what has been, and what has been answered.
//!
//! ```text
//! enter: known? ─► plan ─► ledger        release: enter ─► noise ─► Released
//! ```
//!
//! Everything that leaves with noise leaves through [`Books::release`], whoever releases it: a gate
//! with a stream or with a key, a member of a masked sum, a trusted aggregator; a selection enters
//! itself here, and so does what leaves without noise. The entry comes first, so that a crash in
//! between overstates what was spent and never understates it. Proof: proofs/gate.md.

use reticent_accountant::{Event, Ledger, Taint};
use reticent_noise::Digest;
use serde::{Deserialize, Serialize};

use crate::plan::LedgerPlan;
use crate::refusal::Refusal;
use crate::released::Released;

/// All that whoever releases must not forget: what it has spent, and what it has already answered.
///
/// To be kept as secret as the table: an answer is known by a digest of all that it follows from,
/// records included, and who knows all records but one could try that one out. The
/// [`ledger`](Books::ledger) alone is public.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Books {
    ledger: Ledger,
    step: BookStep,
    /// The last round that had its one answer, of those that have no more than one.
    round: Option<u64>,
    #[serde(skip)]
    plan: Option<LedgerPlan>,
}

/// The current step, and the contexts that have been answered in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct BookStep {
    label: Digest,
    answered: Vec<Digest>,
}

impl Books {
    /// What was spent, and why that would be no guarantee.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Books of noise that is from a seed, or is not.
    pub(crate) fn new(seeded: bool) -> Self {
        let mut books = Books::default();
        if seeded {
            books.taint(Taint::SeededNoise);
        }
        books
    }

    /// Enters what is to be released, and then has it made: the one place where a value with noise
    /// comes from. `context` stands for all that the answer and its noise follow from, where the
    /// same may be asked again: what is known is not entered twice, because it is said twice.
    pub(crate) fn release<T>(
        &mut self,
        context: Option<Digest>,
        events: Vec<Event>,
        answer: impl FnOnce() -> Result<T, Refusal>,
    ) -> Result<Released<T>, Refusal> {
        self.enter(context, events)?;
        Ok(Released::new(answer()?))
    }

    /// Releases the one answer that a round has. The same again is said again; another one, or one
    /// of a round before, is refused.
    pub(crate) fn release_once<T>(
        &mut self,
        round: u64,
        context: Digest,
        events: Vec<Event>,
        answer: impl FnOnce() -> Result<T, Refusal>,
    ) -> Result<Released<T>, Refusal> {
        let again = self.round == Some(round) && self.knows(&context);
        if !again && self.round.is_some_and(|last| round <= last) {
            return Err(Refusal::RoundReleased(round));
        }
        if self.round != Some(round) {
            self.step.answered.clear();
        }
        self.enter(Some(context), events)?;
        self.round = Some(round);
        self.release(Some(context), Vec::new(), answer)
    }

    /// The one place where a ledger is written to.
    pub(crate) fn enter(
        &mut self,
        context: Option<Digest>,
        events: Vec<Event>,
    ) -> Result<(), Refusal> {
        if context.is_some_and(|context| self.knows(&context)) {
            return Ok(());
        }
        for event in events {
            if let Some(plan) = &mut self.plan {
                plan.foresees(&event)?;
            }
            self.ledger.append(event);
        }
        self.step.answered.extend(context);
        Ok(())
    }

    /// Whether this context has been answered in the current step.
    pub(crate) fn knows(&self, context: &Digest) -> bool {
        self.step.answered.contains(context)
    }

    /// A new step; the current one goes on, if the label is its label.
    pub(crate) fn begin(&mut self, label: &Digest) {
        if self.step.label != *label {
            self.step = BookStep { label: *label, answered: Vec::new() };
        }
    }

    /// The label of the current step.
    pub(crate) fn label(&self) -> &Digest {
        &self.step.label
    }

    pub(crate) fn taint(&mut self, taint: Taint) {
        self.ledger.taint(taint);
    }

    /// What is wrong with `others` is wrong with these.
    pub(crate) fn taint_like(&mut self, others: &Ledger) {
        others.taints().iter().for_each(|&taint| self.taint(taint));
    }

    /// From here on, enters only what `plan` foresees, in its order.
    pub(crate) fn bind(&mut self, plan: Ledger) {
        self.plan = Some(LedgerPlan::new(plan));
    }

    /// From here on, enters nothing more often than `plan` has it. What was entered before counts.
    pub(crate) fn bind_within(&mut self, plan: &Ledger) -> Result<(), Refusal> {
        let mut plan = LedgerPlan::within(plan);
        plan.follow(&self.ledger)?;
        self.plan = Some(plan);
        Ok(())
    }

    /// Goes on from what was kept. Books that were written to are not replaced: there is no way to
    /// make them say less.
    pub(crate) fn recall(&mut self, kept: &Books) -> Result<(), Refusal> {
        if self.ledger.total_events() > 0 {
            return Err(Refusal::BooksInUse);
        }
        if let Some(plan) = &mut self.plan {
            plan.follow(&kept.ledger)?;
        }
        let fresh = std::mem::replace(&mut self.ledger, kept.ledger.clone());
        self.taint_like(&fresh);
        (self.step, self.round) = (kept.step.clone(), kept.round);
        Ok(())
    }

    /// What is to be certified. Of books that were bound it is the plan, whatever was used of it:
    /// that little was used may be the doing of an answer.
    pub(crate) fn close(self) -> Result<Ledger, Refusal> {
        let Some(plan) = self.plan else { return Ok(self.ledger) };
        let mut ledger = plan.finish()?;
        self.ledger.taints().iter().for_each(|&taint| ledger.taint(taint));
        Ok(ledger)
    }
}
