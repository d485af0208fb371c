//! Persons have numbers and seats that do not follow from where their rows stand
//! (proofs/seating.md).
#![allow(clippy::unwrap_used)] // helpers of tests

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use reticent::internal::admm::catalogue;
use reticent::internal::problem::penalties::Penalty;
use reticent::internal::runtime::{self, ProtocolEntry};
use reticent::penalties;
use reticent::simulate::{
    CheckpointOptions, Failures, Simulated, Simulation, SimulationJob, SimulationSpec,
};
use reticent::tables::{Dataset, Owners, Schema, Target};
use reticent::{
    Budget, Error, Fit, Job, JobFile, Model, Problem, Run, Settings, Solver, Stage, Unit, View,
};

/// A row: whose, its two features, its class.
type Row = (u64, [f64; 2], u32);

fn schema() -> Schema {
    let target = Target::classes(["no", "yes"]).unwrap();
    Schema::bounded(&[(-1.0, 1.0), (-1.0, 1.0)], target).unwrap()
}

/// What `with` makes of the rows as a table in memory.
fn tabled<T>(rows: &[Row], with: impl FnOnce(&Dataset<'_>) -> T) -> T {
    let x: Vec<f64> = rows.iter().flat_map(|row| row.1).collect();
    let y: Vec<u32> = rows.iter().map(|row| row.2).collect();
    let owners: Vec<u64> = rows.iter().map(|row| row.0).collect();
    let table = Dataset::dense(&x, rows.len(), 2).unwrap().with_targets(&y).unwrap();
    with(&table.with_owners(Owners::from(&owners[..])).unwrap())
}

/// Nine persons with one to four rows each, person by person.
fn persons() -> Vec<Row> {
    let row = |person: u64, visit: u64| {
        let at = |k: u64| ((person * 31 + visit * 17 + k * 7) % 19) as f64 / 9.5 - 1.0;
        (20 + person, [at(1), at(2)], ((person + visit) % 2) as u32)
    };
    (0..9).flat_map(|person| (0..=person % 4).map(move |visit| row(person, visit))).collect()
}

/// The same rows interleaved otherwise, each person's own in their order: in turns from the first
/// person and from the last, and the persons from the last to the first.
fn interleaved(rows: &[Row]) -> [Vec<Row>; 3] {
    let mut own: BTreeMap<u64, Vec<Row>> = BTreeMap::new();
    rows.iter().for_each(|row| own.entry(row.0).or_default().push(*row));
    let most = own.values().map(Vec::len).max().unwrap();
    let turn = |visit: usize| own.values().filter_map(move |rows| rows.get(visit)).copied();
    [
        (0..most).flat_map(turn).collect(),
        (0..most).flat_map(|visit| turn(visit).collect::<Vec<_>>().into_iter().rev()).collect(),
        own.values().rev().flatten().copied().collect(),
    ]
}

fn bits(model: &reticent::Model) -> Vec<u64> {
    model.coefficients().iter().flat_map(|c| c.values.iter().map(|v| v.to_bits())).collect()
}

/// Settings under which an algorithm orders units: samples and schedules, where it has them.
fn orders(takes: &[&str]) -> Vec<Settings> {
    let mut all = vec![Settings { iterations: Some(3), ..Settings::default() }];
    let of = |name: &str, value: &str| {
        let mut settings = Settings { iterations: Some(3), ..Settings::default() };
        takes.contains(&name).then(|| settings.set(name, value).unwrap());
        takes.contains(&name).then_some(settings)
    };
    for (name, value) in [
        ("sampling", "poisson:0.5"),
        ("sampling", "wor:3"),
        ("schedule", "permutation"),
        ("schedule", "single"),
        ("schedule", "blocks:2"),
    ] {
        all.extend(of(name, value));
    }
    let has = |name: &str| takes.contains(&name);
    all.into_iter()
        .map(|own| Settings { iterations: own.iterations.filter(|_| has("iterations")), ..own })
        .collect()
}

/// A fit by this algorithm; `None` where it does not offer persons in this way.
fn fit(entry: &catalogue::AlgorithmEntry, settings: &Settings) -> Option<Job> {
    let penalty: Arc<dyn Penalty> = penalties::parse(entry.penalty).unwrap().into();
    let solver = Solver::named(entry.name).unwrap().with(settings.clone()).ok()?;
    let fit = Fit::of(Problem::new(schema()).penalty(penalty)).solver(solver).unit(Unit::User);
    let budget = Budget::new(4.0, 1e-5).unwrap();
    fit.budget(budget).seed(5).check().ok()
}

#[test]
fn a_fit_of_persons_gives_the_same_bits_however_their_rows_are_interleaved() {
    let rows = persons();
    let mut fitted = BTreeMap::<&str, usize>::new();
    // What has no noise promises nothing, and its sums are rounded in the order of the rows.
    for entry in catalogue::CATALOGUE.iter().filter(|entry| entry.name != "exact") {
        for settings in orders(entry.takes) {
            let Some(job) = fit(entry, &settings) else { continue };
            let model = |rows: &[Row]| bits(&tabled(rows, |table| job.fit(table)).unwrap().model);
            let first = model(&rows);
            *fitted.entry(entry.name).or_default() += 1;
            for other in interleaved(&rows) {
                assert_eq!(model(&other), first, "{} {settings:?}", entry.name);
            }
        }
    }
    println!("{fitted:?}");
    assert!(fitted.len() >= 11 && fitted["consensus"] == 6, "{fitted:?}");
}

/// A run between persons, with little noise and messages that get lost; `None` where it is not
/// offered.
fn between(
    entry: &ProtocolEntry,
    trust: View,
    settings: &Settings,
    seed: u64,
) -> Option<SimulationJob> {
    // Of a masked sum most must stay. With these seeds the seats that are lost have one parity.
    let (after, lost) = if trust == View::SecureAggregation { (0.06, 2) } else { (0.3, 6) };
    let failures = Failures { after, seed: lost, ..Failures::default() };
    let run = Simulation::new(schema()).intercept(false).party_per_owner().trust(trust);
    let run = run.algorithm(entry.name).unwrap().settings(settings.clone()).failures(failures);
    let run = if entry.along_graph { run.topology("ring") } else { run };
    let run = if entry.private { run.budget(Budget::new(5000.0, 1e-5).unwrap()) } else { run };
    run.seed(seed).check().ok()
}

/// Every combination of algorithm and trust that is offered for persons.
fn offered() -> Vec<(&'static ProtocolEntry, View)> {
    let entries = runtime::CATALOGUE.iter();
    let each = entries.flat_map(|entry| entry.views.iter().map(move |&trust| (entry, trust)));
    let settings = Settings::default();
    each.filter(|(entry, trust)| between(entry, *trust, &settings, 1).is_some()).collect()
}

fn run(job: &SimulationJob, rows: &[Row]) -> Simulated {
    tabled(rows, |table| job.run(table, CheckpointOptions::default(), Run::default())).unwrap()
}

#[test]
fn a_run_between_persons_gives_the_same_bits_however_their_rows_are_interleaved() {
    let rows = persons();
    let offered = offered();
    assert!(offered.len() >= 10, "{offered:?}");
    for (entry, trust) in offered {
        for settings in orders(entry.takes) {
            let Some(job) = between(entry, trust, &settings, 5) else { continue };
            let all = |rows: &[Row]| {
                let Simulated { model, nodes, traffic, .. } = run(&job, rows);
                let each = (0..nodes.len()).map(|node| bits(&nodes.model(node).unwrap()));
                (bits(&model), each.collect::<Vec<_>>(), traffic)
            };
            let first = all(&rows);
            for other in interleaved(&rows) {
                assert_eq!(all(&other), first, "{} {trust} {settings:?}", entry.name);
            }
        }
    }
}

/// Nine persons of whom every second says yes, and one more, whose id is before all others' or
/// behind them. How many of the one's own rows there are does not matter: they are the same.
fn with_victim(id: u64, visits: usize) -> Vec<Row> {
    let others = (0..9).map(|i| (20 + i, [1.0, 0.0], (i % 2) as u32));
    others.chain(std::iter::repeat_n((id, [0.0, 1.0], 1), visits)).collect()
}

/// What somebody sees who looks for seats: the model, and of peers' models every second against the
/// others.
fn statistic(simulated: &Simulated) -> f64 {
    let Simulated { model, nodes, .. } = simulated;
    let first = |model: &Model| model.coefficients()[0].values[0];
    if nodes.is_empty() {
        return first(model);
    }
    let signed = |node: usize| {
        let own = first(&nodes.model(node).unwrap());
        if node.is_multiple_of(2) { own } else { -own }
    };
    (0..nodes.len()).map(signed).sum()
}

/// How many standard errors the means of two laws are apart.
fn apart(one: &[f64], two: &[f64]) -> f64 {
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let error = |all: &[f64]| {
        let centre = mean(all);
        let squares = all.iter().map(|v| (v - centre).powi(2)).sum::<f64>();
        squares / (all.len() * (all.len() - 1)) as f64
    };
    (mean(one) - mean(two)).abs() / (error(one) + error(two)).sqrt()
}

/// The attacks that once told where a person stands: a person who is first among the ids and one
/// who is last, with as many rows and with one less, whose rows are the same and who therefore give
/// the same law. With seats in the order of the ids everybody behind moves up, and other people's
/// messages are lost, other people sit at the even places of the ring: the means are then 67 to 269
/// standard errors apart (where a walk goes does not depend on seats). Those of two samples of one
/// law are 6 apart once in 10⁸ times; with 40 runs each, as Student's law has it, in 10⁷.
/// `make nightly` has more runs.
#[test]
fn where_a_person_stands_does_not_show_in_what_comes_out() {
    let cases = std::env::var("RETICENT_CASES").map_or(40, |n| n.parse::<u64>().unwrap());
    for (entry, trust) in offered() {
        // With a server one round shows most of who was heard in it.
        let rounds = if entry.along_graph || entry.name == "walk" { 3 } else { 1 };
        let settings = Settings { iterations: Some(rounds), ..Settings::default() };
        let sample = |rows: &[Row], from: u64| -> Vec<f64> {
            let job = |seed| between(entry, trust, &settings, seed).unwrap();
            (from..from + cases).map(|seed| statistic(&run(&job(seed), rows))).collect()
        };
        let first = sample(&with_victim(10, 3), 0);
        for (rows, from) in [(with_victim(90, 3), 10_000), (with_victim(90, 2), 20_000)] {
            let apart = apart(&first, &sample(&rows, from));
            println!("{} {trust}: {apart:.2}", entry.name);
            assert!(apart < 6.0, "{} {trust}: {apart}", entry.name);
        }
    }
}

fn described(text: &str) -> Result<SimulationJob, Error> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("job.toml");
    let head = "epsilon = 1.0\ndelta = 1e-5\nschema = 's.toml'\n";
    let column = |name: &str, what: &str| format!("[[column]]\nname = '{name}'\n{what}\n");
    let mut schema = "row_norm = 1\n".to_owned();
    schema += &column("x", "kind = 'numeric'\nlower = 0\nupper = 1");
    schema += &column("y", "kind = 'target'\nclasses = ['no', 'yes']");
    if text.contains("users_from") {
        schema += &column("who", "kind = 'ignored'");
    }
    std::fs::write(folder.path().join("s.toml"), schema).unwrap();
    std::fs::write(&file, format!("{head}{text}")).unwrap();
    JobFile::<SimulationSpec>::read(&file)?.job.check()
}

