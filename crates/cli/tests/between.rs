//! Questions between parties, and parties that pay each from a budget of its own, as a user types them.

use serde_json::Value;

use crate::common::{Folder, SCHEMA, csv, wait_until};

const PRICE: &str = "--schema s.toml --epsilon 1 --delta 1e-6";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.toml", SCHEMA);
    folder.write("t.csv", csv(300));
    folder
}

/// What the answer says but for its certificate.
fn figures(said: &Value) -> Value {
    let names = [
        "count",
        "classes",
        "deviation",
        "columns",
        "n",
        "accuracy",
        "auc",
        "log_loss",
        "confusion",
        "epsilon",
        "ledger",
    ];
    let found = names.into_iter().filter_map(|name| Some((name, said.get(name)?.clone())));
    let found: serde_json::Map<_, _> = found.map(|(name, it)| (name.to_owned(), it)).collect();
    assert!(found.len() > 2, "{said}");
    Value::Object(found)
}

#[test]
fn every_question_has_the_answer_of_the_pooled_table() {
    let folder = folder();
    let fit = "fit t.csv --schema s.toml --epsilon 2 --delta 1e-6 --out m";
    folder.reticent(fit).ok();
    for line in [
        format!("count t.csv {PRICE} --target ill --by-class"),
        format!("mean t.csv {PRICE} --column age"),
        format!("histogram t.csv {PRICE} --column town --column age"),
        format!("quantile t.csv {PRICE} --column age --at 0.1,0.5"),
        "evaluate m t.csv --epsilon 1 --delta 1e-6".to_owned(),
    ] {
        let line = format!("{line} --seed 5 --json");
        let pooled = folder.reticent(&line).ok().json();
        for parties in ["--split 1", "--split 3", "--split 10", "--split 300"] {
            let said = folder.reticent(&format!("{line} {parties} --trust central")).ok().json();
            assert_eq!(figures(&said), figures(&pooled), "{line} {parties}");
        }
    }
    // Hospitals that a column names.
    let line = format!("mean t.csv {PRICE} --column age --unit record --seed 5 --json");
    let pooled = folder.reticent(&line).ok().json();
    let said = folder.reticent(&format!("{line} --user-column town --trust central")).ok().json();
    assert_eq!(figures(&said), figures(&pooled));
    // Of all of them, by how many there are: the number of a party's records stays private.
    let line = format!("count t.csv {PRICE} --seed 5 --json");
    let pooled = folder.reticent(&line).ok().json();
    let said = folder.reticent(&format!("{line} --split 500 --trust central")).ok().json();
    assert_eq!(figures(&said), figures(&pooled));
}

#[test]
fn the_certificate_of_an_answer_between_parties_verifies_and_one_budget_pays_for_it() {
    let folder = folder();
    folder.reticent("budget new b.budget --epsilon 3 --delta 1e-5").ok();
    let line =
        format!("mean t.csv {PRICE} --column age --split 3 --trust central --budget b.budget");
    let said = folder.reticent(&format!("{line} --out c.json --json")).ok().json();
    assert_eq!(said["certified"], true, "{said}");
    folder.reticent("verify c.json").ok();
    let certificate: Value = serde_json::from_str(&folder.read("c.json")).unwrap();
    assert_eq!(certificate["parties"]["count"], 3, "{certificate}");
    let shown = folder.reticent("budget show b.budget --json").ok().json();
    assert_eq!(shown["jobs"].as_array().unwrap().len(), 1, "{shown}");
}

