//! Means over the units: gradients and their parts, second moments, scores, counts and quantiles.

use super::{COUNT, OPENING, SQUARED, close, example, gate, loss, noiseless, point};
use reticent_accountant::statistics::normal_cdf;
use reticent_accountant::{Adjacency, Unit};
use reticent_oracle::queries::{
    ClippedMean, Consensus, ConsensusTerms, Coordinate, Correction, Count, Curvature, Gradient,
    Moving, Quantile, Score, SecondMoment,
};
use reticent_oracle::{Oracle, PaperClaim, PrivacyModel, RecordStatistic, Refusal, Sampling};

#[test]
fn a_correction_is_a_difference_of_gradients() {
    for unit in [Unit::Record, Unit::User] {
        for name in ["logistic", "multinomial:3"] {
            let mut gate = gate(name, &PrivacyModel { unit, ..OPENING });
            let (at, from) = (point(gate.shape().len(), 1), point(gate.shape().len(), 2));
            let params = noiseless(100.0);
            let difference =
                gate.ask(&Correction { at: &at, from: &from, mean: params }).unwrap().into_inner();
            let at = gate.ask(&Gradient { at: &at, mean: params }).unwrap().into_inner();
            let from = gate.ask(&Gradient { at: &from, mean: params }).unwrap().into_inner();
            let expected: Vec<f64> = at.iter().zip(&from).map(|(a, b)| a - b).collect();
            close(&difference, &expected, 1e-6);
        }
    }
}

#[test]
fn a_coordinate_is_an_entry_of_the_gradient() {
    for unit in [Unit::Record, Unit::User] {
        for name in ["logistic", "multinomial:3"] {
            let mut gate = gate(name, &PrivacyModel { unit, ..OPENING });
            let at = point(gate.shape().len(), 1);
            let params = noiseless(100.0);
            let whole = gate.ask(&Gradient { at: &at, mean: params }).unwrap().into_inner();
            let entries: Vec<f64> = (0..at.len())
                .map(|j| {
                    gate.ask(&Coordinate { at: &at, index: j, mean: params }).unwrap().into_inner()
                })
                .collect();
            close(&entries, &whole, 1e-6);
        }
    }
}

/// At 0 the derivative by the first weight is −b·a/2.
#[test]
fn a_coordinate_is_clipped_by_itself() {
    let mut gate = gate("logistic", &OPENING);
    let table = example(false);
    let slope = |i: usize| (-0.5 * table.targets[i] * table.rows.dense_row(i)[0]).clamp(-0.1, 0.1);
    let expected = (0..COUNT).map(slope).sum::<f64>() / COUNT as f64;
    let answer = gate
        .ask(&Coordinate { at: &[0.0; 4], index: 0, mean: noiseless(0.1) })
        .unwrap()
        .into_inner();
    assert!(expected != 0.0 && (answer - expected).abs() < 1e-9, "{answer} {expected}");
    assert!(matches!(
        gate.ask(&Coordinate { at: &[0.0; 4], index: 4, mean: noiseless(0.1) }),
        Err(Refusal::BadQuery(_))
    ));
}

#[test]
fn the_second_moment_is_symmetric_and_clipped() {
    let table = example(false);
    let row_norm = 0.9;
    let mut expected = vec![0.0; 9];
    for i in 0..COUNT {
        let row = table.rows.dense_row(i);
        let scale = row_norm / row.iter().map(|v| v * v).sum::<f64>().sqrt().max(row_norm);
        for j in 0..9 {
            expected[j] += row[j / 3] * row[j % 3] * scale * scale / COUNT as f64;
        }
    }
    let params = SecondMoment { row_norm, whole: false, noise_multiplier: 0.0 };
    close(gate("logistic", &OPENING).ask(&params).unwrap().get(), &expected, SQUARED);
    let params = SecondMoment { row_norm, whole: false, noise_multiplier: 3.0 };
    let noisy = gate("logistic", &OPENING).ask(&params).unwrap().into_inner();
    assert!((0..9).all(|j| noisy[j] == noisy[j % 3 * 3 + j / 3]), "{noisy:?}");
}

