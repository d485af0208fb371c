use reticent_problem::losses;

use super::*;

/// The constants of proofs/minimiser.md by hand. Each that is too small would promise a solution
/// nearer than it is.
#[test]
fn the_constants_of_a_risk_are_those_of_the_proof() {
    let loss = losses::parse("logistic", None).unwrap();
    let public = Quadratic { ridge: 0.5, linear: &[0.3, -0.4, 0.0], penalty: None };
    let shape = Shape { features: 3, outputs: 1, intercept: false };
    let start = [1.0, 2.0, 2.0];
    let risk =
        Risk { row_norm: 2.0, public, start: &start, shape, loss: &*loss, crowd: 2.0, hidden: 0.7 };
    let bounds = risk.bounds().unwrap();
    // At the start the public part has the slope (0.8, 0.6, 1).
    let slope = 2.0_f64.sqrt() + 0.7;
    let by_slope = (2.0 * 2.0 + slope).powi(2);
    let by_value = 2.0 * (2.0_f64.ln() + 2.0 * 3.0) + slope * slope;
    let potential = 1.75 * by_slope.min(by_value);
    let reach = 3.0 + 2.2 * (4.0 * potential).sqrt();
    let step = Grid::new(3).step(1.0);
    let error = 4.0 * (0.51 * step * 3.0_f64.sqrt() + 1e-13)
        + 4.0 * f64::EPSILON * 67.0 * (2.5 * reach + 0.5 + 0.7);
    assert_eq!(bounds.terms, 3);
    for (said, truth) in [
        (bounds.clip, 2.0),
        (bounds.convex, 0.5),
        (bounds.smooth, 2.5),
        (bounds.potential, potential),
        (bounds.reach, reach),
        (bounds.error, error),
    ] {
        assert!((said / truth - 1.0).abs() < 1e-9, "{said} {truth}");
    }
}

const BOUNDS: RiskConstants = RiskConstants {
    clip: 1.0,
    convex: 0.5,
    smooth: 2.0,
    gram: 0.0,
    omega: 0.0,
    gamma: 1.0,
    potential: 100.0,
    reach: 1e13,
    error: 3.0,
    terms: 3,
};

/// One step of the recursion by hand, with errors and roundings that are seen, and the distance
/// that follows from what it comes to.
#[test]
fn a_step_of_the_solver_loses_what_errors_and_roundings_take() {
    let theta = (0.375_f64 / 2.5).sqrt();
    let drift = 9.0 / 0.5 * (2.0 + 0.5);
    let rounding = 32.0 * f64::EPSILON * 1e13 * 2.0_f64.sqrt();
    let once = |v: f64| (((1.0 - theta) * v + drift).sqrt() + rounding).powi(2);
    assert!(once(100.0) > 100.0, "so large that nothing is gained");
    assert_eq!(BOUNDS.descend(1.0).iterations, 0);

    let gains = RiskConstants { error: 1.0, reach: 1e11, ..BOUNDS };
    let rounding = 32.0 * f64::EPSILON * 1e11 * 2.0_f64.sqrt();
    let once = |v: f64| (((1.0 - theta) * v + 5.0).sqrt() + rounding).powi(2);
    let descent = gains.descend(99.0);
    assert_eq!(descent.iterations, 1);
    assert!((descent.potential / once(100.0) - 1.0).abs() < 1e-12);
    assert!(descent.potential >= once(100.0), "rounded up");

    let distance = (2.0 * descent.potential / 0.5).sqrt();
    let last = 4.0 * f64::EPSILON * 67.0 * 1e11;
    assert!((descent.radius(&gains) / (distance + last) - 1.0).abs() < 1e-12);
}
