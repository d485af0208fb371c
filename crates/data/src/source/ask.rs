//! What a draft does not guess. Whether a number is an amount, a code or the name of somebody
//! cannot be seen from the numbers; a model that takes one for the other is wrong without a word.
//! So a person is asked.

use crate::error::FileProblem;
use crate::{day, number};
use std::collections::HashSet;

/// A whole number of so few different values may be a code.
const FEW: usize = 20;
/// With fewer records than this nothing can be said of values that are all different.
const MANY: u64 = 20;

/// What was seen of the values of a column, beside their bounds.
#[derive(Debug, Clone)]
pub(super) struct SeenValues {
    /// Values that are present.
    present: u64,
    whole: bool,
    days: bool,
    /// All values are digits, and one of them begins with a zero that a number would lose.
    digits: bool,
    padded: bool,
    /// All values are 0 or 1.
    flag: bool,
    /// All values that are no numbers are numbers with a comma before their decimals; how many are.
    commas: bool,
    with_comma: u64,
    /// Numbers have points, though decimals have a comma.
    pub(super) both: bool,
    /// Longer than every value before it or behind it in the alphabet; enough to see that a counter
    /// counts.
    ascending: bool,
    last: Option<Vec<u8>>,
}

impl Default for SeenValues {
    fn default() -> Self {
        Self {
            present: 0,
            whole: true,
            days: true,
            digits: true,
            padded: false,
            flag: true,
            commas: true,
            with_comma: 0,
            both: false,
            ascending: true,
            last: None,
        }
    }
}

impl SeenValues {
    pub(super) fn see(&mut self, text: &[u8]) {
        self.present += 1;
        self.whole &=
            number::parse(text).is_some_and(|x| x.fract() == 0.0) && !text.contains(&b'.');
        self.flag &= number::parse(text).is_some_and(|x| x == 0.0 || x == 1.0)
            || number::truth(text).is_some();
        if number::parse(text).is_none() {
            self.commas &= as_number(text, true).is_some();
            self.with_comma += 1;
        }
        self.days &= day::parse(text).is_some();
        self.digits &= text.iter().all(u8::is_ascii_digit);
        self.padded |= text.len() > 1 && text[0] == b'0' && text.iter().all(u8::is_ascii_digit);
        if self.ascending {
            let key = |t: &[u8]| (t.len(), t.to_vec());
            self.ascending = self.last.as_deref().is_none_or(|last| key(last) < key(text));
            self.last = Some(text.to_vec());
        }
    }

    /// What to ask about the column `name` with `different` values (`None`: too many to count), of
    /// numbers or not; `None` where there is no doubt.
    pub(super) fn question(
        &self,
        name: &str,
        different: Option<usize>,
        numeric: bool,
    ) -> Option<String> {
        if self.present == 0 {
            return None;
        }
        let all_different = self.present >= MANY
            && different.map_or(self.ascending, |different| different as u64 == self.present);
        if self.days {
            let choices = "kind = \"date\" with public bounds such as lower = \"1900-01-01\", or \"ignored\".";
            return Some(ask(name, "a day", choices));
        }
        if self.both {
            return Some(ask(name, "numbers with points as well as with commas", BOTH));
        }
        if self.commas && self.with_comma > 0 {
            return Some(ask(name, "numbers with a comma before their decimals", COMMAS));
        }
        if let Some(question) = by_name(name, numeric) {
            return Some(question);
        }
        if all_different && (self.whole || !numeric) {
            return Some(ask(name, "an identifier", IDENTIFIER));
        }
        if self.padded && self.digits {
            return Some(ask(name, "a postal or another code", POSTAL));
        }
        // 0 and 1 are a flag, whatever they stand for.
        let few = different.filter(|n| {
            (if self.flag { 3 } else { 2 }..=FEW).contains(n) && (*n as u64) * 5 <= self.present
        });
        few.filter(|_| numeric && self.whole).map(|n| {
            let looks = format!("a code: whole numbers, {n} different ones");
            ask(name, &looks, if n == 2 { TWO } else { CODE })
        })
    }
}

const CODE: &str =
    "kind = \"categorical\" with the list of codes, or \"numeric\" if more means more.";
const TWO: &str = "kind = \"target\" with both as classes if it is to be predicted, \"categorical\" with the list of codes, or \
                   \"numeric\" if more means more; a target of kind \"numeric\" is a regression.";
