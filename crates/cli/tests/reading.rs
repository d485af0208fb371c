//! From a file to a table, as a user types it: nothing is lost, guessed or written over without a
//! word.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, SCHEMA, csv};

const FIT: &str = "--schema schema.toml --target ill --epsilon 1 --delta 1e-5 --out out";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("schema.toml", SCHEMA);
    folder.write("good.csv", csv(40));
    folder
}

#[test]
fn how_many_records_were_read_is_said_where_it_is_public() {
    let folder = folder();
    let said = folder.reticent("schema check good.csv --schema schema.toml").ok();
    assert!(
        said.out.starts_with("good.csv: every record fits the schema; 40 records were read.\n"),
        "{said:?}"
    );
    let object = folder.reticent("schema check good.csv --schema schema.toml --json").ok().json();
    assert_eq!((&object["records"], &object["counts"]), (&40.into(), &serde_json::Value::Null));
    let said = folder.reticent(&format!("fit good.csv {FIT}")).ok();
    assert!(said.out.starts_with("Fitted 40 records of good.csv in "), "{said:?}");
    let object = folder.reticent(&format!("fit good.csv {FIT} --json")).ok().json();
    assert_eq!(object["records"], 40);
    let hidden =
        folder.reticent(&format!("fit good.csv {FIT} --adjacency add-remove --public-n 50")).ok();
    assert!(
        hidden.out.starts_with("Fitted good.csv in ") && !hidden.out.contains("40"),
        "{hidden:?}"
    );
}

#[test]
fn counts_are_shown_and_said_to_be_not_private() {
    let folder = folder();
    folder.write("t.csv", "age,town,ill\n1,A,no\n,Z,no\n200,B,yes\n");
    let said = folder.reticent("schema check t.csv --schema schema.toml --counts").ok();
    assert!(said.out.contains("NOT PRIVATE") && said.err.contains("NOT PRIVATE"), "{said:?}");
    assert!(said.out.contains("3 records, 2 rows shortened"), "{said:?}");
    let object =
        folder.reticent("schema check t.csv --schema schema.toml --counts --json").ok().json();
    assert_eq!(object["private"], false);
    assert_eq!(object["counts"]["columns"][1]["unknown"], 1, "{object}");
    assert_eq!(object["counts"]["columns"][0]["clipped"], 1, "{object}");
}

#[test]
fn a_draft_writes_over_nothing() {
    let folder = folder();
    folder.write("mine.toml", "written by hand");
    let before = folder.contents();
    for line in ["schema init good.csv --out good.csv", "schema init good.csv --out mine.toml"] {
        let said = folder.reticent(line);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.err.contains("is there already") && said.err.contains("--force"), "{said:?}");
    }
    assert_eq!(folder.contents(), before);
    folder.reticent("schema init good.csv --out mine.toml --force").ok();
    assert!(folder.read("mine.toml").contains("READ FROM THAT FILE"));
}

#[test]
fn a_start_without_a_public_sample() {
    let folder = folder();
    folder.write("private.csv", "age,town,ill\n77,SECRET,no\n");
    folder.reticent("schema init private.csv --header-only --target ill --out new.toml").ok();
    let skeleton = folder.read("new.toml");
    assert!(!skeleton.contains("SECRET") && skeleton.contains("\"TODO\""), "{skeleton}");
    let said = folder.reticent(&format!("fit good.csv {}", FIT.replace("schema.toml", "new.toml")));
    assert!(said.code == 2 && said.err.contains("TODO"), "{said:?}");
}

#[test]
fn standard_input_and_several_files_are_tables() {
    let folder = folder();
    let said = folder.shell(&format!("reticent fit - --format csv {FIT} < good.csv")).ok();
    assert!(said.out.starts_with("Fitted 40 records of - in "), "{said:?}");
    let said = folder.shell(&format!("reticent fit - {FIT} < good.csv")).ok();
    assert!(said.out.starts_with("Fitted 40 records of - in "), "text is what is piped: {said:?}");
    let said = folder.shell("reticent schema check - --schema schema.toml < good.csv").ok();
    assert!(said.out.contains("40 records were read"), "{said:?}");
    let said = folder.reticent(&format!("fit good.csv good.csv {FIT}")).ok();
    assert!(said.out.starts_with("Fitted 80 records of good.csv and 1 more in "), "{said:?}");
    assert!(said.err.contains("good.csv is given twice"), "{said:?}");
    folder.write("more.csv", csv(40));
    let said = folder.reticent(&format!("fit good.csv more.csv {FIT}")).ok();
    assert!(!said.err.contains("twice"), "{said:?}");
    folder.write(
        "job.toml",
        "data = 'good.csv'\nmore-data = ['good.csv']\nschema = 'schema.toml'\ntarget = 'ill'\n",
    );
    let said = folder.reticent("fit --spec job.toml --epsilon 1 --delta 1e-5 --out out").ok();
    assert!(said.out.starts_with("Fitted 80 records"), "{said:?}");
}

#[test]
fn labels_of_0_and_1_hint_at_classes() {
    let folder = folder();
    folder.write("t.svm", "1 1:1\n0 2:1\n");
    let said =
        folder.reticent("fit t.svm --features 2 --row-norm 1 --epsilon 1 --delta 1e-5 --out out");
    assert!(said.code == 2 && said.err.contains("--classes 0,1"), "{said:?}");
    folder
        .reticent(
            "fit t.svm --features 2 --row-norm 1 --classes 0,1 --epsilon 1 --delta 1e-5 --out out",
        )
        .ok();
}

#[test]
fn what_has_no_end_is_refused() {
    let folder = folder();
    for line in [
        format!("fit /dev/zero --format csv --max-line 1000000 {FIT}"),
        format!("fit good.csv {}", FIT.replace("schema.toml", "/dev/zero")),
        format!("fit good.csv {FIT} --spec /dev/zero"),
        "inspect /dev/zero".to_owned(),
    ] {
        assert_eq!(folder.reticent(&line).code, 2, "{line}");
    }
}
