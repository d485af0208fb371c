//! Classes of which there are few: weights that make them count more, and what is public of their
//! shares (docs/classes.md).
//!
//! Weights are public: they are given, or follow from public shares π of the K classes as
//! 1/(K·π_k), so that their mean over the records is 1. A record's loss is multiplied by the weight
//! of its class, and the bounds of its slope and curvature by the largest.

use std::sync::Arc;

use reticent_core::four_digits;
use reticent_noise::Hasher;
use reticent_oracle::tables::{Labels, TargetKind};
use reticent_problem::Loss;
use reticent_problem::losses::Weighted;

use crate::error::Error;
use crate::fit::Fit;
use crate::model::Model;
use crate::objective::Problem;
use crate::spec::Spec;

/// The word for weights by the shares of the classes.
const BALANCED: &str = "balanced";

/// Weights of the records of each class.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ClassWeights {
    /// As much as makes all classes count alike, by their public shares.
    Balanced,
    /// So much, by name.
    Given(Vec<(String, f64)>),
}

impl std::str::FromStr for ClassWeights {
    type Err = Error;

    /// `balanced`, or a weight for each class as `no:1,yes:9`.
    fn from_str(text: &str) -> Result<Self, Error> {
        if text == BALANCED {
            return Ok(ClassWeights::Balanced);
        }
        Ok(ClassWeights::Given(by_name("class_weight", text)?))
    }
}

/// What is said of the classes of a problem. Unchecked.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClassTerms {
    weights: Option<ClassWeights>,
    prior: Option<Vec<(String, f64)>>,
}

impl ClassTerms {
    /// Reads the words of a job.
    pub fn typed(spec: &Spec) -> Result<Self, Error> {
        let Spec { class_weight, class_prior, .. } = spec;
        let prior = |text: &String| by_name("class_prior", text);
        Ok(ClassTerms {
            weights: class_weight.as_deref().map(str::parse).transpose()?,
            prior: class_prior.as_ref().map(prior).transpose()?,
        })
    }

    /// Writes it into a digest, with weights that the loss brought.
    pub fn write(&self, own: &[f64], hasher: &mut Hasher) {
        let ClassTerms { weights, prior } = self;
        if !own.is_empty() || weights.is_some() || prior.is_some() {
            let classes = format!("{own:?} {weights:?} {prior:?}");
            hasher.field(b"class weights").field(classes.as_bytes());
        }
    }

    /// Checks it for the classes of a target.
    pub fn check(&self, kind: &TargetKind) -> Result<Classes, Error> {
        Classes::new(self.weights.as_ref(), self.prior.as_deref(), kind)
    }
}

impl Problem {
    /// How much a record of each class counts; alike by default (docs/classes.md).
    pub fn class_weights(mut self, weights: ClassWeights) -> Self {
        self.options.classes.weights = Some(weights);
        self
    }

    /// The shares of the classes, which are public: not taken from the table.
    pub fn class_prior(mut self, shares: impl IntoIterator<Item = (String, f64)>) -> Self {
        self.options.classes.prior = Some(shares.into_iter().collect());
        self
    }
}

impl Fit {
    /// How much a record of each class counts; alike by default (docs/classes.md).
    pub fn class_weights(mut self, weights: ClassWeights) -> Self {
        self.problem = self.problem.class_weights(weights);
        self
    }

    /// The shares of the classes, which are public: not taken from the table.
    pub fn class_prior(mut self, shares: impl IntoIterator<Item = (String, f64)>) -> Self {
        self.problem = self.problem.class_prior(shares);
        self
    }
}

/// Reads `no:0.9,yes:0.1`.
fn by_name(key: &'static str, text: &str) -> Result<Vec<(String, f64)>, Error> {
    let pair = |pair: &str| {
        let (name, number) = pair.rsplit_once(':')?;
        Some((name.trim().to_owned(), number.trim().parse().ok()?))
    };
    text.split(',').map(pair).collect::<Option<Vec<_>>>().ok_or_else(|| {
        let or = if key == "class_weight" { "balanced, or " } else { "" };
        let why = format!("{or}a number for each class is needed, as CLASS:NUMBER,CLASS:NUMBER");
        Error::value(key, text, why)
    })
}

/// The numbers in the order of the classes.
fn in_order(
    key: &'static str,
    given: &[(String, f64)],
    labels: &Labels,
) -> Result<Vec<f64>, Error> {
    let text = || {
        let pairs: Vec<String> = given.iter().map(|(name, x)| format!("{name}:{x}")).collect();
        pairs.join(",")
    };
    let names: Vec<&str> = labels.names().collect();
    let find = |class: &&str| given.iter().find(|(name, _)| name == class).map(|(_, x)| *x);
    let found: Option<Vec<f64>> = names.iter().map(find).collect();
    match found.filter(|_| given.len() == names.len()) {
        Some(numbers) => Ok(numbers),
        None => {
            let why = format!("one number for each class is needed: {}", names.join(", "));
            Err(Error::value(key, text(), why))
        }
    }
}

/// Weights that a loss can be multiplied with.
fn weights_in_order(given: &[(String, f64)], labels: &Labels) -> Result<Vec<f64>, Error> {
    let weights = in_order("class_weight", given, labels)?;
    match weights.iter().find(|weight| !Weighted::WEIGHTS.contains(weight)) {
        None => Ok(weights),
        Some(weight) => {
            let why = "a weight between 1e-6 and 1e6 is needed for every class";
            Err(Error::value("class_weight", weight, why))
        }
    }
}

/// The weights and the shares of the classes, in their order, where there are any.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Classes {
    pub weights: Option<Vec<f64>>,
    pub prior: Option<Vec<f64>>,
}

