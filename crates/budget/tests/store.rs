//! What a budget counts, refuses and gives back.

#![allow(clippy::unwrap_used)]

use crate::common::*;
use reticent_accountant::{
    Adjacency, ApproximateDp, Event, Gaussian, Ledger, NonPrivate, ObjectivePerturbation,
    PoissonGaussian, PureDp, Taint, Unit, View, epsilon,
};
use reticent_budget::{
    BudgetError, HistoryLine, Import, JobStatus, PaidTable, Promise, Relation, Request, Store,
    gaussian_job,
};

#[test]
fn two_fits_come_to_less_than_their_sum() {
    let place = Place::new();
    let mut store = place.store(3.0);
    for _ in 0..2 {
        let reservation = reserve(&mut store, 1.0).unwrap();
        store.settle(&reservation, &fit(1.0, 1e-6)).unwrap();
    }
    let summary = store.check().unwrap();
    let group = &summary.groups[0];
    assert!(group.counted < 1.6 && group.counted > 1.4, "{group:?}");
    let exact = group.exact.unwrap();
    assert!(exact < group.counted && exact > 1.4, "{group:?}");
    // A bound for whoever chose when to look is dearer than one for who planned ahead.
    assert!(group.so_far.unwrap() > group.counted && group.so_far.unwrap() <= 2.0, "{group:?}");
    let (added, delta) = group.added.unwrap();
    assert!((added, delta) == (2.0, 2e-6) && group.jobs == 2);
    assert!(summary.kept && summary.open().count() == 0 && summary.tables == 1);
}

#[test]
fn what_is_said_to_fit_fits_and_no_more() {
    for spent in [&[][..], &[1.0], &[1.0, 0.5, 1.2]] {
        let place = Place::new();
        let mut store = place.store(3.0);
        for &epsilon in spent {
            let _ = reserve(&mut store, epsilon).unwrap();
        }
        let left = store.summary().unwrap().groups[0].left;
        assert!(left > 0.5 && left < 3.0, "{left}");
        match reserve(&mut store, left + 0.001) {
            Err(BudgetError::DoesNotFit { left: said, ceiling, .. }) => {
                assert_eq!((said, ceiling), (left, 3.0));
            }
            other => panic!("{other:?}"),
        }
        let _ = reserve(&mut store, left).unwrap();
        assert!(store.check().unwrap().groups[0].counted <= 3.0);
    }
}

/// The ceiling is the filter's: exact composition of what was admitted is within it, with a part of
/// the jobs sampled.
#[test]
fn sampled_jobs_are_composed_and_kept_below_the_ceiling() {
    let place = Place::new();
    let mut store = place.store(2.0);
    let mut plan = Ledger::new();
    plan.append_many(event(PoissonGaussian::new(4.0, 0.01).unwrap()), 300);
    let mut all = Ledger::new();
    let mut jobs = 0;
    while let Ok(reservation) = store.reserve(&request(&plan, 0.3, &SAME)) {
        store.settle(&reservation, &plan).unwrap();
        all.append_many(event(PoissonGaussian::new(4.0, 0.01).unwrap()), 300);
        jobs += 1;
        assert!(jobs < 100);
    }
    assert!(jobs > 3);
    let exact = epsilon(&all, 1e-6).unwrap().upper;
    let group = store.check().unwrap().groups[0].clone();
    assert!(exact <= 2.0 && exact > 1.0 && group.counted <= 2.0, "{jobs} {exact} {group:?}");
    assert_eq!(group.exact, Some(exact));
}

#[test]
fn a_job_that_does_not_come_back_is_counted_and_named() {
    let place = Place::new();
    let mut store = place.store(2.0);
    let _ = reserve(&mut store, 1.0).unwrap();
    drop(store);
    let mut store = Store::open(&place.path()).unwrap();
    let summary = store.summary().unwrap();
    let stale = summary.open().next().unwrap().clone();
    assert_eq!((stale.label.as_str(), stale.time.len()), ("a fit", 20));
    let counted = summary.groups[0].counted;
    assert!(counted > 1.0);
    assert!(reserve(&mut store, 1.9).is_err());
    store.forfeit(stale.number).unwrap();
    let after = store.check().unwrap();
    assert_eq!((after.open().count(), after.groups[0].counted), (0, counted));
    assert_eq!(after.jobs[0].status, JobStatus::Forfeited);
    let again = store.forfeit(stale.number).unwrap_err();
    assert!(again.to_string().contains("no open job 3"), "{again}");
    assert!(matches!(store.forfeit(77), Err(BudgetError::NotOpen(77))));
}

