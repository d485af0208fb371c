//! A run on noisy sums with its tables: opened behind the parties' gates, then run. Proof:
//! proofs/noisy-sums.md.

use std::collections::BTreeSet;
use std::sync::Arc;

use reticent_accountant::{Ledger, Taint};
use reticent_oracle::{NoiseKey, PrivateTable, SumPlan};
use reticent_runtime::{Checkpoint, NoisyParties, PartyId, PartyReport};

use super::NodeModels;
use super::check::SimulationJob;
use super::dealing::stayed_away;
use super::kept::CheckpointOptions;
use super::noisy::{CalibratedSums, NoisyJob};
use super::run::SolvedRun;
use super::simulated::Simulated;
use super::staying::population;
use super::sum_assumptions::plan_is_sampled;
use crate::error::Error;
use crate::model::Extras;
use crate::outlook::UtilityForecast;
use crate::procedure::Hearers;
use crate::stage::{Run, Stage};
use crate::trace::Recorder;

/// A calibrated run on noisy sums with its tables, ready to begin.
pub(super) struct NoisyRun {
    calibrated: CalibratedSums,
    parties: NoisyParties,
    /// The parties that take no part. The others are numbered from 0 without them.
    absent: BTreeSet<u32>,
    unpaid: bool,
}

/// The tables of all parties, and the parties that take part in a run.
pub(super) struct PartyTables<'a> {
    pub tables: Vec<PrivateTable>,
    pub absent: &'a BTreeSet<u32>,
    /// Somebody reads a table without paying.
    pub unpaid: bool,
}

/// Where a run begins, or goes on: the key of its noise, and its checkpoint.
pub(super) struct RunOrigin<'a> {
    pub key: &'a NoiseKey,
    pub keep: CheckpointOptions<'a>,
    pub checkpoint: Option<Checkpoint>,
}

impl SimulationJob {
    /// Puts the tables of the parties that are not `absent` behind gates of their own. Law, plan and
    /// numbers are those of a run between these.
    pub(super) fn open_noisy(
        &self,
        noisy: &NoisyJob,
        PartyTables { tables, absent, unpaid }: PartyTables<'_>,
        RunOrigin { key, keep, checkpoint }: RunOrigin<'_>,
        run: &mut Run<'_>,
    ) -> Result<NoisyRun, Error> {
        run.enter(Stage::Calibrating)?;
        let whole = tables.len() as u32;
        let stay = |(party, table)| (!absent.contains(&party)).then_some(table);
        let tables: Vec<PrivateTable> = (0..).zip(tables).filter_map(stay).collect();
        let left = tables.len() as u32;
        let fewer = (left < whole).then(|| noisy.left_of(whole, left));
        let noisy = fewer.as_ref().unwrap_or(noisy);
        let opening = noisy.opening();
        let calibrated = noisy.calibrate(left, population(opening, &tables))?;
        let parties = calibrated.seat(self, tables, key)?;
        let begun = self.begun();
        if let Some(checkpoint) = checkpoint {
            parties.resume(&checkpoint, &begun)?;
        }
        if let Some(file) = keep.checkpoint {
            parties.keep(file, &begun, key);
        }
        let absent = absent.range(..whole).copied().collect();
        Ok(NoisyRun { calibrated, parties, absent, unpaid })
    }
}

impl NoisyRun {
    /// The expected utility, by the noise of the sums.
    pub fn outlook(&self) -> Option<UtilityForecast> {
        let CalibratedSums { task, public, .. } = &self.calibrated;
        Some(UtilityForecast::new(public, task.protection.budget?, task.forecasted(public)))
    }

    /// The plans that the parties' certificates count: the same for all, except for taints.
    pub fn plans(&self) -> Vec<Ledger> {
        self.reports().into_iter().map(|report| report.ledger).collect()
    }

    pub fn read_freely(&mut self) {
        self.unpaid = true;
    }

    /// The books of each party by its number among all, on the terms of all units, by which answers
    /// are divided. Those of absent parties are empty.
    fn reports(&self) -> Vec<PartyReport> {
        let mut staying = self.parties.books.reports().into_iter();
        let all = staying.len() + self.absent.len();
        let report = |party: u32| {
            let (mut ledger, answers) = match self.absent.contains(&party) {
                true => (Ledger::new(), 0),
                false => staying.next().map(|own| (own.ledger, own.answers))?,
            };
            if self.unpaid {
                ledger.taint(Taint::UnpaidRead);
            }
            Some(PartyReport { id: PartyId(party), ledger, answers, terms: self.calibrated.terms })
        };
        (0..all as u32).filter_map(report).collect()
    }

    pub fn run(mut self, job: &SimulationJob, mut run: Run<'_>) -> Result<Simulated, Error> {
        run.enter(Stage::Running)?;
        let mut recorder =
            run.trace.take().map(|tracing| Recorder::new(tracing, job.certificate_delta()));
        if let Some(recorder) = &recorder {
            self.parties.server.listen(recorder.listener());
        }
        let finished = self.perform(job, &mut run, recorder.as_mut());
        let (simulated, plan) = finished.map_err(|why| job.stopped(why))?;
        let certified = simulated.model.certificate().certified;
        let trace = recorder.map(|recorder| recorder.finish(plan.ledger(), certified));
        Ok(Simulated { trace, ..simulated })
    }

    fn perform<'r>(
        mut self,
        job: &SimulationJob,
        run: &mut Run<'r>,
        recorder: Option<&mut Recorder<'r>>,
    ) -> Result<(Simulated, Arc<SumPlan>), Error> {
        let CalibratedSums { task, public, noise, plan, .. } = &self.calibrated;
        let mut hearers = Hearers { run, recorder };
        let mut tell = |progress, at: &dyn reticent_admm::Iterate| hearers.tell(progress, at);
        let server = &mut self.parties.server;
        let outcome = task.perform(server, public, noise, &mut tell)?;
        server.finish()?;
        let fewest = server.attendance().iter().min().copied();
        let sampled = plan_is_sampled(plan.ledger());
        let (mut assumed, reports) = (job.assumed(plan.law(), sampled, false), self.reports());
        assumed.extend(stayed_away(&self.absent));
        let errors = outcome.standard_errors.as_ref();
        let extras = Extras { errors, ..Extras::default() };
        let end = SolvedRun { parameter: outcome.parameter, choice: outcome.choice, extras };
        let (model, parties) = job.conclude(&assumed, &reports, end)?;
        let nodes = NodeModels::new(model.clone(), job.objective.constant, Vec::new());
        let simulated = Simulated {
            model,
            nodes,
            parties,
            rounds: self.parties.post.rounds(),
            traffic: Some(self.parties.post.traffic()),
            rejections: self.parties.post.rejections(),
            fewest: fewest.filter(|fewest| *fewest < plan.law().parties()),
            trace: None,
        };
        Ok((simulated, Arc::clone(plan)))
    }
}
