//! The training of a model: one fit, or the best of a random number of them.

use reticent_accountant::{Adjacency, Ledger, Taint};
use reticent_admm::ProblemFacts;
use reticent_admm::exact::{ExactSettings, ExactSolution, SolverStatus, solve};
use reticent_oracle::{Gate, PrivateSelection, Terms};

use crate::cached::check_task;
use crate::certificate::Certificate;
use crate::error::Error;
use crate::job::{Job, Ready};
use crate::model::{Extras, Model};
use crate::outlook::UtilityForecast;
use crate::procedure::{
    Concluded, EndedRun, Ground, Hearers, PlannedNoise, Procedure, RunFindings, Seen, conclude,
};
use crate::record_weights;
use crate::run::{Calibrated, Noise, RunOutcome};
use crate::source::Source;
use crate::stage::Run;
use crate::task::Task;
use crate::trace::Trace;
use crate::tune::Tuned;

/// Checked fits: one, or several to choose among.
#[derive(Debug)]
pub struct Training {
    /// All have schema, loss and protection in common.
    points: Vec<Task>,
    /// The names of several, and the expected number of runs.
    pub(crate) choice: Option<(Vec<String>, u64)>,
}

/// A model and how it came about. How long it took is not told: a time depends on what is in the
/// records.
#[derive(Debug)]
#[non_exhaustive]
pub struct Fitted {
    /// The model, its certificate inside.
    pub model: Model,
    /// Records read, where their number is public: records are protected, and one is replaced by
    /// another.
    pub records: Option<u64>,
    /// The number of iterations.
    pub iterations: u64,
    /// The result of tuning, if the job was tuned.
    pub tuned: Option<Tuned>,
    /// Whether the exact solver got to the optimum before its iterations ran out; the others have
    /// no such thing.
    pub converged: Option<bool>,
    /// The trace of the run, iteration by iteration, if it was traced.
    pub trace: Option<Trace>,
}

/// The noise of every fit, with what may be known of it.
#[derive(Debug, Default)]
pub struct Noises {
    /// Empty for an algorithm without noise.
    pub(crate) points: Vec<(ProblemFacts, Noise)>,
    /// The contest of several.
    pub(crate) selection: Option<PrivateSelection>,
}

/// The release of a training run.
#[derive(Debug)]
pub struct Trained {
    /// The number of the fit whose model it is.
    pub(crate) point: usize,
    pub(crate) outcome: RunOutcome,
    pub(crate) tuned: Option<Tuned>,
    pub(crate) converged: Option<bool>,
}

impl Training {
    pub(crate) fn one(task: Task) -> Self {
        Training { points: vec![task], choice: None }
    }

    pub(crate) fn best(points: Vec<Task>, names: Vec<String>, runs: u64) -> Self {
        Training { points, choice: Some((names, runs)) }
    }

    pub(crate) fn points(&self) -> &[Task] {
        &self.points
    }

    /// The fit, or the first of those to choose among.
    pub(crate) fn first(&self) -> &Task {
        &self.points[0]
    }
}

impl Job {
    /// Runs the job. Every call spends the budget anew.
    ///
    /// # Errors
    /// If the table cannot be read under the schema, the budget does not allow it, or the numbers
    /// run away; [`Error::Spent`] says that the budget was spent nevertheless.
    pub fn fit<'a>(&self, source: impl Into<Source<'a>>) -> Result<Fitted, Error> {
        self.run(source, Run::default())
    }
}

impl Ready<'_> {
    /// The expected utility of the run; `None` for an algorithm without noise.
    pub fn outlook(&self) -> Option<UtilityForecast> {
        let task = self.procedure().first();
        let (public, _) = self.noise().points.first()?;
        Some(UtilityForecast::new(public, task.protection.budget?, task.forecasted(public)))
    }
}

#[allow(private_interfaces, reason = "no other crate writes one")]
impl Procedure for Training {
    type Noise = Noises;
    type Answer = Trained;
    type Output = Fitted;

