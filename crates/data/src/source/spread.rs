//! What a draft goes by when it chooses how numbers are scaled and how long rows may be. A schema is
//! drafted from a public file, so looking at all of it is free.

use crate::Rows;
use crate::schema::Scale;

/// Where the numbers of a column lie within their bounds.
#[derive(Debug, Default)]
pub struct ColumnSpread {
    count: f64,
    mean: f64,
    /// The sum of the squares of the distances from the mean.
    squares: f64,
}

impl ColumnSpread {
    /// One more number.
    pub fn see(&mut self, x: f64) {
        self.count += 1.0;
        let before = x - self.mean;
        self.mean += before / self.count;
        self.squares += before * (x - self.mean);
    }

    /// The scale that leaves most room for the other columns, and whether it is not the usual one:
    /// the one whose mean square is smaller, where the difference is worth a word.
    pub fn scale(&self, lower: f64, upper: f64) -> (Scale, bool) {
        let width = upper - lower;
        let variance = self.squares / self.count;
        let from_lower = (variance + (self.mean - lower).powi(2)) / width.powi(2);
        let from_middle =
            4.0 * (variance + (self.mean - lower - width / 2.0).powi(2)) / width.powi(2);
        if from_lower.is_finite() && 2.0 * from_lower < from_middle {
            return (Scale::ZeroToOne, true);
        }
        (Scale::default(), false)
    }
}

/// Of a hundred rows one may be scaled down, where that makes the bound at least a quarter shorter.
const RARE: usize = 100;
const WORTH: f64 = 0.75;

/// A norm for the rows, and whether some are longer.
pub fn norm_for(rows: &Rows) -> (f64, bool) {
    let of = |values: &[f64]| values.iter().map(|v| v * v).sum::<f64>().sqrt();
    let mut norms: Vec<f64> = match rows {
        Rows::Dense(m) => (0..m.rows).map(|i| of(m.row(i))).collect(),
        Rows::Sparse(m) => (0..m.rows()).map(|i| of(m.row(i).1)).collect(),
    };
    norms.sort_by(f64::total_cmp);
    let longest = norms.last().copied().unwrap_or(0.0);
    let usual = norms.get(norms.len() - norms.len() / RARE - usize::from(!norms.is_empty()));
    match usual.copied().filter(|usual| *usual > 0.0 && *usual <= WORTH * longest) {
        Some(usual) => (usual, true),
        None => (longest, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dense;

    #[test]
    fn skewed_columns_begin_at_zero() {
        let spread = |values: &[f64]| {
            let mut spread = ColumnSpread::default();
            values.iter().for_each(|x| spread.see(*x));
            spread.scale(0.0, 10.0).0
        };
        assert_eq!(spread(&[0.0, 0.1, 0.0, 0.3, 10.0]), Scale::ZeroToOne);
        assert_eq!(spread(&[0.0, 5.0, 4.0, 6.0, 10.0]), Scale::default());
        assert_eq!(spread(&[0.0, 2.5, 5.0, 7.5, 10.0]), Scale::default());
        assert_eq!(spread(&[9.0, 10.0, 10.0, 9.5, 0.0]), Scale::default(), "near the upper bound");
    }

    #[test]
    fn a_rare_row_does_not_set_the_norm() {
        let rows = |values: Vec<f64>| Rows::Dense(Dense { rows: values.len(), columns: 1, values });
        let mut values = vec![1.0; 200];
        values[7] = 5.0;
        assert_eq!(norm_for(&rows(values.clone())), (1.0, true));
        values.truncate(50);
        assert_eq!(norm_for(&rows(values)), (5.0, false), "one in fifty is not rare");
        assert_eq!(norm_for(&rows(vec![1.0; 300])), (1.0, false));
        assert_eq!(norm_for(&rows(Vec::new())), (0.0, false));
    }
}
