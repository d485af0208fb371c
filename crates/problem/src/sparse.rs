//! The matrix `A` of a constraint, in compressed rows.
//!
//! It acts on the rows of a row-major parameter with `columns` columns: `(A X)` for a matrix `X`,
//! the ordinary product for one column.

/// A sparse matrix in compressed rows.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SparseMatrix {
    columns: usize,
    /// Where each row starts in `index` and `value`, and where the last one ends.
    start: Vec<usize>,
    index: Vec<usize>,
    value: Vec<f64>,
}

impl SparseMatrix {
    /// The identity of size `n`.
    pub fn identity(n: usize) -> Self {
        Self { columns: n, start: (0..=n).collect(), index: (0..n).collect(), value: vec![1.0; n] }
    }

    /// A matrix from `(row, column, value)`s in any order; values at the same place are added up
    /// and zeros are left out.
    ///
    /// # Panics
    /// If an index is out of range.
    pub fn from_triplets(rows: usize, columns: usize, triplets: &[(usize, usize, f64)]) -> Self {
        let mut sorted = triplets.to_vec();
        sorted.sort_by_key(|&(r, c, _)| (r, c));
        let mut merged: Vec<(usize, usize, f64)> = Vec::with_capacity(sorted.len());
        for (r, c, v) in sorted {
            assert!(
                r < rows && c < columns,
                "entry ({r}, {c}) outside a {rows} × {columns} matrix"
            );
            match merged.last_mut() {
                Some(last) if (last.0, last.1) == (r, c) => last.2 += v,
                _ => merged.push((r, c, v)),
            }
        }
        merged.retain(|t| t.2 != 0.0);
        let mut start = vec![0; rows + 1];
        for t in &merged {
            start[t.0 + 1] += 1;
        }
        for r in 0..rows {
            start[r + 1] += start[r];
        }
        Self {
            columns,
            start,
            index: merged.iter().map(|t| t.1).collect(),
            value: merged.iter().map(|t| t.2).collect(),
        }
    }

    /// The number of rows of the matrix.
    pub fn rows(&self) -> usize {
        self.start.len() - 1
    }

    /// The number of columns of the matrix.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The entries that are not zero.
    pub fn triplets(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.rows()).flat_map(|r| self.row(r).map(move |(c, v)| (r, c, v)))
    }

    fn row(&self, r: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let span = self.start[r]..self.start[r + 1];
        self.index[span.clone()].iter().copied().zip(self.value[span].iter().copied())
    }

    /// `out ← A x`, where `x` has `width` numbers in each of its rows.
    pub fn apply(&self, x: &[f64], width: usize, out: &mut [f64]) {
        debug_assert_eq!((x.len(), out.len()), (self.columns * width, self.rows() * width));
        out.fill(0.0);
        for r in 0..self.rows() {
            let o = &mut out[r * width..(r + 1) * width];
            for (c, v) in self.row(r) {
                add(o, v, &x[c * width..(c + 1) * width]);
            }
        }
    }

    /// `out ← Aᵀ y`.
    pub fn apply_transpose(&self, y: &[f64], width: usize, out: &mut [f64]) {
        debug_assert_eq!((y.len(), out.len()), (self.rows() * width, self.columns * width));
        out.fill(0.0);
        for r in 0..self.rows() {
            let y = &y[r * width..(r + 1) * width];
            for (c, v) in self.row(r) {
                add(&mut out[c * width..(c + 1) * width], v, y);
            }
        }
    }

    /// An upper bound of `‖AᵀA‖₂`, the square of the largest singular value.
    ///
    /// `‖AᵀA‖₂ ≤ ρ(M)` for `M = |A|ᵀ|A|`, and `ρ(M) ≤ max_j (Mv)_j/v_j` for every `v > 0` (Collatz
    /// and Wielandt). `v = 1` gives the largest row sum of `M`, never worse than `‖A‖₁‖A‖_∞`; a few
    /// power steps make it tighter. A plain power iteration on `AᵀA` would come from below, and a
    /// step size that rests on this number would then be too long.
    pub fn gram_norm_bound(&self) -> f64 {
        let absolute = Self { value: self.value.iter().map(|v| v.abs()).collect(), ..self.clone() };
        let mut v = vec![1.0; self.columns];
        let mut av = vec![0.0; self.rows()];
        let mut mv = vec![0.0; self.columns];
        let mut bound = f64::INFINITY;
        for _ in 0..32 {
            absolute.apply(&v, 1, &mut av);
            absolute.apply_transpose(&av, 1, &mut mv);
            let largest = mv.iter().zip(&v).map(|(m, v)| m / v).fold(0.0, f64::max);
            bound = bound.min(largest);
            if largest == 0.0 {
                break;
            }
            // Averaging with v keeps every entry positive, also for a column that nothing touches.
            for (v, m) in v.iter_mut().zip(&mv) {
                *v = 0.5 * (*v + m / largest);
            }
        }
        // Room for the rounding of the sums above.
        let longest =
            (0..self.rows()).map(|r| self.start[r + 1] - self.start[r]).max().unwrap_or(0);
        bound * (1.0 + f64::EPSILON * (2 * longest + self.rows() + 8) as f64)
    }
}

fn add(out: &mut [f64], scale: f64, x: &[f64]) {
    for (o, x) in out.iter_mut().zip(x) {
        *o += scale * x;
    }
}
