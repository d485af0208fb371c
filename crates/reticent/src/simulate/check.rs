//! A simulation, checked without reading a table.

use std::collections::BTreeMap;
use std::path::Path;

use reticent_accountant::{Adjacency, Unit};
use reticent_admm::{Public, Settings};
use reticent_oracle::tables::Schema;
use reticent_oracle::{Digest, Opening, Skew};
use reticent_runtime::{self as runtime, Entry, Failures, Recipe, Topology};

use super::{Parties, Simulation};
use crate::budget::Budget;
use crate::error::Error;
use crate::graph::is_private_graph;
use crate::map::{self, Cell, Procedure};
use crate::objective::Objective;

/// The graph of the parties when none is named.
const COMPLETE: &str = "complete";

/// The algorithm that runs when none is named.
const DEFAULT_ALGORITHM: &str = "federated";

pub(super) const NOBODY: Error = Error::Missing {
    what: "who the parties are",
    todo: "say how many there are with `split = N`, or whose row each is with `users_from = COLUMN`",
};

/// The keys of a job that a run between parties has no use for: [`Simulation::check`] refuses them,
/// or all of their values but one.
pub const NOT_BETWEEN_PARTIES: [&str; 8] = [
    "tune",
    "tune_runs",
    "tune_mode",
    "graph_share",
    "graph_edges",
    "public_n",
    "adjacency",
    "user_column",
];

/// Records of each party while there is no table yet: so many that no setting is refused for their
/// number.
const MANY: u64 = 1 << 20;

/// A checked [`Simulation`]: everything that could be refused without a table has been.
#[derive(Debug)]
pub struct SimulationJob {
    pub(super) objective: Objective,
    pub(super) entry: &'static Entry,
    pub(super) settings: Settings,
    pub(super) opening: Opening,
    /// `None` for an algorithm without noise.
    pub(super) budget: Option<Budget>,
    /// The ε of parties that have a smaller budget of their own.
    pub(super) budgets: BTreeMap<u32, f64>,
    pub(super) parties: Parties,
    pub(super) skew: Skew,
    pub(super) failures: Failures,
    pub(super) seed: Option<u64>,
    /// The δ of the certificate of a run without a budget, if one was given.
    pub(super) delta: Option<f64>,
    /// Stands for all that was asked for.
    pub(super) digest: Digest,
}

impl Simulation {
    /// Checks everything that can be checked without a table.
    ///
    /// # Errors
    /// If something is missing, cannot be, or is not proven to be private in this combination.
    pub fn check(&self) -> Result<SimulationJob, Error> {
        let spec = &self.job;
        let entry = find(spec.algorithm.as_deref().unwrap_or(DEFAULT_ALGORITHM))?;
        self.nothing_unused(entry)?;
        let budget = if entry.private { Some(spec.budget()?) } else { None };
        let objective = spec.problem()?.check()?;
        let opening = self.opening(entry, objective.constant)?;
        self.keeps_persons_whole(&objective.schema, opening.unit)?;
        let job = SimulationJob {
            entry,
            settings: spec.settings.clone(),
            opening,
            budget,
            budgets: self.budgets()?,
            parties: self.parties.clone(),
            skew: self.skew()?,
            failures: self.failures,
            seed: spec.seed,
            delta: spec.delta,
            digest: self.digest()?,
            objective,
        };
        job.failures.check()?;
        job.try_out()?;
        job.check_offered()?;
        Ok(job)
    }

    /// Refuses what a fit has and a run between parties has not, rather than pass over it.
    fn nothing_unused(&self, entry: &Entry) -> Result<(), Error> {
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
        if let Some(count) = spec.public_n {
            let why =
                "it is for add-remove, and between parties there is replace-one only; leave it out";
            return Err(Error::value("public_n", count, why));
        }
        let Parties { split, skew, .. } = &self.parties;
        match (split, skew, &spec.user_column) {
            (None, Some(skew), _) => {
                let why = "it says how records are dealt to the parties of `split = N`; a party for each user has its own";
                Err(Error::value("skew", skew, why))
            }
            // The records of a person would be dealt to several parties, each with books of its
            // own.
            (Some(_), _, Some(column)) => {
                let why = "records are dealt to the parties of a split one by one, so that the rows of a person are not \
                           kept together and cannot be protected; leave it out, or give `users_from` instead of `split`";
                Err(Error::value("user_column", column, why))
            }
            _ => Ok(()),
        }?;
        self.no_needless_graph(entry)
    }

    fn no_needless_graph(&self, entry: &Entry) -> Result<(), Error> {
        match &self.parties.topology {
            Some(graph) if !entry.along_graph && graph != COMPLETE => {
                let why = format!(
                    "{} has no graph of the parties; leave it out, or use r-admm",
                    entry.name
                );
                Err(Error::value("topology", graph, why))
            }
            _ => Ok(()),
        }
    }

    /// Refuses to deal a person's records to several parties.
    fn keeps_persons_whole(&self, schema: &Schema, unit: Unit) -> Result<(), Error> {
        match self.parties.split {
            Some(split) if unit == Unit::User && schema.user().is_some() => {
                let why = "a person's records would be dealt to several parties, and each would count them as another's; make every \
                           person a party (leave split out), or protect records";
                Err(Error::value("split", split, why))
            }
            _ => Ok(()),
        }
    }

