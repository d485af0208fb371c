//! A trained model with all that is needed to use it and to trust it.

use std::path::Path;

use reticent_oracle::tables::{Schema, TargetKind};
use reticent_oracle::without_privacy::Linear;
use reticent_problem::{Edge, Graph, Shape};
use serde::{Deserialize, Serialize};

use crate::canonical::CanonicalObject;
use crate::certificate::{Certificate, VERSION, pretty};
use crate::error::Error;
use crate::identity::Identity;
use crate::objective::{Objective, loss_for};
use crate::problem_options::CheckedOptions;
use crate::quality::decode;
use crate::recalibration::Recalibration;
use crate::standard_errors::{Found, StandardErrors};
use crate::verify::Document;

/// The formats that this version reads; it writes the last. The first had no digest.
const VERSIONS: std::ops::RangeInclusive<u32> = 1..=VERSION;

/// The losses whose scores are log-odds.
pub(crate) const LOG_ODDS: [&str; 2] = ["logistic", "multinomial"];

/// A fitted model with its certificate, as `model.json` holds it: docs/model.md and schemas/model.schema.json.
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
    /// Estimates of the coefficients of the population, where they were asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    standard_errors: Option<StandardErrors>,
    /// What was done to its log-odds, where a share of the budget was spent on it; the coefficients
    /// have it in them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    recalibration: Option<Recalibration>,
    /// The options of the problem that was minimised.
    #[serde(flatten)]
    options: CheckedOptions,
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
#[non_exhaustive]
pub struct Coefficient {
    /// The name of the column.
    pub name: String,
    /// One weight for each output.
    pub values: Vec<f64>,
}

/// What a run may have beside its parameter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extras<'a> {
    /// A graph that was learned.
    pub graph: Option<&'a Graph>,
    /// The findings that standard errors follow from.
    pub errors: Option<&'a Found>,
    pub recalibration: Option<Recalibration>,
}

impl Model {
    /// The model of a run of `algorithm`.
    pub(crate) fn new(
        algorithm: &str,
        objective: &Objective,
        parameter: Vec<f64>,
        Extras { graph, errors, recalibration }: Extras<'_>,
        certificate: Certificate,
    ) -> Result<Self, Error> {
        let Objective { schema, loss, regulariser, constant, options, .. } = objective;
        let Shape { features, outputs, .. } = regulariser.shape();
        let (weights, intercept) = parameter.split_at(features * outputs);
        let names = schema.encoded_names();
        let target = schema.target();
        let mut model = Model {
            version: VERSION,
            algorithm: algorithm.to_owned(),
            loss: loss.spec(),
            penalty: regulariser.penalty().spec(),
            constraint: match graph {
                Some(_) => "graph:private".to_owned(),
                None => regulariser.constraint().spec().to_owned(),
            },
            graph: graph.map(|graph| {
                let edge =
                    |edge: &Edge| (names[edge.from].clone(), names[edge.to].clone(), edge.weight);
                graph.edges().iter().map(edge).collect()
            }),
            standard_errors: None,
            recalibration,
            options: options.clone(),
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
            preprocessing: schema.clone().without_origin().without_weight(),
            certificate,
        };
        model.standard_errors = errors.map(|found| model.in_units(found, *constant));
        model.sealed()
    }

    /// The same with other coefficients; an unsigned certificate is bound to them.
    pub(crate) fn with_parameter(
        mut self,
        parameter: &[f64],
        constant: f64,
    ) -> Result<Self, Error> {
        let outputs = self.outputs.len().max(1);
        let (weights, intercept) = parameter.split_at(self.coefficients.len() * outputs);
        for (coefficient, values) in self.coefficients.iter_mut().zip(weights.chunks_exact(outputs))
        {
            coefficient.values = values.to_vec();
        }
        self.intercept = intercept.iter().map(|b| b * constant).collect();
        self.sealed()
    }

