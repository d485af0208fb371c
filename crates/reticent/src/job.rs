//! A checked job: everything in it can be, and it was found out without reading the data.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reticent_accountant::{
    Adjacency, Event, Gaussian, Laplace, Ledger, Mechanism, Refused, Unit, View, calibrate, epsilon,
};
use reticent_admm::catalogue::{self, Entry, Kind, Recipe};
use reticent_admm::exact::ExactSettings;
use reticent_admm::{BlockSchedule, Public, Settings};
use reticent_oracle::tables::{self, Reading, Schema, TargetKind};
use reticent_oracle::{Opening, Sampling, Terms};
use reticent_problem::{
    Constraint, Graph, Loss, Regulariser, Shape, Target, constraints, losses, penalties,
};

use crate::error::{Error, plain};
use crate::graph::PrivateGraph;
use crate::map::{self, Cell, Procedure};
use crate::spec::Spec;
use crate::tune::Tuning;

/// The algorithm that runs when none is named.
const DEFAULT_ALGORITHM: &str = "auto";

/// The constant behind the intercept, as a part of the row norm: tables in other units then give
/// the same model in those units. Gradients are longer by √(1 + 0.3²), four in a hundred, and the
/// intercept moves a tenth as fast as a feature that fills a whole row would. The published
/// intercept is multiplied with it.
const INTERCEPT: f64 = 0.3;

/// What [`Spec::check`] made of a [`Spec`].
#[derive(Debug)]
pub struct Job {
    pub(crate) data: Vec<PathBuf>,
    pub(crate) reading: Reading,
    pub(crate) schema: Schema,
    pub(crate) entry: &'static Entry,
    pub(crate) loss: Arc<dyn Loss>,
    pub(crate) regulariser: Arc<Regulariser>,
    pub(crate) settings: Settings,
    pub(crate) opening: Opening,
    pub(crate) budget: Option<Budget>,
    pub(crate) seed: Option<u64>,
    /// A graph that is to be learned; the constraint is then that of a path, which stands in for
    /// it.
    pub(crate) graph: Option<PrivateGraph>,
    /// What is to be chosen privately; the job is then the first of the points.
    pub(crate) tuning: Option<Tuning>,
}

/// What may be spent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Budget {
    pub epsilon: f64,
    pub delta: f64,
}

impl Budget {
    /// What is wrong with a run that was told something before it ended.
    pub(crate) fn spent(self, why: Error) -> Error {
        let Budget { epsilon, delta } = self;
        Error::Spent { why: Box::new(why), epsilon, delta }
    }
}

impl Spec {
    /// Checks everything that can be checked without the data.
    pub fn check(&self) -> Result<Job, Error> {
        match self.tuning()? {
            // A score has Gaussian noise, whatever the runs have.
            Some((Job { budget: Some(Budget { delta: 0.0, .. }), .. }, _)) => {
                Err(no_pure("a choice among runs"))
            }
            Some((first, tuning)) => Ok(Job { tuning: Some(tuning), ..first }),
            None => self.check_one(false),
        }
    }

