//! A simulation, checked without reading a table.

use std::collections::BTreeMap;
use std::path::Path;

use reticent_accountant::{Adjacency, Unit, View};
use reticent_admm::{PartyRho, ProblemFacts, Settings};
use reticent_oracle::tables::Schema;
use reticent_oracle::{Digest, PrivacyModel, PrivateTable, Skew};
use reticent_runtime::{self as runtime, Failures, ProtocolEntry, ProtocolRecipe, Topology};

use super::dealing::{Dealing, NO_PERSONS, keeps_persons_whole};
use super::held;
use super::noisy::NoisyJob;
use super::remaining::RemainingParties;
use super::simulation::{PartySource, Simulation};
use crate::budget::Budget;
use crate::error::Error;
use crate::fit::Fit;
use crate::guarantee::{Guarantee, check_owners};
use crate::job::Job;
use crate::map::{self, MapCell, MapProcedure};
use crate::objective::Objective;
use crate::record_weights;
use crate::solver::Solver;
use crate::task::Task;

/// The graph of the parties when none is named.
const COMPLETE: &str = "complete";

/// Records of each party while there is no table yet: so many that no setting is refused for their
/// number.
const MANY: u64 = 1 << 20;

/// A checked [`Simulation`]: everything that could be refused without a table has been.
#[derive(Debug)]
pub struct SimulationJob {
    pub(super) objective: Objective,
    pub(super) entry: &'static ProtocolEntry,
    pub(super) settings: Settings,
    pub(super) opening: PrivacyModel,
    /// `None` for an algorithm without noise.
    pub(super) budget: Option<Budget>,
    /// The ε of parties that have a smaller budget of their own.
    pub(super) budgets: BTreeMap<u32, f64>,
    /// Whether each party pays from a budget of its own.
    pub(super) paid_by_parties: bool,
    /// So many parties; one for each user of the table without it.
    pub(super) split: Option<u32>,
    /// Whether the table brings along whose row each is.
    pub(super) owners: bool,
    /// Whether it says with which party each row is.
    pub(super) placed: bool,
    /// Whether somebody said what is protected.
    pub(super) unit_given: bool,
    /// What tables are read under: the schema of the problem, with the column of the parties.
    pub(super) reading: Schema,
    pub(super) skew: Skew,
    pub(super) topology: String,
    pub(super) public_seed: u64,
    /// Who is in it of a roster, where others were struck.
    pub(super) remaining: Option<RemainingParties>,
    pub(super) failures: Failures,
    /// The noise in clips, where it is not to be calibrated.
    pub(super) noise: Option<f64>,
    pub(super) seed: Option<u64>,
    /// The δ of the certificate of a run without a budget, if one was given.
    pub(super) delta: Option<f64>,
    /// Stands for all that was asked for.
    pub(super) digest: Digest,
    /// The fit, for an algorithm of one table on sums that are entrusted to a server.
    pub(super) held: Option<Job>,
    /// The same for one on sums that parties add noise to.
    pub(super) noisy: Option<NoisyJob>,
}

impl Simulation {
    /// Refuses a way to deal records where none are dealt.
    pub(super) fn check_skew(&self) -> Result<(), Error> {
        match (self.split, self.skew) {
            (None, Some(skew)) => {
                let why = "it says how records are dealt to the parties of `split = N`; a party for each user has \
                           its own";
                Err(Error::value("skew", skew, why))
            }
            _ => Ok(()),
        }
    }

