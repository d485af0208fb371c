//! Which job of a budget paid for a model.

use reticent::Certificate;
use reticent::accountant::Ledger;
use reticent_budget::{BudgetError, HistoryLine};
use serde_json::Value;

/// What a budget planned for a run, and what the run did.
#[derive(Clone, Debug, PartialEq)]
pub struct PayingJob {
    /// The number of the job in the budget.
    pub job: u64,
    /// Its place among the jobs, from 1.
    pub ordinal: usize,
    /// ε and δ that it asked for.
    pub asked: (f64, f64),
    /// How many events were planned.
    pub planned: u64,
    /// How many there are in the ledger.
    pub used: u64,
    /// Whether the budget names the certificate; otherwise it has a job with just this plan, and
    /// another model of the same plan may be the one that it paid for.
    pub exact: bool,
}

impl PayingJob {
    /// The job of a budget that paid for what a certificate is about: the one whose last line names
    /// the certificate, or, of jobs that name none, one that planned just what its ledger has. Jobs
    /// that were given back are none, and no job is that of two models: those that were `taken`
    /// already are passed over.
    ///
    /// # Errors
    /// A line that cannot be written out.
    pub fn of(
        lines: &[HistoryLine],
        taken: &mut Vec<u64>,
        certificate: &Certificate,
    ) -> Result<Option<Self>, BudgetError> {
        let named = named(lines)?;
        let digest = certificate.digest.as_ref();
        let same: Vec<u64> =
            named.iter().filter(|(_, known)| Some(known) == digest).map(|&(job, _)| job).collect();
        // What has no model may have the very certificate of another: then either job may be its own.
        let exact = same.len() == 1;
        let names_it = |line: &HistoryLine| match same.is_empty() {
            true => named.iter().all(|&(job, _)| job != line.number()),
            false => same.contains(&line.number()),
        };
        for line in reserved(lines).into_iter().rev() {
            if taken.contains(&line.number()) || !names_it(line) {
                continue;
            }
            if let Some(paid) = Self::on(line, certificate)? {
                taken.push(paid.job);
                let ordinal = ordinal(lines, paid.job);
                return Ok(Some(PayingJob { exact, ordinal, ..paid }));
            }
        }
        Ok(None)
    }

    /// What a line reserved, if one of its plans is just what the ledger has.
    fn on(line: &HistoryLine, certificate: &Certificate) -> Result<Option<Self>, BudgetError> {
        let body = body(line)?;
        let read = |plan: &Value| serde_json::from_value::<Ledger>(plan.clone()).ok();
        let others = body["between"].as_array().map_or(&[][..], Vec::as_slice);
        let mut plans = std::iter::once(&body["ledger"]).chain(others).filter_map(read);
        let of = |name: &str| body[name].as_f64().unwrap_or(f64::INFINITY);
        Ok(plans.find(|plan| *plan == certificate.ledger).map(|plan| PayingJob {
            job: line.number(),
            ordinal: 0,
            asked: (of("epsilon"), of("delta")),
            planned: plan.total_events(),
            used: certificate.ledger.total_events(),
            exact: false,
        }))
    }
}

/// The place of a job among all that there were, from 1.
fn ordinal(lines: &[HistoryLine], job: u64) -> usize {
    let begins = |line: &&HistoryLine| ["reserved", "imported"].contains(&line.kind());
    lines.iter().filter(begins).filter(|line| line.number() <= job).count()
}

fn body(line: &HistoryLine) -> Result<Value, BudgetError> {
    Ok(line.export()?["body"].take())
}

/// The jobs that name what came of them, each with the digest of its certificate.
fn named(lines: &[HistoryLine]) -> Result<Vec<(u64, String)>, BudgetError> {
    let mut found = Vec::new();
    for line in lines.iter().filter(|line| line.kind() == "settled") {
        let digest = body(line)?["certificate"].as_str().map(str::to_owned);
        found.extend(line.job().zip(digest));
    }
    Ok(found)
}

/// The lines of jobs that were not given back.
fn reserved(lines: &[HistoryLine]) -> Vec<&HistoryLine> {
    let back: Vec<Option<u64>> =
        lines.iter().filter(|line| line.kind() == "released").map(HistoryLine::job).collect();
    let counts =
        |line: &&HistoryLine| line.kind() == "reserved" && !back.contains(&Some(line.number()));
    lines.iter().filter(counts).collect()
}
