//! The map and the program agree: what is accepted has a row, and what has a row is accepted.
//!
//! Every combination of the flags that choose a cell is put to the program, on a table that does
//! not exist: what is refused is refused before anything is read.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::Path;

use reticent::accountant::{Adjacency, Unit, View};
use reticent::admm::{Release, Settings, WalkState};
use reticent::internal::admm::catalogue::{AlgorithmEntry, AlgorithmKind, CATALOGUE};
use reticent::internal::{Question, runtime};
use reticent::map::{self, Drawn, MapCell, MapProcedure};
use reticent::simulate::{Parties, SimulationSpec};
use reticent::{Budget, Evaluation, Fit, Guarantee, Job, Spec};

const SCHEMA: &str = r#"
row_norm = 1.0
public_n = 100
[[column]]
name = "a"
kind = "numeric"
lower = -1
upper = 1
[[column]]
name = "b"
kind = "numeric"
lower = -1
upper = 1
[[column]]
name = "y"
kind = "target"
classes = ["no", "yes"]
"#;

const WEIGHT: &str = "[[column]]\nname = \"w\"\nkind = \"weight\"\nupper = 4\n";
const PERSON: &str = "[[column]]\nname = \"who\"\nkind = \"user\"\n";

/// The words for the versions of an algorithm, as settings.
fn versions(takes: &[&str]) -> Vec<(&'static str, Settings)> {
    let usual = Settings::default();
    let schedule = |word: &str| Settings { schedule: word.parse().ok(), ..usual.clone() };
    let scaled = Settings { clip_share: Some(0.1), ..usual.clone() };
    if takes.contains(&"schedule") {
        return vec![
            ("scaled", scaled),
            ("all", usual.clone()),
            ("permutation", schedule("permutation")),
            ("single", schedule("single")),
            ("blocks", schedule("blocks:2")),
        ];
    }
    if takes.contains(&"law") {
        let law = |word: &str| Settings { law: word.parse().ok(), ..usual.clone() };
        return vec![("normal", law("normal")), ("spherical-laplace", law("spherical-laplace"))];
    }
    if takes.contains(&"walk") {
        let walk = |walk| Settings { walk: Some(walk), ..usual.clone() };
        return vec![
            ("stateless", walk(WalkState::Stateless)),
            ("stateful", walk(WalkState::Stateful)),
        ];
    }
    if takes.contains(&"release") {
        let release = |release| Settings { release: Some(release), ..usual.clone() };
        let words = ["gradient", "minimiser", "objective", "normal-objective"];
        return words.into_iter().zip(Release::ALL.iter().copied().map(release)).collect();
    }
    if takes.contains(&"precondition") {
        let share = Settings { precondition: Some(0.1), ..usual.clone() };
        let both = Settings { clip_share: Some(0.1), ..share.clone() };
        return vec![
            ("", usual),
            ("preconditioned", share),
            ("scaled", scaled),
            ("preconditioned, scaled", both),
        ];
    }
    if takes.contains(&"clip_share") {
        return vec![("", usual), ("scaled", scaled)];
    }
    vec![("", usual)]
}

fn drawn(drawn: Drawn) -> &'static str {
    match drawn {
        Drawn::Full => "full",
        Drawn::Poisson => "poisson:0.5",
        // So many of twenty parties that some of those who are drawn are honest for certain.
        Drawn::WithoutReplacement => "wor:16",
    }
}

