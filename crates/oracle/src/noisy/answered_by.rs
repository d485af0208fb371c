//! Whom an answer was taken over, where parties give it and some of them may be away: what an interval
//! around it must know. Public numbers alone. Proof: proofs/noisy-sums.md, 4.

/// Whom an answer was taken over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnsweredBy {
    /// The part of all units; `None` where somebody was away whose number of units is private.
    pub units: Option<f64>,
    /// So many times the noise of an answer of everybody: `√(t/m)·n/n_t` of t of m parties, who have
    /// n_t of n units.
    pub noise: f64,
}

impl AnsweredBy {
    /// Why nothing is laid around answers of a number of units that nobody knows.
    pub const UNKNOWN: &str = "some parties were away, and how many records they have is private, so that nobody knows how many \
                               the answers are of: a run that nobody leaves, or replace-one, would help";

    /// Everybody, as on one table.
    pub const ALL: AnsweredBy = AnsweredBy { units: Some(1.0), noise: 1.0 };
}
