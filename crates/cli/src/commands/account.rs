//! `reticent account`: what a list of events costs, by every method side by side.

use std::path::PathBuf;

use clap::Args;
use reticent::accountant::{AccountError, Bound, Ledger, ReportLine, View};
use reticent::internal::{check_new, write_text};
use reticent::{Error, Scope, Verdict};
use reticent_plot::{Axis, Plot, PlotCurve};
use serde_json::{Value, json};

use super::shared::{asides, shouted};
use crate::answer::Answer;
use crate::event_text::{ledger, mechanism, sampled};
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number::{self, show, show_delta};
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
        let mut answer = match self.epsilon {
            None => epsilon_answer(&ledger, &verdict).map_err(of)?,
            Some(epsilon) => delta_answer(&ledger, &verdict, epsilon).map_err(of)?,
        };
        if let Some(path) = &self.plot {
            if !verdict.certified {
                return Err(CommandFailure::Usage {
                    message: format!("there is no curve to draw: {}", verdict.reasons.join("; ")),
                    hint: "leave out --plot".to_owned(),
                });
            }
            write_text(&plot(&ledger)?, path)?;
            answer.text += &format!("\nThe curve is in {}.\n", path.display());
            answer.object["plot"] = json!(path);
        }
        Ok(answer)
    }
}

fn epsilon_answer(ledger: &Ledger, verdict: &Verdict) -> Result<Answer, AccountError> {
    let Bound { lower, upper, method } = verdict.epsilon;
    let mut text = columns(&rows(ledger, &[("δ", show_delta(verdict.delta))]), 2, 2);
    let methods =
        Verdict::methods(ledger, verdict.delta)?.map_or_else(Vec::new, |report| report.lines);
    if verdict.certified {
        let bounds = format!(
            "ε is at most {upper:.6}, and no analysis of all that was released can give less than {lower:.6} (by {method})."
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
    let mut object = said(ledger, verdict);
    object["epsilon"] = bound(lower, upper);
    object["delta"] = json!(verdict.delta);
    object["method"] = json!(method.to_string());
    object["all"] = methods.iter().map(line).collect();
    Ok(Answer { text, object, remarks: remarks(verdict), ..Answer::default() })
}

fn delta_answer(ledger: &Ledger, verdict: &Verdict, epsilon: f64) -> Result<Answer, AccountError> {
    let Bound { lower, upper, method } = Verdict::delta_at(ledger, epsilon)?;
    let mut text = columns(&rows(ledger, &[("ε", epsilon.to_string())]), 2, 2);
    let tainted = !ledger.taints().is_empty();
    text += &wrapped(&if tainted {
        verdict.meaning.clone()
    } else {
        format!(
            "δ is at most {upper:e}, and no analysis of all that was released can give less than {lower:e} (by {method})."
        )
    });
    let mut object = said(ledger, verdict);
    object["epsilon"] = json!(epsilon);
    object["delta"] = bound(lower, upper);
    object["method"] = json!(method.to_string());
    Ok(Answer {
        text,
        object,
        remarks: if tainted { remarks(verdict) } else { Vec::new() },
        ..Answer::default()
    })
}

/// What is said of a ledger whatever is asked.
fn said(ledger: &Ledger, verdict: &Verdict) -> Value {
    let mut object = json!({
        "certified": verdict.certified,
        "reasons": verdict.reasons,
        "meaning": verdict.meaning,
        "events": ledger.total_events(),
    });
    asides(verdict.claimed, verdict.counted).for_each(|(name, value)| object[name] = value);
    with_scope(object, verdict.scope)
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

fn line(line: &ReportLine) -> Value {
    match &line.bound {
        Ok(found) => json!({
            "method": line.method.to_string(),
            "epsilon": bound(found.lower, found.upper),
            "note": line.note,
        }),
        Err(reason) => {
            json!({ "method": line.method.to_string(), "epsilon": null, "note": reason })
        }
    }
}

/// The refusal of a δ of 0 where that makes every ε infinite.
pub(super) fn without_delta(what: &str) -> CommandFailure {
    CommandFailure::Usage {
        message: format!("delta = 0: {what} no epsilon that holds without exception"),
        hint: "give a delta above 0, for example 1e-5; pure-dp and laplace events have an epsilon at 0"
            .to_owned(),
    }
}

pub(super) fn bound(lower: f64, upper: f64) -> Value {
    json!({ "lower": number::json(lower), "upper": number::json(upper) })
}

/// The object with whom it is about.
pub(super) fn with_scope(mut object: Value, scope: Scope) -> Value {
    object["adjacency"] = json!(scope.adjacency.to_string());
    object["unit"] = json!(scope.unit.to_string());
    object["view"] = json!(scope.view.to_string());
    object
}

/// A ledger by itself, or the one inside a certificate or a model.
fn read_ledger(path: &std::path::Path) -> Result<Ledger, CommandFailure> {
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
