//! The schema as it is written: every key optional where a default exists, nothing believed yet.

use super::{
    Categorical, Column, Drafted, MissingNumber, Numeric, Role, Scale, Schema, SchemaError, Target,
    TargetKind, Undeclared,
};
use crate::Labels;
use crate::labels::{Spelling, Word};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSchema {
    row_norm: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    public_n: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    features: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    delimiter: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trim: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing_tokens: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    undeclared: Option<Undeclared>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    drafted: Option<Drafted>,
    #[serde(default)]
    column: Vec<RawColumn>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Numeric,
    Categorical,
    Target,
    Ignored,
    User,
}

/// One flat struct for all kinds rather than an enum by `kind`: the message for a key that is missing or out
/// of place can then name the column, where serde would name a Rust variant.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawColumn {
    name: String,
    kind: Kind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lower: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    upper: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<Scale>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<Word>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unknown: Option<Word>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    categories: Option<Vec<Spelling>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    classes: Option<Vec<Spelling>>,
}

impl RawColumn {
    fn blank(name: String, kind: Kind) -> Self {
        Self {
            name,
            kind,
            lower: None,
            upper: None,
            scale: None,
            missing: None,
            unknown: None,
            categories: None,
            classes: None,
        }
    }

    fn role(self) -> Result<Role, String> {
        let keys: &[&str] = match self.kind {
            Kind::Numeric => &["lower", "upper", "scale", "missing"],
            Kind::Categorical => &["categories", "missing", "unknown"],
            Kind::Target => &["classes", "lower", "upper", "missing"],
            Kind::Ignored | Kind::User => &[],
        };
        let given = [
            ("lower", self.lower.is_some()),
            ("upper", self.upper.is_some()),
            ("scale", self.scale.is_some()),
            ("missing", self.missing.is_some()),
            ("unknown", self.unknown.is_some()),
            ("categories", self.categories.is_some()),
            ("classes", self.classes.is_some()),
        ];
        if let Some((key, _)) = given.iter().find(|(key, given)| *given && !keys.contains(key)) {
            let allowed = if keys.is_empty() { "none".to_string() } else { keys.join(", ") };
            return Err(format!("has the key `{key}`, which its kind does not use; allowed: {allowed}"));
        }
        let need =
            |value: Option<f64>, key: &str| value.ok_or_else(|| format!("needs `{key}`, a public bound"));
        match self.kind {
            Kind::Numeric => Ok(Role::Numeric(Numeric {
                lower: need(self.lower, "lower")?,
                upper: need(self.upper, "upper")?,
                scale: self.scale.unwrap_or_default(),
                missing: missing_number(self.missing)?,
            })),
            Kind::Categorical => {
                let raw = self.categories.ok_or("needs `categories`, the public list of its values")?;
                let categories = Labels::from_raw(raw).map_err(|what| format!("`categories` {what}"))?;
                let missing = category(&categories, "missing", self.missing)?;
                let unknown = category(&categories, "unknown", self.unknown)?;
                Ok(Role::Categorical(Categorical { categories, missing, unknown }))
            }
            Kind::Target => {
                let kind = match (self.classes, self.lower, self.upper) {
                    (Some(raw), None, None) => TargetKind::Classes(
                        Labels::from_raw(raw).map_err(|what| format!("`classes` {what}"))?,
                    ),
                    (None, Some(lower), Some(upper)) => TargetKind::Range { lower, upper },
                    _ => return Err("is a target and needs either `classes`, or `lower` and `upper`".into()),
                };
                Ok(Role::Target(Target { kind, missing: self.missing.map(|w| w.text()) }))
            }
            Kind::Ignored => Ok(Role::Ignored),
            Kind::User => Ok(Role::User),
        }
    }
}

fn missing_number(word: Option<Word>) -> Result<MissingNumber, String> {
    match word {
        None => Ok(MissingNumber::default()),
        Some(Word::Whole(n)) => Ok(MissingNumber::Value(n as f64)),
        Some(Word::Number(x)) => Ok(MissingNumber::Value(x)),
        Some(Word::Text(s)) if s == "middle" => Ok(MissingNumber::Middle),
        Some(Word::Text(s)) if s == "lower" => Ok(MissingNumber::Lower),
        Some(Word::Text(s)) if s == "upper" => Ok(MissingNumber::Upper),
        Some(w) => Err(format!(
            "has missing = {:?}; allowed: a number, \"middle\", \"lower\" or \"upper\"",
            w.text()
        )),
    }
}

