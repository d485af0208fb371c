//! The budgets that the parties of a run pay from, by their files: a file of its own for each.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::spec::text_beside;

/// What stands for the number of a party in the name of a file.
const NUMBER: &str = "{}";

/// Each is a file that stays open.
const MOST: usize = 256;

/// The files of the parties' budgets, as they are typed: one name with `{}` for the number of a
/// party, from 0, or a name for each party in their order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BudgetFiles {
    /// One name for all.
    Numbered(String),
    /// A name for each.
    Each(Vec<String>),
}

impl BudgetFiles {
    /// The files of the typed names: several names are one for each party.
    pub fn typed(mut names: Vec<String>) -> Option<Self> {
        match (names.len(), names.pop()?) {
            (1, name) if name.contains(NUMBER) => Some(BudgetFiles::Numbered(name)),
            (_, last) => {
                names.push(last);
                Some(BudgetFiles::Each(names))
            }
        }
    }

    /// The files of so many parties.
    ///
    /// # Errors
    /// If there is not one for each, or there are too many.
    pub fn of(&self, parties: usize) -> Result<Vec<PathBuf>, Error> {
        let refuse = |given: &str, why: String| Err(Error::value("party_budget", given, why));
        if parties > MOST {
            let why = format!(
                "at most {MOST} parties pay each from a file of its own; pay from one budget for the whole table"
            );
            return refuse(&format!("for {parties} parties"), why);
        }
        match self {
            BudgetFiles::Numbered(name) if parties > 1 && !name.contains(NUMBER) => refuse(
                name,
                format!(
                    "each of the {parties} parties pays from a file of its own; put {{}} for its number"
                ),
            ),
            BudgetFiles::Numbered(name) => {
                let file = |party: usize| PathBuf::from(name.replace(NUMBER, &party.to_string()));
                Ok((0..parties).map(file).collect())
            }
            BudgetFiles::Each(names) if names.len() != parties => refuse(
                &names.join(" "),
                format!(
                    "there are {parties} parties; give a file for each, or one name with {{}} for the number"
                ),
            ),
            BudgetFiles::Each(names) => Ok(names.iter().map(PathBuf::from).collect()),
        }
    }

    /// The same with names that are relative to a folder.
    pub(crate) fn beside(self, base: &Path) -> Self {
        let beside = |name: String| text_beside(base, &name);
        match self {
            BudgetFiles::Numbered(name) => BudgetFiles::Numbered(beside(name)),
            BudgetFiles::Each(names) => BudgetFiles::Each(names.into_iter().map(beside).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_party_has_a_file_of_its_own() {
        let typed = |names: &[&str]| {
            BudgetFiles::typed(names.iter().map(|&name| name.to_owned()).collect())
        };
        let numbered = typed(&["h-{}.budget"]).unwrap();
        assert_eq!(numbered.of(3).unwrap()[2], PathBuf::from("h-2.budget"));
        assert_eq!(numbered.of(1).unwrap(), [PathBuf::from("h-0.budget")]);
        let each = typed(&["a", "b"]).unwrap();
        assert_eq!(each.of(2).unwrap(), [PathBuf::from("a"), PathBuf::from("b")]);
        assert!(each.of(3).unwrap_err().to_string().contains("3 parties"));
        assert!(typed(&["a"]).unwrap().of(2).is_err() && typed(&["a"]).unwrap().of(1).is_ok());
        assert!(numbered.of(MOST + 1).unwrap_err().to_string().contains("one budget"));
        assert!(BudgetFiles::Numbered("a".to_owned()).of(2).is_err() && typed(&[]).is_none());
        let beside = numbered.beside(Path::new("/jobs"));
        assert_eq!(beside.of(1).unwrap(), [PathBuf::from("/jobs/h-0.budget")]);
    }
}
