//! Numbers, read from the command line and written as JSON.

pub use reticent::flags::{number as parse, whole};
use reticent_core::{four_digits, four_digits_down, four_digits_up};
use serde::{Serialize, Serializer};

/// Reads how often something is done.
pub fn times(text: &str) -> Result<u64, String> {
    whole(text)
        .ok()
        .filter(|&times| times > 0)
        .ok_or_else(|| "a whole number from 1 is needed".to_owned())
}

/// A number in JSON, which has neither infinity nor NaN: the one is the word "infinity", the other
/// null.
#[derive(Clone, Copy, Debug)]
pub struct JsonNumber(pub f64);

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.is_infinite() { to.serialize_str("infinity") } else { to.serialize_f64(self.0) }
    }
}

impl From<f64> for JsonNumber {
    fn from(value: f64) -> Self {
        JsonNumber(value)
    }
}

/// A number for people: four significant digits, an exponent only where it is shorter.
pub fn show(value: f64) -> String {
    if value.is_nan() { "not defined".to_owned() } else { four_digits(value) }
}

/// The same for a promise: rounded up, so that what is shown is never less than what holds.
pub fn show_up(value: f64) -> String {
    if value.is_nan() { show(value) } else { four_digits_up(value) }
}

/// The same for a lower end: rounded down.
pub fn show_down(value: f64) -> String {
    if value.is_nan() { show(value) } else { four_digits_down(value) }
}

/// δ for people.
pub fn show_delta(delta: f64) -> String {
    if delta == 0.0 { "0".to_owned() } else { format!("{delta:e}") }
}

/// Longer than any number is that a person would write out.
const LONG: usize = 40;

/// Text in which no number has hundreds of digits: 1e300 is that, whoever wrote the message. One
/// place for all of them, for a number may be put into words in any crate.
pub fn shortened(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(from.len());
        let (digits, after) = from.split_at(end);
        out.push_str(before);
        match digits.trim_end_matches('.').parse::<f64>() {
            Ok(number) if digits.len() > LONG => out.push_str(&format!("{number:e}")),
            _ => out.push_str(digits),
        }
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::answer::object;

    #[test]
    fn numbers_read_well() {
        let shown =
            [0.0, 1.0, 0.999_999_6, 0.012_345, 123_456.7, 1e-7, f64::INFINITY, f64::NAN].map(show);
        assert_eq!(
            shown,
            ["0", "1.000", "1.0000", "0.01235", "123457", "1.000e-7", "inf", "not defined"]
        );
    }

    #[test]
    fn ends_of_intervals_are_rounded_outward() {
        let shown = [0.0, 1.23456, -1.23456, 38.6149, -0.0].map(|x| (show_down(x), show_up(x)));
        let text = |(down, up): &(String, String)| format!("{down} {up}");
        assert_eq!(
            shown.iter().map(text).collect::<Vec<_>>().join("; "),
            "0 0; 1.234 1.235; -1.235 -1.234; 38.61 38.62; 0 0"
        );
    }

    #[test]
    fn whole_numbers_are_not_negative_and_fit() {
        assert_eq!((whole::<u32>("7"), times("1")), (Ok(7), Ok(1)));
        for text in ["-1", "1.5", "abc", "", "18446744073709551615"] {
            assert!(whole::<u64>(text).is_err() && times(text).is_err(), "{text}");
        }
        assert!(whole::<u32>("4294967296").is_err() && times("0").is_err());
    }

    #[test]
    fn no_number_has_hundreds_of_digits() {
        let text = format!("clip = {}: above {} and 0.25, v1.2.", -1e300, 3e-300);
        assert_eq!(shortened(&text), "clip = -1e300: above 3e-300 and 0.25, v1.2.");
        assert_eq!(
            shortened("ε 12 ≤ 1234567890123456789012345"),
            "ε 12 ≤ 1234567890123456789012345"
        );
    }

    #[test]
    fn json_has_no_infinity_and_no_nan() {
        let json = |number| object(&JsonNumber(number));
        assert_eq!(json(f64::INFINITY), "infinity");
        assert_eq!(json(f64::NAN), Value::Null);
        assert_eq!(json(0.5), 0.5);
    }
}
