//! A run on noisy sums between parties who are elsewhere: what the lead and each party make from the
//! description that both have. The lead has no noise, no key and no books; each party has its own,
//! and its certificate follows from its own report.
//!
//! In one process it is [`noisy`](super::noisy). Proof: proofs/noisy-sums.md, between machines
//! proofs/network.md.

use std::collections::BTreeSet;
use std::sync::Arc;

use reticent_accountant::{Taint, View};
use reticent_admm::unwatched;
use reticent_oracle::{
    Digest, NoiseKey, NoisySums, PrivateTable, Rehearsal, SumCarrier, SumLaw, SumParty, SumPlan,
};
use reticent_runtime::{PartyId, PartyReport, Traffic};

use super::NodeModels;
use super::kept::CheckpointOptions;
use super::noisy::{CalibratedSums, NoisyJob};
use super::noisy_run::{PartyTables, RunOrigin};
use super::remote::RemoteJob;
use super::remote_peers::RemoteKind;
use super::run::SolvedRun;
use super::simulated::Simulated;
use super::sum_assumptions::plan_is_sampled;
use crate::certificate::Certificate;
use crate::error::Error;
use crate::model::{Extras, Model};
use crate::procedure::Hearers;
use crate::run::RunOutcome;
use crate::stage::{Run, Stage};
use crate::standard_errors::Found;

/// What a party's guarantee takes as given on a network, beside what it does in one process.
pub(super) const ON_A_NETWORK: &str = "no party's journal is put back from an older copy while its run is on: a \
                                       party that has forgotten an answer could be asked for another one in its \
                                       round";

/// The same where parties draw samples.
const SAMPLED_IN_TIME: &str =
    "how long a party takes to answer tells nobody how many of its records are in its sample";

/// The lead's run on noisy sums, before anything was asked.
#[derive(Debug)]
pub struct RemoteSums<'j> {
    job: &'j RemoteJob,
    calibrated: Arc<CalibratedSums>,
    server: NoisySums,
}

impl RemoteJob {
    /// Whom the parties trust.
    pub fn trust(&self) -> View {
        self.job.opening.view
    }

    fn noisy(&self) -> Result<&NoisyJob, Error> {
        let why = "it is entrusted to the lead, and parties add no noise";
        self.job.noisy.as_ref().ok_or_else(|| Error::value("trust", self.trust(), why))
    }

    /// The run for parties of so many units. It is kept: the noise is calibrated once.
    fn calibrated(&self, units: &[Option<u64>]) -> Result<Arc<CalibratedSums>, Error> {
        let population = self.population(units)?;
        let mut kept = self.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((of, known)) = &*kept
            && *of == population
        {
            return Ok(Arc::clone(known));
        }
        let calibrated = Arc::new(self.noisy()?.calibrate(self.parties(), population)?);
        *kept = Some((population, Arc::clone(&calibrated)));
        Ok(calibrated)
    }

    /// The queries to every party of a run on noisy sums, and the noise of each party.
    ///
    /// # Errors
    /// If the sums are entrusted to the lead, or the budget does not allow it.
    pub fn sum_plan(&self, units: &[Option<u64>]) -> Result<Arc<SumPlan>, Error> {
        Ok(Arc::clone(&self.calibrated(units)?.plan))
    }

    /// A party's table behind its own gate, with its own key and books, for its plan and nothing else.
    ///
    /// # Errors
    /// If the table cannot be summed over.
    pub fn sum_party(
        &self,
        table: PrivateTable,
        (key, number): (NoiseKey, u32),
        (run, units): (&Digest, &[Option<u64>]),
    ) -> Result<SumParty, Error> {
        let plan = self.sum_plan(units)?;
        let (loss, opening) = (Arc::clone(&self.job.objective.loss), &self.job.opening);
        Ok(SumParty::new(table, loss, opening, (key, number), (run, plan))?)
    }

