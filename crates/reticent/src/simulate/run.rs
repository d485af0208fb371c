//! From a simulation to a model: check, load, deal, rehearse, calibrate, run, close every party's
//! books.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use reticent_accountant::{Adjacency, Taint, Unit};
use reticent_admm::Public;
use reticent_oracle::{NoiseKey, Opening, PrivateTable, Refusal, Skew};
use reticent_problem::{Loss, Shape};
use reticent_runtime::{
    self as runtime, Checkpoint, Entry, Price, Recipe, RunError, Setup, Topology, Traffic,
};

use super::{Parties, PartyBooks, Simulation};
use crate::certificate::origin;
use crate::error::Error;
use crate::fit::Progress;
use crate::graph::is_private_graph;
use crate::job::{Budget, constant, loss_for, no_pure, value};
use crate::map::{self, Cell, Procedure};
use crate::model::{Model, Parts};

/// The graph of the parties when none is named.
const COMPLETE: &str = "complete";

/// The algorithm that runs when none is named.
const DEFAULT_ALGORITHM: &str = "federated";

const NOBODY: Error = Error::Missing {
    what: "who the parties are",
    todo: "say how many there are with --split N, or whose row each is with --users-from COLUMN",
};

/// Algorithms whose parties talk to a server, or pass a token to anybody: they have no graph.
const WITHOUT_GRAPH: [&str; 4] = ["federated", "dp-admm", "dp-admm-exact", "walk"];

/// What every guarantee between parties relies on: proofs/derived-noise.md and proofs/trust.md.
const BETWEEN_PARTIES: [&str; 2] = [
    "HKDF and HMAC with SHA-256 and ChaCha20, by which parties draw noise from their keys, are as hard to break as they are \
     believed to be",
    "whether and when a party answers does not depend on its records",
];

/// Records of each party while there is no table yet: so many that no setting is refused for their
/// number.
const MANY: u64 = 1 << 20;

/// What a certificate without a guarantee says, which is an infinite ε at every δ.
const ANY_DELTA: f64 = 1e-5;

/// Where a run is kept, so that it can go on after a crash.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep<'a> {
    /// The file that is written at the end of every round.
    pub checkpoint: Option<&'a Path>,
    /// Whether to go on from it.
    pub resume: bool,
}

/// A model and how it came about.
#[derive(Debug)]
pub struct Simulated {
    /// The model; its certificate is that of the party who spent most.
    pub model: Model,
    /// Every party's books.
    pub parties: PartyBooks,
    /// Rounds made.
    pub rounds: u32,
    /// What was moved; `None` where that would say something of a secret sample.
    pub traffic: Option<Traffic>,
    /// Messages that were rejected, by name; none are told where the traffic is not.
    pub rejections: BTreeMap<String, u64>,
}

impl Simulation {
    /// Refuses what a fit has and a run between parties has not, rather than pass over it.
    fn nothing_unused(&self, entry: &Entry) -> Result<(), Error> {
        let spec = &self.job;
        let tuned = spec.tune.is_some() || spec.tune_runs.is_some() || spec.tune_mode.is_some();
        let learned = spec.graph.as_deref().is_some_and(is_private_graph);
        if tuned {
            return Err(value(
                "tune",
                spec.tune.iter().flatten().cloned().collect::<Vec<_>>().join(" "),
                "nothing can be tuned between parties: give one value",
            ));
        }
        if learned || spec.graph_share.is_some() || spec.graph_edges.is_some() {
            let given = spec.graph.as_deref().unwrap_or("private");
            return Err(value(
                "graph",
                given,
                "no graph is learned between parties: give a file with a public one",
            ));
        }
        if let Some(count) = spec.public_n {
            let why =
                "it is for add-remove, and between parties there is replace-one only; leave it out";
            return Err(value("public-n", count, why));
        }
        let Parties { split, skew, topology, .. } = &self.parties;
        match (split, skew, &spec.user_column) {
            (None, Some(skew), _) => {
                let why = "it says how records are dealt to the parties of --split N; a party for each user has its own";
                Err(value("skew", skew, why))
            }
            // The records of a person would be dealt to several parties, each with books of its
            // own.
            (Some(_), _, Some(column)) => {
                let why = "records are dealt to the parties of a split one by one, so that the rows of a person are not \
                           kept together and cannot be protected; leave it out, or give --users-from instead of --split";
                Err(value("user-column", column, why))
            }
            _ => Ok(()),
        }?;
        match topology {
            Some(graph) if WITHOUT_GRAPH.contains(&entry.name) && graph != COMPLETE => {
                let why = format!(
                    "{} has no graph of the parties; leave it out, or use r-admm",
                    entry.name
                );
                Err(value("topology", graph, &why))
            }
            _ => Ok(()),
        }
    }

