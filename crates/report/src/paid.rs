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
        let back: Vec<Option<u64>> =
            lines.iter().filter(|line| line.kind() == "released").map(Line::job).collect();
        let counts = |line: &&Line| {
            line.kind() == "reserved"
                && !back.contains(&Some(line.number()))
                && !taken.contains(&line.number())
        };
        for line in lines.iter().rev().filter(counts) {
            let exported = line.export()?;
            let body = &exported["body"];
            let Ok(plan) = serde_json::from_value::<Ledger>(body["ledger"].clone()) else {
                continue;
            };
            let of = |name: &str| body[name].as_f64().unwrap_or(f64::INFINITY);
            if plan == certificate.ledger {
                taken.push(line.number());
                return Ok(Some(Paid {
                    job: line.number(),
                    asked: (of("epsilon"), of("delta")),
                    planned: plan.total_events(),
                    used: certificate.ledger.total_events(),
                }));
            }
        }
        Ok(None)
    }
}
