//! The statistics that are learned from runs: the likelihood and the discriminant.

use crate::attack::Scores;
use crate::discriminant::Discriminant;
use crate::likelihood::Likelihood;

/// Both, learned from the same runs.
#[derive(Debug)]
pub(crate) struct Learned {
    likelihood: Likelihood,
    discriminant: Discriminant,
}

impl Learned {
    pub fn learn(runs: &[Vec<Scores>; 2]) -> Self {
        Learned { likelihood: Likelihood::learn(runs), discriminant: Discriminant::learn(runs) }
    }

    /// Fills the statistics in.
    pub fn fill(&self, runs: &mut [Vec<Scores>; 2]) {
        self.likelihood.fill(runs);
        self.discriminant.fill(runs);
    }
}

/// Fills the statistics of each half of the runs in by what was learned on the other half: what was
/// learned by heart would look better than it is.
pub(crate) fn fill_across(runs: &mut [Vec<Scores>; 2]) {
    let mut rest = runs.each_mut().map(|side| side.split_off(side.len() / 2));
    let (ours, theirs) = (Learned::learn(runs), Learned::learn(&rest));
    theirs.fill(runs);
    ours.fill(&mut rest);
    runs.iter_mut().zip(rest).for_each(|(side, rest)| side.extend(rest));
}