#[test]
fn only_what_asked_nothing_is_given_back() {
    let place = Place::new();
    let mut store = place.store(2.0);
    let first = reserve(&mut store, 1.8).unwrap();
    assert!(reserve(&mut store, 1.8).is_err());
    store.release(first).unwrap();
    let second = reserve(&mut store, 1.8).unwrap();
    // Who stops early by looking has used the plan.
    store.settle(&second, &Ledger::new()).unwrap();
    assert!(reserve(&mut store, 1.0).is_err());
    let summary = store.check().unwrap();
    assert_eq!(
        summary.jobs.iter().map(|job| job.status).collect::<Vec<_>>(),
        [JobStatus::Released, JobStatus::Settled]
    );
    assert_eq!(summary.groups[0].jobs, 1);
}

#[test]
fn what_was_done_beyond_the_plan_is_counted_beside_it() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let reservation = reserve(&mut store, 1.0).unwrap();
    store.settle(&reservation, &fit(1.5, 1e-6)).unwrap();
    let group = store.check().unwrap().groups[0].clone();
    assert!(group.counted > 1.8, "{group:?}");
    // Noise that somebody knows is no noise: nothing is promised any more.
    let reservation = reserve(&mut store, 0.1).unwrap();
    let mut seeded = fit(0.1, 1e-6);
    seeded.taint(Taint::SeededNoise);
    store.settle(&reservation, &seeded).unwrap();
    let summary = store.check().unwrap();
    assert!(!summary.kept && summary.groups[0].counted == f64::INFINITY);
    assert!(matches!(reserve(&mut store, 0.01), Err(BudgetError::Broken { .. })));
}

#[test]
fn a_budget_belongs_to_its_table() {
    let place = Place::new();
    let mut store = place.store(2.0);
    let plan = fit(1.5, 1e-6);
    let on = |number: u8, relation| PaidTable::file([number; 32], relation);
    let _ = store.reserve(&request(&plan, 1.5, &on(1, Relation::Same))).unwrap();
    let other = store.reserve(&request(&plan, 1.5, &on(2, Relation::Same))).unwrap_err();
    assert!(matches!(other, BudgetError::AnotherTable { .. }), "{other}");
    // A new edition adds to what was asked of the old one.
    let two = fit(0.5, 1e-6);
    let _ = store.reserve(&request(&two, 0.5, &on(2, Relation::NewEdition))).unwrap();
    assert!(store.reserve(&request(&plan, 1.5, &on(3, Relation::NewEdition))).is_err());
    // A refused job binds nothing.
    assert_eq!(store.summary().unwrap().tables, 2);
    // Nobody is in both: a whole budget for them.
    let _ = store.reserve(&request(&plan, 1.5, &on(3, Relation::DisjointPeople))).unwrap();
    let summary = store.check().unwrap();
    assert_eq!((summary.groups.len(), summary.groups[1].jobs), (2, 1));
    // Known tables need no word.
    let _ = store.reserve(&request(&two, 0.5, &on(3, Relation::Same))).unwrap();
    // An edition of nobody knows whom counts for all.
    let before = store.summary().unwrap().groups;
    let small = fit(0.2, 1e-6);
    let _ = store.reserve(&request(&small, 0.2, &on(4, Relation::NewEdition))).unwrap();
    let after = store.check().unwrap().groups;
    assert!(before.iter().zip(&after).all(|(old, new)| new.counted > old.counted));
    let text = store
        .lines()
        .unwrap()
        .iter()
        .map(|line| line.export().unwrap().to_string())
        .collect::<String>();
    let secret = |number: u8| format!("{number:02x}").repeat(8);
    assert!(!text.contains(&secret(1)) && !text.contains(&secret(3)), "a fingerprint is shown");
}

