//! Which job of a budget paid for a model.

use reticent::Certificate;
use reticent::accountant::Ledger;
use reticent_budget::{BudgetError, Line};

/// What a budget planned for a run, and what the run did.
#[derive(Clone, Debug, PartialEq)]
pub struct Paid {
    /// The number of the job in the budget.
    pub job: u64,
    /// ε and δ that it asked for.
    pub asked: (f64, f64),
    /// How many events were planned.
    pub planned: u64,
    /// How many there are in the ledger.
    pub used: u64,
}

impl Paid {
    /// The job among the lines of a budget that planned just what a certificate's ledger has, if
    /// there is one that was not given back; no job is that of two models: those that were `taken`
    /// already are passed over.
    ///
    /// # Errors
    /// A line that cannot be written out.
    pub fn of(
        lines: &[Line],
        taken: &mut Vec<u64>,
        certificate: &Certificate,
    ) -> Result<Option<Self>, BudgetError> {
        for line in reserved(lines).into_iter().rev() {
            if taken.contains(&line.number()) {
                continue;
            }
            if let Some(paid) = Self::on(line, certificate)? {
                taken.push(paid.job);
                return Ok(Some(paid));
            }
        }
        Ok(None)
    }

    /// The job of this number, for whoever knows which one paid: several may have the same plan. It
    /// is none if it was given back, or planned something else than a certificate's ledger has.
    ///
    /// # Errors
    /// A line that cannot be written out.
    pub fn by(
        lines: &[Line],
        job: u64,
        certificate: &Certificate,
    ) -> Result<Option<Self>, BudgetError> {
        let line = reserved(lines).into_iter().find(|line| line.number() == job);
        line.map_or(Ok(None), |line| Self::on(line, certificate))
    }

    /// What a line reserved, if it is just what the ledger has.
    fn on(line: &Line, certificate: &Certificate) -> Result<Option<Self>, BudgetError> {
        let exported = line.export()?;
        let body = &exported["body"];
        let plan = serde_json::from_value::<Ledger>(body["ledger"].clone()).ok();
        let of = |name: &str| body[name].as_f64().unwrap_or(f64::INFINITY);
        Ok(plan.filter(|plan| *plan == certificate.ledger).map(|plan| Paid {
            job: line.number(),
            asked: (of("epsilon"), of("delta")),
            planned: plan.total_events(),
            used: certificate.ledger.total_events(),
        }))
    }
}

/// The lines of jobs that were not given back.
fn reserved(lines: &[Line]) -> Vec<&Line> {
    let back: Vec<Option<u64>> =
        lines.iter().filter(|line| line.kind() == "released").map(Line::job).collect();
    let counts = |line: &&Line| line.kind() == "reserved" && !back.contains(&Some(line.number()));
    lines.iter().filter(counts).collect()
}
