//! A run between parties before its first question: what each party has set aside, and on whom it rests.

use std::collections::BTreeSet;

use reticent_accountant::{Ledger, Taint, Unit, View};
use reticent_runtime::{self as runtime, Checkpoint, RunProgress};

use super::check::SimulationJob;
use super::dealing::{PERSONS_UNCOUNTED, PERSONS_UNPAID};
use super::held::HeldRun;
use super::kept::CheckpointOptions;
use super::noisy_run::NoisyRun;
use super::run::{KnownParties, ReadyNodes};
use super::simulated::Simulated;
use crate::error::Error;
use crate::outlook::UtilityForecast;
use crate::stage::Run;
use crate::trace::Rounds;

/// Why nobody pays for a party by its number where parties are persons.
pub(super) const NO_NUMBERS: &str = "each party is a person here, and who has which number is drawn and told to \
                                     nobody: pay from one budget for all, or protect records, whose holders are \
                                     public (`unit = \"record\"`)";

/// Why a run on entrusted sums does not go on without a party; one on noisy sums does.
pub(super) const NEEDS_ALL: &str =
    "on entrusted sums a party that stays away would be missing from the answer without a word";

/// Why one budget of records does not pay for parties whose records a table names.
pub(super) fn two_change() -> Error {
    let why = "a record that is replaced may be another party's, and then two parties change, which no budget of \
               records counts; protect users, or deal the records to a number of parties";
    Error::value("unit", Unit::Record, why)
}

/// Who is shown the number of every round and the models of the parties after it.
type Show<'a> = dyn FnMut(u32, &[Vec<f64>]) + 'a;

/// A run between parties with its tables dealt and its noise calibrated, before anything was asked.
/// Whoever keeps books of several runs reserves what [`ReadySimulation::plans`] says, runs, and
/// settles.
pub struct ReadySimulation<'j> {
    pub(super) job: &'j SimulationJob,
    pub(super) run: Prepared<'j>,
    pub(super) keep: CheckpointOptions<'j>,
    pub(super) unpaid: bool,
    /// Who takes no part.
    pub(super) absent: BTreeSet<u32>,
}

/// What is ready to begin.
pub(super) enum Prepared<'j> {
    /// Nodes of a protocol, and the checkpoint that they go on from.
    Nodes(Box<runtime::SimulatedRun>, Option<Checkpoint>),
    /// A fit on sums that are entrusted to the server.
    Held(Box<HeldRun<'j>>),
    /// A fit on sums that parties add noise to.
    Noisy(Box<NoisyRun>),
}

impl std::fmt::Debug for ReadySimulation<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReadySimulation").field("job", self.job).finish_non_exhaustive()
    }
}