/// With noise of the parties' own: the certificate is of that trust and verifies, and a budget pays.
#[test]
fn every_question_is_asked_with_noise_of_the_parties_own() {
    let folder = folder();
    folder.reticent("fit t.csv --schema s.toml --epsilon 2 --delta 1e-6 --out m").ok();
    for trust in ["local", "secure-aggregation"] {
        for (number, line) in [
            format!("count t.csv {PRICE} --target ill --by-class"),
            format!("count t.csv {PRICE}"),
            format!("mean t.csv {PRICE} --column age --adjacency add-remove --public-n 300"),
            format!("histogram t.csv {PRICE} --column town --column age"),
            format!("quantile t.csv {PRICE} --column age --at 0.1,0.5"),
            "evaluate m t.csv --epsilon 1 --delta 1e-6".to_owned(),
        ]
        .iter()
        .enumerate()
        {
            let out = format!("{trust}-{number}.json");
            let line = format!("{line} --split 5 --trust {trust}");
            let said = folder.reticent(&format!("{line} --out {out} --json")).ok().json();
            assert_eq!(
                (&said["certified"], &said["view"]),
                (&true.into(), &trust.into()),
                "{said}"
            );
            let epsilon = said["epsilon"].as_f64().unwrap();
            assert!(epsilon <= 1.0 && epsilon > 0.95, "{line}: {epsilon}");
            folder.reticent(&format!("verify {out}")).ok();
        }
        let new = format!("budget new {trust}.budget --epsilon 3 --delta 1e-5 --view {trust}");
        folder.reticent(&new).ok();
        let line = format!("mean t.csv {PRICE} --column age --split 3 --trust {trust}");
        folder.reticent(&format!("{line} --budget {trust}.budget")).ok();
        let shown = folder.reticent(&format!("budget show {trust}.budget --json")).ok().json();
        assert_eq!(shown["jobs"].as_array().unwrap().len(), 1, "{shown}");
        let files = format!("{trust}-{{}}.budget");
        for party in 0..3 {
            let new = format!(
                "budget new {trust}-{party}.budget --epsilon 3 --delta 1e-5 --view {trust}"
            );
            folder.reticent(&new).ok();
        }
        let said = folder.reticent(&format!("{line} --party-budget {files} --json")).ok().json();
        assert!(said["budget"]["parties"][2]["job"].is_u64(), "{said}");
    }
    // Of many who are honest fewer shares of noise are enough.
    let line = format!("count t.csv {PRICE} --split 10 --trust secure-aggregation --seed 3 --json");
    let deviation = |more: &str| {
        let said = folder.reticent(&format!("{line} {more}")).ok().json();
        said["deviation"].as_f64().unwrap()
    };
    assert!(deviation("--honest 1") < deviation(""));
}

/// The run itself paid from no budget of records, because a record that is replaced may be another
/// party's; its certificate was recorded in one.
#[test]
fn a_certificate_of_records_of_named_parties_is_recorded_in_no_budget_of_all() {
    let folder = folder();
    let line = format!("mean t.csv {PRICE} --column age --unit record --user-column town");
    for (trust, taken) in [("local", false), ("secure-aggregation", false), ("central", true)] {
        let (out, budget) = (format!("{trust}.json"), format!("{trust}.budget"));
        folder
            .reticent(&format!("budget new {budget} --epsilon 3 --delta 1e-5 --view {trust}"))
            .ok();
        let typed = format!("{line} --trust {trust}");
        folder.reticent(&format!("{typed} --out {out}")).ok();
        assert_eq!(folder.reticent(&format!("{typed} --budget {budget}")).code == 0, taken);
        let import = format!("budget import {budget} {out}");
        let said = folder.reticent(&import);
        assert_eq!(said.code == 0, taken, "{trust}: {}", said.err);
        if !taken {
            assert!(said.err.contains("another one with the same party"), "{}", said.err);
            folder.reticent(&format!("{import} --beyond")).ok();
        }
    }
}

#[test]
fn persons_within_parties_are_asked_with_noise_of_the_parties_own() {
    let folder = Folder::new();
    let hospital = "[[column]]\nname = 'hospital'\nkind = 'ignored'\n";
    folder.write("s.toml", crate::common::visits_schema() + hospital);
    let rows = crate::common::visits(300, 60);
    let placed = rows.lines().enumerate().map(|(at, line)| match at {
        0 => format!("{line},hospital\n"),
        // The first rows of everybody are at two hospitals.
        at => format!("{line},{}\n", ["north", "south", "east", "west"][at / 3 % 4]),
    });
    folder.write("t.csv", placed.collect::<String>());
    for trust in ["local", "secure-aggregation"] {
        let line =
            format!("mean t.csv {PRICE} --column age --parties-from hospital --trust {trust}");
        let said = folder.reticent(&format!("{line} --out {trust}.json --json")).ok().json();
        assert_eq!((&said["unit"], &said["certified"]), (&"user".into(), &true.into()), "{said}");
        folder.reticent(&format!("verify {trust}.json")).ok();
        let certificate = folder.read(&format!("{trust}.json"));
        assert!(certificate.contains("covered k-fold"), "{certificate}");
        // A budget of users would count who has rows at both once.
        folder
            .reticent(&format!(
                "budget new {trust}.budget --epsilon 3 --delta 1e-5 --view {trust} --unit user"
            ))
            .ok();
        let paid = folder.reticent(&format!("{line} --budget {trust}.budget"));
        assert!(paid.code != 0 && paid.err.contains("k persons of the run"), "{}", paid.err);
    }
}

