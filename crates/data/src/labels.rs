//! The names of categories and classes, with other spellings of the same thing.

use crate::number;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A word of the schema: text, number or truth value, kept as it was written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Word {
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
}

impl Word {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Flag(b) => b.to_string(),
            Self::Whole(n) => n.to_string(),
            Self::Number(x) => x.to_string(),
            Self::Text(s) => s.clone(),
        }
    }
}

/// One name, or a list whose first is the name and the rest other spellings of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Spelling {
    One(Word),
    Many(Vec<Word>),
}

/// An ordered list of labels, each with one or more spellings; no spelling occurs twice.
#[derive(Debug, Clone, PartialEq)]
pub struct Labels {
    spellings: Vec<Vec<String>>,
}

impl Labels {
    /// Labels with one spelling each. Fails as the schema does: no empty list, no spelling twice.
    pub fn new<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<Self, String> {
        Self::with_spellings(names.into_iter().map(|n| vec![n.into()]).collect())
    }

    /// Labels from lists of spellings; the first of each list is the name.
    pub fn with_spellings(spellings: Vec<Vec<String>>) -> Result<Self, String> {
        let mut seen = HashMap::new();
        for (i, list) in spellings.iter().enumerate() {
            if list.is_empty() {
                return Err("has an empty list of spellings; write at least one".into());
            }
            for text in list {
                if seen.insert(text.clone(), i).is_some() {
                    return Err(format!("names `{text}` twice; each spelling may occur once"));
                }
            }
        }
        Ok(Self { spellings })
    }

    pub(crate) fn from_raw(raw: Vec<Spelling>) -> Result<Self, String> {
        Self::with_spellings(
            raw.iter()
                .map(|s| match s {
                    Spelling::One(w) => vec![w.text()],
                    Spelling::Many(list) => list.iter().map(Word::text).collect(),
                })
                .collect(),
        )
    }

    pub(crate) fn to_raw(&self) -> Vec<Spelling> {
        let word = |s: &String| Word::Text(s.clone());
        self.spellings
            .iter()
            .map(|l| {
                if l.len() == 1 {
                    Spelling::One(word(&l[0]))
                } else {
                    Spelling::Many(l.iter().map(word).collect())
                }
            })
            .collect()
    }

    /// The number of labels.
    pub fn len(&self) -> usize {
        self.spellings.len()
    }

    /// Whether there is no label.
    pub fn is_empty(&self) -> bool {
        self.spellings.is_empty()
    }

    /// The name of label `i`: its first spelling.
    pub fn name(&self, i: usize) -> &str {
        &self.spellings[i][0]
    }

    /// All names in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.spellings.iter().map(|l| l[0].as_str())
    }

    /// The spellings of label `i`.
    pub(crate) fn of(&self, i: usize) -> &[String] {
        &self.spellings[i]
    }

    /// Every spelling in order.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &str> {
        self.spellings.iter().flatten().map(String::as_str)
    }

    /// Which label `text` spells.
    pub fn position(&self, text: &str) -> Option<usize> {
        self.spellings.iter().position(|l| l.iter().any(|s| s == text))
    }
}

/// [`Labels`] made ready for many look-ups.
///
/// Text is compared first. When it is not found and the labels that are numbers differ as numbers,
/// the comparison is by number, so that `+1`, `1` and `1.0` are one label; where `01` and `1` are
/// both declared, only the text counts. In the same way `true`, `True` and `TRUE` are one label,
/// and a truth value is also looked for as 1 or 0.
#[derive(Debug, Clone)]
pub(crate) struct Lookup {
    by_text: HashMap<Vec<u8>, u32>,
    by_number: HashMap<u64, u32>,
    /// The labels for false and true.
    by_truth: [Option<u32>; 2],
}

/// Equal for equal numbers: −0 is 0.
fn bits(x: f64) -> u64 {
    (x + 0.0).to_bits()
}

impl Lookup {
    pub(crate) fn new(labels: &Labels) -> Self {
        let mut by_text = HashMap::new();
        let mut by_number = HashMap::new();
        let mut by_truth = [None; 2];
        let (mut number_twice, mut truth_twice) = (false, false);
        for (i, list) in labels.spellings.iter().enumerate() {
            for text in list {
                by_text.insert(text.clone().into_bytes(), i as u32);
                if let Some(x) = number::parse(text.as_bytes()).filter(|x| x.is_finite()) {
                    number_twice |=
                        by_number.insert(bits(x), i as u32).is_some_and(|j| j != i as u32);
                }
                if let Some(b) = number::truth(text.as_bytes()) {
                    truth_twice |=
                        by_truth[usize::from(b)].replace(i as u32).is_some_and(|j| j != i as u32);
                }
            }
        }
        if number_twice {
            by_number.clear();
        }
        if truth_twice {
            by_truth = [None; 2];
        }
        Self { by_text, by_number, by_truth }
    }

    pub(crate) fn find(&self, text: &[u8]) -> Option<u32> {
        self.by_text.get(text).copied().or_else(|| match number::truth(text) {
            Some(b) => self.truth(b),
            None if self.by_number.is_empty() => None,
            None => self.by_number.get(&bits(number::parse(text)?)).copied(),
        })
    }

    /// The label of a truth value: one that spells it, or the number that it is.
    fn truth(&self, b: bool) -> Option<u32> {
        self.by_truth[usize::from(b)].or_else(|| self.by_number.get(&bits(f64::from(b))).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_by_value_unless_ambiguous() {
        let lookup = Lookup::new(&Labels::new(["-1", "1"]).unwrap());
        assert_eq!(lookup.find(b"+1"), Some(1));
        assert_eq!(lookup.find(b"-1.0"), Some(0));
        assert_eq!(lookup.find(b"2"), None);
        let zip = Lookup::new(&Labels::new(["01", "1"]).unwrap());
        assert_eq!(zip.find(b"01"), Some(0));
        assert_eq!(zip.find(b"1.0"), None);
    }

    #[test]
    fn truth_values_match_however_they_are_spelled_unless_ambiguous() {
        let lookup = Lookup::new(&Labels::new(["False", "True"]).unwrap());
        assert_eq!(
            [lookup.find(b"true"), lookup.find(b"FALSE"), lookup.find(b"1")],
            [Some(1), Some(0), None]
        );
        let numbers = Lookup::new(&Labels::new(["0", "1"]).unwrap());
        assert_eq!([numbers.find(b"True"), numbers.find(b"false")], [Some(1), Some(0)]);
        let two = Lookup::new(&Labels::new(["true", "True"]).unwrap());
        assert_eq!([two.find(b"True"), two.find(b"TRUE")], [Some(1), None]);
    }

    #[test]
    fn a_spelling_belongs_to_one_label() {
        let twice = Labels::with_spellings(vec![vec!["a".into()], vec!["b".into(), "a".into()]]);
        assert_eq!(twice.unwrap_err(), "names `a` twice; each spelling may occur once");
    }
}