/// Every combination of a fit, with the job that asks for it.
fn fits(folder: &Path) -> Vec<(MapCell, Spec)> {
    // A scale of the residuals is for a target that is a number.
    let schema = |unit, form: &str, weighted: bool| {
        let file = match (unit, form.ends_with("scaled")) {
            (Unit::User | Unit::Party, false) => "people.toml",
            (Unit::Record, false) => "records.toml",
            (Unit::User | Unit::Party, true) => "people_numbers.toml",
            (Unit::Record, true) => "numbers.toml",
        };
        folder.join(if weighted { format!("weighted_{file}") } else { file.to_owned() })
    };
    let mut all = Vec::new();
    for entry in CATALOGUE.iter().filter(|entry| matches!(entry.kind, AlgorithmKind::Private(_))) {
        for (form, settings) in versions(entry.takes) {
            for procedure in MapProcedure::ALL {
                for unit in [Unit::Record, Unit::User] {
                    for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
                        for params in Drawn::ALL {
                            let sampled =
                                params != Drawn::Full || entry.takes.contains(&"sampling");
                            let sampling = if sampled { drawn(params).parse().ok() } else { None };
                            let penalty =
                                if procedure.has_graph() || entry.penalty.starts_with("l1") {
                                    "l1:0.01"
                                } else {
                                    "l2:0.01"
                                };
                            let tuned = procedure.is_tuned();
                            let lists = format!("penalty={}[1,2]", &penalty[..3]);
                            let spec = Spec::default().with(|it| {
                                it.guarantee = Guarantee::default().with(|it| {
                                    it.epsilon = Some(1.0);
                                    it.delta = Some(1e-6);
                                    it.unit = Some(unit);
                                    it.adjacency = Some(adjacency);
                                });
                                it.schema = Some(schema(unit, form, procedure.is_weighted()));
                                it.algorithm = Some(entry.name.to_owned());
                                it.penalty = (!tuned).then(|| penalty.to_owned());
                                it.tune = tuned.then(|| vec![lists]);
                                it.graph = procedure.has_graph().then(|| "private".to_owned());
                                it.standard_errors = procedure.has_standard_errors().then_some(0.2);
                                it.calibrate = procedure.is_recalibrated().then_some(0.2);
                                it.settings = Settings { sampling, ..settings.clone() };
                            });
                            let cell = MapCell {
                                algorithm: entry.name,
                                form,
                                procedure,
                                view: View::Central,
                                unit,
                                adjacency,
                                drawn: params,
                            };
                            all.push((cell, spec));
                        }
                    }
                }
            }
        }
    }
    all
}

/// Every combination of a simulation.
fn simulations(folder: &Path) -> Vec<(MapCell, SimulationSpec)> {
    let mut all = Vec::new();
    let schema = |unit, form: &str| {
        folder.join(match (unit, form.ends_with("scaled")) {
            (Unit::User | Unit::Party, false) => "people.toml",
            (Unit::Record, false) => "records.toml",
            (Unit::User | Unit::Party, true) => "people_numbers.toml",
            (Unit::Record, true) => "numbers.toml",
        })
    };
    let protocols = runtime::CATALOGUE.iter().filter(|entry| entry.private);
    let protocols = protocols.map(|entry| (entry.name, entry.takes, View::ALL, None));
    // With a server that is trusted they are the fits above.
    let untrusted = &[View::Local, View::SecureAggregation, View::Network][..];
    let private = |entry: &&AlgorithmEntry| matches!(entry.kind, AlgorithmKind::Private(_));
    let of_one_table = CATALOGUE.iter().filter(private).map(|entry| {
        let penalty = if entry.penalty.starts_with("l1") { "l1:0.01" } else { "l2:0.01" };
        (entry.name, entry.takes, untrusted, Some(penalty.to_owned()))
    });
    for (name, takes, views, penalty) in protocols.chain(of_one_table) {
        for (form, settings) in versions(takes) {
            let courses = [MapProcedure::Alone, MapProcedure::StandardErrors];
            for (&view, procedure) in
                views.iter().flat_map(|view| courses.map(|procedure| (view, procedure)))
            {
                for unit in [Unit::Record, Unit::User] {
                    for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
                        for params in Drawn::ALL {
                            let sampled = params != Drawn::Full || takes.contains(&"sampling");
                            let sampling = if sampled { drawn(params).parse().ok() } else { None };
                            let job = Spec::default().with(|it| {
                                it.guarantee = Guarantee::default().with(|it| {
                                    it.epsilon = Some(1.0);
                                    it.delta = Some(1e-6);
                                    it.unit = Some(unit);
                                    it.adjacency = Some(adjacency);
                                });
                                it.schema = Some(schema(unit, form));
                                it.algorithm = Some(name.to_owned());
                                it.penalty = penalty.clone();
                                it.standard_errors = procedure.has_standard_errors().then_some(0.2);
                                it.settings = Settings { sampling, ..settings.clone() };
                            });
                            let parties = Parties::default().with(|it| {
                                it.split = (unit == Unit::Record).then_some(20);
                                it.trust = Some(view);
                            });
                            let cell = MapCell {
                                algorithm: name,
                                form,
                                procedure,
                                view,
                                unit,
                                adjacency,
                                drawn: params,
                            };
                            all.push((cell, SimulationSpec::new(job, parties)));
                        }
                    }
                }
            }
        }
    }
    all
}