/// It is the change of the gradient along each coordinate, and its noise has the size that is said.
#[test]
fn a_curvature_is_the_derivative_of_the_gradient() {
    for unit in [Unit::Record, Unit::User] {
        let mut gate = gate("logistic", &PrivacyModel { unit, ..OPENING });
        let at = point(gate.shape().len(), 1);
        let asked = Curvature { at: &at, row_norm: 100.0, most: 0.25, noise_multiplier: 0.0 };
        let whole = gate.ask(&asked).unwrap().into_inner();
        let len = at.len();
        for j in 0..len {
            let mut slope = |by: f64| {
                let mut moved = at.clone();
                moved[j] += by;
                gate.ask(&Gradient { at: &moved, mean: noiseless(100.0) }).unwrap().into_inner()
            };
            let (up, down) = (slope(1e-2), slope(-1e-2));
            let column: Vec<f64> = up.iter().zip(&down).map(|(a, b)| (a - b) / 2e-2).collect();
            close(&whole[j * len..][..len], &column, 1e-4);
        }
        // Cut to a bound of the curvature, and of the rows; integers may be a little longer.
        let cut = Curvature { most: 1e-3, row_norm: 0.1, ..asked };
        let trace = gate.ask(&cut).unwrap().get().iter().step_by(len + 1).sum::<f64>();
        assert!(trace > 0.0 && trace <= 1.0001e-5, "{trace}");
        let noisy = Curvature { noise_multiplier: 3.0, ..asked };
        let sigma =
            (1.0 + 1e-6) * 3.0 * 0.25 * 1e4 / 2f64.sqrt() / gate.terms().population() as f64;
        assert!((noisy.deviation(gate.terms()) / sigma - 1.0).abs() < 1e-12);
        let noisy = gate.ask(&noisy).unwrap().into_inner();
        assert!((0..len * len).all(|k| noisy[k] == noisy[k % len * len + k / len]), "{noisy:?}");
        // 10 entries with deviations between σ/√2 and σ: below a third of it all at once, 1 in 10⁴.
        assert!(noisy.iter().any(|entry| entry.abs() > sigma / 3.0), "{noisy:?}");
    }
    let mut three = gate("multinomial:3", &OPENING);
    let at = point(three.shape().len(), 1);
    let asked = Curvature { at: &at, row_norm: 1.0, most: 0.25, noise_multiplier: 1.0 };
    assert!(matches!(three.ask(&asked), Err(Refusal::BadQuery(_))));
}

#[test]
fn a_score_is_the_mean_error_of_the_predictions() {
    for name in ["logistic", "multinomial:3"] {
        let table = example(name != "logistic");
        let loss = loss(name);
        let (outputs, shape) = (loss.outputs(), gate(name, &OPENING).shape());
        let at = point(shape.len(), 5);
        let mut expected = 0.0;
        for i in 0..COUNT {
            let row = table.rows.dense_row(i);
            let score = |k: usize| {
                row.iter().enumerate().map(|(j, a)| a * at[j * outputs + k]).sum::<f64>()
                    + OPENING.intercept * at[row.len() * outputs + k]
            };
            let scores: Vec<f64> = (0..outputs).map(score).collect();
            expected +=
                reticent_problem::prediction_error(loss.target(), &scores, table.targets[i]);
        }
        let answer = gate(name, &OPENING)
            .ask(&Score { at: &at, noise_multiplier: 0.0 })
            .unwrap()
            .into_inner();
        assert!((answer - expected / COUNT as f64).abs() < 1e-8, "{name}: {answer}");
    }
    assert!(matches!(
        gate("logistic", &OPENING).ask(&Score { at: &[f64::NAN; 4], noise_multiplier: 1.0 }),
        Err(Refusal::Diverged(_))
    ));
}

