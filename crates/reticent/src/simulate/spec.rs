//! A job of many parties as text: flags and a TOML file become a [`SimulationSpec`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use reticent_accountant::{Unit, View};
use reticent_admm::Settings;
use reticent_noise::Hasher;
use reticent_oracle::{Digest, Skew};
use reticent_runtime::{Failures, ProtocolEntry, USUAL};
use serde::{Deserialize, Serialize};

use super::budget_files::BudgetFiles;
use super::check::{SimulationJob, find};
use super::held::is_held;
use super::simulation::{PartySource, Simulation};
use super::usual::{Unnamed, are_parties, usual};
use crate::curves::Curves;
use crate::error::Error;
use crate::graph::is_private_graph;
use crate::spec::{BETWEEN_PARTIES, OF_ONE_TABLE, Spec, keys, text_beside};

/// Keys that are refused where their values are known.
const LOOKED_AT: [&str; 3] = ["adjacency", "public_n", "user_column"];

/// The text of a run between parties: [`SimulationSpec::simulation`] makes a [`Simulation`] of it.
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
#[non_exhaustive]
pub struct SimulationSpec {
    /// The job.
    pub job: Spec,
    /// The parties.
    pub parties: Parties,
    /// The simulated failures.
    pub failures: Failures,
}

/// The parties, and whom they trust.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Parties {
    /// Number of parties, to which the records of the table are dealt; by default one for each user
    /// of the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<u32>,
    /// The column that says whose row it is: a party for each of its values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub users_from: Option<String>,
    /// The column that says with which party a row is. A person is then a person within a party.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parties_from: Option<String>,
    /// How records are dealt: iid, label:A or size:A. The second reads labels that nobody pays for:
    /// it is for made-up data, and taints the books.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skew: Option<String>,
    /// Trust model: local, secure-aggregation, central or network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<View>,
    /// The graph of the parties.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topology: Option<String>,
    /// The public seed of dealing and of random graphs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The ε of parties that have a smaller budget of their own, by number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub budgets: BTreeMap<String, f64>,
    /// The budget that each party pays from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetFiles>,
}

impl Parties {
    /// Sets some of its keys.
    pub fn with(mut self, set: impl FnOnce(&mut Self)) -> Self {
        set(&mut self);
        self
    }
}

impl SimulationSpec {
    /// A job between parties, where nothing fails.
    pub fn new(job: Spec, parties: Parties) -> Self {
        SimulationSpec { job, parties, failures: Failures::default() }
    }

    /// The job that the keys of a file make; paths in it are relative to the file.
    ///
    /// # Errors
    /// If a key is none, or has no such value.
    #[doc(hidden)] // for the crate that hosts a party
    pub fn of_table(mut table: toml::Table, path: &Path) -> Result<Self, Error> {
        let refuse = |message: &str| Error::SpecSyntax {
            file: path.to_owned(),
            message: message.trim_end().to_owned(),
        };
        let failed = |error: toml::de::Error| refuse(&error.to_string());
        let parties =
            table.remove("parties").map(toml::Value::try_into).transpose().map_err(failed)?;
        let mut parties: Parties = parties.unwrap_or_default();
        let base = path.parent().unwrap_or(Path::new(""));
        parties.budget = parties.budget.map(|files| files.beside(base));
        if let Some(file) =
            parties.topology.as_deref().and_then(|graph| graph.strip_prefix("file:"))
        {
            parties.topology = Some(format!("file:{}", text_beside(base, file)));
        }
        let failures =
            table.remove("failures").map(toml::Value::try_into).transpose().map_err(failed)?;
        let mut job: Spec = keys(table, path)?;
        if parties.parties_from.is_some()
            && (parties.split.is_some() || parties.users_from.is_some())
        {
            return Err(refuse(
                "[parties] has parties_from beside split or users_from; who the parties are is said once, and whose \
                 each row is with user_column",
            ));
        }
        if let Some(column) = &parties.users_from {
            if parties.split.is_some() {
                return Err(refuse(
                    "[parties] has users_from and split; a party is a user, or a share of the records",
                ));
            }
            job.user_column = Some(column.clone());
        }
        let failures = failures.unwrap_or_default();
        Ok(SimulationSpec { job: job.relative_to(path), parties, failures })
    }

