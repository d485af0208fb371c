//! The worst pair is searched, not believed.
//!
//! ```text
//! a quarter of the runs   on all pairs of the family alike; the pair that shows most is taken
//! a quarter               on that pair: the likelihood is learned, statistic, side and threshold are chosen
//! a half                  on that pair: counted, and nothing is chosen any more
//! ```
//!
//! What is counted is independent of all that was chosen, so the confidence is that of one test.

use crate::normal::normal_quantile;
use reticent::Error;

use crate::attack::{Counter, Scores, Statistic, scores};
use crate::likelihood::Likelihood;
use crate::pair::Neighbours;
use crate::reading::{Family, Reading, epsilon_of, mu_above};
use crate::spec::AuditSpec;
use crate::subject::Subject;
use crate::threshold::{Limits, Test};

/// What was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub pair: Neighbours,
    pub statistic: Statistic,
    pub epsilon: f64,
}

pub(crate) fn search(
    spec: &AuditSpec,
    subject: &Subject,
    family: Family,
    told: &(dyn Fn(u64, u64) + Sync),
) -> Result<Found, Error> {
    let reading = Reading::new(subject, family, spec.delta, spec.adjacency);
    let counter = Counter::new(spec.runs, told);
    let pairs = spec.pairs();
    // On each of the two tables.
    let quarter = spec.runs / 8;
    let confidence = 0.5 + 0.5 * spec.confidence;
    let z = normal_quantile(confidence);
    let on = |pair: &Neighbours, first: u64, runs: u64| {
        let worlds = [true, false].map(|with| pair.world(with, &spec.layout()));
        scores(subject, &worlds, (first, runs), &counter)
    };
    let mut best: Option<(f64, Neighbours, [Vec<Scores>; 2])> = None;
    let each = (quarter / pairs.len() as u64).max(25);
    for (i, pair) in pairs.iter().enumerate() {
        let mut runs = on(pair, i as u64 * each, each)?;
        Likelihood::learn(&runs).fill(&mut runs);
        let worth = best_tests(&runs, spec.delta, z)
            .into_iter()
            .map(|test| rough(test.rough_limits(&runs, z), spec))
            .fold(0.0, f64::max);
        if best.as_ref().is_none_or(|(most, ..)| worth > *most) {
            best = Some((worth, *pair, runs));
        }
    }
    let Some((_, pair, mut known)) = best else { return Err(subject.nothing_seen()) };
    let begun = pairs.len() as u64 * each;
    for (known, more) in known.iter_mut().zip(on(&pair, begun, quarter)?) {
        known.extend(more);
    }
    // Learned on other runs than the test is chosen on: what was learned by heart would look better
    // than it is.
    let learned = known.each_mut().map(|side| side.split_off(side.len() / 2));
    let likelihood = Likelihood::learn(&learned);
    likelihood.fill(&mut known);
    let mut chosen: Option<(f64, Test)> = None;
    for test in best_tests(&known, spec.delta, z) {
        let worth = reading.rough(test.rough_limits(&known, z))?;
        if chosen.as_ref().is_none_or(|(most, _)| worth > *most) {
            chosen = Some((worth, test));
        }
    }
    let Some((_, test)) = chosen else { return Err(subject.nothing_seen()) };
    let mut counted = on(&pair, begun + quarter, 2 * quarter)?;
    likelihood.fill(&mut counted);
    let epsilon = reading.epsilon(test.limits(&counted, confidence))?;
    Ok(Found { pair, statistic: Statistic::ALL[test.statistic], epsilon })
}

/// The best test far out, the best one in the middle of the curve, and the best ones on its slopes:
/// which of them says most is for the reading to tell.
fn best_tests(runs: &[Vec<Scores>; 2], delta: f64, z: f64) -> Vec<Test> {
    let mut tests = vec![
        Test::choose(runs, z, |limits| limits.epsilon(delta)),
        Test::choose(runs, z, mu_above),
    ];
    tests.extend([0.0_f64, 1.0, 2.0].map(|epsilon| {
        Test::choose(runs, z, |limits| limits.often - epsilon.exp() * limits.seldom)
    }));
    tests
}

/// What limits are worth, quickly.
fn rough(limits: Limits, spec: &AuditSpec) -> f64 {
    let middle = epsilon_of(mu_above(limits), spec.delta, spec.adjacency).unwrap_or(0.0);
    limits.epsilon(spec.delta).max(middle)
}
