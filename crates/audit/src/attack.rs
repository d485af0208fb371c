//! The runs, and what an adversary makes of each: a few numbers, of which the test uses the most telling one.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use reticent::{Error, Seen};
use serde::Serialize;

use crate::subject::Subject;

/// A number computed from what one run showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The first answer: all there is for one iteration, and a snapshot.
    First,
    /// The last answer: of a random walk it has all the steps in it.
    Last,
    /// The sum of all answers: for a canary that pulls the same way in every iteration there is nothing
    /// better.
    Sum,
    /// How far the last answer is from the first: what is left when the same noise was used in both.
    Contrast,
    /// The length of all answers together: sees noise of the wrong size.
    Energy,
    /// The model.
    Model,
}

/// All the statistics of one run.
pub(crate) type Scores = [f64; 6];

impl Statistic {
    pub(crate) const ALL: [Statistic; 6] = [
        Statistic::First,
        Statistic::Last,
        Statistic::Sum,
        Statistic::Contrast,
        Statistic::Energy,
        Statistic::Model,
    ];

    /// Of the coordinate `j` alone: canaries point along the axes.
    pub(crate) fn of(self, seen: &Seen, j: usize) -> f64 {
        let at = |answer: &Vec<f64>| answer.get(j).copied().unwrap_or(0.0);
        let answers = &seen.transcript;
        let (first, last) = (answers.first().map_or(0.0, at), answers.last().map_or(0.0, at));
        match self {
            Statistic::First => first,
            Statistic::Last => last,
            Statistic::Sum => answers.iter().map(at).sum(),
            Statistic::Contrast => (last - first).abs(),
            Statistic::Energy => answers.iter().map(|answer| at(answer).powi(2)).sum(),
            Statistic::Model => at(&seen.parameter),
        }
    }
}

/// The scores of `runs` runs on each of the two tables.
pub(crate) fn scores(
    subject: &Subject,
    runs: u64,
    told: &(dyn Fn(u64, u64) + Sync),
) -> Result<[Vec<Scores>; 2], Error> {
    let done = AtomicU64::new(0);
    let side = |with: bool| {
        let run = |i: u64| {
            let seen = subject.run(with, 2 * i + u64::from(!with))?;
            told(done.fetch_add(1, Ordering::Relaxed) + 1, 2 * runs);
            Ok(Statistic::ALL.map(|statistic| statistic.of(&seen, 0)))
        };
        (0..runs).into_par_iter().map(run).collect::<Result<Vec<_>, Error>>()
    };
    Ok([side(true)?, side(false)?])
}
