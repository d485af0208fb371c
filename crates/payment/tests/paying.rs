//! What is paid for, by whom, and what is refused, with real files.

use std::io::Write;
use std::path::{Path, PathBuf};

use reticent::accountant::{Adjacency, Event, Gaussian, Ledger, Unit, View};
use reticent::internal::Payable;
use reticent::simulate::{CheckpointOptions, Simulation};
use reticent::tables::{Dataset, Schema, Target};
use reticent::{Budget, Error, Run};
use reticent_budget::{BudgetError, JobStatus, PaidTable, Promise, Relation, Request, Store};
use reticent_payment::{
    AtRest, Bill, Paid, PaymentError, Receipt, close_over, give_back_unbegun, pay, resume,
};

/// A job that asks what it plans, or ends as it is told.
struct Ask {
    plan: Ledger,
    end: Option<Error>,
}

impl Payable for Ask {
    type Done = Ledger;

    fn plans(&self) -> Result<Vec<Ledger>, Error> {
        Ok(vec![self.plan.clone()])
    }

    fn run(self, _: Run<'_>) -> Result<Ledger, Error> {
        self.end.map_or(Ok(self.plan), Err)
    }

    fn ledgers(done: &Ledger) -> Vec<&Ledger> {
        vec![done]
    }
}

fn plan(unit: Unit) -> Ledger {
    let mut plan = Ledger::new();
    let noise = Gaussian::new(20.0).unwrap();
    plan.append(Event::new(noise, Adjacency::ReplaceOne, unit, View::Central).unwrap());
    plan
}

fn ask() -> Ask {
    Ask { plan: plan(Unit::Record), end: None }
}

struct Clinic {
    folder: tempfile::TempDir,
    store: Store,
}

