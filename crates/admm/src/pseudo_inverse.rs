//! `(Aᵀ)†` for an `A` of full row rank: `(AAᵀ)⁻¹A`, by a Cholesky factor of `AAᵀ` that is made
//! once.

use std::sync::Arc;

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, MatMut, Side};
use reticent_problem::Regulariser;

use reticent_oracle::Refused;

/// `(Aᵀ)†`, the intercept's row (on which `A` is 1) included.
#[derive(Debug)]
pub(crate) struct TransposedPseudoInverse {
    regulariser: Arc<Regulariser>,
    /// Absent for the identity.
    factor: Option<Llt<f64>>,
}

/// A pivot this much smaller than the largest is a dependent row that rounding has hidden.
const RANK: f64 = 1e-10;

impl TransposedPseudoInverse {
    /// Refuses an `A` whose rows are dependent, in the name of `algorithm`.
    pub fn new(regulariser: &Arc<Regulariser>, algorithm: &str) -> Result<Self, Refused> {
        let constraint = regulariser.constraint();
        let regulariser = Arc::clone(regulariser);
        if constraint.is_identity() {
            return Ok(TransposedPseudoInverse { regulariser, factor: None });
        }
        let (rows, columns) = (constraint.a().rows(), constraint.a().columns());
        let refuse = || {
            Refused::new(
                "constraint",
                constraint.spec(),
                format!(
                    "in the strongly convex case {algorithm} needs a matrix A of full row rank, and this one \
                     ({rows} × {columns}) has dependent rows; use strong_convexity = 0 (the general convex case), or sadmm"
                ),
            )
        };
        // Before the matrix is written out, which could be large.
        if rows > columns {
            return Err(refuse());
        }
        let mut dense = Mat::<f64>::zeros(rows, columns);
        constraint.a().triplets().for_each(|(r, c, v)| dense[(r, c)] += v);
        let factor = (&dense * dense.transpose()).llt(Side::Lower).map_err(|_| refuse())?;
        let pivots = (0..rows).map(|i| factor.L()[(i, i)].powi(2));
        let (least, most) =
            pivots.fold((f64::INFINITY, 0.0_f64), |(least, most), p| (least.min(p), most.max(p)));
        if least <= RANK * most {
            return Err(refuse());
        }
        Ok(TransposedPseudoInverse { regulariser, factor: Some(factor) })
    }

    /// `out ← (Aᵀ)† g`.
    pub fn apply(&self, g: &[f64], out: &mut [f64]) {
        self.regulariser.apply_a(g, out);
        let Some(factor) = &self.factor else { return };
        let (rows, outputs) =
            (self.regulariser.constraint().a().rows(), self.regulariser.shape().outputs);
        // Row-major with a row per row of A; a column of it at a time.
        for j in 0..outputs {
            let mut column: Vec<f64> = (0..rows).map(|r| out[r * outputs + j]).collect();
            factor.solve_in_place(MatMut::from_column_major_slice_mut(&mut column, rows, 1));
            column.iter().enumerate().for_each(|(r, v)| out[r * outputs + j] = *v);
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

    #[test]
    fn dependent_rows_are_refused() {
        let tall = SparseMatrix::from_triplets(3, 2, &[(0, 0, 1.0), (1, 1, 1.0), (2, 0, 1.0)]);
        let twice = SparseMatrix::from_triplets(
            2,
            3,
            &[(0, 0, 1.0), (0, 1, 0.3), (1, 0, 2.0), (1, 1, 0.6)],
        );
        for a in [tall, twice] {
            let error = TransposedPseudoInverse::new(&regulariser(a, 1), "vradmm").unwrap_err();
            assert!(error.to_string().contains("full row rank"), "{error}");
        }
    }
}
