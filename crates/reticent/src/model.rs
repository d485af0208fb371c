//! A trained model with all that is needed to use it and to trust it.

use std::path::Path;

use reticent_oracle::PrivateTable;
use reticent_oracle::not_private::{self, Linear, Quality};
use reticent_oracle::tables::{Format, Schema, TargetKind};
use reticent_problem::{Edge, Graph, Loss, Regulariser, Shape};
use serde::{Deserialize, Serialize};

use crate::certificate::Certificate;
use crate::error::Error;
use crate::job::Job;

/// The format that this version writes and reads.
const VERSION: u32 = 1;

/// What `model.json` holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    version: u32,
    algorithm: String,
    loss: String,
    penalty: String,
    constraint: String,
    /// The edges of a graph that was learned privately, as pairs of columns with a sign.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    graph: Option<Vec<(String, String, f64)>>,
    /// The columns of the parameter: the classes, or the one target.
    outputs: Vec<String>,
    coefficients: Vec<Coefficient>,
    /// One number for each output; empty without an intercept.
    intercept: Vec<f64>,
    preprocessing: Schema,
    certificate: Certificate,
}

/// The weight of one encoded column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coefficient {
    /// The column.
    pub name: String,
    /// One weight for each output.
    pub values: Vec<f64>,
}

/// What a model says about one record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Prediction {
    /// A class and the probability of each class, scores read as log-odds.
    Class {
        /// The likeliest class.
        class: String,
        /// The probabilities, in the order of the classes.
        probabilities: Vec<f64>,
    },
    /// A number, in the units of the target.
    Number {
        /// The number.
        value: f64,
    },
}

/// What a model is made of, beside its parameter.
pub(crate) struct Parts<'a> {
    pub algorithm: &'a str,
    pub loss: &'a dyn Loss,
    pub regulariser: &'a Regulariser,
    pub schema: &'a Schema,
    /// The constant behind the intercept.
    pub constant: f64,
    /// A graph that was learned.
    pub graph: Option<&'a Graph>,
}

impl Model {
    pub(crate) fn new(
        job: &Job,
        parameter: Vec<f64>,
        graph: Option<&Graph>,
        certificate: Certificate,
    ) -> Self {
        let Job { loss, regulariser, schema, .. } = job;
        let constant = job.opening.intercept;
        let parts = Parts { algorithm: job.entry.name, loss: &**loss, regulariser, schema, constant, graph };
        Self::of(parts, parameter, certificate)
    }

    pub(crate) fn of(parts: Parts<'_>, parameter: Vec<f64>, certificate: Certificate) -> Self {
        let Parts { algorithm, loss, regulariser, schema, constant, graph } = parts;
        let Shape { features, outputs, .. } = regulariser.shape();
        let (weights, intercept) = parameter.split_at(features * outputs);
        let names = schema.encoded_names();
        let target = schema.target();
        Model {
            version: VERSION,
            algorithm: algorithm.to_owned(),
            loss: loss.spec(),
            penalty: regulariser.penalty().spec(),
            constraint: match graph {
                Some(_) => "graph:private".to_owned(),
                None => regulariser.constraint().spec().to_owned(),
            },
            graph: graph.map(|graph| {
                let edge = |edge: &Edge| (names[edge.from].clone(), names[edge.to].clone(), edge.weight);
                graph.edges().iter().map(edge).collect()
            }),
            outputs: match target.map(|(name, target)| (name, target.kind())) {
                Some((_, TargetKind::Classes(labels))) if outputs > 1 => {
                    labels.names().map(str::to_owned).collect()
                }
                Some((name, _)) => vec![name.to_owned()],
                None => Vec::new(),
            },
            coefficients: names
                .into_iter()
                .zip(weights.chunks_exact(outputs))
                .map(|(name, values)| Coefficient { name, values: values.to_vec() })
                .collect(),
            // In units of the score, as whoever uses the model expects.
            intercept: intercept.iter().map(|b| b * constant).collect(),
            preprocessing: schema.clone().without_origin(),
            certificate,
        }
    }

