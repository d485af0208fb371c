//! Whom a job is counted for: everybody, or the groups of people that its table is of. What is not
//! known to be about some groups alone is about everybody, those included who come later.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Whom a job is counted for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CountedPeople {
    /// All groups, those too that are bound later.
    Everybody,
    /// These groups, counted from 1; never none.
    Groups(BTreeSet<u64>),
}

impl CountedPeople {
    /// One group, or everybody.
    pub(crate) fn of(group: Option<u64>) -> Self {
        group.map_or(CountedPeople::Everybody, |own| CountedPeople::Groups(BTreeSet::from([own])))
    }

    /// Those of both.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (CountedPeople::Groups(mut all), CountedPeople::Groups(more)) => {
                all.extend(more);
                CountedPeople::Groups(all)
            }
            _ => CountedPeople::Everybody,
        }
    }

    /// Whether a group is among them.
    pub(crate) fn include(&self, group: u64) -> bool {
        match self {
            CountedPeople::Everybody => true,
            CountedPeople::Groups(all) => all.contains(&group),
        }
    }

    /// The group, where it is one.
    pub(crate) fn one(&self) -> Option<u64> {
        match self {
            CountedPeople::Groups(all) if all.len() == 1 => all.first().copied(),
            _ => None,
        }
    }

    /// The groups, where they are several and not everybody.
    pub(crate) fn several(&self) -> Vec<u64> {
        match self {
            CountedPeople::Groups(all) if all.len() > 1 => all.iter().copied().collect(),
            _ => Vec::new(),
        }
    }
}
