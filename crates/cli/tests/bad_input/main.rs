//! Every bad input gives its message, exit code 2 (3 when the budget is refused), leaves nothing
//! behind and shows no value of the table. The same list is in the README of this crate, and a test
//! keeps the two together.
#![allow(clippy::unwrap_used)]

mod budget;
mod case;
mod files;
mod parties;
mod problem;

use crate::common::{Folder, SCHEMA, Said, csv};
use case::{Case, GOOD, is, line};

fn cases() -> impl Iterator<Item = &'static Case> {
    [files::CASES, budget::CASES, problem::CASES, parties::CASES].into_iter().flatten()
}

fn folder() -> Folder {
    let folder = Folder::new();
    let table = csv(40);
    folder.write("schema.toml", SCHEMA);
    folder.write("good.csv", &table);
    folder.write("good.txt", &table);
    folder.write("empty.csv", "");
    folder.write("header.csv", "age,town,ill\n");
    folder.write("ragged.csv", "age,town,ill\n1,A,no\n2,B\n");
    folder.write("text.csv", "age,town,ill\nSECRET,A,no\n");
    folder.write("nan.csv", "age,town,ill\nNaN,A,no\n");
    folder.write("inf.csv", "age,town,ill\n-inf,A,no\n");
    folder.write("label.csv", "age,town,ill\n1,A,SECRET\n");
    folder.write("nolabel.csv", "age,town,ill\n1,A,\n");
    folder.write("twice.csv", "age,age,town,ill\n1,1,A,no\n");
    folder.write("fewer.csv", "age,ill\n1,no\n");
    folder.write("more.csv", "age,town,ill,SECRET\n1,A,no,2\n");
    folder.write("nohead.csv", "SECRET,A,no\n");
    folder.write("semicolon.csv", table.replace(',', ";"));
    folder.write("other.csv", "height,weight\n1,2\n");
    folder.write("cut.csv.gz", &gz(&csv(2_000))[..1_000]);
    folder.write("quote.csv", "age,town,ill\n1,A,no\n2,A,\"no\n3,A,no\n");
    folder.write("quotes.csv", "age,town,ill\n1,\"A,no\n2,\"A\",no\n");
    folder.write("latin.csv", b"age,town,ill\n1,\xe9,no\n");
    folder.write("utf16.csv", b"\xff\xfea\0g\0e\0");
    folder.write("label.svm", "0 1:1\n1 2:1\n");
    folder.write("not.parquet", "no parquet at all");
    folder.write("good.svm", "+1 1:1 3:0.5\n-1 2:1\n");
    folder.write("index.svm", "+1 1:1\n-1 4:1\n");
    folder.write("pair.svm", "+1 SECRET\n");
    folder.write("duplicate.toml", format!("{SCHEMA}[[column]]\nname = 'age'\nkind = 'ignored'\n"));
    folder.write("norm.toml", SCHEMA.replace("row_norm = 1", "row_norm = 0"));
    let target = &SCHEMA[SCHEMA.rfind("[[column]]").unwrap()..];
    folder.write("nofeatures.toml", format!("row_norm = 1\n{target}"));
    folder.write("bad_job.toml", "epsilom = 1.0\n");
    folder.write("half_job.toml", "iterations = 3.5\n");
    folder.write("parties.toml", "[parties]\nsplit = 3\n");
    folder.write("lists.toml", "clip = [1, 2]\n");
    folder.write("three.toml", SCHEMA.replace("['no', 'yes']", "['no', 'yes', 'maybe']"));
    folder.write("edges.txt", "age town=A\n");
    folder.write("unknown.txt", "age town=A\nage hieght\n");
    folder.write("zero.txt", "1 2\n0 2\n");
    folder.write("rank.txt", "0 age 1\n1 age 2\n");
    folder.write("wide.txt", "0 age 1\n1 7 1\n");
    folder.reticent(&format!("fit good.csv {} --out model", GOOD.replace(" --out out", ""))).ok();
    let model = folder.read("model/model.json");
    folder.write("changed_model.json", model.replacen("\"row_norm\": 1.0", "\"row_norm\": 2.0", 1));
    folder.write("cut_model.json", &folder.read("model/model.json")[..200]);
    folder
}