    /// Checks everything that can be checked without a table.
    ///
    /// # Errors
    /// If something is missing, cannot be, or is not proven to be private in this combination.
    pub fn check(self) -> Result<SimulationJob, Error> {
        self.check_parties()?;
        let alike = "between parties every record counts once";
        record_weights::check_alike(self.problem.schema(), alike)?;
        let digest = self.digest()?;
        let entry = self.entry();
        if held::is_held(entry) {
            return self.check_held(digest);
        }
        self.check_of_nodes()?;
        let Guarantee { unit, seed, delta, .. } = self.guarantee;
        let (usual, reading) = (self.usual_unit(), self.reading()?);
        let objective = self.problem.check()?;
        objective.options.refuse_between_parties(&*objective.loss)?;
        let placed = self.parties_from.is_some();
        if placed && unit.unwrap_or(usual) == Unit::User {
            return Err(no_persons_within(entry));
        }
        let opening = PrivacyModel {
            adjacency: Adjacency::ReplaceOne,
            unit: unit.unwrap_or(usual),
            view: self.trust.unwrap_or(entry.views[0]),
            public_n: None,
            intercept: objective.constant,
        };
        no_needless_graph(entry, self.topology.as_deref())?;
        keeps_persons_whole((self.split, self.skew), &objective.schema, opening.unit, false)?;
        let noisy = entry.private && self.noise != Some(0.0);
        let budget = self.guarantee.budget(noisy)?;
        let job = SimulationJob {
            objective,
            entry,
            settings: self.settings,
            opening,
            budget,
            budgets: self.budgets,
            paid_by_parties: self.paid_by_parties,
            split: self.split,
            owners: self.owners,
            placed,
            unit_given: unit.is_some(),
            reading,
            skew: self.skew.unwrap_or_default(),
            topology: self.topology.unwrap_or_else(|| COMPLETE.to_owned()),
            public_seed: self.public_seed,
            remaining: self.remaining,
            failures: self.failures,
            noise: self.noise,
            seed,
            delta,
            digest,
            held: None,
            noisy: None,
        };
        job.failures.check()?;
        job.names_nobody_by_number()?;
        job.try_out()?;
        job.check_offered()?;
        Ok(job)
    }

    /// Refuses what a run of nodes has no use for.
    fn check_of_nodes(&self) -> Result<(), Error> {
        self.check_noise()?;
        self.check_budgets()?;
        no_standard_errors(self.standard_errors)?;
        self.check_skew()?;
        self.check_neighbours()
    }

    /// The run of an algorithm of one table, and the fit that it does; how sums come about is not said
    /// yet.
    pub(super) fn of_one_table(
        self,
        view: View,
        digest: Digest,
    ) -> Result<(SimulationJob, Task), Error> {
        let (entry, usual, reading) = (self.entry(), self.usual_unit(), self.reading()?);
        let (placed, unit_given) = (self.parties_from.is_some(), self.guarantee.unit.is_some());
        let Simulation { problem, settings, mut guarantee, noise, standard_errors, .. } = self;
        let unit = guarantee.unit.unwrap_or(usual);
        // A party that is protected as a whole is one person, as far as a fit goes.
        guarantee.unit = Some(if unit == Unit::Party { Unit::User } else { unit });
        let trusted = view == View::Central;
        keeps_persons_whole((self.split, self.skew), problem.schema(), unit, trusted)?;
        let Guarantee { seed, delta, .. } = guarantee;
        let fit = Fit { noise, guarantee, standard_errors, ..Fit::of(problem) };
        let solver = Solver::named(entry.name)?.with(settings.clone())?;
        let mut task = Task::new(fit.solver(solver), false)?;
        task.protection.opening.view = view;
        task.protection.opening.unit = unit;
        let job = SimulationJob {
            entry,
            settings,
            opening: task.protection.opening,
            budget: task.protection.budget,
            budgets: self.budgets,
            paid_by_parties: self.paid_by_parties,
            split: self.split,
            owners: self.owners,
            placed,
            unit_given,
            reading,
            skew: self.skew.unwrap_or_default(),
            topology: self.topology.unwrap_or_default(),
            public_seed: self.public_seed,
            remaining: self.remaining,
            failures: self.failures,
            noise,
            seed,
            delta,
            digest,
            objective: task.objective.clone(),
            held: None,
            noisy: None,
        };
        job.has_parties()?;
        Ok((job, task))
    }

    /// What is protected where nobody says it. Records that are dealt have no owner, unless the schema says
    /// that they have; where each party is a user, or has users, the user is protected.
    fn usual_unit(&self) -> Unit {
        let owned = self.split.is_none() || self.problem.schema().user().is_some();
        if owned { Unit::User } else { Unit::Record }
    }

    /// What tables are read under.
    fn reading(&self) -> Result<Schema, Error> {
        let schema = self.problem.schema();
        Ok(match &self.parties_from {
            Some(PartySource::Column(name)) => schema.with_parties(name)?,
            _ => schema.clone(),
        })
    }

