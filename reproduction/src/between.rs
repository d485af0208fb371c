//! Runs between parties that are looked at in more than their last model: peers after every
//! iteration, and users of a server that is trusted.

use reticent::simulate::{CheckpointOptions, Parties, SimulationSpec};
use reticent::{Run, Unit, View};

use crate::error::ExperimentError;
use crate::train::{Among, Nodes, Price, TrainMethod, TrainProblem};

impl TrainProblem<'_> {
    /// The models of all peers after every iteration. Rows are dealt as in [`TrainProblem::nodes`].
    pub fn followed(
        &self,
        method: &TrainMethod,
        price: Price,
        among: Among,
        seed: u64,
    ) -> Result<Vec<Nodes>, ExperimentError> {
        let models = self.all_kept(&("followed", method.key(), price, among, seed), || {
            let mut spec = self.between(method, price, among, seed)?;
            spec.parties.split = None;
            let job = spec.simulation()?.party_per_owner().unit(Unit::Record).check()?;
            let owners: Vec<u64> =
                (0..self.train.len() as u64).map(|row| row % u64::from(among.parties)).collect();
            let table =
                self.train.dataset()?.with_owners(&owners).map_err(reticent::Error::from)?;
            let mut shown = Vec::new();
            let mut show = |_: u32, each: &[Vec<f64>]| shown.extend_from_slice(each);
            let ready = job.open(&table, CheckpointOptions::default(), &mut Run::default())?;
            ready.run_followed(Run::default(), &mut show)?;
            Ok(shown)
        })?;
        Ok(models.chunks(among.parties as usize).map(|each| Nodes::new(each.to_vec())).collect())
    }

    /// The model of a run in which every row is a user of its own, whom the server is trusted by.
    pub fn users(
        &self,
        method: &TrainMethod,
        price: Price,
        seed: u64,
    ) -> Result<Vec<f64>, ExperimentError> {
        self.kept(&("users", method.key(), price, seed), || {
            // Nobody else's row: every one is its own party.
            let owners: Vec<u64> = (0..self.train.len() as u64).collect();
            let table =
                self.train.dataset()?.with_owners(&owners).map_err(reticent::Error::from)?;
            let parties = Parties::default().with(|it| {
                it.trust = Some(View::Central);
                it.seed = Some(1);
            });
            let job = self.spec(method, price, seed)?;
            let spec = SimulationSpec::new(job, parties);
            let job = spec.simulation()?.party_per_owner().unit(Unit::User).check()?;
            let run = job.run(&table, CheckpointOptions::default(), Run::default())?;
            Ok(run.model.coefficients().iter().map(|c| c.values[0]).collect())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::simulated;
    use crate::train::method;

    /// After the last iteration they are the models that the run ends with, and before it those of a
    /// shorter run.
    #[test]
    fn what_is_followed_are_the_models_of_shorter_runs() {
        let table = simulated::indicators(200, 10, 3);
        let problem = TrainProblem::new(&table, "logistic", "l2:1e-3");
        let among = Among { parties: 4, topology: None };
        let of = |iterations: u64| {
            let settings = format!(
                "iterations={iterations} rho=0.5 proximal=0.2 loss_weight=20 release=minimiser start=0.1"
            );
            method("R-ADMM", "r-admm", settings)
        };
        let all = problem.followed(&of(5), Price::Free, among, 1).unwrap();
        assert_eq!(all.len(), 5);
        for (k, nodes) in (1..).zip(&all) {
            let shorter = problem.nodes(&of(k), Price::Free, among, 1).unwrap();
            for (one, other) in nodes.each.iter().zip(&shorter.each) {
                assert!(one.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-12), "{k}");
            }
        }
    }

    #[test]
    fn a_row_is_a_user() {
        let table = simulated::fp23(200, 1, 1);
        let problem = TrainProblem::new(&table, "squared", "l1:1e-3");
        let settings = "iterations=40 gamma=1 clip=1";
        let x = problem.users(&method("ADMM", "federated", settings), Price::Free, 1).unwrap();
        let (ours, zero) = (problem.objective(&x).unwrap(), problem.objective(&[0.0; 64]).unwrap());
        assert!(ours < 0.9 * zero, "{ours} {zero}");
    }
}
