//! From the cell that says whose a record is to the bytes that tell persons apart.
//!
//! One person is often spelt in two ways: `7` in a file of January and `7.0` in one of February, a
//! number in Parquet and text in CSV, an accent as a letter of its own or not. Whoever takes them
//! for two protects each with a part of what is theirs. So ids are brought into one form. It
//! follows from the cell and the schema alone: were other rows looked at, the id of one person
//! could rename others.
//!
//! | cell | form |
//! | --- | --- |
//! | an integer; text of digits, with a sign or not, and a point and zeros behind them or not | the integer, in decimal digits, of any length |
//! | digits in groups of three, or with a comma for the point and zeros behind it | refused: an integer to some |
//! | a floating-point number | the integer that it is; refused where it is none, or too large to be exact |
//! | a truth value; the text `true`, `True`, `TRUE`, `false`, `False` or `FALSE` | `true` or `false` |
//! | a day; text that is one, at midnight or without a time | `YYYY-MM-DD` |
//! | a point in time within a day, as text or not | refused: it is written in too many ways |
//! | text in quotes | refused: to some readers they are no part of it |
//! | other text | NFC, white space and what is not seen at both ends cut off, one end of lines, case kept |
//!
//! Exponents, hexadecimal digits and the text `NaN` are other text. Under [`IdForm::Text`] text is
//! what it is.

use crate::missing::Tokens;
use crate::{Cell, CellProblem, day, number};
use std::borrow::Cow;
use std::io::Write;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Whole numbers from here on stand for their neighbours too, in double and in single precision.
const DOUBLE: f64 = 9_007_199_254_740_992.0;
const SINGLE: f32 = 16_777_216.0;

/// Which spellings of an id are one person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IdForm {
    /// Those of one integer, one truth value, one day or one normalised text; the default.
    #[default]
    Canonical,
    /// None: every spelling is somebody else, leading zeros included.
    Text,
}

/// The rule of a schema.
#[derive(Debug)]
pub(crate) struct PersonId {
    form: IdForm,
    /// Numbers have a comma where others have a point.
    comma: bool,
    /// The ids that mean nobody.
    missing: Tokens,
}

impl PersonId {
    pub(crate) fn new(form: IdForm, comma: bool, missing_tokens: &[String]) -> Self {
        let mut rule = Self { form, comma, missing: Tokens::new(&[]) };
        let as_id = |token: &String| {
            let id = rule.with(Cell::Text(token.as_bytes()), <[u8]>::to_vec);
            id.ok().and_then(|id| String::from_utf8(id).ok())
        };
        let ids: Vec<String> = missing_tokens.iter().filter_map(as_id).collect();
        rule.missing = Tokens::new(&ids);
        rule
    }