impl Clinic {
    fn new() -> Self {
        let promise = Promise::new("clinic", 2.0, 1e-6).unwrap();
        let store = Store::in_memory(promise).unwrap();
        Self { folder: tempfile::tempdir().unwrap(), store }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn pay(
        &mut self,
        table: Paid<'_>,
        relation: Relation,
        job: Ask,
    ) -> Result<Receipt<Ledger>, PaymentError> {
        let bill = Bill { label: "a job", asked: (0.1, 1e-6), user: Some("patient"), relation };
        pay(&mut self.store, &bill, table, |_| Ok(job), Run::default())
    }

    /// The groups that a job on these files counts for.
    fn groups(&mut self, files: &[&PathBuf], relation: Relation) -> Option<Vec<u64>> {
        let files: Vec<PathBuf> = files.iter().map(|&file| file.clone()).collect();
        let _ = self.pay(Paid::Files(&files), relation, ask()).unwrap();
        self.store.check().unwrap().jobs.last().unwrap().people.clone()
    }

    fn refused(&mut self, files: &[&PathBuf], relation: Relation) -> PaymentError {
        let files: Vec<PathBuf> = files.iter().map(|&file| file.clone()).collect();
        self.pay(Paid::Files(&files), relation, ask()).unwrap_err()
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// The store of a budget that format 4 made, in which a.csv is of the first group, and the list of
/// b.csv and c.csv of the second.
fn made_earlier(folder: &Path) -> Store {
    let path = folder.join("old.budget");
    std::fs::copy(golden("tables.budget"), &path).unwrap();
    Store::open(&path).unwrap()
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../budget/tests/golden").join(name)
}

/// A CSV of so many rows, and a fit on such tables.
fn csv(rows: u32, first: u32) -> String {
    let row = |i: u32| format!("{},{}\n", (first + 7 * i) % 10, i % 2);
    "1,target\n".chars().chain((0..rows).flat_map(|i| row(i).chars().collect::<Vec<_>>())).collect()
}

fn fit() -> reticent::Job {
    let schema = Schema::bounded(&[(0.0, 10.0)], Target::classes(["0", "1"]).unwrap()).unwrap();
    reticent::Fit::new(schema).budget(Budget::new(0.1, 1e-6).unwrap()).check().unwrap()
}

/// A file was read for the fit and again for the budget: whoever changed it in between, and set its
/// time back, had another table paid for than was fitted.
#[test]
fn what_is_paid_for_is_what_was_read() {
    let mut clinic = Clinic::new();
    let (text, other) = (csv(400, 3), csv(400, 4));
    assert_eq!(text.len(), other.len());
    let (file, job) = (clinic.write("t.csv", text.as_bytes()), fit());
    let files = [file.clone()];
    let bill = Bill { label: "a fit", asked: (0.1, 1e-6), user: None, relation: Relation::Same };
    let changed = |run: &mut Run<'_>| {
        let ready = job.open(&*file, run)?;
        let time = std::fs::metadata(&file).and_then(|it| it.modified()).unwrap();
        std::fs::write(&file, &other).unwrap();
        std::fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        Ok(ready)
    };
    pay(&mut clinic.store, &bill, Paid::Files(&files), changed, Run::default()).unwrap();
    let again = |store: &mut Store| {
        pay(store, &bill, Paid::Files(&files), |run| job.open(&*file, run), Run::default())
    };
    let refused = again(&mut clinic.store).unwrap_err();
    assert!(matches!(refused, PaymentError::Budget(BudgetError::AnotherTable { .. })), "{refused}");
    std::fs::write(&file, &text).unwrap();
    again(&mut clinic.store).unwrap();
}

/// What a job says of the files that it read, and what reading them again says: plain and packed,
/// shorter and longer than a piece, one and several.
#[test]
fn a_table_that_is_read_once_is_known_as_one_that_is_read_twice() {
    let job = fit();
    let long = csv(40_000, 1);
    assert!(long.len() > 2 << 16);
    for bytes in [csv(50, 1).into_bytes(), long.clone().into_bytes(), gzip(long.as_bytes())] {
        let mut clinic = Clinic::new();
        let name = if bytes.starts_with(b"1") { "a.csv" } else { "a.csv.gz" };
        let files = [clinic.write(name, &bytes), clinic.write("b.csv", csv(60, 2).as_bytes())];
        let bill =
            Bill { label: "a fit", asked: (0.1, 1e-6), user: None, relation: Relation::Same };
        let data = reticent::Files::all(files.to_vec());
        let open = |run: &mut Run<'_>| job.open(&data, run);
        pay(&mut clinic.store, &bill, Paid::Files(&files), open, Run::default()).unwrap();
        // This job reads nothing, so that the files are read for the budget.
        let twice =
            pay(&mut clinic.store, &bill, Paid::Files(&files), |_| Ok(ask()), Run::default());
        assert!(twice.is_ok(), "{name}: {:?}", twice.err());
    }
}

/// Format 4 knew a file by its bytes: a packed copy of it had a group of its own.
#[test]
fn a_packed_copy_of_a_file_of_an_earlier_budget_is_no_table_of_other_people() {
    let mut clinic = Clinic::new();
    clinic.store = made_earlier(clinic.folder.path());
    let packed = |name: &str| {
        let bytes = std::fs::read(golden(name)).unwrap();
        clinic.write(&format!("{name}.gz"), &gzip(&bytes))
    };
    let (a, b, c) = (packed("a.csv"), packed("b.csv"), golden("c.csv"));
    let apart = Relation::DisjointPeople;
    assert_eq!(clinic.groups(&[&a], apart), Some(vec![1]));
    assert_eq!(clinic.groups(&[&b, &c], apart), Some(vec![2]));
    assert_eq!(clinic.groups(&[&a, &c], apart), Some(vec![1, 2]));
}

/// A record whose own column says which party has it: everybody who opened such a run could pay for
/// the dearest of its plans.
#[test]
fn a_run_whose_records_name_their_parties_is_paid_for_by_no_budget() {
    let target = Target::classes(["no", "yes"]).unwrap();
    let schema = || Schema::bounded(&[(-1.0, 1.0)], target.clone()).unwrap();
    let (x, y) = ([0.1, 0.2, 0.3, 0.4], [0_u32, 1, 0, 1]);
    let rows = Dataset::dense(&x, 4, 1).unwrap().with_targets(&y).unwrap();
    let rows = rows.with_owners(&[7_u64, 7, 8, 8]).unwrap();
    let paid = |unit: Unit| {
        let run = Simulation::new(schema()).party_per_owner().unit(unit).trust(View::Central);
        let run = run.algorithm("federated").unwrap();
        let job = run.budget(Budget::new(0.1, 1e-6).unwrap()).check().unwrap();
        let promise = Promise::new("clinic", 2.0, 1e-6).unwrap();
        let mut store = Store::in_memory(Promise { unit, ..promise }).unwrap();
        let relation = Relation::Same;
        let bill = Bill { label: "a run", asked: (0.1, 1e-6), user: Some("clinic"), relation };
        let keep = CheckpointOptions::default();
        let open = |run: &mut Run<'_>| job.open(&rows, keep, run);
        let table = Paid::Memory { rows: &rows, people: None };
        let done = pay(&mut store, &bill, table, open, Run::default());
        (done.map(|_| ()), store.summary().unwrap().jobs.len())
    };
    let (refused, jobs) = paid(Unit::Record);
    let error = refused.unwrap_err();
    assert!(matches!(error, PaymentError::NoGuarantee(_)) && jobs == 0, "{error}");
    assert!(error.to_string().contains("two parties change"), "{error}");
    assert!(matches!(paid(Unit::User), (Ok(()), 1)));
}

const A: &[u8] = b"x,y\n1,0\n2,1\n";
const B: &[u8] = b"x,y\n3,0\n4,1\n";

#[test]
fn a_packed_copy_of_a_bound_file_is_no_table_of_other_people() {
    let mut clinic = Clinic::new();
    let (a, b) = (clinic.write("a.csv", A), clinic.write("b.csv", B));
    let packed = clinic.write("other.csv.gz", &gzip(A));
    let named = clinic.write("named.csv", A);
    let apart = Relation::DisjointPeople;
    assert_eq!(clinic.groups(&[&a], Relation::Same), Some(vec![1]));
    assert_eq!(clinic.groups(&[&packed], apart), Some(vec![1]));
    assert_eq!(clinic.groups(&[&named], apart), Some(vec![1]));
    for known in [&a, &packed, &named] {
        let error = clinic.refused(&[&b, known], apart);
        let not = matches!(error, PaymentError::Budget(BudgetError::NotDisjoint { .. }));
        assert!(not, "{error}");
    }
    assert_eq!(clinic.groups(&[&b], apart), Some(vec![2]));
    // Both groups pay for what is asked of both, in any order.
    assert_eq!(clinic.groups(&[&packed, &b], apart), Some(vec![1, 2]));
    assert_eq!(clinic.groups(&[&b, &a], Relation::Same), Some(vec![1, 2]));
}

#[test]
fn the_same_content_twice_is_refused_where_records_are_protected() {
    let mut clinic = Clinic::new();
    let (a, b) = (clinic.write("a.csv", A), clinic.write("b.csv", B));
    let packed = clinic.write("a.csv.gz", &gzip(A));
    for list in [[&a, &a], [&a, &packed]] {
        let error = clinic.refused(&list, Relation::Same);
        assert!(matches!(error, PaymentError::Twice), "{error}");
    }
    assert!(clinic.store.summary().unwrap().jobs.is_empty());
    assert_eq!(clinic.groups(&[&a, &b], Relation::Same), Some(vec![1]));
    // A user's rows are protected together, however many they are.
    let mut clinic = Clinic::new();
    let promise = Promise { unit: Unit::User, ..Promise::new("clinic", 2.0, 1e-6).unwrap() };
    clinic.store = Store::in_memory(promise).unwrap();
    let job = Ask { plan: plan(Unit::User), end: None };
    let _ = clinic.pay(Paid::Files(&[a.clone(), a]), Relation::Same, job).unwrap();
}

/// A job on A in memory, B.csv of other people, and B in memory, which was charged to A's people.
#[test]
fn a_table_in_memory_is_charged_to_everybody_or_to_its_own_people() {
    let mut clinic = Clinic::new();
    let b = clinic.write("b.csv", B);
    let rows = |values: &[f64]| Dataset::dense(values.to_vec(), values.len(), 1).unwrap();
    let (in_memory, other) = (rows(&[3.0, 4.0]), rows(&[1.0, 2.0]));
    let people =
        |clinic: &Clinic| clinic.store.check().unwrap().jobs.last().unwrap().people.clone();
    let memory = |rows, people| Paid::Memory { rows, people };
    let _ = clinic.pay(memory(&other, None), Relation::Same, ask()).unwrap();
    assert_eq!(people(&clinic), None);
    assert_eq!(clinic.groups(&[&b], Relation::DisjointPeople), Some(vec![1]));
    let before = clinic.store.summary().unwrap().groups[0].counted;
    let _ = clinic.pay(memory(&in_memory, None), Relation::Same, ask()).unwrap();
    assert_eq!(people(&clinic), None);
    assert!(clinic.store.summary().unwrap().groups[0].counted > before);
    // Said to be of other people, it has a group, and so have its folds and its other targets.
    let north = Some("north");
    let fitted = rows(&[1.0, 2.0]).with_targets(&[0.0, 1.0]).unwrap();
    let (fold, shuffled) = (rows(&[2.0]), rows(&[2.0, 1.0]));
    for table in [&other, &fold, &fitted] {
        let _ = clinic.pay(memory(table, north), Relation::Same, ask()).unwrap();
        assert_eq!(people(&clinic), Some(vec![2]));
    }
    // The same rows under another name, in any order, may be the same people.
    for table in [&shuffled, &fitted, &fold] {
        let _ = clinic.pay(memory(table, Some("south")), Relation::Same, ask()).unwrap();
        assert_eq!(people(&clinic), None);
    }
    let _ = clinic.pay(memory(&in_memory, Some("south")), Relation::Same, ask()).unwrap();
    assert_eq!(people(&clinic), Some(vec![3]));
    // North's rows, said to be south's.
    let _ = clinic.pay(memory(&other, Some("south")), Relation::Same, ask()).unwrap();
    assert_eq!(people(&clinic), None);
}

#[test]
fn what_ends_on_its_way_is_settled_left_open_or_given_back() {
    let spent =
        |why: Error| Error::Spent { why: Box::new(why), epsilon: 0.1, delta: 1e-6, books: None };
    let open = |why: Error| Error::Unfinished { why: Box::new(why), epsilon: 0.1, delta: 1e-6 };
    let missing = || Error::Missing { what: "a model", todo: "give one" };
    for (end, status) in [
        (spent(missing()), JobStatus::Settled),
        (open(missing()), JobStatus::Open),
        (missing(), JobStatus::Released),
    ] {
        let mut clinic = Clinic::new();
        let rows = Dataset::dense(vec![1.0], 1, 1).unwrap();
        let job = Ask { plan: plan(Unit::Record), end: Some(end) };
        let table = Paid::Memory { rows: &rows, people: None };
        let ended = clinic.pay(table, Relation::Same, job);
        assert!(matches!(ended, Err(PaymentError::Job(_))));
        let summary = clinic.store.check().unwrap();
        assert_eq!(summary.jobs[0].status, status);
        assert_eq!(summary.groups[0].counted > 0.0, status != JobStatus::Released);
    }
}

/// A budget in a file, and what reserves a job of this label in it: its number and its hash.
fn reserving(file: &Path) -> impl Fn(&str) -> (u64, String) {
    Store::create(file, Promise::new("clinic", 2.0, 1e-6).unwrap()).unwrap();
    let file = file.to_owned();
    move |label| {
        let (plan, table) = (plan(Unit::Record), PaidTable::of_anybody());
        let request = Request { label, asked: (0.1, 1e-6), plan: &plan, table: &table, user: None };
        let own = Store::open(&file).unwrap().reserve(&request).unwrap();
        (own.job(), own.hash())
    }
}

#[test]
fn what_goes_on_is_closed_by_the_same_rules() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clinic.budget");
    let reserve = reserving(&file);
    let status = |job: u64| Store::open(&file).unwrap().check().unwrap().jobs[job as usize].status;
    let missing = || Error::Missing { what: "a model", todo: "give one" };
    let (epsilon, delta) = (0.1, 1e-6);
    let spent = Error::Spent { why: Box::new(missing()), epsilon, delta, books: None };
    let open = Error::Unfinished { why: Box::new(missing()), epsilon, delta };
    let ends = [
        (None, JobStatus::Settled),
        (Some(spent), JobStatus::Settled),
        (Some(open), JobStatus::Open),
        (Some(missing()), JobStatus::Released),
    ];
    for (place, (end, expected)) in (0..).zip(ends) {
        let (job, hash) = reserve("a run");
        let is_done = end.is_none();
        let done = resume::<Ask>(&file, job, &hash, || end.map_or(Ok(plan(Unit::Record)), Err));
        match done {
            Ok(receipt) => assert!(is_done && receipt.open.is_none() && receipt.job == job),
            Err(error) => assert!(!is_done && matches!(error, PaymentError::Job(_)), "{error}"),
        }
        assert_eq!(status(place), expected);
    }
    // A job that is over is closed once, and one of another budget never.
    let (job, hash) = reserve("another run");
    let mut store = Store::open(&file).unwrap();
    let foreign = close_over(&mut store, job, &"0".repeat(64), &Ledger::new(), None);
    assert!(matches!(foreign, Err(BudgetError::ReservedElsewhere(_))), "{foreign:?}");
    assert_eq!(status(4), JobStatus::Open);
    for _ in 0..2 {
        close_over(&mut store, job, &hash, &Ledger::new(), None).unwrap();
        assert_eq!(status(4), JobStatus::Settled);
    }
    // Nothing of it is open any more: who ended on its way without asking gives nothing back.
    let late = resume::<Ask>(&file, job, &hash, || Err(missing()));
    assert!(matches!(late, Err(PaymentError::Budget(BudgetError::NotOpen(_)))), "{late:?}");
    assert_eq!(status(4), JobStatus::Settled);
}

#[test]
fn what_was_reserved_and_not_begun_is_given_back_and_what_was_begun_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("clinic.budget");
    let reserve = reserving(&file);
    let (other, _) = reserve("run b");
    let (killed, _) = reserve("run a: of a study");
    assert_eq!(give_back_unbegun(&file, "run a").unwrap(), None);
    let statuses = || {
        let jobs = Store::open(&file).unwrap().check().unwrap().jobs;
        jobs.iter().map(|job| (job.number, job.status)).collect::<Vec<_>>()
    };
    let before = [(other, JobStatus::Open), (killed, JobStatus::Released)];
    assert_eq!(statuses(), before);
    let (begun, hash) = reserve("run a: of a study");
    let mut store = Store::open(&file).unwrap();
    let own = store.reservation(begun, &hash).unwrap();
    assert!(store.begin_part(&own, 0).unwrap());
    assert_eq!(give_back_unbegun(&file, "run a").unwrap(), Some(begun));
    assert_eq!(statuses(), [&before[..], &[(begun, JobStatus::Open)]].concat());
}

