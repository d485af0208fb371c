//! From a checked simulation to a model: load, deal, rehearse, calibrate, run, close every party's
//! books.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use reticent_accountant::{Ledger, Taint, Unit, View};
use reticent_admm::Progress;
use reticent_oracle::{NoiseKey, PrivacyModel, PrivateTable, Refusal};
use reticent_runtime::{self as runtime, Checkpoint, NoisePrice, RunError, Setup, Traffic};

use super::check::SimulationJob;
use super::dealing::{PERSONS_UNCOUNTED, PERSONS_UNPAID, dealt};
use super::held::HeldRun;
use super::noisy::NoisyRun;
use super::{NodeModels, PartyBooks};
use crate::budget::Budget;
use crate::error::Error;
use crate::model::{Extras, Model};
use crate::objective::Objective;
use crate::source::Source;
use crate::stage::{Run, Stage};
use crate::task::{no_pure, whole_budget};
use crate::trace::{Rounds, Trace};

/// What every guarantee between parties relies on: proofs/derived-noise.md and proofs/trust.md.
pub(super) const BETWEEN_PARTIES: [&str; 2] = [
    "HKDF and HMAC with SHA-256 and ChaCha20, by which parties draw noise from their keys, are as hard to break as they are \
     believed to be",
    "whether and when a party answers does not depend on its records",
];

/// What a certificate without a guarantee says, which is an infinite ε at every δ.
const ANY_DELTA: f64 = 1e-5;

/// Why nobody pays for a party by its number where parties are persons.
pub(super) const NO_NUMBERS: &str = "each party is a person here, and who has which number is drawn and told to nobody: pay from one budget \
     for all, or protect records, whose holders are public (`unit = \"record\"`)";

/// Why a run on entrusted sums does not go on without a party.
pub(super) const NEEDS_ALL: &str =
    "on entrusted sums a party that stays away would be missing from the answer without a word";

/// Below every ε: a party with this budget takes no part.
const NONE_AT_ALL: f64 = -1.0;

/// Who is shown the number of every round and the models of the parties after it.
type Show<'a> = dyn FnMut(u32, &[Vec<f64>]) + 'a;

/// Who is shown the run after every round, and gives nothing back.
type After<'a> = dyn FnMut(&runtime::SimulatedRun) + 'a;

/// Where a run is kept, so that it can go on after a crash.
#[derive(Clone, Copy, Debug, Default)]
pub struct CheckpointOptions<'a> {
    /// The file that is written at the end of every round.
    pub checkpoint: Option<&'a Path>,
    /// Whether to go on from it.
    pub resume: bool,
}

/// A model and how it came about.
#[derive(Debug)]
pub struct Simulated {
    /// The model; its certificate is that of the party who spent most.
    pub model: Model,
    /// The model of each party, where each has one to show: in a run between peers.
    pub nodes: NodeModels,
    /// Every party's books.
    pub parties: PartyBooks,
    /// Rounds made.
    pub rounds: u32,
    /// What was moved; `None` where that would say something of a secret sample.
    pub traffic: Option<Traffic>,
    /// Messages that were rejected, by name; none are told where the traffic is not.
    pub rejections: BTreeMap<String, u64>,
    /// The fewest parties that a masked sum was taken over, where somebody left one; such a sum has
    /// the noise of those who stayed, and is scaled to the records of all.
    pub fewest: Option<u32>,
    /// What the run came to round by round, if it was traced. One that went on from a checkpoint has
    /// a trace of what was left.
    pub trace: Option<Trace>,
}

/// A run between parties with its tables dealt and its noise calibrated, before anything was asked.
/// Whoever keeps books of several runs reserves what [`ReadySimulation::plans`] says, runs, and
/// settles.
pub struct ReadySimulation<'j> {
    job: &'j SimulationJob,
    run: Prepared<'j>,
    keep: CheckpointOptions<'j>,
    unpaid: bool,
}

