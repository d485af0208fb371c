//! Pairs of columns: products of two coarse bases, declared by whoever writes the schema.
//!
//! ```text
//! a number, a day, categories with an order: at the place t, s = 2t − 1    u = (s, 1 − |s|)
//! a flag: bounds 0 and 1, no curve                                        u = (s)
//! categories 0 … m − 1                                                    u = (0/1 of 1, …, 0/1 of m − 1)
//! a pair of columns with the bases u and v                                h·u_i·v_j for every i and j, h = ½
//! ```
//!
//! No basis has a constant among its functions, nor can they make one: products then say what neither
//! column says by itself, and curvature keeps its inverse. A basis is at most 1 long, as
//! s² + (1 − |s|)² ≤ 1 for |s| ≤ 1, so that the products of a pair are at most h long
//! (proofs/curves.md). Where either field is missing, or has no category, there is no product.

use super::{Column, HAT, Numeric, Role, Schema, SchemaError};

/// More products are features, and no shape.
const MOST: usize = 256;

/// What a column is in a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CoarseBasis {
    /// A line.
    Line,
    /// A line and a hat at its middle.
    Bend,
    /// So many categories, of which all but the first have a 0/1.
    Kinds(usize),
}

/// A pair and where its products stand.
#[derive(Debug, Clone, PartialEq)]
pub struct PairPlace<'a> {
    /// The columns.
    pub columns: [&'a Column; 2],
    /// What they are in it.
    pub bases: [CoarseBasis; 2],
    /// The number of its first product among the features.
    pub first: usize,
    /// The columns by number.
    pub(crate) slots: [usize; 2],
}

impl CoarseBasis {
    fn of(column: &Column) -> Option<Self> {
        match &column.role {
            Role::Categorical(categorical) if categorical.order.is_none() => {
                Some(Self::Kinds(categorical.categories.len()))
            }
            _ => column.numeric().map(|numeric| match numeric.has_no_middle() {
                true => Self::Line,
                false => Self::Bend,
            }),
        }
    }

    /// The number of its functions.
    #[allow(clippy::len_without_is_empty)] // a basis in a pair has at least one
    pub fn len(self) -> usize {
        match self {
            Self::Line => 1,
            Self::Bend => 2,
            Self::Kinds(count) => count.saturating_sub(1),
        }
    }

    /// Hands on its functions that are not 0: of a number at a place from 0 to 1, of categories at a
    /// number from 0.
    #[inline]
    pub fn each(self, at: f64, mut put: impl FnMut(usize, f64)) {
        let s = 2.0 * at - 1.0;
        match self {
            Self::Line => put(0, s),
            Self::Bend => {
                put(0, s);
                put(1, 1.0 - s.abs());
            }
            Self::Kinds(_) if at >= 1.0 => put(at as usize - 1, 1.0),
            Self::Kinds(_) => {}
        }
    }

    /// Its functions.
    pub fn at(self, at: f64) -> Vec<f64> {
        let mut all = vec![0.0; self.len()];
        self.each(at, |i, value| all[i] = value);
        all
    }

    /// The places that it is straight between, or its categories: all of them public.
    pub fn places(self) -> Vec<f64> {
        match self {
            Self::Line => vec![0.0, 1.0],
            Self::Bend => vec![0.0, 0.5, 1.0],
            Self::Kinds(count) => (0..count).map(|i| i as f64).collect(),
        }
    }

    /// The mean of its functions over these.
    pub fn mean(self) -> Vec<f64> {
        let places = self.places();
        let mut all = vec![0.0; self.len()];
        places.iter().for_each(|&at| self.each(at, |i, value| all[i] += value));
        all.into_iter().map(|sum| sum / places.len() as f64).collect()
    }

    /// The names of its functions.
    fn names(self, column: &Column) -> Vec<String> {
        let name = &column.name;
        match (self, &column.role) {
            (Self::Kinds(_), Role::Categorical(c)) => {
                c.categories.names().skip(1).map(|v| format!("{name}={v}")).collect()
            }
            (Self::Bend, _) => vec![name.clone(), format!("{name}@middle")],
            _ => vec![name.clone()],
        }
    }

    /// Functions of a record that are not 0, at most.
    fn filled(self) -> usize {
        match self {
            Self::Bend => 2,
            Self::Line | Self::Kinds(_) => 1,
        }
    }
}