const COMMAS: &str = "If they are, draft again with `decimal = ,` and `delimiter`; kind = \"categorical\" if they are words. What has \
                      three decimals everywhere may be thousands: nobody guesses.";
const BOTH: &str = "Whether a point is before decimals or between thousands cannot be told: write the numbers in one way, or kind = \
                    \"ignored\".";
const IDENTIFIER: &str = "kind = \"user\" if it says whose record it is, \"ignored\" if it numbers the records, \
                          \"numeric\" if it is an amount after all.";
const POSTAL: &str = "kind = \"categorical\" with the public list of codes, or \"ignored\"; as a number it means \
                      little.";
const WEIGHT: &str = "kind = \"weight\" with the largest weight as `upper` if a record counts so much, \"ignored\" if it does not, \"numeric\" if it is a feature (of a body).";

fn ask(name: &str, looks: &str, choices: &str) -> String {
    format!("{name:?} looks like {looks}. {choices}")
}

/// What to ask about a column for its name alone, of numbers or not; `None` where it tells nothing.
pub(super) fn by_name(name: &str, numeric: bool) -> Option<String> {
    let words = name_words(name);
    let named = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    if numeric && named(&["weight", "weights", "fnlwgt", "wgt"]) {
        Some(ask(name, "the weight of a record", WEIGHT))
    } else if named(&["id", "uuid", "guid", "key"]) {
        Some(ask(name, "an identifier", IDENTIFIER))
    } else if named(&["zip", "zipcode", "postcode", "postal", "plz"]) {
        Some(ask(name, "a postal or another code", POSTAL))
    } else {
        None
    }
}

/// The words of a name: `userId`, `user_id` and `User ID` have the same.
fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && small) {
            words.push(String::new());
        }
        small = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words
}

/// Why the first line of a file looks like a record and not like the names of columns, as far as the
/// names alone tell; columns that are merely numbered have names, and so has an index in front.
pub(super) fn why_a_record(names: &[&[u8]]) -> Option<&'static str> {
    let names: Vec<&[u8]> = names.iter().map(|name| name.trim_ascii()).collect();
    let is_number = |name: &&[u8]| as_number(name, false).or(as_number(name, true)).is_some();
    let numbers: Vec<f64> = names.iter().filter_map(|name| number::parse(name)).collect();
    let counted = numbers.len() == names.len()
        && numbers.windows(2).all(|w| w[1] == w[0] + 1.0)
        && [Some(&0.0), Some(&1.0)].contains(&numbers.first());
    let mut seen = HashSet::new();
    if names.iter().any(is_number) && !counted {
        Some("it has numbers")
    } else if names.iter().any(|name| day::parse(name).is_some()) {
        Some("it has days")
    } else if names.iter().skip(1).any(|name| name.is_empty()) {
        Some("it has empty fields")
    } else if names.iter().any(|name| [&b"?"[..], b"N/A", b"null", b"None"].contains(name)) {
        Some("it has what stands for missing values")
    } else if !names.iter().all(|name| seen.insert(*name)) {
        Some("it has the same twice")
    } else {
        None
    }
}

/// The number in a field, with a comma before its decimals or without.
pub(super) fn as_number(text: &[u8], comma: bool) -> Option<f64> {
    if !comma {
        return number::parse(text);
    }
    let one = text.iter().filter(|&&byte| byte == b',').count() == 1 && !text.contains(&b'.');
    let point: Vec<u8> = text.iter().map(|&byte| if byte == b',' { b'.' } else { byte }).collect();
    number::parse(&point).filter(|_| one)
}

/// Refuses a first line of one field that has another delimiter in it, where none was given.
pub(super) fn check_delimiter(first: &[&[u8]], given: Option<u8>) -> Result<(), FileProblem> {
    match other_delimiter(first).filter(|_| given.is_none()) {
        Some(other) => Err(FileProblem::OtherDelimiter(other)),
        None => Ok(()),
    }
}

/// What is between fields instead, where a first line has one field alone.
fn other_delimiter(first: &[&[u8]]) -> Option<char> {
    let [line] = first else { return None };
    let found = [';', '\t', '|'].map(|c| (line.iter().filter(|&&b| b == c as u8).count(), c));
    found
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .max_by_key(|(count, _)| *count)
        .map(|(_, c)| c)
}