    /// Refuses parties that are named in two ways, and asks what is protected where the table says with
    /// which party a row is and not whose it is.
    fn check_parties(&self) -> Result<(), Error> {
        let Some(source) = &self.parties_from else { return Ok(()) };
        if let Some(count) = self.split {
            let why = "it deals records to a number of parties, and `parties_from` says with which party each is; \
                       leave one of them out";
            return Err(Error::value("split", count, why));
        }
        let persons = self.problem.schema().user().is_some();
        match (self.guarantee.unit, source) {
            (None, _) if !persons => {
                let why = "a table that says with which party each row is, and not whose it is, may protect records \
                           (`unit = record`) or whole parties (`unit = party`): choose; for persons within parties \
                           say whose each row is with `user_column = COLUMN`";
                Err(Error::value("unit", "not given", why))
            }
            (Some(Unit::User), PartySource::Column(_)) if !persons => Err(NO_PERSONS),
            _ => Ok(()),
        }
    }

    /// Refuses neighbours of which one has a party more, and what goes with them.
    fn check_neighbours(&self) -> Result<(), Error> {
        let Guarantee { adjacency, public_n, .. } = self.guarantee;
        if let Some(count) = public_n {
            let why =
                "it is for add-remove, and between parties there is replace-one only; leave it out";
            return Err(Error::value("public_n", count, why));
        }
        match adjacency.filter(|adjacency| *adjacency != Adjacency::ReplaceOne) {
            None => Ok(()),
            Some(adjacency) => {
                let why = "who takes part is known to those it talks to, so nothing hides that a party is there; \
                           use replace-one";
                Err(Error::value("adjacency", adjacency, why))
            }
        }
    }

    /// Refuses budgets of parties that are none.
    fn check_budgets(&self) -> Result<(), Error> {
        match self.budgets.values().find(|epsilon| epsilon.is_nan() || **epsilon <= 0.0) {
            Some(epsilon) => Err(Error::value("budgets", epsilon, "an ε above 0 is needed")),
            None => Ok(()),
        }
    }

    /// Refuses a noise by hand that is no noise, and one beside budgets that differ.
    fn check_noise(&self) -> Result<(), Error> {
        let Some(noise) = self.noise else { return Ok(()) };
        let why = if !(noise.is_finite() && noise >= 0.0) {
            "a number of clips of at least 0 is needed; 0 is no noise and no privacy"
        } else if !self.budgets.is_empty() {
            "parties with budgets of their own have noise of their own; leave one of the two out"
        } else {
            return Ok(());
        };
        Err(Error::value("noise", noise, why))
    }
}

fn no_standard_errors(share: Option<f64>) -> Result<(), Error> {
    let why = "they are asked for of an algorithm of one table, such as auto; leave it out";
    share.map_or(Ok(()), |share| Err(Error::value("standard_errors", share, why)))
}

/// The refusal of persons within parties by what is no algorithm of sums.
fn no_persons_within(entry: &ProtocolEntry) -> Error {
    let why = format!(
        "{} is proven for records of a party and for whole parties: say `unit = record` or `unit = party`, or use \
         auto, dp-sgd, ssadmm, mpadmm, sadmm, vradmm or dp-cd, which protect a person within a party",
        entry.name
    );
    Error::value("unit", Unit::User, why)
}

pub(super) fn no_needless_graph(
    entry: &ProtocolEntry,
    topology: Option<&str>,
) -> Result<(), Error> {
    match topology {
        Some(graph) if !entry.along_graph && graph != COMPLETE => {
            let why =
                format!("{} has no graph of the parties; leave it out, or use r-admm", entry.name);
            Err(Error::value("topology", graph, why))
        }
        _ => Ok(()),
    }
}

impl SimulationJob {
    /// See [`check_owners`].
    pub(super) fn check_owners(&self, table: &PrivateTable) -> Result<(), Error> {
        check_owners(table.has_owners(), (self.opening.unit, self.unit_given))
    }

    /// Whether a party is a person, whose seat is secret.
    pub(super) fn seats_persons(&self) -> bool {
        self.dealing().seats_persons(self.opening.unit)
    }

    /// How rows come to parties.
    pub(super) fn dealing(&self) -> Dealing {
        let SimulationJob { split, owners, placed, skew, public_seed, .. } = *self;
        let PrivacyModel { adjacency, unit, .. } = self.opening;
        let persons = (split.is_some() || placed) && unit == Unit::User;
        Dealing { split, owners, placed, skew, public_seed, persons, adjacency }
    }