/// The others of the attacks: a number names a seat, and nobody knows whose; and a share of the
/// records is no person.
#[test]
fn nothing_is_said_of_persons_by_their_numbers() {
    let persons = "users_from = 'who'\n";
    for (name, text) in [
        ("budgets", format!("[parties]\n{persons}budgets = {{ 1 = 0.5 }}\n")),
        ("party_noise", format!("algorithm = 'dvp'\nparty_noise = '1,2'\n[parties]\n{persons}")),
        ("party_rho", format!("algorithm = 'r-admm'\nparty_rho = '1,2'\n[parties]\n{persons}")),
        ("topology", format!("algorithm = 'dvp'\n[parties]\n{persons}topology = 'file:t'\n")),
        ("split", "unit = 'user'\n[parties]\nsplit = 20\n".to_owned()),
    ] {
        let error = described(&text).map(drop).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{name} = ")), "{error}");
        let said = if name == "split" { "is no person" } else { "told to nobody" };
        assert!(error.contains(said), "{error}");
        let records = text.replace("unit = 'user'\n", "");
        let records = format!("unit = 'record'\n{records}");
        // Of the parties that hold records it may be said; only the graph must be there.
        match described(&records) {
            Ok(_) => {}
            Err(error) => assert!(name == "topology", "{error}"),
        }
    }
    let degree = format!("algorithm = 'r-admm'\nparty_rho = 'degree:1'\n[parties]\n{persons}");
    described(&degree).unwrap();
}

