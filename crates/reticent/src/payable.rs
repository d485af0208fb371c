//! Jobs that were opened and have asked nothing yet, for whoever keeps books of several: what they
//! plan is reserved before they run, and what they did is settled after.

use reticent_accountant::{Ledger, Taint};

use crate::count::{Counted, ReadyCount};
use crate::error::Error;
use crate::evaluation::{Evaluated, ReadyEvaluation};
use crate::job::{Fitted, Ready};
use crate::simulate::{CheckpointOptions, ReadySimulation, Simulated};
use crate::stage::Watch;
use crate::trace::{Trace, Tracing};

/// A job that was opened and has asked nothing yet.
pub trait Payable: Sized {
    /// What comes of it.
    type Done;

    /// What it will do: one plan, or several of which everybody in the table pays for one.
    ///
    /// # Errors
    /// If no sum or choice of plans says what it costs somebody in the table.
    fn plans(&self) -> Result<Vec<Ledger>, Error>;

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
    fn run(self, watch: &mut Watch<'_>) -> Result<Self::Done, Error>;

    /// What was done.
    fn ledgers(done: &Self::Done) -> Vec<&Ledger>;

    /// The digest of the certificate of what came of it, by which a budget knows again what it paid
    /// for; `None` where several things came of it.
    fn digest(done: &Self::Done) -> Option<&str> {
        let _ = done;
        None
    }
}

/// A fit, and how it is traced.
#[derive(Debug)]
pub struct Fitting<'j>(pub Ready<'j>, pub Option<Tracing<'j>>);

impl Payable for Fitting<'_> {
    type Done = (Fitted, Option<Trace>);

    fn plans(&self) -> Result<Vec<Ledger>, Error> {
        let Fitting(ready, _) = self;
        Ok(ready.plan().cloned().into_iter().map(|plan| tainted(plan, ready.taints())).collect())
    }

    fn run(self, watch: &mut Watch<'_>) -> Result<Self::Done, Error> {
        let Fitting(ready, tracing) = self;
        match tracing {
            None => Ok((ready.run(watch)?, None)),
            Some(tracing) => {
                ready.run_traced(tracing, watch).map(|(fitted, trace)| (fitted, Some(trace)))
            }
        }
    }

    fn ledgers((fitted, _): &Self::Done) -> Vec<&Ledger> {
        vec![&fitted.model.certificate().ledger]
    }

    fn digest((fitted, _): &Self::Done) -> Option<&str> {
        fitted.model.certificate().digest.as_deref()
    }
}

impl Payable for ReadyCount<'_> {
    type Done = Counted;

    fn plans(&self) -> Result<Vec<Ledger>, Error> {
        Ok(vec![tainted(self.plan().clone(), self.taints())])
    }

    fn run(self, watch: &mut Watch<'_>) -> Result<Counted, Error> {
        ReadyCount::run(self, watch)
    }

    fn ledgers(done: &Counted) -> Vec<&Ledger> {
        vec![&done.certificate.ledger]
    }

    fn digest(done: &Counted) -> Option<&str> {
        done.certificate.digest.as_deref()
    }
}

impl Payable for ReadyEvaluation {
    type Done = Evaluated;

    fn plans(&self) -> Result<Vec<Ledger>, Error> {
        Ok(vec![tainted(self.plan().clone(), self.taints())])
    }

    fn run(self, _: &mut Watch<'_>) -> Result<Evaluated, Error> {
        ReadyEvaluation::run(self)
    }

    fn ledgers(done: &Evaluated) -> Vec<&Ledger> {
        vec![&done.certificate.ledger]
    }

    fn digest(done: &Evaluated) -> Option<&str> {
        done.certificate.digest.as_deref()
    }
}

/// A run between parties, and where it is kept.
#[derive(Debug)]
pub struct Between<'j>(pub ReadySimulation<'j>, pub CheckpointOptions<'j>, pub Option<Tracing<'j>>);

impl Payable for Between<'_> {
    type Done = (Simulated, Option<Trace>);

    fn plans(&self) -> Result<Vec<Ledger>, Error> {
        self.0.plans()
    }

    fn run(self, watch: &mut Watch<'_>) -> Result<Self::Done, Error> {
        let Between(ready, keep, tracing) = self;
        match tracing {
            None => Ok((ready.run(keep, watch)?, None)),
            Some(tracing) => {
                ready.run_traced(keep, tracing, watch).map(|(done, trace)| (done, Some(trace)))
            }
        }
    }

    fn ledgers((done, _): &Self::Done) -> Vec<&Ledger> {
        let of = |party| done.parties.party(party).map(|own| &own.ledger);
        (0..done.parties.len()).filter_map(of).collect()
    }

    fn digest((done, _): &Self::Done) -> Option<&str> {
        done.model.certificate().digest.as_deref()
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