    /// The same for one point, which is one of several to choose among or not.
    pub(crate) fn check_one(&self, tuned: bool) -> Result<Job, Error> {
        let data = self.files();
        if data.is_empty() {
            return Err(Error::Missing {
                what: "the table",
                todo: "give a CSV, LIBSVM or Parquet file: reticent fit FILE …",
            });
        }
        let entry = find_algorithm(self.algorithm.as_deref().unwrap_or(DEFAULT_ALGORITHM))?;
        let budget = match entry.kind {
            // Not spent, but a number that cannot be is a mistake all the same.
            Kind::Exact => self.checked_epsilon().and(self.checked_delta()).map(|_| None)?,
            Kind::Private(_) => Some(self.budget()?),
        };
        let schema = self.schema()?;
        let kind = schema.target().map(|(_, target)| target.kind()).ok_or(Error::Missing {
            what: "the target",
            todo: "name the column to predict with --target, or give one column of the schema kind = \"target\"",
        })?;
        let loss = loss_for(self.loss.as_deref(), kind)?;
        let intercept = self.intercept.unwrap_or(true);
        let shape = Shape { features: schema.width(), outputs: loss.outputs(), intercept };
        let graph = self.graph()?;
        let regulariser = Arc::new(self.regulariser(&schema, shape, graph.is_some())?);
        let adjacency = self.adjacency.unwrap_or_default();
        let public_n = self.public_n.or(schema.public_n());
        if adjacency == Adjacency::AddRemove && public_n.unwrap_or(0) == 0 && budget.is_some() {
            return Err(Error::Missing {
                what: "a public number of records",
                todo: "add-remove keeps the true number private: give an estimate that is not taken from \
                       the data with --public-n N, or public_n in the schema",
            });
        }
        if adjacency == Adjacency::AddRemove
            && let Some(schedule) =
                self.settings.schedule.filter(|schedule| *schedule != BlockSchedule::All)
        {
            let why = "blocks that move at different times tell how many there are, which add-remove keeps private; \
                       use --schedule all, or --adjacency replace-one";
            return Err(value("schedule", schedule, why));
        }
        // Whoever declares whose row it is, in the schema or by a flag, means the person to be
        // protected.
        let declared = if schema.user().is_some() { Unit::User } else { Unit::Record };
        let unit = self.unit.unwrap_or(declared);
        if unit == Unit::User && schema.user().is_none() {
            let why = "it needs a column that says whose record each row is: give --user-column NAME, or a column of \
                       kind = \"user\" in the schema";
            return Err(value("unit", unit, why));
        }
        let opening = Opening {
            adjacency,
            unit,
            view: View::Central,
            public_n,
            intercept: constant(intercept, &schema),
        };
        let job = Job {
            data,
            reading: self.reading(),
            schema,
            entry,
            loss: loss.into(),
            regulariser,
            settings: self.settings.clone(),
            opening,
            budget,
            seed: self.seed,
            graph,
            tuning: None,
        };
        if graph.is_some() && job.budget.is_none() {
            return Err(job.not_private());
        }
        if let Some(count) = public_n.filter(|_| adjacency == Adjacency::AddRemove) {
            job.check_sample(count)?;
        }
        // Settings are refused here, before the data is read, or never.
        match entry.kind {
            Kind::Private(build) => {
                let public = job.public(job.opening.public_n.unwrap_or(1_000))?;
                build(&job.recipe(&public, 1.0))?;
                // What is published with a claim that does not hold is offered with that said, and
                // promises nothing.
                if self.settings.as_published != Some(true) {
                    map::offered(&job.cell(tuned))?;
                }
                job.check_pure(&public)?;
            }
            Kind::Exact => {
                ExactSettings::try_from(&job.settings)?;
            }
        }
        Ok(job)
    }

    pub(crate) fn budget(&self) -> Result<Budget, Error> {
        let epsilon = self.checked_epsilon()?.ok_or(Error::Missing {
            what: "the budget",
            todo: "say how much may be spent, with --epsilon E (and --delta D)",
        })?;
        let delta = self.checked_delta()?.ok_or(Error::Missing {
            what: "the budget's delta",
            todo: "give --delta D: the chance that epsilon does not hold, well below one over the number of records",
        })?;
        Ok(Budget { epsilon, delta })
    }

    fn checked_epsilon(&self) -> Result<Option<f64>, Error> {
        match self.epsilon {
            Some(epsilon) if !(epsilon.is_finite() && epsilon > 0.0) => {
                Err(value("epsilon", epsilon, "it must be a number above 0, for example 1.0"))
            }
            given => Ok(given),
        }
    }

    fn checked_delta(&self) -> Result<Option<f64>, Error> {
        match self.delta {
            Some(delta) if !(0.0..1.0).contains(&delta) => {
                let why = "it must be at least 0 and less than 1, for example 1e-5; 0 is for noise with a pure guarantee";
                Err(value("delta", delta, why))
            }
            given => Ok(given),
        }
    }

