//! The words a guarantee is meaningless without: who counts as a neighbour, whose data, seen by
//! whom.

use crate::names::named;

named! {
    /// What one change of the data set is.
    pub enum Adjacency {
        /// One record (or user) is exchanged for another; the size n is public.
        ReplaceOne = "replace-one",
        /// One record (or user) is added or taken away; the size n is private.
        AddRemove = "add-remove",
    }
}

named! {
    /// Whose change is hidden.
    pub enum Unit {
        /// One row of the table.
        Record = "record",
        /// All the rows of one person.
        User = "user",
    }
}

named! {
    /// The adversary: what it sees.
    pub enum View {
        /// What is released at the end and along the way by the curator.
        Central = "central",
        /// Every message of one party.
        Local = "local",
        /// Sums over the parties, never one party's message.
        SecureAggregation = "secure-aggregation",
        /// The tokens that pass through one honest-but-curious peer.
        Network = "network",
    }
}

/// A name that is not in the vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} \"{given}\": allowed are {allowed}")]
pub struct UnknownName {
    pub(crate) given: String,
    pub(crate) what: &'static str,
    pub(crate) allowed: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_text_and_json() {
        for view in View::ALL {
            assert_eq!(view.to_string().parse::<View>().unwrap(), *view);
            assert_eq!(serde_json::to_string(view).unwrap(), format!("\"{view}\""));
        }
        assert_eq!(Adjacency::default(), Adjacency::ReplaceOne);
        assert_eq!(Unit::default(), Unit::Record);
        assert_eq!(View::default(), View::Central);
        let message = "replace-two".parse::<Adjacency>().unwrap_err().to_string();
        assert_eq!(
            message,
            "unknown Adjacency \"replace-two\": allowed are replace-one, add-remove"
        );
    }
}