impl Numeric {
    /// Whether there is nothing between its bounds: a flag, or two categories.
    fn has_no_middle(&self) -> bool {
        self.lower == 0.0 && self.upper == 1.0 && self.hat_count() == 0
    }
}

impl PairPlace<'_> {
    /// The number of its products.
    pub fn width(&self) -> usize {
        self.bases[0].len() * self.bases[1].len()
    }

    /// Hands on the products that are not 0, by their number among the features.
    #[inline]
    pub(crate) fn products(bases: [CoarseBasis; 2], at: [f64; 2], mut put: impl FnMut(usize, f64)) {
        bases[0].each(at[0], |i, u| {
            bases[1].each(at[1], |j, v| put(i * bases[1].len() + j, HAT * (u * v)));
        });
    }
}

impl Schema {
    /// The pairs of columns whose products are features, in their order.
    pub fn pairs(&self) -> &[[String; 2]] {
        &self.pairs
    }

    /// The same schema with these pairs of columns.
    ///
    /// # Errors
    /// If one of them is no pair of two features.
    pub fn with_pairs(mut self, pairs: Vec<[String; 2]>) -> Result<Self, SchemaError> {
        self.pairs = pairs;
        self.checked()
    }

    /// The pairs and where their products stand: behind the features of all columns.
    pub fn paired(&self) -> Vec<PairPlace<'_>> {
        if self.pairs.is_empty() {
            return Vec::new();
        }
        let mut first = self.columns.iter().map(Column::width).sum();
        let mut found = Vec::with_capacity(self.pairs.len());
        for pair in &self.pairs {
            let Some(place) = self.pair(pair, first) else { continue };
            first += place.width();
            found.push(place);
        }
        found
    }

    /// The number of products of all pairs.
    pub fn products(&self) -> usize {
        self.paired().iter().map(PairPlace::width).sum()
    }

    fn pair(&self, names: &[String; 2], first: usize) -> Option<PairPlace<'_>> {
        let slot = |name: &String| self.columns.iter().position(|column| column.name == *name);
        let slots = [slot(&names[0])?, slot(&names[1])?];
        let columns = slots.map(|slot| &self.columns[slot]);
        let bases = [CoarseBasis::of(columns[0])?, CoarseBasis::of(columns[1])?];
        Some(PairPlace { columns, bases, first, slots })
    }

    /// The names of all products.
    pub(super) fn product_names(&self) -> impl Iterator<Item = String> {
        self.paired().into_iter().flat_map(
            |PairPlace { columns: [a, b], bases: [u, v], .. }| {
                let seconds = v.names(b);
                let product = move |one: String| {
                    seconds.iter().map(|other| format!("{one}*{other}")).collect::<Vec<_>>()
                };
                u.names(a).into_iter().flat_map(product).collect::<Vec<_>>()
            },
        )
    }

    /// Products of a record that are not 0, at most.
    pub(super) fn filled_products(&self) -> usize {
        self.paired().iter().map(|pair| pair.bases[0].filled() * pair.bases[1].filled()).sum()
    }

    pub(super) fn check_pairs(&self) -> Result<(), SchemaError> {
        for (at, pair) in self.pairs.iter().enumerate() {
            let wrong = |what: String| {
                let pair = format!("[`{}`, `{}`]", pair[0], pair[1]);
                Err(SchemaError::Pair { pair, what })
            };
            let turned = [pair[1].clone(), pair[0].clone()];
            if pair[0] == pair[1] {
                return wrong("has one column twice; allowed: two columns".into());
            }
            if self.pairs[..at].iter().any(|other| *other == *pair || *other == turned) {
                return wrong("is declared twice".into());
            }
            for name in pair {
                let column = &self.columns[self.find(name)?];
                if CoarseBasis::of(column).is_none_or(|basis| basis.len() == 0) {
                    return wrong(format!(
                        "has `{name}`, which is no feature with two values or more; allowed: columns of the \
                         kinds numeric, date and categorical that the job does not predict"
                    ));
                }
            }
            let width = self.pair(pair, 0).map_or(0, |place| place.width());
            if width > MOST {
                return wrong(format!(
                    "has {width} products; allowed: up to {MOST}. Give categories an order, or join some"
                ));
            }
        }
        Ok(())
    }
}