    /// Merges `over` into this one; `over` wins, as flags do over the file they are given with.
    ///
    /// # Errors
    /// If the two do not make a job.
    pub fn overlaid(mut self, over: SimulationSpec) -> Result<Self, Error> {
        // Whoever deals the records leaves the users of the file out.
        if over.parties.split.is_some() && self.parties.users_from.take().is_some() {
            self.job.user_column = None;
        }
        if over.parties.split.is_some() {
            self.parties.parties_from = None;
        }
        if over.parties.parties_from.is_some() {
            self.parties.split = None;
            if self.parties.users_from.take().is_some() {
                self.job.user_column = None;
            }
        }
        let mut parties = toml::Table::try_from(self.parties).map_err(Error::spec_form)?;
        parties.extend(toml::Table::try_from(over.parties).map_err(Error::spec_form)?);
        Ok(SimulationSpec {
            job: self.job.overlaid(over.job),
            parties: parties.try_into().map_err(Error::spec_form)?,
            failures: if over.failures == Failures::default() {
                self.failures
            } else {
                over.failures
            },
        })
    }

    /// Checks everything that can be checked without a table.
    ///
    /// # Errors
    /// If something is missing, cannot be, or is not proven to be private in this combination.
    pub fn check(&self) -> Result<SimulationJob, Error> {
        self.simulation()?.check()
    }

    /// The run that it describes, its schema and the file of its constraint read.
    ///
    /// # Errors
    /// If a word cannot be read, or the schema, or something is said that is for a fit alone.
    pub fn simulation(&self) -> Result<Simulation, Error> {
        let (spec, parties) = (&self.job, &self.parties);
        let named = spec.algorithm.as_deref().map(find).transpose()?;
        let entry = named.unwrap_or_else(|| self.usual());
        self.nothing_unused(is_held(entry))?;
        let noisy = entry.private && spec.noise != Some(0.0);
        // Before the schema is read, so that what is missing is named first.
        spec.guarantee.budget(noisy)?;
        Ok(Simulation {
            problem: spec.problem()?,
            named,
            settings: spec.settings.clone(),
            guarantee: spec.guarantee,
            budgets: self.budgets()?,
            paid_by_parties: parties.budget.is_some(),
            split: parties.split,
            owners: false,
            parties_from: parties.parties_from.clone().map(PartySource::Column),
            skew: self.skew()?,
            trust: parties.trust,
            topology: parties.topology.clone(),
            public_seed: parties.seed.unwrap_or(0),
            failures: self.failures,
            noise: spec.noise,
            standard_errors: spec.standard_errors,
            remaining: None,
            digest: Some(self.digest()?),
        })
    }

