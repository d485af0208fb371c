//! Parties that pay each from a budget of its own, with real files: who pays, who stays away, and what
//! a crash leaves.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use reticent::accountant::{Adjacency, Ledger, Unit, View};
use reticent::internal::admm::catalogue::{self, AlgorithmKind};
use reticent::internal::runtime::CATALOGUE;
use reticent::internal::{PaidByParties, Payable};
use reticent::simulate::{CheckpointOptions, Parties, Simulated, Simulation, SimulationJob};
use reticent::tables::{Schema, Target};
use reticent::{Budget, ColumnMeans, Error, Problem, Run, Settings, Stage, Statistics, penalties};
use reticent_budget::{BudgetError, JobStatus, PaidTable, Promise, Relation, Request, Store};
use reticent_payment::{Bill, Paid, PartyReceipt, PaymentError, pay_each};

const ASKED: (f64, f64) = (0.5, 1e-6);

fn schema() -> Schema {
    let target = Target::classes(["0", "1"]).unwrap();
    Schema::bounded(&[(0.0, 10.0)], target).unwrap().named(["age"]).unwrap()
}

fn table(rows: u32, first: u32) -> String {
    let row = |i: u32| format!("{},{}\n", (first + 7 * i) % 10, i % 2);
    let rows: String = (0..rows).map(row).collect();
    format!("age,target\n{rows}")
}

/// Every protocol of nodes between parties who keep books of their own, in every view that it has, and
/// every algorithm of one table where they add noise to its sums themselves.
fn every_protocol() -> impl Iterator<Item = (&'static str, View)> {
    let private = CATALOGUE.iter().filter(|entry| entry.private);
    let nodes = private.flat_map(|entry| entry.views.iter().map(|&view| (entry.name, view)));
    let noisy = |entry: &catalogue::AlgorithmEntry| NOISY.map(|view| (entry.name, view));
    let tables = catalogue::CATALOGUE.iter();
    let tables = tables.filter(|entry| matches!(entry.kind, AlgorithmKind::Private(_)));
    nodes.chain(tables.flat_map(noisy))
}

/// Where parties add noise themselves.
const NOISY: [View; 2] = [View::Local, View::SecureAggregation];

/// A run between so many parties of one file.
struct Hospitals {
    folder: tempfile::TempDir,
    view: View,
}

impl Hospitals {
    /// So many, whose budgets have these ε.
    fn new(view: View, epsilons: &[f64]) -> Self {
        let it = Hospitals { folder: tempfile::tempdir().unwrap(), view };
        std::fs::write(it.data(), table(120, 3)).unwrap();
        epsilons.iter().enumerate().for_each(|(party, epsilon)| it.make(party, *epsilon));
        it
    }

    fn make(&self, party: usize, epsilon: f64) {
        let promise = Promise::new("hospital", epsilon, 1e-5).unwrap();
        Store::create(&self.file(party), Promise { view: self.view, ..promise }).unwrap();
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("t.csv")
    }

    fn file(&self, party: usize) -> PathBuf {
        self.folder.path().join(format!("{party}.budget"))
    }

    fn files(&self, parties: usize) -> Vec<PathBuf> {
        (0..parties).map(|party| self.file(party)).collect()
    }

    /// The jobs of a party's budget, and whether something is counted.
    fn jobs(&self, party: usize) -> (Vec<JobStatus>, bool) {
        let summary = Store::open(&self.file(party)).unwrap().check().unwrap();
        let counted = summary.groups.iter().any(|group| group.counted > 0.0);
        (summary.jobs.iter().map(|job| job.status).collect(), counted)
    }

    /// What a party's budget counts for its own people.
    fn counted(&self, party: usize) -> f64 {
        let summary = Store::open(&self.file(party)).unwrap().check().unwrap();
        summary.groups[0].counted
    }

