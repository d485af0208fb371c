//! Whom a job is counted for: groups of people, tables in memory, and budgets of earlier versions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use reticent_accountant::{Adjacency, Unit, View, gdp_mu};
use reticent_budget::{
    BudgetError, JobStatus, PaidTable, Promise, Relation, Request, Store, TablePiece, gaussian_job,
};
use reticent_noise::Hasher;

use crate::common::{Place, fit, request};

fn on(number: u8, relation: Relation) -> PaidTable {
    PaidTable::file([number; 32], relation)
}

fn both(one: u8, two: u8, relation: Relation) -> PaidTable {
    PaidTable::files(vec![[one; 32].into(), [two; 32].into()], None, relation)
}

fn counted(store: &Store) -> Vec<f64> {
    store.check().unwrap().groups.iter().map(|group| group.counted).collect()
}

/// A job on A in memory, then a file B of other people, then B in memory: the books had the last
/// as A's alone.
#[test]
fn a_table_in_memory_is_not_taken_for_the_one_before_it() {
    let place = Place::new();
    let mut store = place.store(1.0);
    let plan = fit(0.5, 1e-6);
    let memory = |number: u8, relation| PaidTable::in_memory([number; 32], relation);
    let _ = store.reserve(&request(&plan, 0.5, &memory(1, Relation::Same))).unwrap();
    let _ = store.reserve(&request(&plan, 0.5, &on(2, Relation::DisjointPeople))).unwrap();
    let before = counted(&store);
    let third = store.reserve(&request(&plan, 0.5, &memory(2, Relation::Same)));
    match third {
        Ok(_) => {
            let after = counted(&store);
            assert!(before.iter().zip(&after).all(|(old, new)| new > old), "{before:?} {after:?}");
            assert_eq!(store.summary().unwrap().jobs[2].people, None);
        }
        Err(error) => assert!(error.is_refusal(), "{error}"),
    }
}

#[test]
fn a_table_in_memory_has_a_group_of_its_own_only_if_that_is_said() {
    let place = Place::new();
    let mut store = place.store(1.0);
    let plan = fit(0.3, 1e-6);
    let piece = |whole: u8, part: u8| TablePiece {
        whole: [whole; 32],
        older: Vec::new(),
        parts: vec![[part; 32]],
    };
    let mut people = |table: &PaidTable| {
        let _ = store.reserve(&request(&plan, 0.3, table)).unwrap();
        let summary = store.check().unwrap();
        (summary.jobs.last().unwrap().people.clone(), summary.groups.len(), summary.tables)
    };
    let apart = Relation::DisjointPeople;
    assert_eq!(people(&on(1, Relation::Same)), (Some(vec![1]), 1, 1));
    assert_eq!(people(&PaidTable::in_memory(piece(2, 12), apart)), (Some(vec![2]), 2, 2));
    assert_eq!(people(&PaidTable::in_memory(piece(2, 12), apart)), (Some(vec![2]), 2, 2));
    // A fold of them has the same name, and its content is another.
    assert_eq!(people(&PaidTable::in_memory(piece(2, 13), apart)), (Some(vec![2]), 2, 2));
    // The same content under another name is perhaps the same people: no third group.
    assert_eq!(people(&PaidTable::in_memory(piece(3, 12), apart)), (None, 2, 2));
    // And so is that of the fold, though it was not the first under its name.
    assert_eq!(people(&PaidTable::in_memory(piece(3, 13), apart)), (None, 2, 2));
    // Known by its content, and nobody says so: a fold could be of anybody.
    assert_eq!(people(&PaidTable::in_memory(piece(2, 12), Relation::Same)), (None, 2, 2));
}

