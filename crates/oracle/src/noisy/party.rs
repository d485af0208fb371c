//! A party's side: its table behind its own gate, with its own key and its own books, which answers
//! the steps of its plan and nothing else.

use std::sync::Arc;

use reticent_accountant::Ledger;
use reticent_masks::{Channels, Member};
use reticent_noise::{Digest, Hasher, NoiseKey};
use reticent_problem::losses::Loss;
use serde::{Deserialize, Serialize};

use super::law::SumLaw;
use super::plan::{SumPlan, unplanned};
use super::request::SumRequest;
use crate::books::Books;
use crate::gate::{Gate, Keyed, PrivacyModel};
use crate::oracle::Oracle;
use crate::queries::{AskedSum, RecordSum, check_basis, wrong};
use crate::refusal::Refusal;
use crate::table::PrivateTable;
use crate::terms::Terms;

/// What a party has set aside, and how much of it was asked for.
#[derive(Clone, Debug)]
pub struct SumPartyReport {
    /// What its certificate counts: all of its plan, with what taints its own books. That little was
    /// used may be the doing of an answer.
    pub ledger: Ledger,
    /// How often its own gate has answered.
    pub answers: u64,
    /// On which terms.
    pub terms: Terms,
}

/// How far a party is in a run: what it needs beside its table and its key to go on after a crash. To
/// be kept as secret as the table, as [`Books`] are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SumProgress {
    books: Books,
    last: (u32, Digest),
    basis: Option<Vec<f64>>,
}

/// One party of a run on noisy sums.
pub struct SumParty {
    gate: Gate<Keyed>,
    plan: Arc<SumPlan>,
    agreed: Digest,
    run: Digest,
    id: u32,
    /// Its channels to the other members of masked sums, for all rounds.
    channels: Arc<Channels>,
    /// The last round that was answered, and what was asked in it.
    last: (u32, Digest),
    /// The basis that the rows are in, where they are not as they came.
    basis: Option<Vec<f64>>,
}