    /// Who is connected with whom, among so many parties.
    fn topology(&self, parties: u32) -> Result<Topology, Error> {
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
    fn try_out(&self, recipe: Recipe<'_>, entry: &Entry, by_user: bool) -> Result<(), Error> {
        self.skew()?;
        self.failures.check()?;
        match self.parties.split {
            Some(0) => Err(value("split", 0, "at least one party is needed")),
            Some(parties) => {
                let records = vec![MANY; parties as usize];
                let topology = self.topology(parties)?;
                let public = Public { population: parties.into(), ..*recipe.public };
                (entry.build)(&Recipe {
                    records: &records,
                    topology: &topology,
                    public: &public,
                    ..recipe
                })?;
                Ok(())
            }
            None if !by_user => Err(NOBODY),
            None => Ok(recipe.settings.only(entry.name, entry.takes)?),
        }
    }

    fn skew(&self) -> Result<Skew, Error> {
        let Some(text) = self.parties.skew.as_deref() else { return Ok(Skew::default()) };
        text.parse::<Skew>().map_err(|error| value("skew", text, &error.allowed))
    }

    /// Does it.
    pub fn run(&self, keep: Keep<'_>, progress: &mut dyn Progress) -> Result<Simulated, Error> {
        let spec = &self.job;
        let data = spec.files();
        if data.is_empty() {
            return Err(Error::Missing {
                what: "the table",
                todo: "name a CSV, LIBSVM or Parquet file with --data, or data in the job file",
            });
        }
        let entry = find(spec.algorithm.as_deref().unwrap_or(DEFAULT_ALGORITHM))?;
        self.nothing_unused(entry)?;
        let budget = if entry.private { Some(spec.budget()?) } else { None };
        let schema = spec.schema()?;
        let kind = schema.target().map(|(_, target)| target.kind()).ok_or(Error::Missing {
            what: "the target",
            todo: "name the column to predict with --target, or give one column of the schema kind = \"target\"",
        })?;
        let loss: Arc<dyn Loss> = loss_for(spec.loss.as_deref(), kind)?.into();
        let intercept = spec.intercept.unwrap_or(true);
        let shape = Shape { features: schema.width(), outputs: loss.outputs(), intercept };
        let regulariser = Arc::new(spec.regulariser(&schema, shape, false)?);
        let constant = constant(intercept, &schema);
        let opening = self.opening(entry, constant)?;
        if self.parties.split.is_some() && opening.unit == Unit::User && schema.user().is_some() {
            let why = "a person's records would be dealt to several parties, and each would count them as another's; make every \
                       person a party (leave split out), or protect records";
            return Err(value("split", self.parties.split.unwrap_or(0), why));
        }
        let budgets = self.budgets()?;
        let public = Public {
            shape,
            population: 2,
            row_norm: schema.row_norm().hypot(constant),
            lipschitz: loss.lipschitz(),
            smoothness: loss.smoothness(),
            whole_budget: 0.0,
        };
        let nobody = Topology::complete(2);
        let recipe = Recipe {
            settings: &spec.settings,
            public: &public,
            regulariser: &regulariser,
            records: &[],
            topology: &nobody,
            view: opening.view,
            unit: opening.unit,
        };
        self.try_out(recipe, entry, schema.user().is_some())?;
        // What promises nothing is not on the map.
        if entry.private && spec.settings.as_published != Some(true) {
            map::offered(&Cell {
                algorithm: entry.name,
                form: map::form(entry.takes, &spec.settings),
                procedure: Procedure::Alone,
                view: opening.view,
                unit: opening.unit,
                adjacency: opening.adjacency,
                drawn: spec.settings.sampling.unwrap_or_default().into(),
            })?;
        }
        let key = self.key(keep)?;

        progress.reading();
        let table = PrivateTable::load_all(&data, spec.reading(), &schema)?;
        let unpaid = table.drafted_the_schema();
        let tables = self.deal(table)?;
        // How many records a protected user has is the user's secret: no plan may depend on it.
        let count =
            |table: &PrivateTable| table.public_count(opening.unit, opening.adjacency).unwrap_or(1);
        let records: Vec<u64> = tables.iter().map(count).collect();
        let topology = self.topology(records.len() as u32)?;
        let public = Public { population: records.len() as u64, ..public };
        let recipe = Recipe { public: &public, records: &records, topology: &topology, ..recipe };
        progress.calibrating();
        let setup = Setup {
            entry,
            recipe,
            loss: Arc::clone(&loss),
            opening,
            price: match budget {
                Some(Budget { epsilon, delta }) => {
                    Price::Within(runtime::Budget { epsilon, delta }, budgets)
                }
                None => Price::Noise(0.0),
            },
            job: self.digest()?,
        };
        let mut run =
            runtime::prepare(setup, key.1, tables).map_err(|why| match (&why, budget) {
                (RunError::Calibration(_), Some(Budget { delta: 0.0, .. })) => no_pure(entry.name),
                _ => why.into(),
            })?;
        progress.running();
        run.fail(self.failures)?;
        if let Some(checkpoint) = key.0 {
            run.resume(&checkpoint)?;
        }
        // What stops a run on its way was found out from what parties released.
        let stopped = |why: RunError| match budget {
            Some(budget) if matches!(why, RunError::Refused(_)) => budget.spent(why.into()),
            _ => why.into(),
        };
        while run.step().map_err(stopped)? {
            if let Some(file) = keep.checkpoint {
                run.checkpoint()?.save(file)?;
            }
            let (done, of) = run.progress();
            progress.iteration(done.into(), of.into());
        }
        let rounds = run.progress().1;
        let mut assumptions = run.protocol().assumptions();
        assumptions.extend(BETWEEN_PARTIES.map(str::to_owned));
        assumptions.extend(self.dealt(opening.unit));
        assumptions.extend(origin(&schema));
        let mut outcome = run.complete(|_, _| {})?;
        // Books that somebody else keeps for a party do not know its table; and whoever is dealt
        // records by their labels has as many as the labels say. Nobody has paid for reading
        // either.
        if unpaid || self.skew()?.reads_labels() {
            outcome.parties.iter_mut().for_each(|party| party.ledger.taint(Taint::UnpaidRead));
        }
        let delta = budget.map_or(spec.delta.unwrap_or(ANY_DELTA), |budget| budget.delta);
        let parties = PartyBooks::new(entry.name, delta, &assumptions, &outcome.parties)?;
        let model = Model::of(
            Parts {
                algorithm: entry.name,
                loss: &*loss,
                regulariser: &regulariser,
                schema: &schema,
                constant,
                graph: None,
            },
            outcome.parameter,
            parties.run()?,
        );
        let (traffic, rejections) = (outcome.traffic, outcome.rejections);
        Ok(Simulated { model, parties, rounds, traffic, rejections })
    }

    /// The terms of every party's gate.
    fn opening(&self, entry: &Entry, constant: f64) -> Result<Opening, Error> {
        if let Some(adjacency) =
            self.job.adjacency.filter(|adjacency| *adjacency != Adjacency::ReplaceOne)
        {
            let why = "who takes part is known to those it talks to, so nothing hides that a party is there; use replace-one";
            return Err(value("adjacency", adjacency, why));
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
            let number = party
                .parse()
                .map_err(|_| value("budgets", party, "a party's number, from 0, is needed"))?;
            if epsilon > 0.0 {
                Ok((number, epsilon))
            } else {
                Err(value("budgets", epsilon, "an ε above 0 is needed"))
            }
        };
        self.parties.budgets.iter().map(read).collect()
    }

    /// The key of the run, and the checkpoint that it comes from.
    fn key(&self, keep: Keep<'_>) -> Result<(Option<Checkpoint>, NoiseKey), Error> {
        if keep.resume {
            let file = keep.checkpoint.ok_or(Error::Missing {
                what: "the checkpoint",
                todo: "say with --checkpoint FILE what to resume from",
            })?;
            let checkpoint = Checkpoint::load(file)?;
            let key = checkpoint.key();
            return Ok((Some(checkpoint), key));
        }
        let key = match self.job.seed {
            Some(seed) => NoiseKey::seeded(seed),
            None => NoiseKey::secure().map_err(Refusal::from)?,
        };
        Ok((None, key))
    }

    /// The parties' tables.
    fn deal(&self, table: PrivateTable) -> Result<Vec<PrivateTable>, Error> {
        match self.parties.split {
            Some(parties) => {
                let seed = self.parties.seed.unwrap_or(0);
                Ok(table.split(parties as usize, self.skew()?, seed).map_err(Refusal::from)?)
            }
            None => table.split_by_user().ok_or(NOBODY),
        }
    }

    /// What the guarantee takes as given about whose the records are.
    fn dealt(&self, unit: Unit) -> Option<String> {
        let dealt = match (unit, self.parties.split) {
            (Unit::User, None) => return None,
            (Unit::User, Some(_)) => {
                "each party stands for one person: nobody has records with two of them"
            }
            (Unit::Record, _) => {
                "who holds which record, and how many, is public: a neighbour has another record with the same party"
            }
        };
        Some(dealt.to_owned())
    }

    /// Stands for all that was asked for.
    fn digest(&self) -> Result<reticent_oracle::Digest, Error> {
        let Simulation { job, parties, failures } = self;
        let mut hasher = reticent_noise::Hasher::new("reticent simulation");
        let job = crate::Spec { out: None, ..job.clone() };
        // What a file says is part of what was asked for, and not only its name; the tables are
        // bound by the run itself.
        let graph = parties.topology.as_deref().and_then(|graph| graph.strip_prefix("file:"));
        for file in job.schema.as_deref().into_iter().chain(graph.map(Path::new)) {
            hasher.field(&std::fs::read(file).unwrap_or_default());
        }
        // As a job file has them: with their names, because what is not said is left out.
        hasher
            .field(toml::to_string(&job).map_err(Error::spec_form)?.as_bytes())
            .field(toml::to_string(parties).map_err(Error::spec_form)?.as_bytes())
            .field(toml::to_string(failures).map_err(Error::spec_form)?.as_bytes());
        Ok(hasher.finish())
    }
}

fn find(name: &str) -> Result<&'static Entry, Error> {
    runtime::find(name).ok_or_else(|| {
        let names: Vec<_> = runtime::CATALOGUE.iter().map(|entry| entry.name).collect();
        let fit = reticent_admm::catalogue::find(name)
            .map_or("", |_| "`reticent fit` runs it on one table; ");
        value("algorithm", name, &format!("{fit}between parties there are {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_graph_is_an_algorithm() {
        assert!(WITHOUT_GRAPH.iter().all(|name| runtime::find(name).is_some()));
    }
}
