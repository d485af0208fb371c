//! What a step of a decentralised algorithm releases.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What is released by a step that touches data; the rest of the step follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Release {
    /// The clipped mean gradient, with Gaussian noise: a linearised step.
    Gradient,
    /// The minimiser of the step's objective, with Gaussian noise on it.
    Minimiser,
    /// The minimiser of the step's objective with a random linear term of spherical Laplace law, as
    /// in the paper.
    Objective,
    /// The same with a normal linear term.
    NormalObjective,
}

impl Release {
    /// Every one.
    pub const ALL: [Release; 4] =
        [Release::Gradient, Release::Minimiser, Release::Objective, Release::NormalObjective];
}

/// A name that is none of them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("release '{given}': use {}", Release::ALL.map(String::from).join(", "))]
pub struct ReleaseError {
    given: String,
}

impl FromStr for Release {
    type Err = ReleaseError;

    fn from_str(text: &str) -> Result<Self, ReleaseError> {
        let found = Release::ALL.into_iter().find(|release| release.to_string() == text);
        found.ok_or_else(|| ReleaseError { given: text.to_owned() })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Release::Gradient => "gradient",
            Release::Minimiser => "minimiser",
            Release::Objective => "objective",
            Release::NormalObjective => "normal-objective",
        })
    }
}

impl TryFrom<String> for Release {
    type Error = ReleaseError;

    fn try_from(text: String) -> Result<Self, ReleaseError> {
        text.parse()
    }
}

impl From<Release> for String {
    fn from(release: Release) -> String {
        release.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_others_are_refused() {
        for release in Release::ALL {
            assert_eq!(release.to_string().parse(), Ok(release));
        }
        let error = "noise".parse::<Release>().unwrap_err().to_string();
        assert!(error.starts_with("release 'noise': use gradient, "), "{error}");
    }
}
