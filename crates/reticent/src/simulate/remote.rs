//! A run between parties who are elsewhere, each on a machine of its own: what the party and the lead
//! make from the description that both have. Of an algorithm of one table on sums that are entrusted
//! to the lead, as [`held`](super::held) has it in one process; where parties add the noise
//! themselves it is in `remote_sums.rs`.
//!
//! Proof: proofs/holders.md.

use std::sync::{Arc, Mutex};

use reticent_accountant::{Adjacency, Ledger, Unit};
use reticent_noise::{Hasher, NoiseKey};
use reticent_oracle::{
    Digest, Entropy, EntrustKey, EntrustedTable, HeldRows, PrivacyModel, PrivateTable, Refusal,
};
use reticent_runtime::{Agreement, Failures, Traffic};

use super::check::{SimulationJob, find};
use super::dealing::dealt;
use super::held::{EntrustedEnd, held_by, is_held};
use super::noisy::CalibratedSums;
use super::remaining::RemainingParties;
use super::remote_peers::{LEAD_TRUSTED, RemoteKind, kind_of};
use super::simulated::Simulated;
use super::simulation::Simulation;
use super::spec::{Parties, SimulationSpec, text};
use super::staying::{StayingParties, share_of};
use super::sum_assumptions::plan_is_sampled;
use super::usual::BEST;
use crate::budget::Budget;
use crate::error::Error;
use crate::job::{Job, Ready};
use crate::source::Source;
use crate::stage::Run;

/// So many messages between nodes travel together at most.
pub const MOST_TOGETHER: usize = 16;

/// What the guarantee takes as given where the lead draws a secret sample: a party adds up who is drawn,
/// and no more.
const DRAWN_IN_TIME: &str =
    "how long a party takes to answer tells nobody how many of its records the lead has drawn";

/// The same of the signatures that bind the run and the key that sums are closed for.
const SIGNED_FOR: &str = "Ed25519, by which members sign the run and the key that sums are closed for, is as hard \
                          to break as it is believed to be";

/// A checked run between this many parties, without a table.
#[derive(Debug)]
pub struct RemoteJob {
    pub(super) job: SimulationJob,
    spec: SimulationSpec,
    digest: Digest,
    parties: u32,
    /// What was calibrated for so many units.
    pub(super) kept: Mutex<Option<(u64, Arc<CalibratedSums>)>>,
    /// What was agreed on for parties of these units.
    pub(super) agreement: Mutex<Option<(Vec<Option<u64>>, Agreement)>>,
}

/// The lead's run, before anything was asked.
#[derive(Debug)]
pub struct RemoteRun<'j> {
    job: &'j SimulationJob,
    ready: Ready<'j>,
    parties: u32,
}

impl SimulationSpec {
    /// Checks it as a run between `parties` on machines of their own.
    ///
    /// # Errors
    /// If something is missing, cannot be, is not proven to be private in this combination, or is
    /// not run on a network yet.
    pub fn remote(&self, parties: u32) -> Result<RemoteJob, Error> {
        self.remote_of(parties, None)
    }

