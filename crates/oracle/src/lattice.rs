//! The lattice that the token of a walk is on, and what rounding adds to a step of it.
//!
//! The noise of a step is whole steps of the gate's grid, `2λ/n` of which is a step of the token's:
//! the *fine* lattice. What a token has between two points of it no later noise covers. So a token
//! is always a multiple of a public multiple of the fine step, the sum of token and message is one
//! of integers, and what follows (prox, ball, rounding) is a function of that sum alone. Proof:
//! proofs/walk.md.

use serde::Serialize;

use crate::queries::ResidualTerms;
use crate::sums::Grid;

/// A stateless walk on the complete graph.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WalkTerms {
    /// How many users there are.
    pub users: u64,
    /// λ.
    pub relaxation: f64,
}

/// The lattice of the tokens of one walk. Public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// A step of the gate's grid.
    grid: f64,
    /// What it moves the token by.
    fine: f64,
    /// Fine steps in a step of the token: a power of two.
    multiple: f64,
    radius: f64,
    len: usize,
}

/// A token stays within so many clips, and within so many over the number of users. Scores of a
/// thousand and more, which no loss in use tells from larger ones; and so near that roundings of
/// doubles are small beside a step.
const FAR: (f64, f64) = (1024.0, 8_388_608.0);

/// Indices of a token are below it, so that a double tells each from the next.
const LARGEST: f64 = (1_u64 << 50) as f64;

/// More noise than this, in clips, is not added exactly to a token in doubles.
pub(crate) const MOST_NOISE: f64 = 4096.0;

/// No table has more records (`sums/private.rs`).
const MOST_RECORDS: f64 = (1_u64 << 30) as f64;

impl Lattice {
    pub(crate) fn new(params: &ResidualTerms, walk: &WalkTerms, len: usize) -> Self {
        let users = walk.users.max(1) as f64;
        let grid = Grid::new(len).step(params.clip);
        let fine = 2.0 * walk.relaxation / users * grid;
        let radius = params.clip * FAR.0.min(FAR.1 / users);
        let mut multiple = 1.0;
        while radius / (fine * multiple) > LARGEST && multiple < 1e15 {
            multiple *= 2.0;
        }
        Lattice { grid, fine, multiple, radius, len }
    }

    /// No token is longer: the nearest point in this ball is taken.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    fn index(&self, token: f64) -> i64 {
        (token / (self.fine * self.multiple)).round() as i64
    }

    /// The nearest point of the lattice.
    pub fn round(&self, token: &mut [f64]) {
        token.iter_mut().for_each(|t| *t = self.index(*t) as f64 * (self.fine * self.multiple));
    }

    /// `token + (2λ/n)·message`, for a token on the lattice and a message of whole steps of the
    /// grid, added as integers: a function of the sum and of nothing else.
    pub fn sum(&self, token: &[f64], message: &[f64]) -> Vec<f64> {
        let add = |(t, m): (&f64, &f64)| {
            let steps = i128::from(self.index(*t)) * self.multiple as i128
                + (m / self.grid).round() as i128;
            steps as f64 * self.fine
        };
        token.iter().zip(message).map(add).collect()
    }

    /// So many whole steps of the gate's grid.
    pub fn message(&self, steps: &[i64]) -> Vec<f64> {
        steps.iter().map(|&steps| steps as f64 * self.grid).collect()
    }

    /// What a step adds at the most to the distance of two tokens, all roundings and the inner
    /// solver's included, as a part of what a replaced user moves the token by.
    pub(crate) fn expansion(&self, params: &ResidualTerms) -> f64 {
        let (clip, gain) = (params.clip, self.fine / self.grid);
        let len = self.len as f64;
        let wide = 8.0 * (len + 64.0) * f64::EPSILON;
        // The solver: scores and updates once an inner step, and the sum of the gradients, which no
        // step enlarges beyond γ times it.
        let solver = f64::from(params.inner) * wide * (2.0 * self.radius + clip)
            + 4.0 * f64::EPSILON * MOST_RECORDS * clip;
        // Prox, ball, and integers as doubles.
        let doubles = 2.0 * wide * self.radius;
        let lattices = len.sqrt() * (self.fine + self.fine * self.multiple + gain * self.grid);
        (2.0 * doubles + lattices + 2.0 * gain * solver) / (2.0 * gain * clip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 16;

    fn params(clip: f64, inner: u32) -> ResidualTerms {
        ResidualTerms {
            clip,
            record_clip: 1.0,
            row_norm: 1.0,
            step: 0.5,
            inner,
            noise_multiplier: 1.0,
            walk: None,
        }
    }

    fn lattice(users: u64, clip: f64, relaxation: f64) -> Lattice {
        Lattice::new(&params(clip, 3), &WalkTerms { users, relaxation }, LEN)
    }

    /// The indices of tokens are told apart by doubles, and the lattice is no coarser than that
    /// takes: a message moves a token by exactly 2λ/n of itself.
    #[test]
    fn tokens_and_messages_are_added_as_integers() {
        for (users, relaxation) in [(1, 0.5), (3, 0.25), (1000, 0.9), (1 << 20, 0.5)] {
            let lattice = lattice(users, 2.0, relaxation);
            let gain = 2.0 * relaxation / users as f64;
            assert!((lattice.fine / (gain * lattice.grid) - 1.0).abs() < 1e-14);
            let coarse = lattice.fine * lattice.multiple;
            assert!(lattice.radius / coarse <= LARGEST, "{lattice:?}");
            assert!(lattice.multiple == 1.0 || 2.0 * lattice.radius / coarse > LARGEST);
            let radius = 2.0 * 1024.0_f64.min(8_388_608.0 / users as f64);
            assert_eq!(lattice.radius(), radius);
            // Near enough that a division by the fine step says which integer it was.
            let near = [0.007 * radius, -0.002 * radius];
            let mut token = near;
            lattice.round(&mut token);
            assert!(token.iter().zip(near).all(|(t, at)| (t - at).abs() <= 0.51 * coarse));
            let message = lattice.message(&[5, -(1 << 33)]);
            let sum = lattice.sum(&token, &message);
            let units = |x: f64| (x / lattice.fine).round();
            assert_eq!(units(sum[0]) - units(token[0]), 5.0);
            assert_eq!(units(sum[1]) - units(token[1]), -((1_u64 << 33) as f64));
        }
        assert_eq!(lattice(0, 2.0, 0.5), lattice(1, 2.0, 0.5));
    }

    /// The proof's sum of roundings, by hand: what a step adds is never said to be less.
    #[test]
    fn a_step_adds_every_rounding_of_the_proof() {
        let params = params(2.0, 3);
        let lattice = lattice(100, 2.0, 0.5);
        let gain = 2.0 * 0.5 / 100.0;
        let wide = 8.0 * 80.0 * f64::EPSILON;
        let solver =
            3.0 * wide * (2.0 * 2048.0 + 2.0) + 4.0 * f64::EPSILON * (1_u64 << 30) as f64 * 2.0;
        let lattices = 4.0 * (2.0 * lattice.fine + lattice.fine * lattice.multiple);
        let distance = 4.0 * wide * 2048.0 + lattices + 2.0 * gain * solver;
        let said = distance / (2.0 * gain * 2.0);
        assert!((lattice.expansion(&params) / said - 1.0).abs() < 1e-9);
    }
}
