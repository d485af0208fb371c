//! What a run may spend.

use reticent_accountant::{Ledger, epsilon};

use crate::error::Error;

/// ε and δ: what a run may spend in all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    epsilon: f64,
    delta: f64,
}

impl Budget {
    /// A budget of ε above 0 and δ from 0 to below 1. A δ of 0 asks for noise with a pure
    /// guarantee, which few algorithms have.
    ///
    /// # Errors
    /// If ε or δ cannot be.
    ///
    /// # Examples
    /// ```
    /// use reticent::Budget;
    /// let budget = Budget::new(1.0, 1e-6)?;
    /// assert_eq!((budget.epsilon(), budget.delta()), (1.0, 1e-6));
    /// assert!(Budget::new(-1.0, 1e-6).is_err() && Budget::new(1.0, 1.0).is_err());
    /// # Ok::<(), reticent::Error>(())
    /// ```
    pub fn new(epsilon: f64, delta: f64) -> Result<Self, Error> {
        if !(epsilon.is_finite() && epsilon > 0.0) {
            let why = "it must be a number above 0, for example 1.0";
            return Err(Error::value("epsilon", epsilon, why));
        }
        if !(0.0..1.0).contains(&delta) {
            let why = "it must be at least 0 and less than 1, for example 1e-5; 0 is for noise with a pure guarantee";
            return Err(Error::value("delta", delta, why));
        }
        Ok(Budget { epsilon, delta })
    }

    /// The privacy loss ε.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// The slack δ.
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// Refuses a plan with noise by hand that costs more.
    pub(crate) fn allows(&self, noise: f64, plan: &Ledger) -> Result<(), Error> {
        let cost = epsilon(plan, self.delta)?.upper;
        if cost <= self.epsilon {
            return Ok(());
        }
        let (limit, delta) = (self.epsilon, self.delta);
        Err(Error::Budget(format!(
            "with noise = {noise} it costs an epsilon of {cost} at delta = {delta}, and {limit} is allowed; give \
             more noise or more epsilon, or leave the noise out to have the least that is enough"
        )))
    }

    /// What is wrong with a run that was told something before it ended, and its books.
    pub(crate) fn spent(self, why: Error, books: Option<&Ledger>) -> Error {
        let Budget { epsilon, delta } = self;
        let books = books.map(|books| Box::new(books.clone()));
        Error::Spent { why: Box::new(why), epsilon, delta, books }
    }
}

impl From<Budget> for reticent_runtime::PartyBudget {
    fn from(Budget { epsilon, delta }: Budget) -> Self {
        reticent_runtime::PartyBudget { epsilon, delta }
    }
}
