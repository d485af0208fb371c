//! The curve of a column, in the units of the table: one place for the report, `inspect`, Python and
//! JSON.
//!
//! ```text
//! f(x) = w₀·line(x) + Σ_k w_k·h·hat_k(x)         less its mean over the knots and both bounds
//! ```
//!
//! The intercept says where all columns stand together, so a curve is known up to a constant, and the
//! mean over its knots, which are public, is as good as any. It holds within the bounds and the row
//! norm, as weights per unit do. Where standard errors were paid for, each knot has an estimate of the
//! population with its error; in between both are straight, which makes a band no narrower than its
//! own. A column of a pair has the mean of its products over the public places of the other
//! (`surface.rs` has both). Categories with an order have a point each, numbered from 0.

use reticent_oracle::tables::{HAT, Labels, Numeric, Role, Scale};
use serde::{Deserialize, Serialize};

use crate::model::Model;
use crate::standard_errors::QUANTILE;
use crate::surface::PairedMean;

/// So many points are between two knots where a scale is bent there.
const BETWEEN: usize = 8;

/// The effect of one column on a prediction, which no other column changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnCurve {
    /// The name of the column.
    pub column: String,
    /// Whether its numbers are days since 1970-01-01.
    pub days: bool,
    /// Whether its scale is logarithmic.
    pub log: bool,
    /// The quantity that it changes: the log-odds or the score of a class, or the predicted number; one for each
    /// output.
    pub of: Vec<String>,
    /// The knots between the bounds.
    pub knots: Vec<f64>,
    /// The points that the curve is straight between, from the lower to the upper bound.
    pub points: Vec<ColumnCurvePoint>,
    /// The largest difference between two of its points, of any output: what it can move.
    pub range: f64,
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnCurvePoint {
    /// The value of the column; of a category its number, from 0.
    pub x: f64,
    /// The name of the category.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The contribution to the output, one for each output.
    pub values: Vec<f64>,
    /// The estimate for the population, with the ends of its interval of 95 %; where standard
    /// errors were paid for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<CurveBand>,
}

/// The estimate at a point of a curve, with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CurveBand {
    /// The estimate for the population.
    pub estimate: f64,
    /// The lower end of the interval.
    pub from: f64,
    /// The upper end of the interval.
    pub to: f64,
}

impl CurveBand {
    pub(crate) fn around(estimate: f64, standard_error: f64) -> Self {
        let by = QUANTILE * standard_error;
        CurveBand { estimate, from: estimate - by, to: estimate + by }
    }
}

/// The curve of a column in the population, at its bounds and knots.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct CurveEstimate {
    /// The name of the column.
    pub name: String,
    /// From the lower to the upper bound.
    pub estimates: Vec<f64>,
    /// Their standard errors, of sampling and of noise.
    pub standard_errors: Vec<f64>,
}

/// A column with hats, and where its features stand among all.
pub(crate) struct Curved<'a> {
    pub name: &'a str,
    pub first: usize,
    pub numeric: &'a Numeric,
    days: bool,
    /// Of a column of categories with an order.
    categories: Option<&'a Labels>,
    /// Its pairs.
    means: Vec<PairedMean>,
}

