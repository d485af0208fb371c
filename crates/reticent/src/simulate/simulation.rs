//! A run between parties, put together part by part in Rust.

use std::collections::BTreeMap;

use reticent_accountant::{Adjacency, View};
use reticent_admm::Settings;
use reticent_noise::Hasher;
use reticent_oracle::tables::Schema;
use reticent_oracle::{Digest, Skew};
use reticent_runtime::{Failures, ProtocolEntry};

use super::check::find;
use super::remaining::RemainingParties;
use super::usual::{Unnamed, are_parties, usual};
use crate::error::Error;
use crate::guarantee::{Guarantee, parts_of_guarantee};
use crate::objective::{Problem, parts_of_problem};

/// Where it says with which party each row is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum PartySource {
    /// In this column.
    Column(String),
    /// Beside a table in memory.
    Beside,
}

/// A run between parties: its algorithm, its parties and its budget, but not its table, which is a
/// [`Source`](crate::Source). Unchecked: [`Simulation::check`] makes a
/// [`SimulationJob`](super::SimulationJob) of it, without reading any table.
///
/// # Examples
///
/// Four hospitals that trust a server with sums, and with nothing else:
///
/// ```
/// use reticent::losses::Logistic;
/// use reticent::simulate::{CheckpointOptions, Simulation};
/// use reticent::tables::{Dataset, Schema, Target};
/// use reticent::{Budget, Run, Settings, View};
///
/// # fn main() -> Result<(), reticent::Error> {
/// let (n, d) = (400, 2);
/// let x: Vec<f64> = (0..n * d).map(|i| (i * 37 % 90) as f64).collect();
/// let y: Vec<u32> = x.chunks(d).map(|row| u32::from(row[0] > 45.0)).collect();
///
/// let schema = Schema::bounded(&[(0.0, 90.0), (0.0, 90.0)], Target::classes(["well", "ill"])?)?;
/// let job = Simulation::new(schema)
///     .parties(4)
///     .trust(View::SecureAggregation)
///     .loss(Logistic)
///     .settings(Settings { iterations: Some(3), ..Settings::default() })
///     .budget(Budget::new(4.0, 1e-5)?)
///     .check()?;
/// let table = Dataset::dense(&x, n, d)?.with_targets(&y)?;
/// let run = job.run(&table, CheckpointOptions::default(), Run::default())?;
///
/// assert!(run.model.certificate().certified && run.parties.len() == 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(super) problem: Problem,
    /// The algorithm that was named.
    pub(super) named: Option<&'static ProtocolEntry>,
    pub(super) settings: Settings,
    pub(super) guarantee: Guarantee,
    pub(super) budgets: BTreeMap<u32, f64>,
    pub(super) paid_by_parties: bool,
    pub(super) split: Option<u32>,
    pub(super) owners: bool,
    pub(super) parties_from: Option<PartySource>,
    pub(super) skew: Option<Skew>,
    pub(super) trust: Option<View>,
    pub(super) topology: Option<String>,
    pub(super) public_seed: u64,
    pub(super) failures: Failures,
    pub(super) noise: Option<f64>,
    pub(super) standard_errors: Option<f64>,
    /// Who is in it of a roster, where others were struck.
    pub(super) remaining: Option<RemainingParties>,
    /// Stands for the words that it was made from.
    pub(super) digest: Option<Digest>,
}

impl Simulation {
    /// A run on tables of this schema: one party for each user of the table, with the usual loss for
    /// the target, no penalty and an intercept. By `auto`; by `federated` where each party is a
    /// person, or something is asked for that `auto` does not have: parties with an ε of their own,
    /// failures that lose messages, a run without noise, peers without a server.
    pub fn new(schema: Schema) -> Self {
        Simulation::of(Problem::new(schema))
    }

    /// A run for this problem.
    pub fn of(problem: Problem) -> Self {
        Simulation {
            problem,
            named: None,
            settings: Settings::default(),
            guarantee: Guarantee::default(),
            budgets: BTreeMap::new(),
            paid_by_parties: false,
            split: None,
            owners: false,
            parties_from: None,
            skew: None,
            trust: None,
            topology: None,
            public_seed: 0,
            failures: Failures::default(),
            noise: None,
            standard_errors: None,
            remaining: None,
            digest: None,
        }
    }

    /// Sets the number of parties, to which the records of the table are dealt; by default a record
    /// is then protected.
    pub fn parties(mut self, count: u32) -> Self {
        self.split = Some(count);
        self
    }