    /// The lead's side: an algorithm on what `carrier` brings.
    ///
    /// # Errors
    /// If the sums are entrusted to the lead, or the budget does not allow the run.
    pub fn open_sums(
        &self,
        units: &[Option<u64>],
        carrier: Box<dyn SumCarrier>,
    ) -> Result<RemoteSums<'_>, Error> {
        let calibrated = self.calibrated(units)?;
        let CalibratedSums { terms, public, plan, .. } = &*calibrated;
        let (loss, opening) = (Arc::clone(&self.job.objective.loss), &self.job.opening);
        let mut server =
            NoisySums::new((public.shape, *terms), loss, opening, Arc::clone(plan), carrier)?;
        // Where they are private every party counts for the same share of all.
        if let Some(sizes) = units.iter().copied().collect::<Option<Vec<u64>>>() {
            server.weigh(sizes)?;
        }
        if calibrated.has_guessed_intervals() {
            server.leave_uncut();
        }
        Ok(RemoteSums { job: self, calibrated, server })
    }

    /// This run in one process on the parties' tables, with keys from a seed: for tests that
    /// compare bits.
    ///
    /// # Errors
    /// If it ends on its way.
    #[doc(hidden)]
    pub fn in_one_process(
        &self,
        tables: Vec<PrivateTable>,
        seed: u64,
        mut run: Run<'_>,
    ) -> Result<Simulated, Error> {
        if self.kind() != RemoteKind::Sums {
            return self.nodes_in_one_process(tables, seed);
        }
        let key = NoiseKey::seeded(seed);
        let keep = CheckpointOptions::default();
        let origin = RunOrigin { key: &key, keep, checkpoint: None };
        let tables = PartyTables { tables, absent: &BTreeSet::new(), unpaid: false };
        let ready = self.job.open_noisy(self.noisy()?, tables, origin, &mut run)?;
        ready.run(&self.job, run)
    }

    /// What the guarantee of each party takes as given.
    fn assumed(&self, plan: &SumPlan) -> Vec<String> {
        let sampled = plan_is_sampled(plan.ledger());
        let mut assumed = self.job.assumed(plan.law(), sampled, true);
        assumed.push(ON_A_NETWORK.to_owned());
        assumed.extend(sampled.then(|| SAMPLED_IN_TIME.to_owned()));
        assumed
    }

    /// The model of the lead with a party's own certificate: its numbers are the lead's to say, since
    /// they follow from answers that have their noise, and all else is the party's own.
    ///
    /// # Errors
    /// If the model is of another job.
    pub fn own_model(
        &self,
        model: Model,
        report: PartyReport,
        units: &[Option<u64>],
    ) -> Result<Model, Error> {
        let calibrated = self.calibrated(units)?;
        let (name, delta) = (self.job.entry.name, self.job.certificate_delta());
        let report = PartyReport { terms: calibrated.terms, ..report };
        let own = Certificate::of_party(name, delta, &self.assumed(&calibrated.plan), &report)?;
        let RunOutcome { choice, standard_errors, .. } = calibrated.rehearsed()?;
        let own = Certificate { choice, ..own };
        // What a model of this job says beside its numbers.
        let like = vec![0.0; calibrated.public.shape.len()];
        let errors = standard_errors.map(Found::without_numbers);
        let extras = Extras { errors: errors.as_ref(), ..Extras::default() };
        let like = Model::new(name, &self.job.objective, like, extras, own)?;
        like.with_numbers_of(&model)
    }
}

impl RemoteSums<'_> {
    /// Runs it. `moved` says afterwards how many rounds there were and what was moved; `seeded`
    /// whether the parties' keys are from a seed, for tests.
    ///
    /// # Errors
    /// If it ends on its way; [`Error::Spent`] says that the budget was spent nevertheless.
    pub fn run(
        self,
        mut run: Run<'_>,
        seeded: bool,
        moved: impl FnOnce() -> (u32, Traffic),
    ) -> Result<Simulated, Error> {
        run.enter(Stage::Running)?;
        let job = self.job;
        self.perform(&mut run, seeded, moved).map_err(|why| job.job.stopped(why))
    }

    fn perform(
        mut self,
        run: &mut Run<'_>,
        seeded: bool,
        moved: impl FnOnce() -> (u32, Traffic),
    ) -> Result<Simulated, Error> {
        let CalibratedSums { task, public, noise, plan, terms } = &*self.calibrated;
        let mut hearers = Hearers { run, recorder: None };
        let mut tell = |progress, at: &dyn reticent_admm::Iterate| hearers.tell(progress, at);
        let outcome = task.perform(&mut self.server, public, noise, &mut tell)?;
        self.server.finish()?;
        let mut ledger = plan.ledger().clone();
        if seeded {
            ledger.taint(Taint::SeededNoise);
        }
        // Every party has signed the same job, and so has the same plan: this is what each counts.
        let answers = u64::from(plan.rounds());
        let report = |party: u32| PartyReport {
            id: PartyId(party),
            ledger: ledger.clone(),
            answers,
            terms: *terms,
        };
        let reports: Vec<PartyReport> = (0..self.job.parties()).map(report).collect();
        let (job, assumed) = (&self.job.job, self.job.assumed(plan));
        let errors = outcome.standard_errors.as_ref();
        let extras = Extras { errors, ..Extras::default() };
        let end = SolvedRun { parameter: outcome.parameter, choice: outcome.choice, extras };
        let (model, parties) = job.conclude(&assumed, &reports, end)?;
        let nodes = NodeModels::new(model.clone(), job.objective.constant, Vec::new());
        let fewest = self.server.attendance().iter().min().copied();
        let (rounds, traffic) = moved();
        Ok(Simulated {
            model,
            nodes,
            parties,
            rounds,
            traffic: Some(traffic),
            rejections: Default::default(),
            fewest: fewest.filter(|fewest| *fewest < plan.law().parties()),
            trace: None,
        })
    }
}

impl NoisyJob {
    /// Refuses masked sums that are not proven against a server that does as it likes.
    pub(super) fn check_signed(&self, parties: u32) -> Result<(), Error> {
        match self.law_of(parties)? {
            SumLaw::Masked(members) if !members.is_complete() => {
                let why = "masked sums on a network are proven for at most 255 parties; use `trust = local`, or \
                           `trust = central`";
                Err(Error::value("trust", View::SecureAggregation, why))
            }
            _ => Ok(()),
        }
    }
}

impl CalibratedSums {
    /// What a run gives beside numbers, by the rehearsal: what `auto` has chosen, and of which
    /// coefficients there are estimates.
    fn rehearsed(&self) -> Result<RunOutcome, Error> {
        let CalibratedSums { task, terms, public, noise, plan } = self;
        let mut rehearsal = Rehearsal::of_noisy_sums(public.shape, *terms, *plan.law());
        task.perform(&mut rehearsal, public, noise, &mut unwatched)
    }
}
