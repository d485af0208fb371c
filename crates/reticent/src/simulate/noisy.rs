//! An algorithm of one table between parties who trust the server with noisy answers alone: each adds
//! its noise itself, to what is seen (`trust = local`) or behind masks (`trust =
//! secure-aggregation`).
//!
//! ```text
//! algorithm ─► server: what is summed ─► every party: entry, its integers, its noise ─► Σ
//! ```
//!
//! The algorithm is run with the noise that the sum has, and each party is counted for less of it:
//! what `auto` chooses by its signal it chooses by that of the sum. Proof: proofs/noisy-sums.md.

use std::ops::Range;
use std::sync::Arc;

use reticent_accountant::{Adjacency, Ledger, View};
use reticent_admm::{AutoChoice, ProblemFacts, unwatched};
use reticent_oracle::{
    NoiseKey, PrivacyModel, PrivateTable, Refusal, Rehearsal, Sampling, SumLaw, SumPlan, Terms,
};
use reticent_runtime::{self as runtime, NoisyParties, RunKey, SharedTerms};

use super::check::SimulationJob;
use super::held::not_sums;
use super::staying::{StayingParties, law, population, share_of};
use crate::error::Error;
use crate::job::SOME;
use crate::model::Model;
use crate::procedure::Seen;
use crate::run::{Calibrated, Noise};
use crate::task::Task;

/// In coordinates of its own `auto` takes a step where it would take so many on one table: each is a
/// round of everybody, and the noise of a budget is the same however it is cut into steps.
const STEPS_IN_ONE: u64 = 4;

/// As few steps as this are not made fewer.
const ROUNDS: u64 = 24;

/// The rounds of so many steps in coordinates of its own.
fn fewer(steps: u64) -> u64 {
    steps.div_ceil(STEPS_IN_ONE).max(steps.min(ROUNDS))
}

/// The rounds that `auto` takes in learned coordinates, with all records in each, where a run of so many
/// took those of the table and more rounds.
pub fn rounds_if_learned(model: &Model, rounds: u32) -> Option<u64> {
    let certificate = model.certificate();
    let choice = certificate.choice.as_ref().filter(|choice| !choice.learns_coordinates())?;
    let full = choice.settings.sampling.is_none_or(|sampling| sampling == Sampling::Full);
    let steps = match certificate.view {
        View::Central if model.is_constrained() => AutoChoice::MANY,
        View::Central => AutoChoice::FEW,
        _ => fewer(AutoChoice::FEW),
    };
    // One before them, for the coordinates.
    Some(steps + 1).filter(|few| full && u64::from(rounds) > *few)
}

/// Parties while there is no table yet that says how many there are.
pub(super) const SOME_PARTIES: u32 = 10;

/// A checked run on noisy sums, before it is known how many parties and records there are.
#[derive(Clone, Debug)]
pub(super) struct NoisyJob {
    task: Task,
    honest: f64,
    /// The parties that those who take part are left of, where a server may have struck the others.
    pub(super) whole: Option<u32>,
}

/// A run on noisy sums whose parties and records are counted, calibrated: it can be run on table
/// after table.
#[derive(Debug)]
#[doc(hidden)]
pub struct CalibratedSums {
    pub(super) task: Task,
    pub(super) terms: Terms,
    pub(super) public: ProblemFacts,
    pub(super) noise: Noise,
    pub(super) plan: Arc<SumPlan>,
}

impl NoisyJob {
    /// A job whose task is asked for sums, behind masks with this fraction of honest parties.
    pub(super) fn new(task: Task, honest: f64) -> Self {
        NoisyJob { task, honest, whole: None }
    }

    /// What is protected, and from whom.
    pub(super) fn opening(&self) -> &PrivacyModel {
        &self.task.protection.opening
    }

    /// Refuses what asks for more than sums, or for a sample that is not proven, before there is a
    /// table.
    pub(super) fn try_out(&self, split: Option<u32>) -> Result<(), Error> {
        let task = self.task_of(split.unwrap_or(SOME_PARTIES))?;
        let population = task.protection.opening.public_n.unwrap_or(SOME);
        let (terms, public) = (task.protection.terms(population)?, task.public(population)?);
        let Some(law) = task.between else { return Ok(()) };
        let mut rehearsal = Rehearsal::of_noisy_sums(public.shape, terms, law);
        let sampling = || {
            let given = task.settings.sampling.filter(|sampling| *sampling != Sampling::Full);
            given.map_or("default".to_owned(), |given| given.to_string())
        };
        match task.perform(&mut rehearsal, &public, &Noise::alone(1.0), &mut unwatched) {
            Err(Error::Refused(Refusal::NoSum)) => Err(not_sums(task.entry.name)),
            Err(Error::Refused(
                why @ (Refusal::SampleOfAllParties | Refusal::SampleBehindMasks),
            )) => Err(Error::value("sampling", sampling(), why.to_string())),
            // What a plan for so many records refuses, it may not refuse for the true number.
            _ => Ok(()),
        }
    }

    /// Who adds which noise between so many parties.
    pub(super) fn law_of(&self, parties: u32) -> Result<SumLaw, Error> {
        let whole = self.whole.unwrap_or(parties).max(parties);
        law(self.task.protection.opening.view, StayingParties { parties, whole }, self.honest)
    }