#[test]
fn releases_made_elsewhere_are_recorded() {
    let place = Place::new();
    let mut store = place.store(2.0);
    let import = |ledger: &Ledger, store: &mut Store, beyond| {
        store.import(&Import { label: "from elsewhere", asked: (1.0, 1e-6), ledger, beyond })
    };
    assert_eq!(import(&fit(1.0, 1e-6), &mut store, false).unwrap(), 2);
    assert!(import(&Ledger::new(), &mut store, true).is_err(), "an emptied ledger");
    let much = fit(3.0, 1e-6);
    assert!(matches!(import(&much, &mut store, false), Err(BudgetError::DoesNotFit { .. })));
    assert!(store.check().unwrap().kept);
    import(&much, &mut store, true).unwrap();
    let summary = store.check().unwrap();
    assert!(!summary.kept && summary.jobs[1].status == JobStatus::Imported);
    assert!(matches!(reserve(&mut store, 0.01), Err(BudgetError::Broken { .. })));
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let place = Place::new();
    let mut store = place.store(5.0);
    let mut seeded = fit(0.1, 1e-6);
    seeded.taint(Taint::SeededNoise);
    let objective = ledger(ObjectivePerturbation::new(2.0, 0.1).unwrap());
    let failing = ledger(ApproximateDp::new(0.1, 1e-6).unwrap());
    for plan in [&seeded, &objective, &failing, &ledger(NonPrivate::new().unwrap()), &Ledger::new()]
    {
        let error = store.reserve(&request(plan, 0.1, &SAME)).unwrap_err();
        assert!(!matches!(error, BudgetError::Storage { .. }), "{error}");
    }
    let plan = fit(0.1, 1e-6);
    for asked in
        [(f64::NAN, 1e-6), (-1.0, 1e-6), (f64::INFINITY, 1e-6), (1.0, 1.0), (1.0, f64::NAN)]
    {
        let request = reticent_budget::Request { asked, ..request(&plan, 1.0, &SAME) };
        assert!(store.reserve(&request).is_err());
    }
    for label in ["", " ", "two\nlines", "\u{1b}[2J", &"x".repeat(201)] {
        let request = reticent_budget::Request { label, ..request(&plan, 1.0, &SAME) };
        assert!(store.reserve(&request).is_err(), "{label:?}");
    }
    assert_eq!(store.check().unwrap().lines, 1);
    for (epsilon, delta) in
        [(0.0, 1e-6), (f64::NAN, 1e-6), (f64::INFINITY, 1e-6), (1.0, 0.0), (1.0, 1.0), (-1.0, 0.1)]
    {
        assert!(Promise::new("x", epsilon, delta).is_err(), "{epsilon} {delta}");
    }
}

/// Add-remove jobs count twice as far for a budget of replacements; never the other way round.
#[test]
fn a_job_of_other_neighbours_is_converted_or_refused() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let mut plan = Ledger::new();
    let gaussian = reticent_accountant::Event::new(
        Gaussian::new(8.0).unwrap(),
        Adjacency::AddRemove,
        reticent_accountant::Unit::Record,
        reticent_accountant::View::Central,
    );
    plan.append(gaussian.unwrap());
    let _ = store.reserve(&request(&plan, 0.5, &SAME)).unwrap();
    let converted = store.check().unwrap().groups[0].clone();
    let direct = Place::new();
    let mut other = direct.store(3.0);
    let _ = other.reserve(&request(&ledger(Gaussian::new(8.0).unwrap()), 0.5, &SAME)).unwrap();
    assert_eq!(converted.counted, other.summary().unwrap().groups[0].counted);
    assert_eq!(converted.added, None, "numbers under other neighbours do not add up");

    let place = Place::new();
    let hidden = Promise::new("clinic", 3.0, 1e-6).unwrap();
    let hidden = Promise { adjacency: Adjacency::AddRemove, ..hidden };
    let mut store = Store::create(&place.path(), hidden).unwrap();
    let error = reserve(&mut store, 0.5).unwrap_err();
    assert!(matches!(error, BudgetError::Scope(_)), "{error}");
}

