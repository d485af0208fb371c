//! What came of a sweep, as tables and pictures.

use std::collections::{BTreeMap, BTreeSet};

use reticent::sweep::{GridPoint, Journal, RunMean, Summary, Sweep as Grid};
use reticent_plot::{Axis, Plot, PlotCurve};
use serde::Serialize;

use crate::failure::CommandFailure;
use crate::number;
use crate::sheet::{Cells, Sheet, SheetColumn};

/// Before the name of what is measured without noise, on a table that is said to be public.
const NOT_PRIVATE: &str = "nonprivate_";

/// The values of the points, a column for each key that is varied.
fn varied(sweep: &Grid, of: impl Fn(usize) -> usize, count: usize) -> Vec<SheetColumn> {
    let Some(first) = sweep.points().first() else { return Vec::new() };
    let column = |(k, (name, _)): (usize, &(String, String))| {
        let texts: Vec<String> =
            (0..count).map(|i| sweep.points()[of(i)].settings[k].1.clone()).collect();
        let numbers: Option<Vec<Option<f64>>> =
            texts.iter().map(|text| text.parse().ok().map(Some)).collect();
        let cells = numbers.map_or(Cells::Words(texts), Cells::Numbers);
        SheetColumn { name: name.clone(), cells }
    };
    first.settings.iter().enumerate().map(column).collect()
}

/// Every run that is over.
pub fn raw(sweep: &Grid, journal: &Journal, names: &BTreeSet<String>) -> Sheet {
    let all: Vec<_> = journal.finished().values().collect();
    let place = |i: usize| sweep.run(all[i].run).unwrap_or_default();
    let mut sheet = varied(sweep, |i| place(i).0, all.len());
    let numbers = |name: &str, cell: &dyn Fn(usize) -> Option<f64>| {
        SheetColumn::of_numbers((name, (0..all.len()).map(cell).collect()))
    };
    sheet.insert(0, numbers("run", &|i| Some(all[i].run as f64)));
    sheet.push(numbers("repeat", &|i| Some(place(i).1 as f64)));
    sheet.push(numbers("iterations", &|i| Some(all[i].iterations as f64)));
    sheet.push(numbers("counted_epsilon", &|i| Some(all[i].epsilon).filter(|e| e.is_finite())));
    for name in names {
        let cell = |i: usize| all[i].metrics.get(name).copied();
        sheet.push(numbers(&format!("{NOT_PRIVATE}{name}"), &cell));
    }
    if all.iter().any(|run| run.unmeasured.is_some()) {
        let why = all.iter().map(|run| run.unmeasured.clone().unwrap_or_default()).collect();
        sheet.push(SheetColumn::of_words("unmeasured", why));
    }
    let why = all.iter().map(|run| run.failed.clone().unwrap_or_default()).collect();
    sheet.push(SheetColumn::of_words("failed", why));
    Sheet(sheet)
}

/// Mean and spread of each point.
pub fn table(sweep: &Grid, all: &[Summary], names: &BTreeSet<String>) -> Sheet {
    let mut sheet = varied(sweep, |i| i, all.len());
    let numbers = |name: &str, cell: &dyn Fn(&Summary) -> Option<f64>| {
        SheetColumn::of_numbers((name, all.iter().map(cell).collect()))
    };
    sheet.push(numbers("runs", &|one| Some(one.runs as f64)));
    sheet.push(numbers("failed", &|one| Some(one.failed as f64)));
    for name in names {
        let own = |what: &str, part: fn(&RunMean) -> f64| {
            let column = format!("{NOT_PRIVATE}{name}_{what}");
            numbers(&column, &|one| one.metrics.get(name).map(part))
        };
        sheet.push(own("mean", |mean| mean.mean));
        sheet.push(own("deviation", |mean| mean.deviation));
        sheet.push(own("standard_error", RunMean::error));
    }
    Sheet(sheet)
}

/// The same for people: mean ± standard error.
pub fn shown(sweep: &Grid, all: &[Summary], names: &BTreeSet<String>) -> Vec<Vec<String>> {
    let keys = sweep.points().first().map_or(&[][..], |point| &point.settings);
    let head = keys.iter().map(|(name, _)| name.clone()).chain(names.iter().cloned());
    let row = |(point, one): (&GridPoint, &Summary)| {
        let values = point.settings.iter().map(|(_, value)| value.clone());
        let means = names.iter().map(|name| {
            one.metrics.get(name).map_or("-".to_owned(), |mean| {
                format!("{} ± {}", number::show(mean.mean), number::show(mean.error()))
            })
        });
        values.chain(means).collect()
    };
    std::iter::once(head.collect()).chain(sweep.points().iter().zip(all).map(row)).collect()
}

