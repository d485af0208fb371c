//! What the coefficients of a population are likely to be, beside those of the model: paid for by a
//! share of the budget, in the units of the table (docs/uncertainty.md).
//!
//! A category is compared with the first of its column: with an intercept the weights of all of them
//! are not determined, and their differences are.

use reticent_admm::{Estimated, Inference, MOST_COLUMNS, ProblemFacts};
use reticent_oracle::Oracle;
use reticent_oracle::tables::{Role, Schema};
use reticent_problem::Shape;
use serde::{Deserialize, Serialize};

use crate::column_curve::{CurveEstimate, Curved};
use crate::error::Error;
use crate::model::Model;
use crate::objective::Objective;
use crate::surface::{PairFeatures, SurfaceEstimate};

/// So many standard errors either way hold the truth in 95 of 100 cases.
pub(crate) const QUANTILE: f64 = 1.959_963_984_540_054;

/// Estimates of the coefficients of the population with their standard errors, or why there are
/// none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StandardErrors {
    /// The share of the budget that was spent on them.
    pub share: f64,
    /// The quantity that is explained: the log-odds of a class, or the predicted number.
    pub of: String,
    /// Why nothing is said of it; absent where something is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hidden: Option<String>,
    /// One for each column, the intercept first.
    pub estimates: Vec<CoefficientEstimate>,
    /// One for each column that is bent.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub curves: Vec<CurveEstimate>,
    /// One for each pair of columns.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub surfaces: Vec<SurfaceEstimate>,
}

/// A coefficient of the population, in the units of the table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CoefficientEstimate {
    /// The name of the column.
    pub name: String,
    /// The category that it is compared with.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub against: Option<String>,
    /// Whether it is about the encoded column, because one unit is not the same everywhere.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub encoded: bool,
    /// The estimate for the population.
    pub estimate: f64,
    /// Its standard error, of sampling and of noise.
    pub standard_error: f64,
}

impl CoefficientEstimate {
    /// The interval that holds the coefficient of the population in 95 of 100 tables.
    pub fn interval(&self) -> (f64, f64) {
        let by = QUANTILE * self.standard_error;
        (self.estimate - by, self.estimate + by)
    }
}

/// What a run has found, in the coordinates of its parameter.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    share: f64,
    pub kept: Vec<usize>,
    pub estimated: Estimated,
}

/// Refuses what no standard errors are offered for.
pub(crate) fn check(share: f64, objective: &Objective, has_others: bool) -> Result<(), Error> {
    let refuse = |why: &str| Err(Error::value("standard_errors", share, why));
    if !(share > 0.0 && share < 1.0) {
        return refuse("a share of the budget, above 0 and below 1");
    }
    if !["logistic", "squared"].contains(&objective.loss.name()) {
        let why = format!(
            "there are none for the loss {} yet; leave them out, or use logistic for two classes and squared for a number",
            objective.loss.spec()
        );
        return refuse(&why);
    }
    if !objective.loss.weights().is_empty() {
        return refuse("there are none for a model with class weights; leave one of the two out");
    }
    if has_others {
        return refuse(
            "there are none for a model that was chosen among several or has a learned graph; leave one of the two out",
        );
    }
    let width = objective.schema.width();
    if width > MOST_COLUMNS {
        let why = format!("there are {width} encoded columns; at most {MOST_COLUMNS}");
        return refuse(&why);
    }
    Ok(())
}

/// For each encoded column that is a category, the first one of its own column. Without an intercept
/// the categories of one column have its place.
fn references(schema: &Schema, intercept: bool) -> Vec<Option<usize>> {
    let mut references = Vec::with_capacity(schema.width());
    let mut determined = !intercept;
    for column in schema.columns() {
        let first = references.len();
        match column.role() {
            Role::Categorical(categorical) if categorical.order().is_none() => {
                let first = (!determined).then_some(first);
                determined = false;
                references.extend(std::iter::repeat_n(first, column.width()));
            }
            // What is no feature has no width.
            _ => references.extend(std::iter::repeat_n(None, column.width())),
        }
    }
    references.resize(schema.width(), None);
    references
}

/// Asks, after a run that ended at `parameter`.
pub(crate) fn ask(
    oracle: &mut dyn Oracle,
    objective: &Objective,
    public: &ProblemFacts,
    (share, noise_multiplier): (f64, f64),
    parameter: &[f64],
) -> Result<Found, Error> {
    let Shape { features, intercept, .. } = public.shape;
    let references = references(&objective.schema, intercept);
    let is_kept = |j: &usize| references[*j] != Some(*j);
    let last = intercept.then_some(features);
    let kept: Vec<usize> = (0..features).filter(is_kept).chain(last).collect();
    // The same scores, for records that are in one category of each column.
    let own = |j: usize| parameter[j] - references[j].map_or(0.0, |first| parameter[first]);
    let moved: f64 = (0..features).filter(|j| !is_kept(j)).map(|j| parameter[j]).sum();
    let behind = |j: usize| parameter[j] + moved / objective.constant;
    let start: Vec<f64> =
        kept.iter().map(|&j| if j < features { own(j) } else { behind(j) }).collect();
    let inference = Inference {
        public,
        kept: &kept,
        constant: objective.constant,
        squared: objective.loss.name() == "squared",
        noise_multiplier,
    };
    let estimated = inference.ask(oracle, &start)?;
    Ok(Found { share, kept, estimated })
}