#[test]
fn a_list_with_a_file_that_is_bound_is_not_of_other_people() {
    let place = Place::new();
    let mut store = place.store(2.0);
    let plan = fit(0.5, 1e-6);
    let _ = store.reserve(&request(&plan, 0.5, &on(1, Relation::Same))).unwrap();
    for (one, two) in [(1, 2), (2, 1)] {
        let list = both(one, two, Relation::DisjointPeople);
        let error = store.reserve(&request(&plan, 0.5, &list)).unwrap_err();
        assert!(matches!(error, BudgetError::NotDisjoint { .. }), "{error}");
    }
    assert_eq!((store.summary().unwrap().tables, store.summary().unwrap().jobs.len()), (1, 1));
    // The same content under two names is one file, and a file is known again by itself.
    let _ = store.reserve(&request(&plan, 0.5, &both(2, 2, Relation::DisjointPeople))).unwrap();
    assert!(both(2, 2, Relation::Same).repeats() && !both(1, 2, Relation::Same).repeats());
    let summary = store.check().unwrap();
    assert_eq!((summary.tables, summary.groups.len()), (2, 2));
    let _ = store.reserve(&request(&plan, 0.5, &on(2, Relation::DisjointPeople))).unwrap();
    assert_eq!(store.check().unwrap().jobs[2].people, Some(vec![2]));
}