    /// What `f` makes of the id in a cell.
    pub(crate) fn with<T>(
        &self,
        cell: Cell<'_>,
        f: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, CellProblem> {
        let found = |id: &[u8]| match id.is_empty() || self.missing.has(id) {
            true => Err(CellProblem::UserMissing),
            false => Ok(f(id)),
        };
        match (cell, self.form) {
            (Cell::Missing, _) => Err(CellProblem::UserMissing),
            (Cell::Number(x), _) if x.is_nan() => Err(CellProblem::UserMissing),
            (Cell::Single(x), _) if x.is_nan() => Err(CellProblem::UserMissing),
            (Cell::Rounded(_), _) | (Cell::Number(_) | Cell::Single(_), IdForm::Text) => {
                Err(CellProblem::UserFloat)
            }
            (Cell::Number(x), _) if x.trunc() == x && x.abs() < DOUBLE => digits(x as i128, found),
            (Cell::Single(x), _) if x.trunc() == x && x.abs() < SINGLE => digits(x as i128, found),
            (Cell::Number(_) | Cell::Single(_), _) => Err(CellProblem::UserFloat),
            (Cell::Whole(n), _) => digits(n, found),
            (Cell::Flag(b), _) => found(truth(b)),
            (Cell::Day(at), _) if (day::FIRST..=day::LAST).contains(&at) => {
                found(day::text(at).as_bytes())
            }
            (Cell::Day(_) | Cell::Moment(_), _) => Err(CellProblem::UserMoment),
            (Cell::Text(text), IdForm::Text) => found(text),
            (Cell::Text(text), IdForm::Canonical) => self.of_text(text).and_then(|id| found(&id)),
        }
    }

    fn of_text<'a>(&self, text: &'a [u8]) -> Result<Cow<'a, [u8]>, CellProblem> {
        // Nearly all ids are this one.
        if let [b'1'..=b'9', rest @ ..] = text
            && rest.iter().all(u8::is_ascii_digit)
        {
            return Ok(text.into());
        }
        let text = std::str::from_utf8(text).map_err(|_| CellProblem::NotUtf8)?;
        let text = match text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
            true => Cow::Borrowed(text.trim_matches(is_nothing)),
            false => Cow::Owned(text.nfc().collect::<String>().trim_matches(is_nothing).to_owned()),
        };
        let (point, other) = if self.comma { (b',', b'.') } else { (b'.', b',') };
        if let Some(integer) = integer(text.as_bytes(), point) {
            return Ok(integer.into_owned().into());
        }
        if is_integer_to_some(text.as_bytes(), point, other) {
            return Err(CellProblem::UserSeparator);
        }
        if let Some(b) = number::truth(text.as_bytes()) {
            return Ok(truth(b).into());
        }
        if let [b'"', .., b'"'] = text.as_bytes() {
            return Err(CellProblem::UserQuotes);
        }
        if let Some((day, time)) = text.as_bytes().split_at_checked(10)
            && day::parse(day).is_some()
        {
            if midnight(time) {
                return Ok(day.to_vec().into());
            }
            if is_time(time) {
                return Err(CellProblem::UserMoment);
            }
        }
        Ok(match text {
            text if text.contains('\r') => {
                text.replace("\r\n", "\n").replace('\r', "\n").into_bytes().into()
            }
            Cow::Borrowed(text) => text.as_bytes().into(),
            Cow::Owned(text) => text.into_bytes().into(),
        })
    }
}

/// Whether nobody sees a character at the end of a text: white space, control characters, and what Unicode
/// calls ignorable by default, with the marks of annotations.
fn is_nothing(c: char) -> bool {
    let ignorable = matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    c.is_whitespace() || c.is_control() || ignorable
}

/// The decimal digits of an integer, for which nothing is allocated.
fn digits<T>(n: i128, f: impl FnOnce(&[u8]) -> T) -> T {
    let mut buffer = [0; 40];
    let mut rest = &mut buffer[..];
    // An i128 has at most 39 digits and a sign: they are never cut off.
    let written = write!(rest, "{n}");
    debug_assert!(written.is_ok());
    let left = rest.len();
    f(&buffer[..buffer.len() - left])
}

/// Whether text that is no integer with this `point` is one to programs of another country: with
/// `other` for the point, or between groups of three digits.
fn is_integer_to_some(text: &[u8], point: u8, other: u8) -> bool {
    let unsigned = text.strip_prefix(b"-").or(text.strip_prefix(b"+")).unwrap_or(text);
    let whole = |digits: &[u8], len: std::ops::RangeInclusive<usize>| {
        len.contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit)
    };
    let end = unsigned.iter().position(|&byte| byte == point).unwrap_or(unsigned.len());
    let (groups, places) = unsigned.split_at(end);
    let mut groups = groups.split(|&byte| byte == other);
    let first = groups.next().is_some_and(|digits| whole(digits, 1..=3));
    let grouped = first && groups.clone().next().is_some() && groups.all(|g| whole(g, 3..=3));
    let no_places = places.iter().skip(1).all(|&byte| byte == b'0');
    (grouped && no_places) || integer(text, other).is_some()
}

