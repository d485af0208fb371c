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

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use reticent_accountant::{Adjacency, Ledger, Taint, Unit, View};
use reticent_admm::{AutoChoice, ProblemFacts, fraction, unwatched};
use reticent_oracle::{
    Digest, NoiseKey, PrivacyModel, PrivateTable, Refusal, Rehearsal, Sampling, SumLaw, SumPlan,
    Terms,
};
use reticent_runtime::{
    self as runtime, Checkpoint, Failures, NoisyParties, PartyId, PartyReport, ProtocolEntry,
};

use super::NodeModels;
use super::check::{SimulationJob, no_needless_graph};
use super::dealing::{dealt, placed_persons, stayed_away};
use super::held::{asks_for_more, check_public_sizes, not_sums};
use super::kept::CheckpointOptions;
use super::run::{BETWEEN_PARTIES, SolvedRun};
use super::simulated::Simulated;
use super::simulation::Simulation;
use crate::error::Error;
use crate::job::SOME;
use crate::map;
use crate::model::{Extras, Model};
use crate::outlook::UtilityForecast;
use crate::procedure::{Hearers, Seen};
use crate::run::{Calibrated, Noise};
use crate::stage::{Run, Stage};
use crate::task::Task;
use crate::trace::Recorder;

/// The default fraction of all parties that is assumed honest behind masks.
pub(super) const HONEST: f64 = 0.8;

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

/// The same with its tables, ready to begin.
pub(super) struct NoisyRun {
    calibrated: CalibratedSums,
    parties: NoisyParties,
    /// Who takes no part. The others are counted from 0 without them.
    absent: BTreeSet<u32>,
    unpaid: bool,
}

impl Simulation {
    /// Checks a run of an algorithm of one table on noisy sums.
    pub(super) fn check_noisy(
        mut self,
        digest: Digest,
        view: View,
    ) -> Result<SimulationJob, Error> {
        let honest = self.settings.honest.take();
        self.check_unused(view, honest)?;
        check_public_sizes(&self.guarantee, self.split)?;
        let honest = fraction("honest", honest.unwrap_or(HONEST))?;
        let (job, task) = self.of_one_table(view, digest)?;
        // No other trust would help what asks for more than sums.
        let more = |why| if asks_for_more(&task) { not_sums(job.entry.name) } else { why };
        needs_server(job.entry, view)
            .and_then(|()| map::offered(&task.cell(false)))
            .map_err(more)?;
        let noisy = NoisyJob { task, honest, whole: None };
        noisy.try_out(job.split)?;
        Ok(SimulationJob { noisy: Some(noisy), ..job })
    }

    /// Refuses what is said of a run that no run on noisy sums has.
    fn check_unused(&self, view: View, honest: Option<f64>) -> Result<(), Error> {
        self.check_skew()?;
        no_needless_graph(self.entry(), self.topology.as_deref())?;
        if let Some(honest) = honest.filter(|_| view == View::Local) {
            let why = "it is for `trust = secure-aggregation`; where every answer is seen nobody else's noise counts; leave it out";
            return Err(Error::value("honest", honest, why));
        }
        if self.settings.as_published == Some(true) {
            let why = "what papers claim of one table is not run between parties; leave it out";
            return Err(Error::value("as_published", true, why));
        }
        if self.noise == Some(0.0) {
            let why = "without noise there is nothing between a party's records and the server; give some, or use `reticent \
                       fit` on one table";
            return Err(Error::value("noise", 0, why));
        }
        check_failures(&self.failures, view)?;
        match self.budgets.iter().next() {
            None => Ok(()),
            Some((party, _)) => {
                let why = "each party adds the same part of the noise of every sum, and is counted for the same; give one epsilon \
                           for all, or use `algorithm = federated`";
                Err(Error::value("budgets", party, why))
            }
        }
    }
}

/// Refuses what peers have nobody to ask for.
fn needs_server(entry: &ProtocolEntry, view: View) -> Result<(), Error> {
    if view != View::Network {
        return Ok(());
    }
    let why = format!(
        "{} asks a server, which peers have none of; use local, secure-aggregation or central, or `algorithm = r-admm`",
        entry.name
    );
    Err(Error::value("trust", view, why))
}