    /// The same with the coefficients of another model of the same job, and nothing else of it.
    pub(crate) fn with_numbers_of(mut self, other: &Model) -> Result<Self, Error> {
        let form = |model: &Model| {
            let names = model.coefficients.iter();
            let names: Vec<_> = names.map(|own| (own.name.clone(), own.values.len())).collect();
            (names, model.intercept.len(), model.outputs.clone())
        };
        let numbers = other.coefficients.iter().flat_map(|own| &own.values);
        let finite = numbers.chain(&other.intercept).all(|number| number.is_finite());
        if form(&self) != form(other) || !finite {
            let why = "it has other coefficients than the job";
            return Err(Error::value("model", "another", why));
        }
        self.coefficients.clone_from(&other.coefficients);
        self.intercept.clone_from(&other.intercept);
        self.standard_errors = match (self.standard_errors.take(), &other.standard_errors) {
            (Some(own), Some(lead)) => Some(own.with_numbers_of(lead)?),
            (None, None) => None,
            _ => {
                let why = "it has estimates that the job does not ask for, or lacks those that it asks for";
                return Err(Error::value("model", "another", why));
            }
        };
        self.sealed()
    }

    /// The same with its certificate bound to it.
    fn sealed(mut self) -> Result<Self, Error> {
        let text = serde_json::to_string(&self).map_err(Error::no_digest)?;
        let object = CanonicalObject::read(&text).map_err(Error::no_digest)?;
        let body = body_digest(&object).map_err(Error::no_digest)?;
        self.certificate = self.certificate.sealed(Some(body))?;
        Ok(self)
    }

    /// Vouches for the model and its certificate.
    ///
    /// # Errors
    /// If the model was read from a file of an earlier version, without a digest.
    pub fn sign(&mut self, identity: &Identity) -> Result<(), Error> {
        self.certificate.sign(identity)
    }

    /// Reads a model file that is as it was written, as far as its digests tell. What its
    /// certificate says is not counted again: [`verify`](crate::verify()) does that.
    ///
    /// # Errors
    /// If the file cannot be read, is no model of this version, or was changed since.
    pub fn read(path: &Path) -> Result<Self, Error> {
        Self::unaltered(Document::read_model(path)?, path)
    }

    /// Reads the text of a model file, as [`Model::read`] does.
    ///
    /// # Errors
    /// If it is no model of this version, or was changed since it was written.
    pub fn from_json(text: &str) -> Result<Self, Error> {
        Self::unaltered(Document::parse(text)?, Path::new("the text"))
    }

    fn unaltered(document: Document, path: &Path) -> Result<Self, Error> {
        document.refuse_altered(path)?;
        document.into_model().ok_or_else(|| Error::Model {
            file: path.to_owned(),
            reason: "it is a certificate without its model".to_owned(),
        })
    }

    /// A model of any version that is read, from what its file says.
    pub(crate) fn from_text(text: &str) -> Result<Self, String> {
        let model: Model = serde_json::from_str(text).map_err(|error| error.to_string())?;
        model.check()?;
        Ok(model)
    }

    /// The text of `model.json`.
    ///
    /// # Errors
    /// None for a model that a run or a file gave.
    pub fn to_json(&self) -> Result<String, Error> {
        pretty(self)
    }

    fn check(&self) -> Result<(), String> {
        if !VERSIONS.contains(&self.version) {
            let last = VERSIONS.end();
            return Err(format!("it has version {}, this program reads 1 to {last}", self.version));
        }
        let outputs = self.outputs.len();
        let Some(kind) = self.kind() else {
            return Err("its preprocessing has no target".to_owned());
        };
        loss_for(&self.loss, &self.preprocessing).map_err(|error| error.to_string())?;
        let expected = match kind {
            TargetKind::Classes(labels) if labels.len() > 2 => labels.len(),
            _ => 1,
        };
        self.options.check_file(self.classes().map_or(0, |names| names.len()))?;
        let names = || self.coefficients.iter().map(|coefficient| &coefficient.name);
        let fits = outputs == expected
            && self.coefficients.len() == self.preprocessing.width()
            && self.coefficients.iter().all(|coefficient| coefficient.values.len() == outputs)
            && (self.intercept.is_empty() || self.intercept.len() == outputs)
            && names().eq(&self.preprocessing.encoded_names());
        if fits {
            Ok(())
        } else {
            Err("its coefficients and its preprocessing do not fit together".to_owned())
        }
    }