/// Hospitals that are protected as a whole: the answer in which each is a person, by any question, with a
/// budget of parties, and one of each.
#[test]
fn whole_parties_are_asked_whomever_they_trust() {
    let folder = Folder::new();
    let hospital = "[[column]]\nname = 'hospital'\nkind = 'ignored'\n";
    folder.write("s.toml", crate::common::visits_schema() + hospital);
    let rows = crate::common::visits(300, 60);
    let placed = rows.lines().enumerate().map(|(at, line)| match at {
        0 => format!("{line},hospital\n"),
        // Of different sizes, so that a party does not count as its records do.
        at => format!("{line},{}\n", ["north", "south", "south", "west"][at / 3 % 4]),
    });
    folder.write("t.csv", placed.collect::<String>());
    let line = format!("mean t.csv {PRICE} --column age --unit party --parties-from hospital");
    let person = format!("mean t.csv {PRICE} --column age --unit user --user-column hospital");
    let pooled = folder.reticent(&format!("{person} --seed 5 --json")).ok().json();
    let said = folder.reticent(&format!("{line} --trust central --seed 5 --json")).ok().json();
    assert_eq!((&said["columns"], &said["n"]), (&pooled["columns"], &pooled["n"]));
    for trust in ["central", "local", "secure-aggregation"] {
        let line = format!("{line} --trust {trust}");
        let said = folder.reticent(&format!("{line} --out {trust}.json --json")).ok().json();
        assert_eq!((&said["unit"], &said["certified"]), (&"party".into(), &true.into()), "{said}");
        assert!(said["meaning"].as_str().unwrap().contains("any one party"), "{said}");
        folder.reticent(&format!("verify {trust}.json")).ok();
        let text = folder.reticent(&line).ok().out;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("A party counts once, by the mean of its records."), "{text}");
        let terms = format!("--epsilon 3 --delta 1e-5 --view {trust}");
        folder.reticent(&format!("budget new {trust}-user.budget {terms} --unit user")).ok();
        assert_ne!(folder.reticent(&format!("{line} --budget {trust}-user.budget")).code, 0);
        for name in ["all", "0", "1", "2"] {
            let new = format!("budget new {trust}-{name}.budget {terms} --unit party");
            folder.reticent(&new).ok();
        }
        folder.reticent(&format!("{line} --budget {trust}-all.budget")).ok();
        let shown = folder.reticent(&format!("budget show {trust}-all.budget --json")).ok().json();
        assert_eq!(shown["jobs"].as_array().unwrap().len(), 1, "{shown}");
        let each = format!("{line} --party-budget {trust}-{{}}.budget --json");
        let said = folder.reticent(&each).ok().json();
        assert!(said["budget"]["parties"][2]["job"].is_u64(), "{said}");
    }
    let classes = format!("count t.csv {PRICE} --target ill --by-class --unit party");
    let said = folder.reticent(&format!("{classes} --parties-from hospital --trust local")).ok();
    assert!(said.out.contains("parties"), "{}", said.out);
    for (flags, word) in [
        ("--unit party", "one table has no parties"),
        ("--unit party --split 3 --trust local", "no party of its own"),
        (
            "--unit party --parties-from hospital --trust local --adjacency add-remove",
            "who takes part",
        ),
    ] {
        let said = folder.reticent(&format!("mean t.csv {PRICE} --column age {flags}"));
        assert!(said.code == 2 && said.err.contains(word), "{flags}: {}", said.err);
    }
}

#[test]
fn every_party_pays_for_a_question_from_its_own_file() {
    let folder = folder();
    for party in 0..3 {
        let epsilon = if party == 2 { 1.2 } else { 3.0 };
        folder
            .reticent(&format!("budget new h{party}.budget --epsilon {epsilon} --delta 1e-5"))
            .ok();
    }
    let line = format!("mean t.csv {PRICE} --column age --split 3 --trust central");
    let said = folder.reticent(&format!("{line} --party-budget h{{}}.budget --json")).ok().json();
    assert!(said["budget"]["parties"][2]["job"].is_u64(), "{said}");
    let jobs = |party: u32| {
        let shown = folder.reticent(&format!("budget show h{party}.budget --json")).ok().json();
        shown["jobs"].as_array().unwrap().len()
    };
    assert_eq!([jobs(0), jobs(1), jobs(2)], [1; 3]);
    // The third has room for one: nobody pays for the second.
    let refused = folder.reticent(&format!("{line} --party-budget h{{}}.budget"));
    assert_eq!(refused.code, 3, "{}", refused.err);
    assert!(refused.err.contains("party 2: the job does not fit"), "{}", refused.err);
    assert_eq!([jobs(0), jobs(1), jobs(2)], [1; 3]);
    let each = |files: [&str; 3]| {
        let files = files.map(|file| format!(" --party-budget {file}")).concat();
        folder.reticent(&format!("{line}{files}"))
    };
    let twice = each(["h0.budget", "h1.budget", "h0.budget"]);
    assert!(twice.code == 2 && twice.err.contains("parties 0 and 2"), "{}", twice.err);
    let swapped = each(["h1.budget", "h0.budget", "h2.budget"]);
    assert!(swapped.code != 0 && swapped.err.contains("party"), "{}", swapped.err);
    let none = each(["h0.budget", "h1.budget", "none.budget"]);
    assert!(none.err.contains("party 2: there is no budget"), "{}", none.err);
    assert_eq!([jobs(0), jobs(1)], [1; 2]);
}

