//! `reticent report`: one page from models and a budget.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, SCHEMA};

fn folder() -> Folder {
    let folder = Folder::new();
    let rows: String = (0..200)
        .map(|i| format!("{},{},{}\n", i % 100, ["A", "B"][i % 2], ["no", "yes"][i / 100]))
        .collect();
    folder.write("t.csv", format!("age,town,ill\n{rows}"));
    folder.write("s.toml", SCHEMA);
    folder
}

const FIT: &str = "fit t.csv --schema s.toml --target ill --penalty l2:1e-2";

#[test]
fn a_page_has_the_models_and_the_budget() {
    let folder = folder();
    folder.reticent("budget new b.budget --epsilon 3 --delta 1e-5").ok();
    folder.reticent(&format!("{FIT} --epsilon 1 --delta 1e-5 --budget b.budget --out m")).ok();
    folder.reticent(&format!("{FIT} --epsilon 2 --delta 1e-5 --seed 1 --out seeded")).ok();
    let said = folder.reticent("report m seeded --budget b.budget -o page.html --json").ok();
    let page = folder.read("page.html");
    assert_eq!(said.json()["bytes"], page.len());
    assert_eq!(said.json()["models"][0]["sound"], true);
    assert_eq!(said.json()["models"][1]["epsilon"], "infinity");
    assert!(said.err.contains("NOT PRIVATE: seeded"), "{}", said.err);
    for words in ["Guarantee", "Not private", "The budget of <bdi>b", "a job with just this plan"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(page.len() < 200_000, "{} bytes", page.len());
}

#[test]
fn a_page_is_not_written_over_and_needs_something_to_say() {
    let folder = folder();
    folder.reticent("budget new b.budget --epsilon 3 --delta 1e-5").ok();
    folder.write("page.html", "mine");
    let said = folder.reticent("report --budget b.budget -o page.html");
    assert_eq!((said.code, folder.read("page.html").as_str()), (2, "mine"), "{}", said.err);
    folder.reticent("report --budget b.budget -o page.html --force").ok();
    assert!(folder.read("page.html").contains("None yet."));
    assert_eq!(folder.reticent("report").code, 2);
    assert_eq!(folder.reticent("report nothing.json -o other.html").code, 2);
    assert!(!folder.path().join("other.html").exists());
}
