//! Statistics of a column, and counts, under attack: the adversary knows the two tables, and looks at
//! all answers together along the line that leads from one to the other.

use reticent::accountant::Ledger;
use reticent::internal::{Repeat, Seen};
use reticent::tables::{Schema, Target};
use reticent::{
    Averaging, Binning, Budget, Counting, Error, Fit, Partition, Ranking, Statistics, Unit,
};
use reticent_data::{Rows, Table};

use crate::spec::AuditSpec;

/// What the map calls them.
pub(crate) const NAMES: [&str; 4] = ["count", "mean", "histogram", "quantile"];

/// The one column, from −1 to 1.
const COLUMN: &str = "1";

/// A calibrated question.
#[derive(Debug)]
enum AuditedQuestion {
    Count(Repeat<Counting>),
    Mean(Repeat<Averaging>),
    Histogram(Repeat<Binning>),
    Quantile(Repeat<Ranking>),
}

/// The same for any of them.
macro_rules! each {
    ($asked:expr, $repeat:ident => $does:expr) => {
        match $asked {
            AuditedQuestion::Count($repeat) => $does,
            AuditedQuestion::Mean($repeat) => $does,
            AuditedQuestion::Histogram($repeat) => $does,
            AuditedQuestion::Quantile($repeat) => $does,
        }
    };
}

/// A calibrated question, and the line along which its answers are looked at.
#[derive(Debug)]
pub(crate) struct StatisticSubject {
    asked: AuditedQuestion,
    line: Vec<f64>,
}

/// A calibrated count: of each of three classes, of which every threshold between two is asked for, or
/// of all.
fn counting(spec: &AuditSpec) -> Result<Repeat<Counting>, Error> {
    let target = Target::classes(["0", "1", "2"])?;
    let schema = Schema::bounded(&[(-1.0, 1.0)], target)?;
    let mut fit = Fit::new(schema)
        .budget(Budget::new(spec.epsilon, spec.delta)?)
        .adjacency(spec.adjacency)
        .unit(spec.unit());
    if let Some(seed) = spec.seed {
        fit = fit.seed(seed);
    }
    fit.count(spec.is_of_classes())?.repeat(classed(spec.like()).into())
}

/// The target as a class: a canary has the first, which every threshold counts, and one that is turned
/// the last, which none does.
fn classed(mut table: Table) -> Table {
    table.targets.iter_mut().for_each(|target| *target = 1.0 - *target);
    table
}

impl AuditedQuestion {
    /// The world as it is attacked: of a quantile with the canary, which is at the upper bound, at
    /// the lower. Both worlds are turned, and stay neighbours.
    fn turned(&self, mut table: Table) -> Table {
        match (self, &mut table.rows) {
            (AuditedQuestion::Quantile(_), Rows::Dense(rows)) => {
                rows.values.iter_mut().for_each(|value| *value = -*value);
            }
            (AuditedQuestion::Count(_), _) => table = classed(table),
            _ => {}
        }
        table
    }
}

impl StatisticSubject {
    pub fn new(spec: &AuditSpec) -> Result<Self, Error> {
        #[allow(unused_mut, reason = "a defect is switched on in audit builds alone")]
        let mut asked = match spec.algorithm.as_str() {
            "count" => AuditedQuestion::Count(counting(spec)?),
            _ => of_column(spec)?,
        };
        let line = line(spec, &asked)?;
        #[cfg(reticent_seeded_bugs)]
        if let Some(bug) = spec.bug {
            each!(&mut asked, repeat => repeat.spoil(bug));
        }
        Ok(StatisticSubject { asked, line })
    }

    /// The answer on a table, along the line.
    pub fn run(&self, table: Table, number: u64) -> Result<Seen, Error> {
        let table = self.asked.turned(table);
        let mut seen = each!(&self.asked, repeat => repeat.run(table.into(), number))?;
        let answers = seen.transcript.iter().flatten();
        let along = answers.zip(&self.line).map(|(answer, line)| answer * line).sum();
        seen.transcript = vec![vec![along]];
        Ok(seen)
    }

    pub fn epsilon(&self) -> Result<f64, Error> {
        each!(&self.asked, repeat => repeat.epsilon())
    }

    pub fn plan_at(&self, scale: f64) -> Result<Ledger, Error> {
        each!(&self.asked, repeat => repeat.plan_at(scale))
    }

    /// μ of what is seen, where that is Gaussian: of a quantile it is not.
    pub fn mu(&self) -> Option<f64> {
        match &self.asked {
            AuditedQuestion::Quantile(_) => None,
            other => each!(other, repeat => repeat.mu()),
        }
    }
}

/// A calibrated question about the column.
fn of_column(spec: &AuditSpec) -> Result<AuditedQuestion, Error> {
    let schema = Schema::bounded(&[(-1.0, 1.0)], Target::range(-1.0, 1.0)?)?;
    let budget = Budget::new(spec.epsilon, spec.delta)?;
    let mut statistics =
        Statistics::new(schema).budget(budget).adjacency(spec.adjacency).unit(spec.unit());
    if let Some(seed) = spec.seed {
        statistics = statistics.seed(seed);
    }
    let like = spec.like();
    let units = if spec.unit() == Unit::User { like.user_count() } else { like.len() } as u64;
    Ok(match spec.algorithm.as_str() {
        // Without a public number: more is asked.
        "mean" => AuditedQuestion::Mean(statistics.mean([COLUMN])?.repeat(like.into())?),
        "histogram" => {
            let job = statistics.histogram([COLUMN], &Partition::Equal(2))?;
            AuditedQuestion::Histogram(job.repeat(like.into())?)
        }
        // One count has all of the noise: whether half a unit is at the lower bound, where the
        // canary is (see `turned`).
        _ => {
            let fraction = [0.5 / units as f64];
            let statistics = statistics.public_n(units);
            let job = statistics.quantiles([COLUMN], &fraction, Some(2.0))?;
            AuditedQuestion::Quantile(job.repeat(like.into())?)
        }
    })
}

/// The way from one world to the other, of the pair whose worlds are the furthest apart. The numbers
/// of an answer have all the same noise.
fn line(spec: &AuditSpec, asked: &AuditedQuestion) -> Result<Vec<f64>, Error> {
    let mut best = Vec::new();
    let length = |way: &[f64]| way.iter().map(|v| v * v).sum::<f64>();
    for pair in spec.pairs() {
        let [with, without] = [true, false].map(|with| {
            let table = asked.turned(pair.world(with, &spec.layout()).swap_remove(0));
            each!(asked, repeat => repeat.without_noise(table))
        });
        let way: Vec<f64> = with?.into_iter().zip(without?).map(|(a, b)| a - b).collect();
        if best.is_empty() || length(&way) > length(&best) {
            best = way;
        }
    }
    Ok(best)
}
