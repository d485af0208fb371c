//! What can be seen of a budget: in memory as in a file, while jobs are at work, and over time.

#![allow(clippy::unwrap_used)]

use crate::common::*;
use reticent_accountant::{Adjacency, Gaussian, ObjectivePerturbation, PoissonGaussian};
use reticent_budget::{BudgetError, JobStatus, PaidTable, Promise, Relation, Store};
use rusqlite::Connection;

#[test]
fn a_budget_in_memory_counts_as_one_in_a_file() {
    let place = Place::new();
    let mut filed = place.store(2.0);
    let mut kept = Store::in_memory(Promise::new("clinic", 2.0, 1e-6).unwrap()).unwrap();
    assert_eq!((kept.path(), filed.path()), (None, Some(&*place.path())));
    for store in [&mut filed, &mut kept] {
        let first = reserve(store, 1.0).unwrap();
        store.beat(&first, 1, Some(2)).unwrap();
        store.settle(&first, &fit(1.0, 1e-6)).unwrap();
        let second = reserve(store, 0.5).unwrap();
        store.release(second).unwrap();
        let third = reserve(store, 0.5).unwrap();
        store.forfeit(third.job()).unwrap();
        assert!(matches!(reserve(store, 1.9), Err(BudgetError::DoesNotFit { .. })));
    }
    let (filed, kept) = (filed.check().unwrap(), kept.check().unwrap());
    assert_eq!((filed.groups, filed.lines), (kept.groups, kept.lines));
    assert!(Store::in_memory(Promise { delta: 0.0, ..filed.promise }).is_err());
}

/// Two budgets in memory have nothing in common, and neither leaves a file.
#[test]
fn budgets_in_memory_are_apart() {
    let make = || Store::in_memory(Promise::new("clinic", 2.0, 1e-6).unwrap()).unwrap();
    let (mut one, mut two) = (make(), make());
    let _ = reserve(&mut one, 1.0).unwrap();
    assert_ne!(one.key().unwrap(), two.key().unwrap());
    assert_eq!(two.summary().unwrap().jobs.len(), 0);
    let job = reserve(&mut two, 0.5).unwrap();
    assert!(matches!(one.release(job), Err(BudgetError::ReservedElsewhere(_))));
    assert!(!std::path::Path::new(":memory:").exists());
}

#[test]
fn a_table_in_memory_has_a_fingerprint_under_the_key() {
    let make = || Store::in_memory(Promise::new("clinic", 2.0, 1e-6).unwrap()).unwrap();
    let (one, two) = (make(), make());
    let of = |store: &Store, parts: &[&[u8]]| store.fingerprint(parts).unwrap();
    assert_eq!(of(&one, &[b"12", b"3"]), of(&one, &[b"12", b"3"]));
    assert_ne!(of(&one, &[b"12", b"3"]), of(&one, &[b"1", b"23"]));
    assert_ne!(of(&one, &[b"12", b"3"]), of(&two, &[b"12", b"3"]));
}

#[test]
fn a_job_at_work_is_heard_of_until_it_comes_back() {
    let place = Place::new();
    let mut store = place.store(2.0);
    let job = reserve(&mut store, 1.0).unwrap();
    let before = store.check().unwrap();
    assert_eq!((before.jobs[0].progress.as_ref(), before.jobs[0].closed.as_ref()), (None, None));
    store.beat(&job, 3, Some(20)).unwrap();
    store.beat(&job, 4, Some(20)).unwrap();
    let seen = Store::open_to_read(&place.path()).unwrap().check().unwrap();
    let progress = seen.jobs[0].progress.clone().unwrap();
    assert_eq!((progress.done, progress.of, progress.time.len()), (4, Some(20), 20));
    assert_eq!((seen.head, seen.lines), (before.head, before.lines), "no part of the history");
    store.settle(&job, &fit(1.0, 1e-6)).unwrap();
    let after = store.check().unwrap();
    assert_eq!(after.jobs[0].progress, None);
    assert_eq!(after.jobs[0].closed.as_ref().map(String::len), Some(20));
    // One that has come back is not heard of again.
    store.beat(&job, 5, Some(20)).unwrap();
    assert_eq!(store.summary().unwrap().jobs[0].progress, None);
}