fn gz(text: &str) -> Vec<u8> {
    use std::io::Write;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

#[test]
fn every_bad_input_is_refused_by_its_message_and_leaves_nothing_behind() {
    let folder = folder();
    let before = folder.contents();
    for case in cases() {
        let line = line(case);
        let Said { code, out, err } = folder.reticent(&line);
        assert_eq!(code, case.code, "{line}\n{out}{err}");
        assert_eq!(out, "", "{line}");
        let said = err.strip_prefix("error: ").unwrap_or_else(|| panic!("{line}\n{err}"));
        let message = said.split("\n hint: ").next().unwrap();
        let message =
            message.split("\n\nUsage:").next().unwrap().split("\n\nFor more").next().unwrap();
        let message = message.split("\n\n  tip:").next().unwrap();
        assert!(is(case.message, message), "{line}\n  is  {message:?}\nwant {:?}", case.message);

        let said = folder.reticent(&format!("{line} --json"));
        assert_eq!(said.code, case.code, "{line} --json");
        let object = said.json();
        assert!(is(case.message, object["error"].as_str().unwrap()), "{line}\n{object}");
        assert!(!object["hint"].as_str().unwrap().is_empty(), "{line}\n{object}");
        assert!(!format!("{err}{}{}", said.out, said.err).contains("SECRET"), "{line}\n{err}");
    }
    assert_eq!(folder.contents(), before);
}

#[test]
fn the_readme_lists_every_case() {
    let readme = include_str!("../../README.md");
    for case in cases() {
        let line = format!("`{}`", case.line.replace("GOOD", "…").replace("SVM", "…"));
        assert!(readme.contains(&line), "the README lacks {line}");
        let message = case.message.trim_end_matches('…').trim_end();
        assert!(readme.contains(message), "the README lacks {message}");
    }
}

/// A limit on the size of files stands for a full disk: every write fails.
#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = folder();
    let before = folder.contents();
    let full = "trap '' XFSZ; ulimit -f 0; exec reticent";
    for (line, named) in [
        (format!("fit good.csv {GOOD}"), "out/certificate.json"),
        (
            format!("fit good.csv {} --out model", GOOD.replace(" --out out", "")),
            "model/certificate.json",
        ),
        ("predict model good.csv --out p.csv".to_owned(), "p.csv"),
        ("schema init good.csv --out s.toml".to_owned(), "s.toml"),
        ("demo".to_owned(), "reticent-demo/patients.csv"),
    ] {
        // The sizes are limited for regular files, and standard output is a pipe here.
        let said = folder.shell(&format!("{full} {line}"));
        // Noise was drawn for a fit: its model is shown, for it cannot be had again.
        let fitted = line.starts_with("fit");
        assert_eq!(said.code, if fitted { 4 } else { 2 }, "{line}: {said:?}");
        assert!(said.out.contains("coefficients") == fitted, "{line}: {said:?}");
        assert!(said.err.contains(&format!("cannot write {named}: ")), "{line}: {said:?}");
        assert!(said.err.contains("error: "), "{line}: {said:?}");
        assert!(said.err.contains("hint: "), "{line}: {said:?}");
    }
    std::fs::remove_dir(folder.path().join("reticent-demo")).unwrap();
    assert_eq!(folder.contents(), before);

    let said = folder.shell("reticent predict model good.csv > /dev/full");
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.starts_with("error: cannot write to standard output: "), "{said:?}");
}

/// What well-formed private data may be is no error: an error would tell.
#[test]
fn what_would_tell_something_about_the_data_is_no_error() {
    let folder = Folder::new();
    folder.write("schema.toml", SCHEMA);
    for (name, table) in [
        ("one class", "age,town,ill\n1,A,no\n2,B,no\n3,A,no\n"),
        ("one record", "age,town,ill\n1,A,no\n"),
        ("zero rows", "age,town,ill\n50,Z,no\n50,,yes\n"),
        ("missing, unknown and outside the bounds", "age,town,ill\n,A,no\n-7,Z,yes\n999,B,no\n"),
    ] {
        folder.write("t.csv", table);
        for flags in [
            "",
            "--sampling poisson:0.001 --iterations 20",
            "--adjacency add-remove --public-n 1000",
        ] {
            let said = folder.reticent(&format!("fit t.csv {GOOD} {flags} --json"));
            assert_eq!(said.code, 0, "{name}, {flags}: {said:?}");
            let object = said.json();
            assert_eq!(object["certified"], true, "{name}, {flags}: {object}");
        }
        folder.reticent("predict out t.csv").ok();
        let quality = folder.reticent("evaluate out t.csv --json").ok().json();
        // A class that does not occur leaves the AUC undefined.
        assert_eq!(
            quality["auc"].is_null(),
            name == "one class" || name == "one record",
            "{name}: {quality}"
        );
    }
}

/// What nobody reads any more is not said, and what was done is done.
#[test]
fn a_closed_standard_error_is_no_crash() {
    let folder = folder();
    for line in [format!("fit good.csv {GOOD} --seed 1"), format!("fit none.csv {GOOD}")] {
        let said = folder
            .shell(&format!("reticent {line} 2>&1 >/dev/null | true; exit ${{PIPESTATUS[0]}}"));
        let code = if line.contains("none") { 2 } else { 0 };
        assert_eq!(said.code, code, "{line}: {said:?}");
    }
}

/// What is promised and worth little is promised with a remark.
#[test]
fn a_weak_budget_is_remarked_on() {
    let folder = folder();
    let fit = |flags: &str| {
        folder.reticent(&format!("fit good.csv --schema schema.toml --out weak {flags}")).ok().err
    };
    let said = fit("--epsilon 1 --delta 0.05");
    assert!(
        said.contains("delta = 5e-2 is not below one over the number of records (40)"),
        "{said}"
    );
    let said = fit("--epsilon 100 --delta 1e-5");
    assert!(said.contains("epsilon = 100.0 is large") && !said.contains("is not below"), "{said}");
    let said = fit("--epsilon 1 --delta 1e-5");
    assert!(!said.contains("is large") && !said.contains("is not below"), "{said}");
}
