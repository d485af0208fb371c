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

#[test]
fn a_record_is_not_taken_for_the_names_of_columns() {
    let folder = Folder::new();
    for line in ["87,f,Chur", "f,2020-01-31,Chur", "f,Chur,f", "Chur,,f", "f,?,Chur", "f;3,5;Chur"]
    {
        folder.write("t.csv", format!("{line}\n45,m,Bern\n"));
        let delimiter = if line.contains(';') { " --delimiter ;" } else { "" };
        let said = folder.reticent(&format!("schema init t.csv --header-only{delimiter}"));
        assert!(said.code == 2 && said.err.contains("looks like a record"), "{line}: {}", said.err);
        assert!(said.err.contains("--no-header") && said.err.contains("--header"), "{}", said.err);
        for value in ["87", "Chur", "2020"] {
            assert!(!said.err.contains(value) && said.out.is_empty(), "{value} in {}", said.err);
        }
        let line = format!("schema init t.csv --header-only{delimiter} --no-header");
        assert!(folder.reticent(&line).ok().out.contains("column_3"));
        let line = format!("schema init t.csv --header-only{delimiter} --header");
        assert!(folder.reticent(&line).ok().out.contains("Chur"));
    }
    for names in ["age,town,ill", "0,1,2", "1,2,3", ",age,ill", "id"] {
        folder.write("t.csv", format!("{names}\n"));
        folder.reticent("schema init t.csv --header-only").ok();
    }
}

/// 200 records: age, income, town and a label of 1 and 2.
fn records(delimiter: char, comma: bool) -> String {
    let mut text = format!("age{delimiter}income{delimiter}town{delimiter}label\n");
    for i in 0..200 {
        let income = format!("{}.{}", 100 + i * 37 % 90, i % 7);
        let income = if comma { income.replace('.', ",") } else { income };
        let (town, label) = (["a", "b"][i % 2], 1 + i % 2);
        text += &format!("{}{delimiter}{income}{delimiter}{town}{delimiter}{label}\n", 20 + i % 60);
    }
    text
}

const FIT: &str = "--target label --epsilon 1 --delta 1e-6 --iterations 3 --out";

#[test]
fn a_file_between_semicolons_names_the_delimiter() {
    let folder = Folder::new();
    folder.write("t.csv", records(';', false));
    for line in
        ["schema init t.csv", "schema init t.csv --header-only", "schema init t.csv --target label"]
    {
        let said = folder.reticent(line);
        assert!(said.code == 2 && said.err.contains("--delimiter ';'"), "{line}: {}", said.err);
    }
    let said = folder.reticent("schema init t.csv --delimiter ; --target label --out s.toml").ok();
    assert!(said.err.contains("drafted as 2 classes"), "{}", said.err);
    folder.reticent(&format!("fit t.csv --schema s.toml {FIT} m")).ok();
    folder.reticent("predict m t.csv").ok();
}

