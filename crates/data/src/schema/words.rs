//! The words of a schema file: what a key may hold before it is believed.

use crate::Labels;
use crate::labels::Spelling;
use serde::{Deserialize, Serialize};

/// What stands in a draft where a person has to decide; no table is read before it is filled in.
pub(super) const TODO: &str = "TODO";

/// A number, or a word in its place: a day, or what is still to be filled in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum BoundWord {
    Number(f64),
    Text(String),
}

impl BoundWord {
    pub(super) fn number(self, key: &str) -> Result<f64, String> {
        match self {
            Self::Number(x) => Ok(x),
            Self::Text(text) if text == TODO => Err(open(key)),
            Self::Text(text) => Err(format!("has {key} = {text:?}; allowed: a number")),
        }
    }

    pub(super) fn day(self, key: &str) -> Result<f64, String> {
        match self {
            Self::Text(text) if text == TODO => Err(open(key)),
            Self::Text(text) => day(key, &text),
            Self::Number(x) => {
                Err(format!("has {key} = {x}; allowed: a day, as in \"1970-01-31\""))
            }
        }
    }
}

fn open(key: &str) -> String {
    format!("still has {key} = \"TODO\": write what is known without looking at private data")
}

pub(super) fn day(key: &str, text: &str) -> Result<f64, String> {
    let day = crate::day::parse(text.as_bytes()).filter(|_| text.len() == 10);
    day.map(|day| day as f64)
        .ok_or_else(|| format!("has {key} = {text:?}; allowed: a day, as in \"1970-01-31\""))
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ColumnKind {
    Numeric,
    Date,
    Categorical,
    Target,
    Ignored,
    User,
    Weight,
}

impl ColumnKind {
    const ALL: [(&str, Self); 7] = [
        ("numeric", Self::Numeric),
        ("date", Self::Date),
        ("categorical", Self::Categorical),
        ("target", Self::Target),
        ("ignored", Self::Ignored),
        ("user", Self::User),
        ("weight", Self::Weight),
    ];

    pub(super) fn read(text: &str) -> Result<Self, String> {
        let known = Self::ALL.iter().find(|(name, _)| *name == text).map(|&(_, kind)| kind);
        known.ok_or_else(|| match text {
            TODO => "still has kind = \"TODO\": say what it is".to_string(),
            _ => {
                let names: Vec<_> = Self::ALL.iter().map(|(name, _)| *name).collect();
                format!("has kind = {text:?}; allowed: {}", names.join(", "))
            }
        })
    }

    pub(super) fn name(self) -> String {
        Self::ALL
            .iter()
            .find(|(_, kind)| *kind == self)
            .map(|(name, _)| (*name).into())
            .unwrap_or_default()
    }
}

/// A list, or the word that says that it is still to be written.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum ListWord {
    Known(Vec<Spelling>),
    Open(String),
}

impl ListWord {
    pub(super) fn labels(self, key: &str) -> Result<Labels, String> {
        match self {
            Self::Known(raw) => Labels::from_raw(raw).map_err(|what| format!("`{key}` {what}")),
            Self::Open(text) if text == TODO => Err(open(key)),
            Self::Open(text) => {
                Err(format!("has {key} = {text:?}; allowed: a list, as in [\"no\", \"yes\"]"))
            }
        }
    }
}
