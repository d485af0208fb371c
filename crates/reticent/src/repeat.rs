//! One job on table after table that was never a file: for audits and simulations.
//!
//! It is the path of [`Job::fit`] from the gate on: the same plan, the same calibration, the same algorithm,
//! the same gate. Only the reading of a file and the writing of a certificate are left out, and the
//! calibration is done once, as it depends on public quantities alone.

use reticent_accountant::{Ledger, epsilon, gdp_mu};
use reticent_oracle::{Gate, PrivateTable};

use crate::error::Error;
use crate::fit::{Done, Plan};
use crate::job::{Budget, Job};

/// A calibrated job.
#[derive(Debug)]
pub struct Repeat {
    job: Job,
    delta: f64,
    plan: Plan,
    #[cfg(feature = "seeded-bugs")]
    bug: Option<reticent_oracle::Bug>,
}

/// What one run showed to whoever sees everything that is released.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The parameter of the model.
    pub parameter: Vec<f64>,
    /// Every answer of the gate, in order; none where only the best of several runs is released.
    pub transcript: Vec<Vec<f64>>,
}

impl Job {
    /// Calibrates the job for tables with as many units as `like`, which is not used for anything else.
    pub fn repeat(self, like: PrivateTable) -> Result<Repeat, Error> {
        let Some(budget) = self.budget else { return Err(self.not_private()) };
        let Budget { delta, .. } = budget;
        let gate = self.open(like, 0)?;
        let plan = self.prepare(&gate, budget)?;
        Ok(Repeat {
            job: self,
            delta,
            plan,
            #[cfg(feature = "seeded-bugs")]
            bug: None,
        })
    }
}

impl Repeat {
    /// Runs it. `number` tells runs with the same seed apart; without a seed it does nothing.
    pub fn run(&self, table: PrivateTable, number: u64) -> Result<Seen, Error> {
        let mut gate: Gate = self.job.open(table, number)?;
        gate.keep_transcript();
        #[cfg(feature = "seeded-bugs")]
        if let Some(bug) = self.bug {
            gate.spoil(bug)?;
        }
        let Done { parameter, transcript, .. } = self.job.execute(gate, &self.plan, &mut ())?;
        Ok(Seen { parameter, transcript })
    }

    /// From here on, every run has a known defect.
    #[cfg(feature = "seeded-bugs")]
    pub fn spoil(&mut self, bug: reticent_oracle::Bug) {
        self.bug = Some(bug);
    }

    /// What every run records.
    pub fn plan(&self) -> &Ledger {
        self.plan.ledger()
    }

    /// The ε that a certificate of a run would promise.
    pub fn epsilon(&self) -> Result<f64, Error> {
        Ok(epsilon(self.plan(), self.delta)?.upper)
    }

    /// μ of Gaussian differential privacy, when a run is exactly that.
    pub fn mu(&self) -> Option<f64> {
        gdp_mu(self.plan())
    }
}
