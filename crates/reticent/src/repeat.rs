//! One job on table after table that was never a file: for audits and simulations.
//!
//! It is the path of [`Job::fit`] from the gate on: the same plan, the same calibration, the same algorithm, the
//! same gate. Only the reading of a file and the writing of a certificate are left out, and the calibration is
//! done once, as it depends on public quantities alone.

use reticent_accountant::{Ledger, epsilon, gdp_mu};
use reticent_admm::catalogue::{Build, Kind};
use reticent_oracle::{Gate, PrivateTable};

use crate::error::Error;
use crate::fit::Calibrated;
use crate::job::{Budget, Job};

/// A calibrated job.
#[derive(Debug)]
pub struct Repeat {
    job: Job,
    build: Build,
    delta: f64,
    calibrated: Calibrated,
    #[cfg(feature = "seeded-bugs")]
    bug: Option<reticent_oracle::Bug>,
}

/// What one run showed to whoever sees everything that is released.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    /// The parameter of the model.
    pub parameter: Vec<f64>,
    /// Every answer of the gate, in order.
    pub transcript: Vec<Vec<f64>>,
}

impl Job {
    /// Calibrates the job for tables with as many units as `like`, which is not used for anything else.
    pub fn repeat(self, like: PrivateTable) -> Result<Repeat, Error> {
        let (Kind::Private(build), Some(budget)) = (self.entry.kind, self.budget) else {
            return Err(Error::Value {
                name: "algorithm",
                given: self.entry.name.to_owned(),
                allowed: "it has no privacy that could be measured; choose another one".to_owned(),
            });
        };
        let Budget { delta, .. } = budget;
        let gate = self.open(like, 0)?;
        let calibrated = self.calibrate(&gate, build, budget)?;
        Ok(Repeat {
            job: self,
            build,
            delta,
            calibrated,
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
        let (parameter, _) = self.job.run(&mut gate, self.build, &self.calibrated, &mut ())?;
        let transcript = gate.take_transcript();
        gate.close()?;
        Ok(Seen { parameter, transcript })
    }

    /// From here on, every run has a known defect.
    #[cfg(feature = "seeded-bugs")]
    pub fn spoil(&mut self, bug: reticent_oracle::Bug) {
        self.bug = Some(bug);
    }

    /// What every run records.
    pub fn plan(&self) -> &Ledger {
        &self.calibrated.plan
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
