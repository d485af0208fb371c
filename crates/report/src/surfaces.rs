//! What the columns of pairs do together: a small table each.

use maud::{Markup, html};
use reticent::{Model, PairSurface, SurfacePoint, SurfaceSide};

use crate::words::{number, said};

/// So many are shown.
const SHOWN: usize = 12;

/// Days on an axis of seconds.
const DAY: f64 = 86_400.0;

/// A table of every pair, that which moves most first; nothing without one.
pub(crate) fn surfaces(model: &Model) -> Markup {
    let surfaces = model.surfaces();
    html! {
        @if !surfaces.is_empty() {
            h3 { "What two columns do together" }
            p {
                "Pairs of columns, the one that moves a prediction most first. A number says what is added for \
                 a value of the row and a value of the column, whatever the other columns are, less the mean \
                 over the table. The values are bounds, knots, middles and categories; they are public."
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
                tbody { @for (point, row) in down.points.iter().zip(&surface.values[k]) { tr {
                    th scope="row" { (value(down, point)) }
                    @for cell in row { td.number { (number(*cell)) } }
                } } }
            }
        }
    }
}

fn value(side: &SurfaceSide, point: &SurfacePoint) -> Markup {
    match &point.category {
        Some(category) => html! { (said(category)) },
        None if side.days => html! { (reticent_plot::day(point.x * DAY)) },
        None => html! { (number(point.x)) },
    }
}