/// A patient is not a visit: what is promised to one kind of user is not counted by another.
#[test]
fn a_budget_for_users_knows_who_a_user_is() {
    let place = Place::new();
    let promise = Promise::new("clinic", 3.0, 1e-6).unwrap();
    let promise = Promise { unit: Unit::User, ..promise };
    let mut store = Store::create(&place.path(), promise).unwrap();
    let mut plan = Ledger::new();
    let gaussian = Gaussian::new(8.0).unwrap();
    plan.append(Event::new(gaussian, Adjacency::ReplaceOne, Unit::User, View::Central).unwrap());
    let of = |user, table| Request { user, ..request(&plan, 0.5, table) };
    let unknown = store.reserve(&of(None, &SAME)).unwrap_err();
    assert!(unknown.to_string().contains("which column"), "{unknown}");
    assert!(store.reserve(&of(Some("two\nlines"), &SAME)).is_err());
    assert_eq!(store.summary().unwrap().lines, 1);

    let first = store.reserve(&of(Some("patient"), &SAME)).unwrap();
    store.settle(&first, &plan).unwrap();
    let counted = store.check().unwrap().groups[0].counted;
    // Not on the same table, not on a new edition, nor by who opens the file again.
    let mut store = Store::open(&place.path()).unwrap();
    let edition = PaidTable::file([2; 32], Relation::NewEdition);
    for table in [&*SAME, &edition] {
        let other = store.reserve(&of(Some("visit_id"), table)).unwrap_err();
        assert!(matches!(&other, BudgetError::OtherUsers { .. }), "{other}");
        let text = other.to_string();
        assert!(text.contains("patient") && text.contains("visit_id"), "{text}");
    }
    let summary = store.check().unwrap();
    assert_eq!((summary.tables, summary.groups[0].counted), (1, counted));
    assert_eq!(summary.users.as_deref(), Some("patient"));
    let _ = store.reserve(&of(Some("patient"), &edition)).unwrap();
    assert!(store.check().unwrap().groups[0].counted > counted);
}

#[test]
fn a_reservation_is_closed_where_it_was_made() {
    let (here, there) = (Place::new(), Place::new());
    let (mut own, mut other) = (here.store(3.0), there.store(3.0));
    let mine = reserve(&mut own, 1.0).unwrap();
    let theirs = reserve(&mut other, 1.0).unwrap();
    assert_eq!(mine.job(), theirs.job());
    let error = other.settle(&mine, &fit(1.0, 1e-6)).unwrap_err();
    assert!(matches!(error, BudgetError::ReservedElsewhere(3)), "{error}");
    let error = other.release(mine).unwrap_err();
    assert!(matches!(error, BudgetError::ReservedElsewhere(3)), "{error}");
    assert_eq!(other.check().unwrap().open().count(), 1);
    other.release(theirs).unwrap();
    assert_eq!(other.check().unwrap().open().count(), 0);
}

#[test]
fn a_release_without_epsilon_has_a_delta_all_the_same() {
    let place = Place::new();
    let mut store = place.store(2.0);
    let ledger = fit(1.0, 1e-6);
    let mut import = |epsilon, delta| {
        let asked = (epsilon, delta);
        store.import(&Import { label: "from elsewhere", asked, ledger: &ledger, beyond: true })
    };
    for delta in [f64::NAN, -0.1, 1.0, f64::INFINITY] {
        let error = import(f64::INFINITY, delta).unwrap_err();
        assert!(matches!(error, BudgetError::Value { name: "delta", .. }), "{error}");
    }
    for epsilon in [f64::NAN, f64::NEG_INFINITY, -1.0] {
        assert!(import(epsilon, 1e-6).is_err());
    }
    import(f64::INFINITY, 1e-6).unwrap();
    assert_eq!(store.check().unwrap().jobs.len(), 1);
}

