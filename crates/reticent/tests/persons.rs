//! Who is who, from the cell of an id to the model: spellings of one id, the order of rows and how
//! they are dealt to files change nothing where persons are protected.

#![allow(clippy::unwrap_used)] // helpers of tests count as code outside tests

use std::path::{Path, PathBuf};

use reticent::tables::{Dataset, Owners, Schema, Target};
use reticent::{Budget, Files, Fit, Guarantee, Model, Spec, Unit};

const PERSONS: usize = 40;
const SCHEMA: &str = "row_norm = 1\n\
    [[column]]\nname = 'a'\nkind = 'numeric'\nlower = 0\nupper = 1\n\
    [[column]]\nname = 'who'\nkind = 'user'\n\
    [[column]]\nname = 'b'\nkind = 'target'\nclasses = ['no', 'yes']\n";

/// Records (feature, person) of January and February, each person in both.
fn records() -> [Vec<(f64, usize)>; 2] {
    let month = |m: usize| {
        (0..PERSONS).map(move |i| (((i * 7 + m * 3) % 40) as f64 / 40.0, i * 11 % PERSONS))
    };
    [month(0).collect(), month(1).collect()]
}

fn write(path: &Path, records: &[(f64, usize)], spell: impl Fn(usize) -> String) {
    let line = |&(a, who): &(f64, usize)| {
        format!("{a},{},{}\n", spell(who), if a > 0.5 { "yes" } else { "no" })
    };
    let lines: String = records.iter().map(line).collect();
    std::fs::write(path, format!("a,who,b\n{lines}")).unwrap();
}

fn fit(folder: &Path, algorithm: &str, files: &[PathBuf]) -> Model {
    std::fs::write(folder.join("schema.toml"), SCHEMA).unwrap();
    let spec = Spec::default().with(|it| {
        it.guarantee = Guarantee::default().with(|it| {
            it.epsilon = Some(4.0);
            it.delta = Some(1e-5);
            it.seed = Some(7);
        });
        it.schema = Some(folder.join("schema.toml"));
        it.algorithm = Some(algorithm.into());
    });
    let files = Files::all(files.to_vec());
    spec.check().unwrap().fit(files).unwrap().model
}

/// All numbers of a model.
fn learnt(model: &Model) -> Vec<f64> {
    let weights = model.coefficients().iter().flat_map(|one| &one.values);
    weights.chain(model.intercept()).copied().collect()
}

/// January and February with a spelling each.
fn months(folder: &Path, algorithm: &str, spell: [fn(usize) -> String; 2]) -> Model {
    let files = ["jan.csv", "feb.csv"].map(|name| folder.join(name));
    for ((file, records), spell) in files.iter().zip(records()).zip(spell) {
        write(file, &records, spell);
    }
    fit(folder, algorithm, &files)
}

fn plain(who: usize) -> String {
    who.to_string()
}

/// As pandas writes a column that had a gap.
fn float(who: usize) -> String {
    format!("{who}.0")
}

#[test]
fn two_spellings_of_a_person_are_one_person_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let padded = |who: usize| format!("+{who:05}");
    for algorithm in ["dp-sgd", "ssadmm"] {
        let once = months(folder.path(), algorithm, [plain, plain]);
        assert_eq!(once.certificate().population, PERSONS as u64);
        for spell in [[plain, float], [float, plain], [padded, float]] {
            let twice = months(folder.path(), algorithm, spell);
            assert_eq!(learnt(&twice), learnt(&once));
            assert_eq!(twice.certificate().population, PERSONS as u64);
        }
    }
}

/// What a person is summed over first is the order of their own rows, which stays.
#[test]
fn the_order_of_persons_and_the_cut_into_files_change_no_bit() {
    let folder = tempfile::tempdir().unwrap();
    let all: Vec<(f64, usize)> = records().concat();
    let mut grouped = all.clone();
    grouped.sort_by_key(|&(_, who)| who * 17 % PERSONS);
    let place = |name: &str| folder.path().join(name);
    write(&place("all.csv"), &all, plain);
    write(&place("grouped.csv"), &grouped, plain);
    write(&place("first.csv"), &all[..23], plain);
    write(&place("rest.csv"), &all[23..], float);
    for algorithm in ["dp-sgd", "ssadmm"] {
        let fit = |names: &[&str]| {
            let files: Vec<PathBuf> = names.iter().map(|name| place(name)).collect();
            learnt(&fit(folder.path(), algorithm, &files))
        };
        let expected = fit(&["all.csv"]);
        assert_eq!(fit(&["grouped.csv"]), expected, "{algorithm}: rows interleaved otherwise");
        assert_eq!(fit(&["first.csv", "rest.csv"]), expected, "{algorithm}: in two files");
    }
}

/// Owners beside a table in memory are those of a column of a file.
#[test]
fn owners_in_memory_are_the_persons_of_a_file() {
    let x: Vec<f64> = records().concat().iter().map(|record| record.0).collect();
    let y: Vec<u32> = x.iter().map(|&a| u32::from(a > 0.5)).collect();
    let who: Vec<usize> = records().concat().iter().map(|record| record.1).collect();
    let schema = Schema::bounded(&[(0.0, 1.0)], Target::classes(["no", "yes"]).unwrap()).unwrap();
    let fit = |owners: Owners<'_>| {
        let table = Dataset::dense(&x, x.len(), 1).unwrap().with_targets(&y).unwrap();
        let job = Fit::new(schema.clone()).budget(Budget::new(4.0, 1e-5).unwrap());
        let job = job.unit(Unit::User).seed(7).check().unwrap();
        learnt(&job.fit(&table.with_owners(owners).unwrap()).unwrap().model)
    };
    let ids: Vec<u64> = who.iter().map(|&who| who as u64).collect();
    let expected = fit(Owners::from(&ids));
    let names: Vec<String> = who.iter().map(|&who| float(who)).collect();
    assert_eq!(fit(Owners::from(&names)), expected);
}

#[test]
fn a_certificate_of_persons_says_how_they_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let model = months(folder.path(), "dp-sgd", [plain, plain]);
    let said = |rule: &str| model.certificate().assumptions.iter().any(|line| line.contains(rule));
    assert!(said("one id") && said("NFC"), "{:?}", model.certificate().assumptions);
    assert!(model.certificate().verify(None).unwrap().holds());
}
