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

#[test]
fn a_model_that_the_budget_did_not_pay_for_is_said_to_be_unpaid() {
    let folder = folder();
    folder.reticent("budget new b.budget --epsilon 3 --delta 1e-5").ok();
    folder.reticent(&format!("{FIT} --epsilon 1 --delta 1e-5 --budget b.budget --out m")).ok();
    folder.reticent(&format!("{FIT} --epsilon 1 --delta 1e-5 --out unpaid")).ok();
    let said = folder.reticent("report m unpaid --budget b.budget -o page.html --json").ok();
    let page = folder.read("page.html");
    assert_eq!(page.matches("Not paid by this budget").count(), 1);
    assert!(said.err.contains("unpaid was not paid by b.budget"), "{}", said.err);
    let told = said.json();
    assert!(told["models"][0]["job"].is_u64() && told["models"][1]["job"].is_null(), "{told}");
    // Jobs are numbered from 1, whatever lines the history has.
    assert!(page.contains("Job 1 of the budget paid for it"), "{page}");
    folder.reticent("report unpaid -o alone.html").ok();
    assert!(!folder.read("alone.html").contains("Not paid"));
}

#[test]
fn what_is_not_private_relies_on_nothing() {
    let folder = folder();
    folder.reticent(&format!("{FIT} --algorithm exact --out exact")).ok();
    folder.reticent("report exact -o page.html").ok();
    let page = folder.read("page.html");
    assert!(page.contains("Not private") && !page.contains("What it relies on"), "{page}");
}

#[test]
fn a_page_without_a_budget_has_its_day_and_the_name_of_the_data() {
    let folder = folder();
    folder.reticent(&format!("{FIT} --epsilon 1 --delta 1e-5 --out m")).ok();
    folder.reticent("report m --dataset Clinic -o page.html").ok();
    let page = folder.read("page.html");
    assert!(
        page.contains("Data set: <bdi>Clinic</bdi>") && page.contains("Made on <bdi>20"),
        "{page}"
    );
}