/// The empirical standard deviation of a query's noise, 4000 draws at a fixed seed: within 6
/// standard errors (false alarm below 1e-8).
#[test]
fn the_noise_has_the_size_that_the_books_say() {
    let spread = |draw: &mut dyn FnMut() -> f64, centre: f64| {
        ((0..4000).map(|_| (draw() - centre).powi(2)).sum::<f64>() / 4000.0).sqrt()
    };
    let near =
        |measured: f64, sigma: f64| assert!((measured / sigma - 1.0).abs() < 6.0 / 8000f64.sqrt());

    // Replace-one: a count has sensitivity 1 = 2·(σ/z), so σ = z/2.
    let mut replace = gate("logistic", &OPENING);
    let params = Count { of: RecordStatistic::Target, at_most: 0.0, noise_multiplier: 4.0 };
    let exact = example(false).targets.iter().filter(|b| **b <= 0.0).count() as f64;
    near(spread(&mut || replace.ask(&params).unwrap().into_inner(), exact), 2.0);

    let mut remove = gate(
        "logistic",
        &PrivacyModel { adjacency: Adjacency::AddRemove, public_n: Some(10), ..OPENING },
    );
    near(spread(&mut || remove.ask(&params).unwrap().into_inner(), exact), 4.0);

    // A score is a mean of numbers in [0, 1]: the noise of a count over n.
    let at = point(4, 3);
    let centre = replace.ask(&Score { at: &at, noise_multiplier: 0.0 }).unwrap().into_inner();
    near(
        spread(
            &mut || replace.ask(&Score { at: &at, noise_multiplier: 4.0 }).unwrap().into_inner(),
            centre,
        ),
        2.0 / COUNT as f64,
    );
    let centre = remove.ask(&Score { at: &at, noise_multiplier: 0.0 }).unwrap().into_inner();
    near(
        spread(
            &mut || remove.ask(&Score { at: &at, noise_multiplier: 4.0 }).unwrap().into_inner(),
            centre,
        ),
        4.0 / 10.0,
    );

    // One diagonal entry of the second moment: σ = z·R²/√2 on the sum, and a millionth for rounding.
    let exact = SecondMoment { row_norm: 2.0, whole: false, noise_multiplier: 0.0 };
    let centre = replace.ask(&exact).unwrap().get()[0];
    let params = SecondMoment { noise_multiplier: 4.0, ..exact };
    let sigma = (1.0 + 1e-6) * 4.0 * 4.0 / 2f64.sqrt() / COUNT as f64;
    assert!((params.deviation(replace.terms()) / sigma - 1.0).abs() < 1e-12);
    near(spread(&mut || replace.ask(&params).unwrap().get()[0], centre), sigma);

    // Consensus: σ = z·B/n with B = γC·λ/(1 − λ). One step at the fixed point of an empty gradient:
    // steps from the same state, so the blocks are put back before each.
    let params = ConsensusTerms {
        clip: 1.5,
        step: 2.0,
        relaxation: 0.75,
        noise_multiplier: 0.0,
        sampling: Sampling::Full,
        block_noise: 0.0,
    };
    let mut step = |params: &ConsensusTerms| {
        replace.open_consensus(&[0.0; 4]).unwrap();
        replace
            .ask(&Consensus { z: &[0.0; 4], moving: Moving::All, params: *params })
            .unwrap()
            .get()[0]
    };
    let centre = step(&params);
    let params = ConsensusTerms { noise_multiplier: 2.0, ..params };
    near(spread(&mut || step(&params), centre), 2.0 * 2.0 * 1.5 * 3.0 / COUNT as f64);
}

