//! Numbers that may be infinite, for `#[serde(with = …)]`: JSON has no infinity, and an unknown ε
//! must survive a round trip, so there `∞` is the word "infinity".

use serde::{Deserialize, Deserializer, Serializer};

/// A number, or the word.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() {
        serializer.serialize_f64(*value)
    } else {
        serializer.serialize_str("infinity")
    }
}

/// The number back.
///
/// # Errors
/// Anything but a number or the word.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum RawNumber {
        Finite(f64),
        Word(String),
    }
    match RawNumber::deserialize(deserializer)? {
        RawNumber::Finite(value) => Ok(value),
        RawNumber::Word(word) if word == "infinity" => Ok(f64::INFINITY),
        RawNumber::Word(word) => {
            Err(serde::de::Error::custom(format!("'{word}' is neither a number nor \"infinity\"")))
        }
    }
}
