//! Fits of a table in shards: the model of the table in memory, to the bit, or a refusal before a worker
//! reads a row.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use reticent::internal::admm::catalogue::CATALOGUE;
use reticent::shards::{Refusal, Shard, ShardWorkers, Sharding, Shards};
use reticent::{Error, Files, Job, JobFile, Model, Run, Spec};
use tempfile::TempDir;

const OWN: ([u8; 32], [u8; 32]) = ([1; 32], [2; 32]);

const SCHEMA: &str = "
row_norm = 1.5
[[column]]
name = 'age'
kind = 'numeric'
lower = 0
upper = 100
[[column]]
name = 'town'
kind = 'categorical'
categories = ['a', 'b', 'c']
[[column]]
name = 'ill'
kind = 'target'
classes = ['no', 'yes']
[[column]]
name = 'who'
";

#[derive(Debug)]
struct Here(Vec<Mutex<Shard>>);

impl Shards for Here {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn ask(&self, requests: &[(usize, &[u8])]) -> Result<Vec<Vec<u8>>, Refusal> {
        requests.iter().map(|&(k, request)| self.0[k].lock().unwrap().answer(request)).collect()
    }
}

/// A table of 900 records, the same in two files, and its schemas.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let head = "age,town,ill,who\n";
    let mut parts = [String::new(), String::new()];
    for i in 0_u32..900 {
        let (age, town) = (i * 7 % 101, ["a", "b", "c"][(i % 3) as usize]);
        let ill = if age + i % 13 > 60 { "yes" } else { "no" };
        writeln!(parts[usize::from(i >= 400)], "{age},{town},{ill},{}", i / 4).unwrap();
    }
    write("table.csv", &format!("{head}{}", parts.concat()));
    write("first.csv", &format!("{head}{}", parts[0]));
    write("second.csv", &format!("{head}{}", parts[1]));
    write("records.toml", &format!("{SCHEMA}kind = 'ignored'\n"));
    write("users.toml", &format!("{SCHEMA}kind = 'user'\n"));
    folder
}

fn job(folder: &Path, text: &str) -> Result<Job, Error> {
    let path = folder.join("job.toml");
    let usual = "data = 'table.csv'\nepsilon = 2\ndelta = 1e-6\nseed = 5\n";
    std::fs::write(&path, format!("{usual}{text}")).unwrap();
    JobFile::<Spec>::read(&path)?.job.check()
}

fn in_shards(job: &Job, sharding: &Sharding) -> Result<Model, Error> {
    job.check_sharded()?;
    let count = sharding.files.len();
    let shards: Result<Vec<_>, Error> =
        (0..count).map(|k| Ok(Mutex::new(job.shard(sharding, k)?))).collect();
    let mut run = Run::default();
    let ready = job.open_sharded(Box::new(Here(shards?)), sharding, &mut run)?;
    Ok(ready.run(run)?.model)
}

fn bits(model: &Model) -> Vec<u64> {
    let weights = model.coefficients().iter().flat_map(|weight| weight.values.clone());
    weights.chain(model.intercept().to_vec()).map(f64::to_bits).collect()
}

/// One table in 1, 2 and 4 shards, and files of their own: the fit in memory.
fn assert_same(folder: &Path, text: &str) -> Result<(), Error> {
    let job = job(folder, text)?;
    job.check_sharded()?;
    let file = |name: &str| folder.join(name);
    let memory = job.fit(Files::one(file("table.csv")))?.model;
    let mut dealt: Vec<Sharding> =
        [1, 2, 4].map(|count| Sharding::of_table(&[file("table.csv")], count, OWN)).to_vec();
    dealt.push(Sharding::of_files(vec![vec![file("first.csv")], vec![file("second.csv")]], OWN));
    for sharding in &dealt {
        let found = in_shards(&job, sharding)?;
        assert_eq!(bits(&found), bits(&memory), "{text}");
        let (own, one) = (found.certificate(), memory.certificate());
        assert_eq!((own.epsilon, &own.ledger), (one.epsilon, &one.ledger), "{text}");
        assert!(own.assumptions.len() > one.assumptions.len() && own.parties.is_none());
        assert!(own.assumptions.iter().any(|text| text.contains("shards")), "{text}");
    }
    Ok(())
}

