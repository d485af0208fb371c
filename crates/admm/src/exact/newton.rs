//! The first update, `argmin_x F(x) + (ρ/2)‖A x − c − t‖²`, by damped Newton steps from where the
//! last one ended.
//!
//! Up to [`DENSE`] entries the system `(H + ρAᵀA) d = −g` is factored. A pass for `H` costs as many
//! times a gradient as there are features, so `H` is kept for as long as steps with it still shrink
//! the gradient well. Beyond, conjugate gradients solve it, with a pass over the data for each
//! product.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, MatMut, Side};
use reticent_oracle::Refusal;
use reticent_oracle::without_privacy::ExactOracle;
use reticent_problem::Regulariser;

use super::norm;

/// The longest parameter whose Hessian is written out: 32 MB of it.
const DENSE: usize = 2_000;

/// The most steps of one update.
const STEPS: usize = 50;

/// A kept Hessian must shrink the gradient by this, or it is made anew.
const SHRINK: f64 = 0.2;

/// The loss at the current point, and its curvature somewhere near.
pub(super) struct Newton {
    value: f64,
    gradient: Vec<f64>,
    known: bool,
    dense: Option<DenseSystem>,
    curvature: f64,
}

struct DenseSystem {
    hessian: Vec<f64>,
    gram: Vec<f64>,
    stale: bool,
    factor: Option<(f64, Llt<f64>)>,
}

impl Newton {
    /// Starts at 0.
    pub fn new(oracle: &mut dyn ExactOracle, regulariser: &Regulariser) -> Result<Self, Refusal> {
        let n = oracle.shape().len();
        let zero = vec![0.0; n];
        let mut gradient = vec![0.0; n];
        let dense = n <= DENSE;
        let mut hessian = vec![0.0; if dense { n * n } else { 0 }];
        let value = oracle.evaluate(&zero, &mut gradient, dense.then_some(&mut hessian))?;
        let curvature = if dense {
            (0..n).map(|i| hessian[i * n + i]).sum::<f64>() / n as f64
        } else {
            // The mean of vᵀHv over random signs is the trace; one vector of signs is near enough
            // to start ρ.
            let signs: Vec<f64> = (0..n).map(|i| if i % 3 == 0 { -1.0 } else { 1.0 }).collect();
            let mut image = vec![0.0; n];
            oracle.hessian_times(&zero, &signs, &mut image)?;
            dot(&signs, &image) / n as f64
        };
        let dense = dense.then(|| DenseSystem {
            hessian,
            gram: gram(regulariser),
            stale: false,
            factor: None,
        });
        Ok(Newton { value, gradient, known: true, dense, curvature })
    }

    /// The mean of the diagonal of the Hessian at 0; it can be 0, as it is for the huberised hinge.
    pub fn mean_curvature(&self) -> f64 {
        self.curvature
    }

    /// `F` where the last update ended.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Called when `F` itself has changed.
    pub fn forget(&mut self) {
        self.known = false;
    }

    /// Moves `x` until the norm of the gradient is below `tolerance`, or rounding is all there is;
    /// returns that norm. At least one step is made.
    pub fn minimise(
        &mut self,
        oracle: &mut dyn ExactOracle,
        regulariser: &Regulariser,
        rho: f64,
        target: &[f64],
        x: &mut [f64],
        tolerance: f64,
    ) -> Result<f64, Refusal> {
        let mut coupling = Coupling::new(regulariser, rho, target);
        self.know(oracle, x)?;
        let mut g = self.gradient.clone();
        let mut total = self.value + coupling.add(x, &mut g);
        let mut size = norm(g.iter().copied());
        let (mut trial, mut trial_gradient, mut d) = (x.to_vec(), g.clone(), g.clone());
        let mut moved = false;
        for _ in 0..STEPS {
            if size == 0.0 || (moved && size <= tolerance) {
                break;
            }
            let fresh = self.direction(oracle, &mut coupling, x, &g, &mut d)?;
            let slope = dot(&g, &d);
            let mut length = 1.0;
            let accepted = loop {
                trial.iter_mut().zip(&*x).zip(&d).for_each(|((t, x), d)| *t = x + length * d);
                let value = oracle.evaluate(&trial, &mut trial_gradient, None)?;
                let mut new = trial_gradient.clone();
                let new_total = value + coupling.add(&trial, &mut new);
                // Armijo's rule, with room for the rounding of the sums.
                if new_total <= total + 1e-4 * length * slope + 4.0 * f64::EPSILON * total.abs() {
                    break Some((value, new_total, new));
                }
                length *= 0.5;
                if length < 1e-10 || (length < 0.2 && !fresh) {
                    break None;
                }
            };
            let Some((value, new_total, new)) = accepted else {
                if fresh {
                    break;
                }
                self.expire();
                continue;
            };
            let new_size = norm(new.iter().copied());
            if fresh && new_total >= total && new_size >= size {
                break;
            }
            if length < 1.0 || new_size > SHRINK * size {
                self.expire();
            }
            moved = true;
            x.copy_from_slice(&trial);
            self.gradient.copy_from_slice(&trial_gradient);
            self.value = value;
            (g, total, size) = (new, new_total, new_size);
        }
        Ok(size)
    }

    fn know(&mut self, oracle: &mut dyn ExactOracle, x: &[f64]) -> Result<(), Refusal> {
        if !self.known {
            self.value = oracle.evaluate(x, &mut self.gradient, None)?;
            self.known = true;
        }
        Ok(())
    }

    fn expire(&mut self) {
        if let Some(dense) = &mut self.dense {
            dense.stale = true;
        }
    }