    /// What one that has paid for these alone would.
    fn counted_for(&self, done: &[&Ledger]) -> f64 {
        let folder = tempfile::tempdir().unwrap();
        let promise = Promise::new("alone", 2.0, 1e-5).unwrap();
        let file = folder.path().join("alone.budget");
        Store::create(&file, Promise { view: self.view, ..promise }).unwrap();
        let (mut store, table) = (Store::open(&file).unwrap(), PaidTable::of_anybody());
        for &plan in done {
            let asked = Request { label: "alone", asked: ASKED, plan, table: &table, user: None };
            let reserved = store.reserve(&asked).unwrap();
            store.settle(&reserved, &Ledger::new()).unwrap();
        }
        store.summary().unwrap().groups[0].counted
    }

    /// A party's budget has people of another table too, and room for these.
    fn with_other_people(&self, party: usize) {
        let mut store = Store::open(&self.file(party)).unwrap();
        let promise = Promise::new("others", 1.0, 1e-5).unwrap();
        let plan = Promise { view: self.view, ..promise }.gaussian(0.01, 1e-6).unwrap();
        let table = PaidTable::file([9; 32], Relation::DisjointPeople);
        let (plan, label, asked) = (&plan, "other people", (0.01, 1e-6));
        let asked = Request { label, asked, plan, table: &table, user: None };
        let reserved = store.reserve(&asked).unwrap();
        store.settle(&reserved, &Ledger::new()).unwrap();
    }

