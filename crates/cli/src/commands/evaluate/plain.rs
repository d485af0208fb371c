//! The evaluation without a budget: computed from the table as it is, and not private.

use std::path::{Path, PathBuf};

use reticent::internal::{check_new, write_text};
use reticent::{Confusion, Error, Files, Measured, Model, Quality, RocCurves};
use reticent_plot::{Axis, Plot, PlotCurve};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number::{self, show};
use crate::progress::waiting;
use crate::repeated::given_twice;

const NOTE: &str = "These numbers are NOT PRIVATE: they are computed from the table as it is, without noise, and \
                    no certificate covers them. Publish them only if the table is public, or give --epsilon and \
                    --delta.";

/// Which of the many averages of a multi-class AUC it is.
pub const AVERAGE: &str = "macro, one against the rest";

/// Confusion of more classes is no table for people.
pub const MANY: usize = 20;

/// Where pictures go, and whether they may take the place of others.
#[derive(Clone, Copy, Debug)]
pub struct Pictures<'a> {
    pub folder: Option<&'a PathBuf>,
    pub force: bool,
}

/// Measures a model on a table.
pub fn run(
    model: &Model,
    files: &Files,
    threshold: Option<f64>,
    pictures: Pictures<'_>,
) -> Result<Answer, CommandFailure> {
    if let Some(folder) = pictures.folder {
        let names = ["roc.svg", "precision-recall.svg", "calibration.svg"];
        names.iter().try_for_each(|name| check_new(&folder.join(name), pictures.force))?;
    }
    let measured = waiting("reading and evaluating", || model.measure_files(files, threshold))?;
    let (mut text, mut object) = figures(model, &measured.quality, threshold);
    if let Some(folder) = pictures.folder {
        let drawn = draw(&measured, folder)?;
        if drawn.is_empty() {
            text += "\nNothing was drawn: the pictures are for classes.\n";
        } else {
            text += &format!("\nDrew {}.\n", drawn.join(", "));
        }
        object["plots"] = json!(drawn);
    }
    object["private"] = false.into();
    object["note"] = NOTE.into();
    text += &format!("\n{}", wrapped(NOTE));
    let remarks = given_twice(&files.paths).into_iter().collect();
    Ok(Answer { text, object, remarks, ..Answer::default() })
}

/// The numbers, for people and for programs.
fn figures(model: &Model, quality: &Quality, threshold: Option<f64>) -> (String, Value) {
    match quality {
        Quality::Classes { accuracy, auc, log_loss, calibration_error, confusion, n, .. } => {
            let names = model.classes().unwrap_or_default();
            let several = names.len() > 2;
            let area = if several { format!("AUC ({AVERAGE})") } else { "AUC".to_owned() };
            let mut rows = vec![("accuracy", show(*accuracy)), (area.as_str(), show(*auc))];
            let loss = if model.has_probabilities() {
                show(*log_loss)
            } else {
                "not defined: the loss has no probabilities".to_owned()
            };
            rows.push(("log loss", loss));
            if model.has_probabilities() {
                rows.push(("calibration error", show(*calibration_error)));
            }
            rows.extend(threshold.map(|threshold| ("threshold", show(threshold))));
            rows.push(("records", n.to_string()));
            let mut object = json!({
                "accuracy": number::json(*accuracy),
                "auc": number::json(*auc),
                "auc_average": several.then_some(AVERAGE),
                "log_loss": number::json(*log_loss),
                "calibration_error": number::json(*calibration_error),
                "threshold": threshold,
                "n": n,
            });
            let (table, fields) = by_class(&names, confusion);
            if let (Value::Object(all), Value::Object(fields)) = (&mut object, fields) {
                all.extend(fields);
            }
            (lines(&rows) + &table, object)
        }
        Quality::Range { r2, rmse, mae, n, .. } => (
            lines(&[
                ("R²", show(*r2)),
                ("RMSE", show(*rmse)),
                ("MAE", show(*mae)),
                ("records", n.to_string()),
            ]),
            json!({
                "r2": number::json(*r2), "rmse": number::json(*rmse), "mae": number::json(*mae), "n": n
            }),
        ),
        other => (format!("{other:?}\n"), json!({})),
    }
}