    pub(crate) fn schema(&self) -> Result<Schema, Error> {
        if self.schema.is_some() {
            let without = [
                ("features", self.features.map(|features| features.to_string())),
                ("row-norm", self.row_norm.map(|norm| norm.to_string())),
                ("classes", self.classes.as_ref().map(|classes| classes.join(","))),
                ("target-range", self.target_range.map(|[low, high]| format!("{low},{high}"))),
            ];
            if let Some((name, Some(given))) =
                without.into_iter().find(|(_, given)| given.is_some())
            {
                let why = format!(
                    "it is for LIBSVM without a schema, and there is one: leave out --{name} or --schema"
                );
                return Err(value(name, given, &why));
            }
        }
        let schema = match (&self.schema, self.features) {
            (Some(path), _) => Schema::read(path)?,
            (None, Some(features)) => {
                let row_norm = self.row_norm.ok_or(Error::Missing {
                    what: "the row norm",
                    todo: "give --row-norm R beside --features: rows are scaled into it",
                })?;
                let target = match (&self.classes, self.target_range) {
                    (Some(_), Some(_)) => {
                        return Err(value(
                            "target-range",
                            "both classes and target-range",
                            "a target has either classes or a range",
                        ));
                    }
                    (Some(classes), None) => tables::Target::classes(classes.iter().cloned())?,
                    (None, Some([lower, upper])) => TargetKind::Range { lower, upper },
                    (None, None) => tables::Target::classes(["-1", "+1"])?,
                };
                Schema::libsvm(features, row_norm, target)?
            }
            (None, None) => {
                return Err(Error::Missing {
                    what: "the schema",
                    todo: "nothing about private data is guessed: write a schema (docs/schema.md), or draft one \
                           from public data with `reticent schema init FILE`, and give it with --schema; for \
                           LIBSVM --features N --row-norm R is enough",
                });
            }
        };
        Ok(schema.with_roles(self.target.as_deref(), self.user_column.as_deref())?)
    }

    pub(crate) fn regulariser(
        &self,
        schema: &Schema,
        shape: Shape,
        learned: bool,
    ) -> Result<Regulariser, Error> {
        let penalty = penalties::parse(self.penalty.as_deref().unwrap_or("none"))?;
        if learned {
            Spec::check_graph_size(shape.features)?;
            return Ok(Regulariser::new(
                penalty,
                Constraint::graph(&Graph::path(shape.features)),
                shape,
            )?);
        }
        let context = constraints::Context {
            features: &schema.encoded_names(),
            read: &|file| {
                tables::read_text(Path::new(file))
                    .map_err(|error| std::io::Error::new(error.kind(), plain(&error)))
            },
        };
        let graph = self.graph.as_ref().map(|file| format!("graph:{file}"));
        let text = graph.as_deref().or(self.constraint.as_deref()).unwrap_or("identity");
        let constraint = constraints::parse(text, &context)?;
        Ok(Regulariser::new(penalty, constraint, shape)?)
    }
}

impl Job {
    /// Where on the map it is.
    fn cell(&self, tuned: bool) -> Cell {
        let Opening { unit, adjacency, view, .. } = self.opening;
        Cell {
            algorithm: self.entry.name,
            form: map::form(self.entry.takes, &self.settings),
            procedure: Procedure::of(tuned, self.graph.is_some()),
            view,
            unit,
            adjacency,
            drawn: self.settings.sampling.unwrap_or_default().into(),
        }
    }

    /// The public facts, once the public number of units is known.
    pub(crate) fn public(&self, population: u64) -> Result<Public, Error> {
        let Opening { intercept, adjacency, unit, view, .. } = self.opening;
        let whole_budget = match self.budget {
            Some(Budget { epsilon, delta }) => {
                let one = |noise| {
                    // Without a δ it is Laplace noise that is measured by.
                    let mechanism: Mechanism = match delta > 0.0 {
                        true => Gaussian::new(noise)?.into(),
                        false => Laplace::new(noise)?.into(),
                    };
                    Event::new(mechanism, adjacency, unit, view).map(|event| {
                        let mut ledger = Ledger::new();
                        ledger.append(event);
                        ledger
                    })
                };
                calibrate(epsilon, delta, one)?.noise_multiplier
            }
            None => 0.0,
        };
        Ok(Public {
            shape: self.regulariser.shape(),
            population,
            row_norm: (self.schema.row_norm().powi(2) + intercept * intercept).sqrt(),
            lipschitz: self.loss.lipschitz(),
            smoothness: self.loss.smoothness(),
            whole_budget,
        })
    }

