//! Regularised fits as cone programs, solved by an interior-point method: a second opinion that
//! shares neither code nor method with the solvers under test.
//!
//! ```text
//! minimise (1/n) Σ φ(wᵢ) + r(y)   with   wᵢ = aᵢᵀx + constant·x₀,   y = A x
//! ```
//!
//! Everything is written in epigraph form: the logistic loss with exponential cones, squares in the
//! quadratic objective, absolute values as pairs of inequalities, groups with second-order cones.

use clarabel::algebra::CscMatrix;
use clarabel::solver::SupportedConeT::{
    ExponentialConeT, NonnegativeConeT, SecondOrderConeT, ZeroConeT,
};
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use crate::generators::Simulated;

/// A loss of one record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// `ln(1 + e^{−u})` of the margin.
    Logistic,
    /// `max(0, 1 − u)` of the margin.
    Hinge,
    /// The hinge rounded off within h of its kink.
    HuberisedHinge(f64),
    /// `u²/2` of the residual.
    Squared,
    /// `|u|` of the residual.
    Absolute,
}

/// A penalty on `y = A x`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Penalty {
    /// `λ₁‖y‖₁ + (λ₂/2)‖y‖²`.
    ElasticNet(f64, f64),
    /// `λ Σ √|g|·‖y_g‖` over groups of so many neighbours.
    Groups(f64, usize),
}

/// A fit.
#[derive(Clone, Debug)]
pub struct Fit<'a> {
    /// Rows and targets.
    pub data: &'a Simulated,
    /// The constant behind the intercept; 0 for none.
    pub intercept: f64,
    /// The loss.
    pub loss: Loss,
    /// The penalty.
    pub penalty: Penalty,
    /// The rows of `A` as sparse lists; `None` for the identity.
    pub map: Option<Vec<Affine>>,
}

/// `Σ coefficient·variable`.
pub type Affine = Vec<(usize, f64)>;

impl Fit<'_> {
    /// The optimal value.
    ///
    /// # Panics
    /// If the reference solver does not reach a relative gap of 10⁻⁸: then there is nothing to
    /// compare with.
    pub fn optimum(&self) -> f64 {
        let Fit { data, intercept, .. } = self;
        let mut program = Program::default();
        let x: Vec<usize> = (0..data.columns).map(|_| program.variable(0.0, 0.0)).collect();
        let x0 = (*intercept != 0.0).then(|| program.variable(0.0, 0.0));
        for i in 0..data.rows {
            let mut score: Affine = x.iter().copied().zip(data.row(i).iter().copied()).collect();
            score.extend(x0.map(|x0| (x0, *intercept)));
            program.add_loss(self.loss, &score, data.targets[i], 1.0 / data.rows as f64);
        }
        let identity = || x.iter().map(|&j| vec![(j, 1.0)]).collect();
        program.add_penalty(self.penalty, &self.map.clone().unwrap_or_else(identity));
        program.solve()
    }
}

