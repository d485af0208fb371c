//! Descriptions as users type them: `name[:parameter[,parameter]]`.
//!
//! A family is a table of [`CatalogueEntry`]s; the same table reads descriptions, lists what exists and
//! feeds the conformance tests, so a member that is in the table is known everywhere.

use std::fmt;

use crate::ParseError;

/// A member of a family: what a user must know, and how it is built.
#[derive(Clone, Copy, Debug)]
pub struct CatalogueEntry<B> {
    /// The name users type.
    pub name: &'static str,
    /// Its parameters, in the order they are typed.
    pub parameters: &'static [Parameter],
    /// One line in plain words.
    pub about: &'static str,
    /// Builds the member from its checked arguments.
    pub build: B,
}

impl<B> CatalogueEntry<B> {
    /// How it is typed: `huber[:delta]`, `elastic-net:lambda1,lambda2`.
    pub fn form(&self) -> String {
        let mut form = self.name.to_owned();
        let mut open = 0;
        for (i, p) in self.parameters.iter().enumerate() {
            if p.fallback != Fallback::Required {
                form.push('[');
                open += 1;
            }
            form.push(if i == 0 { ':' } else { ',' });
            form.push_str(p.name);
        }
        form + &"]".repeat(open)
    }
}

/// A parameter of a member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Its name in messages and lists.
    pub name: &'static str,
    /// The values that it may have.
    pub range: Range,
    /// What it is when it is not typed.
    pub fallback: Fallback,
}

/// What a parameter is when it is not typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fallback {
    /// It must be typed.
    Required,
    /// It has this value when it is not typed.
    Value(f64),
    /// The number of classes of the target, where the caller knows it.
    Classes,
    /// These numbers.
    List(&'static [f64]),
}

/// The values that a parameter may have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Finite and > the bound.
    Above(f64),
    /// Finite and ≥ the bound.
    AtLeast(f64),
    /// A whole number between the two.
    Whole(u32, u32),
    /// Any number, ±∞ included.
    Extended,
    /// The name of a file: the rest of the description, commas and all.
    File,
    /// Numbers, all that are left in the description.
    List,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Above(b) => write!(f, "a finite number > {b}"),
            Range::AtLeast(b) => write!(f, "a finite number ≥ {b}"),
            Range::Whole(a, b) => write!(f, "a whole number from {a} to {b}"),
            Range::Extended => f.write_str("a number, inf and -inf included"),
            Range::File => f.write_str("the name of a file"),
            Range::List => f.write_str("numbers with commas between them"),
        }
    }
}

impl Parameter {
    /// A parameter that must be typed.
    pub const fn required(name: &'static str, range: Range) -> Self {
        Self { name, range, fallback: Fallback::Required }
    }

    /// A parameter with a default.
    pub const fn with_default(name: &'static str, range: Range, value: f64) -> Self {
        Self { name, range, fallback: Fallback::Value(value) }
    }

    /// Lets `value` through when it is in the range; `name` is the member it belongs to.
    ///
    /// # Errors
    /// [`ParseError::OutOfRange`], with the range, if a parameter is outside it.
    pub fn check(&self, name: &'static str, value: f64) -> Result<f64, ParseError> {
        let allowed = match self.range {
            Range::Above(b) => value.is_finite() && value > b,
            Range::AtLeast(b) => value.is_finite() && value >= b,
            Range::Whole(a, b) => {
                value >= f64::from(a) && value <= f64::from(b) && value.fract() == 0.0
            }
            Range::Extended => !value.is_nan(),
            Range::File | Range::List => false,
        };
        if allowed {
            // −0 and 0 are the same parameter and must print the same.
            Ok(value + 0.0)
        } else {
            Err(ParseError::OutOfRange {
                name,
                parameter: self.name,
                given: number(value),
                range: self.range.to_string(),
            })
        }
    }
}

/// What was typed after the name, checked for form; the ranges are checked by the constructors, so
/// that code that builds a member directly goes through the same door.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arguments {
    /// The numbers, defaults filled in, one for each numeric parameter.
    pub numbers: Vec<f64>,
    /// The file name, for the members that take one.
    pub file: String,
}