/// The same for one coordinate, σ = zC/n, and for the noise on blocks as published, zB on each of
/// the n blocks, so zB/√n on their mean.
#[test]
fn coordinates_and_blocks_have_the_noise_that_is_asked_for() {
    let spread = |draw: &mut dyn FnMut() -> f64, centre: f64| {
        ((0..4000).map(|_| (draw() - centre).powi(2)).sum::<f64>() / 4000.0).sqrt()
    };
    let near = |measured: f64, sigma: f64| {
        assert!((measured / sigma - 1.0).abs() < 6.0 / 8000f64.sqrt(), "{measured} {sigma}");
    };
    let mut gate = gate("logistic", &OPENING);
    let at = point(4, 1);
    let mut coordinate = |noise_multiplier| {
        let mean = ClippedMean { noise_multiplier, ..noiseless(2.0) };
        gate.ask(&Coordinate { at: &at, index: 1, mean }).unwrap().into_inner()
    };
    let centre = coordinate(0.0);
    near(spread(&mut || coordinate(3.0), centre), 3.0 * 2.0 / COUNT as f64);

    let mut step = |block_noise| {
        let params = ConsensusTerms {
            clip: 1.5,
            step: 2.0,
            relaxation: 0.75,
            noise_multiplier: 0.0,
            sampling: Sampling::Full,
            block_noise,
        };
        gate.open_consensus(&[0.0; 4]).unwrap();
        gate.claim(PaperClaim::nothing(3));
        gate.ask(&Consensus { z: &[0.0; 4], moving: Moving::All, params }).unwrap().get()[0]
    };
    let centre = step(0.0);
    let bound = 2.0 * 1.5 * 3.0;
    near(spread(&mut || step(2.0), centre), 2.0 * bound / (COUNT as f64).sqrt());
}

/// Whoever has many records counts by the share of them, and all of them by their shares.
#[test]
fn a_user_counts_by_the_share_of_its_records() {
    let table = example(false);
    let users = table.users.clone().unwrap();
    let share = |user: u32| {
        let own: Vec<usize> = (0..COUNT).filter(|&i| users[i] == user).collect();
        let counted = own.iter().filter(|&&i| table.rows.dense_row(i)[0] <= 0.55).count();
        (!own.is_empty()).then(|| counted as f64 / own.len() as f64)
    };
    let expected: f64 = (0..3).filter_map(share).sum();
    assert!(expected.fract() != 0.0, "shares that are not whole");
    let mut gate = gate("logistic", &PrivacyModel { unit: Unit::User, ..OPENING });
    let params = Count { of: RecordStatistic::Feature(0), at_most: 0.55, noise_multiplier: 0.0 };
    close(&[gate.ask(&params).unwrap().into_inner()], &[expected], 1e-8);
}

#[test]
fn quantiles_without_noise_are_quantiles() {
    let table = example(false);
    let mut values: Vec<f64> = (0..COUNT).map(|i| table.rows.dense_row(i)[1]).collect();
    values.sort_by(f64::total_cmp);
    let candidates: Vec<f64> = (0..=24).map(|k| k as f64 / 12.0 - 1.0).collect();
    for fraction in [0.1, 0.5, 0.75, 1.0] {
        let params = Quantile {
            of: RecordStatistic::Feature(1),
            fraction,
            candidates: &candidates,
            noise_multiplier: 0.0,
        };
        let found = gate("logistic", &OPENING).ask(&params).unwrap().into_inner();
        // Counts are 2·10⁻¹² short of whole numbers, so the fraction is met up to that.
        let needed = (fraction * COUNT as f64 - 1e-6).ceil().max(1.0) as usize;
        let expected = candidates.iter().find(|c| **c >= values[needed - 1]).unwrap();
        assert!((found - expected).abs() < 0.1, "{fraction}: {found} {expected}");
    }
}