impl Classes {
    /// Checks what was said of the classes of a target.
    pub fn new(
        weights: Option<&ClassWeights>,
        prior: Option<&[(String, f64)]>,
        kind: &TargetKind,
    ) -> Result<Self, Error> {
        let labels = match (kind, weights, prior) {
            (_, None, None) => return Ok(Classes::default()),
            (TargetKind::Classes(labels), ..) => labels,
            (_, weights, _) => {
                let key = if weights.is_some() { "class_weight" } else { "class_prior" };
                let why = "the target is a number and has no classes; leave it out";
                return Err(Error::value(key, "given", why));
            }
        };
        let prior = prior.map(|prior| shares(prior, labels)).transpose()?;
        let weights = match weights {
            None => None,
            Some(ClassWeights::Given(given)) => Some(weights_in_order(given, labels)?),
            Some(ClassWeights::Balanced) => {
                let why = "the shares of the classes are private: give public ones with `class_prior = \
                           A:0.9,B:0.1`, or buy noisy ones first with `reticent count` (docs/classes.md)";
                let prior =
                    prior.as_ref().ok_or_else(|| Error::value("class_weight", BALANCED, why))?;
                Some(prior.iter().map(|share| 1.0 / (prior.len() as f64 * share)).collect())
            }
        };
        Ok(Classes { weights, prior })
    }

    /// The assumption of a guarantee about the class weights, if any are set; the loss may have its
    /// own.
    pub fn assumption(&self, weighted: bool) -> Option<String> {
        let what = match (weighted || self.weights.is_some(), self.prior.is_some()) {
            (true, true) => "the weights and the shares of the classes",
            (true, false) => "the weights of the classes",
            (false, true) => "the shares of the classes",
            (false, false) => return None,
        };
        Some(format!(
            "{what} are public: they were not taken from the private data, or were bought with a certificate of \
             their own"
        ))
    }

    /// The loss in which each class has its weight.
    pub fn weigh(&self, loss: Arc<dyn Loss>) -> Result<Arc<dyn Loss>, Error> {
        match &self.weights {
            None => Ok(loss),
            Some(weights) => Ok(Arc::new(Weighted::new(loss, weights.clone())?)),
        }
    }

    /// Refuses classes of which not all count alike: in a protocol between parties they do.
    pub fn refuse_unlike(&self, loss: &dyn Loss) -> Result<(), Error> {
        if loss.weights().is_empty() && *self == Classes::default() {
            return Ok(());
        }
        let why = "classes have no weights and no shares between parties; leave them out";
        Err(Error::value("class_weight", "given", why))
    }

    /// Refuses numbers of a model file that are not one for each of so many classes.
    pub fn check_file(&self, classes: usize) -> Result<(), String> {
        let positive = |x: &f64| x.is_finite() && *x > 0.0;
        let fits = |all: &Vec<f64>| all.len() == classes && all.iter().all(positive);
        match self.weights.iter().chain(&self.prior).all(fits) {
            true => Ok(()),
            false => Err("its class weights or shares do not fit its classes".to_owned()),
        }
    }

    /// The weights, by the names of the classes.
    pub fn in_words(&self, names: &[&str]) -> Option<String> {
        let named = names.iter().zip(self.weights.as_ref()?);
        let words: Vec<String> =
            named.map(|(name, x)| format!("{name} {}", four_digits(*x))).collect();
        Some(words.join(", "))
    }
}

/// Shares that add up to 1, none of them 0.
fn shares(given: &[(String, f64)], labels: &Labels) -> Result<Vec<f64>, Error> {
    let numbers = in_order("class_prior", given, labels)?;
    let sum: f64 = numbers.iter().sum();
    let fits = |share: &f64| *share >= 1e-6 && *share <= 1.0;
    if numbers.iter().all(fits) && (sum - 1.0).abs() <= 1e-3 {
        return Ok(numbers.iter().map(|share| share / sum).collect());
    }
    let text: Vec<String> = given.iter().map(|(name, x)| format!("{name}:{x}")).collect();
    let why = "shares of at least 1e-6 that add up to 1 are needed";
    Err(Error::value("class_prior", text.join(","), why))
}

impl Model {
    /// The weights of the classes that it was trained with, in their order.
    pub fn class_weights(&self) -> Option<&[f64]> {
        self.options().classes.weights.as_deref()
    }

    /// The public shares of the classes, in their order, where they were said.
    pub fn class_prior(&self) -> Option<&[f64]> {
        self.options().classes.prior.as_deref()
    }

    /// A note on the probabilities of a model that was trained with class weights.
    pub fn distortion(&self) -> Option<String> {
        let names = self.classes().filter(|_| self.has_probabilities())?;
        let weights = self.options().classes.in_words(&names)?;
        Some(format!(
            "The model was trained with class weights ({weights}): its probabilities are those among records that are \
             weighted so, and not how often a class comes. Their order is the same."
        ))
    }

    /// The threshold above which the second of two classes is likelier than its share, for
    /// [`Asked::threshold`](crate::PredictionInput::threshold): the share itself or, of a model with class
    /// weights, what it is among records that are weighted so.
    ///
    /// # Errors
    /// If no shares were said when it was trained, or it has no probabilities of two classes.
    pub fn prior_threshold(&self) -> Result<f64, Error> {
        let refuse = |why: &str| Err(Error::value("threshold", "prior", why));
        if !self.has_probabilities() || self.outputs().len() > 1 {
            return refuse("it is for probabilities of two classes; give a number");
        }
        let Some([first, second]) = self.class_prior() else {
            return refuse(
                "the model was trained without `class_prior`, and the shares of its classes are private; give a number",
            );
        };
        let weights = self.class_weights().unwrap_or(&[1.0, 1.0]);
        Ok(weights[1] * second / (weights[0] * first + weights[1] * second))
    }
}