/// What is ready to begin.
enum Prepared<'j> {
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
    /// What the parties have set aside, each different plan once: nobody is with two parties, so
    /// that everybody pays for one of them. Taints that are known already are in them. A party whose
    /// own budget has no room for an answer pays nothing, and is not among them.
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
            let why = "a record that is replaced may be another party's, and then two parties change, which no budget of \
                       records counts; protect users, or deal the records to a number of parties";
            return Err(Error::value("unit", Unit::Record, why));
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
            (Prepared::Held(_) | Prepared::Noisy(_), _) => Some(NEEDS_ALL),
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

    /// Runs it.
    ///
    /// # Errors
    /// If it ends on its way, or is stopped; [`Error::Spent`] says that the budget was spent
    /// nevertheless, and any other error came before anything was asked.
    pub fn run(self, run: Run<'_>) -> Result<Simulated, Error> {
        self.followed(run, None)
    }

    /// The same; `show` is shown the number of every round and, where parties have models of their
    /// own to show, as peers have, that of each after it, in the coordinates of the run. They are
    /// what was broadcast, and the certificate covers all of them (proofs/recycled.md).
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
        let begun = (parties, checkpoint, self.keep, self.unpaid);
        let mut simulated = job.perform(begun, &mut run, &mut |run| {
            let (done, _) = run.progress();
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

/// Nodes that are ready to begin, what they go on from, where they are kept, and whether somebody has
/// read without paying.
type Begun<'a> = (Box<runtime::SimulatedRun>, Option<Checkpoint>, CheckpointOptions<'a>, bool);

impl SimulationJob {
    /// Does it, in this process.
    ///
    /// # Errors
    /// If the table cannot be read under the schema, the budget does not allow the run, or it ends
    /// on its way, or is stopped; [`Error::Spent`] says that the budget was spent nevertheless.
    pub fn run<'a>(
        &self,
        source: impl Into<Source<'a>>,
        keep: CheckpointOptions<'_>,
        mut run: Run<'_>,
    ) -> Result<Simulated, Error> {
        self.open(source, keep, &mut run)?.run(run)
    }

    /// Reads a table under the schema of the run, for several that are done on it.
    ///
    /// # Errors
    /// If the table cannot be read under the schema.
    pub fn load<'a>(&self, source: impl Into<Source<'a>>) -> Result<PrivateTable, Error> {
        source.into().load(&self.reading)
    }

    /// Reads and deals the table and calibrates the noise; nothing is asked about the table yet.
    ///
    /// # Errors
    /// If the table cannot be read under the schema, or the budget does not allow the run.
    pub fn open<'a, 'j>(
        &'j self,
        source: impl Into<Source<'a>>,
        keep: CheckpointOptions<'j>,
        run: &mut Run<'_>,
    ) -> Result<ReadySimulation<'j>, Error> {
        if self.paid_by_parties {
            let why = "every party pays from a budget of its own, and here nobody is asked for it; run it with `reticent \
                       simulate`, or leave it out";
            return Err(Error::value("party_budget", "given", why));
        }
        self.open_without(source, keep, &BTreeSet::new(), run)
    }

    /// The same for whoever sees to it that every party pays from a budget of its own, without the
    /// parties that cannot.
    ///
    /// # Errors
    /// As [`SimulationJob::open`], and if the run cannot go on without a party.
    #[doc(hidden)]
    pub fn open_without<'a, 'j>(
        &'j self,
        source: impl Into<Source<'a>>,
        keep: CheckpointOptions<'j>,
        absent: &BTreeSet<u32>,
        run: &mut Run<'_>,
    ) -> Result<ReadySimulation<'j>, Error> {
        if let Some(file) = keep.checkpoint.filter(|_| self.paid_by_parties || !absent.is_empty()) {
            let why = "a run whose parties pay each from a budget of its own cannot go on after a crash: who could pay is \
                       not in a checkpoint; leave it out, or pay from one budget for all";
            return Err(Error::value("checkpoint", file.display(), why));
        }
        let all = self.held.is_some() || self.noisy.is_some();
        if let Some(party) = absent.first().filter(|_| all) {
            return Err(Error::value("absent", party, NEEDS_ALL));
        }
        let (checkpoint, key) = self.key(keep)?;
        run.enter(Stage::Reading)?;
        let table = run.load(source.into(), &self.reading)?;
        self.check_owners(&table)?;
        let unpaid = table.drafted_the_schema();
        let tables = self.dealing().deal(table, &self.opening, &key)?;
        // Books that somebody else keeps for a party do not know its table; and whoever is dealt
        // records by their labels has as many as the labels say. Nobody has paid for reading
        // either.
        let unpaid = unpaid || self.skew.reads_labels();
        let run = match (&self.held, &self.noisy) {
            (_, Some(noisy)) => {
                let kept = (keep, checkpoint);
                let noisy = self.open_noisy(noisy, (tables, &key), kept, (run, unpaid))?;
                Prepared::Noisy(Box::new(noisy))
            }
            (Some(job), _) => {
                let dealing = self.dealing();
                let kept = self.kept_noise(&tables, (&key, checkpoint.as_ref()), keep)?;
                let mut held =
                    HeldRun::open(job, tables, (&key, &self.digest, kept), (run, &dealing))?;
                if unpaid {
                    held.read_freely();
                }
                Prepared::Held(Box::new(held))
            }
            (None, None) => {
                run.enter(Stage::Calibrating)?;
                Prepared::Nodes(Box::new(self.prepare(tables, key, absent)?), checkpoint)
            }
        };
        Ok(ReadySimulation { job: self, run, keep, unpaid })
    }

    /// Whether each party ends with a model of its own to show ([`Simulated::nodes`]).
    pub fn has_node_models(&self) -> bool {
        self.entry.along_graph
    }

    /// The column that says whose row it is, or with which party where parties are protected.
    pub fn user_column(&self) -> Option<String> {
        match self.opening.unit {
            Unit::Party if self.placed => self.reading.parties_from().map(str::to_owned),
            _ => self.objective.user_column(),
        }
    }

    /// Whether a neighbour of the whole table is a neighbour of one party's (proofs/parallel.md). A
    /// record that is dealt by its place stays with its party whatever is in it; where one may be
    /// missing, records are dealt by what they say, and the others stay; and a person has a
    /// seat that does not follow from the table, which who replaces it takes over
    /// (proofs/seating.md); a party keeps its name. A record that is with the party whom it names may be with another when
    /// it is replaced.
    fn neighbours_are_one_party(&self) -> bool {
        self.split.is_some() || self.seats_persons() || self.opening.unit == Unit::Party
    }

    fn perform(
        &self,
        (mut parties, checkpoint, keep, unpaid): Begun<'_>,
        run: &mut Run<'_>,
        after: &mut After<'_>,
    ) -> Result<Simulated, Error> {
        run.enter(Stage::Running)?;
        parties.fail(self.failures)?;
        if let Some(checkpoint) = checkpoint {
            parties.resume(&checkpoint)?;
        }
        // From here on parties release: whatever ends the run, the budget is spent.
        self.rounds(&mut parties, keep, run, after)
            .and_then(|()| self.close(*parties, unpaid, after))
            .map_err(|why| self.stopped(why))
    }

    /// Every round, each kept when it is done.
    fn rounds(
        &self,
        parties: &mut runtime::SimulatedRun,
        keep: CheckpointOptions<'_>,
        run: &mut Run<'_>,
        after: &mut After<'_>,
    ) -> Result<(), Error> {
        while parties.step_after(|run| after(run))? {
            if let Some(file) = keep.checkpoint {
                parties.checkpoint()?.save(file)?;
            }
            let (done, of) = parties.progress();
            let progress = Progress { done: done.into(), of: of.into() };
            if run.tell(Stage::Iteration(progress)).is_break() {
                return Err(Refusal::Stopped.into());
            }
        }
        Ok(())
    }

    /// What each party may spend; `None` for an algorithm without noise.
    pub fn budget(&self) -> Option<Budget> {
        self.budget
    }

    /// The δ that its certificates are at.
    pub(super) fn certificate_delta(&self) -> f64 {
        self.budget.map(|budget| budget.delta()).or(self.delta).unwrap_or(ANY_DELTA)
    }

    /// What is minimised, and on which terms.
    pub(crate) fn objective(&self) -> (&Objective, PrivacyModel) {
        (&self.objective, self.opening)
    }

    /// What the mean loss of a party is multiplied by.
    pub(crate) fn loss_weight(&self) -> f64 {
        self.settings.loss_weight.unwrap_or(1.0)
    }

    /// What is made of the public description of a run between parties of so many records.
    pub(super) fn with_setup<T>(
        &self,
        records: &[u64],
        budgets: &BTreeMap<u32, f64>,
        make: impl FnOnce(Setup<'_>) -> Result<T, RunError>,
    ) -> Result<T, Error> {
        let topology = self.topology(records.len() as u32)?;
        let whole = whole_budget(self.budget, self.opening)?;
        let public = self.objective.public(records.len() as u64, whole);
        let setup = Setup {
            entry: self.entry,
            recipe: self.recipe(&public, records, &topology),
            loss: self.objective.loss.clone(),
            opening: self.opening,
            price: match (self.noise, self.budget) {
                (None, Some(budget)) => NoisePrice::Within(budget.into(), budgets.clone()),
                (noise, _) => NoisePrice::Noise(noise.unwrap_or(0.0)),
            },
            job: self.digest,
        };
        let pure = self.budget.is_some_and(|budget| budget.delta() == 0.0);
        make(setup).map_err(|why| match why {
            RunError::Calibration(_) if pure => no_pure(self.entry.name),
            why => Error::from(why),
        })
    }

    /// The run at its start, calibrated.
    fn prepare(
        &self,
        tables: Vec<PrivateTable>,
        key: NoiseKey,
        absent: &BTreeSet<u32>,
    ) -> Result<runtime::SimulatedRun, Error> {
        let opening = self.opening;
        let mut budgets = self.budgets.clone();
        budgets.extend(absent.iter().map(|&party| (party, NONE_AT_ALL)));
        // How many records a protected user has is the user's secret: no plan may depend on it.
        let count =
            |table: &PrivateTable| table.public_count(opening.unit, opening.adjacency).unwrap_or(1);
        let records: Vec<u64> = tables.iter().map(count).collect();
        let run =
            self.with_setup(&records, &budgets, |setup| runtime::prepare(setup, key, tables))?;
        let reports = run.reports();
        if !budgets.is_empty() && reports.iter().all(|own| own.ledger.total_events() == 0) {
            let most = budgets.values().copied().fold(0.0, f64::max);
            let why = "no party has room for one answer within its own epsilon; give at least one of them more";
            return Err(Error::value("budgets", most, why));
        }
        if let (Some(noise), Some(budget)) = (self.noise, self.budget) {
            let mut plans: Vec<Ledger> = Vec::new();
            for party in reports {
                if !plans.contains(&party.ledger) {
                    budget.allows(noise, &party.ledger)?;
                    plans.push(party.ledger);
                }
            }
        }
        Ok(run)
    }

    /// What is said of a run that ended after parties have released.
    pub(super) fn stopped(&self, why: Error) -> Error {
        match self.budget {
            Some(budget) => budget.spent(why, None),
            None => why,
        }
    }

    /// The model and the books of a run that is at its end.
    pub(super) fn close(
        &self,
        run: runtime::SimulatedRun,
        unpaid: bool,
        after: &mut After<'_>,
    ) -> Result<Simulated, Error> {
        let rounds = run.progress().1;
        let mut assumptions = run.protocol().assumptions();
        assumptions.extend(BETWEEN_PARTIES.map(str::to_owned));
        assumptions.push(dealt(&self.opening));
        assumptions.extend(self.objective.assumptions(self.opening.unit));
        let mut outcome = run.close_after(|run| after(run))?;
        if unpaid {
            outcome.parties.iter_mut().for_each(|party| party.ledger.taint(Taint::UnpaidRead));
        }
        let delta = self.certificate_delta();
        let name = self.entry.name;
        let parties = PartyBooks::new(name, delta, &assumptions, &outcome.parties)?;
        let model = Model::new(
            name,
            &self.objective,
            outcome.parameter,
            Extras::default(),
            parties.run()?,
        )?;
        let nodes = NodeModels::new(model.clone(), self.objective.constant, outcome.nodes);
        let (traffic, rejections) = (outcome.traffic, outcome.rejections);
        let fewest = None;
        Ok(Simulated { model, nodes, parties, rounds, traffic, rejections, fewest, trace: None })
    }

    /// The key of the run, and the checkpoint that it comes from.
    fn key(&self, keep: CheckpointOptions<'_>) -> Result<(Option<Checkpoint>, NoiseKey), Error> {
        if keep.resume {
            let file = keep.checkpoint.ok_or(Error::Missing {
                what: "the checkpoint",
                todo: "say with `checkpoint = FILE` what to resume from",
            })?;
            let checkpoint = Checkpoint::load(file)?;
            let key = checkpoint.key();
            return Ok((Some(checkpoint), key));
        }
        let key = match self.seed {
            Some(seed) => NoiseKey::seeded(seed),
            None => NoiseKey::secure().map_err(Refusal::from)?,
        };
        Ok((None, key))
    }
}
