//! Jobs on a table in a cache file: the same model, count and evaluation as in memory, to the bit.
#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::fmt::Write;
use std::path::Path;

use reticent::internal::admm::catalogue::{AlgorithmKind, CATALOGUE};
use reticent::{Error, JobFile, Model, Spec};
use tempfile::TempDir;

/// Enough for several blocks of a file.
const RECORDS: u32 = 90_000;

const SCHEMA: &str = "
row_norm = 1.5
[[column]]
name = 'age'
kind = 'numeric'
lower = 0
upper = 100
[[column]]
name = 'income'
kind = 'numeric'
lower = 0
upper = 3
[[column]]
name = 'town'
kind = 'categorical'
categories = ['a', 'b', 'c']
[[column]]
name = 'ill'
kind = 'target'
classes = ['no', 'yes']
";

const WEIGHT: &str = "[[column]]\nname = 'weight'\nkind = 'weight'\nupper = 2\n";
const USER: &str = "[[column]]\nname = 'who'\nkind = 'user'\n";
const IGNORED: [&str; 2] = [
    "[[column]]\nname = 'weight'\nkind = 'ignored'\n",
    "[[column]]\nname = 'who'\nkind = 'ignored'\n",
];

/// A table of all that a schema may declare, a sparse one, and their schemas.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let uniform = |i: u32, a: f64| (f64::from(i) * a).fract();
    let (mut csv, mut sparse) =
        ("age,income,town,ill,weight,who\n".to_owned(), String::with_capacity(4_000_000));
    for i in 0..RECORDS {
        let (age, income) = (i * 7 % 101, 3.2 * uniform(i, 0.754_877_6));
        let town = ["a", "b", "c"][(i % 3) as usize];
        let ill = income + uniform(i, 0.123_456_7) > 1.7;
        let (weight, who) = (2.0 * uniform(i, 0.328_721_3), i * 37 % 4001);
        let said = if ill { "yes" } else { "no" };
        writeln!(csv, "{age},{income:.6},{town},{said},{weight:.3},{who}").unwrap();
        let label = if ill { "+1" } else { "-1" };
        let (first, second) = (1 + i % 40, 50 + i * 13 % 900);
        writeln!(sparse, "{label} {first}:{income:.5} {second}:1").unwrap();
    }
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("table.csv", &csv);
    write("table.libsvm", &sparse);
    write("plain.toml", &format!("{SCHEMA}{}{}", IGNORED[0], IGNORED[1]));
    write("weights.toml", &format!("{SCHEMA}{WEIGHT}{}", IGNORED[1]));
    write("users.toml", &format!("{SCHEMA}{}{USER}", IGNORED[0]));
    folder
}

fn fitted(folder: &Path, job: &str, cached: bool) -> Result<Model, Error> {
    let path = folder.join("job.toml");
    let cache = if cached { "cache = '.'\n" } else { "" };
    std::fs::write(&path, format!("{cache}epsilon = 2\ndelta = 1e-6\nseed = 5\n{job}")).unwrap();
    let file = JobFile::<Spec>::read(&path)?;
    assert_eq!(file.data.cache.is_some(), cached);
    Ok(file.job.check()?.fit(&file.data)?.model)
}

/// The model with its certificate, but for what every run has of its own.
fn assert_same(folder: &Path, job: &str) -> Model {
    let [memory, cached] = [false, true].map(|cached| fitted(folder, job, cached).unwrap());
    let bits = |model: &Model| -> Vec<u64> {
        let weights = model.coefficients().iter().flat_map(|weight| weight.values.clone());
        weights.chain(model.intercept().to_vec()).map(f64::to_bits).collect()
    };
    assert_eq!(bits(&cached), bits(&memory), "{job}");
    assert!(bits(&memory).iter().any(|bits| *bits != 0), "{job}");
    let (own, one) = (cached.certificate(), memory.certificate());
    assert_eq!((own.epsilon, &own.ledger, &own.choice), (one.epsilon, &one.ledger, &one.choice));
    assert_eq!(own.digest, one.digest, "{job}");
    assert_eq!(cached.to_json().unwrap(), memory.to_json().unwrap(), "{job}");
    cached
}

const DENSE: &str = "data = 'table.csv'\nschema = 'plain.toml'\n";
const WEIGHTED: &str = "data = 'table.csv'\nschema = 'weights.toml'\n";
const USERS: &str = "data = 'table.csv'\nschema = 'users.toml'\n";
const SPARSE: &str = "data = 'table.libsvm'\nfeatures = 950\nrow_norm = 2\n";

