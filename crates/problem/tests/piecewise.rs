//! Tries to break the constants that a loss by the points of its slope declares: privacy rests on
//! them, and whoever gives the points is not believed (proofs/piecewise.md).

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use reticent_problem::losses::{self, Loss, PiecewiseMargin, PiecewiseResidual};

/// What a slip of the keyboard, a file or an ill will gives beside ordinary numbers.
const ODD: [f64; 17] = [
    0.0,
    -0.0,
    1.0 + f64::EPSILON,
    1.0 - f64::EPSILON,
    f64::MIN_POSITIVE,
    5e-324,
    -5e-324,
    1e-300,
    -1e-300,
    1e99,
    1e100,
    -1e100,
    1e101,
    f64::MAX,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

fn number() -> impl Strategy<Value = f64> {
    let scaled = (-1.0..1.0f64, -20..20i32).prop_map(|(x, scale)| x * 10_f64.powi(scale));
    prop_oneof![4 => -3.0..3.0f64, 4 => scaled, 1 => prop::sample::select(ODD.to_vec())]
}

/// Points as they come, and mostly in an order that a loss may have.
fn points() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let any = prop::collection::vec((number(), number()), 0..6);
    (any, prop::bool::weighted(0.9)).prop_map(|(mut points, sorted)| {
        if sorted {
            let mut slopes: Vec<f64> = points.iter().map(|point| point.1).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            slopes.sort_by(f64::total_cmp);
            points.iter_mut().zip(slopes).for_each(|(point, slope)| point.1 = slope);
        }
        points
    })
}

fn derivative(loss: &dyn Loss, score: f64, target: f64) -> f64 {
    let mut out = [f64::NAN];
    loss.derivative(&[score], target, &mut out);
    out[0]
}

/// Arguments at which something might happen: the points and their neighbours, between and beyond.
fn arguments(points: &[(f64, f64)]) -> Vec<f64> {
    let mut all = vec![f64::NEG_INFINITY, -1e300, -1.0, 0.0, 1.0, 1e300, f64::INFINITY];
    for window in points.windows(2) {
        let (a, b) = (window[0].0, window[1].0);
        all.extend([a.next_down(), a, a.next_up(), b.next_down(), b, b.next_up()]);
        all.extend((1..8).map(|i| a + (b - a) * f64::from(i) / 8.0));
    }
    all.sort_by(f64::total_cmp);
    all
}

/// What the gate counts on, for every target of the kind. Arguments are scores where the target is
/// added to nothing: 0 of a number, 1 of two classes; the other targets move or mirror them.
fn holds(loss: &dyn Loss, points: &[(f64, f64)], targets: &[f64]) {
    let (most, bend) = (loss.lipschitz(), loss.smoothness());
    assert!(most.is_finite() && most > 0.0 && bend.is_finite() && bend > 0.0, "{points:?}");
    for &target in targets {
        let at = |score: f64| derivative(loss, score, target);
        // What is not a number is answered with one that is within the bound.
        assert!(at(f64::NAN).abs() <= most);
        for pair in arguments(points).windows(2) {
            let (low, high) = (at(pair[0]), at(pair[1]));
            let case = || format!("{points:?}, {target} at {pair:?}: {low} {high}, {most} {bend}");
            assert!(low.abs() <= most && high.abs() <= most, "{}", case());
            assert!(!loss.one_sided() || low * target <= 0.0, "{}", case());
            // Convex, and no steeper than declared but for the last places of slope and argument.
            assert!(low <= high, "{}", case());
            let far = pair[0].abs().max(pair[1].abs()) + target.abs();
            let rounding = 16.0 * f64::EPSILON * (most + bend * far);
            let apart = pair[1] - pair[0];
            assert!(apart.is_nan() || high - low <= bend * apart + rounding, "{}", case());
            let value = loss.value(&[pair[0]], target);
            assert!(value >= 0.0 || pair[0].is_infinite(), "{} {value}", case());
        }
    }
}

/// Either there is no such loss, or its constants hold; and what it is as text is the same loss.
#[test]
fn no_points_make_a_loss_that_is_not_as_it_declares() {
    let mut runner = TestRunner::new_with_rng(
        Config { cases: 20_000, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let accepted = std::cell::Cell::new([0_u32; 2]);
    let case = |points: Vec<(f64, f64)>| {
        let [mut residuals, mut margins] = accepted.get();
        if let Ok(loss) = PiecewiseResidual::new(&points) {
            holds(&loss, &points, &[-1.0, 0.0, 0.25, 1.0]);
            let text = loss.spec();
            prop_assert_eq!(losses::parse(&text, None).unwrap().spec(), text);
            residuals += 1;
        }
        let mut points = points;
        points.last_mut().into_iter().for_each(|last| last.1 = 0.0);
        if let Ok(loss) = PiecewiseMargin::new(&points) {
            holds(&loss, &points, &[-1.0, 1.0]);
            margins += 1;
        }
        accepted.set([residuals, margins]);
        Ok(())
    };
    runner.run(&points(), case).unwrap();
    // That the test tests anything.
    assert!(accepted.get().iter().all(|&count| count > 500), "{:?}", accepted.get());
}

/// What a lie would have to look like is refused, whichever door it comes through.
#[test]
fn jumps_kinks_and_numbers_that_are_none_are_refused() {
    let lies: [&[(f64, f64)]; 9] = [
        // Two slopes at one point, or as good as one: a jump, whose curvature nobody can declare.
        &[(0.0, -1.0), (0.0, 1.0)],
        &[(1.0, -1.0), (1.0 + 1e-15, 1.0)],
        &[(-1.0, -1.0), (1.0, -0.5), (1.0, 1.0)],
        // A slope that turns back: the constant at the ends would not hold between them.
        &[(-1.0, -1.0), (0.0, 5.0), (1.0, 1.0)],
        &[(-1.0, -1.0), (0.0, -5.0), (1.0, 1.0)],
        // Not numbers, and numbers whose products are not.
        &[(-1.0, f64::NAN), (1.0, 1.0)],
        &[(-1.0, f64::NEG_INFINITY), (1.0, 1.0)],
        &[(f64::NEG_INFINITY, -1.0), (1.0, 1.0)],
        &[(-1e200, -1e200), (1e200, 1e200)],
    ];
    for lie in lies {
        assert!(PiecewiseResidual::new(lie).is_err(), "{lie:?}");
        let text: Vec<String> = lie.iter().map(|(u, s)| format!("{u},{s}")).collect();
        let text = format!("piecewise-residual:{}", text.join(","));
        assert!(losses::parse(&text, None).is_err(), "{text}");
    }
}