    /// Does the run of a job, from these budgets.
    fn pay<R: PaidByParties>(
        &self,
        files: &[PathBuf],
        open: impl FnMut(&BTreeSet<u32>, &mut Run<'_>) -> Result<R, Error>,
    ) -> Result<PartyReceipt<R::Done>, PaymentError> {
        let (data, relation) = ([self.data()], Relation::Same);
        let bill = Bill { label: "a run", asked: ASKED, user: None, relation };
        let stores = |_| Ok(files.iter().map(|file| Store::open(file).unwrap()).collect());
        pay_each(stores, &bill, Paid::Files(&data), open, Run::default())
    }

    fn train(
        &self,
        files: &[PathBuf],
        job: &SimulationJob,
    ) -> Result<PartyReceipt<Simulated>, PaymentError> {
        let data = self.data();
        self.pay(files, |absent, run| {
            job.open_without(&*data, CheckpointOptions::default(), absent, run)
        })
    }

    fn mean(&self, files: &[PathBuf]) -> Result<PartyReceipt<ColumnMeans>, PaymentError> {
        let budget = Budget::new(ASKED.0, ASKED.1).unwrap();
        let job = Statistics::new(schema()).budget(budget).mean(["age"]).unwrap();
        let split = Some(files.len() as u32);
        let parties = Parties::default().with(|it| {
            it.split = split;
            it.trust = Some(View::Central);
        });
        let (between, data) = (job.between(&parties).unwrap(), self.data());
        self.pay(files, |_, run| between.open(&*data, run))
    }
}

fn simulation(algorithm: &str, trust: View, parties: u32) -> Simulation {
    let problem = Problem::new(schema());
    let run = match catalogue::find(algorithm).filter(|entry| entry.needs_penalty) {
        Some(entry) => problem.penalty(penalties::parse(entry.penalty).unwrap()),
        None => problem,
    };
    Simulation::of(run)
        .algorithm(algorithm)
        .unwrap()
        .parties(parties)
        .trust(trust)
        .settings(settings(algorithm))
        .budget(Budget::new(ASKED.0, ASKED.1).unwrap())
}

/// A few iterations, where an algorithm takes them.
fn settings(algorithm: &str) -> Settings {
    let nodes = CATALOGUE.iter().find(|entry| entry.name == algorithm).map(|entry| entry.takes);
    let table = catalogue::find(algorithm).map(|entry| entry.takes);
    let takes = |name| nodes.or(table).unwrap().contains(&name);
    // Some draw where nobody says so, which is refused behind masks.
    let full = table.filter(|_| nodes.is_none() && takes("sampling"));
    Settings {
        iterations: takes("iterations").then_some(3),
        sampling: full.map(|_| "full".parse().unwrap()),
        ..Settings::default()
    }
}

fn job(algorithm: &str, trust: View, parties: u32) -> SimulationJob {
    simulation(algorithm, trust, parties).check().unwrap()
}

const SETTLED: (&[JobStatus], bool) = (&[JobStatus::Settled], true);
const NOTHING: (&[JobStatus], bool) = (&[], false);

fn assert_jobs(it: &Hospitals, party: usize, expected: (&[JobStatus], bool)) {
    let (jobs, counted) = it.jobs(party);
    assert_eq!((&jobs[..], counted), expected, "party {party}");
}

#[test]
fn every_party_reserves_and_settles_in_its_own_file() {
    let protocols = [
        ("federated", View::Local),
        ("federated", View::SecureAggregation),
        ("federated", View::Central),
        ("r-admm", View::Local),
        ("auto", View::Local),
        ("auto", View::SecureAggregation),
        ("auto", View::Central),
    ];
    for (algorithm, view) in protocols {
        let it = Hospitals::new(view, &[2.0; 3]);
        let paid = it.train(&it.files(3), &job(algorithm, view, 3));
        let paid = paid.unwrap_or_else(|why| panic!("{algorithm} {view}: {why}"));
        assert_eq!(paid.jobs.iter().flatten().count(), 3, "{algorithm} {view}");
        assert!(paid.absent.is_empty() && paid.open.is_empty());
        assert!(paid.done.model.certificate().certified);
        (0..3).for_each(|party| assert_jobs(&it, party, SETTLED));
        // Once more, the same shares are known again.
        let _ = it.train(&it.files(3), &job(algorithm, view, 3)).unwrap();
        assert_jobs(&it, 1, (&[JobStatus::Settled; 2], true));
    }
}

#[test]
fn a_question_is_paid_for_by_every_party() {
    let it = Hospitals::new(View::Central, &[1.0, 1.0, 0.2]);
    let refused = it.mean(&it.files(3)).unwrap_err();
    assert!(matches!(refused, PaymentError::Party { party: 2, .. }), "{refused}");
    assert!(refused.to_string().contains("entrusted sums"), "{refused}");
    (0..3).for_each(|party| assert_jobs(&it, party, NOTHING));
    let paid = it.mean(&it.files(2)).unwrap();
    assert_eq!(paid.done.certificate.parties.as_ref().unwrap().count, 2);
    (0..2).for_each(|party| assert_jobs(&it, party, SETTLED));
}

#[test]
fn a_run_goes_on_without_a_party_over_its_ceiling_where_the_protocol_allows() {
    let mut ran = Vec::new();
    for (algorithm, view) in every_protocol() {
        let run = simulation(algorithm, view, 8);
        let job = match run.check() {
            Ok(job) => job,
            // Others' steps hide a contribution there: persons alone, who have no numbers.
            Err(why) if view == View::Network => {
                assert!(why.to_string().contains("protect the user"), "{algorithm}: {why}");
                continue;
            }
            Err(why) => {
                let why = why.to_string();
                let more = why.contains("more than sums") || why.contains("not offered");
                assert!(more && catalogue::find(algorithm).is_some(), "{algorithm} {view}: {why}");
                continue;
            }
        };
        ran.push((algorithm, view));
        // More of them, so that sums behind masks have enough members left.
        let mut epsilons = vec![2.0; 8];
        epsilons[5] = 0.01;
        let it = Hospitals::new(view, &epsilons);
        let paid = it.train(&it.files(8), &job);
        let paid = paid.unwrap_or_else(|why| panic!("{algorithm} {view}: {why}"));
        let absent: Vec<usize> = paid.absent.iter().map(|absent| absent.party).collect();
        assert_eq!((absent, paid.jobs[5]), (vec![5], None), "{algorithm} {view}");
        assert_jobs(&it, 5, NOTHING);
        assert_jobs(&it, 0, SETTLED);
        let own = paid.done.parties.party(5).unwrap();
        assert_eq!((own.ledger.total_events(), own.epsilon), (0, 0.0), "{algorithm} {view}");
        let said = &paid.done.model.certificate().assumptions;
        let away = |line: &String| line.contains("took no part, and nothing of theirs");
        assert!(said.iter().any(away), "{algorithm} {view}");
        // Whoever pays pays for what was done, and for nothing that was planned before.
        let done = &paid.done.parties.party(0).unwrap().ledger;
        assert_eq!(it.counted(0), it.counted_for(&[done]), "{algorithm} {view}");
    }
    for algorithm in ["federated", "dp-admm", "dp-admm-exact", "r-admm", "walk"] {
        assert!(ran.iter().any(|(name, _)| *name == algorithm), "{algorithm}");
    }
    for algorithm in ["auto", "dp-sgd", "ssadmm", "mpadmm", "sadmm", "vradmm", "dp-cd"] {
        NOISY.iter().for_each(|&view| assert!(ran.contains(&(algorithm, view)), "{algorithm}"));
    }
}

/// Behind masks each sum needs enough members, and some of those who are left may be corrupt.
#[test]
fn a_run_behind_masks_of_which_too_few_are_left_ends_before_anybody_pays() {
    let masked = View::SecureAggregation;
    for (algorithm, away, word) in [
        ("auto", 6, "no honest noise is certain"),
        ("federated", 3, "fewer than 6 parties, and 5 take part"),
    ] {
        let mut epsilons = vec![2.0; 8];
        epsilons[..away].fill(0.01);
        let it = Hospitals::new(masked, &epsilons);
        let refused = it.train(&it.files(8), &job(algorithm, masked, 8)).unwrap_err();
        assert!(matches!(refused, PaymentError::Party { party: 0, .. }), "{refused}");
        assert!(refused.to_string().contains(word), "{refused}");
        (0..8).for_each(|party| assert_jobs(&it, party, NOTHING));
    }
}

/// Noise by hand counts for less where fewer of those who are left are honest for sure: who had room for
/// the run between all may have none for the one between these, and stays away too.
#[test]
fn what_others_pay_for_a_run_without_a_party_is_in_their_books_or_they_refuse_too() {
    let masked = View::SecureAggregation;
    let run = simulation("auto", masked, 8).noise(200.0).check().unwrap();
    let it = Hospitals::new(masked, &[2.0; 8]);
    let plan = |absent: &[u32]| {
        let (data, keep) = (it.data(), CheckpointOptions::default());
        let absent = absent.iter().copied().collect();
        let ready = run.open_without(&*data, keep, &absent, &mut Run::default()).unwrap();
        ready.party_plans().unwrap().swap_remove(0)
    };
    let (all, fewer) = (plan(&[]), plan(&[5, 6, 7]));
    assert!(it.counted_for(&[&all]) < it.counted_for(&[&fewer]));
    // Room for the one and not for the other.
    let between = |epsilon: &f64| {
        let promise = Promise::new("one", *epsilon, 1e-5).unwrap();
        let store = Store::in_memory(Promise { view: masked, ..promise }).unwrap();
        let fits = |plan| store.would_fit(plan, ASKED).is_ok();
        fits(&all) && !fits(&fewer)
    };
    let room = (1..200).map(|i| f64::from(i) * 0.005).find(between).unwrap();
    let mut epsilons = vec![2.0; 8];
    epsilons[5..].fill(0.01);
    epsilons[0] = room;
    let it = Hospitals::new(masked, &epsilons);
    let paid = it.train(&it.files(8), &run).unwrap();
    let absent: Vec<usize> = paid.absent.iter().map(|absent| absent.party).collect();
    assert_eq!(absent, [0, 5, 6, 7]);
    absent.into_iter().for_each(|party| assert_jobs(&it, party, NOTHING));
    let done = &paid.done.parties.party(1).unwrap().ledger;
    assert_eq!(it.counted(1), it.counted_for(&[done]));
    assert!(it.counted(1) > it.counted_for(&[&fewer]));
}

/// A budget that has room for other people, and none for the party's own, refuses when the others have
/// reserved: they are given that back, and reserve what the run between them costs.
#[test]
fn who_has_reserved_when_another_refuses_is_given_it_back_first() {
    for (algorithm, view) in [("auto", View::Local), ("federated", View::Local)] {
        let it = Hospitals::new(view, &[2.0, 2.0, 2.0, 0.6]);
        let (files, run) = (it.files(4), job(algorithm, view, 4));
        let first = it.train(&files, &run).unwrap().done;
        it.with_other_people(3);
        // A kill between the two rounds leaves nothing reserved.
        let data = it.data();
        let killed = catch_unwind(AssertUnwindSafe(|| {
            it.pay(&files, |absent, how| match absent.is_empty() {
                true => run.open_without(&*data, CheckpointOptions::default(), absent, how),
                false => panic!("killed"),
            })
            .map(drop)
        }));
        assert!(killed.is_err());
        let released = [JobStatus::Settled, JobStatus::Released];
        (0..3).for_each(|party| assert_jobs(&it, party, (&released, true)));
        let paid = it.train(&files, &run).unwrap();
        assert_eq!(paid.absent.iter().map(|absent| absent.party).collect::<Vec<_>>(), [3]);
        let twice = [&released[..], &[JobStatus::Released, JobStatus::Settled]].concat();
        (0..3).for_each(|party| assert_jobs(&it, party, (&twice, true)));
        assert_jobs(&it, 3, (&[JobStatus::Settled; 2], true));
        // Two runs are counted, and neither of those that did not begin.
        let own = |run: &Simulated| run.parties.party(0).unwrap().ledger.clone();
        assert_eq!(it.counted(0), it.counted_for(&[&own(&first), &own(&paid.done)]));
    }
}

/// A run that goes on with what it has planned before asks whoever does not pay for it.
#[test]
fn who_does_not_pay_is_not_asked() {
    let it = Hospitals::new(View::Local, &[2.0, 0.01, 2.0]);
    let refused = it.pay(&it.files(3), |_, _| Ok(Ends(None))).unwrap_err();
    assert!(refused.to_string().contains("would be asked"), "{refused}");
    (0..3).for_each(|party| assert_jobs(&it, party, NOTHING));
}

#[test]
fn a_party_over_its_ceiling_ends_a_run_on_entrusted_sums_before_anything_is_asked() {
    let it = Hospitals::new(View::Central, &[2.0, 0.01, 2.0]);
    let refused = it.train(&it.files(3), &job("auto", View::Central, 3)).unwrap_err();
    let PaymentError::Party { party: 1, why, needed: Some(_) } = &refused else {
        panic!("{refused}")
    };
    assert!(why.is_refusal());
    (0..3).for_each(|party| assert_jobs(&it, party, NOTHING));
    // Nor does anybody ask without it.
    let (job, data) = (job("auto", View::Central, 3), it.data());
    let (absent, keep) = (BTreeSet::from([1]), CheckpointOptions::default());
    assert!(job.open_without(&*data, keep, &absent, &mut Run::default()).is_err());
}

#[test]
fn where_nobody_can_pay_nobody_is_asked() {
    let it = Hospitals::new(View::Local, &[0.01; 3]);
    let refused = it.train(&it.files(3), &job("federated", View::Local, 3)).unwrap_err();
    assert!(refused.to_string().contains("nobody is left"), "{refused}");
    (0..3).for_each(|party| assert_jobs(&it, party, NOTHING));
}

#[test]
fn the_same_budget_for_two_parties_is_refused_and_so_is_a_copy() {
    let it = Hospitals::new(View::Local, &[2.0; 3]);
    let job = job("federated", View::Local, 3);
    let mut files = it.files(3);
    files[2] = it.file(0);
    let refused = it.train(&files, &job).unwrap_err();
    assert!(matches!(refused, PaymentError::OneBudget(0, 2)), "{refused}");
    files[2] = it.folder.path().join("copy.budget");
    std::fs::copy(it.file(1), &files[2]).unwrap();
    let refused = it.train(&files, &job).unwrap_err();
    assert!(matches!(refused, PaymentError::OneBudget(1, 2)), "{refused}");
    let refused = it.train(&it.files(2), &job).unwrap_err();
    assert!(refused.to_string().contains("3 parties, and 2 budgets"), "{refused}");
    (0..3).for_each(|party| assert_jobs(&it, party, NOTHING));
}

/// The budget of a party is that of its people: another share, another dealing and another file are
/// other people.
#[test]
fn a_budget_that_belongs_to_another_share_ends_the_run_and_the_others_are_given_back() {
    let it = Hospitals::new(View::Local, &[9.0; 4]);
    let dealt = job("federated", View::Local, 3);
    let _ = it.train(&it.files(3), &dealt).unwrap();
    let mut swapped = it.files(3);
    swapped.swap(1, 2);
    let otherwise = simulation("federated", View::Local, 3).public_seed(5).check().unwrap();
    let four = job("federated", View::Local, 4);
    let other_table = |refused: PaymentError, first: usize| {
        let PaymentError::Party { party, why: BudgetError::AnotherTable { .. }, .. } = refused
        else {
            panic!("{refused}")
        };
        assert_eq!(party, first);
    };
    other_table(it.train(&swapped, &dealt).unwrap_err(), 1);
    other_table(it.train(&it.files(3), &otherwise).unwrap_err(), 0);
    other_table(it.train(&it.files(4), &four).unwrap_err(), 0);
    std::fs::write(it.data(), table(120, 4)).unwrap();
    other_table(it.train(&it.files(3), &dealt).unwrap_err(), 0);
    // The first had reserved when the second refused.
    assert_jobs(&it, 0, (&[JobStatus::Settled, JobStatus::Released], true));
    assert_jobs(&it, 1, SETTLED);
    assert_jobs(&it, 3, NOTHING);
}

/// Where the number of records is private they are dealt by what they say, and what they say depends on how
/// they are read. The same budgets were other people's under another schema: who stayed away from one run
/// was in the share of a party that paid for the next, and nobody's budget had both.
#[test]
fn a_share_by_content_is_of_one_schema() {
    let it = Hospitals::new(View::Local, &[9.0; 3]);
    let under = |upper| {
        let target = Target::classes(["0", "1"]).unwrap();
        let schema = Schema::bounded(&[(0.0, upper)], target).unwrap().named(["age"]).unwrap();
        let all = Simulation::of(Problem::new(schema)).algorithm("auto").unwrap().parties(3);
        let asked = all.trust(View::Local).budget(Budget::new(ASKED.0, ASKED.1).unwrap());
        let asked = asked.settings(settings("auto")).adjacency(Adjacency::AddRemove);
        asked.public_n(120).check().unwrap()
    };
    let (first, other) = (under(10.0), under(20.0));
    for _ in 0..2 {
        let _ = it.train(&it.files(3), &first).unwrap();
    }
    let refused = it.train(&it.files(3), &other).unwrap_err();
    let PaymentError::Party { party: 0, why: BudgetError::AnotherTable { .. }, .. } = refused
    else {
        panic!("{refused}")
    };
    // A question reads other columns than a fit.
    let budget = Budget::new(ASKED.0, ASKED.1).unwrap();
    let asked = Statistics::new(schema()).budget(budget).adjacency(Adjacency::AddRemove);
    let job = asked.mean(["age"]).unwrap();
    let parties = Parties::default().with(|it| {
        it.split = Some(3);
        it.trust = Some(View::Local);
    });
    let (between, data) = (job.between(&parties).unwrap(), it.data());
    let refused = it.pay(&it.files(3), |_, run| between.open(&*data, run)).unwrap_err();
    assert!(
        matches!(
            &refused,
            PaymentError::Party { party: 0, why: BudgetError::AnotherTable { .. }, .. }
        ),
        "{refused}"
    );
    (0..3).for_each(|party| assert_jobs(&it, party, (&[JobStatus::Settled; 2], true)));
}

/// A job that ends as it is told.
struct Ends(Option<Error>);

impl Payable for Ends {
    type Done = Ledger;

