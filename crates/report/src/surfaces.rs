//! What the columns of pairs do together: a small table each.

use maud::{Markup, html};
use reticent::{CurveBand, Model, PairSurface, SurfacePoint, SurfaceSide};

use crate::words::{number, said};

/// So many are shown.
const SHOWN: usize = 12;

/// Days on an axis of seconds.
const DAY: f64 = 86_400.0;

/// A table of every pair, the widest range first; nothing without one.
pub(crate) fn surfaces(model: &Model) -> Markup {
    let surfaces = model.surfaces();
    let has_bands = surfaces.iter().any(|surface| surface.bands.is_some());
    html! {
        @if !surfaces.is_empty() {
            h3 { "What two columns do together" }
            p {
                "Pairs of columns, the one that moves a prediction most first. A number says what is added for \
                 a value of the row and a value of the column, whatever the other columns are, less the mean \
                 over the table. The values are bounds, knots, middles and categories; they are public."
                @if has_bands {
                    " Below it is where the population is with a confidence of 95\u{202f}% at each point: that \
                     covers sampling and the noise of privacy."
                }
            }
            @for surface in surfaces.iter().take(SHOWN) { (tables(surface)) }
            @if surfaces.len() > SHOWN {
                p.note { "And " (surfaces.len() - SHOWN) " that move less, which the model lists." }
            }
        }
    }
}

fn tables(surface: &PairSurface) -> Markup {
    let [down, across] = &surface.sides;
    html! {
        @for (k, of) in surface.of.iter().enumerate() {
            table.small {
                caption {
                    (said(&down.column)) " (down) and " (said(&across.column)) " (across): added to the "
                    (said(of))
                }
                thead { tr {
                    th scope="col" { (said(&down.column)) }
                    @for point in &across.points { th.number scope="col" { (value(across, point)) } }
                } }
                tbody { @for (i, point) in down.points.iter().enumerate() { tr {
                    th scope="row" { (value(down, point)) }
                    @for (j, cell) in surface.values[k][i].iter().enumerate() { td.number {
                        (number(*cell))
                        @if let Some(bands) = &surface.bands { br; (interval(&bands[i][j])) }
                    } }
                } } }
            }
        }
    }
}

fn interval(band: &CurveBand) -> Markup {
    html! { small { (number(band.from)) " to " (number(band.to)) } }
}

fn value(side: &SurfaceSide, point: &SurfacePoint) -> Markup {
    match &point.category {
        Some(category) => html! { (said(category)) },
        None if side.days => html! { (reticent_plot::day(point.x * DAY)) },
        None => html! { (number(point.x)) },
    }
}
