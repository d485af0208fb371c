//! `reticent audit`: a lower bound on ε from attacks on the product, beside what is certified.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use clap::Args;
use reticent::accountant::View;
use reticent::map::MapCell;
use reticent_audit::{
    AuditMethod, AuditReport, AuditSpec, CellReport, Sampling, audit_map, markdown,
};
use serde::Serialize;

use crate::answer::{ALARM, Answer};
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number::{self, show};
use crate::progress::JobBar;
use crate::promise_flags::NeighbourFlags;

const NOTE: &str = "A lower bound above the certified epsilon means that the program has a defect. One below it proves \
                    nothing: another attack may find more.";

#[derive(Debug, Args)]
#[command(
    after_help = NOTE,
    mut_arg("unit", |unit| unit.help("The unit of protection [default: a record of one table, a user among many \
                                      parties]"))
)]
pub struct Audit {
    /// The algorithm to attack
    #[arg(long, default_value = "ssadmm")]
    algorithm: String,

    /// The privacy loss ε of its runs
    #[arg(long, value_parser = number::parse, allow_negative_numbers = true, required_unless_present = "all")]
    epsilon: Option<f64>,

    /// The additive slack δ of its runs
    #[arg(long, value_parser = number::parse, allow_negative_numbers = true, required_unless_present = "all")]
    delta: Option<f64>,

    /// Attack every supported combination, at (4, 1e-3); exits with 1 on an alarm
    #[arg(long, conflicts_with_all = ["epsilon", "delta", "algorithm"])]
    all: bool,

    /// With --all: the table of docs/guarantees.md
    #[arg(long, requires = "all")]
    markdown: bool,

    /// With --all: only combinations of these algorithms
    #[arg(long, requires = "all", value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,

    #[command(flatten)]
    neighbours: NeighbourFlags,

    /// The records of each iteration: full, poisson:RATE or wor:SIZE
    #[arg(long, default_value_t)]
    sampling: Sampling,

    /// Iterations of a run
    #[arg(long, default_value_t = 1, value_parser = number::times, allow_negative_numbers = true)]
    iterations: u64,

    /// Runs in all, or in each combination; for one-run, the number of canaries
    #[arg(long, default_value_t = 40_000, value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    runs: u64,

    /// The method of the bound: threshold, gdp, profile or one-run
    #[arg(long, default_value_t)]
    method: AuditMethod,

    /// The confidence of the bound
    #[arg(long, default_value_t = 0.95, value_parser = number::parse)]
    confidence: f64,

    /// Attack the paper's own version, and compare the bound with the paper's claim
    /// (docs/errata.md)
    #[arg(long)]
    as_published: bool,

    /// The step size, if it applies: constant:η, sqrt:η or epoch:η
    #[arg(long)]
    step: Option<reticent::admm::StepSize>,

    /// The penalty, if it applies, as NAME[:NUMBER]
    #[arg(long)]
    penalty: Option<String>,

    /// The constraint on the one feature of the tables, if it applies
    #[arg(long)]
    constraint: Option<String>,

    /// Records of the larger table [default: as few as the sampling allows]
    #[arg(long)]
    records: Option<usize>,

    /// The trust model, for an algorithm of many parties: local, secure-aggregation, central or network
    /// [default: the usual one]
    #[arg(long)]
    trust: Option<View>,

    /// The number of parties, for an algorithm of many parties
    #[arg(long, default_value_t = 2, value_parser = number::whole::<u32>, allow_negative_numbers = true)]
    parties: u32,

    /// Whether users of a random walk keep state between visits: stateless or stateful
    #[arg(long)]
    walk: Option<reticent::admm::WalkState>,

    /// The output of a step on a graph: gradient, minimiser, objective or normal-objective
    #[arg(long)]
    release: Option<reticent::admm::Release>,

    /// A seed, to repeat the same runs
    #[arg(long, value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    seed: Option<u64>,

    /// A known defect to switch on, with the algorithm and the tables that it shows on
    #[cfg(reticent_seeded_bugs)]
    #[arg(long)]
    seeded_bug: Option<reticent_audit::Bug>,
}

