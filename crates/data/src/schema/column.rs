//! One declared column.

use super::{CategoryOrder, Curve, SchemaError};
use crate::{IdForm, Labels};
use serde::{Deserialize, Serialize};

/// A column of the file and what it is for.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub(crate) name: String,
    pub(crate) role: Role,
}

/// What a column is used for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Role {
    /// A feature with bounds.
    Numeric(Numeric),
    /// A day, a feature with bounds; in days since 1970-01-01.
    Date(Numeric),
    /// A feature with a list of categories, encoded as one 0/1 column each, or along their order.
    Categorical(Categorical),
    /// The target: what the model predicts.
    Target(Target),
    /// The column is not read.
    Ignored,
    /// Whose record it is, and which spellings of an id are one person.
    User(IdForm),
    /// How much the record counts.
    Weight(RecordWeight),
}

/// How a clipped number is scaled. With t = (x − lower)/(upper − lower):
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// 2t − 1, from −1 to 1; the default.
    #[default]
    MinusOneToOne,
    /// t, from 0 to 1; keeps zeros of 0/1 columns.
    ZeroToOne,
    /// log(1 + x − lower) / log(1 + upper − lower), from 0 to 1: for amounts, of which most are
    /// small.
    Log,
    /// From −1 to 1 in equal steps over the declared quantiles, straight between them.
    Quantile,
    /// The number as it is, not scaled.
    None,
}

/// What becomes of a number that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum MissingNumber {
    /// The middle of the bounds, which is 0 under the default scale; the default.
    #[default]
    Middle,
    /// It becomes the lower bound.
    Lower,
    /// It becomes the upper bound.
    Upper,
    /// This number, within the bounds.
    Value(f64),
}

/// A numeric feature with its bounds and scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Numeric {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) scale: Scale,
    /// Ascending, strictly between the bounds; for [`Scale::Quantile`] alone.
    pub(crate) quantiles: Vec<f64>,
    pub(crate) missing: MissingNumber,
    /// What is declared about its hats.
    pub(crate) curve: Option<Curve>,
}

/// How much a record counts, as a part of the largest weight, which is public: a number from 0 to 1
/// whatever the field says. Missing weights are refused unless one is declared for them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordWeight {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) missing: Option<f64>,
}

/// What a category becomes that is not in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unknown {
    /// No category, all zeros; the default.
    #[default]
    Zeros,
    /// It becomes the category with this number.
    Category(usize),
    /// An error, which tells that there is one.
    Refuse,
}

/// A categorical feature: one column of the table for each category, or a line along their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Categorical {
    pub(crate) categories: Labels,
    /// The category that a missing field becomes; `None` is no category, all zeros.
    pub(crate) missing: Option<usize>,
    /// What an unknown one becomes.
    pub(crate) unknown: Unknown,
    /// Their order, where one is declared.
    pub(crate) order: Option<CategoryOrder>,
}

/// The target: what the model predicts, as classes or as a range.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    pub(crate) kind: TargetKind,
    /// Spelling of a class, or a number, that a missing target becomes; without it a missing target
    /// is an error.
    pub(crate) missing: Option<String>,
}

/// Classes or a range.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum TargetKind {
    /// Two classes are encoded as −1 and +1 (the first is −1), more as 0, 1, 2, ….
    Classes(Labels),
    /// A number, clipped to the range and scaled to [−1, 1].
    Range {
        /// The lower end of the range, encoded as −1.
        lower: f64,
        /// The upper end of the range, encoded as 1.
        upper: f64,
    },
}

/// What to do with columns of a file that the schema does not declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undeclared {
    /// An error; the default.
    #[default]
    Refuse,
    /// Such a column is not read.
    Ignore,
}

/// x into [−1, 1]; exact at both bounds.
pub(crate) fn centre(x: f64, lower: f64, upper: f64) -> f64 {
    let x = x.clamp(lower, upper);
    (((x - lower) - (upper - x)) / (upper - lower)).clamp(-1.0, 1.0)
}

