//! A column that is bent: the hat functions that a numeric column has beside its line.
//!
//! ```text
//! t(x) in [0, 1]                         the place of x between the bounds, after the scale of the column
//! 0 = t₀ < t₁ < … < t_K < t_{K+1} = 1    the knots; declared, or equally spaced: t_k = k/(K + 1)
//! hat_k(t), k = 1 … K                    1 at t_k, 0 at and beyond t_{k−1} and t_{k+1}, straight between
//! ```
//!
//! A column becomes its line and `h·hat_1 … h·hat_K`, h = ½: K + 1 features, of which at most three
//! are not 0. With the hats of both ends the K + 2 would sum to 1 and reproduce the line, so that
//! curvature had no inverse; with those inside alone, intercept, line and hats are independent and
//! span every function that is straight between the knots. A missing value has no hat.
//!
//! Two neighbouring hats sum to at most 1, and so do their squares: the hats of a column are at most
//! h long, whatever the value is. They stand outside of the declared row norm (proofs/curves.md).

use super::{CategoryOrder, Column, Numeric, Role, Scale, Schema, SchemaError};
use std::sync::Arc;

/// The length of hats beside a line, which is 1 long: half of it was measured to be good.
pub const HAT: f64 = 0.5;

/// More knots are features, and no shape.
const MOST: usize = 256;

/// What a column declares about its hats.
#[derive(Debug, Clone, PartialEq)]
pub enum Curve {
    /// So many knots between the bounds, equally spaced after the scale; 0 is the line, whatever a
    /// job says of all columns.
    Even(usize),
    /// Knots at these numbers, ascending and strictly between the bounds.
    At(Vec<f64>),
}

/// The hats of one column, ready for many values.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Hats {
    /// The places of all knots, 0 in front and 1 behind; empty without hats.
    places: Vec<f64>,
}

impl Hats {
    /// The number of hats.
    pub fn len(&self) -> usize {
        self.places.len().saturating_sub(2)
    }

    /// Whether the column is a line.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The places of the knots from 0 to 1, those of both bounds among them; empty without hats.
    pub fn places(&self) -> &[f64] {
        &self.places
    }

    /// Hands on the hats of a place that are not 0, by number and in their order, each times [`HAT`].
    #[inline]
    pub(crate) fn each(&self, t: f64, mut put: impl FnMut(usize, f64)) {
        let Some(last) = self.places.len().checked_sub(2) else { return };
        // The interval of t: the last knot that is not above it, and the next.
        let below = self.places[1..=last].partition_point(|&knot| knot <= t);
        let (from, to) = (self.places[below], self.places[below + 1]);
        let along = ((t - from) / (to - from)).clamp(0.0, 1.0);
        if below > 0 {
            put(below - 1, HAT * (1.0 - along));
        }
        if below < last {
            put(below, HAT * along);
        }
    }
}

impl Numeric {
    /// The quantiles between the bounds, of a scale that goes by them.
    pub fn quantiles(&self) -> &[f64] {
        &self.quantiles
    }

    /// What it declares about its hats, if anything.
    pub fn curve(&self) -> Option<&Curve> {
        self.curve.as_ref()
    }

    /// Its hats.
    pub fn hats(&self) -> Hats {
        let inside: Vec<f64> = match &self.curve {
            None | Some(Curve::Even(0)) => return Hats::default(),
            Some(Curve::Even(count)) => {
                (1..=*count).map(|k| k as f64 / (count + 1) as f64).collect()
            }
            Some(Curve::At(knots)) => knots.iter().map(|&knot| self.place(knot)).collect(),
        };
        Hats { places: [0.0].into_iter().chain(inside).chain([1.0]).collect() }
    }

    /// The number of hats.
    pub fn hat_count(&self) -> usize {
        match &self.curve {
            None => 0,
            Some(Curve::Even(count)) => *count,
            Some(Curve::At(knots)) => knots.len(),
        }
    }

    /// Where a finite number is between the bounds, from 0 to 1 after the scale.
    #[inline]
    pub fn place(&self, x: f64) -> f64 {
        match self.scale {
            Scale::Log => self.encode(x),
            Scale::Quantile => ((self.encode(x) + 1.0) / 2.0).clamp(0.0, 1.0),
            Scale::MinusOneToOne | Scale::ZeroToOne | Scale::None => {
                let (lower, upper) = (self.lower, self.upper);
                ((x.clamp(lower, upper) - lower) / (upper - lower)).clamp(0.0, 1.0)
            }
        }
    }

    /// What the line is at a place from 0 to 1.
    pub fn on_line(&self, t: f64) -> f64 {
        match self.scale {
            Scale::Log | Scale::ZeroToOne => t,
            Scale::MinusOneToOne | Scale::Quantile => 2.0 * t - 1.0,
            Scale::None => self.at_place(t),
        }
    }

    /// The number at a place from 0 to 1.
    pub fn at_place(&self, t: f64) -> f64 {
        let (lower, upper) = (self.lower, self.upper);
        let x = match self.scale {
            Scale::Log => lower + (t * (upper - lower).ln_1p()).exp_m1(),
            Scale::Quantile => {
                let steps = t * (self.quantiles.len() + 1) as f64;
                let below = (steps.floor() as usize).min(self.quantiles.len());
                let from = if below == 0 { lower } else { self.quantiles[below - 1] };
                let to = self.quantiles.get(below).copied().unwrap_or(upper);
                from + (steps - below as f64) * (to - from)
            }
            Scale::MinusOneToOne | Scale::ZeroToOne | Scale::None => lower + t * (upper - lower),
        };
        x.clamp(lower, upper)
    }

