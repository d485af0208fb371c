//! A party's run, paid from its own budget if it has one. The plan of the run is reserved before
//! the party greets the lead, counts in full from the first answer on, and is given back only if
//! nothing was answered.

use std::cell::RefCell;
use std::path::Path;

use reticent::accountant::Ledger;
use reticent::internal::Payable;
use reticent::simulate::RemoteKind;
use reticent::{Error, Run};
use reticent_budget::{Relation, Store};
use reticent_payment::{Bill, Paid, PaymentError, Receipt, close_over, give_back_unbegun, pay};

use crate::agreeing::Joining;
use crate::answer_payer::{AnswerPayer, ReservedJob};
use crate::error::HostError;
use crate::journal::RunJournal;
use crate::party::{Joined, RemoteParty, paths};
use crate::serving::Serving;
use crate::signed_rosters::RunRole;

/// The budget that pays for a run.
#[derive(Clone, Copy, Debug)]
pub struct JoinBudget<'a> {
    /// The file of the budget.
    pub file: &'a Path,
    /// How the table relates to those of the budget.
    pub relation: Relation,
}

/// The user column in the books of a budget where a party is one person with all its records: jobs
/// with a real column cannot be counted together with it.
const WHOLE_PARTY: &str = "(the whole party is one person)";

/// The result of a run, and its job in the budget.
#[derive(Debug)]
#[non_exhaustive]
pub struct PaidRun {
    /// The result.
    pub joined: Joined,
    /// Why the job stays open in the budget, and counted in full, though the run is over.
    pub open: Option<String>,
}

impl PaidRun {
    fn of(receipt: Receipt<(Joined, ())>) -> Self {
        let open = receipt.open.map(|error| error.to_string());
        PaidRun { joined: receipt.done.0, open }
    }
}

impl RemoteParty<'_> {
    /// Takes part in the run of the journal, or in a new one.
    ///
    /// # Errors
    /// If the roster is not signed by all, the budget does not allow the run, or the run ends
    /// early.
    pub fn join(
        &self,
        mut journal: RunJournal,
        budget: Option<JoinBudget<'_>>,
    ) -> Result<PaidRun, HostError> {
        self.number()?;
        self.options.signed.allow(self.roster, (&journal, RunRole::Party))?;
        if let Some(joined) = self.finished(&journal)? {
            self.acknowledge(&mut journal)?;
            let open = close(budget, &joined);
            return Ok(PaidRun { joined, open });
        }
        let mut run = Run::default();
        let has_begun = journal.has("joined")?;
        match budget {
            Some(budget) if !has_begun => self.pay(journal, budget),
            budget => match Serving::resumed(self.seat(journal, &mut run)?)? {
                Ok(serving) => resume(serving, budget),
                Err(seat) => {
                    let joined = seat.agree(&|_| Ok(()))?.join()?.serve()?;
                    Ok(PaidRun { joined, open: None })
                }
            },
        }
    }

    /// The ε and δ of the job.
    fn asked(&self) -> (f64, f64) {
        self.job.budget().map_or((0.0, 0.0), |own| (own.epsilon(), own.delta()))
    }

    fn pay(&self, journal: RunJournal, budget: JoinBudget<'_>) -> Result<PaidRun, HostError> {
        let asked = self.asked();
        let mut store = Store::open(budget.file)?;
        let looks = Store::open_to_read(budget.file)?;
        let fits = |plan: &Ledger| match budget.relation {
            // People who are in no other table have a budget of their own.
            Relation::DisjointPeople => Ok(()),
            _ => looks.would_fit(plan, asked).map(drop).map_err(HostError::from),
        };
        let label = format!("{} on a network", self.job.algorithm());
        // Peers reveal the number of units if records are protected, and only then.
        let whole = self.job.kind() != RemoteKind::Sums && !self.job.tells_units();
        let user = whole.then_some(WHOLE_PARTY);
        let bill = Bill { label: &label, asked, user, relation: budget.relation };
        let said: RefCell<Option<HostError>> = RefCell::new(None);
        let open = |run: &mut Run<'_>| {
            let agreed = self.seat(journal, run).and_then(|seat| seat.agree(&fits));
            let joining = agreed.map_err(|why| told(&said, why, None))?;
            let own = PaidJoining { joining, said: &said, asked, file: budget.file };
            own.joins_once().map_err(|why| told(&said, why, None))?;
            Ok(own)
        };
        match pay(&mut store, &bill, Paid::Files(paths(self)), open, Run::default()) {
            Ok(receipt) => Ok(PaidRun::of(receipt)),
            Err(error) => Err(said.into_inner().unwrap_or(HostError::Payment(error))),
        }
    }
}

/// Keeps an error in its own words, and returns the one for the budget.
fn told(said: &RefCell<Option<HostError>>, why: HostError, spent: Option<(f64, f64)>) -> Error {
    let plain = Error::value("network", "the run", why.to_string());
    let goes_on = why.keeps_reservation();
    said.replace(Some(why));
    match spent {
        None => plain,
        Some((epsilon, delta)) if goes_on => {
            Error::Unfinished { why: Box::new(plain), epsilon, delta }
        }
        Some((epsilon, delta)) => {
            Error::Spent { why: Box::new(plain), epsilon, delta, books: None }
        }
    }
}

