//! `reticent account`: what a list of events costs, by every method side by side.

use std::path::{Path, PathBuf};

use clap::Args;
use reticent::accountant::{
    AccountError, Adjacency, Bound, Ledger, Method, ReportLine, Unit, View,
};
use reticent::internal::{check_new, write_text};
use reticent::{Error, Scope, Verdict};
use reticent_plot::{Axis, Plot, PlotCurve};
use serde::Serialize;
use serde_json::Value;

use super::shared::{UnprovenEpsilons, shouted};
use crate::answer::Answer;
use crate::event_text::{ledger, mechanism, sampled};
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number::{self, JsonNumber, show, show_delta};
use crate::progress::waiting;
use crate::promise_flags::NeighbourFlags;

#[derive(Debug, Args)]
pub struct Account {
    /// The mechanism of a step, for example gaussian:z=2 (z: noise over the clip of a record)
    #[arg(long, required_unless_present = "ledger", conflicts_with = "ledger")]
    event: Option<String>,

    /// The number of steps
    #[arg(long, default_value_t = 1, value_parser = number::times, allow_negative_numbers = true)]
    steps: u64,

    /// The sampling of records: full, poisson:RATE or wor:SIZE/POPULATION
    #[arg(long)]
    sampling: Option<String>,

    #[command(flatten)]
    neighbours: NeighbourFlags,

    /// Count a ledger instead: a JSON file, a certificate.json or a model.json
    #[arg(long)]
    ledger: Option<PathBuf>,

    /// The additive slack δ of the guarantee
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse, default_value = "1e-5")]
    delta: f64,

    /// Give δ at this ε instead of ε at δ
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse)]
    epsilon: Option<f64>,

    /// Draw ε against δ into this SVG file
    #[arg(long)]
    plot: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long, requires = "plot")]
    force: bool,
}

impl Account {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        if let Some(path) = &self.plot {
            check_new(path, self.force)?;
        }
        let otherwise = self.neighbours.scope(View::Central);
        let ledger = match (&self.event, &self.ledger) {
            (Some(event), _) => ledger(
                sampled(mechanism(event)?, self.sampling.as_deref())?,
                self.steps,
                otherwise,
            )?,
            (None, Some(path)) => read_ledger(path)?,
            (None, None) => Ledger::new(),
        };
        let of = |error: AccountError| CommandFailure::of("account", error.into());
        let count = || match self.epsilon {
            None => Verdict::of(&ledger, self.delta, otherwise),
            Some(epsilon) => Verdict::at(&ledger, epsilon, otherwise),
        };
        let verdict = waiting("counting", count).map_err(of)?;
        if self.delta == 0.0
            && self.epsilon.is_none()
            && ledger.taints().is_empty()
            && !verdict.certified
        {
            return Err(without_delta("these events have"));
        }
        let plotted = self.plot.as_deref();
        let mut answer = match self.epsilon {
            None => epsilon_answer(&ledger, &verdict, plotted).map_err(of)?,
            Some(epsilon) => delta_answer(&ledger, &verdict, epsilon, plotted).map_err(of)?,
        };
        if let Some(path) = plotted {
            if !verdict.certified {
                return Err(CommandFailure::Usage {
                    message: format!("there is no curve to draw: {}", verdict.reasons.join("; ")),
                    hint: "leave out --plot".to_owned(),
                });
            }
            write_text(&plot(&ledger)?, path)?;
            answer.text += &format!("\nThe curve is in {}.\n", path.display());
        }
        Ok(answer)
    }
}

/// What is said of a ledger whatever is asked.
#[derive(Serialize)]
struct LedgerFields<'a> {
    certified: bool,
    reasons: &'a [String],
    meaning: &'a str,
    events: u64,
    #[serde(flatten)]
    without_guarantee: UnprovenEpsilons,
    #[serde(flatten)]
    scope: ScopeFields,
    #[serde(skip_serializing_if = "Option::is_none")]
    plot: Option<&'a Path>,
}

