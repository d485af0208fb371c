//! What a kind of job brings along; everything that jobs have in common is in [`Job`](crate::Job)
//! and [`Ready`](crate::Ready).
//!
//! A [`Procedure`] says with how much noise it runs, what it asks, and what becomes of the answer.
//! Most ask the same of a gate and of a rehearsal, with one multiplier for all noise: they are a
//! [`Question`], and a procedure by that.

use std::ops::ControlFlow;
use std::sync::Arc;

use reticent_accountant::{Ledger, Taint, View, calibrate};
use reticent_admm::{Iterate, Progress};
use reticent_oracle::tables::Schema;
use reticent_oracle::{Gate, Oracle, Refusal, Rehearsal, Terms};
use reticent_problem::{Loss, Shape};

use crate::cached::check_question;
use crate::certificate::Certificate;
use crate::error::Error;
use crate::guarantee::Protection;
use crate::job::{Job, SOME};
use crate::stage::{Run, Stage};
use crate::trace::{Recorder, Trace};

/// The common inputs of every procedure: its tables, and the protection of their units.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    /// The schema of the tables.
    pub schema: &'a Schema,
    /// The loss of the gate.
    pub loss: &'a Arc<dyn Loss>,
    /// The unit and the size of the protection.
    pub protection: &'a Protection,
}

/// Noise that was calibrated, and what the books will have with it.
#[derive(Clone, Debug)]
pub struct PlannedNoise<N> {
    /// The noise, and what follows from it.
    pub noise: N,
    /// The planned ledger, entry for entry; `None` for a run without noise.
    pub plan: Option<Ledger>,
}

/// A run that came to its end, its gate closed.
#[derive(Debug)]
pub struct Concluded<A> {
    /// The release.
    pub answer: A,
    /// Every answer of the gate, if they were kept.
    pub transcript: Vec<Vec<f64>>,
    /// The books.
    pub ledger: Ledger,
}

/// A run that ended on its way.
#[derive(Debug)]
pub struct EndedRun {
    /// Why.
    pub why: Error,
    /// Whether something was asked: the plan is then charged, whatever was used of it.
    pub asked: bool,
}

/// The findings of a run, from which its result is made.
#[derive(Debug)]
pub struct RunFindings<'a, N, A> {
    /// The release.
    pub answer: A,
    /// The noise.
    pub noise: &'a N,
    /// The terms of the gate.
    pub terms: Terms,
    /// The number of records, where it is public.
    pub records: Option<u64>,
    /// The certificate, sealed.
    pub certificate: Certificate,
    /// The trace, if one was wanted.
    pub trace: Option<Trace>,
}

/// Everything that one run showed to whoever sees all that is released.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The parameter of the model.
    pub parameter: Vec<f64>,
    /// Every answer of the gate, in order; where only the best of several runs is released, its
    /// score.
    pub transcript: Vec<Vec<f64>>,
}

/// Who hears of a run.
pub(crate) struct Hearers<'a, 'r> {
    pub run: &'a mut Run<'r>,
    pub recorder: Option<&'a mut Recorder<'r>>,
}

impl Hearers<'_, '_> {
    /// Hears every answer of this gate from here on, if there is a trace.
    pub fn follow(&self, gate: &mut Gate) {
        if let Some(recorder) = &self.recorder {
            recorder.follow(gate);
        }
    }

    /// The end of an iteration.
    pub fn tell(&mut self, progress: Progress, at: &dyn Iterate) -> ControlFlow<()> {
        if let Some(recorder) = &mut self.recorder {
            recorder.note(progress, at);
        }
        self.run.tell(Stage::Iteration(progress))
    }
}

/// A kind of job.
#[allow(private_interfaces, reason = "no other crate writes one")]
pub trait Procedure: std::fmt::Debug {
    /// The noise, and what follows from it.
    type Noise: std::fmt::Debug;
    /// What is released.
    type Answer;
    /// What comes of the job.
    type Output;

    /// What it is done on, and who is protected there.
    fn ground(&self) -> Ground<'_>;

    /// Why it is no guarantee, as far as that is known before anything is asked.
    fn taints(&self) -> Vec<Taint> {
        Vec::new()
    }

    /// The least noise within the budget on these terms, from public quantities alone.
    ///
    /// # Errors
    /// If no noise is enough, or something cannot be asked.
    fn calibrate(&self, terms: Terms) -> Result<PlannedNoise<Self::Noise>, Error>;

    /// Refuses what cannot be asked of a table in a cache file, before there is one.
    ///
    /// # Errors
    /// If something is asked that is no sum over records.
    fn check_cached(&self) -> Result<(), Error>;

