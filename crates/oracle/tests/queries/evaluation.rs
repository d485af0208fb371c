//! What a model is worth on a table: counts and sums against a second computation, their events and
//! the size of their noise.

use super::{COUNT, OPENING, close, example, gate, point};
use reticent_accountant::{Adjacency, Unit};
use reticent_data::Table;
use reticent_oracle::queries::{Errors, Histogram, LogOddsLine};
use reticent_oracle::{Oracle, PrivacyModel, Refusal};

const EDGES: [f64; 3] = [-0.5, 0.0, 0.7];

/// The scores of a record, computed otherwise.
fn scores(table: &Table, i: usize, at: &[f64], outputs: usize) -> Vec<f64> {
    let mut row = table.rows.dense_row(i).to_vec();
    row.push(OPENING.intercept);
    (0..outputs).map(|k| (0..row.len()).map(|j| row[j] * at[j * outputs + k]).sum()).collect()
}

/// How much record `i` counts: one, or its share of a user.
fn weight(table: &Table, i: usize, unit: Unit) -> f64 {
    let users = table.users.as_ref().unwrap();
    match unit {
        Unit::Record => 1.0,
        Unit::User | Unit::Party => {
            1.0 / users.iter().filter(|user| **user == users[i]).count() as f64
        }
    }
}

#[test]
fn a_histogram_counts_classes_predictions_and_bins() {
    for unit in [Unit::Record, Unit::User] {
        for (name, outputs) in [("logistic", 1), ("multinomial:3", 3)] {
            let mut gate = gate(name, &PrivacyModel { unit, ..OPENING });
            let at = point(gate.shape().len(), 3);
            let asked = Histogram { at: &at, cut: 0.1, edges: &EDGES, noise_multiplier: 0.0 };
            let cells = asked.cells(gate.shape());
            let counts = gate.ask(&asked).unwrap().into_inner();
            let table = example(outputs > 1);
            let mut expected = vec![0.0; cells.count()];
            for i in 0..COUNT {
                let scores = scores(&table, i, &at, outputs);
                let probability =
                    |k: usize| scores[k].exp() / scores.iter().map(|s| s.exp()).sum::<f64>();
                let (class, predicted) = if outputs == 1 {
                    (usize::from(table.targets[i] > 0.0), usize::from(scores[0] > 0.1))
                } else {
                    let best = (0..3).max_by(|&a, &b| scores[a].total_cmp(&scores[b])).unwrap();
                    (table.targets[i] as usize, best)
                };
                let weight = weight(&table, i, unit);
                expected[cells.confusion(class, predicted)] += weight;
                for block in 0..cells.blocks() {
                    let odds = match outputs {
                        1 => scores[0],
                        _ => (probability(block) / (1.0 - probability(block))).ln(),
                    };
                    let bin = EDGES.iter().filter(|edge| odds > **edge).count();
                    expected[cells.scored(block, bin, class == cells.class_of(block))] += weight;
                }
            }
            close(&counts, &expected, 1e-6);
        }
    }
}

#[test]
fn errors_are_summed_with_what_targets_are() {
    for unit in [Unit::Record, Unit::User] {
        for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
            let opening = PrivacyModel { unit, adjacency, public_n: Some(10), ..OPENING };
            let mut gate = gate("squared", &opening);
            let at = point(gate.shape().len(), 3);
            let sums = gate.ask(&Errors { at: &at, noise_multiplier: 0.0 }).unwrap().into_inner();
            let table = example(false);
            let mut expected = [0.0; 5];
            for i in 0..COUNT {
                let (b, weight) = (table.targets[i], weight(&table, i, unit));
                let d = 0.5 * (scores(&table, i, &at, 1)[0].clamp(-1.0, 1.0) - b);
                let own = [1.0, b, b * b - 0.5, d * d - 0.5, d.abs() - 0.5];
                expected.iter_mut().zip(own).for_each(|(sum, own)| *sum += weight * own);
            }
            let from = usize::from(adjacency == Adjacency::ReplaceOne);
            close(&sums, &expected[from..], 1e-6);
        }
    }
}

/// 400 coordinates of noise: their mean square is off by a tenth with a chance of 0.16; by 0.35 of
/// itself with one below 10⁻⁶.
#[test]
fn the_noise_has_the_size_that_is_said() {
    for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
        let opening = PrivacyModel { adjacency, public_n: Some(10), ..OPENING };
        let edges: Vec<f64> = (0..199).map(|i| f64::from(i) - 99.0).collect();
        let asked = Histogram { at: &[0.0; 4], cut: 0.0, edges: &edges, noise_multiplier: 1e3 };
        let mut gate = gate("logistic", &opening);
        let (coarse, fine) = asked.deviations(gate.shape(), gate.terms());
        let said = if adjacency == Adjacency::ReplaceOne { 1e3 } else { 2_f64.sqrt() * 1e3 };
        assert!((coarse / said - 1.0).abs() < 1e-12 && coarse == fine, "{coarse} {fine}");
        let noise = gate.ask(&asked).unwrap().into_inner();
        let mean = noise.iter().map(|v| v * v).sum::<f64>() / noise.len() as f64;
        assert!((mean / (said * said) - 1.0).abs() < 0.35, "{mean}");
        assert_eq!(gate.ledger().total_events(), 1);
        assert!(gate.ledger().entries()[0].event().to_string().contains("1000"));
    }
}