/// The integer in `[+-]?digits(.0*)?`, with `point` for the point: no sign but a minus, no leading
/// zeros, one zero.
fn integer(text: &[u8], point: u8) -> Option<Cow<'_, [u8]>> {
    let (minus, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let end = digits.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    let (digits, behind) = digits.split_at(end);
    let whole = match behind {
        [] => true,
        [first, zeros @ ..] => *first == point && zeros.iter().all(|&byte| byte == b'0'),
    };
    if digits.is_empty() || !whole {
        return None;
    }
    let zeros = digits.iter().take_while(|&&byte| byte == b'0').count();
    match &digits[zeros..] {
        [] => Some(b"0"[..].into()),
        rest if minus => Some([b"-", rest].concat().into()),
        rest => Some(rest.into()),
    }
}

fn truth(b: bool) -> &'static [u8] {
    if b { b"true" } else { b"false" }
}

/// Whether what stands behind a day is nothing, or midnight there or in UTC.
fn midnight(time: &[u8]) -> bool {
    let [b'T' | b' ', clock @ ..] = time else { return time.is_empty() };
    let clock = [&b"Z"[..], b"+00:00", b"+0000"]
        .into_iter()
        .find_map(|zone| clock.strip_suffix(zone))
        .unwrap_or(clock);
    let Some(seconds) = clock.strip_prefix(b"00:00") else { return false };
    match seconds.strip_prefix(b":00") {
        None => seconds.is_empty(),
        Some([]) => true,
        Some([b'.', zeros @ ..]) => zeros.iter().all(|&byte| byte == b'0'),
        Some(_) => false,
    }
}

