//! Losses of one's own under attack: lopsided ones, on the pair that shows most of each.
//!
//! Every bound is at 95%, and the seeds are fixed: a test that passes, passes.

use reticent_audit::{AuditReport, AuditSpec, Change, Method, run};

/// Too little is three times as bad as too much: the steepest slope is on one side alone.
const RESIDUAL: &str = "piecewise-residual:-0.1,-3,0,0,0.1,1";

/// Mistakes pull with all their weight, near misses with less.
const MARGIN: &str = "piecewise-margin:-0.5,-2,0.5,-0.5,1,0";

fn report(loss: &str, algorithm: &str, method: Method, epsilon: f64) -> AuditReport {
    let spec = AuditSpec {
        algorithm: algorithm.to_owned(),
        loss: loss.to_owned(),
        epsilon,
        method,
        runs: 20_000,
        seed: Some(7),
        ..AuditSpec::default()
    };
    let report = run(&spec).expect("an ordinary audit");
    println!(
        "{loss:40} {algorithm:20} {method} certified {:.4} lower {:.4} on {}",
        report.epsilon_certified, report.epsilon_lower, report.pair
    );
    report
}

/// Gradients, minimisers with noise on them, and minimisers of objectives with a random term: what
/// counts on the declared slope, and on the declared curvature.
#[test]
fn a_loss_of_ones_own_shows_no_more_than_is_certified_and_most_of_it() {
    for loss in [RESIDUAL, MARGIN] {
        for algorithm in ["ssadmm", "output-perturbation", "consensus"] {
            let report = report(loss, algorithm, Method::Gdp, 4.0);
            assert!(!report.exceeded, "{report:?}");
            assert!(report.epsilon_lower >= 0.5 * report.epsilon_certified, "{report:?}");
        }
        for algorithm in ["amp", "objp"] {
            let report = report(loss, algorithm, Method::Threshold, 4.0);
            assert!(!report.exceeded, "{report:?}");
            assert!(report.epsilon_lower >= 0.4 * report.epsilon_certified, "{report:?}");
        }
    }
}

/// The slope of a lopsided loss is steepest on one side, so the other target does not pull as far
/// back: the opposite row does.
#[test]
fn the_worst_pair_of_a_lopsided_loss_is_found() {
    for epsilon in [1.0, 4.0] {
        let report = report(RESIDUAL, "ssadmm", Method::Profile, epsilon);
        assert!(!report.exceeded, "{report:?}");
        assert_eq!(report.pair.change, Change::Mirrored, "{}", report.pair);
    }
}