/// Nobody is with two parties, so the dearest plan is what a person may pay for, part by part.
#[test]
fn a_run_between_parties_costs_its_dearest_plan() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let (small, large) = (fit(0.5, 1e-6), fit(1.0, 1e-6));
    let alone = {
        let other = Place::new();
        let mut store = other.store(3.0);
        let _ = reserve(&mut store, 1.0).unwrap();
        store.summary().unwrap().groups[0].counted
    };
    let request = request(&small, 1.0, &SAME);
    let between = store.reserve_between(&request, std::slice::from_ref(&large)).unwrap();
    let group = store.check().unwrap().groups[0].clone();
    assert_eq!((group.counted, group.added), (alone, None));
    // Gaussian throughout: the bounds are those of the largest ratio.
    assert!(group.exact.is_some() && group.so_far.is_some());
    store.settle(&between, &large).unwrap();
    assert_eq!(store.check().unwrap().groups[0].counted, alone);

    // Where one plan is sampled and one is not, what either comes to alone is no bound for both.
    let mut sampled = Ledger::new();
    sampled.append_many(event(PoissonGaussian::new(2.0, 0.05).unwrap()), 20);
    let mixed = store.reserve_between(&request, std::slice::from_ref(&sampled)).unwrap();
    let group = store.check().unwrap().groups[0].clone();
    assert!(group.counted > alone && group.exact.is_none() && group.so_far.is_none(), "{group:?}");
    // What no party planned is counted beside.
    let counted = group.counted;
    store.settle(&mixed, &fit(0.7, 1e-6)).unwrap();
    assert!(store.check().unwrap().groups[0].counted > counted);
    let huge = fit(2.9, 1e-6);
    let refused = store.reserve_between(&request, std::slice::from_ref(&huge)).unwrap_err();
    assert!(refused.is_refusal(), "{refused}");
    assert!(store.reserve_between(&request, &[Ledger::new()]).is_err());
}

/// A δ of 0 is a job's own business: what would fit is said at the budget's.
#[test]
fn a_job_without_delta_is_told_what_fits() {
    let place = Place::new();
    let mut store = place.store(1.0);
    let pure = |epsilon: f64| ledger(PureDp::new(epsilon).unwrap());
    let asked = |plan: &Ledger, store: &mut Store| {
        store.reserve(&Request { asked: (1.0, 0.0), ..request(plan, 1.0, &SAME) })
    };
    let _ = asked(&pure(0.2), &mut store).unwrap();
    match asked(&pure(5.0), &mut store).unwrap_err() {
        BudgetError::DoesNotFit { left, at, .. } => {
            assert!(left > 0.1 && left < 1.0 && at == 1e-6, "{left} {at}");
        }
        other => panic!("{other}"),
    }
    assert!(store.plan(&pure(5.0)).unwrap().together > 1.0);
}

/// A copy that is put back knows nothing of what was asked since. It cannot know; but who still has
/// it open notices, and so does whoever wrote the last line down.
#[test]
fn a_file_that_is_put_back_is_noticed_by_who_has_it_open() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let copy = place.folder().join("backup");
    std::fs::copy(place.path(), &copy).unwrap();
    let job = reserve(&mut store, 1.0).unwrap();
    let head = store.check().unwrap().head;
    std::fs::rename(&copy, place.path()).unwrap();
    let error = store.settle(&job, &fit(1.0, 1e-6)).unwrap_err();
    assert!(matches!(error, BudgetError::Gone(_)), "{error}");
    // A job that ran meanwhile has no line to close: it was not reserved in this file.
    let mut back = Store::open(&place.path()).unwrap();
    assert!(matches!(back.settle(&job, &fit(1.0, 1e-6)), Err(BudgetError::ReservedElsewhere(_))));
    let summary = back.check().unwrap();
    assert!(summary.kept && summary.head != head && summary.lines == 1);
}

