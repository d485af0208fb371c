//! A page about a model and the budget that paid for it.

use std::path::PathBuf;

use pyo3::prelude::*;
use reticent::Document;
use reticent::internal::{check_new, write_text};
use reticent_budget::Store;
use reticent_report::{BudgetAccount, Findings, PayingJob, ReportSubject};

use crate::error::Failure;
use crate::model::PyModel;

/// So many moments of a budget are drawn.
const MOMENTS: usize = 400;

/// Writes the page, without holding the interpreter's lock.
#[pyfunction]
pub fn report(
    py: Python<'_>,
    model: &PyModel,
    name: &str,
    budget: Option<PathBuf>,
    path: PathBuf,
    overwrite: bool,
) -> Result<(), Failure> {
    py.detach(|| {
        check_new(&path, overwrite)?;
        let (mut account, mut paid) = (None, None);
        if let Some(file) = &budget {
            let store = Store::open_to_read(file).map_err(Failure::Budget)?;
            let lines = store.lines().map_err(Failure::Budget)?;
            let found = PayingJob::of(&lines, &mut Vec::new(), model.0.certificate());
            // Here every budget names what it paid for: one that does not has paid for something else.
            paid = found.map_err(Failure::Budget)?.filter(|paid| paid.exact);
            let summary = store.summary().map_err(Failure::Budget)?;
            let course = store.spending_history(MOMENTS).map_err(Failure::Budget)?;
            let called = file.file_name().map(|name| name.to_string_lossy().into_owned());
            account = Some(BudgetAccount::new(&called.unwrap_or_default(), summary, course));
        }
        let findings = Findings::of(&Document::parse(&model.0.to_json()?)?);
        let subject = ReportSubject::of_model(name, model.0.clone(), findings)?.paid_by(paid);
        let page = reticent_report::report(&[subject], account.as_ref());
        Ok(write_text(page.html(), &path)?)
    })
}