/// The same for programs.
#[derive(Serialize)]
pub struct PointFields<'a> {
    settings: BTreeMap<&'a str, &'a str>,
    metrics: BTreeMap<&'a str, MeanFields>,
    runs: usize,
    failed: usize,
}

/// A mean over runs.
#[derive(Serialize)]
struct MeanFields {
    mean: f64,
    deviation: f64,
    runs: usize,
}

impl From<&RunMean> for MeanFields {
    fn from(&RunMean { mean, deviation, runs, .. }: &RunMean) -> Self {
        MeanFields { mean, deviation, runs }
    }
}

/// A point after the other.
pub fn points<'a>(sweep: &'a Grid, all: &'a [Summary]) -> Vec<PointFields<'a>> {
    let one = |(point, own): (&'a GridPoint, &'a Summary)| PointFields {
        settings: point.settings.iter().map(|(name, value)| (&**name, &**value)).collect(),
        metrics: own.metrics.iter().map(|(name, mean)| (&**name, mean.into())).collect(),
        runs: own.runs,
        failed: own.failed,
    };
    sweep.points().iter().zip(all).map(one).collect()
}

/// The means of a metric along key `along`, for each combination of the other values.
fn curves(
    sweep: &Grid,
    all: &[Summary],
    along: usize,
    metric: &str,
) -> Vec<(String, Vec<(f64, RunMean)>)> {
    let mut curves: Vec<(String, Vec<(f64, RunMean)>)> = Vec::new();
    for (point, own) in sweep.points().iter().zip(all) {
        let others: Vec<String> = point
            .settings
            .iter()
            .enumerate()
            .filter(|(k, _)| *k != along)
            .map(
                |(_, (name, value))| {
                    if name == "algorithm" { value.clone() } else { format!("{name} {value}") }
                },
            )
            .collect();
        let label = if others.is_empty() { metric.to_owned() } else { others.join(", ") };
        let (Ok(x), Some(mean)) = (point.settings[along].1.parse(), own.metrics.get(metric)) else {
            continue;
        };
        match curves.iter_mut().find(|(own, _)| *own == label) {
            Some((_, points)) => points.push((x, *mean)),
            None => curves.push((label, vec![(x, *mean)])),
        }
    }
    curves
}

/// A metric against ε, or against the first key whose values are numbers; a curve for each
/// combination of the others.
pub fn picture(
    sweep: &Grid,
    all: &[Summary],
    names: &BTreeSet<String>,
    metric: &str,
) -> Result<Plot, CommandFailure> {
    let refuse = |message: String, hint: String| Err(CommandFailure::Usage { message, hint });
    let short = metric.trim_start_matches("nonprivate_");
    let name =
        [short.to_owned(), format!("test_{short}")].into_iter().find(|name| names.contains(name));
    let Some(name) = name else {
        let there: Vec<_> = names.iter().cloned().collect();
        return refuse(
            format!("--plot {metric}: it was not measured"),
            format!("there are {}", there.join(", ")),
        );
    };
    let keys = sweep.points().first().map_or(&[][..], |point| &point.settings);
    let is_number =
        |k: &usize| sweep.points().iter().all(|p| p.settings[*k].1.parse::<f64>().is_ok());
    let epsilon = keys.iter().position(|(name, _)| name == "epsilon");
    let Some(along) = epsilon.or_else(|| (0..keys.len()).find(is_number)) else {
        return refuse(
            format!("--plot {metric}: no key that is varied is a number"),
            "vary epsilon".to_owned(),
        );
    };
    let curves = curves(sweep, all, along, &name);
    let x = if keys[along].0 == "epsilon" { "ε" } else { keys[along].0.as_str() };
    let positive = curves.iter().flat_map(|(_, points)| points).all(|(x, _)| *x > 0.0);
    let axis = if positive { Axis::log(x) } else { Axis::linear(x) };
    let words = name.replace('_', " ");
    let mut plot = Plot::new(&words, axis, Axis::linear(&words))
        .described(&format!("{words} against {x}; the band is one standard error of the mean"));
    for (label, mut points) in curves {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let band =
            points.iter().map(|(x, m)| (*x, m.mean - m.error(), m.mean + m.error())).collect();
        let line = points.iter().map(|(x, m)| (*x, m.mean)).collect();
        plot = plot.with(PlotCurve::line(&label, line).with_band(band));
    }
    Ok(plot)
}
