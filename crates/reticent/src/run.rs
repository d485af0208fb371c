//! One private run, from the first question to the parameter, and the noise that its parts get.
//!
//! ```text
//! second moments → graph        where the graph is to be learned          share g of the budget
//! algorithm                                                               the rest
//! score of its solution         where the run is one of several to choose among   share c
//! curvature and gradients       where standard errors are asked for               share e
//! a line through its log-odds   where it is recalibrated                          share k
//! ```
//!
//! One number `s` scales all noise. With `z₁` the noise with which one answer alone spends the
//! budget, and `z` the same for the algorithm alone, the parts get `s·z₁/√g`, `s·z/√(1−g−c−e−k)`,
//! `s·z₁/√c`, `s·z₁/√e` and `s·z₁/√k`. For full batches costs add up as squares, so `s = 1` is then the budget;
//! elsewhere the calibration finds `s`.

use std::sync::Arc;

use reticent_accountant::{Ledger, calibrate};
use reticent_admm::catalogue::Recipe;
use reticent_admm::{AutoChoice, ProblemFacts, Refused, Settings, Tell, unwatched};
use reticent_oracle::queries::Score;
use reticent_oracle::{Oracle, Refusal, Rehearsal, Released, SumPlan, Terms};
use reticent_problem::{Constraint, Graph};

use crate::budget::Budget;
use crate::error::Error;
use crate::recalibration::{self, Recalibration};
use crate::standard_errors::{self, Found};
use crate::task::Task;

/// The share of the budget that a score gets. A score is one number, while the parameter is many:
/// at this share its noise is a few records where the model's is felt in every coefficient.
const SCORE: f64 = 0.1;

/// The noise of each part, in clips; `None` for a part that there is not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noise {
    algorithm: f64,
    graph: Option<f64>,
    score: Option<f64>,
    standard_errors: Option<f64>,
    calibrate: Option<f64>,
}

impl Noise {
    pub fn alone(algorithm: f64) -> Self {
        Noise { algorithm, graph: None, score: None, standard_errors: None, calibrate: None }
    }

    /// So many times as much of all of it.
    pub fn scaled(&self, by: f64) -> Self {
        let part = |noise: Option<f64>| noise.map(|noise| by * noise);
        Noise {
            algorithm: by * self.algorithm,
            graph: part(self.graph),
            score: part(self.score),
            standard_errors: part(self.standard_errors),
            calibrate: part(self.calibrate),
        }
    }
}

/// The noise of a job, and what it will record with it.
#[derive(Debug)]
pub(crate) struct Calibrated {
    pub public: ProblemFacts,
    pub noise: Noise,
    pub plan: Ledger,
}

/// What a run gives.
#[derive(Debug)]
pub(crate) struct RunOutcome {
    pub parameter: Vec<f64>,
    pub iterations: u64,
    pub graph: Option<Graph>,
    pub score: Option<Released<f64>>,
    pub standard_errors: Option<Found>,
    pub recalibration: Option<Recalibration>,
    /// The choice of `auto`, if it made one.
    pub choice: Option<AutoChoice>,
}

/// What is wrong with a graph that was learned is a function of what was released.
fn unsuitable(why: Error) -> Error {
    Refusal::Diverged(format!("the graph that was learned does not suit: {why}")).into()
}

impl Task {
    /// The least noise within the budget on these terms, for which no gate is needed.
    pub(crate) fn calibrate(&self, terms: Terms, budget: Budget) -> Result<Calibrated, Error> {
        let whole = self.public(terms.population())?;
        let public = whole.with_share(self.share(false));
        let alone = self.calibrate_alone(terms, &public, budget)?;
        let noise = if self.shares_budget() {
            let plan = |s| self.rehearse(terms, &public, &self.noise(s, alone, &whole, false));
            let s = calibrate(budget.epsilon(), budget.delta(), plan)?.noise_multiplier;
            self.noise(s, alone, &whole, false)
        } else {
            Noise::alone(alone)
        };
        let plan = self.rehearse(terms, &public, &noise)?;
        Ok(Calibrated { public, noise, plan })
    }