impl Curved<'_> {
    /// The places that it is straight between: its knots, both bounds among them, and its middle in a
    /// pair.
    pub fn bends(&self) -> Vec<f64> {
        let mut places = self.numeric.hats().places().to_vec();
        // A line is 0 in its middle, where its error is, too.
        if places.is_empty() {
            places = vec![0.0, 0.5, 1.0];
        }
        places.extend(self.means.iter().any(PairedMean::bends).then_some(0.5));
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }

    /// The numbers of its features among all: line, hats, and the products of its pairs.
    pub fn indices(&self) -> Vec<usize> {
        let own = self.first..=self.first + self.numeric.hat_count();
        own.chain(self.means.iter().flat_map(|mean| mean.at(0.0)).map(|(j, _)| j)).collect()
    }

    /// Where it is straight between, what these features are, less their mean over these places.
    pub fn features(&self) -> Vec<Vec<f64>> {
        let hats = self.numeric.hats();
        let features = |&t: &f64| {
            let mut features = vec![self.numeric.on_line(t)];
            features.extend(hats.places().windows(3).map(|knots| {
                let (up, down) = (
                    (t - knots[0]) / (knots[1] - knots[0]),
                    (knots[2] - t) / (knots[2] - knots[1]),
                );
                HAT * up.min(down).max(0.0)
            }));
            features.extend(self.means.iter().flat_map(|mean| mean.at(t)).map(|(_, x)| x));
            features
        };
        let mut all: Vec<Vec<f64>> = self.bends().iter().map(features).collect();
        for j in 0..all[0].len() {
            let mean = all.iter().map(|features| features[j]).sum::<f64>() / all.len() as f64;
            all.iter_mut().for_each(|features| features[j] -= mean);
        }
        all
    }

    /// The places at which a curve is drawn: its knots, and what is between them where its scale is
    /// bent.
    fn places(&self) -> Vec<f64> {
        let knots = self.bends();
        if let Some(categories) = self.categories {
            return (0..categories.len()).map(|i| self.numeric.place(i as f64)).collect();
        }
        let mut places = knots.clone();
        match self.numeric.scale() {
            Scale::Log => {
                let between = |pair: &[f64]| {
                    let (from, step) = (pair[0], (pair[1] - pair[0]) / BETWEEN as f64);
                    (1..BETWEEN).map(move |k| from + k as f64 * step).collect::<Vec<_>>()
                };
                places.extend(knots.windows(2).flat_map(between));
            }
            Scale::Quantile => {
                let quantiles = self.numeric.quantiles();
                places.extend(quantiles.iter().map(|&x| self.numeric.place(x)));
            }
            Scale::MinusOneToOne | Scale::ZeroToOne | Scale::None => {}
        }
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }
}

impl Curved<'_> {
    /// The value at a place; categories are whole numbers.
    fn at(&self, place: f64) -> f64 {
        let x = self.numeric.at_place(place);
        if self.categories.is_some() { x.round() } else { x }
    }

    fn category(&self, place: f64) -> Option<String> {
        self.categories.map(|categories| categories.name(self.at(place) as usize).to_owned())
    }
}

/// What a function that has these values at its knots is at a place.
fn between(knots: &[f64], values: &[f64], place: f64) -> f64 {
    let at = knots.partition_point(|&knot| knot <= place).clamp(1, knots.len() - 1);
    let along = (place - knots[at - 1]) / (knots[at] - knots[at - 1]);
    values[at - 1] * (1.0 - along) + values[at] * along
}

/// The band of a line at a place, with this slope and its error: 0 is in its middle.
fn along(line: &Curved<'_>, place: f64, slope: f64, error: f64) -> CurveBand {
    let from_middle = line.numeric.on_line(place) - line.numeric.on_line(0.5);
    CurveBand::around(slope * from_middle, error * from_middle.abs())
}

impl Model {
    /// The curves of its columns, the widest range first; empty where every column is a line.
    pub fn curves(&self) -> Vec<ColumnCurve> {
        let mut curves: Vec<ColumnCurve> =
            self.curved().iter().map(|curved| self.curve(curved)).collect();
        curves.sort_by(|a, b| b.range.total_cmp(&a.range));
        curves
    }

    /// The same of its columns of numbers and dates without knots, which are lines after their scale.
    pub fn lines(&self) -> Vec<ColumnCurve> {
        let mut lines: Vec<ColumnCurve> =
            self.straight().iter().map(|line| self.curve(line)).collect();
        lines.sort_by(|a, b| b.range.total_cmp(&a.range));
        lines
    }

    /// How many columns are bent, and by how many knots.
    pub(crate) fn curves_in_words(&self) -> Option<String> {
        let curves = self.curved();
        let knots = || curves.iter().map(|curved| curved.numeric.hat_count());
        let (least, most) = (knots().min()?, knots().max()?);
        let knots = if least == most { most.to_string() } else { format!("{least} to {most}") };
        Some(format!("{} columns, {knots} knots each", curves.len()))
    }

    /// The pairs of columns.
    pub(crate) fn pairs_in_words(&self) -> Option<String> {
        let pairs = self.preprocessing().pairs();
        let words = pairs.iter().map(|[one, other]| format!("{one} and {other}"));
        (!pairs.is_empty()).then(|| words.collect::<Vec<_>>().join(", "))
    }

