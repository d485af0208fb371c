//! Jobs that were opened and have asked nothing yet, for whoever keeps books of several: what they
//! plan is reserved before they run, and what they did is settled after.

use reticent_accountant::Ledger;

use crate::error::Error;
use crate::simulate::{ReadySimulation, Simulated};
use crate::stage::Run;

/// A job that was opened and has asked nothing yet.
pub trait Payable: Sized {
    /// What comes of it.
    type Done;

    /// What it will do: one plan, or several of which everybody in the table pays for one.
    ///
    /// # Errors
    /// If no sum or choice of plans says what it costs somebody in the table.
    fn plans(&self) -> Result<Vec<Ledger>, Error>;

    /// What it is called in a budget, where it has a name that no other job has; otherwise who pays
    /// says what it is called.
    fn name(&self) -> Option<String> {
        None
    }

    /// What it plans was reserved as job `number` of a budget, and `hash` tells that job from one
    /// of the same number elsewhere. Only what may go on after a crash has to know.
    fn reserved(&mut self, number: u64, hash: &str) {
        let _ = (number, hash);
    }

    /// Does it.
    ///
    /// # Errors
    /// As the job itself; [`Error::Spent`] says that the budget was spent nevertheless,
    /// [`Error::Unfinished`] that the job may go on and stays open, and any other error came before
    /// anything was asked.
    fn run(self, run: Run<'_>) -> Result<Self::Done, Error>;

    /// What was done.
    fn ledgers(done: &Self::Done) -> Vec<&Ledger>;

    /// The digest of the certificate of what came of it, by which a budget knows again what it paid
    /// for; `None` where several things came of it.
    fn digest(done: &Self::Done) -> Option<&str> {
        let _ = done;
        None
    }
}

/// A run between parties that was opened and has asked nothing yet, and that each party can pay for
/// from a budget of its own.
pub trait PaidByParties: Payable {
    /// What each party will do, by its number; no events for one that takes no part.
    ///
    /// # Errors
    /// If nothing can be said of a party by its number.
    fn party_plans(&self) -> Result<Vec<Ledger>, Error>;

    /// How the share of each party follows from the table. Public, and in words of one meaning: the
    /// same ones of the same table are the same people.
    fn dealing(&self) -> String;

    /// Why the run cannot go on without one of the parties, if it cannot.
    fn needs_all(&self) -> Option<&'static str>;

    /// What was done by one party.
    fn party_ledger(done: &Self::Done, party: usize) -> Option<&Ledger>;
}

impl Payable for ReadySimulation<'_> {
    type Done = Simulated;

    fn plans(&self) -> Result<Vec<Ledger>, Error> {
        ReadySimulation::plans(self)
    }

    fn run(self, run: Run<'_>) -> Result<Simulated, Error> {
        ReadySimulation::run(self, run)
    }

    fn ledgers(done: &Simulated) -> Vec<&Ledger> {
        let of = |party| done.parties.party(party).map(|own| &own.ledger);
        (0..done.parties.len()).filter_map(of).collect()
    }

    fn digest(done: &Simulated) -> Option<&str> {
        done.model.certificate().digest.as_deref()
    }
}

impl PaidByParties for ReadySimulation<'_> {
    fn party_plans(&self) -> Result<Vec<Ledger>, Error> {
        ReadySimulation::plans_by_number(self)
    }

    fn dealing(&self) -> String {
        ReadySimulation::dealing(self)
    }

    fn needs_all(&self) -> Option<&'static str> {
        ReadySimulation::needs_all(self)
    }

    fn party_ledger(done: &Simulated, party: usize) -> Option<&Ledger> {
        done.parties.party(party).map(|own| &own.ledger)
    }
}

/// All entries of the ledgers that match none of the plans; empty for correct runs.
pub fn unplanned(plans: &[Ledger], done: Vec<&Ledger>) -> Ledger {
    let mut whole = Ledger::new();
    for ledger in done.into_iter().filter(|ledger| !plans.contains(ledger)) {
        for entry in ledger.entries() {
            whole.append_many(entry.event().clone(), entry.count());
        }
        ledger.taints().iter().for_each(|&taint| whole.taint(taint));
    }
    whole
}
