//! The columns of a table by how steep the objective is along them, for a choice among them.
//!
//! ```text
//! s_j = −( Q_j + round(n̂ λ x_j · 2³²/C) )
//! ```
//!
//! `Q_j` is the clipped sum of partial derivatives, the rest a ridge on the coefficients, which is
//! public: a record moves s_j by 2³² steps at most. Proof: proofs/exponential-mechanism.md.

use reticent_noise::{Entropy, EntropyError, ScoreLevels, ScoredDraw};
use reticent_problem::losses::Loss;

use super::grid::{BITS, nearest};
use super::moving_gradient::{MovingGradient, PartialTerms};
use super::private::Private;

/// The most that a ridge pulls with, in steps of the grid: beside a sum of 2⁶² it fits in a word.
const MOST_PULL: f64 = (1_u64 << 61) as f64;

/// What scores are made with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnTerms {
    /// How partial derivatives are counted.
    pub partial: PartialTerms,
    /// `n̂ λ`.
    pub pull: f64,
    /// How many steps of the grid double a weight.
    pub scale: u64,
}

/// The scores of all coordinates at a point.
#[derive(Debug)]
pub struct ScoredColumns {
    terms: ColumnTerms,
    gradient: MovingGradient,
    levels: ScoreLevels,
}

impl ScoredColumns {
    /// At zero; `None` for a parameter without coordinates.
    pub fn new(private: &Private, loss: &dyn Loss, terms: ColumnTerms) -> Option<Self> {
        let mut gradient = MovingGradient::new(private, loss, terms.partial);
        gradient.take_changed();
        let scores = gradient.sums().iter().map(|sum| -sum).collect();
        Some(ScoredColumns { terms, levels: ScoreLevels::new(terms.scale, scores)?, gradient })
    }

    /// Whether these are scores on such terms.
    pub fn are_on(&self, terms: &ColumnTerms) -> bool {
        self.terms == *terms
    }

    /// Moves to a point, of which `point` has what is not zero, in the order of the coordinates.
    pub fn move_to(&mut self, private: &Private, loss: &dyn Loss, point: &[(u32, f64)]) {
        self.gradient.move_to(private, loss, point);
        for index in self.gradient.take_changed() {
            let index = index as usize;
            // The intercept has no ridge.
            let pull = if index < private.features() { self.pull(index) } else { 0 };
            self.levels.set(index, -(self.gradient.sums()[index] + pull));
        }
    }

    /// A coordinate and whether its score is to be taken as it is or negated, each with probability
    /// ∝ 2^(score/scale).
    pub fn draw(&self, entropy: &mut Entropy) -> Result<ScoredDraw, EntropyError> {
        self.levels.draw(entropy)
    }

    /// The first of those with the largest score: a choice without noise.
    pub fn largest(&self) -> ScoredDraw {
        let sizes = self.levels.scores().iter().map(|score| score.unsigned_abs());
        let index = sizes
            .enumerate()
            .fold((0, 0), |top, (i, size)| if size > top.1 { (i, size) } else { top })
            .0;
        ScoredDraw { index, positive: self.levels.scores()[index] >= 0 }
    }

    fn pull(&self, index: usize) -> i64 {
        let factor = (1_u64 << BITS) as f64 / self.terms.partial.clip;
        let steps = self.terms.pull * self.gradient.at()[index] * factor;
        // Beyond 2⁵¹ a double is taken as it is.
        let whole = if steps.abs() < (1_u64 << 51) as f64 { nearest(steps) } else { steps };
        whole.clamp(-MOST_PULL, MOST_PULL) as i64
    }
}

#[cfg(test)]
#[path = "scored_columns_tests.rs"]
mod tests;