    /// The same for so many who are left of `whole`. Who stays away is not who is corrupt: all who may be
    /// among the whole may be among these.
    pub(super) fn left_of(&self, whole: u32, parties: u32) -> Self {
        let mut left = self.clone();
        left.whole = Some(left.whole.unwrap_or(whole).max(whole));
        let opening = &mut left.task.protection.opening;
        opening.public_n =
            opening.public_n.map(|all| share_of(all, StayingParties { parties, whole }));
        left
    }

    /// The fit between so many parties.
    fn task_of(&self, parties: u32) -> Result<Task, Error> {
        Ok(Task { between: Some(self.law_of(parties)?), ..self.task.clone() })
    }

    /// The fit, with fewer steps where each is as good as several.
    fn with_rounds(&self, parties: u32, population: u64) -> Result<Task, Error> {
        let mut task = self.task_of(parties)?;
        if task.settings.iterations.is_some() {
            return Ok(task);
        }
        let public = task.public(population)?.with_share(task.share(false));
        if let Some(choice) = task.entry.choice(&task.recipe(&public, 1.0))?
            && choice.learns_coordinates()
        {
            task.settings.iterations = choice.settings.iterations.map(fewer);
        }
        Ok(task)
    }

    pub(super) fn calibrate(&self, parties: u32, population: u64) -> Result<CalibratedSums, Error> {
        let task = self.with_rounds(parties, population)?;
        let terms = task.protection.terms(population)?;
        let Calibrated { public, noise, .. } = match (task.noise, task.protection.budget) {
            (Some(noise), budget) => task.with_noise(terms, noise, budget)?,
            (None, Some(budget)) => task.calibrate(terms, budget)?,
            (None, None) => return Err(task.not_private()),
        };
        let plan = Arc::new(task.sum_plan(terms, &public, &noise)?);
        Ok(CalibratedSums { task, terms, public, noise, plan })
    }
}

impl SimulationJob {
    /// Calibrates a run on noisy sums for tables like these, for audits: `None` for any other run.
    #[doc(hidden)]
    pub fn calibrate_sums(&self, like: &[PrivateTable]) -> Option<Result<CalibratedSums, Error>> {
        let noisy = self.noisy.as_ref()?;
        Some(noisy.calibrate(like.len() as u32, population(&self.opening, like)))
    }
}

impl CalibratedSums {
    pub(super) fn seat(
        &self,
        job: &SimulationJob,
        tables: Vec<PrivateTable>,
        key: &NoiseKey,
    ) -> Result<NoisyParties, Error> {
        let run = runtime::run_id(&job.digest, key)?;
        let (opening, shape) = (&self.task.protection.opening, self.public.shape);
        let terms = SharedTerms { opening, shape, terms: self.terms };
        let key = RunKey { key, run: &run };
        let loss = &job.objective.loss;
        let mut parties = runtime::noisy_parties(tables, loss, terms, &self.plan, key)?;
        if self.has_guessed_intervals() {
            parties.server.leave_uncut();
        }
        parties.post.fail(job.failures)?;
        Ok(parties)
    }

    /// Whether an interval is laid around sums of a private number of units: these may not be cut by a
    /// number that is no more than a guess.
    pub(super) fn has_guessed_intervals(&self) -> bool {
        let private = self.terms.adjacency() == Adjacency::AddRemove;
        self.task.standard_errors.is_some() && private
    }

    /// The plan of each party.
    pub fn plan(&self) -> &Ledger {
        self.plan.ledger()
    }

    /// The plan with `scale` times the noise.
    ///
    /// # Errors
    /// If so much noise cannot be drawn.
    pub fn plan_at(&self, scale: f64) -> Result<Ledger, Error> {
        self.task.rehearse(self.terms, &self.public, &self.noise.scaled(scale))
    }

    /// The server's view of one run, for audits: the `victims`' answers if it sees them, and
    /// otherwise the sums. `spoil` is done to every party before.
    ///
    /// # Errors
    /// If the run ends on its way.
    pub fn seen(
        &self,
        job: &SimulationJob,
        tables: Vec<PrivateTable>,
        key: &NoiseKey,
        victims: Range<u32>,
        #[cfg(reticent_seeded_bugs)] bug: Option<reticent_oracle::Bug>,
    ) -> Result<Seen, Error> {
        let NoisyParties { mut server, books, post, .. } = self.seat(job, tables, key)?;
        #[cfg(reticent_seeded_bugs)]
        if let Some(bug) = bug {
            books.spoil(bug)?;
        }
        let heard = match self.plan.law() {
            SumLaw::Local { .. } => post.overhear_answers(victims),
            SumLaw::Masked(_) => {
                let heard: Arc<std::sync::Mutex<Vec<Vec<f64>>>> = Arc::default();
                let ours = Arc::clone(&heard);
                server.listen(Box::new(move |answer, _| {
                    let mut ours = ours.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    ours.push(answer.to_vec());
                }));
                heard
            }
        };
        let outcome = self.task.perform(&mut server, &self.public, &self.noise, &mut unwatched)?;
        drop(books);
        let transcript =
            std::mem::take(&mut *heard.lock().unwrap_or_else(std::sync::PoisonError::into_inner));
        Ok(Seen { parameter: outcome.parameter, transcript })
    }
}