/// Variables with their costs, and cones that affine functions of them must lie in.
#[derive(Default)]
struct Program {
    linear: Vec<f64>,
    quadratic: Vec<f64>,
    /// `constant + affine`, one for each coordinate of the cones.
    rows: Vec<(f64, Affine)>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Program {
    /// A variable `v` that costs `linear·v + quadratic·v²/2`.
    fn variable(&mut self, linear: f64, quadratic: f64) -> usize {
        self.linear.push(linear);
        self.quadratic.push(quadratic);
        self.linear.len() - 1
    }

    fn within(&mut self, cone: SupportedConeT<f64>, rows: impl IntoIterator<Item = (f64, Affine)>) {
        self.cones.push(cone);
        self.rows.extend(rows);
    }

    fn add_loss(&mut self, loss: Loss, score: &Affine, target: f64, weight: f64) {
        let less_margin = scaled(score, -target);
        match loss {
            Loss::Logistic => {
                // ln(1 + e^{−u}) ≤ t exactly when e^{−u−t} + e^{−t} ≤ 1.
                let t = self.variable(weight, 0.0);
                let (z1, z2) = (self.variable(0.0, 0.0), self.variable(0.0, 0.0));
                for (mut exponent, z) in [(less_margin, z1), (Vec::new(), z2)] {
                    exponent.push((t, -1.0));
                    let rows = [(0.0, exponent), (1.0, vec![]), (0.0, vec![(z, 1.0)])];
                    self.within(ExponentialConeT(), rows);
                }
                self.within(NonnegativeConeT(1), [(1.0, vec![(z1, -1.0), (z2, -1.0)])]);
            }
            Loss::Hinge => {
                let t = self.variable(weight, 0.0);
                self.at_least(t, 0.0, Vec::new());
                self.at_least(t, 1.0, less_margin);
            }
            Loss::HuberisedHinge(h) => {
                // The least a²/4h + b with a + b ≥ 1 + h − u: a carries the first 2h, b what is
                // beyond.
                let a = self.variable(0.0, weight / (2.0 * h));
                let b = self.variable(weight, 0.0);
                self.at_least(a, 0.0, Vec::new());
                self.at_least(b, 0.0, Vec::new());
                let mut rest = less_margin;
                rest.push((b, -1.0));
                self.at_least(a, 1.0 + h, rest);
            }
            Loss::Squared => {
                let r = self.variable(0.0, weight);
                self.equal(r, -target, score);
            }
            Loss::Absolute => {
                let t = self.variable(weight, 0.0);
                self.at_least(t, -target, score.clone());
                self.at_least(t, target, scaled(score, -1.0));
            }
        }
    }

    fn add_penalty(&mut self, penalty: Penalty, y: &[Affine]) {
        match penalty {
            Penalty::ElasticNet(lambda1, lambda2) => {
                for y in y {
                    let t = self.variable(lambda1, 0.0);
                    self.at_least(t, 0.0, y.clone());
                    self.at_least(t, 0.0, scaled(y, -1.0));
                    let r = self.variable(0.0, lambda2);
                    self.equal(r, 0.0, y);
                }
            }
            Penalty::Groups(lambda, size) => {
                for group in y.chunks(size) {
                    let t = self.variable(lambda * (group.len() as f64).sqrt(), 0.0);
                    let rows = std::iter::once(vec![(t, 1.0)]).chain(group.iter().cloned());
                    self.within(SecondOrderConeT(group.len() + 1), rows.map(|row| (0.0, row)));
                }
            }
        }
    }

    /// `v ≥ constant + affine`.
    fn at_least(&mut self, v: usize, constant: f64, affine: Affine) {
        let mut row = scaled(&affine, -1.0);
        row.push((v, 1.0));
        self.within(NonnegativeConeT(1), [(-constant, row)]);
    }

    /// `v = constant + affine`.
    fn equal(&mut self, v: usize, constant: f64, affine: &Affine) {
        let mut row = scaled(affine, -1.0);
        row.push((v, 1.0));
        self.within(ZeroConeT(1), [(-constant, row)]);
    }

    fn solve(self) -> f64 {
        let n = self.linear.len();
        let diagonal =
            CscMatrix::new_from_triplets(n, n, (0..n).collect(), (0..n).collect(), self.quadratic);
        // The solver wants b − A v in the cones.
        let (mut row, mut column, mut value) = (Vec::new(), Vec::new(), Vec::new());
        for (i, (_, affine)) in self.rows.iter().enumerate() {
            for &(j, coefficient) in affine {
                row.push(i);
                column.push(j);
                value.push(-coefficient);
            }
        }
        let a = CscMatrix::new_from_triplets(self.rows.len(), n, row, column, value);
        let b: Vec<f64> = self.rows.iter().map(|(constant, _)| *constant).collect();
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-10,
            tol_gap_rel: 1e-8,
            tol_feas: 1e-9,
            ..DefaultSettings::default()
        };
        let mut solver = DefaultSolver::new(&diagonal, &self.linear, &a, &b, &self.cones, settings)
            .expect("the program is well formed");
        solver.solve();
        assert_eq!(solver.solution.status, SolverStatus::Solved, "the reference solver gave up");
        solver.solution.obj_val
    }
}

fn scaled(affine: &Affine, by: f64) -> Affine {
    affine.iter().map(|&(j, value)| (j, by * value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(loss: Loss, penalty: Penalty, target: f64) -> f64 {
        let data = Simulated {
            rows: 1,
            columns: 1,
            features: vec![1.0],
            targets: vec![target],
            coefficients: vec![],
        };
        Fit { data: &data, intercept: 0.0, loss, penalty, map: None }.optimum()
    }

    /// One record, one feature: optima that can be written down.
    #[test]
    fn textbook_optima() {
        // ½(x − 2)² + ½|x|: x = 1.5.
        let lasso = one(Loss::Squared, Penalty::ElasticNet(0.5, 0.0), 2.0);
        assert!((lasso - 0.875).abs() < 1e-8, "{lasso}");
        // ½(x − 2)² + ½x²: x = 1; a group of one is an absolute value.
        let ridge = one(Loss::Squared, Penalty::ElasticNet(0.0, 1.0), 2.0);
        assert!((ridge - 1.0).abs() < 1e-8, "{ridge}");
        let group = one(Loss::Squared, Penalty::Groups(0.5, 1), 2.0);
        assert!((group - 0.875).abs() < 1e-8, "{group}");
        // ln(1 + e^{−x}) + |x| has its least value at 0; max(0, 1 − x) + ½x² at 1.
        let logistic = one(Loss::Logistic, Penalty::ElasticNet(1.0, 0.0), 1.0);
        assert!((logistic - 2f64.ln()).abs() < 1e-8, "{logistic}");
        let hinge = one(Loss::Hinge, Penalty::ElasticNet(0.0, 1.0), 1.0);
        assert!((hinge - 0.5).abs() < 1e-8, "{hinge}");
        // (1.5 − x)²/2 + ½x²: x = ¾.
        let rounded = one(Loss::HuberisedHinge(0.5), Penalty::ElasticNet(0.0, 1.0), 1.0);
        assert!((rounded - 0.5625).abs() < 1e-8, "{rounded}");
        // |x + 3| + ½x²: x = −1.
        let absolute = one(Loss::Absolute, Penalty::ElasticNet(0.0, 1.0), -3.0);
        assert!((absolute - 2.5).abs() < 1e-8, "{absolute}");
    }
}