    fn plans(&self) -> Result<Vec<Ledger>, Error> {
        self.party_plans()
    }

    fn run(self, _: Run<'_>) -> Result<Ledger, Error> {
        match self.0 {
            Some(error) => Err(error),
            None => panic!("killed"),
        }
    }

    fn ledgers(done: &Ledger) -> Vec<&Ledger> {
        vec![done]
    }
}

impl PaidByParties for Ends {
    fn party_plans(&self) -> Result<Vec<Ledger>, Error> {
        let promise = Promise::new("hospital", 1.0, 1e-5).unwrap();
        let plan = Promise { view: View::Local, ..promise }.gaussian(ASKED.0, ASKED.1).unwrap();
        Ok(vec![plan; 3])
    }

    fn dealing(&self) -> String {
        "three".to_owned()
    }

    fn needs_all(&self) -> Option<&'static str> {
        None
    }

    fn party_ledger(done: &Ledger, _: usize) -> Option<&Ledger> {
        Some(done)
    }
}

#[test]
fn what_ends_on_its_way_is_settled_left_open_or_given_back_by_all() {
    let spent =
        |why: Error| Error::Spent { why: Box::new(why), epsilon: 0.1, delta: 1e-6, books: None };
    let open = |why: Error| Error::Unfinished { why: Box::new(why), epsilon: 0.1, delta: 1e-6 };
    let missing = || Error::Missing { what: "a model", todo: "give one" };
    for (end, status) in [
        (Some(spent(missing())), JobStatus::Settled),
        (Some(open(missing())), JobStatus::Open),
        (Some(missing()), JobStatus::Released),
        // Whatever kills the process between reservation and settlement.
        (None, JobStatus::Open),
    ] {
        let it = Hospitals::new(View::Local, &[2.0; 3]);
        let mut end = Some(Ends(end));
        let ended = catch_unwind(AssertUnwindSafe(|| {
            it.pay(&it.files(3), |_, _| Ok(end.take().unwrap())).map(drop)
        }));
        assert!(ended.is_err() || matches!(ended, Ok(Err(PaymentError::Job(_)))));
        for party in 0..3 {
            assert_jobs(&it, party, (&[status], status != JobStatus::Released));
        }
    }
}