    /// The knots between the bounds, in the units of the column; those of a date are days.
    pub fn knots(&self) -> Vec<f64> {
        match &self.curve {
            Some(Curve::At(knots)) => knots.clone(),
            _ => {
                let hats = self.hats();
                let inside = hats.places.iter().skip(1).take(hats.len());
                inside.map(|&t| self.at_place(t)).collect()
            }
        }
    }

    /// The knots as short as they can be told apart, for the names of features.
    pub(super) fn knot_words(&self, date: bool) -> Vec<String> {
        let knots = self.knots();
        let word = |digits: usize, x: f64| match date {
            true => crate::day::text(x.round() as i64),
            false => format!("{:.digits$e}", x).parse().unwrap_or(x).to_string(),
        };
        let words = |digits| knots.iter().map(|&x| word(digits, x)).collect::<Vec<_>>();
        let distinct = |words: &Vec<String>| words.windows(2).all(|pair| pair[0] != pair[1]);
        let short = (2..16).map(words).find(distinct);
        // Days that are closer than a day are told apart by number.
        short.unwrap_or_else(|| (1..=knots.len()).map(|k| format!("knot {k}")).collect())
    }

    /// What is wrong with its hats, if anything is.
    pub(super) fn wrong_curve(&self) -> Option<String> {
        let (lower, upper) = (self.lower, self.upper);
        match &self.curve {
            Some(Curve::Even(count)) if *count > MOST => {
                Some(format!("has curve = {count}; allowed: a number of knots from 0 to {MOST}"))
            }
            Some(Curve::At(knots)) => {
                let apart = self.hats().places.windows(2).all(|pair| pair[0] < pair[1]);
                let inside = knots.iter().all(|knot| lower < *knot && *knot < upper);
                let right = (1..=MOST).contains(&knots.len()) && inside && apart;
                (!right).then(|| {
                    format!(
                        "has `knots` that no curve has; allowed: 1 to {MOST} numbers that ascend, above {lower} and \
                         below {upper}, and apart after its scale"
                    )
                })
            }
            _ => None,
        }
    }

    /// Whether a job that bends all columns bends this one: one that says nothing itself, is scaled
    /// and is no flag, which has nothing between 0 and 1.
    fn is_open(&self) -> bool {
        let flag = self.lower == 0.0 && self.upper == 1.0;
        self.curve.is_none() && self.scale != Scale::None && !flag
    }
}

impl Column {
    /// Its bounds, scale and curve, if it is a number, a day or categories with an order, which are
    /// a number along it.
    pub fn numeric(&self) -> Option<&Numeric> {
        match &self.role {
            Role::Numeric(numeric) | Role::Date(numeric) => Some(numeric),
            Role::Categorical(categorical) => categorical.order().map(CategoryOrder::along),
            _ => None,
        }
    }

    /// How many hats it has where a job asks for so many of each column; `None` where it is not open
    /// to that: it says itself, is a flag (bounds 0 and 1), not scaled, or no number.
    fn open_hats(&self, knots: usize) -> Option<usize> {
        match &self.role {
            Role::Numeric(numeric) | Role::Date(numeric) => numeric.is_open().then_some(knots),
            Role::Categorical(categorical) => {
                let order = categorical.order().filter(|order| order.is_open());
                order.map(|order| order.hats_of(knots))
            }
            _ => None,
        }
    }
}

impl Schema {
    /// How many columns have hats.
    pub fn curved(&self) -> usize {
        self.numerics().filter(|numeric| numeric.hat_count() > 0).count()
    }

    /// How many hats a job makes that asks for so many of each column that is open to it: those that
    /// say nothing of it themselves, but flags (bounds 0 and 1) and what is not scaled.
    pub fn open_hats(&self, knots: usize) -> usize {
        self.columns.iter().filter_map(|column| column.open_hats(knots)).sum()
    }

    /// The number of encoded columns that such a job makes.
    pub fn width_with(&self, knots: usize) -> usize {
        let open = self.columns.iter().filter(|column| column.open_hats(0).is_some());
        let hats: usize = open.filter_map(Column::numeric).map(Numeric::hat_count).sum();
        self.width() - hats + self.open_hats(knots)
    }

    /// The same schema with so many knots for each column that is open to it.
    ///
    /// # Errors
    /// If there are too many.
    pub fn with_curves(mut self, knots: usize) -> Result<Self, SchemaError> {
        for numeric in self.numerics_mut().filter(|numeric| numeric.is_open()) {
            numeric.curve = (knots > 0).then_some(Curve::Even(knots));
        }
        self.orders_mut().filter(|order| order.is_open()).for_each(|order| order.bend(knots));
        self.checked()
    }

    /// The same schema in which every column is a line, along the order of categories too, and no two
    /// are a pair.
    pub fn without_curves(mut self) -> Self {
        self.pairs.clear();
        self.numerics_mut().for_each(|numeric| numeric.curve = None);
        self.orders_mut().for_each(|order| order.bend(0));
        self
    }

    fn numerics(&self) -> impl Iterator<Item = &Numeric> {
        self.columns.iter().filter_map(Column::numeric)
    }

    fn orders_mut(&mut self) -> impl Iterator<Item = &mut CategoryOrder> {
        Arc::make_mut(&mut self.columns).iter_mut().filter_map(|column| match &mut column.role {
            Role::Categorical(categorical) => categorical.order.as_mut(),
            _ => None,
        })
    }

    fn numerics_mut(&mut self) -> impl Iterator<Item = &mut Numeric> {
        Arc::make_mut(&mut self.columns).iter_mut().filter_map(|column| match &mut column.role {
            Role::Numeric(numeric) | Role::Date(numeric) => Some(numeric),
            _ => None,
        })
    }
}