impl<'a> LedgerFields<'a> {
    fn of(ledger: &Ledger, verdict: &'a Verdict, plot: Option<&'a Path>) -> Self {
        let Verdict { claimed, counted, .. } = *verdict;
        LedgerFields {
            certified: verdict.certified,
            reasons: &verdict.reasons,
            meaning: &verdict.meaning,
            events: ledger.total_events(),
            without_guarantee: UnprovenEpsilons { claimed, counted },
            scope: verdict.scope.into(),
            plot,
        }
    }
}

/// What a ledger costs at δ.
#[derive(Serialize)]
struct CountedEpsilon<'a> {
    #[serde(flatten)]
    ledger: LedgerFields<'a>,
    epsilon: BoundFields,
    delta: f64,
    method: Method,
    all: Vec<MethodFields>,
}

/// What a ledger costs at ε.
#[derive(Serialize)]
struct CountedDelta<'a> {
    #[serde(flatten)]
    ledger: LedgerFields<'a>,
    epsilon: f64,
    delta: BoundFields,
    method: Method,
}

/// What one method says.
#[derive(Serialize)]
struct MethodFields {
    method: Method,
    epsilon: Option<BoundFields>,
    note: String,
}

impl From<&ReportLine> for MethodFields {
    fn from(line: &ReportLine) -> Self {
        let (epsilon, note) = match &line.bound {
            Ok(bound) => (Some(BoundFields::from(bound)), line.note.to_owned()),
            Err(reason) => (None, reason.clone()),
        };
        MethodFields { method: line.method, epsilon, note }
    }
}

/// Two bounds on one number.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct BoundFields {
    lower: JsonNumber,
    upper: JsonNumber,
}

impl From<&Bound> for BoundFields {
    fn from(bound: &Bound) -> Self {
        BoundFields { lower: bound.lower.into(), upper: bound.upper.into() }
    }
}

/// Whom a number is about.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct ScopeFields {
    adjacency: Adjacency,
    unit: Unit,
    view: View,
}

impl From<Scope> for ScopeFields {
    fn from(Scope { adjacency, unit, view }: Scope) -> Self {
        ScopeFields { adjacency, unit, view }
    }
}

fn epsilon_answer(
    ledger: &Ledger,
    verdict: &Verdict,
    plotted: Option<&Path>,
) -> Result<Answer, AccountError> {
    let Bound { lower, upper, method } = verdict.epsilon;
    let mut text = columns(&rows(ledger, &[("δ", show_delta(verdict.delta))]), 2, 2);
    let methods =
        Verdict::methods(ledger, verdict.delta)?.map_or_else(Vec::new, |report| report.lines);
    if verdict.certified {
        let bounds = format!(
            "ε is at most {upper:.6}, and no analysis of all that was released can give less than {lower:.6} (by \
             {method})."
        );
        text += &format!("\n{}\n", wrapped(&bounds));
        let mut lines = vec![["method", "lower", "upper", "remark"].map(str::to_owned).to_vec()];
        lines.extend(methods.iter().map(|line| match &line.bound {
            Ok(bound) => {
                vec![
                    line.method.to_string(),
                    show(bound.lower),
                    show(bound.upper),
                    line.note.to_owned(),
                ]
            }
            Err(reason) => {
                vec![line.method.to_string(), "–".to_owned(), "–".to_owned(), reason.clone()]
            }
        }));
        text += &columns(&lines, 2, 4);
    } else {
        text += &format!("\n{}", wrapped(&verdict.meaning));
    }
    let counted = CountedEpsilon {
        ledger: LedgerFields::of(ledger, verdict, plotted),
        epsilon: (&verdict.epsilon).into(),
        delta: verdict.delta,
        method,
        all: methods.iter().map(MethodFields::from).collect(),
    };
    Ok(Answer { remarks: remarks(verdict), ..Answer::of(text, &counted) })
}