    /// Refuses a sample that is larger than what it is drawn from.
    pub(crate) fn check_sample(&self, population: u64) -> Result<(), Error> {
        match self.settings.sampling {
            Some(sampling @ Sampling::WithoutReplacement(size)) if size > population => {
                let why = format!(
                    "there are {population} {}s; use wor:SIZE with SIZE of at most that",
                    self.opening.unit
                );
                Err(value("sampling", sampling, &why))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a δ of 0 where the plan has noise for which no ε holds without exception, before any
    /// table is read.
    fn check_pure(&self, public: &Public) -> Result<(), Error> {
        let Some(Budget { delta: 0.0, .. }) = self.budget else { return Ok(()) };
        let Opening { adjacency, unit, view, .. } = self.opening;
        let terms = match adjacency {
            Adjacency::ReplaceOne => Terms::of_parties(unit, view, public.population),
            Adjacency::AddRemove => Terms::add_remove(unit, view, public.population)?,
        };
        // What a plan for so many records refuses, it may not refuse for the true number.
        match self.rehearse_on(terms, public, &self.noise(1.0, 1.0, public, false)) {
            Ok(plan) => self.refuse_impure(&plan, 0.0),
            Err(_) => Ok(()),
        }
    }

    /// The same for a plan that is known.
    pub(crate) fn refuse_impure(&self, plan: &Ledger, delta: f64) -> Result<(), Error> {
        if delta > 0.0 || epsilon(plan, 0.0).is_ok_and(|bound| bound.upper.is_finite()) {
            Ok(())
        } else {
            Err(no_pure(self.entry.name))
        }
    }

    pub(crate) fn recipe<'a>(&'a self, public: &'a Public, noise_multiplier: f64) -> Recipe<'a> {
        Recipe {
            settings: &self.settings,
            public,
            regulariser: &self.regulariser,
            noise_multiplier,
        }
    }
}

/// The refusal of a δ of 0.
pub(crate) fn no_pure(name: &str) -> Error {
    let why = format!(
        "epsilon would have to hold without exception, and {name} as it is set has noise for which none does; give a delta \
         such as 1e-5, or --algorithm amp or objp with --law spherical-laplace"
    );
    value("delta", 0, &why)
}

fn find_algorithm(name: &str) -> Result<&'static Entry, Error> {
    catalogue::find(name).ok_or_else(|| {
        let names: Vec<_> = catalogue::CATALOGUE.iter().map(|entry| entry.name).collect();
        let party = reticent_runtime::find(name)
            .map_or("", |_| "`reticent simulate` runs it between parties; here ");
        let nearest = reticent_problem::catalogue::nearest(name, names.iter().copied())
            .filter(|_| party.is_empty())
            .map(|name| format!("did you mean `{name}`? "))
            .unwrap_or_default();
        value("algorithm", name, &format!("{nearest}{party}there are {}", names.join(", ")))
    })
}

/// The loss that was asked for, or the usual one for the target; refused when the two do not fit.
pub(crate) fn loss_for(text: Option<&str>, kind: &TargetKind) -> Result<Box<dyn Loss>, Error> {
    let (usual, given, classes) = match kind {
        TargetKind::Classes(labels) if labels.len() == 2 => ("logistic", Target::Binary, Some(2)),
        TargetKind::Classes(labels) => {
            ("multinomial", Target::Classes(labels.len()), Some(labels.len()))
        }
        TargetKind::Range { .. } => ("squared", Target::Real, None),
    };
    let text = text.unwrap_or(usual);
    let loss = losses::parse(text, classes)?;
    if loss.target() == given {
        return Ok(loss);
    }
    let fits = |target| match target {
        Target::Binary => "two classes".to_owned(),
        Target::Classes(2) => "more than two classes".to_owned(),
        Target::Classes(k) => format!("{k} classes"),
        Target::Real => "a number".to_owned(),
    };
    let allowed =
        format!("it predicts {}, the target is {}; use {usual}", fits(loss.target()), fits(given));
    Err(value("loss", text, &allowed))
}

/// The constant behind the intercept, in a fit and between parties.
pub(crate) fn constant(intercept: bool, schema: &Schema) -> f64 {
    if intercept { INTERCEPT * schema.row_norm() } else { 0.0 }
}

pub(crate) fn value(name: &'static str, given: impl ToString, allowed: &str) -> Error {
    Refused::new(name, given, allowed).into()
}
