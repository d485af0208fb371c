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
    for words in ["Guarantee", "Not private", "The budget of <bdi>b", "of the budget paid for it"] {
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

/// Jobs of the same plan are told apart by what came of them, and a model that nobody paid for has
/// none of them.
#[test]
fn every_model_has_the_job_that_paid_for_it() {
    let folder = folder();
    folder.reticent("budget new b.budget --epsilon 9 --delta 1e-4").ok();
    let fit = format!("{FIT} --epsilon 1 --delta 1e-5");
    for out in ["one", "two"] {
        folder.reticent(&format!("{fit} --budget b.budget --out {out}")).ok();
    }
    folder.reticent(&format!("{fit} --out unpaid")).ok();
    let job = |models: &str| -> Vec<u64> {
        let command = format!("report {models} --budget b.budget -o page.html --force");
        folder.reticent(&command).ok();
        let page = folder.read("page.html");
        assert!(!page.contains("a job with just this plan"));
        let mut before: Vec<&str> = page.split(" of the budget paid for it").collect();
        before.pop();
        let number = |text: &&str| text.rsplit("Job ").next().and_then(|job| job.parse().ok());
        before.iter().map(|text| number(text).unwrap()).collect()
    };
    let (one, two) = (job("one"), job("two"));
    assert!(one.len() == 1 && two.len() == 1 && one[0] < two[0], "{one:?} {two:?}");
    assert_eq!(job("unpaid"), Vec::<u64>::new());
    // In whatever order they are given.
    assert_eq!(job("two unpaid one"), [two, one].concat());
}
