//! How a budget went: what was counted after each line that changed it.

use crate::books::HistoryBooks;
use crate::error::BudgetError;
use crate::line::{HistoryLine, LineKind};

/// The counted cost after a line of the history.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SpendingPoint {
    /// The number of the line.
    pub line: u64,
    /// When it was written.
    pub time: String,
    /// The job that it is about.
    pub job: Option<u64>,
    /// The counted cost at that time, for each group of people that existed: see
    /// [`Group::counted`](crate::GroupSummary::counted).
    pub counted: Vec<f64>,
}

/// The lines after which something else may be counted, at most so many of them: the last ones, and
/// others from the whole length. The first line is among them.
pub(crate) fn spending_history(
    lines: &[HistoryLine],
    at_most: usize,
) -> Result<Vec<SpendingPoint>, BudgetError> {
    let all: Vec<u64> = lines.iter().filter(|line| counts(line.kind)).map(|l| l.number).collect();
    let last = all.len().saturating_sub(1);
    let steps = at_most.max(2).min(all.len()).saturating_sub(1).max(1);
    let shown: std::collections::BTreeSet<u64> =
        (0..=steps).filter_map(|step| all.get(step * last / steps).copied()).collect();
    let mut moments = Vec::new();
    let Some(first) = lines.first() else { return Ok(moments) };
    let mut books = HistoryBooks::replay(std::slice::from_ref(first))?;
    for (place, line) in lines.iter().enumerate() {
        if place > 0 {
            books.take(line)?;
        }
        if place + 1 == lines.len() {
            books.count_doubtful_for_everybody();
        }
        if shown.contains(&line.number) {
            let counted = |people| books.filter.reading(&books.spent(people));
            moments.push(SpendingPoint {
                line: line.number,
                time: line.time.clone(),
                job: line.job,
                counted: (1..=books.groups()).map(counted).collect(),
            });
        }
    }
    Ok(moments)
}

fn counts(kind: LineKind) -> bool {
    !matches!(kind, LineKind::Table | LineKind::Users | LineKind::Forfeited)
}