    /// Whether the plan on these terms is the plan on those of any table, where units are not
    /// counted, or costs the same.
    fn is_known_beforehand(&self, terms: Terms) -> bool {
        let _ = terms;
        true
    }

    /// What the books would have with so many times the noise.
    ///
    /// # Errors
    /// If so much noise cannot be drawn, or there is no one noise to multiply.
    fn plan_at(&self, terms: Terms, noise: &Self::Noise, scale: f64) -> Result<Ledger, Error>;

    /// Asks what was planned of a gate that is bound to it, and closes the gate.
    ///
    /// # Errors
    /// Why it ended on its way, and whether something was asked.
    fn perform(
        &self,
        gate: Gate,
        noise: &Self::Noise,
        hearers: Hearers<'_, '_>,
    ) -> Result<Concluded<Self::Answer>, EndedRun>;

    /// Refuses a trace where nothing is released iteration by iteration.
    ///
    /// # Errors
    /// By default.
    fn check_traceable(&self) -> Result<(), Error> {
        let why =
            "nothing is released iteration by iteration; trace a fit, or a run between parties";
        Err(Error::value("trace", "given", why))
    }

    /// The name that a certificate has, and what it relies on beyond what every one does.
    fn statement(&self, answer: &Self::Answer) -> (&'static str, Vec<String>);

    /// What comes of it.
    ///
    /// # Errors
    /// If the result cannot be put together.
    fn finish(
        &self,
        found: RunFindings<'_, Self::Noise, Self::Answer>,
    ) -> Result<Self::Output, Error>;

    /// The certificate of what came of it.
    fn certificate(output: &Self::Output) -> &Certificate;

    /// What whoever sees everything that is released has seen.
    fn seen(answer: Self::Answer, transcript: Vec<Vec<f64>>) -> Seen {
        let _ = answer;
        Seen { parameter: Vec::new(), transcript }
    }
}

/// Asks through a gate, and closes it: the way of every run but a choice among several.
pub(crate) fn conclude<A>(
    mut gate: Gate,
    ask: impl FnOnce(&mut Gate) -> Result<A, Error>,
) -> Result<Concluded<A>, EndedRun> {
    let answer =
        ask(&mut gate).map_err(|why| EndedRun { why, asked: gate.ledger().total_events() > 0 })?;
    let transcript = gate.take_transcript();
    let ledger = gate.close().map_err(|why| EndedRun { why: why.into(), asked: true })?;
    Ok(Concluded { answer, transcript, ledger })
}

/// The multiplier of all noise of a question, and what the question chooses by it.
#[derive(Clone, Debug, PartialEq)]
pub struct Asking<L> {
    /// The noise, in sensitivities.
    pub multiplier: f64,
    /// The layout that follows from the noise: bins, or nothing.
    pub layout: L,
}

impl<L: Clone> Asking<L> {
    /// The same question with so many times the noise.
    pub(crate) fn scaled(&self, by: f64) -> Self {
        Asking { multiplier: by * self.multiplier, layout: self.layout.clone() }
    }
}

/// A procedure that asks the same of a gate and of a rehearsal, with one multiplier for all noise:
/// a count, an evaluation, a statistic of a column. It is all that a new kind of question has to
/// say; the life of the job is that of every other.
pub trait Question: std::fmt::Debug {
    /// The name that its certificate has.
    const NAME: &'static str;
    /// What follows from the noise.
    type Layout: Clone + std::fmt::Debug;
    /// What is released.
    type Answer;
    /// What comes of it.
    type Output;

    /// What it is done on, and who is protected there.
    fn ground(&self) -> Ground<'_>;

    /// The shape of the rows, which is public.
    fn shape(&self) -> Shape;

    /// Why it is no guarantee, as far as that is known before anything is asked.
    fn taints(&self) -> Vec<Taint> {
        Vec::new()
    }

    /// Which of its versions it is, as the map has it.
    fn form(&self) -> &'static str {
        ""
    }

    /// What its certificate relies on beyond what every one does.
    fn assumptions(&self) -> Vec<String>;

    /// What follows from so much noise, and from public quantities.
    fn layout(&self, multiplier: f64, terms: &Terms) -> Self::Layout;

    /// Asks. What is asked depends on public quantities alone.
    ///
    /// # Errors
    /// If it cannot be asked.
    fn ask(
        &self,
        oracle: &mut dyn Oracle,
        noise: &Asking<Self::Layout>,
    ) -> Result<Self::Answer, Refusal>;