fn lines(rows: &[(&str, String)]) -> String {
    let rows: Vec<_> =
        rows.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect();
    columns(&rows, 2, 1)
}

/// Precision, recall and F1 of each class, and who was taken for what.
fn by_class(names: &[&str], confusion: &Confusion) -> (String, Value) {
    let heads = |first: &str, rest: &[&str]| -> Vec<String> {
        std::iter::once(first).chain(rest.iter().copied()).map(str::to_owned).collect()
    };
    let numbers = |k: usize| [confusion.precision(k), confusion.recall(k), confusion.f1(k)];
    let mut rows = vec![heads("class", &["precision", "recall", "F1", "records"])];
    for (k, name) in names.iter().enumerate() {
        let mut row = vec![(*name).to_owned()];
        row.extend(numbers(k).map(show));
        row.push(confusion.size(k).to_string());
        rows.push(row);
    }
    let mut text = format!("\n{}", columns(&rows, 2, 1));
    let counts = |k: usize| -> Vec<u64> {
        (0..names.len()).map(|other| confusion.count(k, other)).collect()
    };
    if names.len() <= MANY {
        let mut rows = vec![heads("taken for", names)];
        for (k, name) in names.iter().enumerate() {
            let mut row = vec![(*name).to_owned()];
            row.extend(counts(k).iter().map(u64::to_string));
            rows.push(row);
        }
        text += &format!("\n{}", columns(&rows, 2, 1));
    }
    let class = |(k, name): (usize, &&str)| {
        let [precision, recall, f1] = numbers(k).map(number::json);
        json!({ "class": name, "precision": precision, "recall": recall, "f1": f1, "records": confusion.size(k) })
    };
    let all: Vec<Value> = names.iter().enumerate().map(class).collect();
    let matrix: Vec<Vec<u64>> = (0..names.len()).map(counts).collect();
    (text, json!({ "by_class": all, "confusion": { "classes": names, "counts": matrix } }))
}

/// The three pictures.
fn draw(measured: &Measured, folder: &Path) -> Result<Vec<String>, CommandFailure> {
    type Points = fn(&RocCurves) -> &Vec<(f64, f64)>;
    let pictures: [(&str, &str, &str, &str, Points); 3] = [
        ("roc.svg", "ROC", "share of the others", "share of the class", |curves| &curves.roc),
        ("precision-recall.svg", "Precision and recall", "recall", "precision", |curves| {
            &curves.precision_recall
        }),
        ("calibration.svg", "Calibration", "mean probability", "share of the class", |curves| {
            &curves.calibration
        }),
    ];
    let mut drawn = Vec::new();
    for (file, title, x_label, y_label, points) in pictures {
        if measured.curves.iter().all(|(_, curves)| points(curves).is_empty()) {
            continue;
        }
        let axes = (Axis::share(x_label), Axis::share(y_label));
        let mut plot = Plot::new(&format!("{title} (NOT PRIVATE)"), axes.0, axes.1);
        for (name, curves) in &measured.curves {
            plot = plot.with(PlotCurve::line(name, points(curves).clone()));
        }
        // What a curve is to be compared with.
        let diagonal = match title {
            "ROC" => Some("chance"),
            "Calibration" => Some("as it should be"),
            _ => None,
        };
        if let Some(name) = diagonal {
            plot = plot.with(PlotCurve::line(name, vec![(0.0, 0.0), (1.0, 1.0)]).quiet());
        }
        std::fs::create_dir_all(folder).map_err(|error| Error::written(folder, &error))?;
        let path = folder.join(file);
        write_text(&plot.to_file(), &path)?;
        drawn.push(path.display().to_string());
    }
    Ok(drawn)
}
