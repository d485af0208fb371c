//! What Python gives for a setting.

use std::fmt;

use pyo3::prelude::*;
use reticent::internal::admm::SettingValue;

/// A value as Python has it. Truth values are first: in Python they are numbers too.
#[derive(FromPyObject)]
pub enum GivenSetting {
    #[pyo3(transparent)]
    Flag(bool),
    #[pyo3(transparent)]
    Whole(i64),
    #[pyo3(transparent)]
    Number(f64),
    #[pyo3(transparent)]
    Word(String),
    #[pyo3(transparent)]
    Several(Vec<GivenSetting>),
}

impl GivenSetting {
    fn number(&self) -> Option<f64> {
        match self {
            GivenSetting::Whole(number) => Some(*number as f64),
            GivenSetting::Number(number) => Some(*number),
            _ => None,
        }
    }
}

impl SettingValue for GivenSetting {
    fn flag(&self) -> Option<bool> {
        match self {
            GivenSetting::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    fn whole(&self) -> Option<u64> {
        match self {
            GivenSetting::Whole(number) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    fn numbers(&self) -> Option<Vec<f64>> {
        match self {
            GivenSetting::Several(all) => all.iter().map(GivenSetting::number).collect(),
            one => Some(vec![one.number()?]),
        }
    }
}

/// For messages, which repeat what a caller wrote: numbers are spelt as Python spells them, and
/// truth values and lists as the command line has them.
impl fmt::Display for GivenSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GivenSetting::Flag(flag) => flag.fmt(f),
            GivenSetting::Whole(number) => number.fmt(f),
            GivenSetting::Number(number) => {
                let text = format!("{number:?}").to_lowercase();
                // Python's exponents have a sign and two digits.
                match text.split_once('e').map(|(digits, power)| (digits, power.parse::<i32>())) {
                    Some((digits, Ok(power))) => write!(f, "{digits}e{power:+03}"),
                    _ => f.write_str(&text),
                }
            }
            GivenSetting::Word(word) => f.write_str(word),
            GivenSetting::Several(all) => {
                let texts: Vec<String> = all.iter().map(GivenSetting::to_string).collect();
                f.write_str(&texts.join(","))
            }
        }
    }
}
