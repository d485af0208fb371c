//! One job on table after table that was never a file: for audits and simulations.
//!
//! It is the path of [`Job::run`] from the gate on: the same plan, the same calibration, the same
//! questions, the same gate. Only the reading of a file and the writing of a certificate are left
//! out, and the calibration is done once, as it depends on public quantities alone.

use std::sync::Arc;

use reticent_accountant::{Ledger, epsilon, gdp_mu};
use reticent_oracle::without_privacy::SimulatedTable;
use reticent_oracle::{Gate, Oracle, PrivateTable, Terms};

use crate::error::Error;
use crate::job::Job;
use crate::procedure::{Concluded, Hearers, PlannedNoise, Procedure, Question, Seen};
use crate::stage::Run;
use crate::training::Training;

/// A calibrated job.
#[derive(Debug)]
pub struct Repeat<P: Procedure = Training> {
    job: Job<P>,
    terms: Terms,
    planned: Arc<PlannedNoise<P::Noise>>,
    plan: Ledger,
    delta: f64,
    #[cfg(reticent_seeded_bugs)]
    bug: Option<reticent_oracle::Bug>,
}

impl<P: Procedure> Job<P> {
    /// Calibrates the job for tables with as many units as `like`, which is not used for anything
    /// else.
    ///
    /// # Errors
    /// If the job has no noise, or the budget does not allow it.
    pub fn repeat(self, like: PrivateTable) -> Result<Repeat<P>, Error> {
        let terms = *self.gate(like, 0)?.terms();
        let planned = self.planned(terms)?;
        let (Some(plan), Some(budget)) = (planned.plan.clone(), self.budget()) else {
            let why = "it has no privacy that could be measured; choose one with noise";
            return Err(Error::value("algorithm", "one without noise", why));
        };
        Ok(Repeat {
            job: self,
            terms,
            planned,
            plan,
            delta: budget.delta(),
            #[cfg(reticent_seeded_bugs)]
            bug: None,
        })
    }
}

impl<P: Procedure> Repeat<P> {
    /// Runs it. `number` tells runs with the same seed apart; without a seed it does nothing.
    ///
    /// # Errors
    /// If the table is not as it was calibrated for, or the numbers run away.
    pub fn run(&self, table: PrivateTable, number: u64) -> Result<Seen, Error> {
        let mut gate: Gate = self.job.gate(table, number)?;
        gate.keep_transcript();
        #[cfg(reticent_seeded_bugs)]
        if let Some(bug) = self.bug {
            gate.spoil(bug)?;
        }
        let hearers = Hearers { run: &mut Run::default(), recorder: None };
        let (concluded, _) = self.job.conclude(gate, &self.planned, hearers)?;
        let Concluded { answer, transcript, .. } = concluded;
        Ok(P::seen(answer, transcript))
    }

    /// From here on, every run has a known defect.
    #[cfg(reticent_seeded_bugs)]
    pub fn spoil(&mut self, bug: reticent_oracle::Bug) {
        self.bug = Some(bug);
    }

    /// The plan of a run with `scale` times the noise.
    ///
    /// # Errors
    /// If only the best of several runs is released, or so much noise cannot be drawn.
    pub fn plan_at(&self, scale: f64) -> Result<Ledger, Error> {
        self.job.procedure().plan_at(self.terms, &self.planned.noise, scale)
    }

    /// The ledger that every run records.
    pub fn plan(&self) -> &Ledger {
        &self.plan
    }

    /// The ε that a certificate of a run would promise.
    ///
    /// # Errors
    /// If the plan cannot be counted.
    pub fn epsilon(&self) -> Result<f64, Error> {
        Ok(epsilon(&self.plan, self.delta)?.upper)
    }

    /// μ of Gaussian differential privacy, when a run is exactly that.
    pub fn mu(&self) -> Option<f64> {
        gdp_mu(&self.plan)
    }
}

impl<Q: Question> Repeat<Q> {
    /// The question, its noise, and the terms of its tables.
    pub(crate) fn asked(&self) -> (&Q, &<Q as Procedure>::Noise, &Terms) {
        (self.job.procedure(), &self.planned.noise, &self.terms)
    }

    /// The answer without noise, of a table that was made up: it is about nobody. Any other has its
    /// answer through [`Repeat::run`] alone, with noise.
    ///
    /// # Errors
    /// If the table is not as it was calibrated for.
    ///
    /// # Examples
    ///
    /// A table that was read or encoded is not taken:
    ///
    /// ```compile_fail,E0277
    /// # use reticent::internal::Repeat;
    /// # use reticent::{Counting, PrivateTable};
    /// fn exactly(repeat: &Repeat<Counting>, table: PrivateTable) {
    ///     let _ = repeat.without_noise(table);
    /// }
    /// ```
    ///
    /// ```
    /// # use reticent::internal::Repeat;
    /// # use reticent::{Counting, PrivateTable};
    /// fn with_noise(repeat: &Repeat<Counting>, table: PrivateTable) {
    ///     let _ = repeat.run(table, 0);
    /// }
    /// ```
    pub fn without_noise(&self, table: impl Into<SimulatedTable>) -> Result<Q::Answer, Error> {
        let simulated: SimulatedTable = table.into();
        let mut gate = self.job.gate(simulated.into(), 0)?;
        Ok(self.job.procedure().ask(&mut gate, &self.planned.noise.scaled(0.0))?)
    }
}