#[test]
fn a_job_over_files_of_several_groups_counts_for_each_of_them() {
    let place = Place::new();
    let mut store = place.store(2.0);
    let plan = fit(0.5, 1e-6);
    let apart = Relation::DisjointPeople;
    for number in 1..4 {
        let _ = store.reserve(&request(&plan, 0.5, &on(number, apart))).unwrap();
    }
    let before = counted(&store);
    let job = store.reserve(&request(&plan, 0.5, &both(1, 3, Relation::Same))).unwrap();
    let open = counted(&store);
    assert!(open[0] > before[0] && open[1] == before[1] && open[2] > before[2], "{open:?}");
    store.settle(&job, &plan).unwrap();
    assert_eq!(counted(&store), open);
    assert_eq!(store.summary().unwrap().jobs[3].people, Some(vec![1, 3]));
    // Who comes later was not in it.
    let _ = store.reserve(&request(&plan, 0.5, &on(4, apart))).unwrap();
    let groups = store.check().unwrap().groups;
    assert!(groups[3].counted < groups[0].counted, "{groups:?}");
    // One known file and one that is new need a word.
    let error = store.reserve(&request(&plan, 0.5, &both(1, 5, Relation::Same))).unwrap_err();
    assert!(matches!(error, BudgetError::AnotherTable { .. }), "{error}");
    let edition = both(1, 5, Relation::NewEdition);
    let _ = store.reserve(&request(&plan, 0.5, &edition)).unwrap();
    assert_eq!(store.summary().unwrap().jobs[5].people, None);
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// The digest of files by which format 4 knew them.
fn older(names: &[&str], key: &[u8; 32]) -> [u8; 32] {
    let mut hasher = Hasher::new("reticent table");
    hasher.field(key).number(names.len() as u64);
    for name in names {
        let bytes = std::fs::read(golden(name)).unwrap();
        hasher.field(&bytes).number(bytes.len() as u64);
    }
    hasher.finish()
}

/// `golden/tables.budget` was written by format 4 (`golden/format_4.rs`): a job in memory, one on
/// a.csv, one on b.csv and c.csv of other people, and two in memory, one of them open; the last
/// three were counted for the first group alone.
#[test]
fn a_budget_of_format_4_counts_its_tables_in_memory_for_everybody() {
    let place = Place::new();
    std::fs::copy(golden("tables.budget"), place.path()).unwrap();
    let seen = Store::open_to_read(&place.path()).unwrap().check().unwrap();
    let people: Vec<_> = seen.jobs.iter().map(|job| job.people.clone()).collect();
    // Behind the first job in memory its group's jobs cannot be told apart.
    assert_eq!(people, [None, None, Some(vec![2]), None, None]);
    let mu = |epsilons: &[f64]| {
        let one = |&epsilon: &f64| gdp_mu(&fit(epsilon, 1e-6)).unwrap().powi(2);
        epsilons.iter().map(one).sum::<f64>().sqrt()
    };
    let counts = |people: usize, epsilons: &[f64]| {
        let fresh = Place::new();
        let mut store = fresh.store(2.0);
        let plan = store.promise().unwrap().gaussian(0.1, 1e-6).unwrap();
        assert!(mu(epsilons) > gdp_mu(&plan).unwrap());
        for &epsilon in epsilons {
            let _ = crate::common::reserve(&mut store, epsilon).unwrap();
        }
        let (own, same) = (seen.groups[people].counted, store.summary().unwrap().groups[0].counted);
        assert!((own - same).abs() < 1e-9, "group {people}: {own} and not {same}");
    };
    counts(0, &[0.5, 0.4, 0.7, 0.3]);
    counts(1, &[0.5, 0.4, 0.6, 0.7, 0.3]);
    // Who writes says from where on tables are told apart; nothing else changes.
    let mut store = Store::open(&place.path()).unwrap();
    assert_eq!(counted(&store), seen.groups.iter().map(|group| group.counted).collect::<Vec<_>>());
    store.forfeit(seen.jobs[4].number).unwrap();
    let after = store.check().unwrap();
    assert_eq!(after.groups.iter().map(|group| group.counted).collect::<Vec<_>>(), counted(&store));
    assert!((after.groups[1].counted - seen.groups[1].counted).abs() < 1e-12);
    assert_eq!(after.jobs[4].status, JobStatus::Forfeited);
    assert_eq!(store.lines().unwrap().iter().filter(|line| line.kind() == "rule").count(), 1);
    let course = store.spending_history(100).unwrap();
    assert!((course.last().unwrap().counted[1] - after.groups[1].counted).abs() < 1e-12);
}

/// By the digests of format 4, a list is still the list, and its files are known one by one from
/// then on.
#[test]
fn the_tables_of_a_budget_of_format_4_are_known_again() {
    let place = Place::new();
    std::fs::copy(golden("tables.budget"), place.path()).unwrap();
    let mut store = Store::open(&place.path()).unwrap();
    let key = store.key().unwrap();
    let plan = fit(0.1, 1e-6);
    let piece = |name: &str, whole: u8| TablePiece {
        whole: [whole; 32],
        older: vec![older(&[name], &key)],
        parts: Vec::new(),
    };
    let mut people = |table: PaidTable| {
        let request =
            Request { label: "again", asked: (0.1, 1e-6), plan: &plan, table: &table, user: None };
        store.reserve(&request).map(|_| store.check().unwrap().jobs.last().unwrap().people.clone())
    };
    let apart = Relation::DisjointPeople;
    assert_eq!(people(PaidTable::file(piece("a.csv", 1), apart)).unwrap(), Some(vec![1]));
    // One file of the list is not the list.
    assert!(people(PaidTable::file(piece("b.csv", 2), Relation::Same)).is_err());
    let list = vec![piece("b.csv", 2), piece("c.csv", 3)];
    let together = Some(older(&["b.csv", "c.csv"], &key));
    assert_eq!(people(PaidTable::files(list, together, apart)).unwrap(), Some(vec![2]));
    assert_eq!(people(PaidTable::file(piece("b.csv", 2), apart)).unwrap(), Some(vec![2]));
    assert_eq!(people(both(3, 1, Relation::Same)).unwrap(), Some(vec![1, 2]));
}

/// `golden/groups.budget` was made by Python of format 4, which called every unit "groups".
#[test]
fn the_old_name_of_a_unit_stays_known() {
    let place = Place::new();
    std::fs::copy(golden("groups.budget"), place.path()).unwrap();
    let mut store = Store::open(&place.path()).unwrap();
    let plan = gaussian_job((0.1, 1e-6), Adjacency::ReplaceOne, Unit::User, View::Central).unwrap();
    let table = PaidTable::in_memory([1; 32], Relation::Same);
    let by = |user| Request { label: "a", asked: (0.1, 1e-6), plan: &plan, table: &table, user };
    assert!(matches!(store.reserve(&by(Some("visit"))), Err(BudgetError::OtherUsers { .. })));
    let _ = store.reserve(&by(Some("groups"))).unwrap();
    assert_eq!(store.check().unwrap().users.as_deref(), Some("groups"));
}

/// People of a world in which every statement is true: each file has its persons, editions of a
/// table have the same ones, and a table in memory is of anybody.
#[derive(Debug, Default)]
struct World {
    /// The persons of each file; files of different groups have none in common.
    persons: BTreeMap<u8, BTreeSet<u8>>,
    /// The group of each hospital's files.
    groups: BTreeMap<u8, u64>,
    /// μ² that touched each person.
    touched: BTreeMap<u8, f64>,
}

impl World {
    fn ask(&mut self, persons: impl IntoIterator<Item = u8>, square: f64) {
        persons.into_iter().for_each(|who| *self.touched.entry(who).or_default() += square);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Whatever is asked of files, lists of them and tables in memory: what touched a person is at
    /// most what is counted for a group that the person is in.
    #[test]
    fn nobody_is_touched_by_more_than_is_counted_for_them(
        steps in prop::collection::vec((0_u8..4, 0_u8..6, 0_u8..6, 0_u8..4), 1..25),
    ) {
        let mut store = Store::in_memory(Promise::new("clinic", 4.0, 1e-6).unwrap()).unwrap();
        let plan = fit(0.3, 1e-6);
        let square = gdp_mu(&plan).unwrap().powi(2);
        let mut world = World::default();
        // File f is of the persons of hospital f / 2: two editions of each of three tables.
        let persons = |file: u8| -> BTreeSet<u8> { (0..3).map(|i| 10 * (file / 2) + i).collect() };
        for (kind, one, two, relation) in steps {
            // The statement that is true of file `one` and those that are bound, or none.
            let same = world.persons.keys().any(|known| known / 2 == one / 2);
            let others = world.persons.keys().any(|known| known / 2 != one / 2);
            let relation = match relation {
                0 => Relation::Same,
                1 if !others => Relation::NewEdition,
                _ if !same => Relation::DisjointPeople,
                _ => Relation::Same,
            };
            let (table, asked) = match kind {
                0 | 1 => (PaidTable::file([one + 1; 32], relation), persons(one)),
                2 => {
                    let list = both(one + 1, two + 1, Relation::Same);
                    (list, &persons(one) | &persons(two))
                }
                // Rows of two hospitals together, that nobody speaks for.
                _ => (PaidTable::in_memory([one + 50; 32], Relation::Same), &persons(one) | &persons(two)),
            };
            let request = Request { label: "any", asked: (0.3, 1e-6), plan: &plan, table: &table, user: None };
            let Ok(job) = store.reserve(&request) else { continue };
            world.ask(asked, square);
            let files = [one, if kind == 2 { two } else { one }];
            let people = store.summary().unwrap().jobs.last().unwrap().people.clone();
            for file in files.into_iter().filter(|_| kind < 3) {
                world.persons.insert(file, persons(file));
                if let Some([group]) = people.as_deref() {
                    world.groups.insert(file / 2, *group);
                }
            }
            if one % 2 == 0 {
                store.settle(&job, &plan).unwrap();
            }
        }
        let summary = store.check().unwrap();
        let most = |mu: f64| {
            // The filter's reading of so much, by a fresh budget.
            let count = (mu * mu / square).round() as usize;
            let mut store = Store::in_memory(Promise::new("clinic", 4.0, 1e-6).unwrap()).unwrap();
            for _ in 0..count {
                let _ = store.reserve(&request(&plan, 0.3, &on(1, Relation::Same))).unwrap();
            }
            store.summary().unwrap().groups[0].counted
        };
        // A person is in the group of their hospital's files; who is in none is in all.
        for (&who, &square) in &world.touched {
            let truth = most(square.sqrt());
            let own = world.groups.get(&(who / 10));
            let mine = |people: u64| own.is_none_or(|own| *own == people);
            let counted = summary.groups.iter().filter(|group| mine(group.people));
            let counted = counted.map(|group| group.counted).fold(f64::INFINITY, f64::min);
            prop_assert!(truth <= counted + 1e-9, "person {}: {} and not {}", who, truth, counted);
        }
    }
}