fn category(labels: &Labels, key: &str, word: Option<Word>) -> Result<Option<usize>, String> {
    let Some(text) = word.map(|w| w.text()) else { return Ok(None) };
    match (labels.position(&text), text == "ignore") {
        (Some(_), true) => Err(format!(
            "has {key} = \"ignore\" and a category of that name; leave `{key}` out for all zeros"
        )),
        (Some(i), false) => Ok(Some(i)),
        (None, true) => Ok(None),
        (None, false) => Err(format!("has {key} = {text:?}; allowed: one of its categories, or \"ignore\"")),
    }
}

impl TryFrom<RawSchema> for Schema {
    type Error = SchemaError;

    fn try_from(raw: RawSchema) -> Result<Self, SchemaError> {
        let delimiter = match raw.delimiter {
            None => None,
            Some(text) => match text.as_bytes() {
                [b] if b.is_ascii() && !b"\"\n\r".contains(b) => Some(*b),
                _ => return Err(SchemaError::Delimiter(text)),
            },
        };
        let mut columns = Vec::with_capacity(raw.column.len());
        for column in raw.column {
            let name = column.name.clone();
            let role = column.role().map_err(|what| SchemaError::Column { column: name.clone(), what })?;
            columns.push(Column { name, role });
        }
        Schema {
            row_norm: raw.row_norm,
            public_n: raw.public_n,
            header: raw.header.unwrap_or(true),
            delimiter,
            trim: raw.trim.unwrap_or(true),
            missing_tokens: raw.missing_tokens.unwrap_or_else(|| vec![String::new()]),
            undeclared: raw.undeclared.unwrap_or_default(),
            features: raw.features,
            columns,
            drafted: raw.drafted,
        }
        .checked()
    }
}

impl From<Schema> for RawSchema {
    /// Defaults are written out for tables: a reader of the file should not have to know them. For LIBSVM
    /// most keys mean little, and only what was changed is written.
    fn from(schema: Schema) -> Self {
        let table = schema.features.is_none();
        let usual_tokens = matches!(&schema.missing_tokens[..], [token] if token.is_empty());
        RawSchema {
            row_norm: schema.row_norm,
            public_n: schema.public_n,
            features: schema.features,
            header: table.then_some(schema.header),
            delimiter: schema.delimiter.map(|b| char::from(b).to_string()),
            trim: (table || !schema.trim).then_some(schema.trim),
            missing_tokens: (table || !usual_tokens).then_some(schema.missing_tokens),
            undeclared: (table || schema.undeclared != Undeclared::default()).then_some(schema.undeclared),
            drafted: schema.drafted,
            column: schema.columns.into_iter().map(raw_column).collect(),
        }
    }
}

fn raw_column(column: Column) -> RawColumn {
    let name = column.name;
    match column.role {
        Role::Ignored => RawColumn::blank(name, Kind::Ignored),
        Role::User => RawColumn::blank(name, Kind::User),
        Role::Numeric(n) => RawColumn {
            lower: Some(n.lower),
            upper: Some(n.upper),
            scale: Some(n.scale),
            missing: Some(match n.missing {
                MissingNumber::Middle => Word::Text("middle".into()),
                MissingNumber::Lower => Word::Text("lower".into()),
                MissingNumber::Upper => Word::Text("upper".into()),
                MissingNumber::Value(x) => Word::Number(x),
            }),
            ..RawColumn::blank(name, Kind::Numeric)
        },
        Role::Categorical(c) => {
            let label = |i: Option<usize>| match i {
                Some(i) => Some(Word::Text(c.categories.name(i).into())),
                None if c.categories.position("ignore").is_some() => None,
                None => Some(Word::Text("ignore".into())),
            };
            RawColumn {
                missing: label(c.missing),
                unknown: label(c.unknown),
                categories: Some(c.categories.to_raw()),
                ..RawColumn::blank(name, Kind::Categorical)
            }
        }
        Role::Target(Target { kind, missing }) => {
            let missing = missing.map(Word::Text);
            match kind {
                TargetKind::Classes(labels) => RawColumn {
                    classes: Some(labels.to_raw()),
                    missing,
                    ..RawColumn::blank(name, Kind::Target)
                },
                TargetKind::Range { lower, upper } => RawColumn {
                    lower: Some(lower),
                    upper: Some(upper),
                    missing,
                    ..RawColumn::blank(name, Kind::Target)
                },
            }
        }
    }
}
