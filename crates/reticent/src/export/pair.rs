//! The products of a pair, for whoever writes them down in another language.

use reticent_oracle::tables::{HAT, Numeric, PairPlace, Role, Scale};

/// A pair of columns.
#[derive(Debug)]
pub(super) struct ExportPair {
    pub members: [PairMember; 2],
    /// By function of the first, by function of the second, one for each output; the length of
    /// products included.
    pub weights: Vec<Vec<Vec<f64>>>,
}

/// A column of a pair, and its functions. One that is missing has none, and no product.
#[derive(Debug)]
pub(super) enum PairMember {
    /// Of a number of the plan, encoded as e: s = slope·e + shift and, where it bends, 1 − |s|.
    Number { at: usize, slope: f64, shift: f64, bends: bool },
    /// Of categories of the plan: a row of functions for each.
    Category { at: usize, functions: Vec<Vec<f64>> },
}

impl PairMember {
    /// The number of its functions.
    pub fn functions(&self) -> usize {
        match self {
            PairMember::Number { bends, .. } => 1 + usize::from(*bends),
            PairMember::Category { functions, .. } => functions.first().map_or(0, Vec::len),
        }
    }
}

impl ExportPair {
    /// `number` and `category` say where a column is in the plan, and `next` has the next weights.
    pub fn of(
        pair: &PairPlace<'_>,
        number: impl Fn(&str) -> usize,
        category: impl Fn(&str) -> usize,
        mut next: impl FnMut() -> Vec<f64>,
    ) -> Self {
        let member = |k: usize| {
            let (column, basis) = (pair.columns[k], pair.bases[k]);
            match (column.role(), column.numeric()) {
                (Role::Categorical(categorical), along) => {
                    let place = |i: usize| along.map_or(i as f64, |along| along.place(i as f64));
                    let all = 0..categorical.categories().len();
                    let functions = all.map(|i| basis.at(place(i))).collect();
                    PairMember::Category { at: category(column.name()), functions }
                }
                (_, numeric) => {
                    let (slope, shift) = numeric.map_or((1.0, 0.0), centring);
                    let bends = basis.len() == 2;
                    PairMember::Number { at: number(column.name()), slope, shift, bends }
                }
            }
        };
        let members = [member(0), member(1)];
        let mut cell = || next().into_iter().map(|weight| weight * HAT).collect::<Vec<f64>>();
        let (rows, columns) = (members[0].functions(), members[1].functions());
        let weights = (0..rows).map(|_| (0..columns).map(|_| cell()).collect()).collect();
        ExportPair { members, weights }
    }

    /// The weights of one output.
    pub fn of_output(&self, k: usize) -> Vec<Vec<f64>> {
        let row = |row: &Vec<Vec<f64>>| row.iter().map(|cell| cell[k]).collect();
        self.weights.iter().map(row).collect()
    }
}

/// What makes s = 2t − 1 of an encoded number.
fn centring(numeric: &Numeric) -> (f64, f64) {
    let (low, high) = numeric.bounds();
    match numeric.scale() {
        Scale::MinusOneToOne | Scale::Quantile => (1.0, 0.0),
        Scale::ZeroToOne | Scale::Log => (2.0, -1.0),
        Scale::None => (2.0 / (high - low), -(low + high) / (high - low)),
    }
}
