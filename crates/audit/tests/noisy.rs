//! Sums that parties add the noise to under attack, beside the cells of the map: what is counted before
//! the first gradient, persons with rows at several parties, and odd parties.
//!
//! Bounds are at 95% each and the seeds are fixed: a test that passes, passes.

use reticent::accountant::{Adjacency, Unit, View};
use reticent::map::{Drawn, MapCell, MapProcedure, cells};
use reticent::{Settings, Spec};
use reticent_audit::{AuditSpec, CanaryChange, Neighbours, Others, run};

/// The cell of this algorithm between parties that add the noise, of records that are all drawn.
fn between(algorithm: &str, form: &str, view: View, adjacency: Adjacency) -> MapCell {
    drawn_between((algorithm, form, Drawn::Full), view, adjacency)
}

/// The same of records that are drawn so.
fn drawn_between(
    (algorithm, form, drawn): (&str, &str, Drawn),
    view: View,
    adjacency: Adjacency,
) -> MapCell {
    let is_it = |(cell, _): &(MapCell, _)| {
        (cell.algorithm, cell.form, cell.view) == (algorithm, form, view)
            && (cell.unit, cell.drawn) == (Unit::Record, drawn)
            && cell.adjacency == adjacency
    };
    cells().into_iter().find(is_it).expect("a cell of the map").0
}

/// Where nearly all of the budget is spent on the scale of the residuals, its four counts are what is
/// attacked: a record whose target is as large as any is replaced by one with a target of zero, which is
/// in every count that the other is not in, or one with a target of zero is there or not. Locally these are the answers that the server sees.
#[test]
fn the_counts_of_a_scale_leak_no_more_than_they_certify() {
    let (local, masked) = (View::Local, View::SecureAggregation);
    let (either, more) = (Adjacency::ReplaceOne, Adjacency::AddRemove);
    for (form, view, adjacency, share, least) in [
        ("scaled", local, either, 0.9, 0.6),
        ("scaled", local, more, 0.9, 0.6),
        ("preconditioned, scaled", local, either, 0.9, 0.5),
        // By moments the counts cost more than their share, and more than all with nine tenths of it.
        ("scaled", masked, either, 0.6, 0.15),
    ] {
        let runs = 4_000;
        let usual = AuditSpec::of(&between("dp-sgd", form, view, adjacency), runs, Some(3));
        let spec = AuditSpec {
            others: Settings { clip_share: Some(share), ..Settings::default() },
            precondition: usual.precondition.map(|_| 0.01),
            runs,
            ..usual
        };
        let report = run(&spec).unwrap();
        let found = report.epsilon_lower / report.epsilon_certified;
        println!("{form} {view} {adjacency}: {found:.2} on {}", report.pair);
        assert!(!report.exceeded && found >= least, "{form} {view}: {report:?}");
        let centred = [CanaryChange::Centred, CanaryChange::CentreRemoved];
        assert!(centred.contains(&report.pair.change), "{report:?}");
    }
}

/// Where nearly all of the budget is spent on standard errors, their curvature is what is attacked: a unit whose
/// row turns by a right angle moves it by all that two units may, and one that is there or not by all that one may. Locally these
/// are the victim's own answers, behind masks the sums.
#[test]
fn the_curvature_between_parties_leaks_no_more_than_it_certifies() {
    let (local, masked) = (View::Local, View::SecureAggregation);
    let (either, more) = (Adjacency::ReplaceOne, Adjacency::AddRemove);
    for (view, unit, adjacency, runs, least) in [
        (local, Unit::Record, either, 6_000, 0.2),
        (local, Unit::Record, more, 6_000, 0.2),
        (local, Unit::User, either, 6_000, 0.2),
        (masked, Unit::Record, either, 3_000, 0.04),
        (masked, Unit::Record, more, 3_000, 0.04),
    ] {
        let turned = adjacency == either;
        let pair = Neighbours {
            change: if turned { CanaryChange::Turned } else { CanaryChange::Removed },
            others: Others::Silent,
            elsewhere: Others::Silent,
            beside: 0,
            rows: 1,
            instead: 1,
            moved: false,
        };
        let is_it = |(cell, _): &(MapCell, _)| {
            (cell.algorithm, cell.form, cell.view) == ("dp-sgd", "", view)
                && (cell.unit, cell.adjacency) == (unit, adjacency)
                && cell.procedure == MapProcedure::StandardErrors
        };
        let cell = cells().into_iter().find(is_it).expect("a cell of the map").0;
        let usual = AuditSpec::of(&cell, runs, Some(13));
        let spec = AuditSpec {
            job: Spec::default().with(|it| it.standard_errors = Some(0.95)),
            features: if turned { 2 } else { 1 },
            iterations: 1,
            pair: Some(pair),
            records: Some(1),
            runs,
            ..usual
        };
        let report = run(&spec).unwrap();
        let found = report.epsilon_lower / report.epsilon_certified;
        println!("{view} {unit} {adjacency}: {found:.2} by {:?}", report.statistic);
        assert!(!report.exceeded && found >= least, "{view} {unit} {adjacency}: {report:?}");
    }
}

