//! The algorithms, a file each, and the loop that runs one.

use reticent_oracle::{Oracle, Refusal};

pub(crate) mod amp;
pub(crate) mod auto;
pub(crate) mod consensus;
pub(crate) mod dp_cd;
pub(crate) mod dp_fw;
pub(crate) mod dp_sgd;
pub(crate) mod general;
pub(crate) mod mpadmm;
pub(crate) mod objp;
pub(crate) mod output_perturbation;
pub(crate) mod sadmm;
pub(crate) mod ssadmm;
pub(crate) mod vradmm;

/// One private algorithm, ready to run: a state, and a step that asks the gate.
///
/// A step is arithmetic on released values. It asks the same queries in the same order whatever the
/// answers were, so that a rehearsal on no data gives the plan of the run.
pub trait Algorithm {
    /// Iteration `k`, counted from 1.
    fn step(&mut self, k: u64, oracle: &mut dyn Oracle) -> Result<(), Refusal>;

    /// The parameter to publish: a function of released values.
    fn solution(&self) -> Vec<f64>;
}

/// Runs `iterations` steps. `after` hears the number of each step done, and nothing else: there is
/// no stopping rule, because one that read the data would leak.
pub fn run(
    algorithm: &mut dyn Algorithm,
    iterations: u64,
    oracle: &mut dyn Oracle,
    mut after: impl FnMut(u64),
) -> Result<Vec<f64>, Refusal> {
    for k in 1..=iterations {
        algorithm.step(k, oracle)?;
        after(k);
    }
    Ok(algorithm.solution())
}
