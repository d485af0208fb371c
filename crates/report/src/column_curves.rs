//! The curves of a model's columns, bent and straight, in the units of its table.

use maud::{Markup, html};
use reticent::{ColumnCurve, ColumnCurvePoint, Model};
use reticent_plot::{Axis, Bar, Bars, Plot, PlotCurve};

use crate::curves::figure;
use crate::words::{number, plain, said};

/// So many are drawn.
const DRAWN: usize = 40;

/// A column of ordered categories has a picture for so many classes.
const CLASSES: usize = 8;

/// Days on an axis of seconds.
const DAY: f64 = 86_400.0;

/// A picture of every column of numbers, dates or ordered categories, the widest range first; nothing
/// without one.
pub(crate) fn column_curves(model: &Model, id: &str) -> Markup {
    let mut curves = [model.curves(), model.lines()].concat();
    curves.sort_by(|a, b| b.range.total_cmp(&a.range));
    let has_bands = curves.iter().any(|curve| curve.points.iter().any(|at| at.band.is_some()));
    html! {
        @if !curves.is_empty() {
            h3 { "What each column does" }
            p {
                "Columns of numbers, dates and ordered categories, the one that moves a prediction most first. A \
                 curve says what is added for a value of the column, whatever the others are, less its mean over \
                 knots and bounds; they are public, and nothing here is ranked by records. A column without knots \
                 is a line on its scale."
                @if has_bands {
                    " The band is where the curve of the population is with a confidence of 95\u{202f}% at each \
                     point: it covers sampling and the noise of privacy. The line is that of the model."
                }
            }
            @for (k, curve) in curves.iter().take(DRAWN).enumerate() {
                (picture(curve, &format!("{id}-curve-{}", k + 1)))
            }
            @if curves.len() > DRAWN {
                p.note { "And " (curves.len() - DRAWN) " that move less, which the model lists." }
            }
        }
    }
}

fn picture(curve: &ColumnCurve, id: &str) -> Markup {
    let name = plain(&curve.column);
    let one = curve.of.len() == 1;
    let what = if one { plain(&curve.of[0]) } else { "score".to_owned() };
    let caption = format!("{name}: moves the {what} by up to {}", number(curve.range));
    if curve.points[0].category.is_some() {
        return categories(curve, id, &name, &caption);
    }
    let across = |at: &ColumnCurvePoint| if curve.days { at.x * DAY } else { at.x };
    let ends = [&curve.points[0], &curve.points[curve.points.len() - 1]];
    let words: Vec<String> = ends
        .iter()
        .map(|at| format!("{} at {}", number(at.values[0]), value(curve, at.x)))
        .collect();
    // What it is added to is in the caption: a label is cut on a small screen.
    let plot = Plot::new(&name, axis(curve, &name), Axis::linear("added"))
        .described(&format!("What {name} adds: {}.", words.join(", ")));
    let line = |k: usize| curve.points.iter().map(|at| (across(at), at.values[k])).collect();
    let band = curve.points.iter().filter_map(|at| Some((across(at), at.band?.from, at.band?.to)));
    let plot = match one {
        true => plot.with(PlotCurve::line("model", line(0)).with_band(band.collect())),
        false => (0..curve.of.len())
            .fold(plot, |plot, k| plot.with(PlotCurve::line(&plain(&curve.of[k]), line(k)))),
    };
    html! {
        (figure(&|size, id| plot.to_page(size, id), id, &caption))
        details {
            summary { "The same as a table" }
            (table(curve))
        }
    }
}

/// Categories with an order: a bar each, in their order; of several classes a picture each.
fn categories(curve: &ColumnCurve, id: &str, name: &str, caption: &str) -> Markup {
    let one = curve.of.len() == 1;
    let bars = |k: usize| {
        let bar = |at: &ColumnCurvePoint| Bar {
            name: plain(at.category.as_deref().unwrap_or_default()),
            value: at.values[k],
            words: number(at.values[k]),
        };
        let to =
            if one { String::new() } else { format!(" to the score of {}", plain(&curve.of[k])) };
        Bars {
            title: name.to_owned(),
            description: format!("What each category of {name} adds{to}, in their order."),
            bars: curve.points.iter().map(bar).collect(),
        }
    };
    let part = |k: usize| {
        let (id, of) = (format!("{id}-{}", k + 1), plain(&curve.of[k]));
        figure(
            &|size, id| bars(k).to_page(size, id),
            &id,
            &format!("{name}: added to the score of {of}"),
        )
    };
    html! {
        @if one { (figure(&|size, id| bars(0).to_page(size, id), id, caption)) }
        @else {
            p { (caption) ". Each picture has a scale of its own." }
            @for k in 0..curve.of.len().min(CLASSES) { (part(k)) }
            @if curve.of.len() > CLASSES { p.note { "The table has the others." } }
        }
        details {
            summary { "The same as a table" }
            (table(curve))
        }
    }
}

/// A logarithmic scale where its numbers have logarithms, but for a lower bound of 0, which is left out.
fn axis(curve: &ColumnCurve, name: &str) -> Axis {
    match curve.points.first() {
        _ if curve.days => Axis::time(name),
        Some(first) if curve.log && first.x >= 0.0 => Axis::log(name),
        _ => Axis::linear(name),
    }
}

/// A value of the column, a day as one.
fn value(curve: &ColumnCurve, x: f64) -> String {
    if curve.days { reticent_plot::day(x * DAY) } else { number(x) }
}

fn table(curve: &ColumnCurve) -> Markup {
    let has_band = curve.points.iter().any(|at| at.band.is_some());
    html! {
        table.small {
            thead { tr {
                th.number scope="col" { (said(&curve.column)) }
                @for of in &curve.of { th.number scope="col" { (said(of)) } }
                @if has_band { @for head in ["estimate", "from", "to (95\u{202f}%)"] {
                    th.number scope="col" { (head) }
                } }
            } }
            tbody { @for at in &curve.points { tr {
                @if let Some(category) = &at.category { td { (said(category)) } }
                @else { td.number { (value(curve, at.x)) } }
                @for value in &at.values { td.number { (number(*value)) } }
                @if let Some(band) = at.band {
                    @for value in [band.estimate, band.from, band.to] { td.number { (number(value)) } }
                }
            } } }
        }
    }
}