    /// The same, of a roster or of those who are left of it.
    fn remote_of(&self, parties: u32, left: Option<&RemainingParties>) -> Result<RemoteJob, Error> {
        self.on_a_network()?;
        let digest = self.resolved()?;
        let mut spec = self.clone();
        spec.job.algorithm.get_or_insert_with(|| BEST.to_owned());
        let own = Simulation { split: Some(parties), digest: Some(digest), ..spec.simulation()? };
        let own = left.map_or(Ok(own.clone()), |left| left.of(own))?;
        let is_held = is_held(own.entry());
        if own.problem.schema().user().is_some() && own.guarantee.unit != Some(Unit::Record) {
            let why = "a person may have records with several parties, and nobody could count them as one; say `unit = \
                       \"record\"`, and protect records";
            return Err(Error::value("unit", Unit::User, why));
        }
        if own.guarantee.unit == Some(Unit::Party) {
            let why = "on a network a whole party is protected as one person: say `unit = \"user\"`, with walk, \
                       federated, dp-admm or an algorithm of peers; the algorithms of one table protect records \
                       there";
            return Err(Error::value("unit", Unit::Party, why));
        }
        let own = match own.guarantee.unit {
            // Each party is one person, with a table of its own.
            Some(Unit::User) if !is_held => Simulation { split: None, owners: true, ..own },
            _ => own,
        };
        let job = own.check()?;
        if is_held && job.held.is_none() && job.noisy.is_none() || job.budget.is_none() {
            return Err(Error::value("noise", 0, "a run on a network has noise and a budget"));
        }
        if !is_held {
            job.check_nodes(parties)?;
        }
        if let Some(noisy) = &job.noisy {
            noisy.check_signed(parties)?;
        }
        let (kept, agreement) = (Mutex::new(None), Mutex::new(None));
        Ok(RemoteJob { job, spec: self.clone(), digest, parties, kept, agreement })
    }

    /// Refuses what is for a run in one process, and what no network runs yet.
    fn on_a_network(&self) -> Result<(), Error> {
        let entry = find(self.job.algorithm.as_deref().unwrap_or(BEST))?;
        if kind_of(entry).is_none() {
            let why = "on a network the algorithms of one table run (auto, dp-sgd, ssadmm, mpadmm, sadmm, vradmm, \
                       dp-cd), those of peers (walk, r-admm, mr-admm, dvp, m-admm), and federated, dp-admm and \
                       dp-admm-exact; `reticent simulate` runs this one in one process";
            return Err(Error::value("algorithm", entry.name, why));
        }
        if self.parties.trust.is_none() {
            let why = "everybody must agree on who may see what; say `trust = local`, `secure-aggregation` or \
                       `central` in [parties], or `network` for the walk";
            return Err(Error::value("trust", "none", why));
        }
        let Parties { split, users_from, parties_from, skew, seed, .. } = &self.parties;
        let dealt = [
            ("split", split.map(|split| split.to_string())),
            ("users_from", users_from.clone()),
            ("parties_from", parties_from.clone()),
            ("skew", skew.clone()),
            // Of a graph that is drawn it is public, and everybody's.
            ("seed", seed.filter(|_| !entry.along_graph).map(|seed| seed.to_string())),
        ];
        if let Some((name, Some(given))) = dealt.into_iter().find(|(_, given)| given.is_some()) {
            let why = "the parties of a network are those of the roster, each with its own table; leave it out";
            return Err(Error::value(name, given, why));
        }
        if self.parties.budget.is_some() {
            let why = "on a network each party pays from the budget that its own party file names; leave it out";
            return Err(Error::value("budget", "given", why));
        }
        if self.failures != Failures::default() {
            let why = "failures are made up in one process alone; leave [failures] out";
            return Err(Error::value("failures", "given", why));
        }
        match self.job.guarantee.seed {
            Some(seed) => {
                let why = "whoever knows the seed can take the noise away: keys of a network come from the operating \
                           system; leave it out";
                Err(Error::value("seed", seed, why))
            }
            None => Ok(()),
        }
    }

    /// Stands for all that is asked, and for what is in the files that say it; no path is in it.
    fn resolved(&self) -> Result<Digest, Error> {
        let mut hasher = Hasher::new("reticent network job");
        hasher.field(text(&self.job.without_paths())?.as_bytes());
        let mut parties = self.parties.clone();
        // What is in the file is hashed below; where it lies is each member's own.
        if let Some(graph) = parties.topology.as_mut().filter(|graph| graph.starts_with("file:")) {
            "file:".clone_into(graph);
        }
        hasher.field(toml::to_string(&parties).map_err(Error::spec_form)?.as_bytes());
        let files = self.described_in();
        hasher.number(files.len() as u64);
        for file in files {
            let said = std::fs::read(&file);
            hasher.field(&said.map_err(|error| Error::read(&file, "a file of the job", &error))?);
        }
        Ok(hasher.finish())
    }
}

