//! The weights of a model, in the units of its table.

use maud::{Markup, html};
use reticent::{Coefficient, CoefficientEstimate, Model, StandardErrors, Units};
use reticent_plot::{Bar, Bars};

use crate::curves::figure;
use crate::words::{number, plain, said};

/// So many are drawn, and so many are listed.
const DRAWN: usize = 20;
const LISTED: usize = 500;

fn size(coefficient: &Coefficient) -> f64 {
    coefficient.values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()))
}

/// The largest first, each with its weight per unit.
fn sorted<'a>(model: &'a Model, units: &'a Units) -> Vec<(&'a Coefficient, &'a Coefficient)> {
    let mut pairs: Vec<_> = model.coefficients().iter().zip(&units.coefficients).collect();
    pairs.sort_by(|a, b| size(b.0).total_cmp(&size(a.0)));
    pairs
}

/// The picture and the table.
pub(crate) fn coefficients(model: &Model, id: &str) -> Markup {
    let units = model.units();
    let pairs = sorted(model, &units);
    let what =
        if units.of.len() == 1 { units.of[0].clone() } else { "score of each class".to_owned() };
    html! {
        p {
            "What moves the " (said(&what)) ". A weight is shown as the model has it, on columns scaled by \
             their declared bounds, and per unit of the table."
        }
        @if units.of.len() == 1 { (picture(&pairs, &what, id)) }
        details open[pairs.len() <= DRAWN] {
            summary { "All weights" }
            (table(model, &units, &pairs))
        }
        @if let Some(found) = model.standard_errors() { (estimates(found)) }
        p.note {
            "Every release that the model was made of carries noise, and so does each weight. How much of it \
             is left in a weight depends on the algorithm and is not written in the model: a weight that is \
             small beside the others may be noise alone."
        }
    }
}

fn picture(pairs: &[(&Coefficient, &Coefficient)], what: &str, id: &str) -> Markup {
    let bar = |(own, _): &(&Coefficient, &Coefficient)| {
        let value = own.values.first().copied().unwrap_or(f64::NAN);
        Bar { name: plain(&own.name), value, words: number(value) }
    };
    let bars: Vec<Bar> = pairs.iter().take(DRAWN).map(bar).collect();
    let said: Vec<String> =
        bars.iter().take(5).map(|bar| format!("{} {}", bar.name, bar.words)).collect();
    let bars = Bars {
        title: "The largest weights".to_owned(),
        description: format!("What moves the {} most: {}.", plain(what), said.join(", ")),
        bars,
    };
    figure(
        &|size, id| bars.to_page(size, id),
        &format!("{id}-weights"),
        "Weights on the scaled columns: to the right they raise it, to the left they lower it.",
    )
}

fn table(model: &Model, units: &Units, pairs: &[(&Coefficient, &Coefficient)]) -> Markup {
    let heads = |kind: &str| -> Vec<String> {
        units
            .of
            .iter()
            .map(|of| {
                format!(
                    "{kind}{}",
                    if units.of.len() > 1 { format!(" ({of})") } else { String::new() }
                )
            })
            .collect()
    };
    let row = |name: &str, own: &[f64], per_unit: &[f64]| {
        html! { tr {
            th scope="row" { (said(name)) }
            @for value in own.iter().chain(per_unit) { td.number { (number(*value)) } }
        } }
    };
    html! {
        div.scroll tabindex="0" role="group" aria-label="All weights" {
            table {
                thead { tr {
                    th scope="col" { "Column" }
                    @for head in heads("scaled").iter().chain(&heads("per unit")) {
                        th.number scope="col" { (said(head)) }
                    }
                } }
                tbody {
                    @if !model.intercept().is_empty() {
                        (row("(intercept)", model.intercept(), &units.intercept))
                    }
                    @for (own, per_unit) in pairs.iter().take(LISTED) {
                        (row(&own.name, &own.values, &per_unit.values))
                    }
                }
            }
        }
        @if pairs.len() > LISTED {
            p.note { "And " (pairs.len() - LISTED) " smaller ones, which the model lists." }
        }
    }
}

/// The coefficients of the population, or why nothing is said of them.
fn estimates(found: &StandardErrors) -> Markup {
    let name = |one: &CoefficientEstimate| match (&one.against, one.encoded) {
        (Some(against), _) => format!("{}, not {against}", one.name),
        (None, true) => format!("{} (scaled)", one.name),
        (None, false) => one.name.clone(),
    };
    let row = |one: &CoefficientEstimate| {
        let (from, to) = one.interval();
        html! { tr {
            th scope="row" { (said(&name(one))) }
            @for value in [one.estimate, one.standard_error, from, to] {
                td.number { (number(value)) }
            }
        } }
    };
    html! {
        h3 { "In the population" }
        @if let Some(why) = &found.hidden {
            p { "No standard errors can be given, though they were paid for: " (said(why)) "." }
        } @else {
            p {
                "Estimates of what moves the " (said(&found.of)) " in the population, per unit of the table, \
                 with standard errors that cover sampling and the noise of privacy."
            }
            div.scroll tabindex="0" role="group" aria-label="Estimates with standard errors" {
                table {
                    thead { tr {
                        th scope="col" { "Column" }
                        @for head in ["estimate", "standard error", "from", "to (95 %)"] {
                            th.number scope="col" { (head) }
                        }
                    } }
                    tbody { @for one in &found.estimates { (row(one)) } }
                }
            }
            p.note {
                "An interval holds if the records were drawn independently and the model is true of them. It \
                 covers neither values outside their declared bounds nor rows longer than the row norm, which \
                 were cut, nor what the columns leave out. The estimates are those of the loss without a \
                 penalty; the weights above are those that predict."
            }
        }
    }
}
