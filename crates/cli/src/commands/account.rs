//! `reticent account`: what a list of events costs, by every method side by side.

use std::path::PathBuf;

use clap::Args;
use reticent::accountant::{
    AccountError, Adjacency, Bound, Ledger, Report, ReportLine, Unit, curve, delta, report, scope,
};
use reticent::{Error, check_new, write_text};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::event_text::{ledger, mechanism, sampled};
use crate::failure::Failure;
use crate::layout::{columns, wrapped};
use crate::number::{self, show};
use crate::plot::{Curve, Plot};
use crate::progress::waiting;

#[derive(Debug, Args)]
pub struct Account {
    /// What was done in a step, for example gaussian:z=2 (z: noise over the clip of a record)
    #[arg(long, required_unless_present = "ledger", conflicts_with = "ledger")]
    event: Option<String>,

    /// How often it was done
    #[arg(long, default_value_t = 1, value_parser = number::times, allow_negative_numbers = true)]
    steps: u64,

    /// On which records: full, poisson:RATE or wor:SIZE/POPULATION
    #[arg(long)]
    sampling: Option<String>,

    /// Which tables are neighbours: replace-one or add-remove
    #[arg(long, default_value_t)]
    adjacency: Adjacency,

    /// What a neighbour differs in: record or user
    #[arg(long, default_value_t)]
    unit: Unit,

    /// Count a ledger instead: a JSON file, a certificate.json or a model.json
    #[arg(long)]
    ledger: Option<PathBuf>,

    /// δ, the probability that epsilon does not hold
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse, default_value = "1e-5")]
    delta: f64,

    /// Give δ at this ε instead of ε at δ
    #[arg(long, allow_negative_numbers = true, value_parser = number::parse)]
    epsilon: Option<f64>,

    /// Draw ε against δ into this SVG file
    #[arg(long)]
    plot: Option<PathBuf>,

    /// Draw over a file that is there
    #[arg(long, requires = "plot")]
    force: bool,
}

impl Account {
    /// Does it.
    pub fn run(self) -> Result<Answer, Failure> {
        if let Some(path) = &self.plot {
            check_new(path, self.force)?;
        }
        let ledger = match (&self.event, &self.ledger) {
            (Some(event), _) => ledger(
                sampled(mechanism(event)?, self.sampling.as_deref())?,
                self.steps,
                self.adjacency,
                self.unit,
            )?,
            (None, Some(path)) => read_ledger(path)?,
            (None, None) => Ledger::new(),
        };
        let of = |error: AccountError| Failure::of("account", error.into());
        let report = waiting("counting", || report(&ledger, self.delta)).map_err(of)?;
        let mut answer = match self.epsilon {
            None => epsilon_answer(&ledger, &report, self.delta),
            Some(epsilon) => delta_answer(&ledger, epsilon).map_err(of)?,
        };
        if let Some(path) = &self.plot {
            write_text(&plot(&ledger)?, path)?;
            answer.text += &format!("\nThe curve is in {}.\n", path.display());
            answer.object["plot"] = json!(path);
        }
        Ok(answer)
    }
}

fn epsilon_answer(ledger: &Ledger, report: &Report, delta: f64) -> Answer {
    let Bound { lower, upper, method } = report.best;
    let mut text = columns(&rows(ledger, &[("δ", format!("{delta:e}"))]), 2, 2);
    text += &format!(
        "\n  ε is at most {upper:.6}, and no analysis can give less than {lower:.6} (by {method}).\n\n"
    );
    let mut lines = vec![["method", "lower", "upper", "remark"].map(str::to_owned).to_vec()];
    lines.extend(report.lines.iter().map(|line| match &line.bound {
        Ok(bound) => {
            vec![line.method.to_string(), show(bound.lower), show(bound.upper), line.note.to_owned()]
        }
        Err(reason) => vec![line.method.to_string(), "–".to_owned(), "–".to_owned(), reason.clone()],
    }));
    text += &columns(&lines, 2, 4);
    let object = json!({
        "epsilon": bound(lower, upper),
        "delta": delta,
        "method": method.to_string(),
        "events": ledger.total_events(),
        "all": report.lines.iter().map(line).collect::<Vec<_>>(),
    });
    Answer { text, object: with_scope(object, ledger), remarks: Vec::new() }
}

fn delta_answer(ledger: &Ledger, epsilon: f64) -> Result<Answer, AccountError> {
    let Bound { lower, upper, method } = delta(ledger, epsilon)?;
    let mut text = columns(&rows(ledger, &[("ε", epsilon.to_string())]), 2, 2);
    text += &wrapped(&format!(
        "δ is at most {upper:e}, and no analysis can give less than {lower:e} (by {method})."
    ));
    let object = json!({
        "epsilon": epsilon,
        "delta": bound(lower, upper),
        "method": method.to_string(),
        "events": ledger.total_events(),
    });
    Ok(Answer { text, object: with_scope(object, ledger), remarks: Vec::new() })
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
        Err(reason) => json!({ "method": line.method.to_string(), "epsilon": null, "note": reason }),
    }
}

pub(super) fn bound(lower: f64, upper: f64) -> Value {
    json!({ "lower": number::json(lower), "upper": number::json(upper) })
}

/// The object with whom it is about.
pub(super) fn with_scope(mut object: Value, ledger: &Ledger) -> Value {
    if let Some((adjacency, unit, view)) = scope(ledger) {
        object["adjacency"] = json!(adjacency.to_string());
        object["unit"] = json!(unit.to_string());
        object["view"] = json!(view.to_string());
    }
    object
}

/// A ledger by itself, or the one inside a certificate or a model.
fn read_ledger(path: &std::path::Path) -> Result<Ledger, Failure> {
    let refuse = |message: String| Failure::Usage {
        message: format!("{}: {message}", path.display()),
        hint: "give a ledger, a certificate.json or a model.json that `reticent fit` wrote".to_owned(),
    };
    let text = std::fs::read_to_string(path).map_err(|error| refuse(error.kind().to_string()))?;
    let mut value: Value = serde_json::from_str(&text).map_err(|error| refuse(error.to_string()))?;
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
    let points = curve(ledger, &deltas)?;
    let line = |of: fn(&Bound) -> f64| points.iter().map(|(delta, bound)| (*delta, of(bound))).collect();
    let plot = Plot {
        title: "What the run costs: ε at each δ".to_owned(),
        x_label: "δ (the probability that ε does not hold)".to_owned(),
        y_label: "ε".to_owned(),
        curves: vec![
            Curve { name: "upper bound (promise this)".to_owned(), points: line(|bound| bound.upper) },
            Curve { name: "lower bound".to_owned(), points: line(|bound| bound.lower) },
        ],
        shares: false,
    };
    Ok(plot.svg())
}
