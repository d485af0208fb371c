//! The weights of a model in the units of the table.
//!
//! An encoded number is `a·x + c` within the bounds, so a weight `w` of it is `w·a` for one unit of
//! the column, and `w·c` goes to the intercept. A prediction of a number is `m·s + k` of its score.
//! Both hold for records within the bounds and the row norm; others are clipped and scaled down
//! first. Where the scale is bent (`log`, `quantile`), or there
//! is a curve or a pair, one unit is not the same everywhere: the
//! weight is no number, and the intercept is that of an encoded 0.

use reticent_oracle::tables::{Role, Scale, TargetKind};
use serde::Serialize;

use crate::model::{Coefficient, Model};

/// The effect of one unit of each column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Units {
    /// The quantity that is changed: the log-odds or the score of a class, or the predicted number; one for each
    /// output.
    pub of: Vec<String>,
    /// By column, in the order of [`Model::coefficients`].
    pub coefficients: Vec<Coefficient>,
    /// For a record of zeros in no category, whether or not there can be one; empty without an
    /// intercept.
    pub intercept: Vec<f64>,
}

impl Model {
    /// The weights in the units of the table.
    pub fn units(&self) -> Units {
        let encodings = self.encodings();
        let (factor, _) = self.decoding();
        let scaled = |(weight, (slope, _)): (&Coefficient, &(f64, f64))| Coefficient {
            name: weight.name.clone(),
            values: weight.values.iter().map(|w| w * slope * factor).collect(),
        };
        Units {
            of: self.explained(),
            coefficients: self.coefficients().iter().zip(&encodings).map(scaled).collect(),
            intercept: if self.intercept().is_empty() { Vec::new() } else { self.at_zero() },
        }
    }

    /// The prediction for a record of zeros in no category, whether or not there can be one: the
    /// intercept of [`Model::units`], and where there is none what the bounds alone make of zeros.
    pub fn at_zero(&self) -> Vec<f64> {
        let encodings = self.encodings();
        let (factor, shift) = self.decoding();
        let at = |output: usize| {
            let pairs = self.coefficients().iter().zip(&encodings);
            let moved: f64 = pairs.map(|(w, (_, c))| w.values[output] * c).sum();
            let own = self.intercept().get(output).copied().unwrap_or(0.0);
            (own + moved) * factor + shift
        };
        (0..self.outputs().len()).map(at).collect()
    }

    /// What a score is multiplied by and moved by to be a prediction.
    pub(crate) fn decoding(&self) -> (f64, f64) {
        match self.target() {
            Some((_, TargetKind::Range { lower, upper })) => {
                ((upper - lower) / 2.0, (lower + upper) / 2.0)
            }
            _ => (1.0, 0.0),
        }
    }

    /// The `a` and the `c` of every encoded column.
    pub(crate) fn encodings(&self) -> Vec<(f64, f64)> {
        let schema = self.preprocessing();
        let mut encodings = Vec::with_capacity(self.coefficients().len());
        for column in schema.columns() {
            let in_pair = schema.pairs().iter().flatten().any(|name| name == column.name());
            match (column.numeric(), column.role()) {
                // One unit of a day is a day, of categories with an order the step to the next.
                (Some(numeric), _) => {
                    let (lower, upper) = numeric.bounds();
                    let width = upper - lower;
                    encodings.push(match numeric.scale() {
                        // One unit is not the same everywhere beside hats or in a pair either.
                        _ if numeric.hat_count() > 0 || in_pair => (f64::NAN, 0.0),
                        Scale::MinusOneToOne => (2.0 / width, -(lower + upper) / width),
                        Scale::ZeroToOne => (1.0 / width, -lower / width),
                        Scale::None => (1.0, 0.0),
                        Scale::Log | Scale::Quantile => (f64::NAN, 0.0),
                    });
                    let hats = std::iter::repeat_n((f64::NAN, 0.0), numeric.hat_count());
                    encodings.extend(hats);
                }
                (None, Role::Categorical(_)) => {
                    let slope = if in_pair { f64::NAN } else { 1.0 };
                    encodings.extend(std::iter::repeat_n((slope, 0.0), column.width()))
                }
                (None, _) => {}
            }
        }
        encodings.extend(std::iter::repeat_n((f64::NAN, 0.0), schema.products()));
        // The values of a LIBSVM file are as they are.
        encodings.resize(self.coefficients().len(), (1.0, 0.0));
        encodings
    }

    /// What each output is the score of, in words.
    pub(crate) fn explained(&self) -> Vec<String> {
        let Some((target, _)) = self.target() else { return self.outputs().to_vec() };
        let Some(classes) = self.classes() else { return vec![target.to_owned()] };
        let word = if self.has_probabilities() { "log-odds" } else { "score" };
        match classes.as_slice() {
            [_, positive] => vec![format!("{word} of {target} = {positive}")],
            many => many.iter().map(|class| format!("{target} = {class}")).collect(),
        }
    }
}
