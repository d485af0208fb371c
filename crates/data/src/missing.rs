//! What stands for a missing value in a text.

use crate::number;

/// The spellings of a missing value.
#[derive(Debug)]
pub(crate) struct Tokens {
    all: Vec<Vec<u8>>,
    /// Whether the empty text is one.
    empty: bool,
    /// Whether one begins with this byte: most fields are known to be none by that alone.
    first: [bool; 256],
}

impl Tokens {
    pub(crate) fn new(spellings: &[String]) -> Self {
        let all: Vec<Vec<u8>> = spellings.iter().map(|t| t.clone().into_bytes()).collect();
        let mut first = [false; 256];
        all.iter().filter_map(|t| t.first()).for_each(|&byte| first[usize::from(byte)] = true);
        Self { empty: all.iter().any(Vec::is_empty), first, all }
    }

    /// Whether a plain number is one of them.
    pub(crate) fn has_numbers(&self) -> bool {
        self.all.iter().any(|token| number::short(token).is_some())
    }

    /// Whether `text` is one of them.
    #[inline]
    pub(crate) fn has(&self, text: &[u8]) -> bool {
        match text.first() {
            None => self.empty,
            Some(&byte) => self.first[usize::from(byte)] && self.all.iter().any(|t| t == text),
        }
    }
}
