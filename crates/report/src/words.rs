//! Numbers and words for people. What is promised is rounded outward: what is read here is never less
//! than what holds.

use maud::{Markup, html};
use reticent::{Adjacency, Unit, View};
use reticent_core::{four_digits, four_digits_down, four_digits_up};

/// Longer text out of a file is cut.
const LONGEST: usize = 400;

/// Text that came out of a file: short, on one line, and nothing in it that turns the direction of
/// writing or cannot be seen.
#[must_use]
pub fn plain(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let mut kept = text.chars().map(|c| if c.is_whitespace() { ' ' } else { c });
    let mut out: String = kept.by_ref().filter(|c| !hidden(*c)).take(LONGEST).collect();
    if kept.next().is_some() {
        out.push('…');
    }
    out
}

/// The same, kept apart from the writing around it.
pub(crate) fn said(text: &str) -> Markup {
    html! { bdi { (plain(text)) } }
}

/// Four significant digits.
#[must_use]
pub fn number(value: f64) -> String {
    for_people(value, four_digits)
}

fn for_people(value: f64, digits: fn(f64) -> String) -> String {
    if value.is_nan() {
        return "not defined".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "not bounded" } else { "−∞" }.to_owned();
    }
    let text = digits(value);
    text.replace('-', if text.contains('e') { "-" } else { "−" })
}

/// The same, never less than the value.
#[must_use]
pub fn up(value: f64) -> String {
    for_people(value, four_digits_up)
}

/// The same, never more than the value.
#[must_use]
pub fn down(value: f64) -> String {
    for_people(value, four_digits_down)
}

/// Text in which a number with many decimals has four digits, rounded by `how`; digests and whole
/// numbers stay as they are.
pub(crate) fn rounded(text: &str, how: fn(f64) -> String) -> String {
    let word = |word: &str| {
        let inner = word.trim_matches(|c: char| !c.is_ascii_digit());
        let (whole, decimals) = inner.split_once('.').unwrap_or((inner, ""));
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        match inner.parse::<f64>() {
            Ok(value) if decimals.len() > 5 && plain(whole) && plain(decimals) => {
                word.replace(inner, &how(value))
            }
            _ => word.to_owned(),
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// A number that somebody gave, as they would write it.
#[must_use]
pub fn given(value: f64) -> String {
    let text = value.to_string();
    if text.len() <= 8 { text } else { up(value) }
}

/// A time of a history, without what a heading says.
#[must_use]
pub fn time(time: &str) -> String {
    plain(time).trim_end_matches('Z').replace('T', " ")
}

/// δ.
#[must_use]
pub fn delta(delta: f64) -> String {
    let text = format!("{delta:e}");
    match delta {
        0.0 => "0".to_owned(),
        // Many digits are noise to people; what is promised is never less than what holds.
        _ if text.len() > 9 => up(delta),
        _ => text,
    }
}

/// A chance as one in so many, rounded up.
#[must_use]
pub fn one_in(chance: f64) -> String {
    if chance.is_nan() || chance <= 0.0 {
        return "a chance below 1e-40".to_owned();
    }
    let many = 1.0 / chance;
    let whole = if (many.round() - many).abs() < 1e-9 * many { many.round() } else { many.floor() };
    if !(1.0..=1e15).contains(&whole) {
        return format!("a chance of {chance:e}");
    }
    let digits = format!("{whole:.0}");
    let mut grouped = String::new();
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("a chance of one in {grouped}")
}

/// A share, rounded up to a tenth of a percent and never above all.
#[must_use]
pub fn percent_up(share: f64) -> String {
    let tenths = (share * 1e3 - 1e-9).ceil();
    percent(if tenths.is_nan() { 1e3 } else { tenths.clamp(0.0, 1e3) })
}

/// The nearest tenth of a percent.
pub(crate) fn percent_near(share: f64) -> String {
    percent((share * 1e3).round().clamp(0.0, 1e3))
}

fn percent(tenths: f64) -> String {
    let text = format!("{:.1}", tenths / 10.0);
    format!("{}\u{202f}%", text.strip_suffix(".0").unwrap_or(&text))
}

/// Who is protected.
pub(crate) fn protected(unit: Unit) -> &'static str {
    match unit {
        Unit::Record => "Every single record of the table",
        Unit::User => "Every person in the table, with all their records",
        Unit::Party => "Every party of the run, with all that it holds",
    }
}

/// The same where a person is a person within a party.
pub(crate) const WITHIN_PARTY: &str = "Every person within a party, with all their records there; who has records \
                                       with several parties is protected less";

/// From whom.
pub(crate) fn from_whom(view: View) -> &'static str {
    match view {
        View::Central => {
            "Whoever sees the model and its certificate, whatever else they know and however they \
             compute. Who ran the training is trusted."
        }
        View::Local => {
            "Whoever sees every message that one party sends, the server that runs the training \
             among them."
        }
        View::SecureAggregation => {
            "Whoever sees the sums of the parties' messages. No single message is seen by anybody."
        }
        View::Network => {
            "Another party of the network, which sees the messages that reach it. The model itself \
             is for the observer alone, a seat without data."
        }
    }
}

/// Compared with what, where a person is a person within a party.
pub(crate) const COMPARED_WITHIN: &str =
    "the same table with all records of that person at one party replaced by another's";

/// Compared with what.
pub(crate) fn compared(adjacency: Adjacency, unit: Unit) -> &'static str {
    match (adjacency, unit) {
        (Adjacency::ReplaceOne, Unit::Record) => {
            "the same table with that record replaced by another"
        }
        (Adjacency::ReplaceOne, Unit::User) => {
            "the same table with all records of that person replaced by another's"
        }
        (Adjacency::ReplaceOne, Unit::Party) => {
            "the same run with all that this party holds replaced by something else"
        }
        (Adjacency::AddRemove, Unit::Party) => "the same run without that party",
        (Adjacency::AddRemove, Unit::Record) => "the same table without that record",
        (Adjacency::AddRemove, Unit::User) => "the same table without any record of that person",
    }
}

