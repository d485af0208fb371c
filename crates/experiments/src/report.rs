//! What came of an experiment: figures with their numbers, and claims.

use crate::claim::Claim;
pub(crate) use crate::figure::Figure;
pub(crate) use crate::series::Series;

/// What came of an experiment.
#[derive(Clone, Debug, Default)]
pub struct ExperimentReport {
    /// The pictures as the experiment has them; [`ExperimentReport::pictures`] are drawn.
    pub figures: Vec<Figure>,
    /// The claims.
    pub claims: Vec<Claim>,
    /// What is to be known: what was reduced, what was not available.
    pub notes: Vec<String>,
    /// The simulated tables that stood in for public ones.
    pub stand_ins: Vec<String>,
}

impl ExperimentReport {
    /// The pictures that are drawn: what is certified and what is as published apart.
    pub fn pictures(&self) -> Vec<Figure> {
        self.figures.iter().cloned().flat_map(Figure::apart).collect()
    }
}
