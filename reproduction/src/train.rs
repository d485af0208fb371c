//! Training for experiments: one problem, many methods, metrics read from the public table.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, Mutex, PoisonError};

use reticent::accountant::Ledger;
use reticent::internal::{Repeat, read_settings};
use reticent::problem::{Loss, Penalty, Regulariser, Shape};
use reticent::simulate::{CheckpointOptions, Parties, SimulationSpec};
use reticent::{Constraint, Guarantee, Job, Model, Run, Settings, Spec, Unit, losses, penalties};

use crate::error::ExperimentError;
use crate::penalty::GraphRidge;
use crate::table::RowTable;

/// A limit that no experiment comes to, for noise that is given by hand.
const NO_LIMIT: f64 = 1e9;

/// The first seed of an experiment.
const FIRST: u64 = 1;

/// What is minimised.
#[derive(Clone, Debug)]
pub(crate) struct TrainProblem<'t> {
    pub train: &'t RowTable,
    pub loss: &'static str,
    pub penalty: String,
    pub constraint: Option<Constraint>,
    /// In place of the penalty that is named.
    pub own: Option<GraphRidge>,
}

/// An algorithm as it is set.
#[derive(Clone, Debug)]
pub(crate) struct TrainMethod {
    pub name: &'static str,
    pub algorithm: &'static str,
    /// `name=value` with spaces between.
    pub settings: String,
}

/// What a run may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Price {
    /// The least noise for this ε and δ.
    Budget(f64, f64),
    /// This noise, in clips; its cost is at this δ.
    Noise(f64, f64),
    /// No noise at all.
    Free,
}

/// Who takes part in a run between parties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Among {
    pub parties: u32,
    pub topology: Option<&'static str>,
}

/// The models that a run between peers ends with. Row `i` of the table is with party `i` modulo
/// their number.
#[derive(Clone, Debug)]
pub(crate) struct Nodes {
    pub each: Vec<Vec<f64>>,
    pub mean: Vec<f64>,
}

impl Nodes {
    /// These models, and their mean.
    pub fn new(each: Vec<Vec<f64>>) -> Self {
        let mut mean = vec![0.0; each.first().map_or(0, Vec::len)];
        for x in &each {
            mean.iter_mut().zip(x).for_each(|(mean, x)| *mean += x / each.len() as f64);
        }
        Nodes { each, mean }
    }

    /// RA18, section V: the mean over the nodes of the mean loss of each one's model on its own
    /// rows.
    pub fn average_loss(&self, problem: &TrainProblem<'_>) -> Result<f64, ExperimentError> {
        let loss: Box<dyn Loss> =
            losses::parse(problem.loss, None).map_err(reticent::Error::from)?;
        let (table, count) = (problem.train, self.each.len());
        let own = |(party, x): (usize, &Vec<f64>)| {
            let rows = (party..table.len()).step_by(count);
            let values = rows.clone().map(|i| loss.value(&[table.score(i, x)], table.targets[i]));
            values.sum::<f64>() / rows.len() as f64
        };
        Ok(self.each.iter().enumerate().map(own).sum::<f64>() / count as f64)
    }

    /// The largest distance of a node's model from the mean of all.
    pub fn consensus_error(&self) -> f64 {
        let apart = |x: &Vec<f64>| {
            x.iter().zip(&self.mean).map(|(x, mean)| (x - mean).powi(2)).sum::<f64>().sqrt()
        };
        self.each.iter().map(apart).fold(0.0, f64::max)
    }
}

/// A job with its noise, for any number of runs.
type Calibrated = Arc<(Job, Repeat)>;

/// Jobs that are calibrated once for all tables of as many rows: the noise depends on what is
/// public, and finding it takes longer than most of the models here. Cells share them.
#[derive(Debug, Default)]
pub(crate) struct Calibrations(Mutex<BTreeMap<String, Arc<Mutex<Option<Calibrated>>>>>);

impl Calibrations {
    /// The model of a run with noise within a budget: that of [`TrainProblem::fit`] for the seed 1, and
    /// as good a one for any other.
    pub fn fit(
        &self,
        problem: &TrainProblem<'_>,
        method: &TrainMethod,
        price: Price,
        seed: u64,
    ) -> Result<Vec<f64>, ExperimentError> {
        problem.kept(&("repeat", method.key(), price, seed), || {
            let calibrated = self.calibrated(problem, method, price)?;
            let table = calibrated.0.load(&problem.train.dataset()?)?;
            Ok(calibrated.1.run(table, seed - FIRST)?.parameter)
        })
    }

