//! The law of the random linear term of an objective.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How a random linear term is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// Independent normal coordinates.
    #[default]
    Normal,
    /// Density falling exponentially with the norm: (ε, 0)-privacy.
    SphericalLaplace,
}

/// A law that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown law '{given}': use normal or spherical-laplace")]
pub struct LawError {
    given: String,
}

impl FromStr for Law {
    type Err = LawError;

    fn from_str(text: &str) -> Result<Self, LawError> {
        let found =
            [Law::Normal, Law::SphericalLaplace].into_iter().find(|law| law.to_string() == text);
        found.ok_or_else(|| LawError { given: text.to_owned() })
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Law::Normal => "normal",
            Law::SphericalLaplace => "spherical-laplace",
        })
    }
}