/// Refuses what may not, or cannot, go wrong in a run on noisy sums.
fn check_failures(failures: &Failures, view: View) -> Result<(), Error> {
    let Failures { delay, byzantine, restart, .. } = *failures;
    let why = match view {
        _ if *failures == Failures::default() => return Ok(()),
        View::SecureAggregation if delay > 0.0 => {
            "a message that comes a round late is lost here, because its sum is over; say `before` or `after`"
        }
        View::SecureAggregation if byzantine > 0.0 => {
            "nobody sees how large a masked vector is; leave it out, or use `algorithm = federated`"
        }
        View::SecureAggregation if restart > 0.0 => {
            "a run on sums goes on after a crash by itself, from a checkpoint; leave it out"
        }
        View::SecureAggregation => return Ok(failures.check()?),
        _ => {
            "where every answer is seen a run on sums ends where a party does: a party that stays away would be missing \
             from the model without a word; leave it out, or use secure-aggregation, or `algorithm = federated`"
        }
    };
    Err(Error::value("fail", "given", why))
}

/// How many parties stay.
#[derive(Clone, Copy, Debug)]
pub(super) struct Staying {
    pub parties: u32,
    /// Of how many.
    pub whole: u32,
}

/// Who adds which noise between so many parties.
pub(super) fn law(view: View, staying: Staying, honest: f64) -> Result<SumLaw, Error> {
    let law = match view {
        View::SecureAggregation => SumLaw::masked_of(staying.whole, staying.parties, honest),
        _ => SumLaw::local(staying.parties),
    };
    law.map_err(|why| Error::value("trust", view, why.to_string()))
}

impl NoisyJob {
    /// Refuses what asks for more than sums, or for a sample that is not proven, before there is a
    /// table.
    fn try_out(&self, split: Option<u32>) -> Result<(), Error> {
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
        law(self.task.protection.opening.view, Staying { parties, whole }, self.honest)
    }

