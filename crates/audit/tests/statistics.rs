//! Statistics of columns and counts under attack: records and users, both neighbourhoods, the worst pair.
//!
//! Bounds are at 95% each and the seeds are fixed: a test that passes, passes.

use std::ops::ControlFlow;

use reticent_audit::{TIGHT, audit_map};

/// A record from bound to bound, and a user with several: nearly all that is counted is given away,
/// and nothing more. Of classes a canary is at or below every threshold, so that all counts of a job
/// are attacked together. Of a quantile one bit of one count is seen, which shows most of it.
#[test]
fn a_statistic_gives_away_what_it_certifies_and_not_more() {
    let of = |names: &'static [&str], runs| {
        let reports = audit_map(runs, Some(5), |cell| names.contains(&cell.algorithm), &|_, _| {
            ControlFlow::Continue(())
        });
        reports.expect("an ordinary audit")
    };
    let mut reports = of(&["mean", "histogram", "quantile"], 2_500);
    reports.extend(of(&["count"], 6_000));
    assert_eq!(reports.len(), 18);
    for report in reports {
        println!(
            "{:60} certified {:.3}, lower {:.3}, share {:.2}, {}",
            report.cell.join(" · "),
            report.audit.epsilon_certified,
            report.audit.epsilon_lower,
            report.share(),
            report.audit.pair
        );
        assert!(!report.audit.exceeded && report.audit.epsilon_certified <= 4.0, "{report:?}");
        assert!(report.share() >= TIGHT, "{report:?}");
    }
}
