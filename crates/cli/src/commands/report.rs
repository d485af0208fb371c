//! `reticent report`: one page about models and their budget, which needs no network.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use reticent::Document;
use reticent::internal::{check_new, write_text};
use reticent_budget::{BudgetError, Store};
use reticent_core::calendar::day_text;
use reticent_report::{BudgetAccount, Findings, PayingJob, ReportHead, ReportSubject, report_with};
use serde::Serialize;

use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::number::JsonNumber;
use crate::progress::waiting;

#[derive(Debug, Args)]
#[command(
    after_help = "The page is self-contained: it loads nothing, needs no script, and can be printed or passed on \
                        (docs/report.md)."
)]
pub struct ReportArgs {
    /// The models: each a model.json, a certificate.json, or the folder that they are in
    #[arg(value_name = "MODEL", required_unless_present = "budget")]
    models: Vec<PathBuf>,

    /// The budget that paid for them
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,

    /// The name of the data set on the page [default: the budget's]
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,

    /// The page to write
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,

    /// Overwrite an existing page
    #[arg(long)]
    force: bool,
}

/// The page, and the models on it.
#[derive(Serialize)]
struct WrittenReport<'a> {
    out: &'a Path,
    bytes: usize,
    models: Vec<ReportedModel<'a>>,
}

/// A model of a report.
#[derive(Serialize)]
struct ReportedModel<'a> {
    model: &'a Path,
    sound: bool,
    epsilon: JsonNumber,
    job: Option<u64>,
}

/// So many moments of a budget are drawn.
pub const MOMENTS: usize = 400;

impl ReportArgs {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        check_new(&self.out, self.force)?;
        let store = self.budget.as_deref().map(Store::open_to_read).transpose();
        let store = store.map_err(CommandFailure::Budget)?;
        let lines =
            store.as_ref().map_or(Ok(Vec::new()), Store::lines).map_err(CommandFailure::Budget)?;
        let (mut subjects, mut taken) = (Vec::with_capacity(self.models.len()), Vec::new());
        for path in &self.models {
            let document = Document::read(path)?;
            let certificate = document.certificate();
            let paid =
                PayingJob::of(&lines, &mut taken, certificate).map_err(CommandFailure::Budget)?;
            let name = path.display().to_string();
            let count = || {
                let found = Findings::of(&document);
                match document.model() {
                    Some(model) => ReportSubject::of_model(&name, model.clone(), found),
                    None => ReportSubject::of_certificate(&name, certificate.clone(), found),
                }
            };
            subjects.push(waiting("counting", count)?.paid_by(paid));
        }
        let account = match (&store, &self.budget) {
            (Some(store), Some(file)) => {
                Some(account(store, file).map_err(CommandFailure::Budget)?)
            }
            _ => None,
        };
        let head = ReportHead { day: Some(today()), dataset: self.dataset.clone() };
        let page = report_with(&subjects, account.as_ref(), &head).into_html();
        write_text(&page, &self.out)?;
        let models = self.models.iter().zip(&subjects);
        let models = models.map(|(model, subject)| ReportedModel {
            model,
            sound: subject.is_sound(),
            epsilon: subject.epsilon().into(),
            job: subject.paying_job().map(|paid| paid.job),
        });
        let written = WrittenReport { out: &self.out, bytes: page.len(), models: models.collect() };
        let unsound = self.models.iter().zip(&subjects).filter(|(_, subject)| !subject.is_sound());
        let remark = |path: &Path| {
            format!("NOT PRIVATE: {} is no guarantee; the page says why.", path.display())
        };
        let mut remarks: Vec<String> = unsound.map(|(path, _)| remark(path)).collect();
        let unpaid =
            self.models.iter().zip(&subjects).filter(|(_, subject)| subject.paying_job().is_none());
        if let Some(budget) = &self.budget {
            remarks.extend(unpaid.map(|(path, _)| {
                let (model, budget) = (path.display(), budget.display());
                format!("{model} was not paid by {budget}: the page says so. `reticent budget import` records it \
                         there.")
            }));
        }
        let text = format!("Wrote {} ({} kB).\n", self.out.display(), page.len().div_ceil(1000));
        Ok(Answer { remarks, ..Answer::of(text, &written) })
    }
}

/// A budget as a page has it.
pub fn account(store: &Store, file: &Path) -> Result<BudgetAccount, BudgetError> {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(BudgetAccount::new(
        &name.unwrap_or_default(),
        store.summary()?,
        store.spending_history(MOMENTS)?,
    ))
}

/// The day, by the clock of this machine (UTC).
fn today() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    day_text(since.map_or(0, |since| (since.as_secs() / 86_400) as i64))
}
