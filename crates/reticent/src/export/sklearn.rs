//! The numbers of a scikit-learn pipeline as JSON: an estimator by its class with its fitted
//! attributes, and the encoding before it. `examples/load_sklearn.py` builds the pipeline;
//! docs/export.md describes the fields.

use serde_json::{Value, json};

use super::plan::{Category, ExportPlan, Hat, Number, PredictedOutcome};
use crate::error::Error;

pub(super) fn write(plan: &ExportPlan) -> Result<String, Error> {
    let (target, estimator, range) = estimator(plan);
    let whole = json!({
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

/// A reader of the first version knows no logarithms, one of the second no hats, and would predict
/// something else.
fn version(plan: &ExportPlan) -> u32 {
    match plan.numbers.iter().any(|number| !number.hats.is_empty()) {
        true => 3,
        false if plan.numbers.iter().any(|number| number.log) => 2,
        false => 1,
    }
}

fn category(category: &Category) -> Value {
    let words = category.words.iter().map(|(word, i)| (word.clone(), json!(i)));
    json!({
        "name": category.name,
        "categories": category.names,
        "words": Value::Object(words.collect()),
        "missing": category.missing,
        "unknown": category.unknown,
    })
}

/// The name of the target, the estimator, and the range of a number.
fn estimator(plan: &ExportPlan) -> (&String, Value, Value) {
    let rows: Vec<&Vec<f64>> = plan
        .numbers
        .iter()
        .map(|number| &number.weights)
        .chain(plan.categories.iter().flat_map(|category| &category.weights))
        .chain(plan.numbers.iter().flat_map(|number| &number.hats).map(|hat| &hat.weights))
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
