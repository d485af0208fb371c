//! Jobs that were opened and have asked nothing yet, for whoever keeps books of several: what they
//! plan is reserved before they run, and what they did is settled after.

use reticent_accountant::{Ledger, Taint};

use crate::count::{Counted, ReadyCount};
use crate::error::Error;
use crate::evaluation::{Evaluated, ReadyEvaluation};
use crate::job::{Fitted, Ready};
use crate::simulate::{Keep, ReadySimulation, Simulated};
use crate::stage::Watch;

/// A job that was opened and has asked nothing yet.
pub trait Payable: Sized {
    /// What comes of it.
    type Done;

    /// What it will do: one plan, or several of which everybody in the table pays for one.
    fn plans(&self) -> Vec<Ledger>;

    /// Does it.
    ///
    /// # Errors
    /// As the job itself; [`Error::Spent`] says that the budget was spent nevertheless, and any other
    /// error came before anything was asked.
    fn run(self, watch: &mut Watch<'_>) -> Result<Self::Done, Error>;

    /// What was done.
    fn ledgers(done: &Self::Done) -> Vec<&Ledger>;
}

impl Payable for Ready<'_> {
    type Done = Fitted;

    fn plans(&self) -> Vec<Ledger> {
        self.plan().cloned().into_iter().map(|plan| tainted(plan, self.taints())).collect()
    }

    fn run(self, watch: &mut Watch<'_>) -> Result<Fitted, Error> {
        Ready::run(self, watch)
    }

    fn ledgers(done: &Fitted) -> Vec<&Ledger> {
        vec![&done.model.certificate().ledger]
    }
}

impl Payable for ReadyCount<'_> {
    type Done = Counted;

    fn plans(&self) -> Vec<Ledger> {
        vec![tainted(self.plan().clone(), self.taints())]
    }

    fn run(self, watch: &mut Watch<'_>) -> Result<Counted, Error> {
        ReadyCount::run(self, watch)
    }

    fn ledgers(done: &Counted) -> Vec<&Ledger> {
        vec![&done.certificate.ledger]
    }
}

impl Payable for ReadyEvaluation {
    type Done = Evaluated;

    fn plans(&self) -> Vec<Ledger> {
        vec![tainted(self.plan().clone(), self.taints())]
    }

    fn run(self, _: &mut Watch<'_>) -> Result<Evaluated, Error> {
        ReadyEvaluation::run(self)
    }

    fn ledgers(done: &Evaluated) -> Vec<&Ledger> {
        vec![&done.certificate.ledger]
    }
}

/// A run between parties, and where it is kept.
#[derive(Debug)]
pub struct Between<'j>(pub ReadySimulation<'j>, pub Keep<'j>);

impl Payable for Between<'_> {
    type Done = Simulated;

    fn plans(&self) -> Vec<Ledger> {
        self.0.plans()
    }

    fn run(self, watch: &mut Watch<'_>) -> Result<Simulated, Error> {
        self.0.run(self.1, watch)
    }

    fn ledgers(done: &Simulated) -> Vec<&Ledger> {
        let of = |party| done.parties.party(party).map(|own| &own.ledger);
        (0..done.parties.len()).filter_map(of).collect()
    }
}

/// What was done that is not just one of the plans, all of it; nothing, as it should be.
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

fn tainted(mut plan: Ledger, taints: &[Taint]) -> Ledger {
    taints.iter().for_each(|&taint| plan.taint(taint));
    plan
}
