//! Training for experiments: one problem, many methods, metrics read from the public table.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use reticent::accountant::Ledger;
use reticent::problem::{Loss, Penalty, Regulariser, Shape};
use reticent::simulate::{Keep, Parties, SimulationSpec};
use reticent::{
    Constraint, Job, Repeat, Settings, Spec, losses, penalties, read_settings, unwatched,
};

use crate::error::Error;
use crate::penalty::GraphRidge;
use crate::table::Table;

/// A limit that no experiment comes to, for noise that is given by hand.
const NO_LIMIT: f64 = 1e9;

/// The first seed of an experiment.
const FIRST: u64 = 1;

/// What is minimised.
#[derive(Clone, Debug)]
pub(crate) struct Problem<'t> {
    pub train: &'t Table,
    pub loss: &'static str,
    pub penalty: String,
    pub constraint: Option<Constraint>,
    /// In place of the penalty that is named.
    pub own: Option<GraphRidge>,
}

/// An algorithm as it is set.
#[derive(Clone, Debug)]
pub(crate) struct Method {
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

/// Jobs that are calibrated once for all tables of as many rows: the noise depends on what is
/// public, and finding it takes longer than most of the models here.
#[derive(Debug, Default)]
pub(crate) struct Calibrations(BTreeMap<String, (Job, Repeat)>);

impl Calibrations {
    /// The model of a run with noise within a budget: that of [`Problem::fit`] for the seed 1, and
    /// as good a one for any other.
    pub fn fit(
        &mut self,
        problem: &Problem<'_>,
        method: &Method,
        price: Price,
        seed: u64,
    ) -> Result<Vec<f64>, Error> {
        let (job, repeat) = self.calibrated(problem, method, price)?;
        let table = job.load(&problem.train.dataset()?)?;
        Ok(repeat.run(table, seed - FIRST)?.parameter)
    }

    /// What the books of such a run have.
    pub fn plan(
        &mut self,
        problem: &Problem<'_>,
        method: &Method,
        price: Price,
    ) -> Result<&Ledger, Error> {
        Ok(self.calibrated(problem, method, price)?.1.plan())
    }

    fn calibrated(
        &mut self,
        problem: &Problem<'_>,
        method: &Method,
        price: Price,
    ) -> Result<&(Job, Repeat), Error> {
        let Problem { train, loss, penalty, constraint, own } = problem;
        let said = (train.len(), train.columns, train.classes, loss, penalty, constraint, own);
        let key = format!("{said:?} {} {} {price:?}", method.algorithm, method.settings);
        Ok(match self.0.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                let job = problem.job(method, price, FIRST)?;
                let like = job.load(&train.dataset()?)?;
                entry.insert((job, problem.job(method, price, FIRST)?.repeat(like)?))
            }
        })
    }
}

/// A method of this name.
pub(crate) fn method(
    name: &'static str,
    algorithm: &'static str,
    settings: impl Into<String>,
) -> Method {
    Method { name, algorithm, settings: settings.into() }
}

impl Method {
    fn settings(&self) -> Result<Settings, Error> {
        let mut given = Vec::new();
        for word in self.settings.split_whitespace() {
            let (name, value) = word.split_once('=').unwrap_or((word, "true"));
            let known = Settings::ALL.iter().find(|setting| setting.name == name);
            let known = known.ok_or_else(|| Error::account(format!("no setting {name}")))?;
            given.push((known.name, value.to_owned()));
        }
        Ok(read_settings(&given)?)
    }
}

impl<'t> Problem<'t> {
    pub fn new(train: &'t Table, loss: &'static str, penalty: impl Into<String>) -> Self {
        Problem { train, loss, penalty: penalty.into(), constraint: None, own: None }
    }

    fn spec(&self, method: &Method, price: Price, seed: u64) -> Result<Spec, Error> {
        let (epsilon, delta, noise) = match price {
            Price::Budget(epsilon, delta) => (Some(epsilon), Some(delta), None),
            Price::Noise(noise, delta) => (Some(NO_LIMIT), Some(delta), Some(noise)),
            Price::Free if method.algorithm == "exact" => (None, None, None),
            Price::Free => (None, None, Some(0.0)),
        };
        Ok(Spec {
            features: Some(self.train.columns as u32),
            row_norm: Some(1.0),
            target_range: (!self.train.classes).then_some([-1.0, 1.0]),
            epsilon,
            delta,
            noise,
            algorithm: Some(method.algorithm.to_owned()),
            loss: Some(self.loss.to_owned()),
            penalty: Some(self.penalty.clone()),
            intercept: Some(false),
            settings: method.settings()?,
            seed: Some(seed),
            ..Spec::default()
        })
    }