/// Behind masks a run takes a key agreement, and a search among pairs takes most of a few runs: the masked rows of
/// the map found nothing in 13 cells. Each algorithm on one pair, of which 43 to 51 % of ε is seen with this seed; all that there
/// is to see of the noise of three who stay, of whom two are counted by moments, is about two thirds.
#[test]
fn a_masked_sum_of_every_algorithm_shows_much_of_what_it_certifies() {
    let (either, more) = (Adjacency::ReplaceOne, Adjacency::AddRemove);
    for (algorithm, unit, adjacency) in [
        ("auto", Unit::User, either),
        ("dp-sgd", Unit::User, either),
        ("ssadmm", Unit::Record, more),
        ("mpadmm", Unit::Record, either),
        ("sadmm", Unit::Record, more),
        ("vradmm", Unit::Record, either),
        ("dp-cd", Unit::Record, more),
    ] {
        let change = if adjacency == more { CanaryChange::Removed } else { CanaryChange::Flipped };
        let pair = Neighbours {
            change,
            others: Others::Silent,
            elsewhere: Others::Silent,
            beside: 0,
            rows: 1,
            instead: 1,
            moved: false,
        };
        let cell = between(algorithm, "", View::SecureAggregation, adjacency);
        let usual = AuditSpec::of(&cell, 2_000, Some(13));
        let (pair, unit, records) = (Some(pair), Some(unit), Some(1));
        let report = run(&AuditSpec { pair, unit, records, runs: 2_000, ..usual }).unwrap();
        let found = report.epsilon_lower / report.epsilon_certified;
        println!("{algorithm} {adjacency}: {found:.2} of {:.2}", report.epsilon_certified);
        assert!(!report.exceeded && found >= 0.35, "{algorithm}: {report:?}");
    }
}

/// A person with rows at two parties is protected less than one at a single party, and as much as the
/// certificate says: by twice the entries where each party's answers are seen, and by four times as
/// many where both move one masked sum. The attack finds more than is certified of a person at one, so
/// that the sentence is not there in vain.
#[test]
fn a_person_at_two_parties_is_covered_as_the_certificate_says() {
    for (view, unit, runs) in [
        (View::Local, Unit::User, 4_000),
        (View::Local, Unit::Record, 4_000),
        (View::SecureAggregation, Unit::User, 3_000),
        (View::SecureAggregation, Unit::Record, 3_000),
    ] {
        let usual =
            AuditSpec::of(&between("dp-sgd", "", view, Adjacency::ReplaceOne), runs, Some(13));
        let several = unit == Unit::User;
        let (epsilon, parties, records) = (2.0, 3, Some(3));
        let one = AuditSpec { epsilon, runs, several, unit: Some(unit), parties, records, ..usual };
        let two = run(&AuditSpec { homes: 2, ..one.clone() }).unwrap();
        let alone = run(&AuditSpec { runs: 400, ..one }).unwrap();
        println!(
            "{view} {unit}: certified {:.2} at one, {:.2} at two, found {:.2} on {}",
            alone.epsilon_certified, two.epsilon_certified, two.epsilon_lower, two.pair
        );
        assert!(!two.exceeded && !alone.exceeded, "{two:?} {alone:?}");
        assert!(two.epsilon_lower > alone.epsilon_certified, "{two:?}");
    }
}

/// Parties of one record, beside others that have none; a record that is added to a party without any;
/// and a party that has all records of a class, of which one changes its class. Whether all others are empty
/// stands beside each.
fn odd_pairs() -> [(Adjacency, Neighbours, bool); 5] {
    let (either, more) = (Adjacency::ReplaceOne, Adjacency::AddRemove);
    let aligned = |beside, change| Neighbours {
        change,
        others: Others::Aligned,
        elsewhere: Others::Opposing,
        beside,
        rows: 1,
        instead: 1,
        moved: false,
    };
    let one_class = aligned(5, CanaryChange::Flipped);
    let alone = aligned(0, CanaryChange::Flipped);
    let none = aligned(0, CanaryChange::Removed);
    [
        (either, alone, false),
        (either, alone, true),
        (more, none, true),
        (more, none, false),
        (either, one_class, false),
    ]
}

/// Attacks such parties; at least this part of what is certified is found.
fn odd_parties(what: (&str, &str, Drawn), view: View, (runs, least): (u64, f64)) {
    // Between parties that are asked a question there is a record at each.
    let asked = what.0 == "count";
    for (adjacency, pair, bare) in odd_pairs().into_iter().filter(|(.., bare)| !(*bare && asked)) {
        let usual = AuditSpec::of(&drawn_between(what, view, adjacency), runs, Some(13));
        let records = Some(pair.beside + 1);
        let loss = "huberised-hinge:0.5".to_owned();
        let spec = AuditSpec { pair: Some(pair), bare, records, loss, runs, ..usual };
        let report = run(&spec).expect("an ordinary audit");
        let found = report.epsilon_lower / report.epsilon_certified;
        println!("{what:?} {view} {adjacency} {pair} {bare}: {found:.2}");
        assert!(!report.exceeded && found >= least, "{what:?} {view} {pair}: {report:?}");
    }
}

#[test]
fn odd_parties_hide_what_they_certify() {
    odd_parties(("dp-sgd", "", Drawn::Full), View::Local, (2_000, 0.6));
    odd_parties(("dp-sgd", "", Drawn::Full), View::SecureAggregation, (2_000, 0.25));
}

/// The same of `auto`, which buys a second moment first; of Poisson samples that a party draws itself, which
/// of one record are coins; and of a question. Each bound is above what is true for one seed in twenty at most:
/// for another seed one of the 21 may be, in two of three cases, and is an alarm only where the attack finds nearly
/// all of ε besides.
#[test]
fn odd_parties_hide_what_auto_samples_and_a_count_certify() {
    let (local, masked) = (View::Local, View::SecureAggregation);
    odd_parties(("auto", "preconditioned", Drawn::Full), local, (1_000, 0.35));
    odd_parties(("auto", "preconditioned", Drawn::Full), masked, (500, 0.05));
    odd_parties(("dp-sgd", "", Drawn::Poisson), local, (1_500, 0.2));
    odd_parties(("count", "classes", Drawn::Full), local, (1_000, 0.5));
    odd_parties(("count", "classes", Drawn::Full), masked, (500, 0.05));
}
