//! A job of many parties, run in one process: flags and a TOML file become a [`Simulation`].

mod books;
mod check;
mod run;

use std::collections::BTreeMap;
use std::path::Path;

use reticent_accountant::View;
use reticent_runtime::Failures;
use serde::{Deserialize, Serialize};

pub use books::{PartyBooks, Spread};
pub use check::{NOT_BETWEEN_PARTIES, SimulationJob};
pub use run::{Keep, Simulated};

use crate::error::Error;
use crate::spec::{Spec, keys, text_beside};

/// What to run between whom; not on what, which is a [`Source`](crate::Source). Unchecked:
/// [`Simulation::check`] makes a [`SimulationJob`] of it.
///
/// In a file the job itself stands at the top, under the names of `reticent fit`, and the rest in
/// two tables:
///
/// ```toml
/// data = "people.csv"
/// algorithm = "federated"
/// epsilon = 4.0
/// [parties]
/// split = 50
/// [failures]
/// after = 0.1
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulation {
    /// The job.
    pub job: Spec,
    /// The parties.
    pub parties: Parties,
    /// What goes wrong on purpose.
    pub failures: Failures,
}

/// Who takes part, and who is trusted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Parties {
    /// So many parties, to which the records of the table are dealt; without it, one for each user
    /// of the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<u32>,
    /// The column that says whose row it is: a party for each of its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users_from: Option<String>,
    /// How records are dealt: iid, label:A or size:A. The second reads labels that nobody pays for:
    /// it is for made-up data, and taints the books.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew: Option<String>,
    /// Who looks: local, secure-aggregation, central or network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<View>,
    /// Who is connected with whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<String>,
    /// The public seed of dealing and of random graphs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The ε of parties that have a smaller budget of their own, by number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub budgets: BTreeMap<String, f64>,
}

impl Simulation {
    /// The job that the keys of a file make; paths in it are relative to the file.
    pub(crate) fn of_table(mut table: toml::Table, path: &Path) -> Result<Self, Error> {
        let refuse = |message: &str| Error::SpecSyntax {
            file: path.to_owned(),
            message: message.trim_end().to_owned(),
        };
        let failed = |error: toml::de::Error| refuse(&error.to_string());
        let parties =
            table.remove("parties").map(toml::Value::try_into).transpose().map_err(failed)?;
        let mut parties: Parties = parties.unwrap_or_default();
        if let Some(file) =
            parties.topology.as_deref().and_then(|graph| graph.strip_prefix("file:"))
        {
            let base = path.parent().unwrap_or(Path::new(""));
            parties.topology = Some(format!("file:{}", text_beside(base, file)));
        }
        let failures =
            table.remove("failures").map(toml::Value::try_into).transpose().map_err(failed)?;
        let mut job: Spec = keys(table, path)?;
        if let Some(column) = &parties.users_from {
            if parties.split.is_some() {
                return Err(refuse(
                    "[parties] has users_from and split; a party is a user, or a share of the records",
                ));
            }
            job.user_column = Some(column.clone());
        }
        let failures = failures.unwrap_or_default();
        Ok(Simulation { job: job.relative_to(path), parties, failures })
    }

    /// This one with whatever `over` says laid over it: flags win over the file they are given
    /// with.
    ///
    /// # Errors
    /// If the two do not make a job.
    pub fn overlaid(mut self, over: Simulation) -> Result<Self, Error> {
        // Whoever deals the records leaves the users of the file out.
        if over.parties.split.is_some() && self.parties.users_from.take().is_some() {
            self.job.user_column = None;
        }
        let mut parties = toml::Table::try_from(self.parties).map_err(Error::spec_form)?;
        parties.extend(toml::Table::try_from(over.parties).map_err(Error::spec_form)?);
        Ok(Simulation {
            job: self.job.overlaid(over.job)?,
            parties: parties.try_into().map_err(Error::spec_form)?,
            failures: if over.failures == Failures::default() {
                self.failures
            } else {
                over.failures
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job_file::JobFile;

    fn read(text: &str) -> Result<Simulation, Error> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("job.toml");
        std::fs::write(&file, text).unwrap();
        JobFile::<Simulation>::read(&file).map(|file| file.job)
    }

    #[test]
    fn users_may_come_from_the_file_and_a_split_wins_over_them() {
        let file = read("data = 't.csv'\n[parties]\nusers-from = 'who'\n").unwrap();
        assert_eq!(file.job.user_column.as_deref(), Some("who"));
        let parties = Parties { split: Some(3), ..Parties::default() };
        let dealt = file.overlaid(Simulation { parties, ..Simulation::default() }).unwrap();
        assert_eq!((dealt.job.user_column, dealt.parties.users_from), (None, None));
        let both = read("[parties]\nusers-from = 'who'\nsplit = 3\n").unwrap_err();
        assert!(both.to_string().contains("users_from and split"), "{both}");
    }

    #[test]
    fn a_file_has_the_job_and_two_tables() {
        let text = "epsilon = 1.0\n[parties]\nsplit = 5\ntrust = 'local'\nbudgets = { 3 = 0.5 }\n[failures]\nafter = 0.1";
        let simulation = read(text).unwrap();
        assert_eq!(simulation.job.epsilon, Some(1.0));
        assert_eq!(simulation.parties.trust, Some(View::Local));
        assert_eq!(simulation.failures.after, 0.1);
        let over = Simulation {
            parties: Parties { split: Some(9), ..Parties::default() },
            ..Simulation::default()
        };
        let both = simulation.overlaid(over).unwrap();
        assert_eq!((both.parties.split, both.parties.trust), (Some(9), Some(View::Local)));
        assert_eq!(both.failures.after, 0.1);
    }

    #[test]
    fn the_file_of_a_topology_is_beside_the_job_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job.toml");
        let read = |graph: &str| {
            std::fs::write(&path, format!("[parties]\ntopology = '{graph}'")).unwrap();
            JobFile::<Simulation>::read(&path).unwrap().job.parties.topology.unwrap()
        };
        assert_eq!(
            read("file:edges.txt"),
            format!("file:{}", folder.path().join("edges.txt").display())
        );
        for as_it_is in ["file:/edges.txt", "ring", "erdos-renyi:0.3"] {
            assert_eq!(read(as_it_is), as_it_is);
        }
    }

    /// The list that front-ends hide flags by is the list of what is refused.
    #[test]
    fn what_has_no_use_between_parties_is_refused() {
        let checked = |line: &str| {
            let usual = "epsilon = 1.0\ndelta = 1e-5\nfeatures = 2\nrow_norm = 1.0\n";
            read(&format!("{usual}{line}\n[parties]\nsplit = 3\n")).unwrap().check().map(drop)
        };
        checked("").unwrap();
        let values = ["['clip=[1,2]']", "3", "'random'", "0.1", "3", "5", "'add-remove'", "'who'"];
        for (key, value) in NOT_BETWEEN_PARTIES.iter().zip(values) {
            assert!(checked(&format!("{key} = {value}")).is_err(), "{key}");
        }
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        for text in [
            "epsilom = 1",
            "[parties]\nspit = 1",
            "[failures]\nsometimes = 0.1",
            "[party]\nsplit = 1",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