    /// What the books of such a run have.
    pub fn plan(
        &self,
        problem: &TrainProblem<'_>,
        method: &TrainMethod,
        price: Price,
    ) -> Result<Ledger, ExperimentError> {
        Ok(self.calibrated(problem, method, price)?.1.plan().clone())
    }

    /// Whether a published version has noise for this price: RDP20's accountant has a least ε that no
    /// noise is below (E18).
    pub fn reaches(
        &self,
        problem: &TrainProblem<'_>,
        method: &TrainMethod,
        price: Price,
    ) -> Result<bool, ExperimentError> {
        match self.calibrated(problem, method, price) {
            Ok(_) => Ok(true),
            Err(why) if why.to_string().contains("Lemma 2") => Ok(false),
            Err(why) => Err(why),
        }
    }

    fn calibrated(
        &self,
        problem: &TrainProblem<'_>,
        method: &TrainMethod,
        price: Price,
    ) -> Result<Calibrated, ExperimentError> {
        let train = problem.train;
        let rows = (train.len(), train.columns, train.classes);
        let key = format!("{:?}", (rows, problem.key(), method.key(), price));
        let place = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(key).or_default())
        };
        // Whoever asks for the same waits here, and for another does not.
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(calibrated) = &*place {
            return Ok(Arc::clone(calibrated));
        }
        let job = problem.job(method, price, FIRST)?;
        let like = job.load(&train.dataset()?)?;
        let repeat = problem.job(method, price, FIRST)?.repeat(like)?;
        Ok(Arc::clone(place.insert(Arc::new((job, repeat)))))
    }
}

fn parameter(model: &Model) -> Vec<f64> {
    model.coefficients().iter().map(|c| c.values[0]).collect()
}

/// A method of this name.
pub(crate) fn method(
    name: &'static str,
    algorithm: &'static str,
    settings: impl Into<String>,
) -> TrainMethod {
    TrainMethod { name, algorithm, settings: settings.into() }
}

impl TrainMethod {
    /// All of it that decides a model.
    pub fn key(&self) -> impl Debug + '_ {
        let TrainMethod { name: _, algorithm, settings } = self;
        (algorithm, settings)
    }

    fn settings(&self) -> Result<Settings, ExperimentError> {
        let mut given = Vec::new();
        for word in self.settings.split_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, "true"));
            let known = Settings::ALL.iter().find(|setting| setting.name == name);
            let known =
                known.ok_or_else(|| ExperimentError::account(format!("no setting {name}")))?;
            given.push((known.name, value.to_owned()));
        }
        Ok(read_settings(&given)?)
    }
}

impl<'t> TrainProblem<'t> {
    pub fn new(train: &'t RowTable, loss: &'static str, penalty: impl Into<String>) -> Self {
        TrainProblem { train, loss, penalty: penalty.into(), constraint: None, own: None }
    }