impl Numeric {
    /// A finite number, clipped and scaled.
    #[inline]
    pub(crate) fn encode(&self, x: f64) -> f64 {
        let (lower, upper) = (self.lower, self.upper);
        match self.scale {
            Scale::Log => {
                ((x.clamp(lower, upper) - lower).ln_1p() / (upper - lower).ln_1p()).clamp(0.0, 1.0)
            }
            Scale::Quantile => {
                let x = x.clamp(lower, upper);
                let below = self.quantiles.partition_point(|&q| q <= x);
                let from = if below == 0 { lower } else { self.quantiles[below - 1] };
                let to = self.quantiles.get(below).copied().unwrap_or(upper);
                let steps = below as f64 + (x - from) / (to - from);
                (2.0 * steps / (self.quantiles.len() + 1) as f64 - 1.0).clamp(-1.0, 1.0)
            }
            Scale::MinusOneToOne => centre(x, self.lower, self.upper),
            Scale::ZeroToOne => ((x.clamp(self.lower, self.upper) - self.lower)
                / (self.upper - self.lower))
                .clamp(0.0, 1.0),
            Scale::None => x.clamp(self.lower, self.upper),
        }
    }

    pub(crate) fn encoded_missing(&self) -> f64 {
        match (self.missing, self.scale) {
            // Not through the middle as a number: it may round, and 0 should be 0.
            (MissingNumber::Middle, Scale::MinusOneToOne) => 0.0,
            (MissingNumber::Middle, _) => self.encode(self.lower + (self.upper - self.lower) / 2.0),
            (MissingNumber::Lower, _) => self.encode(self.lower),
            (MissingNumber::Upper, _) => self.encode(self.upper),
            (MissingNumber::Value(x), _) => self.encode(x),
        }
    }
}

impl RecordWeight {
    /// The largest weight, which a record counts once with.
    pub fn upper(&self) -> f64 {
        self.upper
    }

    /// A finite number, clipped, as a part of the largest.
    pub(crate) fn encode(&self, x: f64) -> f64 {
        (x.clamp(self.lower, self.upper) / self.upper).clamp(0.0, 1.0)
    }

    fn wrong(&self) -> Option<String> {
        let RecordWeight { lower, upper, missing } = *self;
        if !(0.0 <= lower && lower < upper && upper.is_finite()) {
            return Some(format!(
                "has lower = {lower} and upper = {upper}; allowed for weights: finite, 0 <= lower < upper"
            ));
        }
        let outside = missing.filter(|x| !(lower..=upper).contains(x));
        outside.map(|x| format!("has missing = {x}; allowed: a number from {lower} to {upper}"))
    }
}

impl Target {
    /// The classes of the target, or its range.
    pub fn kind(&self) -> &TargetKind {
        &self.kind
    }
}

impl TargetKind {
    /// The number for class `i`.
    pub fn encode_class(&self, i: usize) -> f64 {
        match self {
            Self::Classes(labels) if labels.len() == 2 => 2.0 * i as f64 - 1.0,
            _ => i as f64,
        }
    }

    /// A finite number of a range, clipped and scaled to [−1, 1].
    pub fn encode_number(&self, x: f64) -> f64 {
        match *self {
            Self::Range { lower, upper } => centre(x, lower, upper),
            Self::Classes(_) => x,
        }
    }

    /// From [−1, 1] back to the unit of the range.
    pub fn decode_number(&self, t: f64) -> f64 {
        match *self {
            Self::Range { lower, upper } => lower + (t + 1.0) / 2.0 * (upper - lower),
            Self::Classes(_) => t,
        }
    }
}

impl Role {
    /// The column as a target, where its values are declared.
    pub(crate) fn into_target(self) -> Option<Target> {
        match self {
            Self::Target(t) => Some(t),
            Self::Numeric(n) => Some(Target {
                kind: TargetKind::Range { lower: n.lower, upper: n.upper },
                missing: None,
            }),
            Self::Categorical(c) => {
                Some(Target { kind: TargetKind::Classes(c.categories), missing: None })
            }
            Self::Ignored | Self::User(_) | Self::Date(_) | Self::Weight(_) => None,
        }
    }
}