    /// What the answer says.
    fn read(&self, found: RunFindings<'_, Asking<Self::Layout>, Self::Answer>) -> Self::Output;

    /// The certificate of what came of it.
    fn certificate(output: &Self::Output) -> &Certificate;
}

fn rehearse<Q: Question>(
    question: &Q,
    terms: Terms,
    asking: &Asking<Q::Layout>,
) -> Result<Ledger, Refusal> {
    let mut rehearsal = Rehearsal::new(question.shape(), terms);
    question.ask(&mut rehearsal, asking)?;
    Ok(rehearsal.into_plan())
}

/// The refusal of a question that asks for more than sums.
pub(crate) fn not_sums<Q: Question>(view: View) -> Error {
    let why = "it asks for more than sums over records, which is all that parties are asked for; ask one table";
    Error::value("trust", view, format!("{}: {why}", Q::NAME))
}

/// The least noise within the budget, as `plan` has it.
pub(crate) fn calibrated<Q: Question>(
    question: &Q,
    terms: &Terms,
    plan: impl Fn(&Asking<Q::Layout>) -> Result<Ledger, Refusal>,
) -> Result<Asking<Q::Layout>, Error> {
    let asking = |multiplier| Asking { multiplier, layout: question.layout(multiplier, terms) };
    // Once before the search, so that what cannot be asked is refused as itself.
    plan(&asking(1.0))?;
    let Some(budget) = Question::ground(question).protection.budget else {
        let why = "a question without a budget is not asked";
        return Err(Error::value("epsilon", "none", why));
    };
    let found = calibrate(budget.epsilon(), budget.delta(), |z| plan(&asking(z)))?;
    Ok(asking(found.noise_multiplier))
}

/// Refuses a question that asks for more than sums over records, which is all that is asked of rows
/// that others hold.
pub(crate) fn asks_for_sums<Q: Question>(question: &Q) -> Result<(), Error> {
    let protection = Question::ground(question).protection;
    let terms = protection.terms(protection.opening.public_n.unwrap_or(SOME))?;
    let layout = question.layout(1.0, &terms);
    let mut rehearsal = Rehearsal::of_sums(question.shape(), terms);
    match question.ask(&mut rehearsal, &Asking { multiplier: 1.0, layout }) {
        Err(Refusal::NoSum) => Err(not_sums::<Q>(View::Central)),
        asked => Ok(asked.map(drop)?),
    }
}

impl<Q: Question> Job<Q> {
    /// The job of a question, rehearsed once: what cannot be asked is refused before there is a
    /// table.
    pub(crate) fn asking(question: Q) -> Result<Self, Error> {
        let terms = Question::ground(&question).protection.terms(SOME)?;
        let layout = question.layout(1.0, &terms);
        rehearse(&question, terms, &Asking { multiplier: 1.0, layout })?;
        Ok(Job::new(question))
    }
}

#[allow(private_interfaces, reason = "no other crate writes one")]
impl<Q: Question> Procedure for Q {
    type Noise = Asking<Q::Layout>;
    type Answer = Q::Answer;
    type Output = Q::Output;

    fn ground(&self) -> Ground<'_> {
        Question::ground(self)
    }

    fn taints(&self) -> Vec<Taint> {
        Question::taints(self)
    }

    fn calibrate(&self, terms: Terms) -> Result<PlannedNoise<Self::Noise>, Error> {
        let noise = calibrated(self, &terms, |asking| rehearse(self, terms, asking))?;
        let plan = Some(rehearse(self, terms, &noise)?);
        Ok(PlannedNoise { noise, plan })
    }

    fn check_cached(&self) -> Result<(), Error> {
        check_question(self)
    }

    fn plan_at(&self, terms: Terms, noise: &Self::Noise, scale: f64) -> Result<Ledger, Error> {
        Ok(rehearse(self, terms, &noise.scaled(scale))?)
    }

    fn perform(
        &self,
        gate: Gate,
        noise: &Self::Noise,
        _: Hearers<'_, '_>,
    ) -> Result<Concluded<Self::Answer>, EndedRun> {
        conclude(gate, |gate| Ok(self.ask(gate, noise)?))
    }

    fn statement(&self, _: &Self::Answer) -> (&'static str, Vec<String>) {
        (Q::NAME, self.assumptions())
    }

    fn finish(
        &self,
        found: RunFindings<'_, Self::Noise, Self::Answer>,
    ) -> Result<Self::Output, Error> {
        Ok(self.read(found))
    }

    fn certificate(output: &Self::Output) -> &Certificate {
        Q::certificate(output)
    }
}