    /// What the run will record with noise that was given by hand, if it is within the budget.
    pub(crate) fn with_noise(
        &self,
        terms: Terms,
        noise_multiplier: f64,
        budget: Option<Budget>,
    ) -> Result<Calibrated, Error> {
        let (public, noise) = (self.public(terms.population())?, Noise::alone(noise_multiplier));
        let plan = self.rehearse(terms, &public, &noise)?;
        if let Some(budget) = budget {
            budget.allows(noise_multiplier, &plan)?;
        }
        Ok(Calibrated { public, noise, plan })
    }

    /// The noise with which the algorithm alone spends the budget; as published, what the paper
    /// prints for it, where it counts otherwise than the accountant.
    pub(crate) fn calibrate_alone(
        &self,
        terms: Terms,
        public: &ProblemFacts,
        budget: Budget,
    ) -> Result<f64, Error> {
        // Once before the search, so that a plan that cannot be is refused as itself and not for
        // its price.
        let plan = self.rehearse(terms, public, &Noise::alone(1.0))?;
        self.refuse_impure(&plan, budget.delta())?;
        if let Some(noise) = self.printed_noise(public, budget)? {
            return Ok(noise);
        }
        let plan = |noise| self.rehearse(terms, public, &Noise::alone(noise));
        Ok(calibrate(budget.epsilon(), budget.delta(), plan)?.noise_multiplier)
    }

    /// What the paper prints for this budget, where it says another noise than the accountant.
    fn printed_noise(&self, public: &ProblemFacts, budget: Budget) -> Result<Option<f64>, Error> {
        let built = self.entry.build(&self.recipe(public, 1.0))?;
        let algorithm = built.ok_or_else(|| self.not_private())?;
        Ok(algorithm.printed_noise(budget.epsilon(), budget.delta())?)
    }

    /// The shares of the graph, of the score, of standard errors and of a recalibration.
    fn shares(&self, scored: bool) -> [f64; 4] {
        let graph = self.graph.map_or(0.0, |graph| graph.share);
        let score = if scored { SCORE * (1.0 - graph) } else { 0.0 };
        [graph, score, self.standard_errors.unwrap_or(0.0), self.calibrate.unwrap_or(0.0)]
    }

    /// The share of the algorithm, by which it chooses what was left to it.
    pub(crate) fn share(&self, scored: bool) -> f64 {
        1.0 - self.shares(scored).iter().sum::<f64>()
    }

    /// The noise of every part at scale `s`; `whole` has the whole budget.
    pub(crate) fn noise(&self, s: f64, alone: f64, whole: &ProblemFacts, scored: bool) -> Noise {
        let [graph, score, standard_errors, calibrate] = self.shares(scored);
        let part = |share: f64| (share > 0.0).then(|| s * whole.whole_budget / share.sqrt());
        Noise {
            algorithm: s * alone / self.share(scored).sqrt(),
            graph: part(graph),
            score: part(score),
            standard_errors: part(standard_errors),
            calibrate: part(calibrate),
        }
    }

    /// The ledger that the run will have with this noise: the run itself, on a gate without data.
    pub(crate) fn rehearse(
        &self,
        terms: Terms,
        public: &ProblemFacts,
        noise: &Noise,
    ) -> Result<Ledger, Error> {
        Ok(self.rehearsed(terms, public, noise)?.into_plan())
    }

    /// The plan of each party, where parties add the noise.
    pub(crate) fn sum_plan(
        &self,
        terms: Terms,
        public: &ProblemFacts,
        noise: &Noise,
    ) -> Result<SumPlan, Error> {
        let plan = self.rehearsed(terms, public, noise)?.into_sum_plan();
        plan.ok_or_else(|| self.not_private())
    }

    fn rehearsed(
        &self,
        terms: Terms,
        public: &ProblemFacts,
        noise: &Noise,
    ) -> Result<Rehearsal, Error> {
        let mut rehearsal = match self.between {
            None => Rehearsal::new(public.shape, terms),
            Some(law) => Rehearsal::of_noisy_sums(public.shape, terms, law),
        }
        .with_weights(self.is_weighted());
        // The plan does not depend on which graph it is, and learning one takes its time.
        let learn = |_: Released<Vec<f64>>, nodes: usize, _: f64| Graph::path(nodes);
        self.ask(&mut rehearsal, public, noise, &learn, &mut unwatched)?;
        Ok(rehearsal)
    }

