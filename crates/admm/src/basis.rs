//! Coordinates in which the rows have a second moment near the identity, from one noisy answer.
//!
//! ```text
//! M̂  = (1/n) Σ aaᵀ + noise, the constant behind the intercept a coordinate of a; entries on the
//!       diagonal have noise of deviation σ, and there are p of them
//! M̃  = the matrix nearest to M̂ that is positive semidefinite and has its trace, but no less than
//!       that has noise, σ√p, and at most R²
//! w  = λ + κσ√p for each eigenvalue λ of M̃,   t = max λ/w
//! P  = V diag( 1/√(t·w) ) Vᵀ,   a ↦ Pa,   x = Pv
//! d̃  = Σ λ/w / t
//! ```
//!
//! Where there is signal the curvature of the loss is then about the same in all directions, so
//! that few steps reach everywhere, and noise that is equal in these coordinates is small where
//! the rows are long and large where nobody looks. Where there is none `κσ√p` dominates, all `w`
//! are about the same, and what is left is descent as it was: one setting for both. The largest
//! curvature is that of the loss, because of t; `d̃`, from 1 to p, is the mean square of a row's
//! norm: how many directions stand out of the noise.
//!
//! Seen from the table's own coordinates, x = Pv, nothing is changed but the measure of a step,
//! `‖v‖² = xᵀMx` with `M = P⁻²`. Behind a constraint `A x + B y = c` a step then solves
//!
//! ```text
//! (M/η + ρAᵀA) x = …,   T with TᵀMT = I and TᵀAᵀAT = diag(s):   (M/η + ρAᵀA)⁻¹ = T diag( 1/(1/η + ρs) ) Tᵀ
//! ```
//!
//! for any η and ρ by one decomposition; for x = y it is that of M itself.
//!
//! All of it is arithmetic on the released M̂. Proof: proofs/change-of-basis.md.

use std::sync::Arc;

use faer::{MatRef, Side};
use reticent_oracle::queries::{ClippedMean, Gradient, SecondMoment};
use reticent_oracle::{Oracle, Refusal};
use reticent_problem::Regulariser;

use crate::spectrum::Spectrum;

/// κ.
const DAMPING: f64 = 0.5;

/// Inner steps of a prox in these coordinates; each goes on from the last.
const STEPS: usize = 30;

/// The least part of the largest s that the pace of a prox is set by: directions that a constraint
/// hardly sees would hold up all others.
const LEAST: f64 = 1e-2;

/// P by its eigenvectors, and where the prox behind it ended.
#[derive(Debug)]
pub(crate) struct Basis {
    /// The eigenvectors, and `√(t·w)`, their eigenvalues of P⁻¹.
    pub spectrum: Spectrum,
    /// Row j is column j of T.
    axes: Vec<f64>,
    /// s.
    stretch: Vec<f64>,
    images: Vec<f64>,
    effective: f64,
    outputs: usize,
    regulariser: Arc<Regulariser>,
    /// The parameter in the coordinates of the table.
    x: Vec<f64>,
    y: Vec<f64>,
    /// The multiplier over ρ.
    dual: Vec<f64>,
}

/// The gradient in the coordinates of the table at `x`, a point in them, asked for in those of
/// `basis` where there is one: there it is clipped, and there its noise is the same in all
/// directions.
pub(crate) fn gradient(
    oracle: &mut dyn Oracle,
    basis: Option<&Basis>,
    x: &[f64],
    mean: ClippedMean,
) -> Result<Vec<f64>, Refusal> {
    let Some(basis) = basis else {
        return Ok(oracle.ask(&Gradient { at: x, mean })?.into_inner());
    };
    let v = basis.without(x);
    let g = oracle.ask(&Gradient { at: &v, mean })?.into_inner();
    Ok(basis.without(&g))
}

