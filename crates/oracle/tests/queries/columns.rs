//! Sums and bins of columns against a second computation, their events and the size of their noise.

use super::{COUNT, OPENING, close, example, gate};
use reticent_accountant::{Adjacency, Unit};
use reticent_oracle::queries::{BinCounts, Bins, ColumnSums};
use reticent_oracle::{Oracle, PrivacyModel, Refusal};

/// How much record `i` counts: one, or its share of a user.
fn weight(i: usize, unit: Unit) -> f64 {
    let users = example(false).users.unwrap();
    match unit {
        Unit::Record => 1.0,
        Unit::User | Unit::Party => {
            1.0 / users.iter().filter(|user| **user == users[i]).count() as f64
        }
    }
}

#[test]
fn sums_of_columns_are_sums_over_units() {
    for unit in [Unit::Record, Unit::User] {
        for counted in [false, true] {
            let mut gate = gate("squared", &PrivacyModel { unit, ..OPENING });
            let asked = ColumnSums { features: &[2, 0], counted, noise_multiplier: 0.0 };
            let sums = gate.ask(&asked).unwrap().into_inner();
            let table = example(false);
            let mut expected = [0.0; 3];
            for i in 0..COUNT {
                let row = table.rows.dense_row(i);
                for (sum, own) in expected.iter_mut().zip([row[2], row[0], 1.0]) {
                    *sum += weight(i, unit) * own;
                }
            }
            close(&sums, &expected[..2 + usize::from(counted)], 1e-7);
        }
    }
}

#[test]
fn bins_have_every_unit_once_for_each_column() {
    let edges = vec![-0.5, 0.0, 0.5];
    let of = [
        // The features are no categories; the first above ½ counts.
        Bins::Categories { first: 1, len: 2 },
        Bins::Edges { feature: 0, edges: edges.clone() },
    ];
    for unit in [Unit::Record, Unit::User] {
        let mut gate = gate("squared", &PrivacyModel { unit, ..OPENING });
        let asked = BinCounts { of: &of, noise_multiplier: 0.0 };
        let counts = gate.ask(&asked).unwrap().into_inner();
        let table = example(false);
        let mut expected = [0.0; 7];
        for i in 0..COUNT {
            let row = table.rows.dense_row(i);
            let category = [row[1], row[2]].iter().position(|v| *v > 0.5).unwrap_or(2);
            expected[category] += weight(i, unit);
            expected[3 + edges.iter().filter(|edge| row[0] >= **edge).count()] += weight(i, unit);
        }
        close(&counts, &expected, 1e-7);
        assert!(expected.iter().all(|count| *count > 0.0), "every bin has somebody");
    }
}

/// 1,600 and more coordinates of noise: their mean square is off by 3.5 % with chance 0.3, and by
/// 25 % of itself with one below 10⁻⁸.
#[test]
fn the_noise_of_columns_has_the_size_that_is_said() {
    for (adjacency, half) in [(Adjacency::ReplaceOne, 0.5), (Adjacency::AddRemove, 1.0)] {
        let opening = PrivacyModel { adjacency, public_n: Some(10), ..OPENING };
        let mut gate = gate("squared", &opening);
        let edges: Vec<f64> = (0..800).map(|i| f64::from(i) / 400.0 - 1.0).collect();
        let of = [0, 1].map(|feature| Bins::Edges { feature, edges: edges.clone() });
        let asked = BinCounts { of: &of, noise_multiplier: 1e3 };
        let said = asked.deviation(gate.terms());
        assert!((said * said / (2e6 * half) - 1.0).abs() < 1e-12, "{said}");
        let noise = gate.ask(&asked).unwrap().into_inner();
        let mean = noise.iter().map(|v| v * v).sum::<f64>() / noise.len() as f64;
        assert!((mean / (said * said) - 1.0).abs() < 0.25, "{mean}");
        assert_eq!(gate.ledger().total_events(), 1);
        // Sums of columns are centred: the same noise under both.
        let asked = ColumnSums { features: &[0, 1, 2], counted: true, noise_multiplier: 1e3 };
        let (sum, count) = asked.deviations();
        let clip = (3.0 + 3_f64.sqrt()).sqrt();
        assert!((sum / (1e3 * clip) - 1.0).abs() < 1e-12);
        assert!((count / (sum / 3_f64.powf(0.25)) - 1.0).abs() < 1e-12);
        let answers: Vec<Vec<f64>> =
            (0..500).map(|_| gate.ask(&asked).unwrap().into_inner()).collect();
        for (at, said) in [sum, sum, sum, count].into_iter().enumerate() {
            let square = answers.iter().map(|a| a[at] * a[at]).sum::<f64>() / 500.0;
            // Of 500 the mean square is off by a third of itself with a chance of 10⁻⁷.
            assert!((square / (said * said) - 1.0).abs() < 0.34, "{at}: {square}");
        }
    }
}

#[test]
fn what_cannot_be_asked_of_columns_is_refused_before_it_is_entered() {
    let refused = |said: Result<(), Refusal>| {
        assert!(matches!(said, Err(Refusal::BadQuery(_) | Refusal::Diverged(_))), "{said:?}");
    };
    let mut gate = gate("squared", &OPENING);
    let asked = ColumnSums { features: &[0], counted: false, noise_multiplier: 1.0 };
    for features in [&[][..], &[3], &[0, 0], &[usize::MAX]] {
        refused(gate.ask(&ColumnSums { features, ..asked }).map(drop));
    }
    for noise_multiplier in [-1.0, f64::NAN, 1e9] {
        refused(gate.ask(&ColumnSums { noise_multiplier, ..asked }).map(drop));
    }
    for bins in [
        Bins::Edges { feature: 3, edges: vec![] },
        Bins::Edges { feature: 0, edges: vec![0.0, 0.0] },
        Bins::Edges { feature: 0, edges: vec![f64::NAN] },
        Bins::Edges { feature: 0, edges: (0..5000).map(f64::from).collect() },
        Bins::Categories { first: 2, len: 2 },
        Bins::Categories { first: 0, len: 0 },
        Bins::Categories { first: usize::MAX, len: 2 },
    ] {
        refused(gate.ask(&BinCounts { of: &[bins], noise_multiplier: 1.0 }).map(drop));
    }
    refused(gate.ask(&BinCounts { of: &[], noise_multiplier: 1.0 }).map(drop));
    assert_eq!(gate.ledger().total_events(), 0);
}
