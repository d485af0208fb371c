//! What the two columns of a pair do together, in the units of the table: one place for the report,
//! `inspect`, Python and JSON.
//!
//! ```text
//! f(x, y) = f_a(x) + f_b(y) + h·Σ w_ij·u_i(x)·v_j(y)       less its mean over the points
//! ```
//!
//! f_a and f_b are what each column adds by itself: its line and hats, or its categories, and the
//! mean of its products with columns of other pairs over their public places. Points are knots,
//! bounds, middles and categories: all of them are public. Where standard errors were paid for, each
//! point has an estimate of the population with its error.

use reticent_oracle::tables::{CoarseBasis, Column, HAT, PairPlace, Role, Schema};
use serde::{Deserialize, Serialize};

use crate::column_curve::CurveBand;
use crate::model::Model;

/// The joint effect of two columns on a prediction, which no other column changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PairSurface {
    /// The first column and the second.
    pub sides: [SurfaceSide; 2],
    /// The quantity that is changed: the log-odds or the score of a class, or the predicted number; one for each
    /// output.
    pub of: Vec<String>,
    /// The contributions, by output, by point of the first column, by point of the second.
    pub values: Vec<Vec<Vec<f64>>>,
    /// The estimates for the population, with the ends of its interval of 95 %, by point of the
    /// first column, by point of the second; where standard errors were paid for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bands: Option<Vec<Vec<CurveBand>>>,
    /// The largest difference between two of its points, of any output.
    pub range: f64,
}

/// The joint effect of two columns in the population, at their points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct SurfaceEstimate {
    /// The columns of the pair.
    pub columns: [String; 2],
    /// By point of the first column, by point of the second.
    pub estimates: Vec<Vec<f64>>,
    /// Their standard errors, of sampling and of noise.
    pub standard_errors: Vec<Vec<f64>>,
}

impl SurfaceEstimate {
    fn bands(&self) -> Vec<Vec<CurveBand>> {
        let row = |(estimates, errors): (&Vec<f64>, &Vec<f64>)| {
            let parts = estimates.iter().zip(errors);
            parts.map(|(&estimate, &error)| CurveBand::around(estimate, error)).collect()
        };
        self.estimates.iter().zip(&self.standard_errors).map(row).collect()
    }
}

/// A column of a pair, and its points.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SurfaceSide {
    /// The name of the column.
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
    /// The name of the category.
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

/// A pair, and what its features are at its points: those of both columns, and the products.
pub(crate) struct PairFeatures {
    pub sides: [SurfaceSide; 2],
    /// The numbers of the features among all, the same at every point.
    pub indices: Vec<usize>,
    /// By point of the first column, by point of the second: the features, less their mean over all
    /// points.
    pub cells: Vec<Vec<Vec<f64>>>,
}

impl PairFeatures {
    fn of(schema: &Schema, pairs: &[PairPlace<'_>], number: usize) -> Self {
        let pair = &pairs[number];
        let sides = [0, 1].map(|k| side(pair.columns[k], pair.bases[k]));
        // What a column has by itself at each of its points, and where.
        let alone = [0, 1].map(|k| -> Vec<Vec<(usize, f64)>> {
            let column = pair.columns[k];
            let first = schema.place_of(column.name()).map_or(0, |(at, _)| at.start);
            let means = PairedMean::of(pairs, column.name(), Some(number));
            let features = |point: &SurfacePoint| {
                let own = own_features(column, point.at).into_iter().enumerate();
                let with = means.iter().flat_map(|mean| mean.at(point.at));
                own.map(|(j, x)| (first + j, x)).chain(with).collect()
            };
            sides[k].points.iter().map(features).collect()
        });
        let together = |a: f64, b: f64| -> Vec<f64> {
            let (u, v) = (pair.bases[0].at(a), pair.bases[1].at(b));
            u.iter().flat_map(|u| v.iter().map(move |v| HAT * u * v)).collect()
        };
        let cell = |i: usize, j: usize| -> Vec<f64> {
            let own = alone[0][i].iter().chain(&alone[1][j]).map(|&(_, x)| x);
            own.chain(together(sides[0].points[i].at, sides[1].points[j].at)).collect()
        };
        let [rows, columns] = [0, 1].map(|k| sides[k].points.len());
        let mut cells: Vec<Vec<Vec<f64>>> =
            (0..rows).map(|i| (0..columns).map(|j| cell(i, j)).collect()).collect();
        let own = alone[0][0].iter().chain(&alone[1][0]).map(|&(at, _)| at);
        let products = together(sides[0].points[0].at, sides[1].points[0].at).len();
        let indices: Vec<usize> = own.chain(pair.first..pair.first + products).collect();
        centre(&mut cells, indices.len());
        PairFeatures { sides, indices, cells }
    }

    /// A number of each point.
    pub fn map<T>(&self, of: impl Fn(&[f64]) -> T) -> Vec<Vec<T>> {
        self.cells.iter().map(|row| row.iter().map(|features| of(features)).collect()).collect()
    }
}

impl Model {
    /// The joint effect of the columns of each pair, the pair that moves most first; empty without pairs.
    pub fn surfaces(&self) -> Vec<PairSurface> {
        let mut all: Vec<PairSurface> =
            self.pair_features().into_iter().map(|pair| self.surface(pair)).collect();
        all.sort_by(|a, b| b.range.total_cmp(&a.range));
        all
    }

    /// The features of each pair at its points, as the schema lists them.
    pub(crate) fn pair_features(&self) -> Vec<PairFeatures> {
        let pairs = self.preprocessing().paired();
        (0..pairs.len()).map(|k| PairFeatures::of(self.preprocessing(), &pairs, k)).collect()
    }

    fn surface(&self, pair: PairFeatures) -> PairSurface {
        let (factor, _) = self.decoding();
        let of_output = |k: usize| {
            let weight = |&j: &usize| self.coefficients()[j].values[k];
            let weights: Vec<f64> = pair.indices.iter().map(weight).collect();
            pair.map(|all| factor * all.iter().zip(&weights).map(|(x, w)| x * w).sum::<f64>())
        };
        let values: Vec<Vec<Vec<f64>>> = (0..self.outputs().len()).map(of_output).collect();
        let range = values.iter().map(|values| range(values)).fold(0.0, f64::max);
        let shape = |rows: &[Vec<f64>]| rows.iter().map(Vec::len).collect::<Vec<_>>();
        let estimated = self.standard_errors().and_then(|found| {
            found.surfaces.iter().find(|it| {
                let names = it.columns.iter().zip(&pair.sides);
                names.into_iter().all(|(name, side)| *name == side.column)
                    && values.iter().all(|of| shape(of) == shape(&it.estimates))
                    && shape(&it.estimates) == shape(&it.standard_errors)
            })
        });
        let bands = estimated.map(SurfaceEstimate::bands);
        PairSurface { sides: pair.sides, of: self.explained(), values, bands, range }
    }
}

/// Takes from every feature its mean over all points.
fn centre(cells: &mut [Vec<Vec<f64>>], features: usize) {
    let count = cells.iter().map(Vec::len).sum::<usize>().max(1);
    for j in 0..features {
        let mean = cells.iter().flatten().map(|all| all[j]).sum::<f64>() / count as f64;
        cells.iter_mut().flatten().for_each(|all| all[j] -= mean);
    }
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
