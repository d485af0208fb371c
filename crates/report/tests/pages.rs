//! Every page: what it says, that it is whole, that it loads nothing, and that no file can write into
//! it.
#![allow(clippy::unwrap_used)]

mod html;

use base64::Engine;
use html::{checked, tags};
use reticent::accountant::trade_off;
use reticent::losses::Logistic;
use reticent::penalties::L2;
use reticent::tables::{Dataset, Schema, Target};
use reticent::{Budget, Fit, Model};
use reticent_budget::{PaidTable, Promise, Relation, Request, Store};
use reticent_report::{
    BudgetAccount, Finding, FindingOutcome, Findings, PayingJob, ReportSubject, live, policy,
    report,
};
use sha2::Digest;

fn model(epsilon: f64) -> Model {
    bent(epsilon, "1", 0)
}

/// A model with a column of this name, and curves of so many knots.
fn bent(epsilon: f64, column: &str, knots: usize) -> Model {
    let (n, d) = (400, 2);
    let x: Vec<f64> = (0..n * d).map(|i| (i * 37 % 90) as f64).collect();
    let y: Vec<u32> = x.chunks(d).map(|row| u32::from(row[0] > 45.0)).collect();
    let target = Target::classes(["well", "ill"]).unwrap();
    let schema = Schema::bounded(&[(0.0, 90.0), (0.0, 90.0)], target).unwrap();
    let schema = schema.named([column, "2"]).unwrap().with_curves(knots).unwrap();
    let job = Fit::new(schema)
        .loss(Logistic)
        .penalty(L2::new(1e-3).unwrap())
        .budget(Budget::new(epsilon, 1e-6).unwrap())
        .check()
        .unwrap();
    let data = Dataset::dense(&x, n, d).unwrap().with_targets(&y).unwrap();
    job.fit(&data).unwrap().model
}

fn found(outcome: FindingOutcome, words: &str) -> Findings {
    let list = vec![Finding { outcome, words: words.to_owned() }];
    Findings { list, verifiable: true, signed: false }
}

fn subject(name: &str, model: Model) -> ReportSubject {
    ReportSubject::of_model(name, model, found(FindingOutcome::Holds, "ε follows from the ledger"))
        .unwrap()
}

fn store(dataset: &str, label: &str) -> Store {
    let mut store = Store::in_memory(Promise::new(dataset, 3.0, 1e-6).unwrap()).unwrap();
    let plan = store.promise().unwrap().gaussian(1.0, 1e-6).unwrap();
    let table = PaidTable::file([7; 32], Relation::Same);
    let asked = (1.0, 1e-6);
    let request = Request { label, asked, plan: &plan, table: &table, user: None };
    let done = store.reserve(&request).unwrap();
    store.settle(&done, &plan).unwrap();
    let open = store.reserve(&request).unwrap();
    store.beat(&open, 10, Some(50)).unwrap();
    store
}

fn account(store: &Store) -> BudgetAccount {
    BudgetAccount::new(
        "clinic.budget",
        store.summary().unwrap(),
        store.spending_history(100).unwrap(),
    )
}

const ASKED: live::PageRequest = live::PageRequest { number: 1, writable: true, watching: false };

/// One of every kind of page.
fn pages(name: &str) -> Vec<(&'static str, String)> {
    let store = store(name, name);
    let account = account(&store);
    let subjects = [subject(name, model(1.0)), subject("second", bent(2.0, name, 3))];
    let planned = |epsilon: f64| {
        let plan = store.promise().unwrap().gaussian(epsilon, 1e-6).unwrap();
        store.plan(&plan).map_err(|error| error.to_string())
    };
    let indexed = [(name.to_owned(), Ok(account.clone())), ("b".to_owned(), Err(name.to_owned()))];
    let lines = store.lines().unwrap();
    let pages = [
        ("report", report(&subjects, Some(&account))),
        ("one model", report(&subjects[..1], None)),
        ("budget alone", report(&[], Some(&account))),
        ("index", live::index(&indexed)),
        ("budget", live::budget(&account, ASKED)),
        (
            "watched",
            live::budget(&account, live::PageRequest { writable: false, watching: true, ..ASKED }),
        ),
        ("fits", live::plan(&account, 1, ("0.5", "1e-6"), &planned(0.5))),
        ("does not fit", live::plan(&account, 1, (name, name), &planned(9.0))),
        ("no plan", live::plan(&account, 1, (name, name), &Err(name.to_owned()))),
        ("history", live::history(&account, 1, &lines, 1)),
        ("verify", live::verify()),
        ("verified", live::verified(&subjects[0])),
        ("message", live::message("Refused", name, "/budget/1")),
    ];
    pages.map(|(of, page)| (of, page.into_html())).to_vec()
}