    /// The algorithm where none is named.
    fn usual(&self) -> &'static ProtocolEntry {
        let (spec, parties) = (&self.job, &self.parties);
        usual(&Unnamed {
            trust: parties.trust,
            persons: parties.split.is_none()
                && are_parties(spec.guarantee.unit, parties.parties_from.is_some()),
            failures: self.failures,
            own_epsilons: !parties.budgets.is_empty(),
            paid_by_parties: parties.budget.is_some(),
            noise: spec.noise,
        })
    }

    /// Refuses what a fit has and a run between parties has not, rather than pass over it.
    fn nothing_unused(&self, held: bool) -> Result<(), Error> {
        let spec = &self.job;
        let tuned = spec.tune.is_some() || spec.tune_runs.is_some() || spec.tune_mode.is_some();
        let learned = spec.graph.as_deref().is_some_and(is_private_graph);
        if tuned {
            return Err(Error::value(
                "tune",
                spec.tune.iter().flatten().cloned().collect::<Vec<_>>().join(" "),
                "nothing can be tuned between parties: give one value",
            ));
        }
        if learned || spec.graph_share.is_some() || spec.graph_edges.is_some() {
            let given = spec.graph.as_deref().unwrap_or("private");
            return Err(Error::value(
                "graph",
                given,
                "no graph is learned between parties: give a file with a public one",
            ));
        }
        if spec.curves == Some(Curves::Auto) {
            let why = "between parties noise is not that of one table; give a number of knots";
            return Err(Error::value("curves", Curves::Auto, why));
        }
        // Whatever else has no use here is refused, whoever adds it to a job.
        let keys = toml::Table::try_from(spec).map_err(Error::spec_form)?;
        let has_use = |key: &str| {
            [BETWEEN_PARTIES, &LOOKED_AT].concat().contains(&key)
                || held && OF_ONE_TABLE.contains(&key)
                || Settings::named(key).is_some()
        };
        if let Some(key) = keys.keys().find(|key| !has_use(key)) {
            let why = "there is none between parties; leave it out";
            return Err(Error::value("key", key, why));
        }
        // Where the server is trusted with sums each person is dealt whole.
        let trusted = held && self.parties.trust == Some(View::Central);
        let persons = trusted && spec.guarantee.unit != Some(Unit::Record);
        match (self.parties.split, &spec.user_column) {
            // The records of a person would be dealt to several parties, each with books of its
            // own.
            (Some(_), Some(column)) if !persons => {
                let why = "records are dealt to the parties of a split one by one, so that the rows of a person are \
                           not kept together and cannot be protected; leave it out, or give `users_from` instead of \
                           `split`";
                Err(Error::value("user_column", column, why))
            }
            _ => Ok(()),
        }
    }

    fn skew(&self) -> Result<Option<Skew>, Error> {
        Ok(self.parties.skew.as_deref().map(str::parse).transpose()?)
    }

    fn budgets(&self) -> Result<BTreeMap<u32, f64>, Error> {
        let read = |(party, &epsilon): (&String, &f64)| {
            let number = party.parse().map_err(|_| {
                Error::value("budgets", party, "a party's number, from 0, is needed")
            })?;
            Ok((number, epsilon))
        };
        self.parties.budgets.iter().map(read).collect()
    }

    /// The files that say, beside the table, what is asked.
    #[doc(hidden)]
    pub fn described_in(&self) -> Vec<PathBuf> {
        let topology = self.parties.topology.as_deref();
        let topology = topology.and_then(|graph| graph.strip_prefix("file:")).map(PathBuf::from);
        self.job.described_in().into_iter().chain(topology).collect()
    }

    /// Stands for all that was asked for.
    fn digest(&self) -> Result<Digest, Error> {
        let SimulationSpec { job, parties, failures } = self;
        let mut hasher = Hasher::new("reticent simulation");
        // What a file says is part of what was asked for, and not only its name; the tables are
        // bound by the run itself.
        for file in self.described_in() {
            hasher.field(&std::fs::read(file).unwrap_or_default());
        }
        // Who pays changes nothing about what is asked.
        let parties = Parties { budget: None, ..parties.clone() };
        // As a job file has them: with their names, because what is not said is left out.
        hasher
            .field(text(job)?.as_bytes())
            .field(toml::to_string(&parties).map_err(Error::spec_form)?.as_bytes())
            .field(toml::to_string(failures).map_err(Error::spec_form)?.as_bytes());
        // A checkpoint of before `auto` was the default is of `federated`, and stays so.
        let usual = self.usual();
        if job.algorithm.is_none() && usual.name != USUAL.name {
            hasher.field(b"default algorithm").field(usual.name.as_bytes());
        }
        Ok(hasher.finish())
    }
}

