//! One pass over all records: value, gradient and Hessian of the mean.
//!
//! Records are cut into parts whose number depends on the length of the parameter alone, and the
//! parts are added in order, so the bits of the answer do not depend on the number of threads.

mod term;

use rayon::prelude::*;

use crate::sums::private::{Private, PrivateLoss};
use crate::sums::rows::{RowAccess, with_rows};
use term::{Buffers, term};

pub use term::Split;

/// What goes into the vector of a pass.
#[derive(Clone, Copy)]
pub enum Want<'a> {
    /// Nothing: the value alone.
    Value,
    /// The gradient.
    Gradient,
    /// The Hessian times this vector.
    HessianTimes(&'a [f64]),
}

/// Numbers that the parts of a Hessian may take together.
const PARTS_ROOM: usize = 1 << 22;

/// The value of the mean at `at`; `vector` and `hessian` are overwritten with what is wanted.
pub fn unclipped_sum(
    PrivateLoss { private, loss }: PrivateLoss<'_>,
    split: Option<&Split>,
    at: &[f64],
    want: Want<'_>,
    vector: &mut [f64],
    hessian: Option<&mut [f64]>,
) -> f64 {
    with_rows!(private.rows(), rows => {
        over(PrivateLoss { private, loss }, rows, split, at, want, vector, hessian)
    })
}

fn over(
    PrivateLoss { private, loss }: PrivateLoss<'_>,
    rows: &impl RowAccess,
    split: Option<&Split>,
    at: &[f64],
    want: Want<'_>,
    vector: &mut [f64],
    hessian: Option<&mut [f64]>,
) -> f64 {
    let (len, square) = (vector.len(), hessian.as_ref().map_or(0, |h| h.len()));
    let parts = (PARTS_ROOM / (at.len() * at.len()).max(1)).clamp(2, 32);
    let share = private.records().div_ceil(parts).max(1);
    let sums: Vec<UnclippedSums> = (0..parts)
        .into_par_iter()
        .map(|part| {
            let mut sums = UnclippedSums::new(len, square, loss.outputs());
            for i in
                (part * share).min(private.records())..((part + 1) * share).min(private.records())
            {
                sums.add(PrivateLoss { private, loss }, rows, split, i, at, want);
            }
            sums
        })
        .collect();
    vector.fill(0.0);
    let mut value = 0.0;
    let mut square = hessian;
    if let Some(square) = &mut square {
        square.fill(0.0);
    }
    for part in &sums {
        value += part.value;
        vector.iter_mut().zip(&part.vector).for_each(|(sum, v)| *sum += v);
        if let Some(square) = &mut square {
            square.iter_mut().zip(&part.square).for_each(|(sum, v)| *sum += v);
        }
    }
    if let Some(square) = square {
        mirror(square, at.len());
    }
    value
}

/// The sums over some of the records, and room to work in.
struct UnclippedSums {
    value: f64,
    vector: Vec<f64>,
    square: Vec<f64>,
    buffers: Buffers,
    row: Vec<(usize, f64)>,
    images: Vec<f64>,
}

impl UnclippedSums {
    fn new(len: usize, square: usize, outputs: usize) -> Self {
        UnclippedSums {
            value: 0.0,
            vector: vec![0.0; len],
            square: vec![0.0; square],
            buffers: Buffers::new(outputs),
            row: Vec::new(),
            images: vec![0.0; outputs],
        }
    }

    /// One more record.
    fn add(
        &mut self,
        PrivateLoss { private, loss }: PrivateLoss<'_>,
        rows: &impl RowAccess,
        split: Option<&Split>,
        i: usize,
        at: &[f64],
        want: Want<'_>,
    ) {
        let UnclippedSums { value, vector, square, buffers, row, images } = self;
        let (outputs, weight) = (loss.outputs(), private.weight(i));
        let curvature = !square.is_empty() || matches!(want, Want::HessianTimes(_));
        private.scores(rows, i, at, &mut buffers.scores);
        let record = (i, private.target(i));
        *value += weight * term(loss, split, record, buffers, curvature);
        match want {
            Want::Value => {}
            Want::Gradient => add(private, rows, i, weight, &buffers.slopes, vector),
            Want::HessianTimes(v) => {
                private.scores(rows, i, v, &mut buffers.scores);
                let curvatures = buffers.curvature.chunks_exact(outputs);
                for (image, curvatures) in images.iter_mut().zip(curvatures) {
                    *image = curvatures.iter().zip(&buffers.scores).map(|(b, s)| b * s).sum();
                }
                add(private, rows, i, weight, images, vector);
            }
        }
        if !square.is_empty() {
            row.clear();
            rows.for_each(i, |feature, a| {
                if a != 0.0 {
                    row.push((feature, a));
                }
            });
            if private.intercept() != 0.0 {
                row.push((private.features(), private.intercept()));
            }
            add_square(row, weight, &buffers.curvature, outputs, at.len(), square);
        }
    }
}

/// `sum ← sum + weight·(aᵢ, intercept) ⊗ t`.
fn add(
    private: &Private,
    rows: &impl RowAccess,
    i: usize,
    weight: f64,
    t: &[f64],
    sum: &mut [f64],
) {
    let (features, last) = sum.split_at_mut(private.features() * t.len());
    match t {
        &[t] => rows.add(i, weight * t, features, |v| v),
        many => rows.add_outer(i, many, features, |v| weight * v),
    }
    last.iter_mut().zip(t).for_each(|(sum, t)| *sum += weight * t * private.intercept());
}

/// The lower triangle of `square + weight·(a aᵀ) ⊗ curvature`, by rows of features.
fn add_square(
    row: &[(usize, f64)],
    weight: f64,
    curvature: &[f64],
    outputs: usize,
    len: usize,
    square: &mut [f64],
) {
    if let &[curvature] = curvature {
        if curvature == 0.0 {
            return;
        }
        for (n, &(i, a)) in row.iter().enumerate() {
            let target = &mut square[i * len..(i + 1) * len];
            let scale = weight * curvature * a;
            for &(j, b) in &row[..=n] {
                target[j] += scale * b;
            }
        }
        return;
    }
    for (n, &(i, a)) in row.iter().enumerate() {
        for &(j, b) in &row[..=n] {
            let scale = weight * a * b;
            for (o, curvatures) in curvature.chunks_exact(outputs).enumerate() {
                let start = (i * outputs + o) * len + j * outputs;
                for (sum, curvature) in square[start..start + outputs].iter_mut().zip(curvatures) {
                    *sum += scale * curvature;
                }
            }
        }
    }
}

/// Copies the lower triangle onto the upper one.
fn mirror(square: &mut [f64], len: usize) {
    for i in 0..len {
        for j in 0..i {
            square[j * len + i] = square[i * len + j];
        }
    }
}