#[test]
fn every_page_is_whole_and_loads_nothing() {
    for (name, page) in pages("clinic") {
        checked(name, &page);
    }
}

#[test]
fn a_report_says_who_is_protected_from_whom_and_by_how_much() {
    let model = model(1.0);
    let ledger = model.certificate().ledger.clone();
    let page = report(&[subject("private/model.json", model)], None).into_html();
    for words in [
        "Every single record of the table",
        "Whoever sees the model and its certificate",
        "a factor of at most 2.719",
        "a chance of one in 1,000,000",
        "the same table with that record replaced by another",
        "the number of records is public",
        "What was released, and what each part cost",
        "The plan against what was used",
        "ε follows from the ledger",
        "<span>ε ≤ 1.000</span> <span>at δ = 1e-6</span>",
        "log-odds of",
    ] {
        assert!(page.contains(words), "{words}");
    }
    // What is said of an attacker is never less than what the accountant proves.
    let caught = 1.0 - trade_off(&ledger, &[0.05]).unwrap()[0].1;
    let said = page.split("false alarms catches at most <strong>").nth(1).unwrap();
    let said: f64 = said.split('\u{202f}').next().unwrap().parse().unwrap();
    assert!(said >= 100.0 * caught && said < 100.0 * caught + 0.11, "{said} {caught}");
}

#[test]
fn every_curve_has_its_picture_and_its_table() {
    let page = report(&[subject("bent", bent(2.0, "age", 3))], None).into_html();
    for words in ["What each column does", "age: moves the ", "2: moves the "] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("95\u{202f}% at each"), "nobody paid for a band");
    // A column without knots is a line, and has both, too.
    let lines = report(&[subject("line", model(2.0))], None).into_html();
    assert_eq!(lines.matches(": moves the ").count(), 2, "{lines}");
}

/// A hundred lines: forty pictures, and how many have none.
#[test]
fn many_columns_have_as_many_pictures_as_can_be_looked_at() {
    let target = Target::classes(["well", "ill"]).unwrap();
    let schema = Schema::bounded(&vec![(0.0, 1.0); 100], target).unwrap();
    let fit = Fit::new(schema).budget(Budget::new(1.0, 1e-6).unwrap()).check().unwrap();
    let x: Vec<f64> = (0..6_000).map(|i| f64::from(i * 37 % 90) / 90.0).collect();
    let y: Vec<u32> = (0..60).map(|i| i % 2).collect();
    let data = Dataset::dense(&x, 60, 100).unwrap().with_targets(&y).unwrap();
    let page = report(&[subject("many", fit.fit(&data).unwrap().model)], None).into_html();
    assert_eq!(page.matches(": moves the ").count(), 40);
    assert!(page.contains("And 60 that move less"), "no word of the others");
}

#[test]
fn what_contradicts_itself_or_has_no_guarantee_is_not_called_one() {
    let failed = found(FindingOutcome::Fails, "the digest is another");
    let one = ReportSubject::of_model("m", model(1.0), failed).unwrap();
    assert!(!one.is_sound() && one.epsilon().is_infinite());
    let page = report(&[one], None).into_html();
    assert!(page.contains("Contradicts itself") && !page.contains(">Guarantee<"), "{page}");

    let mut value = serde_json::to_value(model(1.0)).unwrap();
    value["certificate"]["ledger"]["taints"] = serde_json::json!(["seeded-noise"]);
    let seeded: Model = serde_json::from_value(value).unwrap();
    let page = report(&[subject("seeded", seeded)], None).into_html();
    assert!(page.contains("Not private") && page.contains("known seed"));
    assert!(!page.contains(">Guarantee<") && !page.contains("ε ≤"));
}

#[test]
fn several_models_have_a_table_and_what_they_cost_together() {
    let subjects = [subject("first", model(1.0)), subject("second", model(0.5))];
    let page = report(&subjects, None).into_html();
    assert!(page.contains("All models") && page.contains("href=\"#m2\""));
    assert!(
        page.contains("all of them together cost at most ε = 1.5") && page.contains("the sums")
    );
}

