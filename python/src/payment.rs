//! A job that pays, by the rules of `reticent-payment`, which are those of the command line.

use std::path::PathBuf;

use pyo3::prelude::*;
use reticent::internal::Payable;
use reticent::tables::Dataset;
use reticent::trace::Tracing;
use reticent::{Error, Run};
use reticent_budget::{Relation, Store};
use reticent_payment::{self as payment, Paid, PaymentError};

use crate::error::Failure;
use crate::watch::Signals;

/// What every unit was called that stood beside a table, before units had names.
const GROUPS: &str = "groups";

/// The budget that pays, and what the job is called in it.
#[derive(FromPyObject)]
pub struct PayingBudget {
    #[pyo3(item("path"))]
    path: PathBuf,
    #[pyo3(item("label"))]
    label: String,
    /// What the people in the table are called, where nobody of them is in another table of the
    /// budget.
    #[pyo3(item("disjoint_people"))]
    disjoint_people: Option<String>,
    /// What the groups beside the table are called.
    #[pyo3(item("users"))]
    users: Option<String>,
}

/// What must not be overlooked about the budget that paid.
pub type Receipt = Option<String>;

/// What a job asks of its budget.
#[derive(Clone, Debug)]
pub struct JobBill {
    /// ε and δ, as they were asked for.
    pub asked: Option<(f64, f64)>,
    /// The column of the schema that says whose row it is.
    pub column: Option<String>,
    /// Whether groups beside the table say so.
    pub grouped: bool,
}

impl JobBill {
    /// What the budget keeps as the name of the unit. A statement of the caller's: what `groups`
    /// are is not in the numbers.
    fn user(&self, payer: &PayingBudget, store: &Store) -> Result<Option<String>, Failure> {
        if self.column.is_some() || !self.grouped {
            return Ok(self.column.clone());
        }
        if payer.users.is_some() {
            return Ok(payer.users.clone());
        }
        // A budget that was made before units had names.
        let known = store.summary().map_err(Failure::Budget)?.users;
        if known.as_deref() == Some(GROUPS) {
            return Ok(known);
        }
        Err(Failure::Unnamed(
            "groups have no name, and a budget keeps who its users are: give a pandas or polars Series with a name, \
             such as df[\"patient\"], or say it by budget.of_users(\"patient\")"
                .to_owned(),
        ))
    }
}

/// What a job that pays is done on.
#[derive(Clone, Copy, Debug)]
pub enum PaidRows<'a> {
    /// Rows of Python's.
    Memory(&'a Dataset<'a>),
    /// Files, one behind the other.
    Files(&'a [PathBuf]),
}

impl<'a> From<&'a Dataset<'a>> for PaidRows<'a> {
    fn from(rows: &'a Dataset<'a>) -> Self {
        PaidRows::Memory(rows)
    }
}

impl<'a> From<&'a [PathBuf]> for PaidRows<'a> {
    fn from(files: &'a [PathBuf]) -> Self {
        PaidRows::Files(files)
    }
}

fn refused(error: PaymentError) -> Failure {
    match error {
        PaymentError::Budget(error) => Failure::Budget(error),
        PaymentError::Job(error) => Failure::Library(error),
        other => Failure::NotCertified(format!("{other}; {}", other.hint())),
    }
}

/// Does the job that `open` opens on `rows`, traced or not, and stops where somebody presses Ctrl-C.
/// Gives what came of it, and the receipt.
pub fn perform<'a, R: Payable>(
    budget: Option<PayingBudget>,
    bill: JobBill,
    rows: impl Into<PaidRows<'a>>,
    traced: bool,
    open: impl FnOnce(&mut Run<'_>) -> Result<R, Error>,
) -> Result<(R::Done, Receipt), Failure> {
    let mut signals = Signals::new();
    let mut watch = |stage| signals.watch(stage);
    let trace = traced.then(Tracing::default);
    let mut run = Run::watched(&mut watch).with_trace(trace);
    let Some(payer) = budget else {
        return Ok((open(&mut run)?.run(run)?, None));
    };
    let mut store = Store::open(&payer.path).map_err(Failure::Budget)?;
    let user = bill.user(&payer, &store)?;
    let table = match rows.into() {
        PaidRows::Memory(rows) => Paid::Memory { rows, people: payer.disjoint_people.as_deref() },
        PaidRows::Files(files) => Paid::Files(files),
    };
    let bill = payment::Bill {
        label: &payer.label,
        asked: bill.asked.unwrap_or_default(),
        user: user.as_deref(),
        relation: Relation::Same,
    };
    let paid = payment::pay(&mut store, &bill, table, open, run);
    let paid = paid.map_err(refused)?;
    // A result that was paid for is handed out though its job could not be closed.
    let number = paid.job;
    let open =
        |error| format!("job {number} stays open in the budget, and counted in full: {error}");
    Ok((paid.done, paid.open.map(open)))
}

/// A job that no budget holds.
pub fn unpaid(why: &str) -> Failure {
    refused(PaymentError::NoGuarantee(why.to_owned()))
}

/// Refuses a job that its budget cannot count, however much is left in it; nothing is asked or paid.
pub fn countable<R: Payable>(
    budget: &PayingBudget,
    bill: &JobBill,
    ready: &R,
) -> Result<(), Failure> {
    let store = Store::open_to_read(&budget.path).map_err(Failure::Budget)?;
    let user = bill.user(budget, &store)?;
    payment::countable(&store, user.as_deref(), ready).map_err(refused)
}
