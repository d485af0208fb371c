//! One evaluation on table after table that was never a file: for audits.

use reticent_accountant::{Ledger, epsilon, gdp_mu};
use reticent_oracle::{Oracle, PrivateTable, Terms};

use super::question::{Asking, EvaluationQuestion};
use super::{Evaluation, PrivateQuality};
use crate::error::Error;
use crate::objective::{Objective, Problem};
use crate::repeat::Seen;

/// A calibrated evaluation of one parameter.
#[derive(Debug)]
pub struct RepeatEvaluation {
    question: EvaluationQuestion,
    asking: Asking,
    terms: Terms,
    #[cfg(feature = "seeded-bugs")]
    bug: Option<reticent_oracle::Bug>,
}

impl Evaluation {
    /// Calibrates the evaluation of `parameter`, which solves `problem`, for tables with as many
    /// units as `like`.
    ///
    /// # Errors
    /// If something cannot be, or the budget does not allow it.
    pub fn repeat(
        self,
        problem: Problem,
        parameter: Vec<f64>,
        like: PrivateTable,
    ) -> Result<RepeatEvaluation, Error> {
        let objective = problem.check()?;
        let Objective { schema, loss, regulariser, constant, .. } = &objective;
        let question = EvaluationQuestion {
            loss: loss.clone(),
            shape: regulariser.shape(),
            opening: self.opening(schema, *constant)?,
            parameter,
            log_odds: true,
            cut: 0.0,
            range: 2.0,
            evaluation: self,
        };
        question.evaluation.offered(question.loss.target(), question.opening)?;
        let terms = *question.open(like, 0)?.terms();
        let asking = question.calibrate(&terms)?;
        Ok(RepeatEvaluation {
            question,
            asking,
            terms,
            #[cfg(feature = "seeded-bugs")]
            bug: None,
        })
    }
}

impl RepeatEvaluation {
    /// Asks. `number` tells runs with the same seed apart; without a seed it does nothing.
    ///
    /// # Errors
    /// If the table is not as it was calibrated for.
    pub fn run(&self, table: PrivateTable, number: u64) -> Result<Seen, Error> {
        let mut gate = self.question.open(table, number)?;
        #[cfg(feature = "seeded-bugs")]
        if let Some(bug) = self.bug {
            gate.spoil(bug)?;
        }
        gate.bind(self.asking.plan.clone());
        let answer = self.question.ask(&mut gate, &self.asking.edges, self.asking.noise)?;
        Ok(Seen { parameter: Vec::new(), transcript: vec![answer.into_inner()] })
    }

    /// The figures of an answer.
    pub fn read(&self, answer: &[f64]) -> PrivateQuality {
        self.question.read(&self.asking, &self.terms, answer)
    }

    /// The standard deviation of the noise of each number of an answer.
    pub fn deviations(&self) -> Vec<f64> {
        self.question.deviations(&self.asking, &self.terms)
    }

    /// The answer without noise. Not private, and for tables that were made up.
    ///
    /// # Errors
    /// If the table is not as it was calibrated for.
    pub fn without_noise(&self, table: PrivateTable) -> Result<Vec<f64>, Error> {
        let mut gate = self.question.open(table, 0)?;
        Ok(self.question.ask(&mut gate, &self.asking.edges, 0.0)?.into_inner())
    }

    /// From here on, every run has a known defect.
    #[cfg(feature = "seeded-bugs")]
    pub fn spoil(&mut self, bug: reticent_oracle::Bug) {
        self.bug = Some(bug);
    }

    /// What a run would record with so many times the noise.
    ///
    /// # Errors
    /// If so much noise cannot be drawn.
    pub fn plan_at(&self, scale: f64) -> Result<Ledger, Error> {
        let mut rehearsal = reticent_oracle::Rehearsal::new(self.question.shape, self.terms);
        self.question.ask(&mut rehearsal, &self.asking.edges, scale * self.asking.noise)?;
        Ok(rehearsal.into_plan())
    }

    /// The ε that a certificate would promise.
    ///
    /// # Errors
    /// If the plan cannot be counted.
    pub fn epsilon(&self) -> Result<f64, Error> {
        Ok(epsilon(&self.asking.plan, self.question.evaluation.budget.delta())?.upper)
    }

    /// μ of Gaussian differential privacy.
    pub fn mu(&self) -> Option<f64> {
        gdp_mu(&self.asking.plan)
    }
}
