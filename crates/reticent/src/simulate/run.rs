//! From a checked simulation to a model: load, deal, rehearse, calibrate, run, close every party's
//! books.

use std::collections::{BTreeMap, BTreeSet};

use reticent_accountant::{Ledger, Taint, Unit};
use reticent_admm::{AutoChoice, Progress};
use reticent_oracle::{NoiseKey, PrivacyModel, PrivateTable, Refusal};
use reticent_runtime::{
    self as runtime, Checkpoint, NoisePrice, PartyReport, RunError, RunProgress, Setup,
};

use super::check::SimulationJob;
use super::dealing::{dealt, stayed_away};
use super::held::{HeldOrigin, HeldRun};
use super::kept::CheckpointOptions;
use super::noisy_run::{PartyTables, RunOrigin};
use super::ready::{NEEDS_ALL, Prepared, ReadySimulation};
use super::simulated::Simulated;
use super::{NodeModels, PartyBooks};
use crate::budget::Budget;
use crate::certificate::Certificate;
use crate::error::Error;
use crate::model::{Extras, Model};
use crate::objective::{Objective, known_column};
use crate::source::Source;
use crate::stage::{Run, Stage};
use crate::task::{no_pure, whole_budget};

/// What every guarantee between parties relies on: proofs/derived-noise.md and proofs/trust.md.
pub(super) const BETWEEN_PARTIES: [&str; 2] = [
    "HKDF and HMAC with SHA-256 and ChaCha20, by which parties draw noise from their keys, are as hard to break as \
     they are believed to be",
    "whether and when a party answers does not depend on its records",
];

/// What a certificate without a guarantee says, which is an infinite ε at every δ.
const ANY_DELTA: f64 = 1e-5;

/// Below every ε: a party with this budget takes no part.
const NONE_AT_ALL: f64 = -1.0;

/// Who is shown the run after every round, and gives nothing back.
pub(super) type After<'a> = dyn FnMut(&runtime::SimulatedRun) + 'a;

/// Nodes that are ready to begin.
pub(super) struct ReadyNodes<'a> {
    pub nodes: Box<runtime::SimulatedRun>,
    /// What they go on from.
    pub checkpoint: Option<Checkpoint>,
    /// Where they are kept.
    pub keep: CheckpointOptions<'a>,
    /// What is known of their parties.
    pub known: KnownParties,
}

/// What is known of the parties of a run before it begins.
#[derive(Default)]
pub(super) struct KnownParties {
    /// Whether somebody has read without paying.
    pub unpaid: bool,
    /// The parties that take no part.
    pub absent: BTreeSet<u32>,
}

/// What an algorithm has found, and what was asked beside it.
#[derive(Default)]
pub(super) struct SolvedRun<'a> {
    pub parameter: Vec<f64>,
    pub choice: Option<AutoChoice>,
    pub extras: Extras<'a>,
}

impl From<Vec<f64>> for SolvedRun<'_> {
    fn from(parameter: Vec<f64>) -> Self {
        SolvedRun { parameter, ..SolvedRun::default() }
    }
}

