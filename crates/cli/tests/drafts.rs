//! A schema that was drafted from a file says so, and a model of that very file is no guarantee.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, csv};
use std::io::Write;

const BUDGET: &str = "--epsilon 1 --delta 1e-5 --iterations 5 --out m";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", csv(200));
    folder.write("other.csv", csv(150));
    folder.reticent("schema init t.csv --target ill --out s.toml").ok();
    folder
}

#[test]
fn a_model_of_the_file_that_its_schema_was_drafted_from_is_tainted() {
    let folder = folder();
    for line in [
        format!("fit t.csv --schema s.toml {BUDGET}"),
        format!(
            "fit t.csv --schema s.toml {BUDGET} --algorithm sadmm --tune penalty=l1:[1e-4,1e-3]"
        ),
        format!("simulate --data t.csv --schema s.toml {BUDGET} --split 4"),
        format!("simulate --data t.csv --schema s.toml {BUDGET} --split 4 --trust central"),
        format!(
            "simulate --data t.csv --schema s.toml {BUDGET} --split 4 --trust secure-aggregation"
        ),
    ] {
        let said = folder.reticent(&format!("{line} --json")).ok();
        let object = said.json();
        assert_eq!(object["certified"], false, "{line}: {object}");
        assert!(
            object["reasons"].to_string().contains("drafted from this very table"),
            "{line}: {object}"
        );
        assert!(
            said.err.contains("NOT PRIVATE") && said.err.contains("public = true"),
            "{line}: {}",
            said.err
        );
        let certificate = folder.read("m/certificate.json");
        assert!(certificate.contains("unpaid-read"), "{line}: {certificate}");
    }
    let parties = folder.read("m/parties.json");
    assert!(!parties.contains("\"certified\": true"), "{parties}");
    let said =
        folder.reticent(&format!("fit other.csv --schema s.toml {BUDGET} --json")).ok().json();
    assert_eq!(said["certified"], true, "{said}");
}

/// A model keeps no word of where its schema came from, but its books do.
#[test]
fn the_evaluation_of_such_a_model_is_no_guarantee() {
    let folder = folder();
    folder.reticent(&format!("fit t.csv --schema s.toml {BUDGET}")).ok();
    let line = "evaluate m t.csv --epsilon 1 --delta 1e-6 --json";
    let said = folder.reticent(line).ok().json();
    assert!(said.to_string().contains("drafted from this very table"), "{said}");
    assert!(!said.to_string().contains("\"certified\":true"), "{said}");
}

/// Every kind of job that has a certificate, on the table that the schema was drafted from. A kind
/// that is added belongs here.
#[test]
fn every_job_on_the_table_that_the_schema_was_drafted_from_is_tainted() {
    let folder = folder();
    let spent = "--epsilon 1 --delta 1e-5";
    folder.reticent(&format!("fit other.csv --schema s.toml {BUDGET}")).ok();
    for line in [
        format!("fit t.csv --schema s.toml {spent} --out a --standard-errors 0.2"),
        format!("fit t.csv --schema s.toml {spent} --out b --iterations 5 --trace b.csv"),
        format!(
            "fit t.csv --schema s.toml {spent} --out c --algorithm sadmm --tune penalty=l1:[1e-4,1e-3]"
        ),
        format!("simulate --data t.csv --schema s.toml {spent} --split 4 --iterations 5 --out d"),
        format!("count t.csv --schema s.toml {spent}"),
        format!("count t.csv --schema s.toml {spent} --by-class"),
        format!("evaluate m t.csv {spent}"),
        format!("evaluate m t.csv {spent} --schema s.toml"),
    ] {
        let said = folder.reticent(&format!("{line} --json")).ok().json();
        assert_eq!(said["certified"], false, "{line}: {said}");
        assert!(said.to_string().contains("drafted from this very table"), "{line}: {said}");
    }
    // What a sweep does with private data is paid from a budget, which takes no such run.
    let grid = "data = 't.csv'\nschema = 's.toml'\nepsilon = 1.0\ndelta = 1e-5\n\
                [sweep]\niterations = [2, 3]\n";
    folder.write("sweep.toml", grid);
    folder.reticent("budget new b.json --epsilon 9 --delta 1e-3").ok();
    let said = folder.reticent("sweep sweep.toml --budget b.json --out swept");
    assert!(
        said.code != 0 && said.err.contains("no budget holds this job: something read"),
        "{}",
        said.err
    );
}

/// A model does not know the file of its schema, so another table is another only by the draft.
#[test]
fn the_draft_tells_an_evaluation_that_its_table_is_another() {
    let folder = folder();
    folder.write("third.csv", csv(170));
    folder.reticent(&format!("fit other.csv --schema s.toml {BUDGET}")).ok();
    let origin = "the schema was drafted from a file that is not declared public";
    assert!(folder.read("m/certificate.json").contains(origin));
    let line = "evaluate m third.csv --epsilon 1 --delta 1e-6 --json";
    let unknown = folder.reticent(line).ok();
    assert_eq!(unknown.json()["certified"], false, "{}", unknown.out);
    assert!(unknown.err.contains("--schema"), "{}", unknown.err);
    folder.reticent(&format!("{line} --schema s.toml --out e.json")).ok();
    let told: serde_json::Value = serde_json::from_str(&folder.read("e.json")).unwrap();
    assert_eq!(told["certified"], true, "{told}");
    assert!(told.to_string().contains(origin), "the assumption is kept: {told}");
    // A draft of something else says nothing of this model.
    folder.reticent("schema init third.csv --target ill --out no.toml").ok();
    let said = folder.reticent(&format!("{line} --schema no.toml"));
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.out.contains("names no such draft"), "{}", said.out);
}

