//! One record's term of the objective: the loss itself, or its envelope around a shifted score.

use rayon::prelude::*;
use reticent_problem::losses::Loss;

use crate::sums::private::PrivateLoss;
use crate::sums::rows::{RowAccess, with_rows};

/// Scaled multipliers `sᵢ` of the constraints that tie the scores to the parameter.
#[derive(Debug)]
pub struct Split {
    step: f64,
    multipliers: Vec<f64>,
}

impl Split {
    /// Multipliers 0, `len` of them.
    pub fn new(step: f64, len: usize) -> Self {
        Split { step, multipliers: vec![0.0; len] }
    }

    /// The multipliers themselves, `s/step`, stay what they are.
    pub fn rescale(&mut self, step: f64) {
        let factor = step / self.step;
        self.multipliers.iter_mut().for_each(|s| *s *= factor);
        self.step = step;
    }

    /// `sᵢ ← sᵢ + relaxation·(xᵀaᵢ − pᵢ)` at `x = at`; what the violated constraints are worth.
    pub fn raise(
        &mut self,
        PrivateLoss { private, loss }: PrivateLoss<'_>,
        at: &[f64],
        relaxation: f64,
    ) -> f64 {
        with_rows!(private.rows(), rows => self.raise_over(PrivateLoss { private, loss }, rows, at, relaxation))
    }

    fn raise_over(
        &mut self,
        PrivateLoss { private, loss }: PrivateLoss<'_>,
        rows: &impl RowAccess,
        at: &[f64],
        relaxation: f64,
    ) -> f64 {
        let (outputs, step) = (loss.outputs(), self.step);
        let each = |i: usize, s: &mut [f64]| {
            let mut buffers = Buffers::new(outputs);
            let Buffers { scores, moved, point, .. } = &mut buffers;
            private.scores(rows, i, at, scores);
            shift(scores, s, moved);
            loss.prox(moved, private.target(i), step, point);
            let mut gap: f64 = 0.0;
            for ((s, w), p) in s.iter_mut().zip(scores).zip(point) {
                *s += relaxation * (*w - *p);
                gap += (*s * (*w - *p)).abs();
            }
            gap * private.weight(i) / step
        };
        let worth: Vec<f64> = self
            .multipliers
            .par_chunks_exact_mut(outputs)
            .enumerate()
            .map(|(i, s)| each(i, s))
            .collect();
        worth.iter().sum()
    }
}

/// Room for the numbers of one record.
pub(super) struct Buffers {
    pub scores: Vec<f64>,
    pub slopes: Vec<f64>,
    pub curvature: Vec<f64>,
    moved: Vec<f64>,
    point: Vec<f64>,
    other: Vec<f64>,
}

impl Buffers {
    pub fn new(outputs: usize) -> Self {
        let zeros = vec![0.0; outputs];
        Buffers {
            scores: zeros.clone(),
            slopes: zeros.clone(),
            curvature: vec![0.0; outputs * outputs],
            moved: zeros.clone(),
            point: zeros.clone(),
            other: zeros,
        }
    }
}

fn shift(scores: &[f64], by: &[f64], out: &mut [f64]) {
    out.iter_mut().zip(scores).zip(by).for_each(|((o, w), s)| *o = w + s);
}

/// The value of record `i` at its scores; its slopes and, if wanted, its bend go into the buffers.
pub(super) fn term(
    loss: &dyn Loss,
    split: Option<&Split>,
    (i, target): (usize, f64),
    buffers: &mut Buffers,
    curvature: bool,
) -> f64 {
    let Some(Split { step, multipliers }) = split else {
        loss.derivative(&buffers.scores, target, &mut buffers.slopes);
        if curvature {
            loss.curvature(&buffers.scores, target, &mut buffers.curvature);
        }
        return loss.value(&buffers.scores, target);
    };
    let Buffers { scores, slopes, curvature: curvatures, moved, point, other } = buffers;
    let outputs = scores.len();
    shift(scores, &multipliers[i * outputs..][..outputs], moved);
    loss.prox(moved, target, *step, point);
    let mut value = loss.value(point, target);
    for ((slope, v), p) in slopes.iter_mut().zip(&*moved).zip(&*point) {
        *slope = (v - p) / step;
        value += 0.5 * (v - p) * *slope;
    }
    if curvature {
        // The bend of the envelope is (1 − prox′)/step. The prox of a loss with kinks is piecewise
        // smooth, so a difference quotient gives its derivative on a piece and a mean of the two at
        // a joint, a generalised derivative either way.
        let h = 1e-4 * step;
        for j in 0..outputs {
            let centre = moved[j];
            moved[j] = centre + h;
            loss.prox(moved, target, *step, point);
            moved[j] = centre - h;
            loss.prox(moved, target, *step, other);
            moved[j] = centre;
            for k in 0..outputs {
                let unit = if j == k { 1.0 } else { 0.0 };
                let entry = (unit - (point[k] - other[k]) / (2.0 * h)) / step;
                curvatures[k * outputs + j] =
                    if outputs == 1 { entry.clamp(0.0, 1.0 / step) } else { entry };
            }
        }
    }
    value
}
