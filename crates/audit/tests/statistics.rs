//! Statistics of columns and counts under attack: records and users, both neighbourhoods, the worst pair.
//!
//! Bounds are at 95% each and the seeds are fixed: a test that passes, passes.

use std::ops::ControlFlow;

use reticent::accountant::{Unit, View};
use reticent::map::{MapCell, cells};
use reticent_audit::{
    AuditSpec, CanaryChange, CellReport, Neighbours, Others, TIGHT, audit_map, run,
};

/// A record from bound to bound, and a user with several: nearly all that is counted is given away,
/// and nothing more. Of classes a canary is at or below every threshold, so that all counts of a job
/// are attacked together. Of a quantile one bit of one count is seen, which shows most of it.
#[test]
fn a_statistic_gives_away_what_it_certifies_and_not_more() {
    let of = |names: &'static [&str], runs| {
        let wanted = |cell: &MapCell| names.contains(&cell.algorithm) && cell.view == View::Central;
        let reports = audit_map(runs, Some(5), wanted, &|_, _| ControlFlow::Continue(()));
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

fn between(view: View, runs: u64) -> Vec<CellReport> {
    let names = ["count", "mean", "histogram", "quantile", "evaluation"];
    let wanted = |cell: &MapCell| names.contains(&cell.algorithm) && cell.view == view;
    let reports = audit_map(runs, Some(5), wanted, &|_, _| ControlFlow::Continue(()));
    let reports = reports.expect("an ordinary audit");
    for report in &reports {
        println!(
            "{:75} certified {:.3}, lower {:.3}, share {:.2}, {}",
            report.cell.join(" · "),
            report.audit.epsilon_certified,
            report.audit.epsilon_lower,
            report.share(),
            report.audit.pair
        );
        assert!(!report.audit.exceeded && report.audit.epsilon_certified <= 4.0, "{report:?}");
    }
    // Of each of six records under both neighbours, and persons; and a count of all.
    assert_eq!(reports.len(), 19);
    reports
}

/// A party's own answers give away what it is counted for, of every question; of a quantile each count
/// is seen.
#[test]
fn an_answer_with_the_noise_of_its_party_gives_away_what_is_certified_and_not_more() {
    for report in between(View::Local, 6_000) {
        assert!(report.share() >= TIGHT, "{report:?}");
    }
}

/// A masked sum has the noise of all three who stay, of whom two are counted, by moments. Of each question something is
/// seen, so that a pair whose worlds have the same answer is none.
#[test]
fn a_masked_answer_gives_away_no_more_than_is_certified() {
    let reports = between(View::SecureAggregation, 3_000);
    for report in reports {
        assert!(report.share() >= 0.15, "{report:?}");
    }
}

/// A person of a party that has several, who may stand elsewhere, with more rows or fewer.
#[test]
fn a_person_within_a_party_is_hidden_in_an_answer_as_certified() {
    for (algorithm, view, least) in [
        ("mean", View::Local, TIGHT),
        ("count", View::Local, TIGHT),
        ("histogram", View::SecureAggregation, 0.35),
    ] {
        let is_it = |(cell, _): &(MapCell, _)| {
            (cell.algorithm, cell.view, cell.unit) == (algorithm, view, Unit::User)
        };
        let (cell, _) = cells().into_iter().find(is_it).expect("a cell of the map");
        let usual = AuditSpec::of(&cell, 2_500, Some(13));
        // A masked run takes a key agreement: all of them are on one pair in place of a search among many.
        let pair = (view == View::SecureAggregation).then_some(Neighbours {
            change: CanaryChange::Mirrored,
            others: Others::Silent,
            elsewhere: Others::Silent,
            beside: 2,
            rows: 1,
            instead: 1,
            moved: false,
        });
        let runs = 2_500;
        let spec = AuditSpec { several: true, records: Some(3), pair, runs, ..usual };
        let report = run(&spec).unwrap();
        let share = report.epsilon_lower / report.epsilon_certified;
        println!("{algorithm} {view}: {share:.2} on {}", report.pair);
        assert!(!report.exceeded && share >= least, "{algorithm} {view}: {report:?}");
    }
}

/// All that a party holds is one unit, entered under its own name: certified for what a person who is a
/// party is, and hidden as well.
#[test]
fn a_whole_party_is_hidden_in_an_answer_as_certified() {
    for (algorithm, view, least) in [
        ("mean", View::Local, TIGHT),
        ("count", View::Local, TIGHT),
        ("quantile", View::Local, TIGHT),
        ("evaluation", View::Local, TIGHT),
        ("histogram", View::SecureAggregation, 0.35),
    ] {
        let is_it = |(cell, _): &(MapCell, _)| {
            (cell.algorithm, cell.view, cell.unit) == (algorithm, view, Unit::User)
        };
        let (cell, _) = cells().into_iter().find(is_it).expect("a cell of the map");
        // A masked run takes a key agreement: all of them are on one pair in place of a search among many.
        let pair = (view == View::SecureAggregation).then_some(Neighbours {
            change: CanaryChange::Mirrored,
            others: Others::Silent,
            elsewhere: Others::Silent,
            beside: 0,
            rows: 3,
            instead: 3,
            moved: false,
        });
        let spec = |unit, runs| {
            let usual = AuditSpec::of(&cell, runs, Some(13));
            AuditSpec { unit: Some(unit), records: Some(3), pair, runs, ..usual }
        };
        let (report, person) = (run(&spec(Unit::Party, 2_500)).unwrap(), spec(Unit::User, 100));
        let share = report.epsilon_lower / report.epsilon_certified;
        println!("{algorithm} {view}: {share:.2} on {}", report.pair);
        assert_eq!(report.epsilon_certified, run(&person).unwrap().epsilon_certified);
        assert!(!report.exceeded && share >= least, "{algorithm} {view}: {report:?}");
    }
}
