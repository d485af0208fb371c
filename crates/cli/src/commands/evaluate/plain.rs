//! The evaluation without a budget: computed from the table as it is, and not private.

use std::path::{Path, PathBuf};

use reticent::internal::{check_new, write_text};
use reticent::{Confusion, Error, Files, Measured, Model, Quality, RocCurves};
use reticent_plot::{Axis, Plot, PlotCurve};
use serde::Serialize;

use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number::{JsonNumber, show};
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
    let (mut text, figures) = figures(model, &measured.quality, threshold);
    let plots = pictures.folder.map(|folder| draw(&measured, folder)).transpose()?;
    match plots.as_deref() {
        None => (),
        Some([]) => text += "\nNothing was drawn: the pictures are for classes.\n",
        Some(drawn) => text += &format!("\nDrew {}.\n", drawn.join(", ")),
    }
    text += &format!("\n{}", wrapped(NOTE));
    let remarks = given_twice(&files.paths).into_iter().collect();
    let measured = MeasuredModel { figures, plots, private: false, note: NOTE };
    Ok(Answer { remarks, ..Answer::of(text, &measured) })
}

/// The figures of a model on a table.
#[derive(Serialize)]
struct MeasuredModel<'a> {
    #[serde(flatten)]
    figures: Option<ExactFigures<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plots: Option<Vec<String>>,
    private: bool,
    note: &'static str,
}

/// By the target of the model.
#[derive(Serialize)]
#[serde(untagged)]
enum ExactFigures<'a> {
    Classes(ExactClassFigures<'a>),
    Range(ExactRangeFigures),
}

/// The figures of a model of classes.
#[derive(Serialize)]
struct ExactClassFigures<'a> {
    accuracy: JsonNumber,
    auc: JsonNumber,
    auc_average: Option<&'static str>,
    log_loss: JsonNumber,
    calibration_error: JsonNumber,
    threshold: Option<f64>,
    n: usize,
    by_class: Vec<OneClass<'a>>,
    confusion: ConfusionCounts<'a>,
}

/// The figures of one class.
#[derive(Serialize)]
struct OneClass<'a> {
    class: &'a str,
    precision: JsonNumber,
    recall: JsonNumber,
    f1: JsonNumber,
    records: u64,
}

/// Who was taken for what: a row for each class.
#[derive(Serialize)]
struct ConfusionCounts<'a> {
    classes: Vec<&'a str>,
    counts: Vec<Vec<u64>>,
}

/// The figures of a model of a number.
#[derive(Serialize)]
struct ExactRangeFigures {
    r2: JsonNumber,
    rmse: JsonNumber,
    mae: JsonNumber,
    n: usize,
}

/// The numbers, for people and for programs.
fn figures<'a>(
    model: &'a Model,
    quality: &Quality,
    threshold: Option<f64>,
) -> (String, Option<ExactFigures<'a>>) {
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
            let (table, by_class, confusion) = by_class(&names, confusion);
            let figures = ExactClassFigures {
                accuracy: (*accuracy).into(),
                auc: (*auc).into(),
                auc_average: several.then_some(AVERAGE),
                log_loss: (*log_loss).into(),
                calibration_error: (*calibration_error).into(),
                threshold,
                n: *n,
                by_class,
                confusion,
            };
            (lines(&rows) + &table, Some(ExactFigures::Classes(figures)))
        }
        Quality::Range { r2, rmse, mae, n, .. } => (
            lines(&[
                ("R²", show(*r2)),
                ("RMSE", show(*rmse)),
                ("MAE", show(*mae)),
                ("records", n.to_string()),
            ]),
            Some(ExactFigures::Range(ExactRangeFigures {
                r2: (*r2).into(),
                rmse: (*rmse).into(),
                mae: (*mae).into(),
                n: *n,
            })),
        ),
        other => (format!("{other:?}\n"), None),
    }
}

fn lines(rows: &[(&str, String)]) -> String {
    let rows: Vec<_> =
        rows.iter().map(|(name, value)| vec![(*name).to_owned(), value.clone()]).collect();
    columns(&rows, 2, 1)
}

/// Precision, recall and F1 of each class, and who was taken for what.
fn by_class<'a>(
    names: &[&'a str],
    confusion: &Confusion,
) -> (String, Vec<OneClass<'a>>, ConfusionCounts<'a>) {
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
    let class = |(k, class): (usize, &&'a str)| {
        let [precision, recall, f1] = numbers(k).map(JsonNumber);
        OneClass { class, precision, recall, f1, records: confusion.size(k) }
    };
    let all = names.iter().enumerate().map(class).collect();
    let counts = (0..names.len()).map(counts).collect();
    (text, all, ConfusionCounts { classes: names.to_vec(), counts })
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