#[test]
fn every_algorithm_of_sums_has_the_bits_of_the_fit_in_memory() {
    let folder = folder();
    let mut ran = Vec::new();
    for entry in CATALOGUE {
        let steps = if entry.takes.contains(&"iterations") { "iterations = 3\n" } else { "" };
        let penalty = if entry.needs_penalty { entry.penalty } else { "none" };
        for schema in ["records", "users"] {
            let name = entry.name;
            let text = format!(
                "schema = '{schema}.toml'\nalgorithm = '{name}'\npenalty = '{penalty}'\n{steps}"
            );
            match assert_same(folder.path(), &text) {
                Ok(()) => ran.push((name, schema)),
                Err(why) => {
                    let why = why.to_string();
                    let known = ["more than sums", "of persons", "unit"];
                    assert!(known.iter().any(|word| why.contains(word)), "{name}, {schema}: {why}");
                }
            }
        }
    }
    for name in ["auto", "dp-sgd", "ssadmm", "mpadmm", "sadmm", "vradmm", "dp-cd", "dp-fw"] {
        assert!(ran.contains(&(name, "records")), "{name} is not among {ran:?}");
    }
    assert!(ran.contains(&("auto", "users")), "{ran:?}");
}

#[test]
fn samples_standard_errors_and_recalibration_have_the_bits_of_the_fit_in_memory() {
    let folder = folder();
    let records = "schema = 'records.toml'\n";
    let sampled = "algorithm = 'dp-sgd'\niterations = 3\nsampling = 'poisson:0.1'\n";
    assert_same(folder.path(), &format!("{records}{sampled}")).unwrap();
    assert_same(folder.path(), &format!("{records}{}", sampled.replace("poisson:0.1", "wor:50")))
        .unwrap();
    assert_same(folder.path(), &format!("{records}standard_errors = 0.3\n")).unwrap();
    assert_same(folder.path(), &format!("{records}calibrate = 0.2\n")).unwrap();
    let removed = "adjacency = 'add-remove'\npublic_n = 900\n";
    assert_same(folder.path(), &format!("{records}{removed}")).unwrap();
}

#[test]
fn what_is_not_proven_for_shards_is_refused_before_a_row_is_read() {
    let folder = folder();
    let weighted = format!("{SCHEMA}kind = 'weight'\nupper = 300\n");
    std::fs::write(folder.path().join("weights.toml"), weighted).unwrap();
    let sampled = "algorithm = 'dp-sgd'\niterations = 3\nsampling = 'poisson:0.1'\n";
    for (schema, text, word) in [
        ("users", sampled.to_owned(), "persons"),
        ("records", format!("{sampled}adjacency = 'add-remove'\npublic_n = 900\n"), "add-remove"),
        ("records", "algorithm = 'exact'\n".to_owned(), "more than sums"),
        ("records", "algorithm = 'dp-sgd'\ntune = ['iterations=[2,3]']\n".to_owned(), "iterates"),
        ("weights", String::new(), "weights"),
    ] {
        let job = job(folder.path(), &format!("schema = '{schema}.toml'\n{text}")).unwrap();
        let nowhere = Sharding::of_table(&[PathBuf::from("none.csv")], 2, OWN);
        for why in [job.check_sharded().unwrap_err(), job.shard(&nowhere, 0).unwrap_err()] {
            assert!(why.to_string().contains(word), "{why}");
        }
    }
}

#[test]
fn files_are_given_once_and_a_person_is_in_one() {
    let folder = folder();
    let file = |name: &str| folder.path().join(name);
    let users = job(folder.path(), "schema = 'users.toml'\n").unwrap();
    let of = |names: &[&str]| {
        Sharding::of_files(names.iter().map(|name| vec![file(name)]).collect(), OWN)
    };
    let refused = |sharding: &Sharding, word: &str| {
        let why = in_shards(&users, sharding).unwrap_err().to_string();
        assert!(why.contains(word), "{why}");
    };
    assert!(in_shards(&users, &of(&["first.csv", "second.csv"])).is_ok());
    refused(&of(&["first.csv", "first.csv"]), "twice");
    std::fs::copy(file("first.csv"), file("copy.csv")).unwrap();
    refused(&of(&["first.csv", "copy.csv"]), "count twice");
    // The same in one table that the library deals: a copy or a link has another name.
    let table = Sharding::of_table(&[file("first.csv"), file("copy.csv")], 2, OWN);
    refused(&table, "count twice");
    // The last person of the first file again, spelt as another program spells it.
    let second = std::fs::read_to_string(file("second.csv")).unwrap();
    std::fs::write(file("third.csv"), format!("{second}50,a,no,99.0\n")).unwrap();
    refused(&of(&["first.csv", "third.csv"]), "a person has rows in two");
    refused(&of(&[]), "number");
    refused(&Sharding::of_files(vec![Vec::new()], OWN), "no file");
    assert!(users.shard(&of(&["first.csv"]), 1).is_err());
    let mut far = of(&["first.csv", "second.csv"]);
    far.workers = ShardWorkers::Cluster { encrypted: false };
    let said = in_shards(&users, &far).unwrap().certificate().assumptions.join("\n");
    assert!(said.contains("cluster is trusted") && said.contains("not encrypted"), "{said}");
}
