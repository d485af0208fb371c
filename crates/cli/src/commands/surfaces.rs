//! The pairs of a model as small tables, for `inspect`.

use reticent::{Model, PairSurface, SurfacePoint, SurfaceSide};
use reticent_core::calendar::day_text;

use crate::layout::columns;
use crate::number::show;

/// So many pairs are shown, and so many points of a column, without `--all`.
const MANY: usize = 4;
const POINTS: usize = 5;

/// What the columns of each pair do together.
pub fn surfaces(model: &Model, all: bool) -> String {
    let surfaces = model.surfaces();
    let shown = if all { surfaces.len() } else { MANY.min(surfaces.len()) };
    let mut text: String = surfaces[..shown].iter().map(|surface| tables(surface, all)).collect();
    if shown < surfaces.len() {
        text += &format!("  … and {} that move less; --all shows them\n", surfaces.len() - shown);
    }
    if !surfaces.is_empty() {
        let bands = surfaces.iter().any(|surface| surface.bands.is_some());
        let more = if bands { " with its interval of 95 %" } else { "" };
        text += &format!(
            "  (what is added for two values, less the mean over all points; --json has every point{more})\n"
        );
    }
    text
}

fn tables(surface: &PairSurface, all: bool) -> String {
    let [down, across] = &surface.sides;
    let (rows, heads) = (picked(down, all), picked(across, all));
    let mut text = String::new();
    for (k, of) in surface.of.iter().enumerate() {
        let corner = format!("{} \\ {}", down.column, across.column);
        let head = heads.iter().map(|&j| value(across, &across.points[j]));
        let mut lines = vec![std::iter::once(corner).chain(head).collect::<Vec<_>>()];
        for &i in &rows {
            let cells = heads.iter().map(|&j| show(surface.values[k][i][j]));
            lines.push(std::iter::once(value(down, &down.points[i])).chain(cells).collect());
        }
        let (one, other) = (&down.column, &across.column);
        text += &format!(
            "\nWhat {one} and {other} do together to the {of}:\n{}",
            columns(&lines, 2, 1)
        );
    }
    text
}

/// The numbers of the points that are shown: all, or some from the first to the last.
fn picked(side: &SurfaceSide, all: bool) -> Vec<usize> {
    let last = side.points.len() - 1;
    match all || last < POINTS {
        true => (0..=last).collect(),
        false => (0..POINTS).map(|k| k * last / (POINTS - 1)).collect(),
    }
}

fn value(side: &SurfaceSide, point: &SurfacePoint) -> String {
    match &point.category {
        Some(category) => category.clone(),
        None if side.days => day_text(point.x as i64),
        None => show(point.x),
    }
}
