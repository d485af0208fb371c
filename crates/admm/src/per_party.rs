//! Numbers that every party has for itself.

use std::fmt;
use std::str::FromStr;

use reticent_oracle::{Refused, Typed};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// One number for each party, in their order: `0.5,1,2`.
#[derive(Clone, Debug, PartialEq)]
pub struct PerParty(Vec<f64>);

/// The penalty parameters of parties that do not share one.
#[derive(Clone, Debug, PartialEq)]
pub enum PartyRho {
    /// These, one for each party.
    Each(PerParty),
    /// This number over the number of a party's neighbours: all are pulled as strongly.
    Degree(f64),
}

/// The word before the number of [`PartyRho::Degree`].
const DEGREE: &str = "degree:";

impl PerParty {
    /// These numbers.
    ///
    /// # Errors
    /// If there is none, or one of them is not finite and above 0.
    pub fn new(numbers: Vec<f64>) -> Result<Self, Refused> {
        let each = PerParty(numbers);
        if !each.0.is_empty() && each.0.iter().all(|number| number.is_finite() && *number > 0.0) {
            return Ok(each);
        }
        Err(Refused::new("party", each, Self::allowed()))
    }

    /// The numbers of so many parties, for the setting `name`.
    ///
    /// # Errors
    /// If there are more or fewer.
    pub fn of(&self, name: &'static str, parties: u32) -> Result<&[f64], Refused> {
        if self.0.len() == parties as usize {
            return Ok(&self.0);
        }
        let allowed = format!(
            "there are {parties} parties, and one number for each is needed: {} are given",
            self.0.len()
        );
        Err(Refused::new(name, self, allowed))
    }
}

impl fmt::Display for PerParty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(f64::to_string).collect();
        f.write_str(&texts.join(","))
    }
}

impl Typed for PerParty {
    fn allowed() -> String {
        "one number above 0 for each party is needed, with commas between: 0.5,1,2".to_owned()
    }
}

impl FromStr for PerParty {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Self, Refused> {
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let numbers: Result<Vec<f64>, _> =
            bare.split(',').map(|number| number.trim().parse()).collect();
        let numbers = numbers.map_err(|_| Refused::new("party", text, Self::allowed()))?;
        PerParty::new(numbers)
    }
}

impl fmt::Display for PartyRho {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartyRho::Each(each) => each.fmt(f),
            PartyRho::Degree(number) => write!(f, "{DEGREE}{number}"),
        }
    }
}

impl Typed for PartyRho {
    fn allowed() -> String {
        format!(
            "{}, or {DEGREE}C for C over the number of a party's neighbours",
            PerParty::allowed()
        )
    }
}

impl FromStr for PartyRho {
    type Err = Refused;

    fn from_str(text: &str) -> Result<Self, Refused> {
        let refused = || Refused::new("party_rho", text, Self::allowed());
        match text.strip_prefix(DEGREE).map(str::parse::<f64>) {
            None => text.parse().map(PartyRho::Each).map_err(|_| refused()),
            Some(Ok(number)) if number.is_finite() && number > 0.0 => Ok(PartyRho::Degree(number)),
            Some(_) => Err(refused()),
        }
    }
}

/// As a file has it: a text, or a list of numbers.
#[derive(Deserialize)]
#[serde(untagged)]
enum InFile {
    Text(String),
    List(Vec<f64>),
}

/// Written as text, read as a text or a list.
macro_rules! in_files {
    ($name:ident, $of_list:expr) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let allowed = |_| de::Error::custom($name::allowed());
                match InFile::deserialize(from).map_err(allowed)? {
                    InFile::Text(text) => text.parse().map_err(|_: Refused| $name::allowed()),
                    InFile::List(list) => {
                        PerParty::new(list).map($of_list).map_err(|_| $name::allowed())
                    }
                }
                .map_err(de::Error::custom)
            }
        }
    };
}

in_files!(PerParty, |each| each);
in_files!(PartyRho, PartyRho::Each);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_lists_are_read_and_texts_are_written() {
        for text in ["0.5,1,2", "3"] {
            assert_eq!(text.parse::<PerParty>().unwrap().to_string(), text);
            assert_eq!(text.parse::<PartyRho>().unwrap().to_string(), text);
        }
        assert_eq!("degree:0.5".parse(), Ok(PartyRho::Degree(0.5)));
        assert_eq!(PartyRho::Degree(0.5).to_string(), "degree:0.5");
        let listed: PartyRho = serde_json::from_str("[0.5, 1]").unwrap();
        assert_eq!(listed, "0.5,1".parse().unwrap());
        assert_eq!("[0.5, 1]".parse(), Ok(listed.clone()));
        assert_eq!(serde_json::to_string(&listed).unwrap(), r#""0.5,1""#);
    }

    #[test]
    fn what_is_no_number_above_zero_is_refused() {
        for text in ["", "0", "1,-1", "1,NaN", "inf", "1,,2", "a", "[1,2", "degree:1"] {
            assert!(text.parse::<PerParty>().is_err(), "{text}");
        }
        for text in ["", "degree:", "degree:0", "degree:inf", "degree:NaN", "degree:1,2"] {
            assert!(text.parse::<PartyRho>().is_err(), "{text}");
        }
        assert!(serde_json::from_str::<PerParty>("[1, 0]").is_err());
        assert!(serde_json::from_str::<PerParty>("[]").is_err());
    }

    #[test]
    fn there_is_one_for_each_party() {
        let each = PerParty::new(vec![1.0, 2.0]).unwrap();
        assert_eq!(each.of("party_noise", 2), Ok(&[1.0, 2.0][..]));
        assert_eq!(
            each.of("party_noise", 3).unwrap_err().to_string(),
            "party_noise = 1,2: there are 3 parties, and one number for each is needed: 2 are given"
        );
    }
}