impl Basis {
    /// Asks for the second moment with noise of `z` clips, rows being at most `row_norm` long, and
    /// goes over to its coordinates. `None` in a rehearsal, where there is nothing to compute with.
    pub fn ask(
        oracle: &mut dyn Oracle,
        row_norm: f64,
        z: f64,
        regulariser: &Arc<Regulariser>,
    ) -> Result<Option<Self>, Refusal> {
        let query = SecondMoment { row_norm, whole: true, noise_multiplier: z };
        let deviation = query.deviation(oracle.terms());
        let moment = oracle.ask(&query)?.into_inner();
        // Which coordinates they are changes no plan, and plans are drawn up many times.
        if oracle.is_rehearsal() {
            oracle.set_basis(Some(&moment))?;
            return Ok(None);
        }
        let basis = Basis::new(&moment, deviation, row_norm.powi(2), regulariser);
        oracle.set_basis(Some(basis.images()))?;
        Ok(Some(basis))
    }

    fn new(moment: &[f64], deviation: f64, most: f64, regulariser: &Arc<Regulariser>) -> Self {
        let width = (moment.len() as f64).sqrt().round() as usize;
        let (vectors, mut values) = eigen(moment, width);
        // A trace that is lost in its noise may come out as next to nothing, and coordinates that
        // make the most of nothing are without measure.
        let least = (deviation * (width as f64).sqrt()).max(1e-9 * most);
        let trace = values.iter().sum::<f64>().max(least).min(most);
        to_trace(&mut values, trace);
        // Without noise a direction that no row has would be stretched without limit.
        let damping =
            (DAMPING * deviation * (width as f64).sqrt()).max(1e-6 * trace / width as f64);
        let part = |value: f64| value / (value + damping);
        let top = values.iter().fold(0.0_f64, |top, &value| top.max(part(value)));
        let roots = values.iter().map(|value| (top * (value + damping)).sqrt()).collect();
        let effective = values.iter().map(|&value| part(value)).sum::<f64>() / top;
        Basis::of(Spectrum { vectors, values, roots }, effective, regulariser)
    }

    /// The coordinates of these eigenvectors and eigenvalues of P⁻¹.
    fn of(spectrum: Spectrum, effective: f64, regulariser: &Arc<Regulariser>) -> Self {
        let Spectrum { vectors, roots, .. } = &spectrum;
        let (width, len) = (roots.len(), regulariser.shape().len());
        let inverse: Vec<f64> = roots.iter().map(|root| 1.0 / root).collect();
        let images = spectral(vectors, &inverse);
        let (axes, stretch) = if regulariser.constraint().is_identity() {
            let scaled = |(vector, by): (&[f64], &f64)| vector.iter().map(|v| v * by).collect();
            let rows: Vec<Vec<f64>> =
                vectors.chunks_exact(width).zip(&inverse).map(scaled).collect();
            (rows.concat(), inverse.iter().map(|by| by * by).collect())
        } else {
            let squares = gram_times(regulariser, &images, width);
            let (turned, stretch) = eigen(&through(vectors, &inverse, &squares, width), width);
            let row = |turned: &[f64]| through(vectors, &inverse, turned, 1);
            let rows: Vec<Vec<f64>> = turned.chunks_exact(width).map(row).collect();
            (rows.concat(), stretch.into_iter().map(|s| s.max(0.0)).collect())
        };
        Basis {
            spectrum,
            axes,
            stretch,
            images,
            effective,
            outputs: len / width,
            regulariser: Arc::clone(regulariser),
            x: vec![0.0; len],
            y: vec![0.0; regulariser.y_len()],
            dual: vec![0.0; regulariser.y_len()],
        }
    }

    /// The images of the coordinates, for [`Oracle::set_basis`].
    pub fn images(&self) -> &[f64] {
        &self.images
    }

    /// d̃.
    pub fn effective(&self) -> f64 {
        self.effective
    }

    /// The parameter in the coordinates of the table, as of the last prox.
    pub fn native(&self) -> &[f64] {
        &self.x
    }

