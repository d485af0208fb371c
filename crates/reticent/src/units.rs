//! The weights of a model in the units of the table.
//!
//! An encoded number is `a·x + c` within the bounds, so a weight `w` of it is `w·a` for one unit of
//! the column, and `w·c` goes to the intercept. A prediction of a number is `m·s + k` of its score.
//! Both hold for records within the bounds and the row norm; others are clipped and scaled down
//! first. Where the scale is bent (`log`, `quantile`), one unit is not the same everywhere: the
//! weight is no number, and the intercept is that of an encoded 0.

use reticent_oracle::tables::{Role, Scale, TargetKind};
use serde::Serialize;

use crate::model::{Coefficient, Model};

/// What one unit of each column changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Units {
    /// What is changed: the log-odds or the score of a class, or the predicted number; one for each
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
        let schema = self.preprocessing();
        let mut encodings = Vec::with_capacity(self.coefficients().len());
        for column in schema.columns() {
            match column.role() {
                // One unit of a day is a day.
                Role::Numeric(numeric) | Role::Date(numeric) => {
                    let (lower, upper) = numeric.bounds();
                    let width = upper - lower;
                    encodings.push(match numeric.scale() {
                        Scale::MinusOneToOne => (2.0 / width, -(lower + upper) / width),
                        Scale::ZeroToOne => (1.0 / width, -lower / width),
                        Scale::None => (1.0, 0.0),
                        Scale::Log | Scale::Quantile => (f64::NAN, 0.0),
                    });
                }
                Role::Categorical(_) => {
                    encodings.extend(std::iter::repeat_n((1.0, 0.0), column.width()))
                }
                Role::Target(_) | Role::Ignored | Role::User => {}
            }
        }
        // The values of a LIBSVM file are as they are.
        encodings.resize(self.coefficients().len(), (1.0, 0.0));
        let (factor, shift) = match self.target() {
            Some((_, TargetKind::Range { lower, upper })) => {
                ((upper - lower) / 2.0, (lower + upper) / 2.0)
            }
            _ => (1.0, 0.0),
        };
        let pairs = || self.coefficients().iter().zip(&encodings);
        let moved =
            |output: usize| -> f64 { pairs().map(|(w, (_, c))| w.values[output] * c).sum() };
        Units {
            of: self.explained(),
            coefficients: pairs()
                .map(|(weight, (slope, _))| Coefficient {
                    name: weight.name.clone(),
                    values: weight.values.iter().map(|w| w * slope * factor).collect(),
                })
                .collect(),
            intercept: self
                .intercept()
                .iter()
                .enumerate()
                .map(|(output, b)| (b + moved(output)) * factor + shift)
                .collect(),
        }
    }

    /// What each output is the score of, in words.
    fn explained(&self) -> Vec<String> {
        let Some((target, _)) = self.target() else { return self.outputs().to_vec() };
        let Some(classes) = self.classes() else { return vec![target.to_owned()] };
        let word = if self.has_probabilities() { "log-odds" } else { "score" };
        match classes.as_slice() {
            [_, positive] => vec![format!("{word} of {target} = {positive}")],
            many => many.iter().map(|class| format!("{target} = {class}")).collect(),
        }
    }
}