/// The attack: a process that gives a job back while another, by a copy of its journal, is at work on it.
#[test]
fn what_another_process_has_begun_is_not_given_back() {
    let place = Place::new();
    let mut one = place.store(3.0);
    let mut two = Store::open(&place.path()).unwrap();
    let job = reserve(&mut one, 1.0).unwrap();
    let seen = two.not_begun(job.job()).unwrap().unwrap();
    assert!(one.begin_part(&job, 0).unwrap());
    assert!(!two.release_unbegun(&seen, 0).unwrap());
    assert_eq!(one.check().unwrap().open().count(), 1);
    assert!(one.begin_part(&job, 1).unwrap());
    assert!(!two.release_unbegun(&seen, 1).unwrap());
    assert_eq!(one.check().unwrap().open().count(), 1);
    // Who has begun and asked nothing gives it back, and nobody begins it any more.
    let other = reserve(&mut one, 1.0).unwrap();
    assert!(one.begin_part(&other, 0).unwrap());
    assert!(two.release_unbegun(&other, 1).unwrap());
    assert!(matches!(one.begin_part(&other, 1), Err(BudgetError::NotOpen(_))));
}

/// The attack: a copy of what a job of several parts left on the disk, to begin a part of it again.
#[test]
fn a_part_of_a_job_is_begun_once_while_it_is_open() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let job = reserve(&mut store, 1.0).unwrap();
    let (number, hash) = (job.job(), job.hash());
    assert!(store.begin_part(&job, 0).unwrap());
    assert!(!store.begin_part(&job, 0).unwrap());
    drop(store);
    // Another process, and two at a time.
    let mut one = Store::open(&place.path()).unwrap();
    let mut two = Store::open(&place.path()).unwrap();
    let found = one.reservation(number, &hash).unwrap();
    assert_eq!(found, job);
    assert!(!two.begin_part(&found, 0).unwrap());
    assert!(one.begin_part(&found, 7).unwrap() && !two.begin_part(&found, 7).unwrap());
    assert!(one.reservation(number, "00").is_err() && one.reservation(number + 1, &hash).is_err());
    // Parts of another job are others.
    let other = reserve(&mut one, 0.5).unwrap();
    assert!(one.begin_part(&other, 7).unwrap());
    one.settle(&found, &Ledger::new()).unwrap();
    assert!(matches!(two.begin_part(&job, 1), Err(BudgetError::NotOpen(_))));
    assert!(matches!(two.reservation(number, &hash), Err(BudgetError::NotOpen(_))));
    let there = Place::new();
    let mut elsewhere = there.store(3.0);
    let _ = reserve(&mut elsewhere, 1.0).unwrap();
    assert!(elsewhere.begin_part(&job, 1).is_err());
    one.check().unwrap();
}

#[test]
fn a_job_says_what_came_of_it() {
    let place = Place::new();
    let mut store = place.store(5.0);
    let digests: [Option<&str>; 3] = [Some("sha256:00"), None, Some("two\nlines")];
    for digest in digests {
        let (job, plan) = (reserve(&mut store, 1.0).unwrap(), fit(1.0, 1e-6));
        let done = store.settle_for(&job, &plan, digest);
        assert_eq!(done.is_err(), digest == digests[2]);
    }
    let settled = |line: &HistoryLine| line.kind() == "settled";
    let lines = store.lines().unwrap();
    let said: Vec<_> =
        lines.iter().filter(|line| settled(line)).map(|line| line.export().unwrap()).collect();
    assert_eq!(said[0]["body"]["certificate"], "sha256:00");
    assert_eq!(said[1]["body"], serde_json::json!({}));
    // What could not be written down is open, and counted.
    assert_eq!(store.check().unwrap().jobs.len(), 3);
    assert_eq!(said.len(), 2);
}

#[test]
fn what_cannot_be_counted_is_known_before_anything_is_reserved() {
    let place = Place::new();
    let store = place.store(0.5);
    let of = |adjacency, unit| gaussian_job((1.0, 1e-6), adjacency, unit, View::Central).unwrap();
    // That it does not fit is another question.
    store.can_count(&of(Adjacency::ReplaceOne, Unit::Record), None).unwrap();
    store.can_count(&of(Adjacency::AddRemove, Unit::Record), None).unwrap();
    let users = of(Adjacency::ReplaceOne, Unit::User);
    for user in [None, Some("patient")] {
        let error = store.can_count(&users, user).unwrap_err();
        assert!(matches!(error, BudgetError::Scope(_)), "{error}");
    }
    assert_eq!(store.lines().unwrap().len(), 1);
}
