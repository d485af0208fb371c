//! What an exported model has to know of a column to encode it as this program does.

use super::{Categorical, MissingNumber, Numeric, Scale, Unknown};
use crate::labels::Lookup;
use crate::{Labels, number};

impl Numeric {
    /// The bounds that values are clipped to.
    pub fn bounds(&self) -> (f64, f64) {
        (self.lower, self.upper)
    }

    /// How a clipped value is scaled.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// What a finite number is encoded as.
    pub fn encoded(&self, x: f64) -> f64 {
        self.encode(x)
    }

    /// The number, within the bounds, that a missing value counts as.
    pub fn stands_for_missing(&self) -> f64 {
        match self.missing {
            MissingNumber::Middle => self.lower + (self.upper - self.lower) / 2.0,
            MissingNumber::Lower => self.lower,
            MissingNumber::Upper => self.upper,
            MissingNumber::Value(x) => x,
        }
    }

    /// What a missing value is encoded as.
    pub fn missing(&self) -> f64 {
        self.encoded_missing()
    }
}

impl Categorical {
    /// The categories in their declared order.
    pub fn categories(&self) -> &Labels {
        &self.categories
    }

    /// The category that a missing field becomes, if any.
    pub fn missing(&self) -> Option<usize> {
        self.missing
    }

    /// What becomes of a category that is not declared.
    pub fn unknown(&self) -> Unknown {
        self.unknown
    }
}

impl Labels {
    /// Every text that spells a label, with the label. A label that is a number is spelt as other
    /// programs write it too, `1` and `1.0`, where no other label is that number: here they are
    /// compared as numbers. A truth value, or what is one as a number, is spelt in every way that
    /// it is read in.
    pub fn words(&self) -> Vec<(String, usize)> {
        let lists = || (0..self.len()).flat_map(|i| self.of(i).iter().map(move |text| (text, i)));
        let numbers: Vec<(f64, usize)> = lists()
            .filter_map(|(text, i)| {
                Some((number::parse(text.as_bytes()).filter(|x| x.is_finite())?, i))
            })
            .collect();
        let ambiguous = numbers.iter().any(|a| numbers.iter().any(|b| a.0 == b.0 && a.1 != b.1));
        let mut words: Vec<(String, usize)> = lists().map(|(text, i)| (text.clone(), i)).collect();
        for (x, i) in numbers.into_iter().filter(|_| !ambiguous) {
            for text in [format!("{x}"), format!("{x:?}")] {
                if words.iter().all(|(there, _)| *there != text) {
                    words.push((text, i));
                }
            }
        }
        let lookup = Lookup::new(self);
        for text in ["false", "False", "FALSE", "true", "True", "TRUE"] {
            if let Some(i) = lookup.find(text.as_bytes())
                && words.iter().all(|(there, _)| there != text)
            {
                words.push((text.to_owned(), i as usize));
            }
        }
        words
    }
}
