//! A matrix in compressed sparse rows.

/// Row `i` has its non-zeros at `indptr[i]..indptr[i + 1]`; the column indices of a row ascend
/// strictly.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr {
    /// Where each row starts, and one more for the end: `rows + 1` entries.
    pub indptr: Vec<usize>,
    /// Column of each non-zero, from 0.
    pub indices: Vec<u32>,
    /// Value of each non-zero.
    pub values: Vec<f64>,
    /// The number of columns.
    pub columns: usize,
}

impl Csr {
    /// A matrix without rows.
    pub fn empty(columns: usize) -> Self {
        Self { indptr: vec![0], indices: Vec::new(), values: Vec::new(), columns }
    }

    /// The number of rows.
    #[inline]
    pub fn rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// The columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let span = self.indptr[i]..self.indptr[i + 1];
        (&self.indices[span.clone()], &self.values[span])
    }

    /// Appends a row; `indices` must ascend strictly and stay below `columns`.
    pub fn push(&mut self, indices: &[u32], values: &[f64]) {
        debug_assert!(indices.windows(2).all(|w| w[0] < w[1]));
        debug_assert!(indices.last().is_none_or(|&j| (j as usize) < self.columns));
        self.indices.extend_from_slice(indices);
        self.values.extend_from_slice(values);
        self.indptr.push(self.indices.len());
    }
}