#[test]
fn a_paid_model_shows_its_plan_and_the_budget_what_is_left() {
    let store = store("clinic", "first model");
    let paid =
        PayingJob { job: 3, ordinal: 2, asked: (1.0, 1e-6), planned: 122, used: 122, exact: true };
    let one = subject("m", model(1.0)).paid_by(Some(paid));
    let page = report(&[one], Some(&account(&store))).into_html();
    assert!(
        page.contains("Job 2 of the budget paid for it") && page.contains("planned 122 releases")
    );
    for words in
        ["The budget of", "first model", "open, counted in full", "10 of 50 steps", "Left:"]
    {
        assert!(page.contains(words), "{words}");
    }
}

/// What an attacker would write into a file.
const HOSTILE: [&str; 5] = [
    "</bdi><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</title></style></svg><svg onload=alert(1)>",
    "' onmouseover='alert(1)",
    "{{7*7}}<!--",
];

#[test]
fn no_file_writes_into_a_page() {
    // A picture has as many ticks as there is room for beside a name.
    let tick = |tag: &String| ["line/", "text", "/text"].contains(&tag.as_str());
    let shape = |page: &str| tags(page).into_iter().filter(|tag| !tick(tag)).collect::<Vec<_>>();
    let plain = pages("clinic");
    for hostile in HOSTILE {
        for ((name, page), (_, usual)) in pages(hostile).iter().zip(&plain) {
            checked(name, page);
            assert_eq!(shape(page), shape(usual), "{name}: {hostile} changes the page");
        }
    }
}

/// The page of a model in which somebody wrote `text` wherever the model has text, and its
/// certificate too if that is asked for.
fn page_with(usual: &serde_json::Value, text: &str, everywhere: bool) -> String {
    let mut value = usual.clone();
    value["coefficients"][0]["name"] = text.into();
    value["outputs"][0] = text.into();
    value["penalty"] = text.into();
    if everywhere {
        for field in ["accountant", "algorithm", "reticent", "meaning"] {
            value["certificate"][field] = text.into();
        }
        value["certificate"]["assumptions"][0] = text.into();
    }
    let edited: Model = serde_json::from_value(value).unwrap();
    report(&[subject("m", edited)], None).into_html()
}

#[test]
fn no_text_inside_a_model_writes_into_a_page() {
    let usual = serde_json::to_value(model(1.0)).unwrap();
    for everywhere in [false, true] {
        let harmless = page_with(&usual, "harmless", everywhere);
        assert_eq!(
            harmless.contains(">Guarantee<"),
            !everywhere,
            "a changed certificate is noticed"
        );
        for hostile in HOSTILE {
            let page = page_with(&usual, hostile, everywhere);
            checked(hostile, &page);
            assert_eq!(tags(&page), tags(&harmless), "{hostile}");
        }
    }
}

#[test]
fn the_policy_allows_the_pages_own_style_and_nothing_else() {
    let page = live::verify().into_html();
    let style = page.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
    let hash = sha2::Sha256::digest(style.as_bytes());
    let hash = base64::engine::general_purpose::STANDARD.encode(hash);
    assert!(policy().starts_with("default-src 'none'"));
    assert!(policy().contains(&format!("style-src 'sha256-{hash}'")));
    assert!(!policy().contains("unsafe") && !policy().contains("script-src"));
}

#[test]
fn a_message_leads_nowhere_else() {
    for elsewhere in ["//evil.example/", "evil", "javascript:alert(1)", "http:evil"] {
        let page = live::message("t", "w", elsewhere).into_html();
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
}

/// What fails its checks, or has nothing to be checked by, promises nothing anywhere on the page.
#[test]
fn a_file_that_is_not_verified_promises_nothing() {
    let fails = found(FindingOutcome::Fails, "weights: they were changed");
    let older =
        Findings { verifiable: false, ..found(FindingOutcome::Absent, "digest: there is none") };
    for (findings, badge) in [(fails, "Contradicts itself"), (older, "Cannot be verified")] {
        let subject = ReportSubject::of_model("clinic", model(1.0), findings).unwrap();
        assert!(!subject.is_sound() && subject.epsilon().is_infinite());
        let page = report(&[subject], None).into_html();
        assert!(page.contains(badge), "{badge}");
        for promise in ["ε ≤", "catches at most", "Who is protected", "They cost ε"] {
            assert!(!page.contains(promise), "{badge}: {promise}");
        }
    }
}

#[test]
fn an_unsigned_guarantee_is_said_to_be_unsigned() {
    let page = |signed| {
        let findings = Findings { signed, ..found(FindingOutcome::Holds, "all") };
        let subject = ReportSubject::of_model("clinic", model(1.0), findings).unwrap();
        report(&[subject], None).into_html()
    };
    assert!(page(false).contains("Nobody has signed it"));
    assert!(!page(true).contains("Nobody has signed it"));
}