    /// All of it but the rows that decides a model.
    fn key(&self) -> impl Debug + '_ {
        let TrainProblem { train: _, loss, penalty, constraint, own } = self;
        (loss, penalty, constraint, own)
    }

    /// The models of this run: those that are kept where the table says, or new ones.
    pub fn all_kept(
        &self,
        run: &dyn Debug,
        train: impl FnOnce() -> Result<Vec<Vec<f64>>, ExperimentError>,
    ) -> Result<Vec<Vec<f64>>, ExperimentError> {
        match self.train.store() {
            Some(store) => store.models(&(self.train.digest(), self.key(), run), train),
            None => train(),
        }
    }

    /// The same of a run that has one model.
    pub fn kept(
        &self,
        run: &dyn Debug,
        train: impl FnOnce() -> Result<Vec<f64>, ExperimentError>,
    ) -> Result<Vec<f64>, ExperimentError> {
        let models = self.all_kept(run, || Ok(vec![train()?]))?;
        Ok(models.into_iter().next().unwrap_or_default())
    }

    pub fn spec(
        &self,
        method: &TrainMethod,
        price: Price,
        seed: u64,
    ) -> Result<Spec, ExperimentError> {
        let (epsilon, delta, noise) = match price {
            Price::Budget(epsilon, delta) => (Some(epsilon), Some(delta), None),
            Price::Noise(noise, delta) => (Some(NO_LIMIT), Some(delta), Some(noise)),
            Price::Free if method.algorithm == "exact" => (None, None, None),
            Price::Free => (None, None, Some(0.0)),
        };
        let settings = method.settings()?;
        Ok(Spec::default().with(|it| {
            it.guarantee = Guarantee::default().with(|it| {
                it.epsilon = epsilon;
                it.delta = delta;
                it.seed = Some(seed);
            });
            it.features = Some(self.train.columns as u32);
            it.row_norm = Some(1.0);
            it.target_range = (!self.train.classes).then_some([-1.0, 1.0]);
            it.noise = noise;
            it.algorithm = Some(method.algorithm.to_owned());
            it.loss = Some(self.loss.to_owned());
            it.penalty = Some(self.penalty.clone());
            it.intercept = Some(false);
            it.settings = settings;
        }))
    }

    fn job(&self, method: &TrainMethod, price: Price, seed: u64) -> Result<Job, ExperimentError> {
        let mut fit = self.spec(method, price, seed)?.fit()?;
        if let Some(constraint) = &self.constraint {
            fit = fit.constraint(constraint.clone());
        }
        if let Some(own) = &self.own {
            fit = fit.penalty(own.clone());
        }
        Ok(fit.check()?)
    }

    /// The model of a run on the whole table.
    pub fn fit(
        &self,
        method: &TrainMethod,
        price: Price,
        seed: u64,
    ) -> Result<Vec<f64>, ExperimentError> {
        self.kept(&("fit", method.key(), price, seed), || {
            let fitted = self.job(method, price, seed)?.fit(&self.train.dataset()?)?;
            Ok(parameter(&fitted.model))
        })
    }

    /// The model without any noise at the optimum.
    pub fn exact(&self) -> Result<Vec<f64>, ExperimentError> {
        self.fit(&method("exact", "exact", ""), Price::Free, 1)
    }

    pub fn between(
        &self,
        method: &TrainMethod,
        price: Price,
        among: Among,
        seed: u64,
    ) -> Result<SimulationSpec, ExperimentError> {
        let parties = Parties::default().with(|it| {
            it.split = Some(among.parties);
            it.topology = among.topology.map(str::to_owned);
            it.seed = Some(1);
        });
        Ok(SimulationSpec::new(self.spec(method, price, seed)?, parties))
    }

    /// The model of a run between parties.
    pub fn simulate(
        &self,
        method: &TrainMethod,
        price: Price,
        among: Among,
        seed: u64,
    ) -> Result<Vec<f64>, ExperimentError> {
        self.kept(&("simulate", method.key(), price, among, seed), || {
            self.simulate_anew(method, price, among, seed)
        })
    }

    /// The same, never one that was kept: for who measures how long it takes.
    pub fn simulate_anew(
        &self,
        method: &TrainMethod,
        price: Price,
        among: Among,
        seed: u64,
    ) -> Result<Vec<f64>, ExperimentError> {
        let job = self.between(method, price, among, seed)?.check()?;
        let run = job.run(&self.train.dataset()?, CheckpointOptions::default(), Run::default())?;
        Ok(parameter(&run.model))
    }

    /// The models of all nodes of a run between peers, to whom rows are dealt in turn, so that it is
    /// known whose each is.
    pub fn nodes(
        &self,
        method: &TrainMethod,
        price: Price,
        among: Among,
        seed: u64,
    ) -> Result<Nodes, ExperimentError> {
        // The mean, and then each.
        let mut models = self.all_kept(&("nodes", method.key(), price, among, seed), || {
            let mut spec = self.between(method, price, among, seed)?;
            spec.parties.split = None;
            let job = spec.simulation()?.party_per_owner().unit(Unit::Record).check()?;
            let owners: Vec<u64> =
                (0..self.train.len() as u64).map(|row| row % u64::from(among.parties)).collect();
            let table =
                self.train.dataset()?.with_owners(&owners).map_err(reticent::Error::from)?;
            let run = job.run(&table, CheckpointOptions::default(), Run::default())?;
            let each = (0..run.nodes.len()).map(|party| Ok(parameter(&run.nodes.model(party)?)));
            std::iter::once(Ok(parameter(&run.model))).chain(each).collect()
        })?;
        let each = models.split_off(1.min(models.len()));
        Ok(Nodes { each, mean: models.pop().unwrap_or_default() })
    }

    /// What the books of a party will have.
    pub fn plan(
        &self,
        method: &TrainMethod,
        price: Price,
        among: Among,
    ) -> Result<Ledger, ExperimentError> {
        let job = self.between(method, price, among, 1)?.check()?;
        let ready =
            job.open(&self.train.dataset()?, CheckpointOptions::default(), &mut Run::default())?;
        let first = ready.plans()?.into_iter().next();
        first.ok_or_else(|| ExperimentError::account("there is no party"))
    }

    /// The mean loss on the table that is trained on.
    pub fn loss_at(&self, x: &[f64]) -> Result<f64, ExperimentError> {
        let loss: Box<dyn Loss> = losses::parse(self.loss, None).map_err(reticent::Error::from)?;
        let table = self.train;
        let sum: f64 =
            (0..table.len()).map(|i| loss.value(&[table.score(i, x)], table.targets[i])).sum();
        Ok(sum / table.len() as f64)
    }

    /// The objective: mean loss and penalty.
    pub fn objective(&self, x: &[f64]) -> Result<f64, ExperimentError> {
        Ok(self.loss_at(x)? + self.penalty_at(x)?)
    }

    /// The penalty alone.
    pub fn penalty_at(&self, x: &[f64]) -> Result<f64, ExperimentError> {
        let penalty: Arc<dyn Penalty> = match &self.own {
            Some(own) => Arc::new(own.clone()),
            None => penalties::parse(&self.penalty).map_err(reticent::Error::from)?.into(),
        };
        let shape = Shape { features: self.train.columns, outputs: 1, intercept: false };
        let constraint =
            self.constraint.clone().unwrap_or_else(|| Constraint::identity(shape.features));
        let regulariser =
            Regulariser::new(penalty, constraint, shape).map_err(reticent::Error::from)?;
        Ok(regulariser.value_at(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::simulated;

    /// The numbers by hand, of rows that are known to be whose.
    #[test]
    fn the_average_loss_is_that_of_each_node_on_its_own_rows() {
        let mut table = RowTable::new(1, false);
        for target in [0.5, -0.5, 0.25, 0.0] {
            table.push([(0, 1.0)], target);
        }
        let problem = TrainProblem::new(&table, "squared", "none");
        // Residuals of node 0: 0.5 and 0.75; of node 1: −0.5 and −1. Half of their squares.
        let nodes = Nodes { each: vec![vec![1.0], vec![-1.0]], mean: vec![0.0] };
        let expected = ((0.25 + 0.5625) / 4.0 + (0.25 + 1.0) / 4.0) / 2.0;
        assert!((nodes.average_loss(&problem).unwrap() - expected).abs() < 1e-15);
        assert_eq!(nodes.consensus_error(), 1.0);
        // And the run deals them so: each node, left to itself by a small η, fits its own rows.
        let among = Among { parties: 2, topology: None };
        let problem = TrainProblem::new(&table, "huber:2", "none");
        let alone = method("ADMM", "admm-network", "iterations=1 rho=0.01 release=minimiser");
        let nodes = problem.nodes(&alone, Price::Free, among, 1).unwrap();
        assert!((nodes.each[0][0] - 0.375).abs() < 0.01, "{nodes:?}");
        assert!((nodes.each[1][0] + 0.25).abs() < 0.01, "{nodes:?}");
    }

    /// Bit for bit, also on the second table of as many rows; and noise that is another one for
    /// another seed.
    #[test]
    fn calibrating_once_changes_no_model() {
        let calibrations = Calibrations::default();
        let price = Price::Budget(1.0, 1e-6);
        let tables = [1, 2].map(|seed| simulated::rdp20(300, seed));
        for method in [
            method("ssADMM", "ssadmm", "sampling=wor:17 rho=0.25"),
            method("mpADMM", "mpadmm", "rho=0.5"),
            method("objP", "objp", ""),
        ] {
            for table in &tables {
                let problem = TrainProblem::new(table, "logistic", "elastic-net:1e-3,0.01");
                let once = calibrations.fit(&problem, &method, price, 1).unwrap();
                assert_eq!(once, problem.fit(&method, price, 1).unwrap(), "{}", method.name);
                let other = calibrations.fit(&problem, &method, price, 2).unwrap();
                assert_ne!(once, other, "{}", method.name);
            }
        }
        assert_eq!(calibrations.0.lock().unwrap().len(), 3);
    }
}