/// Not derived: it would show the rows.
impl std::fmt::Debug for SumParty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SumParty").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SumParty {
    /// Party number `id` with its table. `key` is the party's own, and nobody else has it; `plan` is
    /// what it has worked out itself; `run` tells runs apart.
    ///
    /// # Errors
    /// If the table cannot be summed over, or is opened for another view than the plan.
    pub fn new(
        table: PrivateTable,
        loss: Arc<dyn Loss>,
        opening: &PrivacyModel,
        (key, id): (NoiseKey, u32),
        (run, plan): (&Digest, Arc<SumPlan>),
    ) -> Result<Self, Refusal> {
        if opening.view != plan.law().view() || id >= plan.law().parties() {
            return Err(wrong("a party's table is opened for another view, or run, than its plan"));
        }
        let agreed = plan.digest(opening, &*loss)?;
        let label = Hasher::new("reticent channels").field(run).number(id.into()).finish();
        let channels = Arc::new(Channels::new(&*key.entropy(&label).key()?));
        let mut gate = Gate::open_keyed(table, loss, opening, key, run)?;
        gate.check_alike()?;
        gate.bind_within(plan.ledger())?;
        let last = (0, [0; 32]);
        Ok(SumParty { gate, plan, agreed, run: *run, id, channels, last, basis: None })
    }

    /// From here on, answers with a known defect, for an audit to find.
    #[cfg(reticent_seeded_bugs)]
    pub fn spoil(&mut self, bug: crate::bug::Bug) -> Result<(), Refusal> {
        self.gate.spoil(bug)
    }

    /// The integers of a round with this party's own noise, where answers are seen one by one. The same request
    /// again has the same answer, to the bit, and no second entry; another one in the same round, or in one
    /// before, is refused.
    ///
    /// # Errors
    /// If it is refused; nothing has then been said, and nothing entered.
    pub fn answer(&mut self, round: u32, request: &[u8]) -> Result<Vec<i64>, Refusal> {
        let (asked, digest, _) = self.taken(round, request)?;
        self.gate.begin(&label(round));
        let said = self.gate.say_sum(round, &self.plan.law().own(asked))?;
        self.last = (round, digest);
        Ok(said.into_inner())
    }

    /// The member of the masked sum of a round. A member is made once: a second one with the same keys would
    /// take the first one's mask off.
    ///
    /// # Errors
    /// If it is refused; nothing has then been said.
    pub fn member(&mut self, round: u32, request: &[u8]) -> Result<Member, Refusal> {
        self.make_member(round, request, None)
    }

    /// The member of the masked sum of a round, with masks from `key`: 32 bytes of the operating
    /// system for this round alone, which whoever keeps the party has on its disk before the member
    /// says anything. The noise follows from the party's own key, whatever the masks. The same round,
    /// request and key again make the same member, for who replays what the first one has heard, and
    /// enter nothing.
    ///
    /// # Errors
    /// If it is refused; nothing has then been said.
    pub fn member_of(
        &mut self,
        round: u32,
        request: &[u8],
        key: &[u8; 32],
    ) -> Result<Member, Refusal> {
        self.make_member(round, request, Some(key))
    }

    fn make_member(
        &mut self,
        round: u32,
        request: &[u8],
        key: Option<&[u8; 32]>,
    ) -> Result<Member, Refusal> {
        let (asked, digest, again) = self.taken(round, request)?;
        if again && key.is_none() {
            return Err(Refusal::RoundReleased(round.into()));
        }
        let (shape, terms) = (self.gate.shape(), *self.gate.terms());
        let drawn = (&self.run, round);
        let (share, masks) = self.plan.law().share(&asked, shape, &terms, drawn)?;
        self.gate.begin(&label(round));
        let member = self.gate.mask_sum(&asked.what, &share, &masks, (self.id, key))?;
        self.last = (round, digest);
        Ok(member.over(Arc::clone(&self.channels)))
    }

    /// Remembers a round that it answered before a crash, without another answer: what was asked, the
    /// coordinates, and the entry.
    ///
    /// # Errors
    /// If it is none that this party would have answered.
    pub fn recall(&mut self, round: u32, request: &[u8]) -> Result<(), Refusal> {
        let (asked, digest, again) = self.taken(round, request)?;
        if again {
            return Ok(());
        }
        let (shape, terms) = (self.gate.shape(), *self.gate.terms());
        let event = self.plan.law().event(&asked, shape, &terms)?;
        self.gate.begin(&label(round));
        self.gate.recall_sum(round, digest, event)?;
        self.last = (round, digest);
        Ok(())
    }

    /// The last round that it has answered; 0 before the first.
    pub fn answered(&self) -> u32 {
        self.last.0
    }

    /// Stands for its table, its terms, its plan and its key: what noise is repeated for must not have
    /// changed.
    ///
    /// # Errors
    /// If it has no canonical bytes.
    pub fn fingerprint(&self) -> Result<Digest, Refusal> {
        let table = self.gate.fingerprint()?;
        Ok(Hasher::new("reticent sum party").field(&table).field(&self.agreed).finish())
    }

    /// What is asked in a round, if it is what the plan has there, and whether it was asked before;
    /// coordinates are changed here.
    fn taken(
        &mut self,
        round: u32,
        request: &[u8],
    ) -> Result<(AskedSum<'static>, Digest, bool), Refusal> {
        let digest = Hasher::new("reticent sum request").field(request).finish();
        let (last, known) = self.last;
        let again = round == last && digest == known;
        if round == 0 || round <= last && !again {
            return Err(Refusal::RoundReleased(round.into()));
        }
        if round > self.plan.rounds() {
            return Err(unplanned(format!("round {round}"), None));
        }
        let SumRequest { agreed, basis, what } = SumRequest::unpack(request)?;
        if agreed != self.agreed {
            return Err(wrong("the server means another job, or other terms, than this party"));
        }
        let mapped = basis.as_ref().map(Option::is_some);
        // Who was away is told the last of the changes that it missed; in others than everybody
        // else's coordinates it would not answer.
        match (mapped, self.plan.last_change(last + 1..=round)) {
            _ if again => {}
            (told, due) if told == due => {}
            (None, Some(_)) => {
                return Err(wrong("a party has missed a change of coordinates, and cannot go on"));
            }
            _ => return Err(unplanned("other coordinates".to_owned(), self.plan.step(round))),
        }
        if let Some(images) = basis {
            self.gate.set_basis(images.as_deref())?;
            self.basis = images.map(std::borrow::Cow::into_owned);
        }
        Ok((self.planned(round, what)?, digest, again))
    }

    fn planned(&self, round: u32, what: RecordSum<'static>) -> Result<AskedSum<'static>, Refusal> {
        let (shape, terms) = (self.gate.shape(), *self.gate.terms());
        what.check(shape)?;
        let asked = self.plan.asked(round, what, shape)?;
        self.plan.law().check(&asked, shape, &terms)?;
        Ok(asked)
    }

    /// How far it is.
    pub fn progress(&self) -> SumProgress {
        let (books, last, basis) = (self.gate.books().clone(), self.last, self.basis.clone());
        SumProgress { books, last, basis }
    }

    /// Goes on from how far it was, on the same table and with the same key. Books that were written
    /// to are not replaced.
    ///
    /// # Errors
    /// If that was of another plan, or of rows of another width.
    pub fn resume(&mut self, progress: SumProgress) -> Result<(), Refusal> {
        let SumProgress { books, last, basis } = progress;
        let shape = self.gate.shape();
        check_basis(basis.as_deref(), shape.features + usize::from(shape.intercept))?;
        self.gate.recall(&books)?;
        if basis.is_some() {
            self.gate.set_basis(basis.as_deref())?;
        }
        (self.last, self.basis) = (last, basis);
        Ok(())
    }

    /// What its certificate counts.
    pub fn report(&self) -> SumPartyReport {
        let mut ledger = self.plan.ledger().clone();
        self.gate.ledger().taints().iter().for_each(|&taint| ledger.taint(taint));
        let answers = self.gate.ledger().total_events();
        SumPartyReport { ledger, answers, terms: *self.gate.terms() }
    }

    /// Who adds which noise.
    pub fn law(&self) -> &SumLaw {
        self.plan.law()
    }
}

fn label(round: u32) -> Digest {
    Hasher::new("reticent sum round").number(round.into()).finish()
}