const JOB: &str = "data = 't.csv'\nschema = 's.toml'\nepsilon = 1.0\ndelta = 1e-6\niterations = 5\n[parties]\nsplit = 3\n\
                   budget = 'h{}.budget'\n";

#[test]
fn a_federation_pays_from_the_budgets_that_its_job_file_names() {
    let folder = folder();
    folder.write("job.toml", JOB);
    for (party, epsilon) in [(0, 3.0), (1, 0.1), (2, 3.0)] {
        let new =
            format!("budget new h{party}.budget --epsilon {epsilon} --delta 1e-5 --view local");
        folder.reticent(&new).ok();
    }
    let said = folder.reticent("simulate job.toml --out m --json").ok();
    assert!(said.err.contains("Party 1 took no part (h1.budget)"), "{}", said.err);
    let object = said.json();
    assert_eq!(object["budget"]["parties"][1]["job"], Value::Null, "{object}");
    // Where the protocol goes on without a party `auto` is the default too.
    assert_eq!(object["algorithm"], "auto", "{object}");
    let spent: Value = serde_json::from_str(&folder.read("m/parties.json")).unwrap();
    assert_eq!((&spent[1]["events"], &spent[0]["events"]), (&0.into(), &object["rounds"]));
    assert!(object["rounds"].as_u64().unwrap() >= 5, "{object}");
    assert!(away(&folder, "m").unwrap().contains("asked for: 1."));
    folder.reticent("verify m").ok();
    for (party, jobs) in [(0, 1), (1, 0), (2, 1)] {
        let shown = folder.reticent(&format!("budget check h{party}.budget --json")).ok().json();
        assert_eq!(shown["jobs"].as_array().unwrap().len(), jobs, "{shown}");
    }
    // On entrusted sums `federated` is, because `auto` ends, before anything is spent.
    for (party, epsilon) in [(0, 3.0), (1, 0.1), (2, 3.0)] {
        let new = format!("budget new c{party}.budget --epsilon {epsilon} --delta 1e-5");
        folder.reticent(&new).ok();
    }
    let trusting = "simulate job.toml --trust central --party-budget c{}.budget";
    let ended = folder.reticent(&format!("{trusting} --algorithm auto --out t"));
    let words = ended.err.replace('\n', " ");
    assert!(ended.code == 3 && words.contains("on entrusted sums"), "{words}");
    let other = folder.reticent(&format!("{trusting} --out f --json")).ok().json();
    assert_eq!(other["algorithm"], "federated", "{other}");
    assert!(away(&folder, "f").is_some());
    let both = folder.reticent("simulate job.toml --budget h0.budget --out t");
    assert!(both.err.contains("each from a budget of its own"), "{}", both.err);
    let kept = folder.reticent("simulate job.toml --checkpoint c --out t");
    assert!(kept.err.contains("cannot go on after a crash"), "{}", kept.err);
    let seeded = folder.reticent("simulate job.toml --seed 3 --out t");
    assert!(seeded.err.contains("no budget holds it"), "{}", seeded.err);
}

/// What the certificate says of parties that stayed away.
fn away(folder: &Folder, model: &str) -> Option<String> {
    let model: Value = serde_json::from_str(&folder.read(&format!("{model}/model.json"))).unwrap();
    let lines = model["certificate"]["assumptions"].as_array().unwrap().clone();
    let said = lines.iter().filter_map(Value::as_str).find(|line| line.contains("took no part"));
    said.map(str::to_owned)
}

