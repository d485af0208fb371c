//! What DPA19's experiments have in common: Adult of 14 columns dealt to providers, and noise by
//! the iteration.

use super::acct_dpa19::noise_of_iteration;
use crate::bounds::{self, TheoremBound};
use crate::data::DataSet;
use crate::error::ExperimentError;
use crate::experiment::Context;
use crate::report::ExperimentReport;
use crate::table::RowTable;
use crate::train::{Among, Nodes, Price, TrainMethod, TrainProblem, method};

/// λ of the paper; each provider has λ/N of it.
const LAMBDA: f64 = 0.17;

/// ρ.
const RHO: f64 = 1.0;

/// D of the step sizes, which is public; the paper has the norm of a model that it has trained (E9).
const DIAMETER: f64 = 10.0;

/// The ε of an iteration and the δ that the paper has.
pub(super) fn epsilons(context: &Context<'_>) -> &'static [f64] {
    context.pick(&[0.01, 0.02, 0.05, 0.07, 0.1, 0.2], &[0.05, 0.2])
}

pub(super) fn deltas(context: &Context<'_>) -> &'static [f64] {
    context.pick(&[1e-3, 1e-4, 1e-5, 1e-6], &[1e-3, 1e-6])
}

/// What differs from every figure of the paper.
pub(super) const CHANGES: &str = "The columns are scaled by declared bounds and the D of the step sizes is 10, where the paper \
                                  has the norm of a model that it has trained (E9). The noise is that of Theorem 1 for the ε and \
                                  δ of an iteration, and is certified at less than the paper's ε̄ (acct-dpa19).";

/// Training and test rows, and the providers.
pub(super) struct ProviderData {
    pub train: RowTable,
    pub test: RowTable,
    pub parties: u32,
    pub rounds: u64,
}

impl ProviderData {
    /// 21,000 rows for 100 providers of 210, and 9,000 to test on.
    pub fn load(
        context: &mut Context<'_>,
        report: &mut ExperimentReport,
    ) -> Result<Self, ExperimentError> {
        let rows = context.rows(30_000, 1_000);
        let table = DataSet::Adult.load(context, rows, report)?;
        let (train, test) = table.split(0.7, 1);
        let parties = (train.len() / context.pick(210, 140)).max(1) as u32;
        Ok(ProviderData { train, test, parties, rounds: context.pick(100, 20) })
    }

    pub fn among(&self) -> Among {
        Among { parties: self.parties, topology: None }
    }

    /// The strength of a provider's own penalty, λ/N.
    pub fn strength(&self) -> f64 {
        LAMBDA / f64::from(self.parties)
    }

    pub fn problem(&self, penalty: &str) -> TrainProblem<'_> {
        TrainProblem::new(&self.train, "logistic", format!("{penalty}:{}", self.strength()))
    }

    /// The bound of Theorem 3 (l1) or Theorem 4 (l2) on the objective, over rounds at (ε, δ) an
    /// iteration, above the optimum `best`.
    pub fn bound(
        &self,
        penalty: &str,
        budget: (f64, f64),
        best: f64,
        rounds: &[u64],
    ) -> TheoremBound {
        let (epsilon, delta) = budget;
        let (features, own) = (self.train.columns, self.strength());
        let rows = self.train.len() as f64 / f64::from(self.parties);
        let (diameter, rho, slope) = (DIAMETER, RHO, 1.0);
        let theory = bounds::dpa19::Dpa19Setting { features, rows, diameter, rho, slope };
        let noise = noise_of_iteration(epsilon, delta);
        // Logistic loss on rows of norm 1 has slopes of at most 1 and curvatures of at most ¼.
        let (number, at): (u8, &dyn Fn(f64) -> f64) = match penalty {
            "l1" => (3, &|t| theory.convex(t, own * (features as f64).sqrt(), noise)),
            _ => (4, &|t| theory.smooth(t, 0.25 + own, noise)),
        };
        let points = rounds.iter().map(|&t| (t as f64, best + at(t as f64))).collect();
        TheoremBound::new(format!("Theorem {number}, ε = {epsilon}"), points)
    }

    /// The paper's axis: the mean over the providers of f_i(w̄_i) + ‖w̄_i − w̄‖, which is the sum over
    /// N.
    pub fn augmented(
        &self,
        problem: &TrainProblem<'_>,
        nodes: &Nodes,
    ) -> Result<f64, ExperimentError> {
        let apart = |x: &Vec<f64>| {
            let squares = x.iter().zip(&nodes.mean).map(|(x, mean)| (x - mean).powi(2));
            squares.sum::<f64>().sqrt()
        };
        let mut sum = nodes.average_loss(problem)?;
        for x in &nodes.each {
            sum += (problem.penalty_at(x)? + apart(x)) / nodes.each.len() as f64;
        }
        Ok(sum)
    }

    /// The averages w̄ and w̄_i after so many rounds.
    pub fn averages(
        &self,
        problem: &TrainProblem<'_>,
        method: &TrainMethod,
        price: Price,
        seed: u64,
    ) -> Result<Nodes, ExperimentError> {
        let settings = format!("{} average=uniform", method.settings);
        problem.nodes(&TrainMethod { settings, ..method.clone() }, price, self.among(), seed)
    }

    /// Whether what the theorems ask for is so, with the optimum.
    pub fn conditions(&self, optimum: &[f64]) -> String {
        let norm = optimum.iter().map(|v| v * v).sum::<f64>().sqrt();
        let held = if norm <= DIAMETER { "held" } else { "not held" };
        format!(
            "What the theorems ask for: a D of at least the norm of the optimum, which is {norm:.2}, where the steps have \
             {DIAMETER}: {held}. The steps are the theorems', and the averages of the iterates are drawn, which they bound. \
             They are taken with noise in all coordinates, where Theorem 3 as printed has none and Theorem 4 that of one (E10)."
        )
    }

    /// How many times the noise of ours Algorithm 2 has as it is printed: its sensitivity is that
    /// of a λ/N-strongly convex objective, which is (λ/N + ρ)-strongly convex (erratum E15).
    pub fn printed(&self) -> f64 {
        (self.strength() + RHO) / self.strength()
    }
}

/// DP-ADMM, Algorithm 3.
pub(super) fn dp_admm(rounds: u64) -> TrainMethod {
    method("DP-ADMM", "dp-admm", format!("iterations={rounds} rho={RHO} diameter={DIAMETER}"))
}

/// Algorithm 2, and without noise Algorithm 1.
pub(super) fn exact_steps(rounds: u64) -> TrainMethod {
    method("Algorithm 2", "dp-admm-exact", format!("iterations={rounds} rho={RHO}"))
}

/// The noise of an iteration of (ε, δ), so many times.
pub(super) fn price(epsilon: f64, delta: f64, times: f64) -> Price {
    Price::Noise(times * noise_of_iteration(epsilon, delta), delta)
}

/// What is to be known of all of them.
pub(super) fn notes(report: &mut ExperimentReport, setting: &ProviderData) {
    report.notes.push(format!(
        "{} providers with {} records in all, {} to test on; λ = 0.17, ρ = 1, {} rounds.",
        setting.parties,
        setting.train.len(),
        setting.test.len(),
        setting.rounds
    ));
}