impl ReadySimulation<'_> {
    /// The plans of the parties, each different plan once: nobody is with two parties, so everybody
    /// pays for one of them. Taints that are known already are in them. A party whose own budget has
    /// no room for an answer pays nothing, and is not among them.
    ///
    /// # Errors
    /// If a neighbour of the table may differ in two parties' (proofs/parallel.md): then nobody pays
    /// for one plan alone.
    pub fn plans(&self) -> Result<Vec<Ledger>, Error> {
        let dealing = self.job.dealing();
        if dealing.placed && dealing.persons {
            return Err(Error::value("unit", Unit::User, PERSONS_UNCOUNTED));
        }
        // What is released of entrusted sums is of all rows, whoever has them.
        let pooled = matches!(self.run, Prepared::Held(_));
        if !pooled && !self.job.neighbours_are_one_party() {
            return Err(two_change());
        }
        Ok(self.party_plans())
    }

    /// The same, whatever a neighbour is: what each party says of itself.
    pub(crate) fn party_plans(&self) -> Vec<Ledger> {
        let mut plans: Vec<Ledger> = Vec::new();
        for plan in self.plan_of_each() {
            if plan.total_events() > 0 && !plans.contains(&plan) {
                plans.push(plan);
            }
        }
        plans
    }

    /// The plan of every party, in their order.
    fn plan_of_each(&self) -> Vec<Ledger> {
        let mut plans: Vec<Ledger> = match &self.run {
            Prepared::Nodes(run, _) => {
                run.reports().into_iter().map(|party| party.ledger).collect()
            }
            Prepared::Held(held) => vec![held.plan(); held.parties as usize],
            Prepared::Noisy(noisy) => noisy.plans(),
        };
        if self.unpaid {
            plans.iter_mut().for_each(|plan| plan.taint(Taint::UnpaidRead));
        }
        plans
    }

    /// The plan of every party, by its number: what each of them pays for from a budget of its own.
    /// A neighbour is then one of the party's own table, whatever others hold.
    pub(crate) fn plans_by_number(&self) -> Result<Vec<Ledger>, Error> {
        if self.job.seats_persons() {
            return Err(Error::value("party_budget", "given", NO_NUMBERS));
        }
        if self.job.dealing().persons {
            return Err(Error::value("party_budget", "given", PERSONS_UNPAID));
        }
        Ok(self.plan_of_each())
    }

    pub(crate) fn dealing(&self) -> String {
        self.job.dealing().words(&self.job.reading)
    }

    pub(crate) fn needs_all(&self) -> Option<&'static str> {
        match (&self.run, self.job.noise) {
            (Prepared::Held(_), _) => Some(NEEDS_ALL),
            // It is prepared for as many as there are.
            (Prepared::Noisy(_), _) => None,
            (_, Some(_)) => Some("noise by hand is the same for all parties"),
            _ if self.job.opening.view == View::Network => {
                Some("in this view the noise of others hides a contribution")
            }
            _ => None,
        }
    }

    /// Notes that somebody looks at the table without paying, and may choose by it: no certificate
    /// covers what comes of that.
    pub(crate) fn read_freely(&mut self) {
        self.unpaid = true;
        match &mut self.run {
            Prepared::Held(held) => held.read_freely(),
            Prepared::Noisy(noisy) => noisy.read_freely(),
            Prepared::Nodes(..) => {}
        }
    }

    /// The expected utility of the run, before anything is asked; `None` without noise, and for an
    /// algorithm that asks for more than sums, of which nothing was measured.
    pub fn outlook(&self) -> Option<UtilityForecast> {
        match &self.run {
            Prepared::Held(held) => held.outlook(),
            Prepared::Noisy(noisy) => noisy.outlook(),
            Prepared::Nodes(..) => None,
        }
    }

    /// Runs the job.
    ///
    /// # Errors
    /// If it ends on its way, or is stopped; [`Error::Spent`] says that the budget was spent
    /// nevertheless, and any other error came before anything was asked.
    pub fn run(self, run: Run<'_>) -> Result<Simulated, Error> {
        self.followed(run, None)
    }

    /// Runs as [`ReadySimulation::run`] does. `show` receives the number of every round and, if
    /// parties have models of their own, as peers do, the model of each after it, in the
    /// coordinates of the run. These were broadcast, and the certificate covers all of them
    /// (proofs/recycled.md).
    ///
    /// # Errors
    /// As [`ReadySimulation::run`].
    pub fn run_followed(self, run: Run<'_>, show: &mut Show<'_>) -> Result<Simulated, Error> {
        self.followed(run, Some(show))
    }

    fn followed(
        self,
        mut run: Run<'_>,
        mut show: Option<&mut Show<'_>>,
    ) -> Result<Simulated, Error> {
        let (job, plans) = (self.job, self.party_plans());
        let (parties, checkpoint) = match self.run {
            Prepared::Held(held) => return held.run(job, run),
            Prepared::Noisy(noisy) => return noisy.run(job, run),
            Prepared::Nodes(parties, checkpoint) => (parties, checkpoint),
        };
        let mut traced = run.trace.take().map(|tracing| {
            let rounds = Rounds::new(tracing, job.certificate_delta(), job.opening.view);
            (rounds, plans)
        });
        let known = KnownParties { unpaid: self.unpaid, absent: self.absent };
        let begun = ReadyNodes { nodes: parties, checkpoint, keep: self.keep, known };
        let mut simulated = job.perform(begun, &mut run, &mut |run| {
            let RunProgress { done, .. } = run.progress();
            if let Some(show) = show.as_mut().filter(|_| done > 0) {
                show(done, &run.protocol().node_models(run.nodes()));
            }
            if let Some((rounds, _)) = &mut traced {
                rounds.note(run);
            }
        })?;
        let certified = simulated.model.certificate().certified;
        simulated.trace = traced.map(|(rounds, plans)| rounds.finish(&plans, certified));
        Ok(simulated)
    }
}
