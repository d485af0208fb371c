//! The words a guarantee is meaningless without: who counts as a neighbour, whose data, seen by
//! whom.

use reticent_core::words;

words! {
    /// The neighbouring relation of data sets.
    #[derive(Default, Eq, Hash, PartialOrd, Ord)]
    pub enum Adjacency = "adjacency" {
        /// One record (or user) is exchanged for another; the size n is public.
        #[default]
        ReplaceOne = "replace-one",
        /// One record (or user) is added or taken away; the size n is private.
        AddRemove = "add-remove",
    }
}

words! {
    /// The unit of protection.
    #[derive(Default, Eq, Hash, PartialOrd, Ord)]
    pub enum Unit = "unit" {
        /// One row of the table.
        #[default]
        Record = "record",
        /// All the rows of one person; between parties that have several, within one of them.
        User = "user",
        /// All that one party holds, in a run between parties.
        Party = "party",
    }
}

impl Unit {
    /// Whether one of them may have many records.
    pub fn is_whole(self) -> bool {
        self != Unit::Record
    }

    /// The word for several of them.
    pub fn plural(self) -> &'static str {
        match self {
            Unit::Record => "records",
            Unit::User => "users",
            Unit::Party => "parties",
        }
    }
}

words! {
    /// The adversary: what it sees.
    #[derive(Default, Eq, Hash, PartialOrd, Ord)]
    pub enum View = "view" {
        /// What is released at the end and along the way by the curator.
        #[default]
        Central = "central",
        /// Every message of one party.
        Local = "local",
        /// Sums over the parties, never one party's message.
        SecureAggregation = "secure-aggregation",
        /// The tokens that pass through one honest-but-curious peer.
        Network = "network",
    }
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
        assert_eq!(message, "adjacency = replace-two: use replace-one, add-remove");
    }
}
