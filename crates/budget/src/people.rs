//! Whom a job is counted for: everybody, or the groups of people that its table is of. What is not
//! known to be about some groups alone is about everybody, those included who come later.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Whom a job is counted for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum People {
    /// All groups, those too that are bound later.
    Everybody,
    /// These groups, counted from 1; never none.
    Groups(BTreeSet<u64>),
}

impl People {
    /// One group, or everybody.
    pub(crate) fn of(group: Option<u64>) -> Self {
        group.map_or(People::Everybody, |own| People::Groups(BTreeSet::from([own])))
    }

    /// Those of both.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (People::Groups(mut all), People::Groups(more)) => {
                all.extend(more);
                People::Groups(all)
            }
            _ => People::Everybody,
        }
    }

    /// Whether a group is among them.
    pub(crate) fn include(&self, group: u64) -> bool {
        match self {
            People::Everybody => true,
            People::Groups(all) => all.contains(&group),
        }
    }

    /// The group, where it is one.
    pub(crate) fn one(&self) -> Option<u64> {
        match self {
            People::Groups(all) if all.len() == 1 => all.first().copied(),
            _ => None,
        }
    }

    /// The groups, where they are several and not everybody.
    pub(crate) fn several(&self) -> Vec<u64> {
        match self {
            People::Groups(all) if all.len() > 1 => all.iter().copied().collect(),
            _ => Vec::new(),
        }
    }
}