    /// The run. `tell` hears of every iteration, and may stop it.
    pub(crate) fn perform(
        &self,
        oracle: &mut dyn Oracle,
        public: &ProblemFacts,
        noise: &Noise,
        tell: &mut Tell<'_>,
    ) -> Result<RunOutcome, Error> {
        let learn = |moments: Released<Vec<f64>>, nodes: usize, deviation: f64| {
            let terms = self.graph.map(|graph| graph.terms(nodes, deviation));
            terms.map_or(Graph::empty(nodes), |terms| Graph::learn(moments.get(), nodes, &terms))
        };
        self.ask(oracle, public, noise, &learn, tell)
    }

    /// The settings, without a question for the scale of the residuals that nobody asked for: it is
    /// on the map for a run of the algorithm alone, and has a noise of its own. Nor is a model drawn
    /// together that answers of its own are asked about: they say more of it.
    fn settings_beside(&self, noise: &Noise) -> Settings {
        let Noise { graph, score, standard_errors, calibrate, .. } = noise;
        let beside = graph.or(*score).or(*standard_errors).or(*calibrate);
        let alone = beside.or(self.noise).is_none() && !self.is_weighted();
        let asked = standard_errors.or(*calibrate).is_some() || self.is_weighted();
        let takes = |name: &str| self.entry.takes.contains(&name);
        let none = Settings {
            clip_share: (!alone && takes("clip_share")).then_some(0.0),
            shrinkage: (asked && takes("shrinkage")).then_some(0.0),
            ..Settings::default()
        };
        self.settings.clone().or(none)
    }

    fn ask(
        &self,
        oracle: &mut dyn Oracle,
        public: &ProblemFacts,
        noise: &Noise,
        learn: &dyn Fn(Released<Vec<f64>>, usize, f64) -> Graph,
        tell: &mut Tell<'_>,
    ) -> Result<RunOutcome, Error> {
        let graph = match noise.graph {
            Some(noise) => {
                let params = self.moments(noise);
                let deviation = params.deviation(oracle.terms());
                Some(learn(oracle.ask(&params)?, public.shape.features, deviation))
            }
            None => None,
        };
        let regulariser = match &graph {
            // The penalty on the differences along its edges.
            Some(graph) => {
                let fixed = self.objective.regulariser.with_constraint(Constraint::graph(graph));
                Arc::new(fixed.map_err(|error| unsuitable(error.into()))?)
            }
            None => Arc::clone(&self.objective.regulariser),
        };
        let settings = self.settings_beside(noise);
        let recipe = Recipe {
            settings: &settings,
            public,
            regulariser: &regulariser,
            noise_multiplier: noise.algorithm,
        };
        // What does not suit a public constraint was refused before the table was read.
        let learned = |error: Refused| match &graph {
            Some(_) => unsuitable(error.into()),
            None => error.into(),
        };
        let choice = self.entry.choice(&recipe).map_err(learned)?;
        let built = self.entry.build(&recipe).map_err(learned)?;
        let mut algorithm = built.ok_or_else(|| self.not_private())?;
        let mut parameter = algorithm.run(oracle, tell)?;
        let score = |noise_multiplier| Score { at: &parameter, noise_multiplier };
        let score = noise.score.map(|noise| oracle.ask(&score(noise))).transpose()?;
        let iterations = algorithm.iterations();
        let standard_errors = self.standard_errors.zip(noise.standard_errors);
        let standard_errors = standard_errors
            .map(|terms| standard_errors::ask(oracle, &self.objective, public, terms, &parameter))
            .transpose()?;
        let recalibration = self.recalibrate(oracle, public, noise, &mut parameter)?;
        Ok(RunOutcome {
            parameter,
            iterations,
            graph,
            score,
            standard_errors,
            recalibration,
            choice,
        })
    }

    /// Asks for the line through the log-odds, where one is paid for, and moves the parameter.
    fn recalibrate(
        &self,
        oracle: &mut dyn Oracle,
        public: &ProblemFacts,
        noise: &Noise,
        parameter: &mut [f64],
    ) -> Result<Option<Recalibration>, Error> {
        let constant = public.shape.intercept.then_some(self.objective.constant);
        let terms = self.calibrate.zip(noise.calibrate);
        Ok(terms.map(|terms| recalibration::ask(oracle, constant, terms, parameter)).transpose()?)
    }
}