#[test]
fn what_cannot_be_counted_is_refused_before_it_is_entered() {
    let asked = Histogram { at: &[0.0; 4], cut: 0.0, edges: &EDGES, noise_multiplier: 1.0 };
    let refused = |name: &str, asked: &Histogram<'_>| {
        let mut gate = gate(name, &OPENING);
        assert!(matches!(gate.ask(asked), Err(Refusal::BadQuery(_) | Refusal::Diverged(_))));
        assert_eq!(gate.ledger().total_events(), 0);
    };
    refused("squared", &asked);
    refused("logistic", &Histogram { edges: &[1.0, 1.0], ..asked });
    refused("logistic", &Histogram { edges: &[f64::NAN], ..asked });
    refused("logistic", &Histogram { cut: f64::NAN, ..asked });
    refused("logistic", &Histogram { noise_multiplier: -1.0, ..asked });
    refused("logistic", &Histogram { at: &[0.0; 3], ..asked });
    let mut gate = gate("logistic", &OPENING);
    assert!(gate.ask(&Errors { at: &[0.0; 4], noise_multiplier: 1.0 }).is_err());
    assert_eq!(gate.ledger().total_events(), 0);
}

/// The derivatives of the log-likelihood, by differences of a second computation.
#[test]
fn a_line_through_log_odds_has_the_derivatives_of_the_likelihood() {
    const MOST: f64 = 0.6;
    for unit in [Unit::Record, Unit::User] {
        let mut gate = gate("logistic", &PrivacyModel { unit, ..OPENING });
        let at = point(gate.shape().len(), 3);
        let line = [1.3, -0.4];
        let answer = gate
            .ask(&LogOddsLine { at: &at, line, most: MOST, noise_multiplier: 0.0 })
            .unwrap()
            .into_inner();
        let table = example(false);
        let n = gate.terms().population() as f64;
        let likelihood = |a: f64, c: f64| {
            let one = |i: usize| {
                let score = scores(&table, i, &at, 1)[0].clamp(-MOST, MOST);
                let sign = table.targets[i].signum();
                -weight(&table, i, unit) * (1.0 + (-sign * (a * score + c)).exp()).ln() / n
            };
            (0..COUNT).map(one).sum::<f64>()
        };
        let [a, c] = line;
        let d = 1e-4;
        let ga = (likelihood(a + d, c) - likelihood(a - d, c)) / (2.0 * d);
        let gc = (likelihood(a, c + d) - likelihood(a, c - d)) / (2.0 * d);
        let bend = |at: [f64; 3]| -(at[0] - 2.0 * at[1] + at[2]) / (d * d);
        let middle = likelihood(a, c);
        let haa = bend([likelihood(a + d, c), middle, likelihood(a - d, c)]);
        let hcc = bend([likelihood(a, c + d), middle, likelihood(a, c - d)]);
        let both = bend([likelihood(a + d, c + d), middle, likelihood(a - d, c - d)]);
        close(&answer, &[ga, gc, haa, (both - haa - hcc) / 2.0, hcc], 1e-6);
    }
}

/// 40 answers, 200 numbers: their mean square is off by 0.45 of itself with a chance below 10⁻⁵.
#[test]
fn the_noise_of_a_line_through_log_odds_has_the_size_that_is_said() {
    for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
        let opening = PrivacyModel { adjacency, public_n: Some(10), ..OPENING };
        let mut gate = gate("logistic", &opening);
        let asked =
            LogOddsLine { at: &[0.0; 4], line: [1.0, 0.0], most: 5.0, noise_multiplier: 1e3 };
        let said = asked.deviations(gate.terms());
        let mut square = 0.0;
        for _ in 0..40 {
            let noise = gate.ask(&asked).unwrap().into_inner();
            square += noise.iter().zip(said).map(|(v, d)| (v / d).powi(2)).sum::<f64>() / 200.0;
        }
        assert!((square - 1.0).abs() < 0.45, "{square}");
        assert_eq!(gate.ledger().total_events(), 40);
        assert!(gate.ledger().entries()[0].event().to_string().contains("1000"));
    }
    let asked = LogOddsLine { at: &[0.0; 4], line: [1.0, 0.0], most: 5.0, noise_multiplier: 1.0 };
    for (name, wrong) in [
        ("squared", asked),
        ("logistic", LogOddsLine { line: [f64::NAN, 0.0], ..asked }),
        ("logistic", LogOddsLine { most: 0.0, ..asked }),
        ("logistic", LogOddsLine { at: &[0.0; 3], ..asked }),
    ] {
        let mut gate = gate(name, &OPENING);
        assert!(matches!(gate.ask(&wrong), Err(Refusal::BadQuery(_) | Refusal::Diverged(_))));
        assert_eq!(gate.ledger().total_events(), 0);
    }
}