impl RemoteJob {
    /// Stands for the resolved job: equal for all who are asked the same.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// How many parties there are.
    pub fn parties(&self) -> u32 {
        self.parties
    }

    /// This run between some of its parties, by their numbers among all, with noise and plan computed again
    /// for them, and a graph that is made for them, or is what is left of one that is given. The others were
    /// struck by a lead that may not be honest, so that all who may be corrupt among all of them are counted
    /// among these.
    ///
    /// # Errors
    /// If these cannot run it, or a file of the job has changed since.
    pub fn among(&self, seats: &[u32]) -> Result<Self, Error> {
        let left = RemainingParties::new(self.parties, seats)?;
        let parties = seats.len() as u32;
        if self.spec.resolved()? != self.digest {
            let why = "a file that the job names has changed since it was read; leave it as it is";
            return Err(Error::value("schema", "changed", why));
        }
        let mut spec = self.spec.clone();
        // The number is of all parties.
        let share = |all: u64| share_of(all, StayingParties { parties, whole: self.parties });
        spec.job.guarantee.public_n = match self.tells_units() {
            true => spec.job.guarantee.public_n,
            false => self.job.opening.public_n.map(share),
        };
        let mut job = spec.remote_of(parties, Some(&left))?;
        (job.digest, job.spec) = (self.digest, self.spec.clone());
        if let Some(noisy) = &mut job.job.noisy {
            noisy.whole = Some(self.parties);
            noisy.law_of(parties)?;
        }
        Ok(job)
    }

    /// The budget of each party.
    pub fn budget(&self) -> Option<Budget> {
        self.job.budget
    }