impl Audit {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        if self.all {
            return self.map();
        }
        let spec = AuditSpec {
            algorithm: self.algorithm,
            epsilon: self.epsilon.unwrap_or(0.0),
            delta: self.delta.unwrap_or(0.0),
            adjacency: self.neighbours.adjacency.unwrap_or_default(),
            sampling: self.sampling,
            iterations: self.iterations,
            runs: self.runs,
            method: self.method,
            confidence: self.confidence,
            seed: self.seed,
            as_published: self.as_published,
            step: self.step,
            penalty: self.penalty,
            constraint: self.constraint,
            records: self.records,
            trust: self.trust,
            unit: self.neighbours.unit,
            parties: self.parties,
            walk: self.walk,
            release: self.release,
            ..AuditSpec::default()
        };
        #[cfg(reticent_seeded_bugs)]
        let spec = match self.seeded_bug {
            Some(bug) => spec.seeded(bug),
            None => spec,
        };
        let bar = Mutex::new(JobBar::new("run"));
        let report = reticent_audit::run_told(&spec, &told_by(&bar));
        bar.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
        let report = report.map_err(|error| CommandFailure::of("audit", error))?;
        let exceeded = report.exceeded.then(|| {
            if report.as_published {
                "The lower bound is above what the paper claims; the claim does not hold (docs/errata.md)"
                    .to_owned()
            } else {
                format!("{ALARM}: the lower bound is above what is certified; the guarantee does not hold")
            }
        });
        let remarks = exceeded.into_iter().collect();
        Ok(Answer { remarks, ..Answer::of(text(&report), &report) })
    }
}

/// The audit of every combination.
#[derive(Serialize)]
struct AuditedMap<'a> {
    cells: &'a [CellReport],
    alarms: usize,
}

impl Audit {
    /// Every combination.
    fn map(self) -> Result<Answer, CommandFailure> {
        let bar = Mutex::new(JobBar::new("combination"));
        let wanted = |cell: &MapCell| {
            self.only.is_empty() || self.only.iter().any(|name| name == cell.algorithm)
        };
        let reports = audit_map(self.runs, self.seed, wanted, &told_by(&bar));
        bar.into_inner().unwrap_or_else(PoisonError::into_inner).finish();
        let reports = reports.map_err(|error| CommandFailure::of("audit", error))?;
        let alarms: Vec<String> = reports
            .iter()
            .filter(|report| report.audit.exceeded)
            .map(|report| {
                let AuditReport { epsilon_lower, epsilon_certified, .. } = report.audit;
                let cell = report.cell.join(" · ");
                format!(
                    "{ALARM}: {cell}: ε is at least {}, certified {}",
                    show(epsilon_lower),
                    show(epsilon_certified)
                )
            })
            .collect();
        let text = if self.markdown { markdown(&reports) } else { list(&reports) };
        let audited = AuditedMap { cells: &reports, alarms: alarms.len() };
        Ok(Answer { remarks: alarms, ..Answer::of(text, &audited) })
    }
}

/// Has a bar hear of runs from several threads.
fn told_by(bar: &Mutex<JobBar>) -> impl Fn(u64, u64) -> ControlFlow<()> + Sync + '_ {
    |done, of| {
        // A bar that is being drawn is told the next time.
        if let Ok(mut bar) = bar.try_lock() {
            bar.iteration(done, of);
        }
        ControlFlow::Continue(())
    }
}

fn list(reports: &[CellReport]) -> String {
    let heads = [
        "algorithm",
        "version",
        "course",
        "trust",
        "unit",
        "neighbours",
        "sampling",
        "certified",
        "ε ≥",
        "share",
    ];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(reports.iter().map(|report| {
        let mut row: Vec<String> = report.cell.iter().map(|&word| word.to_owned()).collect();
        row.extend([
            format!("{:.3}", report.audit.epsilon_certified),
            format!("{:.2}", report.audit.epsilon_lower),
            format!("{:.0} %", 100.0 * report.share()),
        ]);
        row
    }));
    format!("{}\n{}", columns(&rows, 2, 7), wrapped(NOTE))
}

fn text(report: &AuditReport) -> String {
    let rows: Vec<_> = [
        ("algorithm", report.algorithm.clone()),
        ("neighbours", report.adjacency.to_string()),
        ("view", report.view.to_string()),
        (
            if report.as_published { "claimed ε" } else { "certified ε" },
            show(report.epsilon_certified),
        ),
        ("ε is at least", show(report.epsilon_lower)),
        ("δ", show(report.delta)),
        ("confidence", show(report.confidence)),
        ("method", report.method.to_string()),
        ("runs", report.runs.to_string()),
        ("pair", report.pair.to_string()),
        ("seeded bug", report.seeded_bug.clone().unwrap_or("none".to_owned())),
    ]
    .into_iter()
    .map(|(name, value)| vec![name.to_owned(), value])
    .collect();
    format!("{}\n{}", columns(&rows, 2, 1), wrapped(NOTE))
}