    /// Reads a model file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = reticent_oracle::tables::read_text(path)
            .map_err(|error| Error::read(path, "the model", &error))?;
        let refuse = |reason: String| Error::Model { file: path.to_owned(), reason };
        let model: Model = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
        model.check().map_err(refuse)?;
        Ok(model)
    }

    fn check(&self) -> Result<(), String> {
        if self.version != VERSION {
            return Err(format!("it has version {}, this program reads {VERSION}", self.version));
        }
        let outputs = self.outputs.len();
        let fits = outputs > 0
            && self.coefficients.len() == self.preprocessing.width()
            && self.coefficients.iter().all(|coefficient| coefficient.values.len() == outputs)
            && (self.intercept.is_empty() || self.intercept.len() == outputs)
            && self.preprocessing.target().is_some();
        if fits {
            Ok(())
        } else {
            Err("its coefficients and its preprocessing do not fit together".to_owned())
        }
    }

    /// What was guaranteed when it was trained.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// The name of the algorithm.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// The loss, the penalty and the constraint, as users type them.
    pub fn problem(&self) -> [&str; 3] {
        [&self.loss, &self.penalty, &self.constraint]
    }

    /// The edges of the graph that was learned privately, if one was: two columns and a sign.
    pub fn graph(&self) -> Option<&[(String, String, f64)]> {
        self.graph.as_deref()
    }

    /// The names of the outputs.
    pub fn outputs(&self) -> &[String] {
        &self.outputs
    }

    /// The classes that it tells apart, in order; `None` for a model of a number.
    pub fn classes(&self) -> Option<Vec<&str>> {
        match self.kind() {
            Some(TargetKind::Classes(labels)) => Some(labels.names().collect()),
            _ => None,
        }
    }

    /// The weights, by column.
    pub fn coefficients(&self) -> &[Coefficient] {
        &self.coefficients
    }

    /// The intercept; empty without one.
    pub fn intercept(&self) -> &[f64] {
        &self.intercept
    }

    /// Predictions for the records of a file.
    pub fn predict(&self, data: &Path, format: Option<Format>) -> Result<Vec<Prediction>, Error> {
        let table = PrivateTable::load_features(data, format, &self.preprocessing)?;
        let parameter = self.parameter();
        let scores = not_private::scores(&table, &self.linear(&parameter));
        Ok(scores.chunks_exact(self.outputs.len()).map(|scores| self.prediction(scores)).collect())
    }

    /// The quality of the model on a file with targets. Not private.
    pub fn evaluate(&self, data: &Path, format: Option<Format>) -> Result<Quality, Error> {
        let table = PrivateTable::load(data, format, &self.preprocessing)?;
        let parameter = self.parameter();
        let decode = |encoded: f64| self.decode(encoded);
        let is_range = matches!(self.kind(), Some(TargetKind::Range { .. }));
        let decode: Option<&dyn Fn(f64) -> f64> = if is_range { Some(&decode) } else { None };
        Ok(not_private::evaluate(&table, &self.linear(&parameter), decode))
    }

    fn kind(&self) -> Option<&TargetKind> {
        self.preprocessing.target().map(|(_, target)| target.kind())
    }

    fn decode(&self, encoded: f64) -> f64 {
        self.preprocessing.target().map_or(encoded, |(_, target)| target.kind().decode_number(encoded))
    }

    fn prediction(&self, scores: &[f64]) -> Prediction {
        let Some(TargetKind::Classes(labels)) = self.kind() else {
            return Prediction::Number { value: self.decode(scores[0]) };
        };
        let both = match scores {
            [score] => vec![0.0, *score],
            many => many.to_vec(),
        };
        let best = (1..both.len()).fold(0, |best, k| if both[k] > both[best] { k } else { best });
        let weights: Vec<f64> = both.iter().map(|score| (score - both[best]).exp()).collect();
        let total: f64 = weights.iter().sum();
        Prediction::Class {
            class: labels.name(best).to_owned(),
            probabilities: weights.iter().map(|weight| weight / total).collect(),
        }
    }

    fn parameter(&self) -> Vec<f64> {
        let weights = self.coefficients.iter().flat_map(|coefficient| &coefficient.values);
        weights.chain(&self.intercept).copied().collect()
    }

    fn linear<'a>(&self, parameter: &'a [f64]) -> Linear<'a> {
        let shape = Shape {
            features: self.coefficients.len(),
            outputs: self.outputs.len(),
            intercept: !self.intercept.is_empty(),
        };
        Linear { shape, parameter, intercept: 1.0 }
    }
}