#[test]
fn the_format_of_a_draft_is_remembered_by_schema_and_model() {
    let folder = Folder::new();
    folder.write("t.txt", records('\t', false));
    let said = folder.reticent("schema init t.txt --target label");
    assert!(said.code == 2 && said.err.contains("--format"), "{}", said.err);
    folder.reticent("schema init t.txt --format tsv --target label --out s.toml").ok();
    folder.reticent(&format!("fit t.txt --schema s.toml {FIT} m")).ok();
    folder.reticent("predict m t.txt").ok();
    let said = folder.reticent("schema init t.txt --format tsv --header-only").ok();
    assert!(said.out.contains(r#"delimiter = "\t""#), "{}", said.out);
}

#[test]
fn the_unnamed_column_of_pandas_is_ignored() {
    let folder = Folder::new();
    let text = records(',', false);
    let mut lines = text.lines();
    let mut table = format!(",{}\n", lines.next().unwrap());
    lines.enumerate().for_each(|(i, line)| table += &format!("{i},{line}\n"));
    folder.write("t.csv", table);
    let said = folder.reticent("schema init t.csv --target label --out s.toml").ok();
    assert!(said.err.contains("has no name") && folder.read("s.toml").contains("name = \"\""));
    folder.reticent(&format!("fit t.csv --schema s.toml {FIT} m")).ok();
    folder.reticent("predict m t.csv").ok();
    assert!(
        folder.reticent("schema init t.csv --header-only").ok().out.contains("kind = \"ignored\"")
    );
}

#[test]
fn decimal_commas_are_noticed_and_offered() {
    let folder = Folder::new();
    folder.write("t.csv", records(';', true));
    let line = "schema init t.csv --delimiter ; --target label --out s.toml --force";
    let said = folder.reticent(line).ok();
    assert!(said.err.contains("\"income\" looks like numbers with a comma"), "{}", said.err);
    assert!(said.err.contains("--decimal ,"), "{}", said.err);
    folder.reticent(&format!("{line} --decimal ,")).ok();
    let schema = folder.read("s.toml");
    assert!(schema.contains("decimal = \",\"") && !schema.contains("TODO"), "{schema}");
    assert!(schema.contains("lower = 100.0"), "{schema}");
    folder.reticent(&format!("fit t.csv --schema s.toml {FIT} m")).ok();
    // What may be thousands is nobody's guess.
    folder.write("t.csv", records(';', true) + "30;1.234;a;1\n");
    let said = folder.reticent(&format!("{line} --decimal ,")).ok();
    assert!(said.err.contains("points as well as with commas"), "{}", said.err);
    let said = folder.reticent("schema init t.csv --decimal ,");
    assert!(said.code == 2 && said.err.contains("decimal and delimiter"), "{}", said.err);
}

#[test]
fn columns_to_decide_are_counted_in_the_row_norm() {
    let folder = Folder::new();
    folder.write("t.csv", records(',', false));
    folder.reticent("schema init t.csv --out s.toml").ok();
    let draft = folder.read("s.toml");
    // age, income and town are at most 1 each, and the label of 1 and 2 is to be decided.
    assert!(
        draft.contains("kind = \"TODO\"") && draft.contains("counts 1 for each of the 1"),
        "{draft}"
    );
    let norm = |draft: &str| -> f64 {
        let line = draft.lines().find(|line| line.starts_with("row_norm")).unwrap();
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let filled =
        draft.replace("kind = \"TODO\"", "kind = \"categorical\"\ncategories = [\"1\", \"2\"]");
    folder.write("filled.toml", &filled);
    let shortened = |name: &str| {
        let line = format!("schema check t.csv --schema {name} --counts --json");
        folder.reticent(&line).ok().json()["counts"]["shortened"].as_u64().unwrap()
    };
    assert!(norm(&draft) > 1.9 && shortened("filled.toml") <= 2, "{draft}");
}

#[test]
fn a_label_of_one_and_two_is_not_drafted_as_a_regression_without_a_word() {
    let folder = Folder::new();
    folder.write("t.csv", records(',', false));
    let said = folder.reticent("schema init t.csv --out s.toml").ok();
    assert!(
        said.err.contains("\"label\" looks like a code: whole numbers, 2 different ones"),
        "{}",
        said.err
    );
    let said = folder.reticent(&format!("fit t.csv --schema s.toml {FIT} m"));
    assert!(said.code == 2 && said.err.contains("TODO"), "{}", said.err);
    let said = folder.reticent("schema init t.csv --target age --out a.toml").ok();
    assert!(said.err.contains("drafted as an amount, for a regression"), "{}", said.err);
}

/// The comments of a draft named keys of a job file where flags are typed, and who drafted again as
/// they said was refused: the draft was there.
#[test]
fn a_draft_that_is_to_be_made_again_says_how() {
    let folder = Folder::new();
    let rows: String = (0..60).map(|i| format!("{},{};{}\n", i, i % 10, i % 2)).collect();
    folder.write("t.csv", format!("size;ill\n{rows}"));
    let said = folder.reticent("schema init t.csv --delimiter ; --target ill --out s.toml").ok();
    assert!(
        said.err.contains("--decimal ,") && said.err.contains("give --force too"),
        "{}",
        said.err
    );
    let comments = folder.read("s.toml");
    assert!(comments.contains("draft again with --decimal ,"), "{comments}");
    let again = "schema init t.csv --delimiter ; --decimal , --target ill --out s.toml --force -q";
    let said = folder.reticent(again).ok();
    assert!(!said.err.contains("draft again"), "{}", said.err);
    folder
        .reticent("fit t.csv --schema s.toml --epsilon 1 --delta 1e-5 --iterations 5 --out m")
        .ok();
}