/// The attack on a quantile: whether a unit is there moves a count by 1, and whether the answer is
/// below the middle is all that is seen of the first count. So often as it is, with a count of c and
/// a wanted one of c + 1 that a unit would fill, it must be Φ(−1/(z√k)) for k counts, and under
/// replace-one, where the count has half of the noise, Φ(−2/(z√k)). 2,000 answers a case, 4.5
/// standard errors: a false alarm in 150,000 tests of a case.
#[test]
fn a_quantile_has_the_noise_of_its_event() {
    const ANSWERS: u32 = 2_000;
    let table = example(false);
    let mut values: Vec<f64> = (0..COUNT).map(|i| table.rows.dense_row(i)[1]).collect();
    values.sort_by(f64::total_cmp);
    let (middle, z) = (values[COUNT / 2], 1.5);
    let there = values.iter().filter(|value| **value <= middle).count() as f64;
    let expected = |counts: f64, half: f64| normal_cdf(-1.0 / (half * z * counts.sqrt()));
    for (adjacency, half) in [(Adjacency::AddRemove, 1.0), (Adjacency::ReplaceOne, 0.5)] {
        for counts in [1_i32, 2, 4] {
            let most = 1 << counts;
            // The first count is at the middle one of them.
            let candidates: Vec<f64> =
                (0..most).map(|k| middle + f64::from(k - most / 2 + 1) * 10.0).collect();
            let mut gate = gate(
                "squared",
                &PrivacyModel { adjacency, public_n: Some(COUNT as u64), ..OPENING },
            );
            let params = Quantile {
                of: RecordStatistic::Feature(1),
                fraction: (there + 1.0) / COUNT as f64,
                candidates: &candidates,
                noise_multiplier: z,
            };
            let low = |_: &u32| gate.ask(&params).unwrap().into_inner() <= middle;
            let seen = (0..ANSWERS).filter(low).count() as f64 / f64::from(ANSWERS);
            let p = expected(f64::from(counts), half);
            let error = (p * (1.0 - p) / f64::from(ANSWERS)).sqrt();
            assert!((seen - p).abs() < 4.5 * error, "{adjacency} {counts}: {seen}, not {p}");
        }
    }
}

/// The targets are −1 and 1.
#[test]
fn the_size_of_a_target_has_no_sign() {
    let params = Quantile {
        of: RecordStatistic::TargetSize,
        fraction: 0.01,
        candidates: &[-1.0, 0.5, 1.0, 2.0],
        noise_multiplier: 0.0,
    };
    assert_eq!(gate("squared", &OPENING).ask(&params).unwrap().into_inner(), 1.0);
    let signed = Quantile { of: RecordStatistic::Target, ..params };
    assert_eq!(gate("squared", &OPENING).ask(&signed).unwrap().into_inner(), -1.0);
}

#[test]
fn one_candidate_needs_no_data() {
    let params = Quantile {
        of: RecordStatistic::RowNorm,
        fraction: 0.5,
        candidates: &[2.0],
        noise_multiplier: 1.0,
    };
    assert_eq!(gate("logistic", &OPENING).ask(&params).unwrap().into_inner(), 2.0);
    for candidates in [&[][..], &[1.0, 1.0], &[f64::NAN], &[2.0, 1.0]] {
        let params = Quantile { candidates, ..params };
        assert!(matches!(gate("logistic", &OPENING).ask(&params), Err(Refusal::BadQuery(_))));
    }
    let params = Count { of: RecordStatistic::Feature(3), at_most: 0.0, noise_multiplier: 1.0 };
    assert!(matches!(gate("logistic", &OPENING).ask(&params), Err(Refusal::BadQuery(_))));
}

/// More noise than the grid has is refused as a question, before anything is entered: 2²¹ clips and
/// more. What is entered and then refused would be paid for, and look like something found out from
/// the data.
#[test]
fn noise_that_the_grid_does_not_have_is_refused_before_it_is_entered() {
    let limit = f64::from(1 << 21);
    let mut gate = gate("logistic", &OPENING);
    let at = point(4, 1);
    for noise_multiplier in [limit, 3e6, f64::from(1 << 24), f64::INFINITY, f64::NAN] {
        let mean = ClippedMean { noise_multiplier, ..noiseless(2.0) };
        let refused = gate.ask(&Gradient { at: &at, mean }).unwrap_err();
        assert!(matches!(refused, Refusal::BadQuery(_)), "{noise_multiplier}: {refused:?}");
        let moment = SecondMoment { row_norm: 1.0, whole: true, noise_multiplier };
        let refused = gate.ask(&moment).unwrap_err();
        assert!(matches!(refused, Refusal::BadQuery(_)), "{noise_multiplier}: {refused:?}");
        assert_eq!(gate.ledger().total_events(), 0, "{noise_multiplier}");
    }
    let mean = ClippedMean { noise_multiplier: limit.next_down(), ..noiseless(2.0) };
    gate.ask(&Gradient { at: &at, mean }).unwrap();
    assert_eq!(gate.ledger().total_events(), 1);
}
