//! A job that pays: what it plans is reserved in the budget of its data set before anything is
//! asked, and settled after. Whatever happens between leaves it counted in full.

use std::path::PathBuf;

use pyo3::prelude::*;
use reticent::accountant::Ledger;
use reticent::{Error, Payable, Watch, unplanned};
use reticent_budget::{Relation, Request, Store, Table};

use crate::error::Failure;
use crate::watch::Signals;

/// What a table in memory is known as: every one of them is an edition of the data set that the
/// budget belongs to, so that whatever is asked of any of them adds up. A fold of a cross-validation
/// is one more edition, and no content could tell it from another table.
const IN_MEMORY: [u8; 32] = [0; 32];

/// What a budget calls the groups that are given beside a table.
const GROUPS: &str = "groups";

/// The budget that pays, and what the job is called in it.
#[derive(FromPyObject)]
pub struct Payer {
    #[pyo3(item("path"))]
    path: PathBuf,
    #[pyo3(item("label"))]
    label: String,
}

/// What must not be overlooked about the budget that paid.
pub type Receipt = Option<String>;

/// What a job asks of its budget.
#[derive(Clone, Debug)]
pub struct Bill {
    /// ε and δ, as they were asked for.
    pub asked: Option<(f64, f64)>,
    /// What the budget calls the column that says whose row it is.
    pub user: Option<String>,
}

impl Bill {
    /// `column` is that of the schema; groups beside the table stand in for one.
    pub fn new(asked: Option<(f64, f64)>, column: Option<String>, grouped: bool) -> Self {
        Bill { asked, user: column.or_else(|| grouped.then(|| GROUPS.to_owned())) }
    }
}

/// Does the job that `open` opens, and stops where somebody presses Ctrl-C. Gives what came of it,
/// and the receipt.
pub fn perform<R: Payable>(
    budget: Option<Payer>,
    bill: Bill,
    open: impl FnOnce(&mut Watch<'_>) -> Result<R, Error>,
) -> Result<(R::Done, Receipt), Failure> {
    let mut signals = Signals::new();
    let mut watch = |stage| signals.watch(stage);
    let Some(Payer { path, label }) = budget else {
        return Ok((open(&mut watch)?.run(&mut watch)?, None));
    };
    let mut store = Store::open(&path).map_err(Failure::Budget)?;
    let ready = open(&mut watch)?;
    let plans = ready.plans();
    let (plan, others) = plans.split_first().ok_or_else(|| unpaid("it has no noise"))?;
    if let Some(taint) = plans.iter().find_map(|plan| plan.taints().first()) {
        return Err(unpaid(&taint.to_string()));
    }
    let asked = bill.asked.unwrap_or_default();
    let table = Table { fingerprint: IN_MEMORY, relation: Relation::NewEdition };
    let request = Request { label: &label, asked, plan, table, user: bill.user.as_deref() };
    let reservation = store.reserve_between(&request, others).map_err(Failure::Budget)?;
    let number = reservation.job();
    let (done, closed) = match ready.run(&mut watch) {
        Ok(done) => {
            let more = unplanned(&plans, R::ledgers(&done));
            let closed = store.settle_for(&reservation, &more, R::digest(&done));
            (Ok(done), closed)
        }
        // Something was asked: the plan stays counted.
        Err(error @ (Error::Spent { .. } | Error::Unfinished { .. })) => {
            (Err(error), store.settle(&reservation, &Ledger::new()))
        }
        Err(error) => (Err(error), store.release(reservation)),
    };
    // A result that was paid for is handed out though its job could not be closed.
    let open =
        |error| format!("job {number} stays open in the budget, and counted in full: {error}");
    Ok((done?, closed.err().map(open)))
}

/// A job that no budget holds.
pub fn unpaid(why: &str) -> Failure {
    Failure::NotCertified(format!(
        "no budget holds this job: {why}; nothing was reserved, and nothing was asked"
    ))
}

/// Refuses a job that its budget cannot count, however much is left in it; nothing is asked or paid.
pub fn countable<R: Payable>(budget: &Payer, bill: &Bill, ready: &R) -> Result<(), Failure> {
    let store = Store::open_to_read(&budget.path).map_err(Failure::Budget)?;
    for plan in ready.plans() {
        store.can_count(&plan, bill.user.as_deref()).map_err(Failure::Budget)?;
    }
    Ok(())
}