    /// The same for so many who are left of `whole`. Who stays away is not who is corrupt: all who may be
    /// among the whole may be among these.
    fn left_of(&self, whole: u32, parties: u32) -> Self {
        let mut left = self.clone();
        left.whole = Some(left.whole.unwrap_or(whole).max(whole));
        let opening = &mut left.task.protection.opening;
        opening.public_n = opening.public_n.map(|all| share_of(all, Staying { parties, whole }));
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

/// What those who stay have of the public number of units of all: where their own numbers are private
/// each counts for the same share.
pub(super) fn share_of(all: u64, Staying { parties, whole }: Staying) -> u64 {
    let own = u128::from(all) * u128::from(parties) / u128::from(whole.max(1));
    u64::try_from(own).unwrap_or(all).max(1)
}

/// The number of units of all parties that answers are divided by. Under replace-one it is public.
pub(super) fn population(opening: &PrivacyModel, tables: &[PrivateTable]) -> u64 {
    match (opening.unit, opening.adjacency) {
        (_, Adjacency::AddRemove) => opening.public_n.unwrap_or(0),
        (Unit::Party, _) => tables.len() as u64,
        (Unit::User, adjacency) => {
            tables.iter().filter_map(|table| table.persons_of_party(adjacency)).sum()
        }
        (unit, adjacency) => {
            tables.iter().filter_map(|table| table.public_count(unit, adjacency)).sum()
        }
    }
}

impl SimulationJob {
    /// Puts the tables of the parties that are not `absent` behind gates of their own. Law, plan and
    /// numbers are those of a run between these.
    pub(super) fn open_noisy(
        &self,
        noisy: &NoisyJob,
        (tables, key, absent): (Vec<PrivateTable>, &NoiseKey, &BTreeSet<u32>),
        (keep, checkpoint): (CheckpointOptions<'_>, Option<Checkpoint>),
        (run, unpaid): (&mut Run<'_>, bool),
    ) -> Result<NoisyRun, Error> {
        run.enter(Stage::Calibrating)?;
        let whole = tables.len() as u32;
        let stay = |(party, table)| (!absent.contains(&party)).then_some(table);
        let tables: Vec<PrivateTable> = (0..).zip(tables).filter_map(stay).collect();
        let left = tables.len() as u32;
        let fewer = (left < whole).then(|| noisy.left_of(whole, left));
        let noisy = fewer.as_ref().unwrap_or(noisy);
        let opening = &noisy.task.protection.opening;
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

    /// Calibrates a run on noisy sums for tables like these, for audits: `None` for any other run.
    #[doc(hidden)]
    pub fn calibrate_sums(&self, like: &[PrivateTable]) -> Option<Result<CalibratedSums, Error>> {
        let noisy = self.noisy.as_ref()?;
        Some(noisy.calibrate(like.len() as u32, population(&self.opening, like)))
    }

    /// What the guarantee of each party takes as given; `signed` where members know each other's keys
    /// by signatures and sum those that all have agreed on or nobody, so that nothing rests on the server.
    pub(super) fn assumed(&self, law: &SumLaw, sampled: bool, signed: bool) -> Vec<String> {
        let persons = self.dealing().persons;
        let conduct = SumConduct { sampled, signed, persons };
        let mut assumed = assumed_of_sums(law, &self.opening, conduct);
        assumed.extend(self.objective.assumptions(self.opening.unit));
        assumed
    }
}

/// How noisy sums are asked for, as far as a guarantee says it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SumConduct {
    /// Of a secret sample of each party's records.
    pub sampled: bool,
    /// Members know each other's keys by signatures.
    pub signed: bool,
    /// Parties may have several persons each, who are protected.
    pub persons: bool,
}

/// What a guarantee of noisy sums takes as given, whatever is asked.
pub(super) fn assumed_of_sums(
    law: &SumLaw,
    opening: &PrivacyModel,
    conduct: SumConduct,
) -> Vec<String> {
    let mut assumed = match law {
        SumLaw::Local { .. } => vec![
            "the server, and whoever it tells, sees every answer of each party; what covers a record there is its own party's \
             noise, and no other's is counted"
                .to_owned(),
        ],
        SumLaw::Masked(_) => masked_assumptions(law, conduct.signed),
    };
    if conduct.sampled {
        assumed.push(
            "who is in a party's sample is drawn by its own key and told to nobody; it hides nothing from the party itself"
                .to_owned(),
        );
    }
    assumed.extend(BETWEEN_PARTIES.map(str::to_owned));
    match conduct.persons {
        true => assumed.extend(placed_persons(opening.view)),
        false => assumed.push(dealt(opening)),
    }
    assumed
}

/// What a guarantee of masked sums takes as given; `signed` where members sign what they say.
fn masked_assumptions(law: &SumLaw, signed: bool) -> Vec<String> {
    let SumLaw::Masked(members) = law else { return Vec::new() };
    let (all, few) = (members.members(), members.corrupt());
    let server = match signed {
        false => format!(
            "the server follows the protocol of the masked sums, and of {all} parties no more than {few} do not, or \
             tell others their noise; who they are was settled before"
        ),
        true => format!(
            "of {all} parties no more than {few} do not follow the protocol of the masked sums, or tell the server or \
             others their noise; who they are was settled before; the server may do as it likes"
        ),
    };
    let ciphers = match signed {
        false => "X25519, HKDF-SHA256, ChaCha20 and Poly1305",
        true => "Ed25519, X25519, HKDF-SHA256, ChaCha20 and Poly1305",
    };
    let mut masked =
        vec![server, format!("{ciphers} are as hard to break as they are believed to be")];
    let (stay, certain) = (members.threshold(), members.certain());
    masked.push(match signed {
        false => format!(
            "every sum has the noise of at least {stay} parties, of which {certain} are counted; the records of a party \
             that leaves a sum are missing from it, and who leaves is public"
        ),
        true => format!(
            "every sum has the noise of at least {stay} parties, of which {certain} are counted; a party is missing \
             from a sum only where all who are in it have signed that it has left for good"
        ),
    });
    if !members.is_complete() {
        masked.push(
            "who is corrupt and who leaves does not depend on who has masks in common with whom"
                .to_owned(),
        );
    }
    masked
}

impl NoisyRun {
    /// The expected utility, by the noise of the sums.
    pub fn outlook(&self) -> Option<UtilityForecast> {
        let CalibratedSums { task, public, .. } = &self.calibrated;
        Some(UtilityForecast::new(public, task.protection.budget?, task.forecasted()))
    }
}

impl CalibratedSums {
    fn seat(
        &self,
        job: &SimulationJob,
        tables: Vec<PrivateTable>,
        key: &NoiseKey,
    ) -> Result<NoisyParties, Error> {
        let run = runtime::run_id(&job.digest, key)?;
        let terms = (&self.task.protection.opening, self.public.shape, self.terms);
        let loss = &job.objective.loss;
        let mut parties = runtime::noisy_parties(tables, loss, terms, &self.plan, (key, &run))?;
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

impl NoisyRun {
    /// The plans that the parties' certificates count: the same for all, except for taints.
    pub fn plans(&self) -> Vec<Ledger> {
        self.reports().into_iter().map(|report| report.ledger).collect()
    }

    pub fn read_freely(&mut self) {
        self.unpaid = true;
    }

    /// The books of each party by its number among all, on the terms of what answers are divided by:
    /// those of all units. Of who stays away they are empty.
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

/// Whether a plan has a secret sample.
pub(super) fn plan_is_sampled(plan: &Ledger) -> bool {
    use reticent_accountant::Mechanism;
    let drawn = |entry: &reticent_accountant::LedgerEntry| {
        let mechanism = entry.event().mechanism();
        matches!(
            mechanism,
            Mechanism::PoissonGaussian(_) | Mechanism::WithoutReplacementGaussian(_)
        )
    };
    plan.entries().iter().any(drawn)
}