    /// The format.
    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// The certificate of its training.
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

    /// Whether the penalty acts on linear combinations of the coefficients.
    pub(crate) fn is_constrained(&self) -> bool {
        self.constraint != "identity"
    }

    /// The objective in words, by name: the problem, how columns are bent where they are, and
    /// the options that were given.
    pub fn described(&self) -> Vec<(&'static str, String)> {
        let problem = ["loss", "penalty", "constraint"].into_iter().zip(self.problem());
        let curves = self.curves_in_words().map(|words| ("curves", words));
        let pairs = self.pairs_in_words().map(|words| ("pairs", words));
        let options = self.options.described(&self.classes().unwrap_or_default());
        let problem = problem.map(|(name, value)| (name, value.to_owned()));
        problem.chain(curves).chain(pairs).chain(options).collect()
    }

    /// The edges of the graph that was learned privately, if one was: two columns and a sign.
    pub fn graph(&self) -> Option<&[(String, String, f64)]> {
        self.graph.as_deref()
    }

    /// Estimates of the coefficients of the population with their standard errors, where a share of
    /// the budget was spent on them.
    pub fn standard_errors(&self) -> Option<&StandardErrors> {
        self.standard_errors.as_ref()
    }

    /// The recalibration of its log-odds, where a share of the budget was spent on it.
    pub fn recalibration(&self) -> Option<&Recalibration> {
        self.recalibration.as_ref()
    }

    /// The options of the problem.
    pub(crate) fn options(&self) -> &CheckedOptions {
        &self.options
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

    /// The schema of the columns that it reads.
    pub fn preprocessing(&self) -> &Schema {
        &self.preprocessing
    }

    /// What is predicted, and what its values may be.
    pub(crate) fn target(&self) -> Option<(&str, &TargetKind)> {
        self.preprocessing.target().map(|(name, target)| (name, target.kind()))
    }

    /// Whether a score is a log-odds, so that there are probabilities. A margin, as of a hinge
    /// loss, is none.
    pub fn has_probabilities(&self) -> bool {
        LOG_ODDS.contains(&self.loss.split(':').next().unwrap_or_default())
    }

    fn kind(&self) -> Option<&TargetKind> {
        self.target().map(|(_, kind)| kind)
    }

    /// An encoded number in the units of the target, within its declared range: nothing outside can
    /// be true.
    pub(crate) fn decode(&self, encoded: f64) -> f64 {
        let Some(kind) = self.kind() else { return encoded };
        decode(kind, encoded)
    }

    pub(crate) fn parameter(&self) -> Vec<f64> {
        let weights = self.coefficients.iter().flat_map(|coefficient| &coefficient.values);
        weights.chain(&self.intercept).copied().collect()
    }

    pub(crate) fn linear<'a>(&self, parameter: &'a [f64]) -> Linear<'a> {
        let shape = Shape {
            features: self.coefficients.len(),
            outputs: self.outputs.len(),
            intercept: !self.intercept.is_empty(),
        };
        Linear { shape, parameter, intercept: 1.0 }
    }
}

/// The digest of a model without its certificate.
pub(crate) fn body_digest(model: &CanonicalObject) -> Result<String, serde_json::Error> {
    model.digest_without(&["certificate"])
}

#[cfg(test)]
mod tests {
    use super::LOG_ODDS;
    use reticent_problem::{LossTarget, losses};

    /// Who adds a loss of classes has to say whether it has probabilities.
    #[test]
    fn every_loss_of_classes_has_probabilities_or_margins() {
        let of_classes = losses::CATALOGUE.iter().filter(|entry| {
            losses::parse(entry.name, Some(3)).is_ok_and(|loss| loss.target() != LossTarget::Real)
        });
        let names: Vec<&str> = of_classes.map(|entry| entry.name).collect();
        let margins = ["huberised-hinge", "hinge", "squared-hinge", "piecewise-margin"];
        assert_eq!(names, LOG_ODDS.into_iter().chain(margins).collect::<Vec<_>>());
    }
}