    /// `P⁻¹` times a point or, as P is symmetric, a gradient in these coordinates.
    fn without(&self, x: &[f64]) -> Vec<f64> {
        through(&self.spectrum.vectors, &self.spectrum.roots, x, self.outputs)
    }

    /// `(M/η + ρAᵀA)⁻¹` times a gradient in the coordinates of the table.
    pub fn solve(&self, g: &[f64], eta: f64, rho: f64) -> Vec<f64> {
        let weights: Vec<f64> = self.stretch.iter().map(|s| 1.0 / (1.0 / eta + rho * s)).collect();
        through(&self.axes, &weights, g, self.outputs)
    }

    /// The largest s; 1 for a constraint that sees nothing.
    pub fn most(&self) -> f64 {
        let most = self.stretch.iter().fold(0.0_f64, |most, &s| most.max(s));
        if most > 0.0 { most } else { 1.0 }
    }

    /// `argmin_v { r(y) + ‖v − v₀‖²/(2η) : A P v + B y = c }` in place of `v₀`, by ADMM on
    /// `r(y) + (x − x₀)ᵀM(x − x₀)/(2η)`, `A x + B y = c`.
    pub fn prox(&mut self, v: &mut [f64], eta: f64) {
        let inverse: Vec<f64> = self.spectrum.roots.iter().map(|root| 1.0 / root).collect();
        let start = through(&self.spectrum.vectors, &inverse, v, self.outputs);
        if self.regulariser.penalty().lipschitz(v.len(), 1) == 0.0 {
            self.x = start;
            return;
        }
        let most = self.most();
        let least = self.stretch.iter().fold(most, |least, &s| least.min(s)).max(LEAST * most);
        let rho = 1.0 / (eta * (most * least).sqrt());
        let regulariser = Arc::clone(&self.regulariser);
        let (mut residual, mut pull) = (self.y.clone(), start.clone());
        let mut x = start.clone();
        for _ in 0..STEPS {
            regulariser.residual(&start, &self.y, &mut residual);
            residual.iter_mut().zip(&self.dual).for_each(|(r, dual)| *r = rho * (*r + dual));
            regulariser.apply_at(&residual, &mut pull);
            let back = self.solve(&pull, eta, rho);
            x.iter_mut().zip(start.iter().zip(&back)).for_each(|(x, (x0, d))| *x = x0 - d);
            regulariser.apply_a(&x, &mut self.y);
            regulariser.subtract_c(&mut self.y);
            self.y.iter_mut().zip(&self.dual).for_each(|(y, dual)| *y += dual);
            regulariser.argmin_y(&mut self.y, rho);
            regulariser.residual(&x, &self.y, &mut residual);
            self.dual.iter_mut().zip(&residual).for_each(|(dual, r)| *dual += r);
        }
        // For x = y the one that has the zeros of the penalty.
        let native = if regulariser.constraint().is_identity() { &self.y } else { &x };
        self.x.clone_from(native);
        v.copy_from_slice(&self.without(&self.x));
    }
}

/// Rows of a product that are made together, each for every vector that is fetched.
const AT_ONCE: usize = 8;

/// `Σ_j w_j u_j u_jᵀ`, u_j the rows of a matrix: to the bit what [`through`] makes of the identity.
fn spectral(rows: &[f64], weights: &[f64]) -> Vec<f64> {
    let width = weights.len();
    let mut out = vec![0.0; width * width];
    for (block, out) in out.chunks_mut((AT_ONCE * width).max(1)).enumerate() {
        for (vector, &weight) in rows.chunks_exact(width).zip(weights) {
            let entries = vector.iter().skip(block * AT_ONCE);
            for (entry, row) in entries.zip(out.chunks_exact_mut(width)) {
                let by = entry * weight;
                row.iter_mut().zip(vector).for_each(|(sum, along)| *sum += by * along);
            }
        }
    }
    out
}