impl Column {
    /// Name in the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the column is used for.
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// Number of encoded columns: of a number, and of categories with an order, 1, and 1 for each of
    /// its hats.
    pub fn width(&self) -> usize {
        match &self.role {
            Role::Numeric(n) | Role::Date(n) => 1 + n.hat_count(),
            Role::Categorical(Categorical { order: Some(order), .. }) => {
                1 + order.along().hat_count()
            }
            Role::Categorical(c) => c.categories.len(),
            _ => 0,
        }
    }

    pub(crate) fn check(&self) -> Result<(), SchemaError> {
        let what = match &self.role {
            Role::Date(days) => days.wrong_as_days(),
            Role::Numeric(numeric) => numeric.wrong(),
            Role::Categorical(c) if c.categories.is_empty() => {
                Some("has no categories; allowed: at least one".to_owned())
            }
            Role::Target(target) => target.wrong(),
            Role::Weight(weight) => weight.wrong(),
            _ => None,
        };
        // The index that pandas writes has none, and nobody reads it.
        let nameless = self.name.is_empty() && !matches!(self.role, Role::Ignored);
        let unnamed = || nameless.then(|| "has an empty name".to_owned());
        match what.or_else(unnamed) {
            Some(what) => Err(SchemaError::Column { column: self.name.clone(), what }),
            None => Ok(()),
        }
    }
}

/// What is wrong with bounds of numbers, if anything is.
fn wrong_bounds(lower: f64, upper: f64) -> Option<String> {
    let right = lower < upper && (upper - lower).is_finite();
    (!right)
        .then(|| format!("has lower = {lower} and upper = {upper}; allowed: finite, lower < upper"))
}

impl Numeric {
    fn wrong(&self) -> Option<String> {
        let Numeric { lower, upper, missing, scale, quantiles, .. } = self;
        if let Some(what) = wrong_bounds(*lower, *upper) {
            return Some(what);
        }
        if let MissingNumber::Value(x) = missing
            && !(*lower..=*upper).contains(x)
        {
            return Some(format!("has missing = {x}; allowed: a number from {lower} to {upper}"));
        }
        let all: Vec<f64> = [lower].into_iter().chain(quantiles).chain([upper]).copied().collect();
        let wrong = (*scale == Scale::Quantile) == quantiles.is_empty()
            || !all.windows(2).all(|w| w[0] < w[1]);
        let quantiles = wrong.then(|| {
            "needs `quantiles` beside scale = \"quantile\", and nowhere else; allowed: numbers that \
             ascend, above `lower` and below `upper`"
                .to_owned()
        });
        quantiles.or_else(|| self.wrong_curve())
    }

    fn wrong_as_days(&self) -> Option<String> {
        let Numeric { lower, upper, missing, .. } = self;
        let day = |x: f64| crate::day::text(x as i64);
        let (first, last) = (day(*lower), day(*upper));
        if lower >= upper {
            return Some(format!("has lower = {first} and upper = {last}; allowed: lower < upper"));
        }
        match missing {
            MissingNumber::Value(x) if !(*lower..=*upper).contains(x) => {
                let x = day(*x);
                Some(format!("has missing = {x}; allowed: a day from {first} to {last}"))
            }
            _ => self.wrong_curve(),
        }
    }
}

impl Target {
    fn wrong(&self) -> Option<String> {
        let text = self.missing.as_deref();
        match &self.kind {
            TargetKind::Range { lower, upper } => {
                let inside = |text: &str| {
                    crate::number::parse(text.as_bytes())
                        .is_some_and(|x| (*lower..=*upper).contains(&x))
                };
                let outside = || {
                    text.filter(|text| !inside(text)).map(|text| {
                        format!("has missing = {text}; allowed: a number from {lower} to {upper}")
                    })
                };
                wrong_bounds(*lower, *upper).or_else(outside)
            }
            TargetKind::Classes(labels) if labels.len() < 2 => {
                Some(format!("has {} classes; allowed: two or more", labels.len()))
            }
            TargetKind::Classes(labels) => text
                .filter(|text| labels.position(text).is_none())
                .map(|text| format!("has missing = {text:?}; allowed: one of its classes")),
        }
    }
}
