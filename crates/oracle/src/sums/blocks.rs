//! The blocks of consensus ADMM: a copy of the parameter for each record, and how they move.
//!
//! ```text
//! uᵢ = pᵢ + aᵢ ⊗ cᵢ
//! pᵢ⁺ = (1 − 2λ)pᵢ + 2λz
//! cᵢ⁺ = (1 − 2λ)cᵢ − 2λγsᵢ,   aᵢ ⊗ sᵢ = (2z − uᵢ − prox_{γfᵢ}(2z − uᵢ))/γ clipped to norm C
//! ```
//!
//! `cᵢ` is a function of record `i` and of the `z`s; `pᵢ` of the `z`s alone, and the same for all
//! blocks while they all move alike: then one is kept. What that is good for is in
//! proofs/consensus.md.

use rayon::prelude::*;
use reticent_problem::losses::Loss;

use super::pass::finite;
use super::private::{Private, norm_above};
use super::rows::{RowAccess, with_rows};

/// The blocks of all records.
#[derive(Debug)]
pub struct Blocks {
    centre: Vec<f64>,
    coefficients: Vec<f64>,
    /// A centre for each record, in place of the one for all, once the blocks have not all moved
    /// alike.
    own: Option<Vec<f64>>,
    /// Which unit has which number of a schedule; the unit of the same number if `None`.
    order: Option<Vec<u32>>,
}

/// A move of blocks against the consensus `z`.
#[derive(Clone, Copy, Debug)]
pub struct Move<'a> {
    /// `z`.
    pub z: &'a [f64],
    /// `C`.
    pub clip: f64,
    /// `γ`.
    pub step: f64,
    /// `λ`.
    pub relaxation: f64,
    /// Whether each record moves; all of them if `None`.
    pub moves: Option<&'a [bool]>,
}

/// Records that a thread takes at a time.
const CHUNK: usize = 256;

/// Below it the quotient `(w − prox w)/t` has lost its digits, and the derivative at `w` is as
/// near.
const LEAST_STEP: f64 = 1e-8;

impl Blocks {
    /// The blocks of so many records at `start`.
    pub fn at(start: &[f64], records: usize, outputs: usize) -> Self {
        Blocks {
            centre: start.to_vec(),
            coefficients: vec![0.0; records * outputs],
            own: None,
            order: None,
        }
    }

    /// The `cᵢ`, one row after the other.
    pub fn coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// Whether the units have numbers of their own.
    pub fn is_numbered(&self) -> bool {
        self.order.is_some()
    }

    /// Gives the units numbers of their own: `order` has each unit once.
    pub fn number(&mut self, order: Vec<u32>) {
        self.order = Some(order);
    }

    fn unit(&self, number: usize) -> usize {
        self.order.as_ref().map_or(number, |order| order[number] as usize)
    }

    /// Whether each record moves, where the units with these numbers do.
    pub fn moves(&self, private: &Private, numbers: &[u32]) -> Vec<bool> {
        let mut moves = vec![false; private.records()];
        for &number in numbers {
            let records = private.records_in(self.unit(number as usize));
            records.iter().for_each(|&i| moves[i as usize] = true);
        }
        moves
    }

    /// Gives each record a centre of its own.
    pub fn part(&mut self, records: usize) {
        let centre = &self.centre;
        self.own.get_or_insert_with(|| centre.repeat(records));
    }

    /// The centres of the records that move; none where one is kept for all.
    pub fn moving_centres(&mut self, moves: Option<&[bool]>) -> Vec<&mut [f64]> {
        let len = self.centre.len();
        let mut moving: Vec<&mut [f64]> =
            self.own.as_mut().map_or(Vec::new(), |own| own.chunks_exact_mut(len).collect());
        if let Some(moves) = moves {
            let mut each = moves.iter();
            moving.retain(|_| each.next() == Some(&true));
        }
        moving
    }

    /// The mean of the centres over the units, by their numbers. A user's records move together,
    /// and one of them stands for all: were they added up, how many they are would show in the last
    /// bits.
    pub fn mean_centre(&self, private: &Private) -> Vec<f64> {
        let Some(own) = &self.own else { return self.centre.clone() };
        let (len, units) = (self.centre.len(), private.units());
        let mut mean = vec![0.0; len];
        for number in 0..units {
            let first = private.records_in(self.unit(number)).first().map_or(0, |&i| i as usize);
            mean.iter_mut().zip(&own[first * len..][..len]).for_each(|(m, p)| *m += p);
        }
        mean.iter_mut().for_each(|m| *m /= units as f64);
        mean
    }

    /// Moves the blocks.
    pub fn advance(&mut self, private: &Private, loss: &dyn Loss, params: &Move<'_>) {
        with_rows!(private.rows(), rows => self.advance_over(rows, private, loss, params));
        let keep = 1.0 - 2.0 * params.relaxation;
        let shift = |centre: &mut [f64]| {
            centre.iter_mut().zip(params.z).for_each(|(p, z)| *p = keep * *p + (1.0 - keep) * z);
        };
        if self.own.is_none() {
            return shift(&mut self.centre);
        }
        self.moving_centres(params.moves).into_iter().for_each(shift);
    }

    /// The `cᵢ⁺`, each from its own record and its `2z − p`.
    fn advance_over(
        &mut self,
        rows: &impl RowAccess,
        private: &Private,
        loss: &dyn Loss,
        params: &Move<'_>,
    ) {
        let Blocks { centre, coefficients, own: centres, .. } = self;
        let Move { z, clip, step, relaxation, moves } = *params;
        let (outputs, len) = (loss.outputs(), z.len());
        let from = |p: &[f64]| z.iter().zip(p).map(|(z, p)| 2.0 * z - p).collect::<Vec<f64>>();
        let shared = from(centre);
        coefficients.par_chunks_mut(CHUNK * outputs).enumerate().for_each(|(chunk, block)| {
            let (mut scores, mut slopes) = (vec![0.0; outputs], vec![0.0; outputs]);
            for (n, own) in block.chunks_exact_mut(outputs).enumerate() {
                let i = chunk * CHUNK + n;
                if moves.is_some_and(|moves| !moves[i]) {
                    continue;
                }
                let apart = centres.as_ref().map(|all| from(&all[i * len..][..len]));
                let at = apart.as_deref().unwrap_or(&shared);
                let norm = private.norm_above(i);
                let step_in_score = step * norm * norm;
                private.scores(rows, i, at, &mut scores);
                scores.iter_mut().zip(&*own).for_each(|(w, c)| *w -= c * norm * norm);
                if !step_in_score.is_finite() || scores.iter().any(|w| !w.is_finite()) {
                    slopes.fill(0.0);
                } else if step_in_score > LEAST_STEP {
                    loss.prox(&scores, private.target(i), step_in_score, &mut slopes);
                    slopes.iter_mut().zip(&scores).for_each(|(s, w)| *s = (w - *s) / step_in_score);
                } else {
                    loss.derivative(&scores, private.target(i), &mut slopes);
                }
                slopes.iter_mut().for_each(finite);
                let size = norm_above(slopes.iter().map(|s| s * s).sum(), outputs) * norm;
                let factor = clip / size.max(clip);
                for (c, s) in own.iter_mut().zip(&slopes) {
                    *c = (1.0 - 2.0 * relaxation) * *c - 2.0 * relaxation * step * factor * s;
                    finite(c);
                }
            }
        });
    }
}
