//! One declared column.

use super::SchemaError;
use crate::Labels;
use serde::{Deserialize, Serialize};

/// A column of the file and what it is for.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub(crate) name: String,
    pub(crate) role: Role,
}

/// What a column is for.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// A feature with bounds.
    Numeric(Numeric),
    /// A feature with a list of categories, encoded as one 0/1 column each.
    Categorical(Categorical),
    /// What is predicted.
    Target(Target),
    /// Not read.
    Ignored,
    /// Whose record it is.
    User,
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
    /// x itself.
    None,
}

/// What a missing number becomes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum MissingNumber {
    /// The middle of the bounds, which is 0 under the default scale; the default.
    #[default]
    Middle,
    /// The lower bound.
    Lower,
    /// The upper bound.
    Upper,
    /// This number, within the bounds.
    Value(f64),
}

/// A numeric feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Numeric {
    pub(crate) lower: f64,
    pub(crate) upper: f64,
    pub(crate) scale: Scale,
    pub(crate) missing: MissingNumber,
}

/// A categorical feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Categorical {
    pub(crate) categories: Labels,
    /// The category that a missing field becomes; `None` is no category, all zeros.
    pub(crate) missing: Option<usize>,
    /// The category that an unknown one becomes; `None` is no category, all zeros.
    pub(crate) unknown: Option<usize>,
}

/// What is predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    pub(crate) kind: TargetKind,
    /// Spelling of a class, or a number, that a missing target becomes; without it a missing target is an
    /// error.
    pub(crate) missing: Option<String>,
}

/// Classes or a range.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetKind {
    /// Two classes are encoded as −1 and +1 (the first is −1), more as 0, 1, 2, ….
    Classes(Labels),
    /// A number, clipped to the range and scaled to [−1, 1].
    Range {
        /// Encoded as −1.
        lower: f64,
        /// Encoded as 1.
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
    /// Not read.
    Ignore,
}

/// x into [−1, 1]; exact at both bounds.
pub(crate) fn centre(x: f64, lower: f64, upper: f64) -> f64 {
    let x = x.clamp(lower, upper);
    (((x - lower) - (upper - x)) / (upper - lower)).clamp(-1.0, 1.0)
}

impl Numeric {
    /// A finite number, clipped and scaled.
    pub(crate) fn encode(&self, x: f64) -> f64 {
        match self.scale {
            Scale::MinusOneToOne => centre(x, self.lower, self.upper),
            Scale::ZeroToOne => {
                ((x.clamp(self.lower, self.upper) - self.lower) / (self.upper - self.lower)).clamp(0.0, 1.0)
            }
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

impl Target {
    /// Classes or range.
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
            Self::Numeric(n) => {
                Some(Target { kind: TargetKind::Range { lower: n.lower, upper: n.upper }, missing: None })
            }
            Self::Categorical(c) => Some(Target { kind: TargetKind::Classes(c.categories), missing: None }),
            Self::Ignored | Self::User => None,
        }
    }
}

impl Column {
    /// Name in the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is for.
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// Number of encoded columns.
    pub fn width(&self) -> usize {
        match &self.role {
            Role::Numeric(_) => 1,
            Role::Categorical(c) => c.categories.len(),
            _ => 0,
        }
    }

    pub(crate) fn check(&self) -> Result<(), SchemaError> {
        let fail = |what: String| Err(SchemaError::Column { column: self.name.clone(), what });
        let bounds = |lower: f64, upper: f64| lower < upper && (upper - lower).is_finite();
        match &self.role {
            Role::Numeric(Numeric { lower, upper, missing, .. }) => {
                if !bounds(*lower, *upper) {
                    return fail(format!(
                        "has lower = {lower} and upper = {upper}; allowed: finite, lower < upper"
                    ));
                }
                if let MissingNumber::Value(x) = missing
                    && !(*lower..=*upper).contains(x)
                {
                    return fail(format!("has missing = {x}; allowed: a number from {lower} to {upper}"));
                }
            }
            Role::Categorical(c) if c.categories.is_empty() => {
                return fail("has no categories; allowed: at least one".into());
            }
            Role::Target(Target { kind: TargetKind::Range { lower, upper }, missing }) => {
                if !bounds(*lower, *upper) {
                    return fail(format!(
                        "has lower = {lower} and upper = {upper}; allowed: finite, lower < upper"
                    ));
                }
                if let Some(text) = missing
                    && !crate::number::parse(text.as_bytes()).is_some_and(|x| (*lower..=*upper).contains(&x))
                {
                    return fail(format!("has missing = {text}; allowed: a number from {lower} to {upper}"));
                }
            }
            Role::Target(Target { kind: TargetKind::Classes(labels), missing }) => {
                if labels.len() < 2 {
                    return fail(format!("has {} classes; allowed: two or more", labels.len()));
                }
                if let Some(text) = missing
                    && labels.position(text).is_none()
                {
                    return fail(format!("has missing = {text:?}; allowed: one of its classes"));
                }
            }
            _ => {}
        }
        if self.name.is_empty() {
            return fail("has an empty name".into());
        }
        Ok(())
    }
}