/// Every combination of an evaluation, with a model to evaluate.
fn evaluations(folder: &Path) -> Vec<(MapCell, Result<(), reticent::Error>)> {
    let mut all = Vec::new();
    for (form, target) in
        [("classes", "classes = [\"no\", \"yes\"]"), ("numbers", "lower = 0\nupper = 1")]
    {
        for unit in [Unit::Record, Unit::User] {
            let person = if unit == Unit::User { PERSON } else { "" };
            let text = SCHEMA.replace("classes = [\"no\", \"yes\"]", target);
            let schema = folder.join("evaluated.toml");
            std::fs::write(&schema, format!("{text}{person}")).unwrap();
            let table = folder.join("evaluated.csv");
            let y = if form == "classes" { "no" } else { "0.5" };
            let rows = if unit == Unit::User {
                format!("a,b,y,who\n0,1,{y},1\n1,0,{y},2\n")
            } else {
                format!("a,b,y\n0,1,{y}\n1,0,{y}\n")
            };
            std::fs::write(&table, rows).unwrap();
            let spec = Spec::default().with(|it| {
                it.schema = Some(schema);
                it.algorithm = Some("exact".to_owned());
                it.penalty = Some("l2:1".to_owned());
            });
            let model = spec.check().unwrap().fit(table.as_path()).unwrap().model;
            for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
                for &view in View::ALL {
                    let evaluation = Evaluation::new(Budget::new(1.0, 1e-6).unwrap());
                    let said = evaluation.adjacency(adjacency).unit(unit).check(&model);
                    let cell = MapCell {
                        algorithm: "evaluation",
                        form,
                        procedure: MapProcedure::Alone,
                        view,
                        unit,
                        adjacency,
                        drawn: Drawn::Full,
                    };
                    all.push((cell, asked(said, view, unit)));
                }
            }
        }
    }
    all
}

/// Every combination of a count. Under replace-one the number of all is public, and is not asked.
fn counts() -> Vec<(MapCell, Result<(), reticent::Error>)> {
    let mut all = Vec::new();
    for unit in [Unit::Record, Unit::User] {
        for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
            for (form, by_class) in [("all", false), ("classes", true)] {
                let person = if unit == Unit::User { PERSON } else { "" };
                let schema: reticent::tables::Schema = format!("{SCHEMA}{person}").parse().unwrap();
                let asked = Fit::new(schema)
                    .budget(Budget::new(1.0, 1e-6).unwrap())
                    .adjacency(adjacency)
                    .unit(unit);
                let (procedure, view, drawn) = (MapProcedure::Alone, View::Central, Drawn::Full);
                let algorithm = "count";
                let cell = MapCell { algorithm, form, procedure, view, unit, adjacency, drawn };
                all.push((cell, asked.count(by_class).map(drop)));
            }
        }
    }
    all
}

/// Every combination of a statistic of a column.
fn statistics() -> Vec<(MapCell, Result<(), reticent::Error>)> {
    let mut all = Vec::new();
    for unit in [Unit::Record, Unit::User] {
        for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
            let person = if unit == Unit::User { PERSON } else { "" };
            let schema: reticent::tables::Schema = format!("{SCHEMA}{person}").parse().unwrap();
            let about = reticent::Statistics::new(schema)
                .budget(Budget::new(1.0, 1e-6).unwrap())
                .adjacency(adjacency)
                .unit(unit)
                .public_n(100);
            let usual = reticent::Partition::default();
            for &view in View::ALL {
                for (algorithm, said) in [
                    ("mean", asked(about.clone().mean(["a"]), view, unit)),
                    ("histogram", asked(about.clone().histogram(["a"], &usual), view, unit)),
                    ("quantile", asked(about.clone().quantiles(["a"], &[0.5], None), view, unit)),
                ] {
                    let (procedure, drawn) = (MapProcedure::Alone, Drawn::Full);
                    let form = "";
                    let cell = MapCell { algorithm, form, procedure, view, unit, adjacency, drawn };
                    all.push((cell, said));
                }
            }
        }
    }
    all
}

