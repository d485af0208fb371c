//! What the two columns of a pair do together, in the units of the table: one place for the report,
//! `inspect`, Python and JSON.
//!
//! ```text
//! f(x, y) = f_a(x) + f_b(y) + h·Σ w_ij·u_i(x)·v_j(y)       less its mean over the points
//! ```
//!
//! f_a and f_b are what each column adds by itself: its line and hats, or its categories, and the
//! mean of its products with columns of other pairs over their public places. Points are knots,
//! bounds, middles and categories: all of them are public.

use reticent_oracle::tables::{CoarseBasis, Column, HAT, PairPlace, Role};
use serde::Serialize;

use crate::model::Model;

/// What two columns do to a prediction together, whatever the others are.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairSurface {
    /// The first column and the second.
    pub sides: [SurfaceSide; 2],
    /// What is moved: the log-odds or the score of a class, or the predicted number; one for each
    /// output.
    pub of: Vec<String>,
    /// What is added, by output, by point of the first column, by point of the second.
    pub values: Vec<Vec<Vec<f64>>>,
    /// The largest difference between two of its points, of any output.
    pub range: f64,
}

/// A column of a pair, and its points.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SurfaceSide {
    /// The column.
    pub column: String,
    /// Whether its numbers are days since 1970-01-01.
    pub days: bool,
    /// Its points.
    pub points: Vec<SurfacePoint>,
}

/// A value of a column of a pair.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SurfacePoint {
    /// The number; of a category its number, from 0.
    pub x: f64,
    /// The category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Where it is in the basis of its column.
    #[serde(skip)]
    at: f64,
}

/// A column in its pairs: where the products are that it has with the mean of another.
pub(crate) struct PairedMean {
    basis: CoarseBasis,
    other: Vec<f64>,
    first: usize,
    /// Whether it is the first of the two.
    leads: bool,
}

impl PairedMean {
    /// Those of a column, but of the pair that is left out.
    pub fn of(pairs: &[PairPlace<'_>], name: &str, except: Option<usize>) -> Vec<Self> {
        let numbered = pairs.iter().enumerate().filter(|(k, _)| Some(*k) != except);
        let found = numbered.filter_map(|(_, pair)| {
            let at = pair.columns.iter().position(|column| column.name() == name)?;
            let (basis, other) = (pair.bases[at], pair.bases[1 - at].mean());
            Some(PairedMean { basis, other, first: pair.first, leads: at == 0 })
        });
        found.collect()
    }

    /// Whether the column bends at its middle for it.
    pub fn bends(&self) -> bool {
        self.basis == CoarseBasis::Bend
    }

    /// Its products at a place, each with its number among the features; the same numbers at every
    /// place.
    pub fn at(&self, place: f64) -> Vec<(usize, f64)> {
        let own = self.basis.at(place);
        let (rows, columns) = match self.leads {
            true => (&own, &self.other),
            false => (&self.other, &own),
        };
        let wide = columns.len();
        let products = rows.iter().enumerate().flat_map(|(i, u)| {
            let cell = move |(j, v): (usize, &f64)| (self.first + i * wide + j, HAT * u * v);
            columns.iter().enumerate().map(cell)
        });
        products.collect()
    }
}

impl Model {
    /// What the columns of each pair do together, the pair that moves most first; empty without pairs.
    pub fn surfaces(&self) -> Vec<PairSurface> {
        let pairs = self.preprocessing().paired();
        let mut all: Vec<PairSurface> =
            (0..pairs.len()).map(|number| self.surface(&pairs, number)).collect();
        all.sort_by(|a, b| b.range.total_cmp(&a.range));
        all
    }