    /// `d ← −(H + ρAᵀA)⁻¹ g`; says whether `H` is that of `x`.
    fn direction(
        &mut self,
        oracle: &mut dyn ExactOracle,
        coupling: &mut Coupling<'_>,
        x: &[f64],
        g: &[f64],
        d: &mut [f64],
    ) -> Result<bool, Refusal> {
        let Some(dense) = &mut self.dense else {
            conjugate_gradients(oracle, coupling, x, g, d)?;
            return Ok(true);
        };
        let fresh = dense.stale;
        if dense.stale {
            oracle.evaluate(x, &mut self.gradient, Some(&mut dense.hessian))?;
            (dense.stale, dense.factor) = (false, None);
        }
        d.iter_mut().zip(g).for_each(|(d, g)| *d = -g);
        if let Some(factor) = dense.factor(coupling.rho) {
            factor.solve_in_place(MatMut::from_column_major_slice_mut(d, g.len(), 1));
        }
        Ok(fresh)
    }
}

impl DenseSystem {
    /// The factor of `H + ρAᵀA`. Directions that neither loss nor penalty sees get a little
    /// curvature, so that the system has one solution; the gradient is 0 along them and nothing
    /// moves.
    fn factor(&mut self, rho: f64) -> Option<&Llt<f64>> {
        if self.factor.as_ref().is_none_or(|(of, _)| *of != rho) {
            let n = self.hessian.len().isqrt();
            let entry = |i: usize| self.hessian[i] + rho * self.gram[i];
            let largest = (0..n).map(|i| entry(i * n + i)).fold(f64::MIN_POSITIVE, f64::max);
            self.factor = (0..4).find_map(|attempt| {
                let ridge = largest * 1e-13 * 1e3_f64.powi(attempt);
                let system =
                    Mat::from_fn(n, n, |i, j| entry(i * n + j) + if i == j { ridge } else { 0.0 });
                system.llt(Side::Lower).ok().map(|factor| (rho, factor))
            });
        }
        self.factor.as_ref().map(|(_, factor)| factor)
    }
}

/// `(ρ/2)‖A x − c − t‖²`.
struct Coupling<'a> {
    regulariser: &'a Regulariser,
    rho: f64,
    target: &'a [f64],
    image: Vec<f64>,
    back: Vec<f64>,
}

impl<'a> Coupling<'a> {
    fn new(regulariser: &'a Regulariser, rho: f64, target: &'a [f64]) -> Self {
        let back = vec![0.0; regulariser.shape().len()];
        Coupling { regulariser, rho, target, image: vec![0.0; target.len()], back }
    }

    /// Its value at `x`; its gradient is added to `g`.
    fn add(&mut self, x: &[f64], g: &mut [f64]) -> f64 {
        self.regulariser.apply_a(x, &mut self.image);
        self.regulariser.subtract_c(&mut self.image);
        self.image.iter_mut().zip(self.target).for_each(|(i, t)| *i -= t);
        let value = 0.5 * self.rho * dot(&self.image, &self.image);
        self.regulariser.apply_at(&self.image, &mut self.back);
        g.iter_mut().zip(&self.back).for_each(|(g, b)| *g += self.rho * b);
        value
    }

    /// `out ← out + ρAᵀA v`.
    fn add_gram(&mut self, v: &[f64], out: &mut [f64]) {
        self.regulariser.apply_a(v, &mut self.image);
        self.regulariser.apply_at(&self.image, &mut self.back);
        out.iter_mut().zip(&self.back).for_each(|(o, b)| *o += self.rho * b);
    }
}

/// `d ← −(H + ρAᵀA)⁻¹ g` to a tenth, and finer as `g` shrinks (Dembo, Eisenstat & Steihaug 1982).
fn conjugate_gradients(
    oracle: &mut dyn ExactOracle,
    coupling: &mut Coupling<'_>,
    x: &[f64],
    g: &[f64],
    d: &mut [f64],
) -> Result<(), Refusal> {
    d.fill(0.0);
    let mut r: Vec<f64> = g.iter().map(|g| -g).collect();
    let mut p = r.clone();
    let mut image = vec![0.0; g.len()];
    let mut square = dot(&r, &r);
    let goal = square * square.clamp(1e-12, 0.01);
    for _ in 0..2 * g.len() {
        oracle.hessian_times(x, &p, &mut image)?;
        coupling.add_gram(&p, &mut image);
        let curvature = dot(&p, &image);
        if curvature <= 0.0 {
            break;
        }
        let step = square / curvature;
        for i in 0..d.len() {
            d[i] += step * p[i];
            r[i] -= step * image[i];
        }
        let next = dot(&r, &r);
        if next <= goal {
            break;
        }
        let ratio = next / square;
        p.iter_mut().zip(&r).for_each(|(p, r)| *p = r + ratio * *p);
        square = next;
    }
    Ok(())
}

/// `AᵀA` for the whole parameter, outputs and intercept included, row-major.
fn gram(regulariser: &Regulariser) -> Vec<f64> {
    let shape = regulariser.shape();
    let (n, outputs) = (shape.len(), shape.outputs);
    let mut gram = vec![0.0; n * n];
    let triplets: Vec<_> = regulariser.constraint().a().triplets().collect();
    for row in triplets.chunk_by(|a, b| a.0 == b.0) {
        for &(_, i, a) in row {
            for &(_, j, b) in row {
                for o in 0..outputs {
                    gram[(i * outputs + o) * n + j * outputs + o] += a * b;
                }
            }
        }
    }
    for i in shape.features * outputs..n {
        gram[i * n + i] = 1.0;
    }
    gram
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