/// Every combination of a count between parties that add the noise.
fn counts_between() -> Vec<(MapCell, Result<(), reticent::Error>)> {
    let mut all = Vec::new();
    for unit in [Unit::Record, Unit::User] {
        for adjacency in [Adjacency::ReplaceOne, Adjacency::AddRemove] {
            let person = if unit == Unit::User { PERSON } else { "" };
            let schema: reticent::tables::Schema = format!("{SCHEMA}{person}").parse().unwrap();
            for view in [View::Local, View::SecureAggregation, View::Network] {
                for (form, by_class) in [("all", false), ("classes", true)] {
                    let fit = reticent::Fit::new(schema.clone()).unit(unit);
                    let fit = fit.budget(Budget::new(1.0, 1e-6).unwrap()).adjacency(adjacency);
                    let said = asked(fit.count(by_class), view, unit);
                    let (algorithm, procedure, drawn) = ("count", MapProcedure::Alone, Drawn::Full);
                    let cell = MapCell { algorithm, form, procedure, view, unit, adjacency, drawn };
                    all.push((cell, said));
                }
            }
        }
    }
    all
}

/// Whether a question is asked: of one table, or of parties where anybody else looks.
fn asked<Q: Question>(
    job: Result<Job<Q>, reticent::Error>,
    view: View,
    unit: Unit,
) -> Result<(), reticent::Error> {
    let job = job?;
    let split = (unit == Unit::Record).then_some(20);
    match view {
        View::Central => Ok(()),
        view => job
            .between(&Parties::default().with(|it| {
                it.split = split;
                it.trust = Some(view);
            }))
            .map(drop),
    }
}

#[test]
fn what_is_accepted_has_a_row_and_what_has_a_row_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let numbers = SCHEMA.replace("classes = [\"no\", \"yes\"]", "lower = 0\nupper = 1");
    for (name, text) in [
        ("records.toml", SCHEMA.to_owned()),
        ("people.toml", format!("{SCHEMA}{PERSON}")),
        ("numbers.toml", numbers.clone()),
        ("people_numbers.toml", format!("{numbers}{PERSON}")),
    ] {
        std::fs::write(folder.path().join(name), &text).unwrap();
        let weighted = folder.path().join(format!("weighted_{name}"));
        std::fs::write(weighted, format!("{text}{WEIGHT}")).unwrap();
    }
    let asked = fits(folder.path()).into_iter().map(|(cell, spec)| (cell, spec.check().map(drop)));
    let between =
        simulations(folder.path()).into_iter().map(|(cell, job)| (cell, job.check().map(drop)));
    let (mut wrong, mut accepted) = (Vec::new(), 0);
    let questions = evaluations(folder.path()).into_iter().chain(counts()).chain(statistics());
    for (cell, said) in asked.chain(between).chain(questions).chain(counts_between()) {
        accepted += usize::from(said.is_ok());
        if said.is_ok() != map::find(&cell).is_some() {
            wrong.push(match said {
                Ok(()) => format!("accepted without a row: {cell}"),
                Err(error) => format!("a row, and refused: {cell}: {error}"),
            });
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(accepted, map::cells().len());
}

/// The files of a folder and of the folders in it.
fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let within = |path: std::path::PathBuf| {
        if path.is_dir() { sources(&path) } else { vec![path] }
    };
    entries.flat_map(within).collect()
}

/// A question that is added is not forgotten on the map, as counts once were.
#[test]
fn every_question_has_its_rows() {
    let mut found = Vec::new();
    for path in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let Some((_, within)) = text.split_once("impl Question for ") else { continue };
        let said = within.split_once("const NAME: &'static str = ").unwrap().1;
        let name = said.split_once(';').unwrap().0;
        // A name that several files of a folder use stands in its first one.
        let name = match name.strip_prefix('"') {
            Some(name) => name.trim_end_matches('"').to_owned(),
            None => {
                let folder = std::fs::read_to_string(path.with_file_name("mod.rs")).unwrap();
                let said = folder.split_once("const NAME: &str = \"").unwrap().1;
                said.split_once('"').unwrap().0.to_owned()
            }
        };
        assert!(map::cells().iter().any(|(cell, _)| cell.algorithm == name), "{name} has no row");
        found.push(name);
    }
    found.sort();
    assert_eq!(found, ["count", "evaluation", "histogram", "mean", "quantile"]);
}
