//! A checked fit: everything in it can be, and it was found out without reading a table.

use reticent_accountant::{
    Adjacency, Event, Gaussian, Laplace, Ledger, Mechanism, calibrate, epsilon, gdp_mu,
};
use reticent_admm::catalogue::{AlgorithmEntry, AlgorithmKind, Recipe};
use reticent_admm::exact::ExactSettings;
use reticent_admm::{BlockSchedule, ProblemFacts, Settings};
use reticent_oracle::{PrivacyModel, Sampling, SumLaw, Terms};

use crate::budget::Budget;
use crate::error::Error;
use crate::fit::Fit;
use crate::graph::PrivateGraph;
use crate::guarantee::Protection;
use crate::job::SOME;
use crate::map::{self, MapCell, MapProcedure};
use crate::objective::Objective;
use crate::outlook::Forecasted;
use crate::recalibration;
use crate::solver::Solver;
use crate::standard_errors;

/// One fit, checked. It may be one of several to choose among.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub objective: Objective,
    pub entry: &'static AlgorithmEntry,
    pub settings: Settings,
    /// The protection; without a budget for an algorithm without noise.
    pub protection: Protection,
    /// The noise in clips, where it is not to be calibrated.
    pub noise: Option<f64>,
    /// A graph that is to be learned; the constraint is then that of a path, which stands in for
    /// it.
    pub graph: Option<PrivateGraph>,
    /// The share of estimates with standard errors, where they are asked for.
    pub standard_errors: Option<f64>,
    /// The share of a recalibration, where one is asked for.
    pub calibrate: Option<f64>,
    /// The noise of each party, if parties add it.
    pub between: Option<SumLaw>,
}

/// The noise, in clips, of one answer that spends the whole budget; none without a budget.
///
/// # Errors
/// If no noise is enough for the budget.
pub fn whole_budget(budget: Option<Budget>, opening: PrivacyModel) -> Result<f64, Error> {
    let PrivacyModel { adjacency, unit, view, .. } = opening;
    let Some(budget) = budget else { return Ok(0.0) };
    let one = |noise| {
        // Without a δ it is Laplace noise that is measured by.
        let mechanism: Mechanism = match budget.delta() > 0.0 {
            true => Gaussian::new(noise)?.into(),
            false => Laplace::new(noise)?.into(),
        };
        Event::new(mechanism, adjacency, unit, view).map(|event| {
            let mut ledger = Ledger::new();
            ledger.append(event);
            ledger
        })
    };
    Ok(calibrate(budget.epsilon(), budget.delta(), one)?.noise_multiplier)
}

impl Task {
    /// Checks a fit, which is one of several to choose among or not.
    pub fn new(fit: Fit, tuned: bool) -> Result<Self, Error> {
        let Fit { problem, solver, graph, standard_errors, calibrate, guarantee, noise } =
            fit.with_path()?;
        let Solver { entry, settings } = solver;
        let beside = graph.is_some() || standard_errors.is_some() || calibrate.is_some();
        check_noise(noise, entry, tuned || beside)?;
        let noisy = matches!(entry.kind, AlgorithmKind::Private(_)) && noise != Some(0.0);
        guarantee.budget(noisy)?;
        let objective = problem.check()?;
        let protection = guarantee.check(&objective.schema, objective.constant, noisy)?;
        protection.of_one_table()?;
        let task = Task {
            objective,
            entry,
            settings,
            protection,
            noise,
            graph,
            standard_errors,
            calibrate,
            between: None,
        };
        task.check(tuned)?;
        Ok(task)
    }

    fn check(&self, tuned: bool) -> Result<(), Error> {
        self.check_add_remove()?;
        self.check_weights(tuned)?;
        if self.shares_budget() && self.protection.budget.is_none() {
            return Err(self.not_private());
        }
        let has_others = tuned || self.graph.is_some();
        if let Some(share) = self.calibrate {
            let has_errors = self.standard_errors.is_some();
            recalibration::check(share, &self.objective, has_others || has_errors)?;
        }
        if let Some(share) = self.standard_errors {
            standard_errors::check(share, &self.objective, has_others)?;
        }
        let PrivacyModel { adjacency, public_n, .. } = self.protection.opening;
        if let Some(count) = public_n.filter(|_| adjacency == Adjacency::AddRemove) {
            self.check_sample(count)?;
        }
        // Settings are refused here, before the data is read, or never.
        match self.entry.kind {
            AlgorithmKind::Private(_) => {
                let public = self.public(public_n.unwrap_or(SOME))?;
                self.entry.build(&self.recipe(&public, 1.0))?;
                // What is published with a claim that does not hold is offered with that said, and
                // promises nothing.
                if self.settings.as_published != Some(true) {
                    map::offered(&self.cell(tuned))?;
                }
                self.check_pure(&public)
            }
            AlgorithmKind::Exact => {
                ExactSettings::try_from(&self.settings)?;
                Ok(())
            }
        }
    }

    /// Where the true number of units is private, nothing may tell it.
    fn check_add_remove(&self) -> Result<(), Error> {
        if self.protection.opening.adjacency != Adjacency::AddRemove {
            return Ok(());
        }
        match self.settings.schedule.filter(|schedule| *schedule != BlockSchedule::All) {
            None => Ok(()),
            Some(schedule) => {
                let why = "blocks that move at different times tell how many there are, which add-remove keeps \
                           private; use `schedule = all`, or `adjacency = replace-one`";
                Err(Error::value("schedule", schedule, why))
            }
        }
    }

