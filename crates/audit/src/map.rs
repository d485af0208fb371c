//! The whole map under attack: every cell that is offered, its lower bound beside what is
//! certified.

use std::fmt::Write;

use reticent::Error;
use reticent::map::{Drawn, MapCell, MapRow, cells};
use serde::Serialize;

use crate::attack::Told;
use crate::report::AuditReport;
use crate::spec::AuditSpec;

/// What was found in one cell.
#[derive(Clone, Debug, Serialize)]
pub struct CellReport {
    /// The words of the cell: algorithm, version, course, view, unit, adjacency, sampling.
    pub cell: [&'static str; 7],
    /// The notes that it rests on.
    pub proofs: Vec<&'static str>,
    /// Why what is certified may be more than what is true; empty where nothing is lost that is
    /// known of.
    pub slack: &'static str,
    /// The audit.
    pub audit: AuditReport,
}

/// The share of the certified ε that an audit should find where the analysis is tight.
pub const TIGHT: f64 = 0.6;

impl CellReport {
    /// The lower bound as a part of what is certified.
    pub fn share(&self) -> f64 {
        self.audit.epsilon_lower / self.audit.epsilon_certified
    }
}

/// So many times the runs where units are drawn and the analysis is tight: what a sample gives away
/// shows in few of them. At rate ½ the best test of the exact curve at (4, 1e-3) is expected to
/// find 75 % with 6,000 runs and 90 % with 48,000; choosing the pair and the test costs up to a
/// quarter of that.
const DRAWN: u64 = 8;

/// Attacks every cell for which `wanted` holds, with so many runs each, and eight times as many
/// where a tight analysis of a sample is to be seen. `told` hears, at every run, how many of how
/// many cells are done, and may stop it.
pub fn audit_map(
    runs: u64,
    seed: Option<u64>,
    wanted: impl Fn(&MapCell) -> bool,
    told: &Told<'_>,
) -> Result<Vec<CellReport>, Error> {
    let all: Vec<(MapCell, &MapRow)> =
        cells().into_iter().filter(|(cell, _)| wanted(cell)).collect();
    let mut reports = Vec::with_capacity(all.len());
    for (i, (cell, row)) in all.iter().enumerate() {
        let seed = seed.map(|seed| seed.wrapping_add(i as u64));
        let rare = cell.drawn != Drawn::Full && row.slack(cell).is_empty();
        let runs = if rare { DRAWN * runs } else { runs };
        let done = |_, _| told(i as u64, all.len() as u64);
        let audit = crate::run_told(&AuditSpec::of(cell, runs, seed), &done)?;
        reports.push(CellReport {
            cell: cell.words(),
            proofs: row.notes(cell),
            slack: row.slack(cell),
            audit,
        });
    }
    Ok(reports)
}

/// The heads of the columns of [`markdown`]; the first seven are those of a cell.
const HEADS: [&str; 13] = [
    "algorithm",
    "version",
    "course",
    "trust",
    "unit",
    "neighbours",
    "sampling",
    "proofs",
    "pair",
    "statistic",
    "ε ≥",
    "share",
    "tight",
];

/// The rows of docs/guarantees.md.
pub fn markdown(reports: &[CellReport]) -> String {
    let mut text = format!("| {} |\n|{}\n", HEADS.join(" | "), " --- |".repeat(HEADS.len()));
    for report in reports {
        let notes: Vec<_> =
            report.proofs.iter().map(|note| format!("[{note}](../proofs/{note}.md)")).collect();
        let few = format!("yes, and {} runs are few", report.audit.runs);
        let tight = match report.slack {
            "" if report.share() >= TIGHT => "yes",
            "" => &few,
            slack => slack,
        };
        let statistic = format!("{:?}", report.audit.statistic).to_lowercase();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.2} | {:.0} % | {} |",
            report.cell.join(" | "),
            notes.join(", "),
            report.audit.pair,
            statistic,
            report.audit.epsilon_lower,
            100.0 * report.share(),
            tight
        );
    }
    text
}