/// A job as digests have it: its seed stands last, as it always did.
pub(super) fn text(job: &Spec) -> Result<String, Error> {
    let mut job = job.clone();
    let seed = job.guarantee.seed.take();
    let text = toml::to_string(&job).map_err(Error::spec_form)?;
    Ok(seed.map_or(text.clone(), |seed| format!("{text}seed = {seed}\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job_file::JobFile;

    fn read(text: &str) -> Result<SimulationSpec, Error> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("job.toml");
        std::fs::write(&file, text).unwrap();
        JobFile::<SimulationSpec>::read(&file).map(|file| file.job)
    }

    #[test]
    fn users_may_come_from_the_file_and_a_split_wins_over_them() {
        let file = read("data = 't.csv'\n[parties]\nusers-from = 'who'\n").unwrap();
        assert_eq!(file.job.user_column.as_deref(), Some("who"));
        let parties = Parties { split: Some(3), ..Parties::default() };
        let dealt = file.overlaid(SimulationSpec { parties, ..SimulationSpec::default() }).unwrap();
        assert_eq!((dealt.job.user_column, dealt.parties.users_from), (None, None));
        let both = read("[parties]\nusers-from = 'who'\nsplit = 3\n").unwrap_err();
        assert!(both.to_string().contains("users_from and split"), "{both}");
    }

    /// A checkpoint of an earlier version has the digest of this text.
    #[test]
    fn the_text_that_a_digest_is_of_has_its_keys_in_their_old_order() {
        let text = "features = 2\nrow_norm = 1.0\nepsilon = 1.0\ndelta = 0.00001\nadjacency = \"replace-one\"\n\
                    unit = \"record\"\npublic_n = 9\nnoise = 2.0\nalgorithm = \"federated\"\nintercept = false\n\
                    iterations = 3\nseed = 7\n";
        assert_eq!(super::text(&toml::from_str(text).unwrap()).unwrap(), text);
        let unseeded = text.replace("seed = 7\n", "");
        assert_eq!(super::text(&toml::from_str(&unseeded).unwrap()).unwrap(), unseeded);
    }

    #[test]
    fn a_file_has_the_job_and_two_tables() {
        let text = "epsilon = 1.0\n[parties]\nsplit = 5\ntrust = 'local'\nbudgets = { 3 = 0.5 }\n[failures]\nafter \
                    = 0.1";
        let simulation = read(text).unwrap();
        assert_eq!(simulation.job.guarantee.epsilon, Some(1.0));
        assert_eq!(simulation.parties.trust, Some(View::Local));
        assert_eq!(simulation.failures.after, 0.1);
        let over = SimulationSpec {
            parties: Parties { split: Some(9), ..Parties::default() },
            ..SimulationSpec::default()
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
            JobFile::<SimulationSpec>::read(&path).unwrap().job.parties.topology.unwrap()
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
            let usual = "epsilon = 1.0\ndelta = 1e-5\nfeatures = 2\nrow_norm = 1.0\nalgorithm = 'federated'\n";
            read(&format!("{usual}{line}\n[parties]\nsplit = 3\n")).unwrap().check().map(drop)
        };
        checked("").unwrap();
        let refused = [
            ("tune", "['clip=[1,2]']"),
            ("tune_runs", "3"),
            ("tune_mode", "'random'"),
            ("graph_share", "0.1"),
            ("graph_edges", "3"),
            ("standard_errors", "0.1"),
            ("calibrate", "0.1"),
            ("class_weight", "'balanced'"),
            ("class_prior", "'a:1'"),
            ("public_n", "5"),
            ("adjacency", "'add-remove'"),
            ("user_column", "'who'"),
        ];
        for (key, value) in refused {
            assert!(checked(&format!("{key} = {value}")).is_err(), "{key}");
            assert!(!BETWEEN_PARTIES.contains(&key), "{key}");
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