#[test]
fn a_federation_behind_masks_goes_on_while_enough_can_pay() {
    let folder = folder();
    let job = JOB.replace("split = 3", "split = 6\ntrust = 'secure-aggregation'");
    folder.write("job.toml", job);
    let budgets = |folder: &Folder, rooms: [f64; 6]| {
        for (party, epsilon) in rooms.into_iter().enumerate() {
            let new = format!("budget new h{party}.budget --epsilon {epsilon} --delta 1e-5");
            folder.reticent(&format!("{new} --view secure-aggregation")).ok();
        }
    };
    budgets(&folder, [3.0, 0.1, 3.0, 3.0, 3.0, 0.1]);
    let said = folder.reticent("simulate job.toml --out m --json").ok();
    for file in ["Party 1 took no part (h1.budget)", "Party 5 took no part (h5.budget)"] {
        assert!(said.err.contains(file), "{}", said.err);
    }
    assert!(away(&folder, "m").unwrap().contains("asked for: 1, 5."));
    folder.reticent("verify m").ok();
    // Two of six may be corrupt, both of them among two that are left.
    let few = self::folder();
    few.write("job.toml", folder.read("job.toml"));
    budgets(&few, [0.1, 0.1, 0.1, 0.1, 3.0, 3.0]);
    let refused = few.reticent("simulate job.toml --out m");
    assert_eq!(refused.code, 3, "{}", refused.err);
    let words = refused.err.replace('\n', " ");
    assert!(words.contains("party 0: the job does not fit"), "{words}");
    assert!(words.contains("no honest noise is certain"), "{words}");
    for party in 0..6 {
        let shown = few.reticent(&format!("budget check h{party}.budget --json")).ok().json();
        assert!(shown["jobs"].as_array().unwrap().is_empty(), "{shown}");
    }
}

/// Everybody's budget says that something was asked, whatever was killed when.
#[cfg(unix)]
#[test]
fn a_federation_that_is_killed_is_counted_by_all_or_by_nobody_who_was_not_asked() {
    use std::process::{Command, Stdio};
    let folder = folder();
    folder.write("job.toml", JOB.replace("iterations = 5", "iterations = 4000"));
    for party in 0..3 {
        let new = format!("budget new h{party}.budget --epsilon 9 --delta 1e-5 --view local");
        folder.reticent(&new).ok();
    }
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("reticent"))
        .args(["simulate", "job.toml", "--out", "m", "--quiet"])
        .current_dir(folder.path())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let reserved = |party: u32| {
        let shown = folder.reticent(&format!("budget check h{party}.budget --json")).ok().json();
        !shown["jobs"].as_array().unwrap().is_empty()
    };
    // The last reserves before anybody is asked.
    wait_until(|| reserved(2));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!((0..3).all(reserved));
    for party in 0..3 {
        let shown = folder.reticent(&format!("budget show h{party}.budget --json")).ok().json();
        assert!(shown["groups"][0]["counted"].as_f64().unwrap() > 0.0, "{shown}");
    }
}

#[test]
fn what_is_not_offered_between_parties_is_refused_by_name() {
    let folder = folder();
    let mean = |more: &str| {
        let said = folder.reticent(&format!("mean t.csv {PRICE} --column age {more}"));
        assert_eq!(said.code, 2, "{}", said.out);
        said.err
    };
    assert!(mean("--split 3 --trust network").contains("which peers have none of"));
    for trust in ["local", "secure-aggregation"] {
        let said = mean(&format!("--user-column town --split 3 --trust {trust}"));
        assert!(said.contains("split = 3: a person's records"), "{said}");
    }
    for trust in ["local", "central"] {
        let said = mean(&format!("--split 3 --trust {trust} --honest 0.9"));
        assert!(said.contains("it is for --trust secure-aggregation"), "{said}");
    }
    assert!(mean("--split 3 --trust secure-aggregation --honest 0.2").contains("trust"));
    assert!(mean("--honest 0.9").contains("--trust"));
    assert!(mean("--split 3").contains("--trust"));
    assert!(mean("--trust central").contains("who the parties are"));
    // Persons within parties are offered, each whole.
    let within = "--user-column town --split 3 --trust central --json";
    let within = folder.reticent(&format!("mean t.csv {PRICE} --column age {within}")).ok().json();
    assert_eq!(within["unit"], "user", "{within}");
    assert!(mean("--party-budget h{}.budget --split 3").contains("--trust"));
    let hidden = mean("--user-column town --adjacency add-remove --public-n 9 --trust central");
    assert!(hidden.contains("who takes part is public"), "{hidden}");
    let seats = mean("--user-column town --trust central --party-budget h{}.budget");
    assert!(seats.contains("drawn and told to nobody"), "{seats}");
    let plain = folder.reticent("evaluate m t.csv --split 3 --trust central");
    assert!(plain.code == 2 && plain.err.contains("--epsilon"), "{}", plain.err);
}
