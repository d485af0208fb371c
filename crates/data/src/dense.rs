//! A row-major matrix.

/// Rows one after the other, each `columns` long.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dense {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// `rows × columns` numbers, row after row.
    pub values: Vec<f64>,
}

impl Dense {
    /// A matrix without rows.
    pub fn empty(columns: usize) -> Self {
        Self { rows: 0, columns, values: Vec::new() }
    }

    /// The entries of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// Appends a row that is zero but for `values` at `indices`.
    pub fn push_sparse(&mut self, indices: &[u32], values: &[f64]) {
        self.rows += 1;
        // Most rows have no zero.
        let whole = indices.iter().zip(0..).all(|(&j, at)| j == at);
        if whole && indices.len() == self.columns {
            return self.values.extend_from_slice(values);
        }
        let start = self.values.len();
        self.values.resize(start + self.columns, 0.0);
        let row = &mut self.values[start..];
        for (&j, &v) in indices.iter().zip(values) {
            row[j as usize] = v;
        }
    }
}