/// Two months are two files of one name. The draft of February compares the table with February, and
/// the model was fitted under bounds of January.
#[test]
fn a_draft_of_another_file_of_the_same_name_is_refused() {
    let folder = folder();
    folder.reticent(&format!("fit other.csv --schema s.toml {BUDGET}")).ok();
    folder.write("january.csv", csv(200));
    let town = csv(1).lines().nth(1).unwrap().split(',').nth(1).unwrap().to_owned();
    folder.write("t.csv", csv(200) + &format!("150,{town},no\n"));
    folder.reticent("schema init t.csv --target ill --out february.toml").ok();
    let line = "evaluate m january.csv --epsilon 1 --delta 1e-6 --json --schema";
    let said = folder.reticent(&format!("{line} february.toml"));
    assert_eq!(said.code, 2, "{}", said.out);
    assert!(said.out.contains("names no such draft"), "{}", said.out);
    assert_eq!(folder.reticent(&format!("{line} s.toml")).ok().json()["certified"], false);
}

/// What a model takes as given of its schema, its evaluation takes as given too.
#[test]
fn an_evaluation_keeps_what_the_model_takes_as_given_of_its_draft() {
    let folder = folder();
    let draft = folder.read("s.toml");
    folder.write("s.toml", draft.replace("public = false", "public = true"));
    folder.reticent(&format!("fit other.csv --schema s.toml {BUDGET}")).ok();
    let line = "evaluate m t.csv --epsilon 1 --delta 1e-6 --json --out e.json";
    assert_eq!(folder.reticent(line).ok().json()["certified"], true);
    let told = folder.read("e.json");
    assert!(told.contains("the schema was drafted from, t.csv, is public"), "{told}");
}

/// The bytes are what counts, not the name, and not how they are packed.
#[test]
fn the_same_table_under_another_name_or_packed_is_the_same_table() {
    let folder = folder();
    folder.write("copy.csv", csv(200));
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(csv(200).as_bytes()).unwrap();
    folder.write("packed.csv.gz", packed.finish().unwrap());
    for file in ["copy.csv", "packed.csv.gz"] {
        let said =
            folder.reticent(&format!("fit {file} --schema s.toml {BUDGET} --json")).ok().json();
        assert_eq!(said["certified"], false, "{file}: {said}");
    }
    let piped = folder.shell(&format!(
        "cat t.csv | reticent fit /dev/stdin --format csv --schema s.toml {BUDGET} --json"
    ));
    assert_eq!(piped.ok().json()["certified"], false);
    let piped = folder
        .shell(&format!("cat t.csv | reticent fit - --format csv --schema s.toml {BUDGET} --json"));
    assert_eq!(piped.ok().json()["certified"], false);
}

/// Of several files that are one table, each is compared.
#[test]
fn one_of_several_files_is_the_one_that_the_schema_was_drafted_from() {
    let folder = folder();
    for (files, certified) in [
        ("t.csv other.csv", false),
        ("other.csv t.csv", false),
        ("other.csv t.csv other.csv", false),
        ("other.csv other.csv", true),
    ] {
        let said =
            folder.reticent(&format!("fit {files} --schema s.toml {BUDGET} --json")).ok().json();
        assert_eq!(said["certified"], certified, "{files}: {said}");
    }
}

#[test]
fn an_owner_who_says_that_the_file_is_public_has_a_guarantee_that_says_so() {
    let folder = folder();
    let draft = folder.read("s.toml");
    assert!(draft.contains("public = false"), "{draft}");
    folder.write("s.toml", draft.replace("public = false", "public = true"));
    let said = folder.reticent(&format!("fit t.csv --schema s.toml {BUDGET} --json")).ok().json();
    assert_eq!(said["certified"], true, "{said}");
    assert!(
        folder.read("m/certificate.json").contains("the schema was drafted from, t.csv, is public")
    );
}

/// A digest of a private table confirms a guess at it. In a model, which is published, there is
/// none.
#[test]
fn neither_the_model_nor_the_certificate_has_the_digest() {
    let folder = folder();
    let draft = folder.read("s.toml");
    let value = |name: &str| {
        let line = draft.lines().find(|line| line.starts_with(&format!("{name} = "))).unwrap();
        line.split('"').nth(1).unwrap().to_owned()
    };
    let (key, digest) = (value("key"), value("digest"));
    assert_eq!((key.len(), digest.len()), (64, 64));
    folder.reticent(&format!("fit t.csv --schema s.toml {BUDGET}")).ok();
    for file in ["m/model.json", "m/certificate.json"] {
        let text = folder.read(file);
        assert!(
            !text.contains(&key) && !text.contains(&digest) && !text.contains("drafted\":"),
            "{file}"
        );
    }
    // Another draft of the same file has another key, and so another digest.
    folder.reticent("schema init t.csv --target ill --out again.toml").ok();
    assert!(!folder.read("again.toml").contains(&digest));
}