/// Anybody may have written it.
#[test]
fn progress_that_makes_no_sense_is_not_shown() {
    for values in ["'now', 1, 2", "'2025-01-01T00:00:00Z', -1, 2", "'2025-01-01T00:00:00Z', 1, -2"]
    {
        let place = Place::new();
        let mut store = place.store(2.0);
        let job = reserve(&mut store, 1.0).unwrap().job();
        let raw = Connection::open(place.path()).unwrap();
        raw.execute_batch(&format!("INSERT INTO progress VALUES ({job}, {values})")).unwrap();
        raw.execute_batch("INSERT INTO progress VALUES (77, '2025-01-01T00:00:00Z', 1, 1)")
            .unwrap();
        let summary = store.check().unwrap();
        assert_eq!((summary.jobs.len(), summary.jobs[0].progress.as_ref()), (1, None), "{values}");
    }
}

/// Nobody waits for somebody who writes to say how far he is.
#[test]
fn a_beat_does_not_wait() {
    let place = Place::new();
    let mut store = place.store(2.0);
    let job = reserve(&mut store, 1.0).unwrap();
    let raw = Connection::open(place.path()).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(matches!(store.beat(&job, 1, None), Err(BudgetError::Busy(_))));
    // Who looks on does not wait either.
    assert_eq!(store.check().unwrap().jobs.len(), 1);
    raw.execute_batch("ROLLBACK").unwrap();
    store.beat(&job, 1, None).unwrap();
}

#[test]
fn a_plan_says_what_it_would_leave() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let promise = store.promise().unwrap();
    let plan = promise.gaussian(1.0, 1e-6).unwrap();
    let first = store.plan(&plan).unwrap();
    assert!(first.fits && first.counted == 0.0 && first.together > 1.0, "{first:?}");
    let _ = store.reserve(&request(&plan, 1.0, &SAME)).unwrap();
    let second = store.plan(&plan).unwrap();
    assert_eq!((second.counted, second.left), (first.together, first.left_after));
    let much = store.plan(&promise.gaussian(2.9, 1e-6).unwrap()).unwrap();
    assert!(!much.fits && much.together > 3.0 && much.left_after == 0.0, "{much:?}");
    assert_eq!(much.left, second.left);
    assert!(store.plan(&ledger(ObjectivePerturbation::new(2.0, 0.1).unwrap())).is_err());
    assert!(promise.gaussian(f64::NAN, 1e-6).is_err() && promise.gaussian(1.0, 0.0).is_err());
    let hidden = Promise { adjacency: Adjacency::AddRemove, ..promise };
    let hidden = Store::in_memory(hidden).unwrap();
    assert!(matches!(hidden.plan(&plan), Err(BudgetError::Scope(_))));
    let sampled = ledger(PoissonGaussian::new(2.0, 0.1).unwrap());
    assert!(store.plan(&sampled).unwrap().together > second.counted);
    assert_eq!(store.summary().unwrap().jobs.len(), 1, "nothing is reserved");
}

#[test]
fn the_course_follows_what_was_counted() {
    let place = Place::new();
    let mut store = place.store(3.0);
    let first = reserve(&mut store, 1.0).unwrap();
    store.settle(&first, &fit(1.0, 1e-6)).unwrap();
    let second = reserve(&mut store, 1.0).unwrap();
    store.release(second).unwrap();
    let plan = ledger(Gaussian::new(9.0).unwrap());
    let apart = PaidTable::file([2; 32], Relation::DisjointPeople);
    let _ = store.reserve(&request(&plan, 0.5, &apart)).unwrap();
    let course = store.spending_history(100).unwrap();
    let counted: Vec<&Vec<f64>> = course.iter().map(|moment| &moment.counted).collect();
    let summary = store.summary().unwrap();
    assert_eq!(course.len(), 6, "{course:?}");
    assert_eq!(counted[0], &[0.0]);
    assert_eq!(counted[1], counted[2], "settling counts nothing anew");
    assert!(counted[3][0] > counted[2][0]);
    assert_eq!(counted[4], counted[2], "given back");
    let now: Vec<f64> = summary.groups.iter().map(|group| group.counted).collect();
    assert_eq!(counted[5], &now);
    let few = store.spending_history(3).unwrap();
    assert_eq!((few.len(), &few[0], &few[2]), (3, &course[0], &course[5]));
    assert_eq!(store.spending_history(0).unwrap().len(), 2);
    let lines = store.lines().unwrap();
    assert_eq!((lines[2].kind(), lines[2].job(), lines[2].number()), ("reserved", Some(3), 3));
    assert_eq!(lines.last().unwrap().hash(), summary.head);
    assert_eq!(summary.jobs[1].status, JobStatus::Released);
}
