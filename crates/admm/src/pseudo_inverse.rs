//! `(Aᵀ)†` for an `A` of full rank, by a Cholesky factor that is made once:
//!
//! ```text
//! full row rank:      (AAᵀ)⁻¹A,   Aᵀ(Aᵀ)† projects on the range of Aᵀ
//! full column rank:   A(AᵀA)⁻¹,   Aᵀ(Aᵀ)† is the identity
//! ```
//!
//! The second is that of LS22's A = [φ; I], which has more rows than columns.

use std::sync::Arc;

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, MatMut, Side};
use reticent_problem::Regulariser;

use reticent_oracle::Refused;

/// `(Aᵀ)†`, the intercept's row (on which `A` is 1) included.
#[derive(Debug)]
pub(crate) struct TransposedPseudoInverse {
    regulariser: Arc<Regulariser>,
    inverse: Inverse,
}

#[derive(Debug)]
enum Inverse {
    /// `A` is the identity.
    None,
    /// Of `AAᵀ`.
    OfRows(Llt<f64>),
    /// Of `AᵀA`.
    OfColumns(Llt<f64>),
}

/// A pivot this much smaller than the largest is a dependent row that rounding has hidden.
const RANK: f64 = 1e-10;

impl TransposedPseudoInverse {
    /// Refuses an `A` that is not of full rank, in the name of `algorithm`.
    pub fn new(regulariser: &Arc<Regulariser>, algorithm: &str) -> Result<Self, Refused> {
        let constraint = regulariser.constraint();
        let regulariser = Arc::clone(regulariser);
        if constraint.is_identity() {
            return Ok(TransposedPseudoInverse { regulariser, inverse: Inverse::None });
        }
        let (rows, columns) = (constraint.a().rows(), constraint.a().columns());
        let refuse = || {
            Refused::new(
                "constraint",
                constraint.spec(),
                format!(
                    "in the strongly convex case {algorithm} needs a matrix A of full rank, and this one \
                     ({rows} × {columns}) has dependent rows and columns; use strong_convexity = 0 (the general convex \
                     case), or sadmm"
                ),
            )
        };
        let mut dense = Mat::<f64>::zeros(rows, columns);
        constraint.a().triplets().for_each(|(r, c, v)| dense[(r, c)] += v);
        let tall = rows > columns;
        let gram = if tall { dense.transpose() * &dense } else { &dense * dense.transpose() };
        let factor = gram.llt(Side::Lower).map_err(|_| refuse())?;
        let pivots = (0..gram.nrows()).map(|i| factor.L()[(i, i)].powi(2));
        let (least, most) =
            pivots.fold((f64::INFINITY, 0.0_f64), |(least, most), p| (least.min(p), most.max(p)));
        if least <= RANK * most {
            return Err(refuse());
        }
        let inverse = if tall { Inverse::OfColumns(factor) } else { Inverse::OfRows(factor) };
        Ok(TransposedPseudoInverse { regulariser, inverse })
    }

    /// `out ← (Aᵀ)† g`.
    pub fn apply(&self, g: &[f64], out: &mut [f64]) {
        let constraint = self.regulariser.constraint();
        match &self.inverse {
            Inverse::None => self.regulariser.apply_a(g, out),
            Inverse::OfRows(factor) => {
                self.regulariser.apply_a(g, out);
                self.solve(factor, constraint.a().rows(), out);
            }
            Inverse::OfColumns(factor) => {
                let mut g = g.to_vec();
                self.solve(factor, constraint.a().columns(), &mut g);
                self.regulariser.apply_a(&g, out);
            }
        }
    }

    /// Solves for each output, in place; `values` is row-major, and what follows the `rows`, the
    /// intercept, stays as it is.
    fn solve(&self, factor: &Llt<f64>, rows: usize, values: &mut [f64]) {
        let outputs = self.regulariser.shape().outputs;
        for j in 0..outputs {
            let mut column: Vec<f64> = (0..rows).map(|r| values[r * outputs + j]).collect();
            factor.solve_in_place(MatMut::from_column_major_slice_mut(&mut column, rows, 1));
            column.iter().enumerate().for_each(|(r, v)| values[r * outputs + j] = *v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_problem::{Constraint, Shape, SparseMatrix, penalties};

    fn regulariser(a: SparseMatrix, outputs: usize) -> Arc<Regulariser> {
        let shape = Shape { features: a.columns(), outputs, intercept: true };
        let penalty = penalties::parse("l1:0.1").unwrap();
        Arc::new(Regulariser::new(penalty, Constraint::from_matrix(a), shape).unwrap())
    }

    /// `Aᵀ(Aᵀ)†` projects on the range of `Aᵀ`: what is in it already comes back.
    #[test]
    fn it_inverts_the_transpose_on_its_range() {
        let a = SparseMatrix::from_triplets(
            2,
            3,
            &[(0, 0, 1.0), (0, 1, -1.0), (1, 1, 2.0), (1, 2, 0.5)],
        );
        for outputs in [1, 2] {
            let r = regulariser(a.clone(), outputs);
            let pseudo = TransposedPseudoInverse::new(&r, "vradmm").unwrap();
            let y: Vec<f64> = (0..r.y_len()).map(|i| (i as f64 * 1.3).cos()).collect();
            let (mut g, mut back) = (vec![0.0; r.shape().len()], vec![0.0; r.y_len()]);
            r.apply_at(&y, &mut g);
            pseudo.apply(&g, &mut back);
            assert!(y.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12), "{y:?} {back:?}");
        }
    }

    /// A = [φ; I] has a left inverse: Aᵀ(Aᵀ)† is the identity, and (Aᵀ)†g has the least norm of all
    /// λ with Aᵀλ = g.
    #[test]
    fn it_inverts_the_transpose_of_a_graph() {
        let a = SparseMatrix::from_triplets(
            4,
            3,
            &[(0, 0, 1.0), (0, 2, -1.0), (1, 0, 1.0), (2, 1, 1.0), (3, 2, 1.0)],
        );
        for outputs in [1, 2] {
            let r = regulariser(a.clone(), outputs);
            let pseudo = TransposedPseudoInverse::new(&r, "vradmm").unwrap();
            let g: Vec<f64> = (0..r.shape().len()).map(|i| (i as f64 * 1.3).cos()).collect();
            let (mut dual, mut back) = (vec![0.0; r.y_len()], vec![0.0; g.len()]);
            pseudo.apply(&g, &mut dual);
            r.apply_at(&dual, &mut back);
            assert!(g.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12), "{g:?} {back:?}");
            // (1, −1, 0, 1) spans the kernel of Aᵀ.
            for j in 0..outputs {
                let at = |row: usize| dual[row * outputs + j];
                assert!((at(0) - at(1) + at(3)).abs() < 1e-12, "{dual:?}");
            }
        }
    }

    #[test]
    fn a_matrix_without_full_rank_is_refused() {
        let tall = SparseMatrix::from_triplets(3, 2, &[(0, 0, 1.0), (1, 0, 2.0), (2, 0, 1.0)]);
        let twice = SparseMatrix::from_triplets(
            2,
            3,
            &[(0, 0, 1.0), (0, 1, 0.3), (1, 0, 2.0), (1, 1, 0.6)],
        );
        for a in [tall, twice] {
            let error = TransposedPseudoInverse::new(&regulariser(a, 1), "vradmm").unwrap_err();
            assert!(error.to_string().contains("full rank"), "{error}");
        }
    }
}
