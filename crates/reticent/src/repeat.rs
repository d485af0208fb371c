//! One job on table after table that was never a file: for audits and simulations.
//!
//! It is the path of [`Job::fit`] from the gate on: the same plan, the same calibration, the same
//! algorithm, the same gate. Only the reading of a file and the writing of a certificate are left
//! out, and the calibration is done once, as it depends on public quantities alone.

use reticent_accountant::{Ledger, epsilon, gdp_mu};
use reticent_oracle::{Gate, Oracle, PrivateTable};

use crate::error::Error;
use crate::job::{CalibratedPlan, Done, Job};
use crate::run::Calibrated;
use crate::stage::unwatched;

/// A calibrated job.
#[derive(Debug)]
pub struct Repeat {
    job: Job,
    delta: f64,
    plan: CalibratedPlan,
    #[cfg(feature = "seeded-bugs")]
    bug: Option<reticent_oracle::Bug>,
}

/// What one run showed to whoever sees everything that is released.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The parameter of the model.
    pub parameter: Vec<f64>,
    /// Every answer of the gate, in order; where only the best of several runs is released, its
    /// score.
    pub transcript: Vec<Vec<f64>>,
}

impl Job {
    /// Calibrates the job for tables with as many units as `like`, which is not used for anything
    /// else.
    ///
    /// # Errors
    /// If the job has no noise, or the budget does not allow it.
    pub fn repeat(self, like: PrivateTable) -> Result<Repeat, Error> {
        let task = self.work().task();
        let budget = task.budget.ok_or_else(|| task.not_private())?;
        let plan = self.work().prepare(*task.open(like, 0)?.terms(), budget)?;
        Ok(Repeat {
            job: self,
            delta: budget.delta(),
            plan,
            #[cfg(feature = "seeded-bugs")]
            bug: None,
        })
    }
}

impl Repeat {
    /// Runs it. `number` tells runs with the same seed apart; without a seed it does nothing.
    ///
    /// # Errors
    /// If the table is not as it was calibrated for, or the numbers run away.
    pub fn run(&self, table: PrivateTable, number: u64) -> Result<Seen, Error> {
        let mut gate: Gate = self.job.work().task().open(table, number)?;
        gate.keep_transcript();
        #[cfg(feature = "seeded-bugs")]
        if let Some(bug) = self.bug {
            gate.spoil(bug)?;
        }
        let Done { parameter, mut transcript, tuned, .. } =
            self.job.work().execute(gate, &self.plan, &mut unwatched, None)?;
        // Of a choice the score of the winner is released as well.
        transcript.extend(tuned.map(|tuned| vec![tuned.score]));
        Ok(Seen { parameter, transcript })
    }

    /// From here on, every run has a known defect.
    #[cfg(feature = "seeded-bugs")]
    pub fn spoil(&mut self, bug: reticent_oracle::Bug) {
        self.bug = Some(bug);
    }

    /// What a run would record with so many times the noise; nothing where only the best of several
    /// is released. `like` is a table as it was calibrated for.
    ///
    /// # Errors
    /// If only the best of several runs is released.
    pub fn plan_at(&self, scale: f64, like: PrivateTable) -> Result<Ledger, Error> {
        let task = self.job.work().task();
        match &self.plan {
            CalibratedPlan::One(Calibrated { public, noise, .. }) => {
                task.rehearse(*task.open(like, 0)?.terms(), public, &noise.scaled(scale))
            }
            CalibratedPlan::Best(_) => Err(task.not_private()),
        }
    }

    /// What every run records.
    pub fn plan(&self) -> &Ledger {
        self.plan.ledger()
    }

    /// The ε that a certificate of a run would promise.
    ///
    /// # Errors
    /// If the plan cannot be counted.
    pub fn epsilon(&self) -> Result<f64, Error> {
        Ok(epsilon(self.plan(), self.delta)?.upper)
    }

    /// μ of Gaussian differential privacy, when a run is exactly that.
    pub fn mu(&self) -> Option<f64> {
        gdp_mu(self.plan())
    }
}
