//! How a lower bound is made from runs.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A way to a lower bound on ε.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The best threshold on half of the runs, its error rates on the other half.
    #[default]
    Threshold,
    /// The same test, read as a statement on μ-GDP; for runs that are exactly Gaussian.
    Gdp,
    /// The same test, read by all that is known of the law of the run.
    Profile,
    /// Many canaries in one run.
    OneRun,
}

impl Method {
    /// Every method.
    pub const ALL: [Method; 4] = [Method::Threshold, Method::Gdp, Method::Profile, Method::OneRun];

    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Method::Threshold => "threshold",
            Method::Gdp => "gdp",
            Method::Profile => "profile",
            Method::OneRun => "one-run",
        }
    }
}

/// A method that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodError {
    given: String,
}

impl std::error::Error for MethodError {}

impl fmt::Display for MethodError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "there is no method '{}': use {}",
            self.given,
            Method::ALL.map(Method::name).join(", ")
        )
    }
}

impl FromStr for Method {
    type Err = MethodError;

    fn from_str(text: &str) -> Result<Self, MethodError> {
        let found = Method::ALL.into_iter().find(|method| method.name() == text);
        found.ok_or_else(|| MethodError { given: text.to_owned() })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Method {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
