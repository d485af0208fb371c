//! A question between parties who trust the server with noisy answers alone: each adds its noise itself,
//! to what is seen (`trust = local`) or behind masks (`trust = secure-aggregation`).
//!
//! ```text
//! question ─► server: what is summed ─► every party: entry, its integers, its noise ─► Σ ─► figures, intervals
//! ```
//!
//! The question is asked with the noise that the sum has, from which its intervals follow, and each
//! party is counted for less of it. Proof: proofs/noisy-sums.md.

use std::sync::{Arc, Mutex, PoisonError};

use reticent_accountant::{Adjacency, Ledger, Taint, Unit, View, epsilon, gdp_mu};
use reticent_admm::fraction;
use reticent_noise::Hasher;
use reticent_oracle::{
    NoiseKey, Oracle, PrivacyModel, PrivateTable, Refusal, Rehearsal, SumLaw, SumPlan, Terms,
};
use reticent_runtime::{self as runtime, NoisyParties, PartyReport, RunKey, SharedTerms};

use super::PartyBooks;
use super::dealing::Dealing;
use super::noisy::SOME_PARTIES;
use super::noisy_check::HONEST;
use super::staying::{StayingParties, law, population};
use super::sum_assumptions::{SumConduct, assumed_of_sums};
use crate::certificate::Certificate;
use crate::error::Error;
use crate::job::{Job, SOME};
use crate::map::{self, MapCell};
use crate::procedure::{Asking, Procedure, Question, RunFindings, Seen, calibrated, not_sums};
use crate::stage::{Run, Stage};

/// Who looks at the answers of parties that add the noise themselves, and how many of them are honest.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnNoise {
    view: View,
    honest: f64,
}

/// A question on noisy sums whose parties and units are counted, calibrated: it can be asked of table
/// after table.
#[derive(Debug)]
#[doc(hidden)]
pub struct CalibratedQuestion<Q: Question> {
    opening: PrivacyModel,
    terms: Terms,
    asking: Asking<Q::Layout>,
    plan: Arc<SumPlan>,
}

/// The same with its tables, ready to begin.
#[derive(Debug)]
pub(super) struct NoisyQuestion<'j, Q: Question> {
    job: &'j Job<Q>,
    calibrated: CalibratedQuestion<Q>,
    parties: NoisyParties,
    /// What makes it no guarantee, beside what the parties' own books say.
    taints: Vec<Taint>,
    assumed: Vec<String>,
}

impl OwnNoise {
    /// `None` where the server is trusted with exact sums.
    pub fn of(view: View) -> Option<Self> {
        (view != View::Central).then_some(OwnNoise { view, honest: HONEST })
    }

    /// This trust with another fraction of honest parties.
    pub fn with_honest(self, honest: f64) -> Result<Self, Error> {
        match self.view {
            View::SecureAggregation => Ok(OwnNoise { honest: fraction("honest", honest)?, ..self }),
            _ => Err(no_masks(honest)),
        }
    }

    /// The noise of each party, for this number of parties.
    pub fn law(&self, parties: u32) -> Result<SumLaw, Error> {
        law(self.view, StayingParties { parties, whole: parties }, self.honest)
    }

    /// Refuses what is not proven, or asks for more than sums, before there is a table.
    pub fn try_out<Q: Question>(&self, question: &Q) -> Result<(), Error> {
        let protection = Question::ground(question).protection.seen_by(self.view);
        let opening = protection.opening;
        map::offered(&MapCell::of_question(Q::NAME, question.form(), &opening))?;
        let terms = protection.terms(opening.public_n.unwrap_or(SOME))?;
        asks_for_noisy_sums(question, TermsOfSum { terms, law: self.law(SOME_PARTIES)? })
    }

    /// The least noise within the budget between parties with tables like these.
    pub fn calibrate<Q: Question>(
        &self,
        question: &Q,
        like: &[PrivateTable],
    ) -> Result<CalibratedQuestion<Q>, Error> {
        let protection = Question::ground(question).protection.seen_by(self.view);
        let opening = protection.opening;
        let terms = protection.terms(population(&opening, like))?;
        let between = TermsOfSum { terms, law: self.law(like.len() as u32)? };
        let (asking, plan) = calibrate_between(question, between)?;
        Ok(CalibratedQuestion { opening, terms, asking, plan: Arc::new(plan) })
    }
}