#[test]
fn what_is_no_guarantee_or_names_nobody_is_reserved_by_nobody() {
    let it = Hospitals::new(View::Local, &[2.0; 3]);
    let refused = |job: &SimulationJob| it.train(&it.files(3), job).unwrap_err().to_string();
    let seeded = simulation("federated", View::Local, 3).seed(7).check().unwrap();
    assert!(refused(&seeded).contains("no budget holds this job"));
    let by_labels = simulation("federated", View::Local, 3).skew("label:0.5".parse().unwrap());
    assert!(refused(&by_labels.check().unwrap()).contains("no budget holds this job"));
    // A file that is given twice has every record twice.
    let (twice, relation) = ([it.data(), it.data()], Relation::Same);
    let bill = Bill { label: "a run", asked: ASKED, user: None, relation };
    let stores = |_| Ok(it.files(3).iter().map(|file| Store::open(file).unwrap()).collect());
    let (job, keep) = (job("federated", View::Local, 3), CheckpointOptions::default());
    let open = |absent: &BTreeSet<u32>, run: &mut Run<'_>| {
        let files: reticent::Source<'_> = reticent::Files::all(twice.to_vec()).into();
        job.open_without(files, keep, absent, run)
    };
    let twice = pay_each(stores, &bill, Paid::Files(&twice), open, Run::default()).unwrap_err();
    assert!(matches!(twice, PaymentError::Twice), "{twice}");
    (0..3).for_each(|party| assert_jobs(&it, party, NOTHING));
}