fn delta_answer(
    ledger: &Ledger,
    verdict: &Verdict,
    epsilon: f64,
    plotted: Option<&Path>,
) -> Result<Answer, AccountError> {
    let delta = Verdict::delta_at(ledger, epsilon)?;
    let Bound { lower, upper, method } = delta;
    let mut text = columns(&rows(ledger, &[("ε", epsilon.to_string())]), 2, 2);
    let tainted = !ledger.taints().is_empty();
    text += &wrapped(&if tainted {
        verdict.meaning.clone()
    } else {
        format!(
            "δ is at most {upper:e}, and no analysis of all that was released can give less than {lower:e} (by \
             {method})."
        )
    });
    let counted = CountedDelta {
        ledger: LedgerFields::of(ledger, verdict, plotted),
        epsilon,
        delta: (&delta).into(),
        method,
    };
    let remarks = if tainted { remarks(verdict) } else { Vec::new() };
    Ok(Answer { remarks, ..Answer::of(text, &counted) })
}

fn remarks(verdict: &Verdict) -> Vec<String> {
    (!verdict.certified).then(|| shouted(&verdict.reasons)).into_iter().collect()
}

fn rows(ledger: &Ledger, more: &[(&str, String)]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = ledger
        .entries()
        .iter()
        .map(|entry| vec![format!("{} ×", entry.count()), entry.event().to_string()])
        .collect();
    rows.extend(more.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]));
    rows
}

/// The refusal of a δ of 0 where that makes every ε infinite.
pub(super) fn without_delta(what: &str) -> CommandFailure {
    CommandFailure::Usage {
        message: format!("delta = 0: {what} no epsilon that holds without exception"),
        hint: "give a delta above 0, for example 1e-5; pure-dp and laplace events have an epsilon at 0"
            .to_owned(),
    }
}

/// A ledger by itself, or the one inside a certificate or a model.
fn read_ledger(path: &Path) -> Result<Ledger, CommandFailure> {
    let refuse = |message: String| CommandFailure::Usage {
        message: format!("{}: {message}", path.display()),
        hint: "give a ledger, a certificate.json or a model.json that `reticent fit` wrote"
            .to_owned(),
    };
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.kind().to_string()))?;
    let mut value: Value =
        serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
    for part in ["certificate", "ledger"] {
        if value.get(part).is_some() {
            value = value[part].take();
        }
    }
    serde_json::from_value(value).map_err(|error| refuse(error.to_string()))
}

/// ε against δ, the interval between the bounds.
fn plot(ledger: &Ledger) -> Result<String, Error> {
    let deltas: Vec<f64> = (4..=48).map(|quarter| 10_f64.powf(f64::from(-quarter) / 4.0)).collect();
    let points = Verdict::curve(ledger, &deltas)?;
    let line =
        |of: fn(&Bound) -> f64| points.iter().map(|(delta, bound)| (*delta, of(bound))).collect();
    let band = points.iter().map(|(delta, bound)| (*delta, bound.lower, bound.upper)).collect();
    let title = "What the run costs: ε at each δ";
    let x = Axis::log("δ (the additive slack of the guarantee)");
    let plot = Plot::new(title, x, Axis::linear("ε").from_zero())
        .described(&in_words(&points))
        .with(
            PlotCurve::line("upper bound (promise this)", line(|bound| bound.upper))
                .with_band(band),
        )
        .with(PlotCurve::line("lower bound", line(|bound| bound.lower)));
    Ok(plot.to_file())
}

/// The curve for whoever does not see it.
fn in_words(points: &[(f64, Bound)]) -> String {
    let at = |(delta, bound): &(f64, Bound)| {
        format!("at most {} at δ = {}", number::show_up(bound.upper), show_delta(*delta))
    };
    let said: Vec<String> = points.iter().step_by(11).map(at).collect();
    format!("ε is {}.", said.join(", "))
}