    fn skew(&self) -> Result<Skew, Error> {
        let Some(text) = self.parties.skew.as_deref() else { return Ok(Skew::default()) };
        text.parse::<Skew>().map_err(|error| Error::value("skew", text, error.allowed))
    }

    /// The terms of every party's gate.
    fn opening(&self, entry: &Entry, constant: f64) -> Result<Opening, Error> {
        if let Some(adjacency) =
            self.job.adjacency.filter(|adjacency| *adjacency != Adjacency::ReplaceOne)
        {
            let why = "who takes part is known to those it talks to, so nothing hides that a party is there; use replace-one";
            return Err(Error::value("adjacency", adjacency, why));
        }
        // Who is dealt to the parties as records has no owner; where each party is a user, the user
        // is protected.
        let usual = if self.parties.split.is_some() { Unit::Record } else { Unit::User };
        Ok(Opening {
            adjacency: Adjacency::ReplaceOne,
            unit: self.job.unit.unwrap_or(usual),
            view: self.parties.trust.unwrap_or(entry.views[0]),
            public_n: None,
            intercept: constant,
        })
    }

    fn budgets(&self) -> Result<BTreeMap<u32, f64>, Error> {
        let read = |(party, &epsilon): (&String, &f64)| {
            let number = party.parse().map_err(|_| {
                Error::value("budgets", party, "a party's number, from 0, is needed")
            })?;
            if epsilon > 0.0 {
                Ok((number, epsilon))
            } else {
                Err(Error::value("budgets", epsilon, "an ε above 0 is needed"))
            }
        };
        self.parties.budgets.iter().map(read).collect()
    }

    /// Stands for all that was asked for.
    fn digest(&self) -> Result<Digest, Error> {
        let Simulation { job, parties, failures } = self;
        let mut hasher = reticent_noise::Hasher::new("reticent simulation");
        // What a file says is part of what was asked for, and not only its name; the tables are
        // bound by the run itself.
        let graph = parties.topology.as_deref().and_then(|graph| graph.strip_prefix("file:"));
        for file in job.schema.as_deref().into_iter().chain(graph.map(Path::new)) {
            hasher.field(&std::fs::read(file).unwrap_or_default());
        }
        // As a job file has them: with their names, because what is not said is left out.
        hasher
            .field(toml::to_string(job).map_err(Error::spec_form)?.as_bytes())
            .field(toml::to_string(parties).map_err(Error::spec_form)?.as_bytes())
            .field(toml::to_string(failures).map_err(Error::spec_form)?.as_bytes());
        Ok(hasher.finish())
    }
}

impl SimulationJob {
    /// Who is connected with whom, among so many parties.
    pub(super) fn topology(&self, parties: u32) -> Result<Topology, Error> {
        let graph = self.parties.topology.as_deref().unwrap_or(COMPLETE);
        if let Some(file) = graph.strip_prefix("file:") {
            std::fs::metadata(file).map_err(|error| {
                Error::read(Path::new(file), "the graph of the parties", &error)
            })?;
        }
        Ok(Topology::parse(graph, parties, self.parties.seed.unwrap_or(0))?)
    }

    /// Builds the algorithm for as many parties as there will be, before any table is read: what it
    /// refuses then, it refuses for its settings. How many users a table has is not known yet; only
    /// what it takes is looked at then.
    fn try_out(&self) -> Result<(), Error> {
        match self.parties.split {
            Some(0) => Err(Error::value("split", 0, "at least one party is needed")),
            Some(parties) => {
                let records = vec![MANY; parties as usize];
                let topology = self.topology(parties)?;
                let public = self.objective.public(parties.into(), 0.0);
                (self.entry.build)(&self.recipe(&public, &records, &topology))?;
                Ok(())
            }
            None if self.objective.schema.user().is_none() => Err(NOBODY),
            None => Ok(self.settings.only(self.entry.name, self.entry.takes)?),
        }
    }

    /// What the algorithm is built from.
    pub(super) fn recipe<'a>(
        &'a self,
        public: &'a Public,
        records: &'a [u64],
        topology: &'a Topology,
    ) -> Recipe<'a> {
        Recipe {
            settings: &self.settings,
            public,
            regulariser: &self.objective.regulariser,
            records,
            topology,
            view: self.opening.view,
            unit: self.opening.unit,
        }
    }

    /// Refuses what is not on the map. What promises nothing is not on it.
    fn check_offered(&self) -> Result<(), Error> {
        if !self.entry.private || self.settings.as_published == Some(true) {
            return Ok(());
        }
        let Opening { unit, adjacency, view, .. } = self.opening;
        map::offered(&Cell {
            algorithm: self.entry.name,
            form: map::form(self.entry.takes, &self.settings),
            procedure: Procedure::Alone,
            view,
            unit,
            adjacency,
            drawn: self.settings.sampling.unwrap_or_default().into(),
        })
    }
}

fn find(name: &str) -> Result<&'static Entry, Error> {
    runtime::find(name).ok_or_else(|| {
        let names: Vec<_> = runtime::CATALOGUE.iter().map(|entry| entry.name).collect();
        let fit = reticent_admm::catalogue::find(name)
            .map_or("", |_| "`reticent fit` runs it on one table; ");
        Error::value(
            "algorithm",
            name,
            format!("{fit}between parties there are {}", names.join(", ")),
        )
    })
}
