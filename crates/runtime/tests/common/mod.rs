//! A made-up population of parties, its exact optimum, and a run on it.

#![allow(dead_code)] // each test file uses its part

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use reticent_accountant::{Adjacency, Unit, View};
use reticent_admm::exact::{ExactSettings, SolverStatus, solve};
use reticent_admm::{ProblemFacts, Settings};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::{Entropy, Gate, NoiseKey, PrivacyModel, PrivateTable};
use reticent_problem::{Regulariser, Shape, losses, penalties};
use reticent_runtime::{
    Checkpoint, Envelope, Failures, NoisePrice, ProtocolRecipe, RunError, Setup, SimulatedRun,
    SimulationOutcome, Topology, find, prepare, wire,
};
use reticent_testkit::generators::{self, Simulated};

/// Records, and whose they are.
pub struct World {
    pub data: Simulated,
    pub owners: Vec<u32>,
    pub parties: u32,
    pub penalty: &'static str,
}

/// A run that is described and not made.
pub struct Job<'a> {
    pub algorithm: &'a str,
    pub loss: &'a str,
    pub settings: &'a str,
    pub view: View,
    pub unit: Unit,
    pub topology: &'a str,
    pub price: NoisePrice,
    pub seed: u64,
    #[cfg(reticent_seeded_bugs)]
    pub bug: Option<reticent_oracle::Bug>,
}

impl Default for Job<'_> {
    fn default() -> Self {
        Job {
            algorithm: "federated",
            loss: "logistic",
            settings: "{}",
            view: View::Local,
            unit: Unit::User,
            topology: "complete",
            price: NoisePrice::Noise(0.0),
            seed: 1,
            #[cfg(reticent_seeded_bugs)]
            bug: None,
        }
    }
}

impl World {
    /// Every party has about as many records of each kind.
    pub fn even(rows: usize, columns: usize, parties: u32) -> Self {
        let data = generators::logistic(rows, generators::dense(columns, 3.0, 7), 8);
        let owners = (0..rows).map(|i| i as u32 % parties).collect();
        World { data, owners, parties, penalty: "l2:1e-2" }
    }

    /// Half of the parties have mostly one label, the other half the other, and the first have
    /// three times as many records.
    pub fn skewed(rows: usize, columns: usize, parties: u32) -> Self {
        let mut world = World::even(rows, columns, parties);
        let half = parties / 2;
        for (i, owner) in world.owners.iter_mut().enumerate() {
            let home = (world.data.targets[i] > 0.0) == (*owner >= half);
            if !home && i >= parties as usize && i % 8 != 0 {
                *owner = (*owner + half) % parties;
            }
            if i % 3 == 0 && i >= parties as usize && *owner % 4 == 3 {
                *owner -= 3;
            }
        }
        world
    }

    pub fn shape(&self) -> Shape {
        Shape { features: self.data.columns, outputs: 1, intercept: false }
    }

    pub fn regulariser(&self) -> Arc<Regulariser> {
        let penalty = penalties::parse(self.penalty).unwrap();
        Arc::new(Regulariser::plain(penalty, self.shape()))
    }

    pub fn table(&self) -> PrivateTable {
        let Simulated { rows, columns, features, targets, .. } = &self.data;
        PrivateTable::from(Table {
            rows: Rows::Dense(Dense { rows: *rows, columns: *columns, values: features.clone() }),
            targets: targets.clone(),
            users: Some(self.owners.clone()),
            weights: None,
            names: Vec::new(),
        })
    }

    pub fn records(&self) -> Vec<u64> {
        let mut records = vec![0; self.parties as usize];
        self.owners.iter().for_each(|&owner| records[owner as usize] += 1);
        records
    }

    /// The mean over the parties of the mean over their records, and the penalty.
    pub fn objective(&self, x: &[f64]) -> f64 {
        let records = self.records();
        let loss = |i: usize| {
            let score: f64 = self.data.row(i).iter().zip(x).map(|(a, x)| a * x).sum();
            let weight = 1.0 / (records[self.owners[i] as usize] as f64 * f64::from(self.parties));
            weight * (-self.data.targets[i] * score).exp().ln_1p()
        };
        (0..self.data.rows).map(loss).sum::<f64>() + self.regulariser().value_at(x)
    }

    /// The exact optimum of it.
    pub fn optimum(&self) -> f64 {
        let opening = opening(View::Central, Unit::User);
        let loss = losses::parse("logistic", None).unwrap();
        let mut gate = Gate::open(self.table(), loss, &opening, Entropy::seeded(0)).unwrap();
        let solution = solve(&mut gate, &self.regulariser(), &ExactSettings::default()).unwrap();
        assert_eq!(solution.status, SolverStatus::Converged);
        self.objective(&solution.x)
    }

    pub fn gap(&self, x: &[f64]) -> f64 {
        let optimum = self.optimum();
        (self.objective(x) - optimum) / optimum
    }