/// The terms of all units, and who adds which noise.
#[derive(Clone, Copy)]
struct TermsOfSum {
    terms: Terms,
    law: SumLaw,
}

/// The plan of each party, where parties add the noise.
fn rehearse_between<Q: Question>(
    question: &Q,
    TermsOfSum { terms, law }: TermsOfSum,
    asking: &Asking<Q::Layout>,
) -> Result<SumPlan, Refusal> {
    let mut rehearsal = Rehearsal::of_noisy_sums(question.shape(), terms, law);
    question.ask(&mut rehearsal, asking)?;
    rehearsal.into_sum_plan().ok_or(Refusal::NoSum)
}

/// The noise of the sum over all parties, for which each is counted within the budget, and the plan of
/// each with it.
fn calibrate_between<Q: Question>(
    question: &Q,
    between: TermsOfSum,
) -> Result<(Asking<Q::Layout>, SumPlan), Error> {
    let plan = |asking: &Asking<Q::Layout>| {
        Ok(rehearse_between(question, between, asking)?.ledger().clone())
    };
    let noise = calibrated(question, &between.terms, plan)?;
    let plan = rehearse_between(question, between, &noise)?;
    Ok((noise, plan))
}

/// Refuses a question that asks for more than sums, before there is a table, where parties add the
/// noise.
fn asks_for_noisy_sums<Q: Question>(question: &Q, between: TermsOfSum) -> Result<(), Error> {
    let layout = question.layout(1.0, &between.terms);
    match rehearse_between(question, between, &Asking { multiplier: 1.0, layout }) {
        Err(Refusal::NoSum) => Err(not_sums::<Q>(between.law.view())),
        asked => Ok(asked.map(drop)?),
    }
}

/// The refusal of a fraction of honest parties where nobody else's noise counts.
pub(super) fn no_masks(honest: f64) -> Error {
    let why = "it is for `trust = secure-aggregation`; elsewhere nobody else's noise counts; leave it out";
    Error::value("honest", honest, why)
}

impl<Q: Question> CalibratedQuestion<Q> {
    /// Puts the parties' tables behind gates of their own.
    fn seat(
        &self,
        question: &Q,
        tables: Vec<PrivateTable>,
        key: &NoiseKey,
    ) -> Result<NoisyParties, Error> {
        let digest = Hasher::new("reticent question").field(Q::NAME.as_bytes()).finish();
        let run = runtime::run_id(&digest, key)?;
        let (opening, shape) = (&self.opening, question.shape());
        let terms = SharedTerms { opening, shape, terms: self.terms };
        let key = RunKey { key, run: &run };
        let loss = Question::ground(question).loss;
        let mut parties = runtime::noisy_parties(tables, loss, terms, &self.plan, key)?;
        // What an interval is laid around may not be cut by a number that is no more than a guess.
        if self.terms.adjacency() == Adjacency::AddRemove {
            parties.server.leave_uncut();
        }
        Ok(parties)
    }

    /// The plan of each party.
    pub fn plan(&self) -> &Ledger {
        self.plan.ledger()
    }

    /// The plan with `scale` times the noise.
    ///
    /// # Errors
    /// If so much noise cannot be drawn.
    pub fn plan_at(&self, job: &Job<Q>, scale: f64) -> Result<Ledger, Error> {
        let between = TermsOfSum { terms: self.terms, law: *self.plan.law() };
        let asking = self.asking.scaled(scale);
        Ok(rehearse_between(job.procedure(), between, &asking)?.ledger().clone())
    }

    /// The ε that a certificate of each party would promise at this δ.
    ///
    /// # Errors
    /// If the plan cannot be counted.
    pub fn epsilon(&self, delta: f64) -> Result<f64, Error> {
        Ok(epsilon(self.plan(), delta)?.upper)
    }

    /// μ of Gaussian differential privacy, when what is seen is exactly that.
    pub fn mu(&self) -> Option<f64> {
        gdp_mu(self.plan())
    }