    /// Sets one party for each owner that a table in memory brings along
    /// ([`Dataset::with_owners`](crate::tables::Dataset::with_owners)), where the schema has no
    /// column that says whose row it is. An owner that is no person, such as a hospital, goes with
    /// [`Unit::Record`](crate::Unit::Record).
    pub fn party_per_owner(mut self) -> Self {
        self.owners = true;
        self
    }

    /// Sets one party for each value of this column, of kind `ignored`. What is protected is a person within a
    /// party where the schema says whose each row is, and must be said otherwise: records, or parties.
    pub fn parties_from(mut self, column: impl Into<String>) -> Self {
        self.parties_from = Some(PartySource::Column(column.into()));
        self
    }

    /// The parties are those of a table in memory
    /// ([`Dataset::with_parties`](crate::tables::Dataset::with_parties)).
    pub fn parties_beside(mut self) -> Self {
        self.parties_from = Some(PartySource::Beside);
        self
    }

    /// How records are dealt; evenly by default. A skew by labels reads them without paying: it is
    /// for made-up data, and taints the ledger.
    pub fn skew(mut self, skew: Skew) -> Self {
        self.skew = Some(skew);
        self
    }

    /// Sets the trust model; by default a server that sees each message.
    pub fn trust(mut self, view: View) -> Self {
        self.trust = Some(view);
        self
    }

    /// Sets the graph of the parties, as typed: `ring`, `erdos-renyi:0.3`, for an algorithm of
    /// peers.
    pub fn topology(mut self, graph: impl Into<String>) -> Self {
        self.topology = Some(graph.into());
        self
    }

    /// The public seed of dealing and of random graphs.
    pub fn public_seed(mut self, seed: u64) -> Self {
        self.public_seed = seed;
        self
    }

    parts_of_problem!();

    /// The algorithm of this name, of those that run between parties (`reticent list algorithms`).
    ///
    /// # Errors
    /// If there is none; the message lists all.
    pub fn algorithm(mut self, name: &str) -> Result<Self, Error> {
        self.named = Some(find(name)?);
        Ok(self)
    }

    /// The settings of the algorithm; one that it does not have is refused by
    /// [`Simulation::check`].
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    parts_of_guarantee!();

    /// A smaller ε for one party, numbered from 0: it stops when that is spent.
    pub fn party_epsilon(mut self, party: u32, epsilon: f64) -> Self {
        self.budgets.insert(party, epsilon);
        self
    }

    /// Sets the simulated failures.
    pub fn failures(mut self, failures: Failures) -> Self {
        self.failures = failures;
        self
    }

    /// Sets the noise of every party, in clips, in place of the least that its budget allows: the budget
    /// is then a limit that the run is refused beyond. At 0 there is no noise, no privacy and no
    /// need of a budget.
    pub fn noise(mut self, noise_multiplier: f64) -> Self {
        self.noise = Some(noise_multiplier);
        self
    }

    /// Estimates of the coefficients of the population with their standard errors, for this share of
    /// the budget: of an algorithm of one table, on sums that are entrusted to the server.
    pub fn standard_errors(mut self, share: f64) -> Self {
        self.standard_errors = Some(share);
        self
    }