    fn ground(&self) -> Ground<'_> {
        let Task { objective, protection, .. } = self.first();
        Ground { schema: &objective.schema, loss: &objective.loss, protection }
    }

    fn taints(&self) -> Vec<Taint> {
        let bare = self.first().noise == Some(0.0);
        bare.then_some(Taint::RawRelease).into_iter().collect()
    }

    fn calibrate(&self, terms: Terms) -> Result<PlannedNoise<Noises>, Error> {
        let task = self.first();
        let Calibrated { public, noise, plan } = match (task.noise, task.protection.budget) {
            (Some(noise), budget) => task.with_noise(terms, noise, budget)?,
            (None, None) => return Ok(PlannedNoise { noise: Noises::default(), plan: None }),
            (None, Some(budget)) => {
                task.check_sample(terms.population())?;
                if let Some((_, runs)) = self.choice {
                    return self.prepare(terms, budget, runs);
                }
                task.calibrate(terms, budget)?
            }
        };
        let noise = Noises { points: vec![(public, noise)], selection: None };
        Ok(PlannedNoise { noise, plan: Some(plan) })
    }

    fn check_cached(&self) -> Result<(), Error> {
        self.points.iter().try_for_each(check_task)
    }

    fn is_known_beforehand(&self, terms: Terms) -> bool {
        match self.choice {
            None => self.first().is_known_beforehand(terms),
            // What a choice among runs costs depends on more than its ε and δ.
            Some(_) => terms.adjacency() == Adjacency::AddRemove,
        }
    }

    fn plan_at(&self, terms: Terms, noise: &Noises, scale: f64) -> Result<Ledger, Error> {
        match (&noise.selection, noise.points.first()) {
            (None, Some((public, noise))) => {
                self.first().rehearse(terms, public, &noise.scaled(scale))
            }
            _ => Err(self.first().not_private()),
        }
    }

    fn perform(
        &self,
        gate: Gate,
        noise: &Noises,
        mut hearers: Hearers<'_, '_>,
    ) -> Result<Concluded<Trained>, EndedRun> {
        let task = self.first();
        match (&noise.selection, noise.points.first()) {
            (Some(selection), _) => self
                .choose(gate, &noise.points, selection)
                .map_err(|why| EndedRun { why, asked: true }),
            (None, Some((public, noise))) => conclude(gate, |gate| {
                hearers.follow(gate);
                let mut tell =
                    |progress, at: &dyn reticent_admm::Iterate| hearers.tell(progress, at);
                let outcome = task.perform(gate, public, noise, &mut tell)?;
                Ok(Trained { point: 0, outcome, tuned: None, converged: None })
            }),
            (None, None) => conclude(gate, |gate| task.solve(gate)),
        }
    }

    fn check_traceable(&self) -> Result<(), Error> {
        if self.choice.is_some() {
            let why = "of a choice among several runs only the best is released; trace a fit without `tune`";
            return Err(Error::value("trace", "a choice", why));
        }
        match self.first().protection.budget {
            Some(_) => Ok(()),
            None => {
                let why = "it has no noise, and nothing is released iteration by iteration; choose another algorithm";
                Err(Error::value("trace", self.first().entry.name, why))
            }
        }
    }

    fn statement(&self, answer: &Trained) -> (&'static str, Vec<String>) {
        let Task { entry, objective, protection, .. } = &self.points[answer.point];
        let own = objective.assumptions(protection.opening.unit);
        (entry.name, own.chain(record_weights::assumption(&objective.schema)).collect())
    }

    fn finish(&self, found: RunFindings<'_, Noises, Trained>) -> Result<Fitted, Error> {
        let RunFindings { answer, records, certificate, trace, .. } = found;
        let Trained { point, outcome, tuned, converged } = answer;
        let RunOutcome {
            parameter, iterations, graph, choice, standard_errors, recalibration, ..
        } = outcome;
        let certificate = Certificate { choice, ..certificate };
        let Task { entry, objective, .. } = &self.points[point];
        let extras =
            Extras { graph: graph.as_ref(), errors: standard_errors.as_ref(), recalibration };
        let model = Model::new(entry.name, objective, parameter, extras, certificate)?;
        Ok(Fitted { model, records, iterations, tuned, converged, trace })
    }

    fn certificate(fitted: &Fitted) -> &Certificate {
        fitted.model.certificate()
    }

    fn seen(answer: Trained, mut transcript: Vec<Vec<f64>>) -> Seen {
        // Of a choice the score of the winner is released as well.
        transcript.extend(answer.tuned.map(|tuned| vec![tuned.score]));
        Seen { parameter: answer.outcome.parameter, transcript }
    }
}

impl Task {
    /// The minimiser, without noise.
    fn solve(&self, gate: &mut Gate) -> Result<Trained, Error> {
        let settings = ExactSettings::try_from(&self.settings)?;
        let ExactSolution { x, iterations, status, .. } =
            solve(gate, &self.objective.regulariser, &settings)?;
        let outcome = RunOutcome {
            parameter: x,
            iterations,
            graph: None,
            score: None,
            standard_errors: None,
            recalibration: None,
            choice: None,
        };
        let converged = Some(status == SolverStatus::Converged);
        Ok(Trained { point: 0, outcome, tuned: None, converged })
    }
}
