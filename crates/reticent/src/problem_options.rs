//! The options of a problem beside its loss, penalty and constraint: the one place that lists them.
//!
//! An option is a file of its own, a field of [`ProblemOptions`] and one of [`CheckedOptions`], and
//! its keys in a model file.
//! A fit, a choice among fits, a run between parties and an audit have them from their
//! [`Problem`](crate::Problem), a model keeps them, and none of these names one.

use std::sync::Arc;

use reticent_noise::Hasher;
use reticent_oracle::tables::TargetKind;
use reticent_problem::Loss;
use serde::{Deserialize, Serialize};

use crate::class_weights::{ClassTerms, Classes};
use crate::error::Error;
use crate::spec::Spec;

/// What was said of a problem. Unchecked.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProblemOptions {
    pub classes: ClassTerms,
}

impl ProblemOptions {
    /// Reads the words of a job.
    pub fn typed(spec: &Spec) -> Result<Self, Error> {
        Ok(ProblemOptions { classes: ClassTerms::typed(spec)? })
    }

    /// Writes them into a digest, for a problem with this loss: what is left out of a digest has
    /// noise repeated for it, so each is named.
    pub fn write(&self, loss: Option<&dyn Loss>, hasher: &mut Hasher) {
        let ProblemOptions { classes } = self;
        classes.write(loss.map_or(&[], Loss::weights), hasher);
    }

    /// Checks them for a target.
    pub fn check(&self, kind: &TargetKind) -> Result<CheckedOptions, Error> {
        Ok(CheckedOptions { classes: self.classes.check(kind)? })
    }
}

/// The same, checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "OptionKeys", into = "OptionKeys")]
pub(crate) struct CheckedOptions {
    pub classes: Classes,
}

/// Their keys in a model file, left out where an option was not given. A struct without parts: of
/// parts within parts of a model, serde takes every key for an unknown one.
#[derive(Clone, Serialize, Deserialize)]
struct OptionKeys {
    #[serde(skip_serializing_if = "Option::is_none")]
    class_weights: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    class_prior: Option<Vec<f64>>,
}

impl From<OptionKeys> for CheckedOptions {
    fn from(OptionKeys { class_weights, class_prior }: OptionKeys) -> Self {
        CheckedOptions { classes: Classes { weights: class_weights, prior: class_prior } }
    }
}

impl From<CheckedOptions> for OptionKeys {
    fn from(CheckedOptions { classes }: CheckedOptions) -> Self {
        OptionKeys { class_weights: classes.weights, class_prior: classes.prior }
    }
}

impl CheckedOptions {
    /// The loss that is minimised with them.
    pub fn apply(&self, loss: Arc<dyn Loss>) -> Result<Arc<dyn Loss>, Error> {
        self.classes.weigh(loss)
    }

    /// The assumptions of a guarantee about these options.
    pub fn assumptions(&self, loss: &dyn Loss) -> impl Iterator<Item = String> {
        self.classes.assumption(!loss.weights().is_empty()).into_iter()
    }

    /// Refuses those that a protocol between parties has no use for.
    pub fn refuse_between_parties(&self, loss: &dyn Loss) -> Result<(), Error> {
        self.classes.refuse_unlike(loss)
    }

    /// Refuses those of a model file that do not fit its target.
    pub fn check_file(&self, classes: usize) -> Result<(), String> {
        self.classes.check_file(classes)
    }

    /// Each that was given, by name, in words; `classes` are the names of the classes.
    pub fn described(
        &self,
        classes: &[&str],
    ) -> impl Iterator<Item = (&'static str, String)> + use<> {
        self.classes.in_words(classes).map(|words| ("class weights", words)).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json, to_value};

    use super::*;

    /// What has options in it, and keys of its own, as a model does.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct WithOptions {
        loss: String,
        #[serde(flatten)]
        options: CheckedOptions,
    }

    #[test]
    fn options_are_keys_beside_others_and_no_other_key_is_taken() {
        let keys = json!({ "loss": "a", "class_weights": [1.0, 0.1], "class_prior": [0.9, 0.1] });
        let read: WithOptions = from_value(keys.clone()).unwrap();
        assert_eq!(read.options.classes.weights, Some(vec![1.0, 0.1]));
        assert_eq!(to_value(&read).unwrap(), keys);
        let none: WithOptions = from_value(json!({ "loss": "a" })).unwrap();
        assert_eq!(none.options, CheckedOptions::default());
        assert_eq!(to_value(&none).unwrap(), json!({ "loss": "a" }));
        for wrong in [json!({ "loss": "a", "class_weight": [1.0] }), json!({ "loss": "a", "b": 1 })]
        {
            assert!(from_value::<WithOptions>(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn numbers_that_do_not_fit_the_classes_of_a_model_are_refused() {
        let with = |weights: &[f64], prior: &[f64]| CheckedOptions {
            classes: Classes { weights: Some(weights.to_vec()), prior: Some(prior.to_vec()) },
        };
        with(&[1.0, 2.0], &[0.5, 0.5]).check_file(2).unwrap();
        for (weights, prior) in [
            (vec![1.0], vec![0.5, 0.5]),
            (vec![1.0, 0.0], vec![0.5, 0.5]),
            (vec![1.0, 2.0], vec![f64::NAN, 1.0]),
        ] {
            assert!(with(&weights, &prior).check_file(2).is_err(), "{weights:?} {prior:?}");
        }
    }
}