    /// The server's view of one run, for audits: the `victim`'s answers, in steps, if it sees them, and
    /// otherwise the sums.
    ///
    /// # Errors
    /// If the run ends on its way.
    pub fn seen(
        &self,
        job: &Job<Q>,
        (tables, key): (Vec<PrivateTable>, &NoiseKey),
        victim: u32,
        #[cfg(reticent_seeded_bugs)] bug: Option<reticent_oracle::Bug>,
    ) -> Result<Seen, Error> {
        let question = job.procedure();
        let NoisyParties { mut server, books, post, .. } = self.seat(question, tables, key)?;
        #[cfg(reticent_seeded_bugs)]
        if let Some(bug) = bug {
            books.spoil(bug)?;
        }
        let heard: Arc<Mutex<Vec<Vec<f64>>>> = match self.plan.law() {
            SumLaw::Local { .. } => post.overhear_answers(victim..victim + 1),
            SumLaw::Masked(_) => {
                let heard: Arc<Mutex<Vec<Vec<f64>>>> = Arc::default();
                let ours = Arc::clone(&heard);
                server.listen(Box::new(move |answer, _| {
                    ours.lock().unwrap_or_else(PoisonError::into_inner).push(answer.to_vec());
                }));
                heard
            }
        };
        question.ask(&mut server, &self.asking)?;
        drop(books);
        let transcript = std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(Seen { parameter: Vec::new(), transcript })
    }
}

impl<'j, Q: Question> NoisyQuestion<'j, Q> {
    /// Calibrates the question for the parties' tables, and puts these behind gates of their own.
    pub fn open(
        job: &'j Job<Q>,
        own: OwnNoise,
        tables: Vec<PrivateTable>,
        key: &NoiseKey,
        dealing: &Dealing,
    ) -> Result<Self, Error> {
        let question = job.procedure();
        let calibrated = own.calibrate(question, &tables)?;
        let parties = calibrated.seat(question, tables, key)?;
        let (law, opening) = (calibrated.plan.law(), &calibrated.opening);
        let mut assumed = Question::assumptions(question);
        let conduct = SumConduct { persons: dealing.persons, ..SumConduct::default() };
        assumed.extend(assumed_of_sums(law, opening, conduct));
        let taints = Question::taints(question);
        Ok(NoisyQuestion { job, calibrated, parties, taints, assumed })
    }

    /// Notes that somebody looks at the table without paying.
    pub fn read_freely(&mut self) {
        self.taints.push(Taint::UnpaidRead);
    }

    /// The books of each party, on the terms of all units.
    fn reports(&self) -> Vec<PartyReport> {
        let mut reports = self.parties.books.reports();
        for report in &mut reports {
            report.terms = self.calibrated.terms;
            self.taints.iter().for_each(|&taint| report.ledger.taint(taint));
        }
        reports
    }

    /// The planned ledgers of the parties, in their order.
    pub fn plans(&self) -> Vec<Ledger> {
        self.reports().into_iter().map(|report| report.ledger).collect()
    }

    /// Asks.
    ///
    /// # Errors
    /// As [`Ready::run`](crate::Ready::run).
    pub fn run(mut self, mut run: Run<'_>) -> Result<Q::Output, Error> {
        let question = self.job.procedure();
        if run.trace.is_some() {
            question.check_traceable()?;
        }
        run.enter(Stage::Running)?;
        let asked = self.ask();
        let protection = Question::ground(question).protection;
        match asked {
            Err(why) if self.parties.server.rounds() == 0 => Err(why),
            Err(why) => Err(protection.spent(self.calibrated.plan(), why)),
            Ok(answer) => {
                self.read(answer).map_err(|why| protection.spent(self.calibrated.plan(), why))
            }
        }
    }

    fn ask(&mut self) -> Result<Q::Answer, Error> {
        let server = &mut self.parties.server;
        let answer =
            self.job.procedure().ask(server as &mut dyn Oracle, &self.calibrated.asking)?;
        server.finish()?;
        Ok(answer)
    }

    fn read(&self, answer: Q::Answer) -> Result<Q::Output, Error> {
        let (question, terms) = (self.job.procedure(), self.calibrated.terms);
        let certificate = self.certificate(question)?;
        let public = (terms.unit(), terms.adjacency()) == (Unit::Record, Adjacency::ReplaceOne);
        let records = public.then(|| terms.population());
        let (noise, trace) = (&self.calibrated.asking, None);
        Ok(question.read(RunFindings { answer, noise, terms, records, certificate, trace }))
    }

    fn certificate(&self, question: &Q) -> Result<Certificate, Error> {
        let budget = Question::ground(question).protection.budget;
        let delta = budget.map_or(0.0, |budget| budget.delta());
        let books = PartyBooks::new(Q::NAME, delta, &self.assumed, &self.reports())?;
        books.run()?.sealed(None)
    }
}