impl Model {
    /// What was found, in the units of the table; `constant` is behind the intercept.
    pub(crate) fn in_units(&self, found: &Found, constant: f64) -> StandardErrors {
        let of = self.explained().into_iter().next().unwrap_or_default();
        let share = found.share;
        let (estimate, covariance) = match &found.estimated {
            Estimated::Found { estimate, covariance } => (estimate, covariance),
            Estimated::Hidden(why) => {
                let hidden = Some(why.clone());
                let (estimates, curves, surfaces) = Default::default();
                return StandardErrors { share, of, hidden, estimates, curves, surfaces };
            }
        };
        let names = self.coefficients();
        let references = references(self.preprocessing(), !self.intercept().is_empty());
        let encodings = self.encodings();
        let (factor, shift) = self.decoding();
        let len = found.kept.len();
        // A number made of the coordinates by these weights, and what moves it.
        let combined = |weights: &[f64], by: f64| {
            let value: f64 = weights.iter().zip(estimate).map(|(u, x)| u * x).sum();
            let entry = |at: usize| weights[at / len] * covariance[at] * weights[at % len];
            let variance: f64 = (0..len * len).map(entry).sum();
            (value + by, variance.max(0.0).sqrt())
        };
        let one = |place: usize, weight: f64| {
            let variance = covariance[place * len + place].max(0.0);
            (weight * estimate[place], weight.abs() * variance.sqrt())
        };
        // Of a record of zeros in the first category of each column; without an intercept that is
        // what the bounds alone make of zeros, and no estimate.
        let moved = |&j: &usize| encodings.get(j).map_or(constant, |(_, moved)| *moved) * factor;
        let weights: Vec<f64> = found.kept.iter().map(moved).collect();
        let (at_zero, error) = combined(&weights, shift);
        let intercept = CoefficientEstimate {
            name: "(intercept)".to_owned(),
            against: None,
            encoded: false,
            estimate: at_zero,
            standard_error: error,
        };
        let mut estimates: Vec<_> =
            (!self.intercept().is_empty()).then_some(intercept).into_iter().collect();
        for (place, &j) in found.kept.iter().enumerate().filter(|(_, j)| **j < names.len()) {
            let (slope, _) = encodings[j];
            let encoded = !slope.is_finite();
            let (estimate, standard_error) =
                one(place, if encoded { factor } else { slope * factor });
            estimates.push(CoefficientEstimate {
                name: names[j].name.clone(),
                against: references[j].map(|first| names[first].name.clone()),
                encoded,
                estimate,
                standard_error,
            });
        }
        let sums = FeatureSums { kept: &found.kept, estimate, covariance, factor };
        let curves = self.curve_estimates(&sums);
        let surfaces = self.surface_estimates(&sums);
        StandardErrors { share, of, hidden: None, estimates, curves, surfaces }
    }

    /// The curves of columns, at their knots.
    fn curve_estimates(&self, sums: &FeatureSums<'_>) -> Vec<CurveEstimate> {
        let curve = |curved: Curved<'_>| {
            let indices = curved.indices();
            let at = |features: Vec<f64>| sums.at(&indices, &features);
            let (estimates, standard_errors) = curved.features().into_iter().map(at).unzip();
            CurveEstimate { name: curved.name.to_owned(), estimates, standard_errors }
        };
        self.curved().into_iter().map(curve).collect()
    }

    /// What the columns of pairs do together, at their points.
    fn surface_estimates(&self, sums: &FeatureSums<'_>) -> Vec<SurfaceEstimate> {
        let surface = |pair: PairFeatures| {
            let found = pair.map(|features| sums.at(&pair.indices, features));
            let part = |of: fn(&(f64, f64)) -> f64| -> Vec<Vec<f64>> {
                found.iter().map(|row| row.iter().map(of).collect()).collect()
            };
            SurfaceEstimate {
                columns: [0, 1].map(|k| pair.sides[k].column.clone()),
                estimates: part(|it| it.0),
                standard_errors: part(|it| it.1),
            }
        };
        self.pair_features().into_iter().map(surface).collect()
    }
}

/// Sums of features times coefficients, and what moves them.
struct FeatureSums<'a> {
    kept: &'a [usize],
    estimate: &'a [f64],
    covariance: &'a [f64],
    factor: f64,
}

impl FeatureSums<'_> {
    /// The estimate of a sum and its standard error. A feature that is not kept is a category that
    /// the others of its column are compared with: its coefficient is 0.
    fn at(&self, indices: &[usize], features: &[f64]) -> (f64, f64) {
        let kept = |(j, &x): (&usize, &f64)| self.kept.binary_search(j).ok().map(|at| (at, x));
        let parts: Vec<(usize, f64)> = indices.iter().zip(features).filter_map(kept).collect();
        let value: f64 = parts.iter().map(|&(at, x)| x * self.estimate[at]).sum();
        let of_row = |&(at, x): &(usize, f64)| {
            let row = &self.covariance[at * self.kept.len()..];
            x * parts.iter().map(|&(to, y)| y * row[to]).sum::<f64>()
        };
        let variance: f64 = parts.iter().map(of_row).sum();
        (self.factor * value, self.factor * variance.max(0.0).sqrt())
    }
}