#[test]
fn a_table_that_is_written_while_it_is_read_reserves_nothing() {
    let mut clinic = Clinic::new();
    let a = clinic.write("a.csv", A);
    let files = [a.clone()];
    let bill = Bill { label: "a job", asked: (0.1, 1e-6), user: None, relation: Relation::Same };
    let open = |_: &mut Run<'_>| {
        std::fs::write(&a, [A, B].concat()).unwrap();
        Ok(ask())
    };
    let error =
        pay(&mut clinic.store, &bill, Paid::Files(&files), open, Run::default()).unwrap_err();
    assert!(matches!(error, PaymentError::Changed), "{error}");
    assert!(clinic.store.summary().unwrap().jobs.is_empty());
    // The same check is there for a job that goes on.
    let rest = AtRest::new(&files).unwrap();
    rest.check().unwrap();
    std::fs::write(&a, A).unwrap();
    assert!(matches!(rest.check(), Err(PaymentError::Changed)));
}

#[test]
fn standard_input_and_folders_are_no_tables_of_a_budget() {
    let mut clinic = Clinic::new();
    let folder = clinic.folder.path().to_owned();
    let error = clinic.refused(&[&PathBuf::from("-")], Relation::Same);
    assert!(matches!(error, PaymentError::StandardInput), "{error}");
    for path in [folder.as_path(), Path::new("none.csv")] {
        let error = clinic.refused(&[&path.to_owned()], Relation::Same);
        assert!(matches!(error, PaymentError::Unreadable(_)), "{error}");
    }
    assert!(clinic.store.summary().unwrap().jobs.is_empty());
}

/// A reservation looks at both ends of the history; who pays follows all of it.
#[test]
fn a_history_that_contradicts_itself_pays_for_nothing() {
    let mut clinic = Clinic::new();
    let path = clinic.folder.path().join("b.budget");
    let promise = Promise::new("clinic", 2.0, 1e-6).unwrap();
    clinic.store = Store::create(&path, promise).unwrap();
    let a = clinic.write("a.csv", A);
    for _ in 0..3 {
        assert_eq!(clinic.groups(&[&a], Relation::Same), Some(vec![1]));
    }
    drop(clinic.store);
    let mut bytes = std::fs::read(&path).unwrap();
    // The label of the first job, in the middle of the history.
    let at = bytes.windows(7).position(|word| word == b"\"a job\"").unwrap();
    bytes[at + 1] = b'b';
    std::fs::write(&path, bytes).unwrap();
    clinic.store = Store::open(&path).unwrap();
    let error = clinic.refused(&[&a], Relation::Same);
    assert!(matches!(error, PaymentError::Budget(BudgetError::Damaged { .. })), "{error}");
}
