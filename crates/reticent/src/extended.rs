//! Numbers that may be infinite, in JSON: there `∞` is the word "infinity".

use serde::{Deserialize, Deserializer, Serializer};

pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_str("infinity") }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Number {
        Finite(f64),
        Word(String),
    }
    match Number::deserialize(deserializer)? {
        Number::Finite(value) => Ok(value),
        Number::Word(word) if word == "infinity" => Ok(f64::INFINITY),
        Number::Word(word) => {
            Err(serde::de::Error::custom(format!("'{word}' is neither a number nor \"infinity\"")))
        }
    }
}