/// A party that has agreed with all others, and whose plan is to be reserved.
struct PaidJoining<'a, 's> {
    joining: Joining<'a>,
    said: &'s RefCell<Option<HostError>>,
    asked: (f64, f64),
    file: &'s Path,
}

impl PaidJoining<'_, '_> {
    /// The name of the run in the budget; no other run has it.
    fn run_name(&self) -> String {
        format!("{} on a network, run {}", self.joining.algorithm(), &self.joining.run()[..32])
    }

    /// Ensures, from the budget, that a run is joined once, whatever the journal has lost. A
    /// reservation of a process that was killed before it joined is given back.
    fn joins_once(&self) -> Result<(), HostError> {
        match give_back_unbegun(self.file, &self.run_name()).map_err(PaymentError::from)? {
            None => Ok(()),
            Some(job) => Err(HostError::Ended(format!(
                "it was joined before, as job {job} of the budget, by a journal that is newer than this one"
            ))),
        }
    }
}

impl Payable for PaidJoining<'_, '_> {
    type Done = (Joined, ());

    fn plans(&self) -> Result<Vec<Ledger>, Error> {
        Ok(vec![self.joining.plan().clone()])
    }

    fn name(&self) -> Option<String> {
        Some(format!("{}: {}", self.run_name(), self.joining.study()))
    }

    fn reserved(&mut self, number: u64, hash: &str) {
        self.joining.reservation = Some(ReservedJob { number, hash: hash.to_owned() });
    }

    fn run(self, _: Run<'_>) -> Result<Self::Done, Error> {
        let PaidJoining { joining, said, asked, file } = self;
        let mut serving = joining.join().map_err(|why| told(said, why, None))?;
        if let Some(own) = serving.reservation() {
            let payer = AnswerPayer::new(file, own);
            payer.join().map_err(|why| told(said, why, Some(asked)))?;
            serving.seat.journal.payer = Some(payer);
        }
        match serving.serve() {
            Ok(joined) => Ok((joined, ())),
            Err(why) => {
                // A run that may continue keeps its reservation, whether or not anything was
                // answered; so does one of which that is unknown.
                let kept = why.keeps_reservation() || serving.has_answered().unwrap_or(true);
                Err(told(said, why, kept.then_some(asked)))
            }
        }
    }

    fn ledgers(done: &Self::Done) -> Vec<&Ledger> {
        vec![&done.0.model.certificate().ledger]
    }

    fn digest(done: &Self::Done) -> Option<&str> {
        done.0.model.certificate().digest.as_deref()
    }
}

/// Continues a run that was paid for when it began.
fn resume(mut serving: Serving<'_>, budget: Option<JoinBudget<'_>>) -> Result<PaidRun, HostError> {
    let Some(reserved) = serving.reservation() else {
        if budget.is_some() {
            let why = "the run began without a budget, and none can pay for it now; leave `budget` out, and record \
                       what the run cost with `reticent budget import`";
            return Err(HostError::disagreed("the party file", why));
        }
        return Ok(PaidRun { joined: serving.serve()?, open: None });
    };
    let Some(budget) = budget else {
        let why = "the run was paid for from a budget, which is not named any more";
        return Err(HostError::disagreed("the party file", why));
    };
    let payer = AnswerPayer::new(budget.file, reserved.clone());
    payer.join()?;
    serving.seat.journal.payer = Some(payer);
    let asked = serving.seat.party.asked();
    let said: RefCell<Option<HostError>> = RefCell::new(None);
    let run = || match serving.serve() {
        Ok(joined) => Ok((joined, ())),
        Err(why) if why.keeps_reservation() => Err(told(&said, why, Some(asked))),
        Err(why) => match serving.has_answered() {
            Ok(answered) => Err(told(&said, why, answered.then_some(asked))),
            // It is unknown whether anything was answered: the job stays open, and counted in full.
            Err(unknown) => {
                let why = Box::new(told(&said, unknown, None));
                Err(Error::Unfinished { why, epsilon: asked.0, delta: asked.1 })
            }
        },
    };
    match reticent_payment::resume::<PaidJoining<'_, '_>>(
        budget.file,
        reserved.number,
        &reserved.hash,
        run,
    ) {
        Ok(receipt) => Ok(PaidRun::of(receipt)),
        Err(PaymentError::Job(error)) => Err(said.into_inner().unwrap_or(HostError::Job(error))),
        Err(error) => Err(error.into()),
    }
}

/// Closes the job of a run that is over, if it is open; returns why it stays open.
fn close(budget: Option<JoinBudget<'_>>, joined: &Joined) -> Option<String> {
    let (budget, reserved) = (budget?, joined.reservation.as_ref()?);
    let ReservedJob { number, hash } = reserved;
    let digest = joined.model.certificate().digest.as_deref();
    let closed = Store::open(budget.file)
        .and_then(|mut store| close_over(&mut store, *number, hash, &Ledger::new(), digest));
    closed.err().map(|error| error.to_string())
}