    fn job(&self, method: &Method, price: Price, seed: u64) -> Result<Job, Error> {
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
    pub fn fit(&self, method: &Method, price: Price, seed: u64) -> Result<Vec<f64>, Error> {
        let fitted = self.job(method, price, seed)?.fit(&self.train.dataset()?)?;
        Ok(fitted.model.coefficients().iter().map(|c| c.values[0]).collect())
    }

    /// The model without any noise at the optimum.
    pub fn exact(&self) -> Result<Vec<f64>, Error> {
        self.fit(&method("exact", "exact", ""), Price::Free, 1)
    }

    fn between(
        &self,
        method: &Method,
        price: Price,
        among: Among,
        seed: u64,
    ) -> Result<SimulationSpec, Error> {
        Ok(SimulationSpec {
            job: self.spec(method, price, seed)?,
            parties: Parties {
                split: Some(among.parties),
                topology: among.topology.map(str::to_owned),
                seed: Some(1),
                ..Parties::default()
            },
            ..SimulationSpec::default()
        })
    }

    /// The model of a run between parties.
    pub fn simulate(
        &self,
        method: &Method,
        price: Price,
        among: Among,
        seed: u64,
    ) -> Result<Vec<f64>, Error> {
        let job = self.between(method, price, among, seed)?.check()?;
        let run = job.run(&self.train.dataset()?, Keep::default(), &mut unwatched)?;
        Ok(run.model.coefficients().iter().map(|c| c.values[0]).collect())
    }

    /// What the books of a party will have.
    pub fn plan(&self, method: &Method, price: Price, among: Among) -> Result<Ledger, Error> {
        let job = self.between(method, price, among, 1)?.check()?;
        let ready = job.open(&self.train.dataset()?, Keep::default(), &mut unwatched)?;
        let first = ready.plans().into_iter().next();
        first.ok_or_else(|| Error::account("there is no party"))
    }

    /// The mean loss on the table that is trained on.
    pub fn loss_at(&self, x: &[f64]) -> Result<f64, Error> {
        let loss: Box<dyn Loss> = losses::parse(self.loss, None).map_err(reticent::Error::from)?;
        let table = self.train;
        let sum: f64 =
            (0..table.len()).map(|i| loss.value(&[table.score(i, x)], table.targets[i])).sum();
        Ok(sum / table.len() as f64)
    }

    /// The objective: mean loss and penalty.
    pub fn objective(&self, x: &[f64]) -> Result<f64, Error> {
        let penalty: Arc<dyn Penalty> = match &self.own {
            Some(own) => Arc::new(own.clone()),
            None => penalties::parse(&self.penalty).map_err(reticent::Error::from)?.into(),
        };
        let shape = Shape { features: self.train.columns, outputs: 1, intercept: false };
        let constraint =
            self.constraint.clone().unwrap_or_else(|| Constraint::identity(shape.features));
        let regulariser =
            Regulariser::new(penalty, constraint, shape).map_err(reticent::Error::from)?;
        Ok(self.loss_at(x)? + regulariser.value_at(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::simulated;

    /// Bit for bit, also on the second table of as many rows; and noise that is another one for
    /// another seed.
    #[test]
    fn calibrating_once_changes_no_model() {
        let mut calibrations = Calibrations::default();
        let price = Price::Budget(1.0, 1e-6);
        let tables = [1, 2].map(|seed| simulated::rdp20(300, seed));
        for method in [
            method("ssADMM", "ssadmm", "sampling=wor:17 rho=0.25"),
            method("mpADMM", "mpadmm", "rho=0.5"),
            method("objP", "objp", ""),
        ] {
            for table in &tables {
                let problem = Problem::new(table, "logistic", "elastic-net:1e-3,0.01");
                let once = calibrations.fit(&problem, &method, price, 1).unwrap();
                assert_eq!(once, problem.fit(&method, price, 1).unwrap(), "{}", method.name);
                let other = calibrations.fit(&problem, &method, price, 2).unwrap();
                assert_ne!(once, other, "{}", method.name);
            }
        }
        assert_eq!(calibrations.0.len(), 3);
    }
}
