//! The answer: an interval that contains the truth, and the method that proved it.

use crate::names::named;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

named! {
    /// How a bound was obtained.
    pub enum Method {
        /// The closed form of composed Gaussian mechanisms.
        Exact = "exact-gaussian",
        /// Privacy-loss distribution, connect-the-dots, composed by FFT.
        Pld = "pld",
        /// Rényi divergence with the tight conversion.
        Rdp = "rdp",
        /// Rényi divergence with the conversion ε + ln(1/δ)/(α−1).
        Mironov17 = "rdp-mironov17",
        /// The moments accountant with integer moments, as used in DPA19.
        Moments = "moments",
        /// Sums of pure or (ε, δ) parameters.
        Basic = "basic-composition",
        /// Advanced composition of (ε, δ) parameters.
        Advanced = "advanced-composition",
        /// Nothing is known, or nothing was spent.
        Trivial = "trivial",
    }
}

/// `lower ≤ truth ≤ upper`; promise `upper`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The parameter cannot be smaller than this.
    #[serde(serialize_with = "write_float", deserialize_with = "read_float")]
    pub lower: f64,
    /// The parameter is not larger than this.
    #[serde(serialize_with = "write_float", deserialize_with = "read_float")]
    pub upper: f64,
    /// How `upper` was obtained.
    pub method: Method,
}

impl Bound {
    /// An interval; the ends are put in order if rounding has crossed them.
    pub(crate) fn new(lower: f64, upper: f64, method: Method) -> Self {
        let upper = if upper.is_nan() { f64::INFINITY } else { upper };
        let lower = if lower.is_nan() { 0.0 } else { lower.min(upper) };
        Self { lower, upper, method }
    }
}

/// JSON has no infinity, and an unknown ε must survive a round trip: it is written as the word.
pub(crate) fn write_float<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_str("infinity") }
}

pub(crate) fn read_float<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
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
            Err(serde::de::Error::custom(format!("expected a number or \"infinity\", got \"{word}\"")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinity_survives_json() {
        let bound = Bound::new(1.5, f64::INFINITY, Method::Trivial);
        let text = serde_json::to_string(&bound).unwrap();
        assert_eq!(text, r#"{"lower":1.5,"upper":"infinity","method":"trivial"}"#);
        assert_eq!(serde_json::from_str::<Bound>(&text).unwrap(), bound);
    }
}