    /// Where on the map it is.
    pub fn cell(&self, tuned: bool) -> MapCell {
        let PrivacyModel { unit, adjacency, view, .. } = self.protection.opening;
        MapCell {
            algorithm: self.entry.name,
            form: map::form(self.entry.takes, &self.settings),
            procedure: match self.calibrate {
                _ if self.is_weighted() => MapProcedure::Weighted,
                Some(_) => MapProcedure::Recalibrated,
                None => {
                    MapProcedure::of(tuned, self.graph.is_some(), self.standard_errors.is_some())
                }
            },
            view,
            unit,
            adjacency,
            drawn: self.settings.sampling.unwrap_or_default().into(),
        }
    }

    /// Whether something beside the algorithm has a share of the budget.
    pub fn shares_budget(&self) -> bool {
        self.graph.is_some() || self.standard_errors.is_some() || self.calibrate.is_some()
    }

    /// The public facts, once the public number of units is known.
    pub fn public(&self, population: u64) -> Result<ProblemFacts, Error> {
        let whole = whole_budget(self.protection.budget, self.protection.opening)?;
        // Of sums between parties it is the noise of the sum that an algorithm has to do with.
        let excess = self.between.map_or(1.0, |law| law.excess());
        Ok(self.objective.public(population, whole * excess))
    }

    /// What may be expected of it, beside its numbers.
    pub fn forecasted(&self, public: &ProblemFacts) -> Forecasted {
        let PrivacyModel { adjacency, unit, .. } = self.protection.opening;
        let excess = self.between.map_or(1.0, |law| law.excess());
        let asked =
            self.standard_errors.is_some() || self.calibrate.is_some() || self.is_weighted();
        let choice = self.entry.choice(&self.recipe(public, 1.0)).ok().flatten();
        let shrinkage = choice.and_then(|choice| choice.settings.shrinkage);
        let shrinks =
            shrinkage.is_some_and(|spread| spread != 0.0) && !asked && self.graph.is_none();
        Forecasted { adjacency, unit, excess, auto: self.entry.name == "auto", shrinks }
    }

    /// Refuses a sample that is larger than what it is drawn from.
    pub fn check_sample(&self, population: u64) -> Result<(), Error> {
        match self.settings.sampling {
            Some(sampling @ Sampling::WithoutReplacement(size)) if size > population => {
                let why = format!(
                    "there are {population} {}s; use wor:SIZE with SIZE of at most that",
                    self.protection.opening.unit
                );
                Err(Error::value("sampling", sampling, why))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a δ of 0 where the plan has noise for which no ε holds without exception, before any
    /// table is read.
    fn check_pure(&self, public: &ProblemFacts) -> Result<(), Error> {
        if self.protection.budget.is_none_or(|budget| budget.delta() > 0.0) {
            return Ok(());
        }
        let terms = self.protection.terms(public.population)?;
        // What a plan for so many records refuses, it may not refuse for the true number.
        match self.rehearse(terms, public, &self.noise(1.0, 1.0, public, false)) {
            Ok(plan) => self.refuse_impure(&plan, 0.0),
            Err(_) => Ok(()),
        }
    }

    /// Whether what it costs is known on these terms: all of it where units are declared; otherwise
    /// where all noise is Gaussian and on all records.
    pub fn is_known_beforehand(&self, terms: Terms) -> bool {
        let gaussian = || {
            let public = self.public(terms.population()).ok()?;
            let once = self.rehearse(terms, &public, &self.noise(1.0, 1.0, &public, false)).ok()?;
            gdp_mu(&once)
        };
        let counted = terms.adjacency() == Adjacency::AddRemove;
        self.noise.is_none() && (counted || gaussian().is_some())
    }

    /// Refuses a known plan that is not pure although δ is 0.
    pub fn refuse_impure(&self, plan: &Ledger, delta: f64) -> Result<(), Error> {
        if delta > 0.0 || epsilon(plan, 0.0).is_ok_and(|bound| bound.upper.is_finite()) {
            Ok(())
        } else {
            Err(no_pure(self.entry.name))
        }
    }

    pub fn recipe<'a>(&'a self, public: &'a ProblemFacts, noise_multiplier: f64) -> Recipe<'a> {
        Recipe {
            settings: &self.settings,
            public,
            regulariser: &self.objective.regulariser,
            noise_multiplier,
        }
    }

    pub fn not_private(&self) -> Error {
        let why = "it has no privacy that could be measured or shared out; choose another one";
        Error::value("algorithm", self.entry.name, why)
    }
}

/// Refuses a noise by hand that is no noise, and one where there is none to set or more than one.
fn check_noise(noise: Option<f64>, entry: &AlgorithmEntry, several: bool) -> Result<(), Error> {
    let Some(noise) = noise else { return Ok(()) };
    let why = if !(noise.is_finite() && noise >= 0.0) {
        "a number of clips of at least 0 is needed; 0 is no noise and no privacy"
    } else if matches!(entry.kind, AlgorithmKind::Exact) {
        "the exact solver has no noise; leave it out"
    } else if several {
        "what is tuned, learns a graph, has standard errors or is recalibrated has several noises, which share a \
         budget; leave it out"
    } else {
        return Ok(());
    };
    Err(Error::value("noise", noise, why))
}

/// The refusal of a δ of 0.
pub(crate) fn no_pure(name: &str) -> Error {
    let why = format!(
        "epsilon would have to hold without exception, and {name} as it is set has noise for which none does; give \
         a delta such as 1e-5, or `algorithm = amp` or objp with `law = spherical-laplace`"
    );
    Error::value("delta", 0, why)
}