/// The least factor by which odds may move, in words.
pub(crate) fn factor(epsilon: f64) -> String {
    if epsilon < 10.0 {
        format!("a factor of at most {}", up(epsilon.exp()))
    } else {
        format!("a factor of at most e to the power of {}", up(epsilon))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_rounded_outward() {
        assert_eq!(
            [0.999_99, 1.0, 0.123_41, std::f64::consts::E].map(up),
            ["1.000", "1.000", "0.1235", "2.719"]
        );
        assert_eq!(
            [0.999_99, 1.0, 0.123_49].map(down),
            ["1.0000", "1.000", "0.1234"].map(|t| if t == "1.0000" { "0.9999" } else { t })
        );
        assert_eq!(
            [0.268_01, 0.05, 1.0, 2.0, f64::NAN].map(percent_up),
            ["26.9\u{202f}%", "5\u{202f}%", "100\u{202f}%", "100\u{202f}%", "100\u{202f}%"]
        );
    }

    #[test]
    fn long_numbers_in_texts_are_rounded_outward() {
        let text = "epsilon = 0.9999997546921271, at 12.5 of sha256:12.3456789ab and 123456789";
        assert_eq!(
            rounded(text, up),
            "epsilon = 1.000, at 12.5 of sha256:12.3456789ab and 123456789"
        );
        assert_eq!(rounded("noise of 26.71922142718179 clips", down), "noise of 26.71 clips");
    }

    #[test]
    fn chances_are_said_plainly() {
        assert_eq!(one_in(1e-6), "a chance of one in 1,000,000");
        assert_eq!(one_in(3e-4), "a chance of one in 3,333");
        assert_eq!(one_in(0.0), "a chance below 1e-40");
        assert_eq!(one_in(1e-20), "a chance of 1e-20");
    }

    #[test]
    fn text_out_of_files_is_tamed() {
        assert_eq!(plain("a\u{202e}b\nc\u{0}d"), "ab cd");
        assert_eq!(plain(&"x".repeat(1_000)).chars().count(), LONGEST + 1);
    }
}