#[test]
fn persons_have_no_numbers_to_pay_by() {
    let it = Hospitals::new(View::Local, &[2.0; 2]);
    std::fs::write(it.data(), "who,age,target\na,1,0\na,2,1\nb,3,0\nb,4,1\n").unwrap();
    let text = "row_norm = 1\n[[column]]\nname = 'who'\nkind = 'user'\n[[column]]\nname = 'age'\nkind = \
                'numeric'\nlower = 0\nupper = 10\n[[column]]\nname = 'target'\nkind = 'target'\n\
                classes = ['0', '1']\n";
    let file = it.folder.path().join("schema.toml");
    std::fs::write(&file, text).unwrap();
    let schema = Schema::read(&file).unwrap();
    let job = |unit| {
        let run = Simulation::new(schema.clone()).unit(unit).trust(View::Local);
        let run = run.settings(Settings { iterations: Some(2), ..Settings::default() });
        run.budget(Budget::new(ASKED.0, ASKED.1).unwrap()).check().unwrap()
    };
    let refused = it.train(&it.files(2), &job(Unit::User)).unwrap_err();
    assert!(refused.to_string().contains("drawn and told to nobody"), "{refused}");
    (0..2).for_each(|party| assert_jobs(&it, party, NOTHING));
    // Hospitals have: each is asked about its own table.
    let paid = it.train(&it.files(2), &job(Unit::Record)).unwrap();
    assert_eq!(paid.jobs.len(), 2);
}

