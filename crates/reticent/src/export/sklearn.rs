//! The numbers of a scikit-learn pipeline as JSON: an estimator by its class with its fitted
//! attributes, and the encoding before it. `examples/load_sklearn.py` builds the pipeline;
//! docs/export.md describes the fields.

use serde_json::{Value, json};

use super::pair::{ExportPair, PairMember};
use super::plan::{Category, ExportPlan, Hat, Number, PredictedOutcome};
use crate::error::Error;

pub(super) fn write(plan: &ExportPlan) -> Result<String, Error> {
    let (target, estimator, range) = estimator(plan);
    let mut whole = json!({
        "format": "reticent-sklearn",
        "version": version(plan),
        "target": target,
        "numbers": plan.numbers.iter().map(number).collect::<Vec<_>>(),
        "categories": plan.categories.iter().map(category).collect::<Vec<_>>(),
        "missing_tokens": plan.tokens,
        "trim": plan.trim,
        "row_norm": plan.row_norm,
        "estimator": estimator,
        "range": range,
    });
    if !plan.pairs.is_empty() {
        let member = |member: &PairMember| member_of(plan, member);
        let pair = |pair: &ExportPair| pair.members.iter().map(member).collect::<Value>();
        whole["pairs"] = plan.pairs.iter().map(pair).collect();
    }
    let text = serde_json::to_string_pretty(&whole)
        .map_err(|error| Error::Write { file: "the export".into(), reason: error.to_string() })?;
    Ok(text + "\n")
}

fn number(number: &Number) -> Value {
    let mut value = json!({
        "name": number.name,
        // JSON has no infinity: null is no bound.
        "low": finite(number.low),
        "high": finite(number.high),
        "start": number.start,
        "end": number.end,
        "mirror": number.mirror,
        "width": number.width,
        "missing": number.missing,
    });
    if number.log {
        value["log"] = true.into();
    }
    if !number.hats.is_empty() {
        let hat = |hat: &Hat| json!([hat.from, hat.top, hat.to]);
        value["hats"] = number.hats.iter().map(hat).collect();
    }
    value
}

/// A reader of the first version knows no logarithms, one of the second no hats, one of the third no
/// order of categories and no pairs, and would predict something else.
fn version(plan: &ExportPlan) -> u32 {
    let ordered = plan.categories.iter().any(|category| category.order.is_some());
    if ordered || !plan.pairs.is_empty() {
        return 4;
    }
    match plan.numbers.iter().any(|number| !number.hats.is_empty()) {
        true => 3,
        false if plan.numbers.iter().any(|number| number.log) => 2,
        false => 1,
    }
}

fn member_of(plan: &ExportPlan, member: &PairMember) -> Value {
    match member {
        PairMember::Number { at, slope, shift, bends } => json!({
            "number": plan.numbers[*at].name, "slope": slope, "shift": shift, "bends": bends,
        }),
        PairMember::Category { at, functions } => {
            json!({ "category": plan.categories[*at].name, "functions": functions })
        }
    }
}

fn category(category: &Category) -> Value {
    let words = category.words.iter().map(|(word, i)| (word.clone(), json!(i)));
    let mut value = json!({
        "name": category.name,
        "categories": category.names,
        "words": Value::Object(words.collect()),
        "missing": category.missing,
        "unknown": category.unknown,
    });
    if let Some(order) = &category.order {
        value["order"] = json!({ "line": order.line, "hats": order.hats });
    }
    value
}

/// The name of the target, the estimator, and the range of a number.
fn estimator(plan: &ExportPlan) -> (&String, Value, Value) {
    let rows: Vec<&Vec<f64>> = plan
        .numbers
        .iter()
        .map(|number| &number.weights)
        .chain(plan.categories.iter().flat_map(|category| &category.weights))
        .chain(plan.numbers.iter().flat_map(|number| &number.hats).map(|hat| &hat.weights))
        .chain(plan.categories.iter().filter_map(|c| c.order.as_ref()).flat_map(|o| &o.weights))
        .chain(plan.pairs.iter().flat_map(|pair| pair.weights.iter().flatten()))
        .collect();
    let weights = |k: usize| rows.iter().map(|row| row[k]).collect::<Vec<f64>>();
    let all: Vec<Vec<f64>> = (0..plan.outputs()).map(weights).collect();
    let classifier = |class: &str, classes: &[String]| {
        json!({
            "class": class,
            "attributes": {
                "classes_": classes, "coef_": all, "intercept_": plan.intercept, "n_features_in_": rows.len(),
            },
        })
    };
    match &plan.outcome {
        PredictedOutcome::Probabilities { target, classes } => {
            (target, classifier("sklearn.linear_model.LogisticRegression", classes), Value::Null)
        }
        PredictedOutcome::Margin { target, classes } => {
            (target, classifier("sklearn.svm.LinearSVC", classes), Value::Null)
        }
        PredictedOutcome::Number { target, lower, upper } => (
            target,
            json!({
                "class": "sklearn.linear_model.LinearRegression",
                "attributes": { "coef_": all[0], "intercept_": plan.intercept[0], "n_features_in_": rows.len() },
            }),
            json!([lower, upper]),
        ),
    }
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}