impl SimulationJob {
    /// Runs the job, in this process.
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
            let why = "every party pays from a budget of its own, and here nobody is asked for it; run it with \
                       `reticent simulate`, or leave it out";
            return Err(Error::value("party_budget", "given", why));
        }
        self.open_without(source, keep, &BTreeSet::new(), run)
    }

    /// Opens the run without the parties that cannot pay. The caller makes every other party pay
    /// from its own budget.
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
            let why = "a run whose parties pay each from a budget of its own cannot go on after a crash: who could \
                       pay is not in a checkpoint; leave it out, or pay from one budget for all";
            return Err(Error::value("checkpoint", file.display(), why));
        }
        if let Some(party) = absent.first().filter(|_| self.held.is_some()) {
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
                let origin = RunOrigin { key: &key, keep, checkpoint };
                let tables = PartyTables { tables, absent, unpaid };
                let noisy = self.open_noisy(noisy, tables, origin, run)?;
                Prepared::Noisy(Box::new(noisy))
            }
            (Some(job), _) => {
                let dealing = self.dealing();
                let kept = self.kept_noise(&tables, &key, checkpoint.as_ref(), keep)?;
                let origin = HeldOrigin { key: &key, digest: &self.digest, kept };
                let mut held = HeldRun::open(job, tables, origin, &dealing, run)?;
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
        Ok(ReadySimulation { job: self, run, keep, unpaid, absent: absent.clone() })
    }

    /// Whether each party ends with a model of its own to show ([`Simulated::nodes`]).
    pub fn has_node_models(&self) -> bool {
        self.entry.along_graph
    }

    /// The column that says whose row it is, or with which party where parties are protected.
    pub fn user_column(&self) -> Option<String> {
        match self.opening.unit {
            Unit::Party if self.placed => known_column(&self.reading, self.reading.parties_from()?),
            _ => self.objective.user_column(),
        }
    }

    /// Whether a neighbour of the whole table is a neighbour of one party's (proofs/parallel.md). A
    /// record that is dealt by its place stays with its party whatever is in it; where one may be
    /// missing, records are dealt by what they say, and the others stay; and a person has a
    /// seat that does not follow from the table, which who replaces it takes over
    /// (proofs/seating.md); a party keeps its name. A record that is with the party whom it names may be with
    /// another when it is replaced.
    pub(super) fn neighbours_are_one_party(&self) -> bool {
        self.split.is_some() || self.seats_persons() || self.opening.unit == Unit::Party
    }

    pub(super) fn perform(
        &self,
        ReadyNodes { nodes: mut parties, checkpoint, keep, known }: ReadyNodes<'_>,
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
            .and_then(|()| self.close(*parties, &known, after))
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
            let RunProgress { done, of } = parties.progress();
            let progress = Progress { done: done.into(), of: of.into() };
            if run.tell(Stage::Iteration(progress)).is_break() {
                return Err(Refusal::Stopped.into());
            }
        }
        Ok(())
    }

    /// The budget of each party; `None` for an algorithm without noise.
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
        let asked = reports.iter().filter(|own| own.ledger.total_events() > 0).count();
        let least = run.protocol().least_parties();
        if !absent.is_empty() && (1..least as usize).contains(&asked) {
            let why = format!(
                "behind masks no sum is opened of fewer than {least} parties, and {asked} take part"
            );
            return Err(Error::value("trust", opening.view, why));
        }
        if !budgets.is_empty() && asked == 0 {
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

    /// The one way from the books of all parties to the model of a run and its certificate, which is
    /// that of who spent most: with what the run relies on and what `auto` chose.
    pub(super) fn conclude(
        &self,
        assumptions: &[String],
        reports: &[PartyReport],
        SolvedRun { parameter, choice, extras }: SolvedRun<'_>,
    ) -> Result<(Model, PartyBooks), Error> {
        let (name, delta) = (self.entry.name, self.certificate_delta());
        let parties = PartyBooks::new(name, delta, assumptions, reports)?;
        let certificate = Certificate { choice, ..parties.run()? };
        let model = Model::new(name, &self.objective, parameter, extras, certificate)?;
        Ok((model, parties))
    }

    /// The model and the books of a run that is at its end.
    pub(super) fn close(
        &self,
        run: runtime::SimulatedRun,
        KnownParties { unpaid, absent }: &KnownParties,
        after: &mut After<'_>,
    ) -> Result<Simulated, Error> {
        let rounds = run.progress().of;
        let mut assumptions = run.protocol().assumptions();
        assumptions.extend(BETWEEN_PARTIES.map(str::to_owned));
        assumptions.push(dealt(&self.opening));
        assumptions.extend(self.objective.assumptions(self.opening.unit));
        assumptions.extend(stayed_away(absent));
        let mut outcome = run.close_after(|run| after(run))?;
        if *unpaid {
            outcome.parties.iter_mut().for_each(|party| party.ledger.taint(Taint::UnpaidRead));
        }
        let parameter = outcome.parameter;
        let (model, parties) = self.conclude(&assumptions, &outcome.parties, parameter.into())?;
        let nodes = NodeModels::new(model.clone(), self.objective.constant, outcome.nodes);
        let (traffic, rejections) = (outcome.traffic, outcome.rejections);
        let fewest = None;
        Ok(Simulated { model, nodes, parties, rounds, traffic, rejections, fewest, trace: None })
    }
}