/// Reads a description such as `huber:1.35` against a table; `family` is the word for its members in
/// messages, and `classes` what a parameter with [`Fallback::Classes`] becomes.
///
/// # Errors
/// A [`ParseError`] for an unknown name, and for parameters that are missing, too many or no numbers.
pub fn read<'t, B>(
    family: &'static str,
    table: &'t [CatalogueEntry<B>],
    text: &str,
    classes: Option<usize>,
) -> Result<(&'t CatalogueEntry<B>, Arguments), ParseError> {
    let text = text.trim();
    let (name, rest) = match text.split_once(':') {
        Some((name, rest)) => (name.trim(), Some(rest)),
        None => (text, None),
    };
    let entry =
        table.iter().find(|e| e.name == name).ok_or_else(|| unknown(family, name, table))?;
    let mut arguments = Arguments::default();
    let mut rest = rest.map(str::trim);
    for p in entry.parameters {
        let word = if matches!(p.range, Range::File | Range::List) {
            rest.take()
        } else {
            rest.map(|r| match r.split_once(',') {
                Some((word, more)) => {
                    rest = Some(more);
                    word.trim()
                }
                None => {
                    rest = None;
                    r.trim()
                }
            })
        };
        match (word, p.fallback) {
            (Some(word), _) if !word.is_empty() => arguments.take(entry.name, p, word)?,
            (None, Fallback::Value(value)) => arguments.numbers.push(value),
            (None, Fallback::List(values)) => arguments.numbers.extend(values),
            (None, Fallback::Classes) if classes.is_some() => {
                arguments.numbers.extend(classes.map(|k| k as f64));
            }
            _ => {
                return Err(ParseError::Missing {
                    given: text.to_owned(),
                    parameter: p.name,
                    range: p.range.to_string(),
                    form: entry.form(),
                });
            }
        }
    }
    if let Some(extra) = rest {
        let count = entry.parameters.len() + extra.split(',').count();
        return Err(ParseError::TooMany { given: text.to_owned(), count, form: entry.form() });
    }
    Ok((entry, arguments))
}

fn unknown<B>(family: &'static str, given: &str, table: &[CatalogueEntry<B>]) -> ParseError {
    ParseError::UnknownName {
        family,
        given: given.to_owned(),
        suggestion: nearest(given, table.iter().map(|e| e.name))
            .map(|n| format!(" (did you mean `{n}`?)"))
            .unwrap_or_default(),
        allowed: table.iter().map(CatalogueEntry::form).collect::<Vec<_>>().join(", "),
    }
}

impl Arguments {
    /// What was typed for one parameter of the member `name`.
    fn take(&mut self, name: &'static str, p: &Parameter, word: &str) -> Result<(), ParseError> {
        if p.range == Range::File {
            self.file = word.to_owned();
            return Ok(());
        }
        for word in word.split(',').map(str::trim) {
            let value = word.parse::<f64>().map_err(|_| ParseError::NotANumber {
                name,
                parameter: p.name,
                given: word.to_owned(),
                range: p.range.to_string(),
            })?;
            self.numbers.push(value);
        }
        Ok(())
    }
}

