//! Evaluations under attack: classes and numbers, records and users, both neighbourhoods.
//!
//! Bounds are at 95% each and the seeds are fixed: a test that passes, passes.

use std::ops::ControlFlow;

use reticent::accountant::View;
use reticent::map::MapCell;
use reticent_audit::{TIGHT, audit_map};

/// All that is counted is given away on the worst pair, and nothing more: a Gaussian of the right
/// size along the line between two tables.
#[test]
fn an_evaluation_gives_away_what_it_certifies_and_not_more() {
    let wanted = |cell: &MapCell| cell.algorithm == "evaluation" && cell.view == View::Central;
    let reports = audit_map(2_500, Some(5), wanted, &|_, _| ControlFlow::Continue(()));
    let reports = reports.expect("an ordinary audit");
    assert_eq!(reports.len(), 8);
    for report in reports {
        println!(
            "{:60} lower {:.3}, share {:.2}, {}",
            report.cell.join(" · "),
            report.audit.epsilon_lower,
            report.share(),
            report.audit.pair
        );
        assert!(!report.audit.exceeded && report.audit.epsilon_certified <= 4.0, "{report:?}");
        assert!(report.share() >= TIGHT, "{report:?}");
    }
}