    /// The algorithm.
    pub fn algorithm(&self) -> &'static str {
        self.job.entry.name
    }

    /// No message of a round is longer, whatever the units of a party.
    pub fn longest(&self, units: u64) -> usize {
        if self.kind() != RemoteKind::Sums {
            return MOST_TOGETHER * self.longest_between() + (1 << 16);
        }
        let width = self.job.objective.schema.width() as u64 + 1;
        let outputs = self.job.objective.loss.outputs() as u64;
        let numbers = (width * width).max(width * outputs * 2).max(1 << 14);
        let signatures = 256 * u64::from(self.parties);
        usize::try_from(16 * numbers + units / 8 + signatures + (1 << 16)).unwrap_or(usize::MAX)
    }

    /// Reads a party's table.
    ///
    /// # Errors
    /// If it cannot be read under the schema, or the schema was drafted from it.
    pub fn load<'a>(
        &self,
        source: impl Into<Source<'a>>,
        run: &mut Run<'_>,
    ) -> Result<PrivateTable, Error> {
        let table = run.load(source.into(), &self.job.objective.schema)?;
        match table.drafted_the_schema() {
            false => Ok(table),
            true => {
                let why = "it was drafted from this very table, so that everybody who has it has read the table \
                           without paying; write one from public knowledge";
                Err(Error::value("schema", "a draft", why))
            }
        }
    }

    /// The number of a party's records where it is public; `None` where it is not.
    pub fn public_units(&self, table: &PrivateTable) -> Option<u64> {
        table.public_count(self.job.opening.unit, self.job.opening.adjacency)
    }

    /// Whether the number of a party's records is public, and so part of what all agree on.
    pub fn tells_units(&self) -> bool {
        let PrivacyModel { unit, adjacency, .. } = self.job.opening;
        (unit, adjacency) == (Unit::Record, Adjacency::ReplaceOne)
    }

    /// The planned ledger of every party, from public numbers only: the `units` of each party, if
    /// they are public.
    ///
    /// # Errors
    /// If the budget does not allow it.
    pub fn plan(&self, units: &[Option<u64>]) -> Result<Ledger, Error> {
        if self.job.noisy.is_some() {
            return Ok(self.sum_plan(units)?.ledger().clone());
        }
        let job = self.held()?;
        let terms = job.procedure().first().protection.terms(self.population(units)?)?;
        let planned = job.planned(terms)?;
        planned.plan.clone().ok_or_else(|| Error::value("noise", 0, "a run on a network has noise"))
    }

    /// The number of units of all parties that answers are divided by.
    pub(super) fn population(&self, units: &[Option<u64>]) -> Result<u64, Error> {
        let known = units.iter().try_fold(0_u64, |sum, own| sum.checked_add((*own)?));
        let population = match self.tells_units() {
            true => known.filter(|_| units.len() == self.parties as usize),
            false => self.job.opening.public_n,
        };
        population.ok_or(Error::Missing { what: "a number of records", todo: "say it" })
    }

    /// A party's table for the lead that has `to`, and the greeting for it.
    ///
    /// # Errors
    /// If the table cannot be summed over, or the key is none.
    pub fn entrust(
        &self,
        table: PrivateTable,
        (key, number): (&NoiseKey, u32),
        to: &EntrustKey,
    ) -> Result<(EntrustedTable, Vec<u8>), Error> {
        let loss = self.job.objective.loss.clone();
        Ok(EntrustedTable::new(table, loss, &self.job.opening, (key, number), to)?)
    }

    /// How many features rows have, and whether there is an intercept: for
    /// [`SumAggregator::admit`](reticent_oracle::SumAggregator::admit).
    pub fn shape(&self) -> (usize, bool) {
        (self.job.objective.schema.width(), self.job.opening.intercept != 0.0)
    }

    /// Opens the lead's gate on the parties' rows. What the plan is must follow from the public
    /// numbers that the parties have reserved by.
    ///
    /// # Errors
    /// If the rows are not those that were agreed on, or no guarantee could be given.
    pub fn open<'j>(
        &'j self,
        rows: HeldRows,
        units: &[Option<u64>],
        entropy: Entropy,
        run: &mut Run<'_>,
    ) -> Result<RemoteRun<'j>, Error> {
        let (plan, mut by) =
            (self.plan(units)?, held_by(self.parties, vec![dealt(&self.job.opening)]));
        by.trusted.extend([LEAD_TRUSTED, SIGNED_FOR].map(str::to_owned));
        by.trusted.extend(plan_is_sampled(&plan).then(|| DRAWN_IN_TIME.to_owned()));
        let ready = self.held()?.open_held(rows, by, Some(entropy), run)?;
        if ready.plan() != Some(&plan) {
            let why = "the tables of the parties have other numbers of records than they said";
            return Err(Error::value("records", "other", why));
        }
        Ok(RemoteRun { job: &self.job, ready, parties: self.parties })
    }

    fn held(&self) -> Result<&Job, Error> {
        self.job.held.as_ref().ok_or_else(|| Refusal::NoSum.into())
    }
}

impl RemoteRun<'_> {
    /// Whether no certificate could be given, as far as that is known before anything is asked.
    pub fn is_tainted(&self) -> bool {
        !self.ready.taints().is_empty()
    }

    /// Runs it. `moved` says afterwards how many rounds there were and what was moved.
    ///
    /// # Errors
    /// If it ends on its way; [`Error::Spent`] says that the budget was spent nevertheless.
    pub fn run(
        self,
        run: Run<'_>,
        moved: impl FnOnce() -> (u32, Traffic),
    ) -> Result<Simulated, Error> {
        let RemoteRun { job, ready, parties } = self;
        let fitted = ready.run(run)?;
        let (rounds, traffic) = moved();
        let end = EntrustedEnd { fitted, rounds, traffic };
        job.entrusted(end, parties).map_err(|why| job.stopped(why))
    }
}