/// The name most like what was typed, if any is like it: a slip of one or two keys, or a common
/// beginning.
pub fn nearest<'n>(given: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let given = given.to_lowercase();
    let slips = |name: &str| strsim::damerau_levenshtein(&given, name);
    names
        .map(|name| (strsim::jaro_winkler(&given, name), name))
        .filter(|(plan_class, name)| *plan_class > 0.8 || 2 * slips(name) < given.chars().count())
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// A description in its canonical form: numbers as short as they can be without losing a bit.
pub(crate) fn spec(name: &str, numbers: &[f64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(|v| number(*v)).collect();
    if numbers.is_empty() { name.to_owned() } else { format!("{name}:{}", numbers.join(",")) }
}

fn number(value: f64) -> String {
    let (plain, scientific) = (format!("{value}"), format!("{value:e}"));
    if scientific.len() < plain.len() { scientific } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[CatalogueEntry<()>] = &[
        CatalogueEntry { name: "none", parameters: &[], about: "", build: () },
        CatalogueEntry {
            name: "two",
            parameters: &[
                Parameter::required("first", Range::AtLeast(0.0)),
                Parameter::with_default("second", Range::Above(1.0), 3.0),
            ],
            about: "",
            build: (),
        },
        CatalogueEntry {
            name: "classes",
            parameters: &[Parameter {
                name: "k",
                range: Range::Whole(2, 9),
                fallback: Fallback::Classes,
            }],
            about: "",
            build: (),
        },
        CatalogueEntry {
            name: "file",
            parameters: &[Parameter::required("path", Range::File)],
            about: "",
            build: (),
        },
    ];

    fn numbers(text: &str, classes: Option<usize>) -> Result<Vec<f64>, String> {
        read("thing", TABLE, text, classes).map(|(_, a)| a.numbers).map_err(|e| e.to_string())
    }

    #[test]
    fn reads_parameters_and_defaults() {
        assert_eq!(numbers("none", None), Ok(vec![]));
        assert_eq!(numbers(" two : 1e-4 , 5 ", None), Ok(vec![1e-4, 5.0]));
        assert_eq!(numbers("two:2", None), Ok(vec![2.0, 3.0]));
        assert_eq!(numbers("classes", Some(4)), Ok(vec![4.0]));
        assert_eq!(numbers("classes:3", Some(4)), Ok(vec![3.0]));
    }

    #[test]
    fn a_file_name_may_hold_commas_and_colons() {
        let (_, a) = read("thing", TABLE, "file:C:\\a,b.txt", None).unwrap();
        assert_eq!(a.file, "C:\\a,b.txt");
    }

    #[test]
    fn forms_show_what_may_be_left_out() {
        let forms: Vec<_> = TABLE.iter().map(CatalogueEntry::form).collect();
        assert_eq!(forms, ["none", "two:first[,second]", "classes[:k]", "file:path"]);
    }

    #[test]
    fn messages_say_what_is_allowed() {
        assert_eq!(
            numbers("tow:1", None).unwrap_err(),
            "there is no thing called `tow` (did you mean `two`?); the thing is one of: none, \
             two:first[,second], classes[:k], file:path"
        );
        assert!(!numbers("zzz", None).unwrap_err().contains("did you mean"));
        assert_eq!(
            numbers("two", None).unwrap_err(),
            "`two` lacks first (a finite number ≥ 0); the form is `two:first[,second]`"
        );
        assert_eq!(
            numbers("two:", None).unwrap_err(),
            "`two:` lacks first (a finite number ≥ 0); the form is `two:first[,second]`"
        );
        assert_eq!(
            numbers("two:1,2,3", None).unwrap_err(),
            "`two:1,2,3` has 3 parameters; the form is `two:first[,second]`"
        );
        assert_eq!(
            numbers("two:x", None).unwrap_err(),
            "first of `two` is `x`, which is not a number; it must be a finite number ≥ 0"
        );
        assert_eq!(
            numbers("none:", None).unwrap_err(),
            "`none:` has 1 parameters; the form is `none`"
        );
        assert!(numbers("classes", None).unwrap_err().contains("a whole number from 2 to 9"));
        assert!(numbers("two:1,", None).unwrap_err().contains("lacks second"));
        assert!(numbers("file:", None).is_err());
    }

    #[test]
    fn ranges_refuse_what_they_should() {
        let check = |range, v| Parameter::required("p", range).check("m", v).is_ok();
        assert!(check(Range::Above(0.0), 1e-300) && !check(Range::Above(0.0), 0.0));
        assert!(check(Range::AtLeast(0.0), -0.0) && !check(Range::AtLeast(0.0), -1e-300));
        assert!(!check(Range::AtLeast(0.0), f64::INFINITY) && !check(Range::Above(0.0), f64::NAN));
        assert!(check(Range::Whole(2, 9), 9.0) && !check(Range::Whole(2, 9), 2.5));
        assert!(check(Range::Extended, f64::INFINITY) && !check(Range::Extended, f64::NAN));
    }

    #[test]
    fn numbers_print_short_and_exactly() {
        assert_eq!(spec("l1", &[1e-4]), "l1:1e-4");
        assert_eq!(spec("two", &[0.5, f64::INFINITY]), "two:0.5,inf");
        assert_eq!(spec("two", &[1.0, 1000.0]), "two:1,1e3");
        for v in [0.1 + 0.2, 1e-300, f64::MAX, 123456.789] {
            assert_eq!(number(v).parse::<f64>().unwrap().to_bits(), v.to_bits());
        }
    }
}