/// A run that goes on has the seats that it began with, and another key gives others.
#[test]
fn seats_follow_from_the_key_of_the_run() {
    let rows = persons();
    let entry = runtime::find("dvp").unwrap();
    let settings = Settings { iterations: Some(4), ..Settings::default() };
    let nodes = |seed: u64, stop: bool| {
        let job = between(entry, View::Local, &settings, seed).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run");
        let keep = CheckpointOptions::new(Some(&file), false);
        let mut rounds = 0;
        let mut watch = |stage| {
            rounds += u32::from(matches!(stage, Stage::Iteration(_)));
            if stop && rounds == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let run = tabled(&rows, |table| job.run(table, keep, Run::watched(&mut watch)));
        let run = match stop {
            true => {
                assert!(run.unwrap_err().is_stop());
                let keep = CheckpointOptions::new(Some(&file), true);
                tabled(&interleaved(&rows)[0], |table| job.run(table, keep, Run::default()))
            }
            false => run,
        };
        let Simulated { nodes, .. } = run.unwrap();
        (0..nodes.len()).map(|node| bits(&nodes.model(node).unwrap())).collect::<Vec<_>>()
    };
    assert_eq!(nodes(5, true), nodes(5, false));
    assert_ne!(nodes(5, false), nodes(6, false));
}

/// What is said of a party says its seat, and the certificate says what that means.
#[test]
fn certificates_state_the_seating_and_no_id() {
    let rows = persons();
    let job = between(runtime::USUAL, View::Central, &Settings::default(), 5).unwrap();
    let Simulated { model, parties, .. } = run(&job, &rows);
    let own = parties.party(3).unwrap();
    for certificate in [model.certificate(), own] {
        let told = |line: &String| line.contains("who sits where is drawn uniformly");
        assert!(certificate.assumptions.iter().any(told), "{:?}", certificate.assumptions);
    }
    let text = model.certificate().to_json().unwrap() + &own.to_json().unwrap();
    assert!(!text.contains("\"2"), "{text}");
    let ready = |table: &Dataset<'_>| {
        job.open(table, CheckpointOptions::default(), &mut Run::default()).unwrap().plans().is_ok()
    };
    assert!(tabled(&rows, ready));
}