/// `Σ_j w_j u_j u_jᵀ`, u_j the rows of a matrix, times a row-major matrix with so many columns.
fn through(rows: &[f64], weights: &[f64], matrix: &[f64], columns: usize) -> Vec<f64> {
    let mut out = vec![0.0; matrix.len()];
    let mut along = vec![0.0; columns];
    for (vector, &weight) in rows.chunks_exact(weights.len()).zip(weights) {
        along.fill(0.0);
        for (entry, row) in vector.iter().zip(matrix.chunks_exact(columns)) {
            along.iter_mut().zip(row).for_each(|(sum, value)| *sum += entry * value);
        }
        for (entry, row) in vector.iter().zip(out.chunks_exact_mut(columns)) {
            row.iter_mut().zip(&along).for_each(|(sum, along)| *sum += entry * weight * along);
        }
    }
    out
}

/// `AᵀA`, which is 1 on the intercept, times a row-major matrix with so many columns.
fn gram_times(regulariser: &Regulariser, matrix: &[f64], columns: usize) -> Vec<f64> {
    let a = regulariser.constraint().a();
    let seen = a.columns() * columns;
    let mut image = vec![0.0; a.rows() * columns];
    a.apply(&matrix[..seen], columns, &mut image);
    let mut out = matrix.to_vec();
    a.apply_transpose(&image, columns, &mut out[..seen]);
    out
}

/// Eigenvectors, one a row, and eigenvalues of a symmetric matrix. Where they cannot be found, as
/// for numbers that no answer has, those of 0: then nothing is changed.
pub(crate) fn eigen(matrix: &[f64], width: usize) -> (Vec<f64>, Vec<f64>) {
    let found = MatRef::from_row_major_slice(matrix, width, width).self_adjoint_eigen(Side::Lower);
    let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
    if let Ok(found) = found {
        let (u, s) = (found.U(), found.S());
        let vectors: Vec<f64> = (0..width * width).map(|at| u[(at % width, at / width)]).collect();
        let values: Vec<f64> = (0..width).map(|j| s[j]).collect();
        if finite(&vectors) && finite(&values) {
            return (vectors, values);
        }
    }
    let mut vectors = vec![0.0; width * width];
    vectors.iter_mut().step_by(width + 1).for_each(|entry| *entry = 1.0);
    (vectors, vec![0.0; width])
}