/// Every algorithm of one table runs on a file with the bits of the fit in memory, or is refused for
/// what it asks, before the table is read.
#[test]
fn every_algorithm_of_sums_has_the_bits_of_the_fit_in_memory() {
    let folder = folder();
    let (mut ran, mut offered) = (Vec::new(), String::new());
    for entry in CATALOGUE {
        let steps = if entry.takes.contains(&"iterations") { "iterations = 3\n" } else { "" };
        let penalty = if entry.needs_penalty { entry.penalty } else { "none" };
        let job = format!("{DENSE}algorithm = '{}'\npenalty = '{penalty}'\n{steps}", entry.name);
        let missing = job.replace("table.csv", "none.csv");
        match fitted(folder.path(), &missing, true) {
            Err(why) if why.to_string().contains("more than sums") => {
                offered = why.to_string();
                continue;
            }
            Err(why) => assert!(why.to_string().contains("none.csv"), "{}: {why}", entry.name),
            Ok(_) => panic!("there is no table"),
        }
        assert!(matches!(entry.kind, AlgorithmKind::Private(_)), "{}", entry.name);
        assert_same(folder.path(), &job);
        ran.push(entry.name);
    }
    for name in ["auto", "dp-sgd", "ssadmm", "mpadmm", "sadmm", "vradmm", "dp-cd", "dp-fw"] {
        assert!(ran.contains(&name), "{name} is not among {ran:?}");
    }
    // Whoever is refused is told of the others, and of no more.
    let list = offered.rsplit("or use ").next().unwrap().replace(" or ", ", ");
    let mut listed: Vec<&str> = list.split(", ").collect();
    listed.sort_unstable();
    ran.sort_unstable();
    assert_eq!(listed, ran, "{offered}");
}

#[test]
fn tables_of_every_kind_have_the_bits_of_the_fit_in_memory() {
    let folder = folder();
    let sgd = "algorithm = 'dp-sgd'\niterations = 3\n";
    for table in [DENSE, WEIGHTED, USERS, SPARSE] {
        for sampling in ["full", "poisson:0.02", "wor:500"] {
            assert_same(folder.path(), &format!("{table}{sgd}sampling = '{sampling}'\n"));
        }
    }
    let removed = "adjacency = 'add-remove'\npublic_n = 90000\n";
    assert_same(folder.path(), &format!("{DENSE}{sgd}{removed}sampling = 'poisson:0.1'\n"));
    assert_same(folder.path(), &format!("{USERS}{sgd}unit = 'record'\nsampling = 'poisson:0.1'\n"));
    let curved = assert_same(folder.path(), &format!("{DENSE}{removed}curves = 'auto'\n"));
    assert!(curved.preprocessing().curved() > 0);
}

/// In coordinates of its own, with weights and for persons; with standard errors; and the
/// best of several.
#[test]
fn auto_and_what_is_asked_beside_it_have_the_bits_of_the_fit_in_memory() {
    let folder = folder();
    for table in [DENSE, WEIGHTED, USERS] {
        assert_same(folder.path(), &format!("{table}iterations = 4\n"));
    }
    let errors = assert_same(folder.path(), &format!("{DENSE}standard_errors = 0.3\n"));
    assert!(errors.standard_errors().is_some());
    let best =
        "algorithm = 'dp-sgd'\niterations = 2\ntune = ['penalty=l2:[0.01,1]']\ntune_runs = 2\n";
    assert_same(folder.path(), &format!("{DENSE}{best}"));
}

/// Nothing is left in the folder, and one that is not there is named before anything is asked.
#[test]
fn a_cache_leaves_nothing_and_needs_a_folder() {
    let folder = folder();
    let names = || {
        let mut names: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|found| found.unwrap().file_name())
            .collect();
        names.sort();
        names
    };
    let job = format!("{DENSE}algorithm = 'dp-sgd'\niterations = 1\n");
    fitted(folder.path(), &job, true).unwrap();
    let before = names();
    fitted(folder.path(), &job, true).unwrap();
    assert_eq!(names(), before);
    let path = folder.path().join("job.toml");
    let text = std::fs::read_to_string(&path).unwrap().replace("cache = '.'", "cache = 'none'");
    std::fs::write(&path, text).unwrap();
    let file = JobFile::<Spec>::read(&path).unwrap();
    let said = file.job.check().unwrap().fit(&file.data).unwrap_err().to_string();
    assert!(said.contains("the cache file cannot be written"), "{said}");
}
