//! The worst pair is searched, not believed.
//!
//! ```text
//! an eighth of the runs   on all pairs of the family alike; the three that show most go on
//! an eighth               on these alike; the one that shows most is taken
//! a quarter               on that pair: the likelihood is learned, statistic, side and threshold are chosen
//! a half                  on that pair: counted, and nothing is chosen any more
//! ```
//!
//! What is counted is independent of all that was chosen, so the confidence is that of one test.

use reticent::Error;
use reticent::internal::accountant::statistics::normal_quantile;

use crate::attack::{AttackStatistic, Counter, Scores, Told, scores};
use crate::learned::{Learned, fill_across};
use crate::pair::Neighbours;
use crate::reading::{LawFamily, LimitReader, by_mu, epsilon_of, mu_above};
use crate::spec::AuditSpec;
use crate::subject::AuditSubject;
use crate::threshold::{AttackComparison, Test, TestLimits};

/// What was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundPair {
    pub pair: Neighbours,
    pub statistic: AttackStatistic,
    pub epsilon: f64,
}

/// How many pairs go on after the first look.
const FINALISTS: usize = 3;

/// With fewer runs on a table nothing is seen of a pair.
const LEAST: u64 = 25;

/// By how much wider limits are taken when a test is chosen: the best of many thresholds is else
/// one far out, that a handful of runs made look good.
const CAUTION: f64 = 1.5;

/// A pair that is looked at, its runs so far, and what they show.
struct Candidate {
    pair: Neighbours,
    runs: [Vec<Scores>; 2],
    worth: f64,
}

impl Candidate {
    fn new(pair: Neighbours) -> Self {
        Candidate { pair, runs: [Vec::new(), Vec::new()], worth: 0.0 }
    }

    fn add(&mut self, more: [Vec<Scores>; 2]) {
        self.runs.iter_mut().zip(more).for_each(|(runs, more)| runs.extend(more));
    }

    /// What the best test says, read as it will be in the end: two pairs may look alike in the
    /// middle of the curve, and differ where few runs fall.
    fn shows(&mut self, reading: &LimitReader<'_>, z: f64) -> Result<f64, Error> {
        fill_across(&mut self.runs);
        best_tests(&self.runs, reading.delta, z).into_iter().try_fold(0.0_f64, |most, test| {
            let limits = test.rough_limits(&self.runs, z);
            let middle = match reading.family {
                LawFamily::Unknown => {
                    epsilon_of(mu_above(limits), reading.delta, reading.adjacency)?
                }
                LawFamily::Gaussian | LawFamily::Books => 0.0,
            };
            Ok(most.max(middle).max(reading.rough(limits)?))
        })
    }
}

pub(crate) fn search(
    spec: &AuditSpec,
    subject: &AuditSubject,
    family: LawFamily,
    told: &Told<'_>,
) -> Result<FoundPair, Error> {
    let reading = LimitReader::new(subject, family, spec.delta, spec.adjacency);
    let counter = Counter::new(spec.runs, told);
    // On each of the two tables.
    let quarter = spec.runs / 8;
    let confidence = 0.5 + 0.5 * spec.confidence;
    let z = normal_quantile(confidence);
    let mut number = 0;
    let mut on = |pair: &Neighbours, runs: u64| {
        let worlds = [true, false].map(|with| pair.world(with, &spec.layout()));
        number += runs;
        scores(subject, &worlds, (number - runs, runs), &counter)
    };
    let mut family: Vec<Candidate> = spec.pairs().into_iter().map(Candidate::new).collect();
    for keep in [FINALISTS, 1] {
        let each = (quarter / 2 / family.len() as u64).max(LEAST);
        for candidate in &mut family {
            candidate.add(on(&candidate.pair, each)?);
            candidate.worth = candidate.shows(&reading, z)?;
        }
        family.sort_by(|a, b| b.worth.total_cmp(&a.worth));
        family.truncate(keep);
    }
    let Some(mut taken) = family.pop() else { return Err(subject.nothing_seen()) };
    taken.add(on(&taken.pair, quarter)?);
    let Candidate { pair, runs: mut known, .. } = taken;
    fill_across(&mut known);
    let learned = Learned::learn(&known);
    let mut chosen: Option<(f64, Test)> = None;
    for test in best_tests(&known, spec.delta, CAUTION * z) {
        let worth = reading.rough(test.rough_limits(&known, CAUTION * z))?;
        if chosen.as_ref().is_none_or(|(most, _)| worth > *most) {
            chosen = Some((worth, test));
        }
    }
    let Some((_, test)) = chosen else { return Err(subject.nothing_seen()) };
    let mut counted = on(&pair, 2 * quarter)?;
    learned.fill(&mut counted);
    let epsilon = reading.epsilon(test.limits(&counted, confidence))?;
    Ok(FoundPair { pair, statistic: AttackStatistic::ALL[test.statistic], epsilon })
}

/// The best test far out, the best one in the middle of the curve, and the best ones on its slopes:
/// which of them says most is for the reading to tell.
fn best_tests(runs: &[Vec<Scores>; 2], delta: f64, z: f64) -> Vec<Test> {
    let mut tests = vec![
        Test::choose(runs, z, &AttackComparison::of(|limits: TestLimits| limits.epsilon(delta))),
        Test::choose(runs, z, &by_mu()),
    ];
    tests.extend([0.0_f64, 1.0, 2.0].map(|epsilon| {
        let by = |limits: TestLimits| limits.often - epsilon.exp() * limits.seldom;
        Test::choose(runs, z, &AttackComparison::of(by))
    }));
    tests
}