/// The nearest numbers that are not negative and have this sum: all lowered by the same, and cut
/// off at 0.
fn to_trace(values: &mut [f64], trace: f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let (mut sum, mut lowered) = (0.0, 0.0);
    for (count, value) in sorted.iter().enumerate() {
        sum += value;
        let by = (sum - trace) / (count + 1) as f64;
        if *value > by {
            lowered = by;
        }
    }
    values.iter_mut().for_each(|value| *value = (*value - lowered).max(0.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_problem::{Constraint, Shape, penalties};

    impl Basis {
        /// The coordinates of the table.
        pub(crate) fn unchanged(regulariser: &Arc<Regulariser>) -> Self {
            let shape = regulariser.shape();
            let width = shape.features + usize::from(shape.intercept);
            let (vectors, _) = eigen(&vec![f64::NAN; width * width], width);
            let (values, roots) = (vec![0.0; width], vec![1.0; width]);
            Basis::of(Spectrum { vectors, values, roots }, width as f64, regulariser)
        }
    }

    fn regulariser(penalty: &str, features: usize) -> Arc<Regulariser> {
        let shape = Shape { features, outputs: 1, intercept: false };
        let penalty: Arc<dyn penalties::Penalty> = penalties::parse(penalty).unwrap().into();
        Arc::new(Regulariser::plain(penalty, shape))
    }

    #[test]
    fn a_trace_is_kept_and_nothing_is_negative() {
        let mut values = [-2.0, 0.5, 1.0, 3.0];
        to_trace(&mut values, 2.5);
        assert_eq!(values, [0.0, 0.0, 0.25, 2.25]);
        let mut spread = [0.1, 0.2];
        to_trace(&mut spread, 1.3);
        assert!((spread[0] - 0.6).abs() < 1e-15 && (spread[1] - 0.7).abs() < 1e-15, "{spread:?}");
    }

    #[test]
    fn a_map_by_its_eigenvectors_is_that_of_the_identity_to_the_bit() {
        for width in [1, 2, 7, 8, 9, 20] {
            let moment: Vec<f64> =
                (0..width * width).map(|at| 1.0 / (1 + at / width + at % width) as f64).collect();
            let (vectors, _) = eigen(&moment, width);
            let weights: Vec<f64> = (0..width).map(|j| 0.3 + j as f64).collect();
            let (unit, _) = eigen(&vec![f64::NAN; width * width], width);
            let bits = |matrix: Vec<f64>| matrix.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            let plain = through(&vectors, &weights, &unit, width);
            assert_eq!(bits(spectral(&vectors, &weights)), bits(plain), "{width}");
        }
    }

    /// Without noise the second moment of the images is the identity, on what the rows have.
    #[test]
    fn images_of_rows_are_white() {
        let moment = [2.0, 0.6, 0.6, 0.5];
        let basis = Basis::new(&moment, 0.0, 4.0, &regulariser("none", 2));
        let p = basis.images();
        let mut white = [0.0; 4];
        for (i, j, k, l) in (0..16).map(|at| (at >> 3 & 1, at >> 2 & 1, at >> 1 & 1, at & 1)) {
            white[i * 2 + l] += p[i * 2 + j] * moment[j * 2 + k] * p[k * 2 + l];
        }
        for (white, identity) in white.iter().zip([1.0, 0.0, 0.0, 1.0]) {
            assert!((white - identity).abs() < 1e-4, "{white:?}");
        }
        assert!((basis.effective() - 2.0).abs() < 1e-4);
    }

    /// Noise that drowns the moment leaves the coordinates as they were, but for their scale.
    #[test]
    fn noise_without_signal_changes_nothing() {
        let moment = [1.0, 0.1, 0.1, 0.2];
        let basis = Basis::new(&moment, 1e6, 1.2, &regulariser("none", 2));
        let p = basis.images();
        assert!((p[0] / p[3] - 1.0).abs() < 1e-5 && (p[1] / p[0]).abs() < 1e-5, "{p:?}");
    }

    /// A moment that came out as less than nothing stretches the rows no further than one that came
    /// out as its noise.
    #[test]
    fn a_moment_that_is_lost_in_noise_stretches_nothing() {
        let longest = |moment: [f64; 4]| {
            let basis = Basis::new(&moment, 0.1, 4.0, &regulariser("none", 2));
            basis.images().iter().fold(0.0_f64, |most, image| most.max(image.abs()))
        };
        let noise = 0.1 * 2.0_f64.sqrt();
        let least = longest([noise, 0.0, 0.0, 0.0]);
        for moment in [[-0.2, 0.0, 0.0, 0.1], [0.0; 4], [1e-12, 0.0, 0.0, 0.0]] {
            assert!(longest(moment) <= 2.0 * least, "{moment:?}: {} {least}", longest(moment));
        }
    }

    /// Numbers that no answer has still make coordinates.
    #[test]
    fn a_moment_that_is_none_makes_a_basis_all_the_same() {
        for moment in [[f64::NAN; 4], [0.0; 4], [-1.0, 0.0, 0.0, -1.0], [1e300; 4]] {
            let basis = Basis::new(&moment, 0.1, 1.0, &regulariser("none", 2));
            assert!(basis.images().iter().all(|v| v.is_finite()), "{moment:?}: {basis:?}");
            assert!((1.0..=2.0 + 1e-9).contains(&basis.effective()), "{moment:?}: {basis:?}");
        }
    }

    /// The prox is a minimum: no coordinate step improves on it.
    #[test]
    fn a_prox_in_other_coordinates_minimises() {
        let penalty = regulariser("l1:0.3", 2);
        let mut basis = Basis::new(&[2.0, 0.6, 0.6, 0.5], 0.0, 4.0, &penalty);
        let (start, eta) = ([0.9, -0.4], 0.8);
        let mut v = start;
        for _ in 0..20 {
            v = start;
            basis.prox(&mut v, eta);
        }
        let value = |v: &[f64]| {
            let inverse: Vec<f64> = basis.spectrum.roots.iter().map(|root| 1.0 / root).collect();
            let x = through(&basis.spectrum.vectors, &inverse, v, 1);
            let far: f64 = v.iter().zip(&start).map(|(a, b)| (a - b).powi(2)).sum();
            penalty.value(&x) + far / (2.0 * eta)
        };
        let best = value(&v);
        for at in 0..64 {
            let angle = f64::from(at) * std::f64::consts::TAU / 64.0;
            let near = [v[0] + 1e-3 * angle.cos(), v[1] + 1e-3 * angle.sin()];
            assert!(value(&near) >= best - 1e-9, "{at}");
        }
    }

    /// One decomposition solves for every step and every ρ, behind any constraint, and the
    /// intercept is as free as it was.
    #[test]
    fn a_step_behind_a_constraint_solves_its_system() {
        let shape = Shape { features: 3, outputs: 2, intercept: true };
        let chain = Constraint::chain(3).unwrap();
        let regulariser = Regulariser::plain(penalties::parse("l1:0.3").unwrap(), shape);
        let regulariser = Arc::new(regulariser.with_constraint(chain).unwrap());
        let moment =
            [1.0, 0.5, 0.1, 0.2, 0.5, 0.7, 0.2, 0.1, 0.1, 0.2, 0.3, 0.0, 0.2, 0.1, 0.0, 0.2_f64];
        let basis = Basis::new(&moment, 0.05, 4.0, &regulariser);
        let g: Vec<f64> = (0..8).map(|i| f64::from(i).sin()).collect();
        for (eta, rho) in [(0.3, 0.01), (2.0, 5.0)] {
            let x = basis.solve(&g, eta, rho);
            let metric = basis.without(&basis.without(&x));
            let gram = gram_times(&regulariser, &x, 2);
            for i in 0..8 {
                let left = metric[i] / eta + rho * gram[i];
                assert!((left - g[i]).abs() < 1e-10, "{left} {}", g[i]);
            }
        }
    }

    /// Behind a constraint it is a minimum as well.
    #[test]
    fn a_prox_behind_a_constraint_minimises() {
        let chain = Constraint::chain(2).unwrap();
        let penalty = Arc::new(regulariser("l1:0.3", 2).with_constraint(chain).unwrap());
        let mut basis = Basis::new(&[2.0, 0.6, 0.6, 0.5], 0.0, 4.0, &penalty);
        let (start, eta) = ([0.9, -0.4], 0.8);
        let mut v = start;
        for _ in 0..50 {
            v = start;
            basis.prox(&mut v, eta);
        }
        let inverse: Vec<f64> = basis.spectrum.roots.iter().map(|root| 1.0 / root).collect();
        let value = |v: &[f64]| {
            let far: f64 = v.iter().zip(&start).map(|(a, b)| (a - b).powi(2)).sum();
            penalty.value_at(&through(&basis.spectrum.vectors, &inverse, v, 1)) + far / (2.0 * eta)
        };
        let best = value(&v);
        assert!(best < value(&start) - 0.01);
        for at in 0..64 {
            let angle = f64::from(at) * std::f64::consts::TAU / 64.0;
            let near = [v[0] + 1e-3 * angle.cos(), v[1] + 1e-3 * angle.sin()];
            assert!(value(&near) >= best - 1e-9, "{at}");
        }
    }
}
