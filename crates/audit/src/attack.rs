//! The runs, and what an adversary makes of each: a few numbers, of which the test uses the most
//! telling one.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;
use reticent::Error;
use reticent::internal::Seen;
use reticent_data::Table;
use reticent_oracle::Refusal;
use serde::Serialize;

use crate::subject::AuditSubject;

/// A number computed from what one run showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttackStatistic {
    /// The first answer: all there is for one iteration, and a snapshot.
    First,
    /// The last answer: of a random walk it has all the steps in it.
    Last,
    /// The sum of all answers: for a canary that pulls the same way in every iteration of full
    /// batches there is nothing better.
    Sum,
    /// How far the last answer is from the first: what is left when the same noise was used in
    /// both.
    Contrast,
    /// The length of all answers together: sees noise of the wrong size.
    Energy,
    /// The longest answer: sees that somebody was drawn.
    Peak,
    /// The model.
    Model,
    /// The sum over the answers and the model of the logarithm of how much oftener each was seen on
    /// one table than on the other: for samples, where one answer with the canary in it says more
    /// than many without.
    Likelihood,
    /// The sum over the coordinates of the answers, each weighed by how far its mean moves from one
    /// table to the other over its variance: for answers of several coordinates, such as a second
    /// moment and the gradients after it, of which no one coordinate shows all.
    Discriminant,
}

/// Answers that are looked at one by one.
pub(crate) const ANSWERS: usize = 6;

/// Coordinates of an answer that the discriminant weighs: a second moment of three has nine.
pub(crate) const COORDINATES: usize = 9;

/// Where the parts of the likelihood begin, and where those of the discriminant.
pub(crate) const PARTS: usize = AttackStatistic::ALL.len();
pub(crate) const WEIGHED: usize = PARTS + ANSWERS + 1;

/// Of one run: the statistics, its first answers and the model by their first coordinate, and all
/// coordinates of these answers.
pub(crate) type Scores = [f64; WEIGHED + ANSWERS * COORDINATES];

impl AttackStatistic {
    pub(crate) const ALL: [AttackStatistic; 9] = [
        AttackStatistic::First,
        AttackStatistic::Last,
        AttackStatistic::Sum,
        AttackStatistic::Contrast,
        AttackStatistic::Energy,
        AttackStatistic::Peak,
        AttackStatistic::Model,
        AttackStatistic::Likelihood,
        AttackStatistic::Discriminant,
    ];

    /// Of the coordinate `j` alone: canaries point along the axes.
    pub(crate) fn of(self, seen: &Seen, j: usize) -> f64 {
        let at = |answer: &Vec<f64>| answer.get(j).copied().unwrap_or(0.0);
        let answers = &seen.transcript;
        let (first, last) = (answers.first().map_or(0.0, at), answers.last().map_or(0.0, at));
        match self {
            AttackStatistic::First => first,
            AttackStatistic::Last => last,
            AttackStatistic::Sum => answers.iter().map(at).sum(),
            AttackStatistic::Contrast => (last - first).abs(),
            AttackStatistic::Energy => answers.iter().map(|answer| at(answer).powi(2)).sum(),
            AttackStatistic::Peak => {
                answers.iter().map(at).max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
            }
            AttackStatistic::Model => at(&seen.parameter),
            // Learned from many runs, and filled in later.
            AttackStatistic::Likelihood | AttackStatistic::Discriminant => 0.0,
        }
    }
}

/// The scores of a run; of one that was refused, the same that no other has. Whether a run is
/// refused is seen by everybody.
fn scores_of(seen: Result<Seen, Error>) -> Scores {
    let mut scores = [f64::INFINITY; WEIGHED + ANSWERS * COORDINATES];
    if let Ok(seen) = seen {
        for (score, statistic) in scores.iter_mut().zip(AttackStatistic::ALL) {
            *score = statistic.of(&seen, 0);
        }
        for i in 0..ANSWERS {
            let answer = seen.transcript.get(i).and_then(|answer| answer.first());
            scores[PARTS + i] = answer.copied().unwrap_or(f64::INFINITY);
            let coordinates = &mut scores[WEIGHED + i * COORDINATES..][..COORDINATES];
            for (j, coordinate) in coordinates.iter_mut().enumerate() {
                let answer = seen.transcript.get(i).and_then(|answer| answer.get(j));
                *coordinate = answer.copied().unwrap_or(0.0);
            }
        }
        scores[PARTS + ANSWERS] = AttackStatistic::Model.of(&seen, 0);
    }
    // What is not a number is one outcome like another, and has a place in the order.
    scores.map(|score| if score.is_nan() { f64::INFINITY } else { score })
}

/// Hears how many of how many runs are done, from several threads, and says whether to go on.
pub type Told<'a> = dyn Fn(u64, u64) -> ControlFlow<()> + Sync + 'a;

/// Counts the runs of an audit.
pub(crate) struct Counter<'a> {
    of: u64,
    done: AtomicU64,
    told: &'a Told<'a>,
}

impl<'a> Counter<'a> {
    pub fn new(of: u64, told: &'a Told<'a>) -> Self {
        Counter { of, done: AtomicU64::new(0), told }
    }

    fn one(&self) -> ControlFlow<()> {
        (self.told)(self.done.fetch_add(1, Ordering::Relaxed) + 1, self.of)
    }
}

/// The scores of `runs` runs on each of two worlds, of which the first has the number `first`. An
/// error when nothing but refusals is seen.
pub(crate) fn scores(
    subject: &AuditSubject,
    worlds: &[Vec<Table>; 2],
    (first, runs): (u64, u64),
    counter: &Counter<'_>,
) -> Result<[Vec<Scores>; 2], Error> {
    let side = |which: usize| -> Vec<Result<Seen, Error>> {
        let run = |i: u64| {
            if counter.one().is_break() {
                return Err(Refusal::Stopped.into());
            }
            subject.run(&worlds[which], 2 * (first + i) + which as u64)
        };
        (0..runs).into_par_iter().map(run).collect()
    };
    let sides = [side(0), side(1)];
    // Half of the runs of an audit that was stopped say nothing.
    if sides.iter().flatten().any(|seen| seen.as_ref().is_err_and(Error::is_stop)) {
        return Err(Refusal::Stopped.into());
    }
    if sides.iter().flatten().all(Result::is_err) {
        let why = sides.into_iter().flatten().find_map(Result::err);
        return Err(why.unwrap_or_else(|| subject.nothing_seen()));
    }
    Ok(sides.map(|side| side.into_iter().map(scores_of).collect()))
}