    pub fn public(&self, loss: &dyn losses::Loss) -> ProblemFacts {
        ProblemFacts {
            shape: self.shape(),
            population: u64::from(self.parties),
            row_norm: 1.0,
            constant: 0.0,
            numeric: loss.target() == reticent_problem::LossTarget::Real,
            logistic: loss.name() == "logistic",
            lipschitz: loss.lipschitz(),
            smoothness: loss.smoothness(),
            whole_budget: 0.0,
        }
    }

    pub fn prepare(&self, job: &Job<'_>) -> SimulatedRun {
        self.try_prepare(job).unwrap()
    }

    pub fn try_prepare(&self, job: &Job<'_>) -> Result<SimulatedRun, RunError> {
        let key = NoiseKey::seeded(job.seed);
        let tables = self.table().split_by_user().unwrap();
        self.described(job, |setup| {
            #[cfg(reticent_seeded_bugs)]
            if let Some(bug) = job.bug {
                return reticent_runtime::prepare_spoiled(setup, key, tables, bug);
            }
            prepare(setup, key, tables)
        })
    }

    /// What `with` makes of the public description of a run.
    pub fn described<T>(&self, job: &Job<'_>, with: impl FnOnce(Setup<'_>) -> T) -> T {
        let loss: Arc<dyn losses::Loss> = losses::parse(job.loss, None).unwrap().into();
        let settings: Settings = serde_json::from_str(job.settings).unwrap();
        let topology = Topology::parse(job.topology, self.parties, 1).unwrap();
        let regulariser = self.regulariser();
        let public = self.public(&*loss);
        let recipe = ProtocolRecipe {
            settings: &settings,
            public: &public,
            regulariser: &regulariser,
            records: &self.records(),
            topology: &topology,
            view: job.view,
            unit: job.unit,
            public_seed: 1,
        };
        with(Setup {
            entry: find(job.algorithm).unwrap(),
            recipe,
            loss,
            opening: opening(job.view, job.unit),
            price: job.price.clone(),
            job: [9; 32],
        })
    }

    pub fn run(&self, job: &Job<'_>) -> SimulationOutcome {
        self.run_amid(job, Failures::default())
    }

    pub fn prepare_amid(&self, job: &Job<'_>, failures: Failures) -> SimulatedRun {
        let mut simulation = self.prepare(job);
        simulation.fail(failures).unwrap();
        simulation
    }

    pub fn run_amid(&self, job: &Job<'_>, failures: Failures) -> SimulationOutcome {
        self.prepare_amid(job, failures).complete(|_, _| {}).unwrap()
    }

    /// The names under which messages were rejected.
    pub fn rejections(&self, job: &Job<'_>, failures: Failures) -> Vec<String> {
        self.run_amid(job, failures).rejections.into_keys().collect()
    }

    /// A run that is killed after so many rounds and resumed comes to the same bits, and spends
    /// once.
    pub fn assert_resumable(&self, job: &Job<'_>, failures: Failures, stops: &[u32]) {
        let whole = self.run_amid(job, failures);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        for &stop in stops {
            let mut first = self.prepare_amid(job, failures);
            (0..stop).for_each(|_| assert!(first.step().unwrap()));
            first.checkpoint().unwrap().save(&file).unwrap();
            // It goes on for a round that nobody will remember, and then it is gone.
            first.step().unwrap();
            drop(first);
            let mut second = self.prepare_amid(job, failures);
            second.resume(&Checkpoint::load(&file).unwrap()).unwrap();
            let resumed = second.complete(|_, _| {}).unwrap();
            assert_eq!(resumed.parameter, whole.parameter, "stopped at {stop}");
            assert_eq!(ledgers(&resumed), ledgers(&whole));
            assert_eq!(resumed.rejections, whole.rejections);
        }
    }
}

/// How often each party's gate has answered, and what is counted for it.
pub fn ledgers(outcome: &SimulationOutcome) -> Vec<(u64, u64)> {
    outcome.parties.iter().map(|party| (party.answers, party.ledger.total_events())).collect()
}

/// The different things that each party said, with the rounds, heard on the wire.
pub type Heard = Arc<Mutex<BTreeMap<u32, BTreeSet<(u32, Vec<u8>)>>>>;

pub fn listen(
    simulation: &mut SimulatedRun,
    counts: impl Fn(&Envelope) -> bool + Send + 'static,
) -> Heard {
    let heard = Heard::default();
    let ours = Arc::clone(&heard);
    simulation.listen(Box::new(move |_, bytes| {
        let envelope = wire::decode(bytes, usize::MAX).unwrap();
        if counts(&envelope) {
            let saying = (envelope.round, envelope.payload);
            ours.lock().unwrap().entry(envelope.from.0).or_default().insert(saying);
        }
    }));
    heard
}

pub fn opening(view: View, unit: Unit) -> PrivacyModel {
    PrivacyModel { adjacency: Adjacency::ReplaceOne, unit, view, public_n: None, intercept: 0.0 }
}