    fn surface(&self, pairs: &[PairPlace<'_>], number: usize) -> PairSurface {
        let pair = &pairs[number];
        let sides = [0, 1].map(|k| side(pair.columns[k], pair.bases[k]));
        let means = [0, 1].map(|k| PairedMean::of(pairs, sides[k].column.as_str(), Some(number)));
        let outputs = self.outputs().len();
        let (factor, _) = self.decoding();
        let weight = |j: usize, k: usize| factor * self.coefficients()[j].values[k];
        // What a column adds by itself at each of its points.
        let alone = |side: usize, k: usize| -> Vec<f64> {
            let column = pair.columns[side];
            let first = self.preprocessing().place_of(column.name()).map_or(0, |(at, _)| at.start);
            let value = |point: &SurfacePoint| -> f64 {
                let own = own_features(column, point.at);
                let own = own.iter().enumerate().map(|(j, x)| x * weight(first + j, k));
                let with = means[side].iter().flat_map(|mean| mean.at(point.at));
                own.sum::<f64>() + with.map(|(j, x)| x * weight(j, k)).sum::<f64>()
            };
            sides[side].points.iter().map(value).collect()
        };
        let together = |a: f64, b: f64, k: usize| -> f64 {
            let (u, v) = (pair.bases[0].at(a), pair.bases[1].at(b));
            let cells = u.iter().flat_map(|u| v.iter().map(move |v| HAT * u * v));
            cells.enumerate().map(|(j, x)| x * weight(pair.first + j, k)).sum()
        };
        let of_output = |k: usize| {
            let (rows, columns) = (alone(0, k), alone(1, k));
            let row = |(a, own): (&SurfacePoint, &f64)| -> Vec<f64> {
                let cells = sides[1].points.iter().zip(&columns);
                cells.map(|(b, other)| own + other + together(a.at, b.at, k)).collect()
            };
            centred(sides[0].points.iter().zip(&rows).map(row).collect())
        };
        let values: Vec<Vec<Vec<f64>>> = (0..outputs).map(of_output).collect();
        let range = values.iter().map(|values| range(values)).fold(0.0, f64::max);
        PairSurface { sides, of: self.explained(), values, range }
    }
}

fn centred(mut values: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let count = values.iter().map(Vec::len).sum::<usize>().max(1);
    let mean = values.iter().flatten().sum::<f64>() / count as f64;
    values.iter_mut().flatten().for_each(|value| *value -= mean);
    values
}

fn range(values: &[Vec<f64>]) -> f64 {
    let all = || values.iter().flatten().copied();
    all().fold(f64::NEG_INFINITY, f64::max) - all().fold(f64::INFINITY, f64::min)
}

/// The points of a column: its knots, its bounds and its middle, or its categories.
fn side(column: &Column, basis: CoarseBasis) -> SurfaceSide {
    let mut places = basis.places();
    if let Some(numeric) = column.numeric() {
        places.extend_from_slice(numeric.hats().places());
    }
    let mut categories = None;
    if let Role::Categorical(categorical) = column.role() {
        categories = Some(categorical.categories());
        // Each of them, whether or not the curve along their order bends there.
        places = match column.numeric() {
            Some(along) => {
                (0..categorical.categories().len()).map(|i| along.place(i as f64)).collect()
            }
            None => places,
        };
    }
    places.sort_by(f64::total_cmp);
    places.dedup();
    let point = |(i, at): (usize, f64)| SurfacePoint {
        x: match column.numeric() {
            Some(numeric) if categories.is_none() => numeric.at_place(at),
            _ => i as f64,
        },
        category: categories.map(|names| names.name(i).to_owned()),
        at,
    };
    SurfaceSide {
        column: column.name().to_owned(),
        days: matches!(column.role(), Role::Date(_)),
        points: places.into_iter().enumerate().map(point).collect(),
    }
}

/// What the features of a column are at a place, or in a category.
fn own_features(column: &Column, at: f64) -> Vec<f64> {
    let mut features = vec![0.0; column.width()];
    match column.numeric() {
        None => features[at as usize] = 1.0,
        Some(numeric) => {
            features[0] = numeric.on_line(at);
            for (j, knots) in numeric.hats().places().windows(3).enumerate() {
                let (up, down) = (
                    (at - knots[0]) / (knots[1] - knots[0]),
                    (knots[2] - at) / (knots[2] - knots[1]),
                );
                features[1 + j] = HAT * up.min(down).max(0.0);
            }
        }
    }
    features
}
