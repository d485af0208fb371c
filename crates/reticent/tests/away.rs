//! Parties that stay away from a run on noisy sums: it is the run between the others, and nothing of
//! who stays away is in it.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::collections::BTreeSet;

use reticent::internal::PaidByParties;
use reticent::internal::admm::catalogue::{AlgorithmKind, CATALOGUE};
use reticent::simulate::{CheckpointOptions, Failures, Simulated, Simulation, SimulationJob};
use reticent::tables::{Dataset, Owners, Schema, Target};
use reticent::{
    Adjacency, Budget, Error, Guarantee, Problem, Run, Settings, Unit, View, penalties,
};

const FEATURES: usize = 3;
/// Of each party but the sixth, which has more.
const EACH: usize = 15;
const PARTIES: u64 = 8;
const BOTH: [View; 2] = [View::Local, View::SecureAggregation];

/// Rows, and whose they are.
#[derive(Clone)]
struct Rows {
    x: Vec<f64>,
    y: Vec<u32>,
    owners: Vec<u64>,
}

impl Rows {
    /// Of the parties that are `here`; those of the sixth are `other` than they were.
    fn of(here: impl Fn(u64) -> bool, other: bool) -> Self {
        let (mut x, mut y, mut owners) = (Vec::new(), Vec::new(), Vec::new());
        for party in (0..PARTIES).filter(|&party| here(party)) {
            let more = if party == 5 { 7 } else { 0 };
            for row in 0..EACH + more {
                let at = party as usize * 1000 + row * FEATURES;
                let sign = if other && party == 5 { -1.0 } else { 1.0 };
                let row = (at..at + FEATURES).map(|at| ((at * 37 + 11) % 23) as f64 / 11.0 - 1.0);
                let row: Vec<f64> = row.map(|x| sign * x).collect();
                y.push(u32::from(sign * (row[0] + 0.3 * row[1]) > 0.1));
                owners.push(100 + party);
                x.extend(row);
            }
        }
        Rows { x, y, owners }
    }

    fn table(&self) -> Dataset<'_> {
        let table = Dataset::dense(&self.x, self.y.len(), FEATURES).unwrap();
        table.with_targets(&self.y).unwrap().with_owners(Owners::from(&self.owners[..])).unwrap()
    }
}

fn guarantee() -> Guarantee {
    Guarantee::from(Budget::new(2.0, 1e-5).unwrap()).with(|it| {
        it.unit = Some(Unit::Record);
        it.seed = Some(5);
    })
}

fn problem() -> Problem {
    let target = Target::classes(["no", "yes"]).unwrap();
    Problem::new(Schema::bounded(&[(-1.0, 1.0); FEATURES], target).unwrap())
}

fn auto(view: View) -> Simulation {
    Simulation::of(problem())
        .algorithm("auto")
        .unwrap()
        .settings(Settings { iterations: Some(4), ..Settings::default() })
        .guarantee(guarantee())
        .trust(view)
}

fn without(job: &SimulationJob, rows: &Rows, absent: &[u32]) -> Result<Simulated, Error> {
    let (table, keep) = (rows.table(), CheckpointOptions::default());
    let absent: BTreeSet<u32> = absent.iter().copied().collect();
    job.open_without(&table, keep, &absent, &mut Run::default())?.run(Run::default())
}

fn numbers(done: &Simulated) -> Vec<f64> {
    done.model.coefficients().iter().flat_map(|it| it.values.clone()).collect()
}

/// With the same key, to the bit: noise, law, plan and numbers are those of so many parties.
#[test]
fn a_run_without_some_parties_is_the_run_between_the_others() {
    let (away, here) = ([1, 5], |party| ![1, 5].contains(&party));
    for view in BOTH {
        // One of eight may be corrupt, and one of six.
        let honest = (view == View::SecureAggregation).then_some(0.9);
        let settings = Settings { iterations: Some(4), honest, ..Settings::default() };
        let job = auto(view).settings(settings).party_per_owner().check().unwrap();
        let left = without(&job, &Rows::of(|_| true, false), &away).unwrap();
        let others = without(&job, &Rows::of(here, false), &[]).unwrap();
        assert_eq!(numbers(&left), numbers(&others), "{view}");
        let all = without(&job, &Rows::of(|_| true, false), &[]).unwrap();
        assert_ne!(numbers(&left), numbers(&all), "{view}");
        // Those who stay have their numbers among all.
        let own = |run: &Simulated, party| run.parties.party(party).unwrap().clone();
        for (party, among) in [(0, 0), (2, 1), (4, 3), (6, 4), (7, 5)] {
            let (own, other) = (own(&left, party), own(&others, among));
            assert_eq!((&own.ledger, own.epsilon), (&other.ledger, other.epsilon));
            assert_eq!(own.population, 6 * EACH as u64);
        }
        assert_eq!(left.parties.len(), PARTIES as usize);
        for party in away {
            let own = own(&left, party as usize);
            assert_eq!((own.ledger.total_events(), own.epsilon), (0, 0.0));
        }
        let certificate = left.model.certificate();
        let said = |what: &str| certificate.assumptions.iter().any(|line| line.contains(what));
        assert!(said("took no part, and nothing of theirs was asked for: 1, 5."), "{view}");
        assert_eq!(certificate.verify(None).unwrap().failures().count(), 0);
        assert_eq!((certificate.parties.as_ref().unwrap().count, left.fewest), (8, None));
        let other = others.model.certificate();
        assert!(!other.assumptions.iter().any(|line| line.contains("took no part")));
    }
}