    /// The algorithm: the one that was named, or the default.
    pub(super) fn entry(&self) -> &'static ProtocolEntry {
        self.named.unwrap_or_else(|| {
            usual(&Unnamed {
                trust: self.trust,
                persons: self.split.is_none()
                    && are_parties(self.guarantee.unit, self.parties_from.is_some()),
                failures: self.failures,
                own_epsilons: !self.budgets.is_empty(),
                paid_by_parties: self.paid_by_parties,
                noise: self.noise,
            })
        })
    }

    /// Stands for all that is asked for: what goes on from a checkpoint must be the same.
    pub(super) fn digest(&self) -> Result<Digest, Error> {
        if let Some(digest) = self.digest {
            return Ok(digest);
        }
        let mut hasher = Hasher::new("reticent simulation in Rust");
        self.problem.write(&mut hasher);
        let text = toml::to_string(&self.settings).map_err(Error::spec_form)?;
        let failures = toml::to_string(&self.failures).map_err(Error::spec_form)?;
        let Guarantee { unit, delta, adjacency, public_n, .. } = self.guarantee;
        let budget = self.guarantee.asked();
        let parties =
            (self.split, self.skew.map(|skew| skew.to_string()), &self.topology, self.public_seed);
        let owned = (delta.filter(|_| budget.is_none()), self.owners, self.noise);
        let guarded = (self.trust, unit, budget, &self.budgets, owned);
        hasher
            .field(self.entry().name.as_bytes())
            .field(text.as_bytes())
            .field(failures.as_bytes());
        let written = reticent_oracle::Refusal::from;
        hasher.canonical(&(parties, guarded)).map_err(written)?;
        // Digests of before there were any stay as they were.
        if let Some(share) = self.standard_errors {
            hasher.canonical(&share).map_err(written)?;
        }
        if let Some(source) = &self.parties_from {
            let from = match source {
                PartySource::Column(name) => Some(name.as_str()),
                PartySource::Beside => None,
            };
            hasher.canonical(&("parties", from)).map_err(written)?;
        }
        let hidden = adjacency.filter(|adjacency| *adjacency != Adjacency::ReplaceOne);
        if hidden.is_some() || public_n.is_some() {
            hasher.canonical(&("neighbours", hidden, public_n)).map_err(written)?;
        }
        Ok(hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use reticent_accountant::Unit;
    use reticent_oracle::tables::Target;
    use reticent_problem::losses::{Hinge, Logistic, Weighted};
    use std::sync::Arc;

    fn simulation() -> Simulation {
        let target = Target::classes(["no", "yes"]).unwrap();
        let schema = Schema::bounded(&[(0.0, 1.0), (-1.0, 1.0)], target).unwrap();
        let federated = Simulation::new(schema).algorithm("federated").unwrap();
        federated.parties(3).budget(Budget::new(1.0, 1e-5).unwrap())
    }

    #[test]
    fn whatever_is_asked_for_is_in_the_digest() {
        let others = [
            simulation().loss(Hinge),
            simulation().parties(4),
            simulation().trust(View::Central),
            simulation().intercept(false),
            simulation().party_epsilon(1, 0.5),
            simulation().public_seed(1),
            simulation().noise(2.0),
            simulation().unit(Unit::User),
            simulation().budget(Budget::new(2.0, 1e-5).unwrap()),
            simulation().settings(Settings { iterations: Some(3), ..Settings::default() }),
            simulation().failures(Failures { after: 0.1, ..Failures::default() }),
            simulation().algorithm("dp-admm").unwrap(),
            simulation().party_per_owner(),
            simulation().parties_from("hospital"),
            simulation().parties_from("ward"),
            simulation().parties_beside(),
            simulation().standard_errors(0.2),
            simulation().adjacency(Adjacency::AddRemove),
            simulation().public_n(9),
        ];
        let weights =
            |text: &str| Simulation::of(simulation().problem.class_weights(text.parse().unwrap()));
        let by_hand = |second: f64| {
            let weighted = Weighted::new(Arc::new(Logistic), vec![1.0, second]).unwrap();
            simulation().loss(weighted).digest().unwrap()
        };
        assert_ne!(by_hand(2.0), by_hand(3.0));
        assert_ne!(by_hand(2.0), simulation().loss(Logistic).digest().unwrap());
        let typed = ["no:1,yes:2", "no:1,yes:3"].map(|text| weights(text).digest().unwrap());
        assert_ne!(typed[0], typed[1]);
        let digest = simulation().digest().unwrap();
        assert_eq!(simulation().digest().unwrap(), digest);
        for other in others {
            assert_ne!(other.digest().unwrap(), digest, "{other:?}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused_before_there_is_a_table() {
        simulation().loss(Logistic).check().unwrap();
        let refused = |simulation: Simulation| simulation.check().unwrap_err().to_string();
        assert!(refused(simulation().parties(0)).contains("at least one party"));
        assert!(refused(simulation().topology("ring")).contains("no graph"));
        assert!(refused(simulation().party_epsilon(1, -0.5)).contains("above 0"));
        let nobody = Simulation { split: None, ..simulation() };
        assert!(refused(nobody).contains("who the parties are"));
        let free = simulation().guarantee(Guarantee::default());
        assert!(refused(free).contains("budget"));
        assert!(refused(simulation().adjacency(Adjacency::AddRemove)).contains("use replace-one"));
        assert!(refused(simulation().public_n(5)).contains("replace-one only"));
        assert!(simulation().algorithm("exact").is_err());
        let peers = simulation().algorithm("ssadmm").unwrap().trust(View::Network);
        assert!(refused(peers).contains("asks a server"));
        // Neither typed nor as a loss of one's own.
        let weighted = Weighted::new(Arc::new(Logistic), vec![1.0, 2.0]).unwrap();
        assert!(refused(simulation().loss(weighted)).contains("no weights"));
        let typed = simulation().problem.class_weights("no:1,yes:2".parse().unwrap());
        assert!(refused(Simulation { problem: typed, ..simulation() }).contains("no weights"));
    }
}