/// Whether what stands behind a day is a time of day, or a zone. It need not be one that is
/// understood: `-001` and a name are none.
fn is_time(behind: &[u8]) -> bool {
    match behind {
        [b'T' | b't', b'0'..=b'9', ..] | [b'Z' | b'z'] => true,
        [b' ', b'0'..=b'9', b':', ..] | [b' ', b'0'..=b'9', b'0'..=b'9', b':', ..] => true,
        [b'+' | b'-', zone @ ..] => zone.len() == 5 && zone[2] == b':',
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rule(form: IdForm) -> PersonId {
        PersonId::new(form, false, &[String::new(), "-999".to_owned(), "NA".to_owned()])
    }

    fn id(cell: Cell<'_>) -> Result<String, CellProblem> {
        rule(IdForm::Canonical).with(cell, |id| String::from_utf8(id.to_vec()).unwrap())
    }

    fn of(text: &str) -> String {
        id(Cell::Text(text.as_bytes())).unwrap()
    }

    #[test]
    fn the_spellings_of_one_integer_are_one_person() {
        for text in ["7", "+7", "007", "7.", "7.0", "7.000", "+07.0", " 7.0 ", "\u{a0}7"] {
            assert_eq!(of(text), "7", "{text:?}");
        }
        assert_eq!(["-7", "-007.0"].map(of), ["-7", "-7"]);
        assert_eq!(["0", "-0", "+0.0", "000"].map(of), ["0"; 4]);
        let cells =
            [Cell::Whole(7), Cell::Number(7.0), Cell::Single(7.0), Cell::Text(b"7.0")].map(id);
        assert!(cells.iter().all(|id| id.as_deref() == Ok("7")), "{cells:?}");
        assert_eq!(id(Cell::Number(-0.0)), Ok("0".to_owned()));
        // Two that are one as floating-point numbers.
        let (long, next) = ("123456789012345678", "123456789012345679");
        assert_eq!([of(long), of(next), of(&format!("{long}.0"))], [long, next, long]);
        let longer = "9".repeat(60);
        assert_eq!(of(&format!("+000{longer}.00")), longer);
        assert_eq!(id(Cell::Whole(i128::MIN)), Ok(i128::MIN.to_string()));
    }

    #[test]
    fn what_is_no_integer_stays_text() {
        for text in ["1e3", "0x10", "NaN", "7.5", ".0", "-", "+", "7,5", "1 2", "--7", "7.0.0"] {
            assert_eq!(of(text), text);
        }
        assert_eq!(["−7", "٧", "Ann", "ann"].map(of), ["−7", "٧", "Ann", "ann"]);
        assert_eq!([of("e\u{301}"), of("\u{2003}é\t")], ["é", "é"]);
        assert_eq!(of("\u{212b}ngstr\u{f6}m"), of("A\u{30a}ngstro\u{308}m"));
    }

    #[test]
    fn truth_values_and_days_have_one_spelling() {
        assert_eq!(["true", "True", "TRUE"].map(of), ["true"; 3]);
        assert_eq!(id(Cell::Flag(false)), Ok(of("False")));
        let day = "2024-02-29";
        let spellings = ["", "T00:00", " 00:00:00", "T00:00:00.000", " 00:00:00+00:00", "T00:00Z"];
        for time in spellings {
            assert_eq!(of(&format!("{day}{time}")), day, "{time}");
        }
        assert_eq!(id(Cell::Day(19_782)), Ok(day.to_owned()));
        assert_eq!(of("2023-02-29"), "2023-02-29", "no day, and text");
    }

    #[test]
    fn what_may_be_two_is_refused_and_nobody_is_no_person() {
        use CellProblem::{UserFloat, UserMissing, UserMoment};
        for x in [0.5, 9_007_199_254_740_992.0, -1e300, f64::INFINITY] {
            assert_eq!(id(Cell::Number(x)), Err(UserFloat), "{x}");
        }
        assert_eq!(id(Cell::Number(9_007_199_254_740_991.0)).unwrap(), "9007199254740991");
        assert_eq!(id(Cell::Single(16_777_216.0)), Err(UserFloat));
        assert_eq!(id(Cell::Single(16_777_215.0)).unwrap(), "16777215");
        for text in ["2024-02-29T12:00", "2024-02-29 00:00:00+02:00", "2024-02-29 00:00:01"] {
            assert_eq!(id(Cell::Text(text.as_bytes())), Err(UserMoment), "{text}");
        }
        assert_eq!(
            [Cell::Moment(0), Cell::Day(i64::MAX)].map(id),
            [Err(UserMoment), Err(UserMoment)]
        );
        let nobody = [
            Cell::Missing,
            Cell::Number(f64::NAN),
            Cell::Single(f32::NAN),
            Cell::Whole(-999),
            Cell::Number(-999.0),
            Cell::Text(b"-999.0"),
            Cell::Text(" NA\u{a0}".as_bytes()),
            Cell::Text("\u{2003}".as_bytes()),
        ];
        for cell in nobody {
            assert_eq!(id(cell), Err(UserMissing), "{cell:?}");
        }
    }

    #[test]
    fn a_decimal_comma_stands_for_the_point() {
        let rule = PersonId::new(IdForm::Canonical, true, &[]);
        let id = |text: &str| rule.with(Cell::Text(text.as_bytes()), <[u8]>::to_vec);
        assert_eq!(id("7,0").unwrap(), b"7");
        assert_eq!(id("7.5").unwrap(), b"7.5");
        for text in ["7.000", "7.", "12.345", "1.000.000", "12.345,00"] {
            assert_eq!(id(text), Err(CellProblem::UserSeparator), "{text}");
        }
    }

    #[test]
    fn as_text_every_spelling_is_somebody_else() {
        let rule = rule(IdForm::Text);
        let id = |cell| rule.with(cell, <[u8]>::to_vec);
        for text in ["7", "7.0", "007", "+7", "True", "e\u{301}", "2024-02-29T12:00"] {
            assert_eq!(id(Cell::Text(text.as_bytes())).unwrap(), text.as_bytes());
        }
        assert_eq!(id(Cell::Whole(7)).unwrap(), b"7");
        assert_eq!(
            [id(Cell::Number(7.0)), id(Cell::Single(7.0))],
            [Err(CellProblem::UserFloat), Err(CellProblem::UserFloat)]
        );
        assert_eq!(id(Cell::Whole(-999)), Err(CellProblem::UserMissing));
        assert_eq!(id(Cell::Moment(3)), Err(CellProblem::UserMoment));
    }

    /// A number of which only a rounding is known is nobody's id, whole or not.
    #[test]
    fn a_rounded_number_is_no_id() {
        for form in [IdForm::Canonical, IdForm::Text] {
            let id = rule(form).with(Cell::Rounded(7.0), <[u8]>::to_vec);
            assert_eq!(id, Err(CellProblem::UserFloat));
        }
    }

    #[test]
    fn digits_in_groups_or_with_the_other_sign_are_refused() {
        for text in ["7,0", "7,", "1,000", "-12,345,678", "1,000.00", "+999,000."] {
            let id = id(Cell::Text(text.as_bytes()));
            assert_eq!(id, Err(CellProblem::UserSeparator), "{text}");
        }
        for text in ["1,2", "12,34", "1234,567", "1,000,00", ",000", "1,000x", "1,,000", "0,a"] {
            assert_eq!(of(text), text);
        }
    }

    #[test]
    fn a_point_in_time_is_refused_however_it_is_written() {
        for time in [
            "T12:00:00,5",
            " 12:00:00 UTC",
            "T00",
            "t00:00:00z",
            " 00:00:00 +0000",
            "Z",
            "T120000Z",
            " 0:00",
            " 12:00 PM",
            " 00:00:00+00",
        ] {
            let id = id(Cell::Text(format!("2024-02-29{time}").as_bytes()));
            assert_eq!(id, Err(CellProblem::UserMoment), "{time}");
        }
        for other in ["2024-02-29-001", "2024-02-29 Ann", "2024-02-29 7", "2024-02-29Tom"] {
            assert_eq!(of(other), other);
        }
    }

    /// A reader of text leaves out the mark at the beginning of a line, takes every end of a line
    /// within quotes for the same, and refuses zero bytes; other formats have all of them.
    #[test]
    fn marks_padding_and_ends_of_lines_tell_nobody_apart() {
        let spellings = ["7", "\u{feff}7", "7\0\0", " \u{feff} 7.0 \0 ", "\u{200b}7"].map(of);
        assert_eq!(spellings, ["7"; 5]);
        assert_eq!(["a\nb", "a\r\nb", "a\rb"].map(of), ["a\nb"; 3]);
        for mark in "\u{61c}\u{ad}\u{180e}\u{2062}\u{206a}\u{fe0f}\u{34f}\u{3164}\u{e0041}\u{1a}\u{7f}\u{85}".chars() {
            assert_eq!([of(&format!("{mark}Ann{mark}")), of(&format!("7{mark}"))], ["Ann", "7"], "{mark:?}");
        }
        assert_eq!(id(Cell::Text("\u{feff}\0".as_bytes())), Err(CellProblem::UserMissing));
    }

    proptest! {
        /// The form of a form is itself, and never missing where the first was not.
        #[test]
        fn the_form_is_its_own(text in "\\PC{0,12}|[+-]?0{0,3}[0-9]{0,20}(\\.0{0,3})?|[ \u{a0}]?[eE]\u{301}{1,2} ?") {
            if let Ok(once) = id(Cell::Text(text.as_bytes())) {
                prop_assert_eq!(of(&once), once);
            }
        }

        /// Two integers are one person where they are equal, in whatever way each is spelt.
        #[test]
        fn equal_where_the_integers_are(
            a in -999_i64..999, b in -999_i64..999,
            spell in prop::array::uniform2((0_usize..4, 0_usize..3, 0_usize..5)),
        ) {
            let id = |n: i64, (zeros, places, kind): (usize, usize, usize)| {
                let sign = if n < 0 { "-" } else { ["", "+"][zeros % 2] };
                let point = if kind % 2 == 0 { "." } else { "" };
                let places = if kind % 2 == 0 { places } else { 0 };
                let text = format!("{sign}{}{}{point}{}", "0".repeat(zeros), n.abs(), "0".repeat(places));
                let rule = PersonId::new(IdForm::Canonical, false, &[]);
                rule.with(match kind {
                    2 => Cell::Whole(n.into()),
                    3 => Cell::Number(n as f64),
                    4 => Cell::Single(n as f32),
                    _ => Cell::Text(text.as_bytes()),
                }, <[u8]>::to_vec).unwrap()
            };
            prop_assert_eq!(id(a, spell[0]) == id(b, spell[1]), a == b);
            prop_assert_eq!(id(a, spell[0]), a.to_string().into_bytes());
        }
    }
}