    /// Its columns with hats.
    pub(crate) fn curved(&self) -> Vec<Curved<'_>> {
        self.with_hats(|_, count| count > 0)
    }

    /// Its columns of numbers and dates without hats; categories in an order without knots have none.
    fn straight(&self) -> Vec<Curved<'_>> {
        self.with_hats(|role, count| count == 0 && !matches!(role, Role::Categorical(_)))
    }

    /// Its columns along a line, of this role and with so many hats.
    fn with_hats(&self, wanted: impl Fn(&Role, usize) -> bool) -> Vec<Curved<'_>> {
        let mut first = 0;
        let mut found = Vec::new();
        let pairs = self.preprocessing().paired();
        for column in self.preprocessing().columns() {
            let wanted = |numeric: &&Numeric| wanted(column.role(), numeric.hat_count());
            if let Some(numeric) = column.numeric().filter(wanted) {
                let days = matches!(column.role(), Role::Date(_));
                let categories = match column.role() {
                    Role::Categorical(categorical) => Some(categorical.categories()),
                    _ => None,
                };
                let (name, means) = (column.name(), PairedMean::of(&pairs, column.name(), None));
                found.push(Curved { name, first, numeric, days, categories, means });
            }
            first += column.width();
        }
        found
    }

    /// The slope of a line in the population with its standard error, on its scale and with the factor of
    /// the output; `None` where nobody paid for it, and of a column of a pair, which has more than a line.
    fn line_estimate(&self, line: &Curved<'_>) -> Option<(f64, f64)> {
        if line.numeric.hat_count() > 0 || !line.means.is_empty() {
            return None;
        }
        let found = self.standard_errors()?.estimates.iter().find(|one| one.name == line.name)?;
        let ends = [line.numeric.at_place(0.0), line.numeric.at_place(1.0)];
        let unit = match found.encoded {
            true => 1.0,
            false => (ends[1] - ends[0]) / (line.numeric.on_line(1.0) - line.numeric.on_line(0.0)),
        };
        Some((found.estimate * unit, found.standard_error * unit))
    }

    fn curve(&self, curved: &Curved<'_>) -> ColumnCurve {
        let (factor, _) = self.decoding();
        let features = curved.features();
        let weights: Vec<_> =
            curved.indices().into_iter().map(|j| &self.coefficients()[j]).collect();
        let value = |features: &Vec<f64>, k: usize| {
            let parts = features.iter().zip(&weights);
            factor * parts.map(|(feature, weight)| feature * weight.values[k]).sum::<f64>()
        };
        let outputs = self.outputs().len();
        let at_knots: Vec<Vec<f64>> =
            (0..outputs).map(|k| features.iter().map(|all| value(all, k)).collect()).collect();
        let ends = |values: &Vec<f64>| {
            let most = values.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
            most - values.iter().fold(f64::INFINITY, |a, &b| a.min(b))
        };
        let estimated = self
            .standard_errors()
            .and_then(|found| found.curves.iter().find(|estimate| estimate.name == curved.name));
        let knots = &curved.bends()[..];
        let band = |place: f64, found: &CurveEstimate| {
            let error = between(knots, &found.standard_errors, place);
            CurveBand::around(between(knots, &found.estimates, place), error)
        };
        let fits = |found: &&CurveEstimate| {
            found.estimates.len() == knots.len() && found.standard_errors.len() == knots.len()
        };
        let estimated = estimated.filter(fits);
        let line = self.line_estimate(curved);
        let point = |place: f64| ColumnCurvePoint {
            x: curved.at(place),
            category: curved.category(place),
            values: at_knots.iter().map(|values| between(knots, values, place)).collect(),
            band: estimated
                .map(|found| band(place, found))
                .or_else(|| line.map(|(slope, error)| along(curved, place, slope, error))),
        };
        ColumnCurve {
            column: curved.name.to_owned(),
            days: curved.days,
            log: curved.numeric.scale() == Scale::Log,
            of: self.explained(),
            knots: curved.numeric.knots(),
            points: curved.places().into_iter().map(point).collect(),
            range: at_knots.iter().map(ends).fold(0.0, f64::max),
        }
    }
}