/// Whoever is corrupt does not stay away for that.
#[test]
fn all_who_may_be_corrupt_are_counted_among_those_who_are_left() {
    let job = auto(View::SecureAggregation).party_per_owner().check().unwrap();
    let rows = Rows::of(|_| true, false);
    let left = without(&job, &rows, &[1, 5, 6, 7]).unwrap();
    let said = |what: &str| {
        let certificate = left.model.certificate();
        certificate.assumptions.iter().any(|line| line.contains(what))
    };
    // Of four by themselves it would be one.
    assert!(said("of 4 parties no more than 2"));
    assert!(said("the noise of at least 3 parties, of which 1 are counted"));
    // Of two that are left none would be honest for sure.
    let few = without(&job, &rows, &[0, 1, 2, 3, 4, 5]).unwrap_err().to_string();
    assert!(few.contains("no honest noise is certain"), "{few}");
}

/// Whatever it has, and however much, where that is private.
#[test]
fn nothing_of_who_stays_away_is_in_any_algorithm_of_sums() {
    let (rows, other) = (Rows::of(|_| true, false), Rows::of(|_| true, true));
    let mut ran = Vec::new();
    for entry in CATALOGUE.iter().filter(|entry| matches!(entry.kind, AlgorithmKind::Private(_))) {
        for view in BOTH {
            let iterations = entry.takes.contains(&"iterations").then_some(3);
            let sampling = entry.takes.contains(&"sampling").then(|| "full".parse().unwrap());
            let settings = Settings { iterations, sampling, ..Settings::default() };
            let mut problem = problem();
            if entry.needs_penalty {
                problem = problem.penalty(penalties::parse(entry.penalty).unwrap());
            }
            let run = Simulation::of(problem).algorithm(entry.name).unwrap().settings(settings);
            let Ok(job) = run.guarantee(guarantee()).trust(view).party_per_owner().check() else {
                continue;
            };
            let say = format!("{} {view}", entry.name);
            let left = without(&job, &rows, &[5]).unwrap();
            assert_eq!(numbers(&left), numbers(&without(&job, &other, &[5]).unwrap()), "{say}");
            let all = |rows| numbers(&without(&job, rows, &[]).unwrap());
            assert_ne!(all(&rows), all(&other), "{say}: the change is seen at all");
            // What is reserved is what is done.
            let keep = CheckpointOptions::default();
            let (table, absent) = (rows.table(), BTreeSet::from([5]));
            let ready = job.open_without(&table, keep, &absent, &mut Run::default()).unwrap();
            assert_eq!(ready.needs_all(), None, "{say}");
            for (party, plan) in ready.party_plans().unwrap().iter().enumerate() {
                assert_eq!(plan, &left.parties.party(party).unwrap().ledger, "{say} {party}");
                assert_eq!(plan.total_events() == 0, party == 5, "{say} {party}");
            }
            ran.push((entry.name, view));
        }
    }
    for name in ["auto", "dp-sgd", "ssadmm", "mpadmm", "sadmm", "vradmm", "dp-cd"] {
        for view in BOTH {
            assert!(ran.contains(&(name, view)), "{name} {view} is not among {ran:?}");
        }
    }
}

/// Where the number of records is private, those who stay have their share of the public one.
#[test]
fn who_stays_has_its_share_of_a_public_number() {
    let hidden = guarantee().with(|it| {
        it.adjacency = Some(Adjacency::AddRemove);
        it.public_n = Some(101);
    });
    for view in BOTH {
        let job = auto(view).guarantee(hidden).parties(PARTIES as u32).check().unwrap();
        let open = |rows: &Rows| {
            // Records are nobody's here: they are dealt by what they say.
            let table = Dataset::dense(&rows.x, rows.y.len(), FEATURES).unwrap();
            let table = table.with_targets(&rows.y).unwrap();
            let absent = BTreeSet::from([3, 5]);
            let keep = CheckpointOptions::default();
            job.open_without(&table, keep, &absent, &mut Run::default()).unwrap()
        };
        let rows = Rows::of(|_| true, false);
        let left = open(&rows).run(Run::default()).unwrap();
        let certificate = left.model.certificate();
        // Six eighths, and no more than there are.
        assert_eq!(certificate.population, 75, "{view}");
        // One record less, with whomever: the same plan.
        let less = Rows { x: rows.x[FEATURES..].to_vec(), y: rows.y[1..].to_vec(), ..rows.clone() };
        assert_eq!(open(&rows).party_plans().unwrap(), open(&less).party_plans().unwrap());
    }
}

/// Noise by hand is that of the sum, of which four of eight parts are counted, and two of five.
#[test]
fn noise_by_hand_is_counted_for_those_who_are_left() {
    let job = auto(View::SecureAggregation).noise(40.0).party_per_owner().check().unwrap();
    let rows = Rows::of(|_| true, false);
    let spent = |absent: &[u32]| {
        let run = without(&job, &rows, absent).unwrap();
        run.parties.party(0).unwrap().counted.unwrap()
    };
    assert!(spent(&[4, 5, 6]) > spent(&[]));
}

/// Messages that come twice, or in another order, keep nobody out of a masked sum, which is why `auto`
/// stays the default there.
#[test]
fn what_comes_twice_or_in_another_order_loses_nobody() {
    let job = |failures| {
        let run = auto(View::SecureAggregation).party_per_owner().failures(failures);
        run.check().unwrap()
    };
    let rows = Rows::of(|_| true, false);
    let failures = Failures { duplicate: 0.5, reorder: 1.0, seed: 3, ..Failures::default() };
    let done = without(&job(failures), &rows, &[]).unwrap();
    assert_eq!(done.fewest, None);
    assert!(!done.rejections.is_empty(), "nothing came twice");
    assert_eq!(done.rounds, without(&job(Failures::default()), &rows, &[]).unwrap().rounds);
}
