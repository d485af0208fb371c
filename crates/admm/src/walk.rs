//! What the users of a random walk keep between two visits of the token (FP23, Algorithm 4).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Whether a user keeps its own variable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Walk {
    /// Nothing is kept: every step is one map of the token.
    #[default]
    Stateless,
    /// Each user keeps its `u_i`, as in the paper.
    Stateful,
}

/// A name that is not a kind of walk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "walk '{given}': use stateless (nothing is kept between visits) or stateful (each user keeps its own variable)"
)]
pub struct WalkError {
    given: String,
}

impl FromStr for Walk {
    type Err = WalkError;

    fn from_str(text: &str) -> Result<Self, WalkError> {
        match text {
            "stateless" => Ok(Walk::Stateless),
            "stateful" => Ok(Walk::Stateful),
            _ => Err(WalkError { given: text.to_owned() }),
        }
    }
}

impl fmt::Display for Walk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Walk::Stateless => "stateless",
            Walk::Stateful => "stateful",
        })
    }
}

impl TryFrom<String> for Walk {
    type Error = WalkError;

    fn try_from(text: String) -> Result<Self, WalkError> {
        text.parse()
    }
}

impl From<Walk> for String {
    fn from(walk: Walk) -> String {
        walk.to_string()
    }
}