#[test]
fn a_run_that_parties_pay_for_is_opened_by_who_asks_them_alone() {
    let it = Hospitals::new(View::Local, &[2.0; 3]);
    let file = it.folder.path().join("job.toml");
    let text = "features = 1\nrow_norm = 10.0\nepsilon = 0.5\ndelta = 1e-6\niterations = 2\n[parties]\nsplit = 3\n\
                budget = '{}.budget'\n";
    std::fs::write(&file, text).unwrap();
    let spec = reticent::JobFile::<reticent::simulate::SimulationSpec>::read(&file).unwrap().job;
    let files = spec.parties.budget.clone().unwrap().of(3).unwrap();
    assert_eq!(files, it.files(3));
    let (job, data) = (spec.check().unwrap(), it.data());
    let refused = job.run(&*data, CheckpointOptions::default(), Run::default()).unwrap_err();
    assert!(refused.to_string().contains("budget of its own"), "{refused}");
    let keep = CheckpointOptions::new(Some(&file), false);
    let opened = job.open_without(&*data, keep, &BTreeSet::new(), &mut Run::default());
    assert!(opened.unwrap_err().to_string().contains("checkpoint"));
}

/// Who is told of stages may stop a run before it asks.
#[test]
fn a_run_that_is_stopped_before_it_asks_is_given_back_by_all() {
    let it = Hospitals::new(View::Local, &[2.0; 3]);
    let (job, data) = (job("federated", View::Local, 3), [it.data()]);
    let bill = Bill { label: "a run", asked: ASKED, user: None, relation: Relation::Same };
    let stores = |_| Ok(it.files(3).iter().map(|file| Store::open(file).unwrap()).collect());
    let open = |absent: &BTreeSet<u32>, run: &mut Run<'_>| {
        job.open_without(&*data[0], CheckpointOptions::default(), absent, run)
    };
    let mut stop = |stage| match stage {
        Stage::Running => std::ops::ControlFlow::Break(()),
        _ => std::ops::ControlFlow::Continue(()),
    };
    let run = Run::watched(&mut stop);
    assert!(pay_each(stores, &bill, Paid::Files(&data), open, run).is_err());
    (0..3).for_each(|party| assert_jobs(&it, party, (&[JobStatus::Released], false)));
}