    /// Refuses what is said of single parties by their numbers where parties are persons: a number
    /// is then a seat, and nobody knows whose.
    fn names_nobody_by_number(&self) -> Result<(), Error> {
        if !self.seats_persons() {
            return Ok(());
        }
        let Settings { party_noise, party_rho, .. } = &self.settings;
        let listed = party_rho.as_ref().filter(|rho| matches!(rho, PartyRho::Each(_)));
        let (name, given) = if let Some(party) = self.budgets.keys().next() {
            ("budgets", party.to_string())
        } else if let Some(noise) = party_noise {
            ("party_noise", noise.to_string())
        } else if let Some(rho) = listed {
            ("party_rho", rho.to_string())
        } else if self.topology.starts_with("file:") {
            ("topology", self.topology.clone())
        } else {
            return Ok(());
        };
        let why = "each party is a person here, and who has which number is drawn and told to nobody, so that \
                   nothing can be said of one; say the same of all, or protect records, whose holders are public \
                   (`unit = \"record\"`)";
        Err(Error::value(name, given, why))
    }

    /// Who is connected with whom, among so many parties.
    pub(super) fn topology(&self, parties: u32) -> Result<Topology, Error> {
        let graph = &self.topology;
        if let Some(file) = graph.strip_prefix("file:") {
            std::fs::metadata(file).map_err(|error| {
                Error::read(Path::new(file), "the graph of the parties", &error)
            })?;
        }
        self.graph(parties)
    }

    /// Builds the algorithm for as many parties as there will be, before any table is read: what it
    /// refuses then, it refuses for its settings. How many users a table has is not known yet; only
    /// what it takes is looked at then.
    fn try_out(&self) -> Result<(), Error> {
        self.has_parties()?;
        match self.split {
            Some(parties) => self.try_between(parties),
            None => Ok(self.settings.only(self.entry.name, self.entry.takes)?),
        }
    }

    /// The same for so many parties.
    pub(super) fn try_between(&self, parties: u32) -> Result<(), Error> {
        let records = vec![MANY; parties as usize];
        let topology = self.topology(parties)?;
        let public = self.objective.public(parties.into(), 0.0);
        (self.entry.build)(&self.recipe(&public, &records, &topology))?;
        Ok(())
    }

    /// The same on machines of their own.
    pub(super) fn try_apart(&self, parties: u32) -> Result<(), Error> {
        let records = vec![MANY; parties as usize];
        let topology = self.topology(parties)?;
        let public = self.objective.public(parties.into(), 0.0);
        let mut protocol = (self.entry.build)(&self.recipe(&public, &records, &topology))?;
        self.remaining.as_ref().map_or(Ok(()), |left| protocol.left_of(left.whole))?;
        Ok(protocol.on_a_network(None)?)
    }

    /// Refuses a run between nobody, or between too many.
    pub(super) fn has_parties(&self) -> Result<(), Error> {
        self.dealing().has_parties(&self.objective.schema)
    }

    /// What the algorithm is built from.
    pub(super) fn recipe<'a>(
        &'a self,
        public: &'a ProblemFacts,
        records: &'a [u64],
        topology: &'a Topology,
    ) -> ProtocolRecipe<'a> {
        ProtocolRecipe {
            settings: &self.settings,
            public,
            regulariser: &self.objective.regulariser,
            records,
            topology,
            view: self.opening.view,
            unit: self.opening.unit,
            public_seed: self.public_seed,
        }
    }

    /// Refuses what is not on the map. What promises nothing is not on it.
    fn check_offered(&self) -> Result<(), Error> {
        if !self.entry.private || self.settings.as_published == Some(true) {
            return Ok(());
        }
        let PrivacyModel { unit, adjacency, view, .. } = self.opening;
        map::offered(&MapCell {
            algorithm: self.entry.name,
            form: map::form(self.entry.takes, &self.settings),
            procedure: MapProcedure::Alone,
            view,
            unit,
            adjacency,
            drawn: self.settings.sampling.unwrap_or_default().into(),
        })
    }
}

/// The algorithm of this name.
pub(super) fn find(name: &str) -> Result<&'static ProtocolEntry, Error> {
    runtime::find(name).or_else(|| held::find(name)).ok_or_else(|| {
        let names: Vec<_> = runtime::CATALOGUE.iter().map(|entry| entry.name).collect();
        let fit = reticent_admm::catalogue::find(name)
            .map_or("", |_| "`reticent fit` runs it on one table; ");
        Error::value(
            "algorithm",
            name,
            format!(
                "{fit}between parties there are {}, and those of `reticent fit` that ask for sums, auto first",
                names.join(", ")
            ),
        )
    })
}
