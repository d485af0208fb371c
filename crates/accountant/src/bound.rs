//! The answer: an interval that contains the truth, and the method that proved it.

use crate::outward::{Lower, Upper};
use reticent_core::words;
use serde::{Deserialize, Serialize};

words! {
    /// How a bound was obtained.
    #[derive(Eq, Hash, PartialOrd, Ord)]
    pub enum Method = "method" {
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
    #[serde(with = "crate::extended")]
    pub lower: f64,
    /// The parameter is not larger than this.
    #[serde(with = "crate::extended")]
    pub upper: f64,
    /// How `upper` was obtained.
    pub method: Method,
}

impl Bound {
    /// An interval; the ends are put in order if rounding has crossed them.
    pub(crate) fn new(lower: Lower, upper: Upper, method: Method) -> Self {
        let (low, upper) = (lower.value(), upper.value());
        Self { lower: if lower.reaches(upper) { upper } else { low }, upper, method }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn infinity_survives_json() {
        let bound = Bound::new(Lower::new(1.5), Upper::INFINITE, Method::Trivial);
        let text = serde_json::to_string(&bound).unwrap();
        assert_eq!(text, r#"{"lower":1.5,"upper":"infinity","method":"trivial"}"#);
        assert_eq!(serde_json::from_str::<Bound>(&text).unwrap(), bound);
    }
}
