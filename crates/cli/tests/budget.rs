//! `reticent budget`, as a user types it.
#![allow(clippy::unwrap_used)]

use crate::common;

use common::{Folder, SCHEMA, csv};
use serde_json::Value;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.toml", SCHEMA);
    folder.write("t.csv", csv(200));
    folder.reticent("budget new b.budget --epsilon 3 --delta 1e-6").ok();
    folder
}

fn show(folder: &Folder) -> Value {
    folder.reticent("budget show b.budget --json").ok().json()
}

#[test]
fn a_budget_is_made_once() {
    let folder = folder();
    let said = folder.reticent("budget new b.budget --epsilon 9 --delta 1e-6");
    assert_eq!(said.code, 2);
    assert!(said.err.contains("is there already"), "{}", said.err);
    let object = show(&folder);
    assert_eq!((&object["dataset"], &object["epsilon"]), (&"b".into(), &3.0.into()));
    assert_eq!((&object["kept"], &object["lines"]), (&true.into(), &1.into()));
    for line in [
        "budget new c --epsilon 0 --delta 1e-6",
        "budget new c --epsilon nan --delta 1e-6",
        "budget new c --epsilon 1 --delta 0",
        "budget new c --epsilon 1 --delta 1e-6 --rows-per-user 3",
        "budget show nothing.budget",
        "budget show t.csv",
        "budget forfeit b.budget 7",
        "budget plan b.budget",
    ] {
        let said = folder.reticent(line);
        assert_eq!(said.code, 2, "{line}: {}", said.err);
        assert!(!said.err.contains("panicked"), "{}", said.err);
    }
    assert!(!folder.path().join("c").exists());
}

#[test]
fn a_job_that_does_not_fit_is_told_what_would() {
    let folder = folder();
    folder.reticent("budget plan b.budget --epsilon 1 --delta 1e-6").ok();
    folder.write("job.toml", "epsilon = 2.5\ndelta = 1e-6\n");
    folder.reticent("budget plan b.budget job.toml").ok();
    let said = folder.reticent("budget plan b.budget job.toml --epsilon 4");
    assert_eq!(said.code, 3, "{}", said.err);
    let left = show(&folder)["groups"][0]["left"].as_f64().unwrap();
    assert!(said.err.contains(&format!("fits up to epsilon = {left:.4}")), "{}", said.err);
    folder.reticent(&format!("budget plan b.budget --epsilon {left} --delta 1e-6")).ok();
}

#[test]
fn releases_made_elsewhere_count_and_gain_against_adding_up() {
    let folder = folder();
    folder
        .reticent("fit t.csv --schema s.toml --epsilon 1 --delta 1e-6 --iterations 5 --out m")
        .ok();
    folder.reticent("budget import b.budget m/certificate.json").ok();
    let text = folder.reticent("budget import b.budget m/model.json --label again").ok().out;
    assert!(text.contains("Recorded as job 3") && text.contains("less."), "{text}");
    let object = show(&folder);
    let group = &object["groups"][0];
    assert_eq!(group["added"]["epsilon"].as_f64().map(f64::round), Some(2.0));
    assert!(group["counted"].as_f64().unwrap() < 1.6, "{group}");
    assert_eq!(object["jobs"][1]["label"], "again");

    // An emptied ledger, and one of a known seed, are not taken for less than they are.
    let mut certificate: Value = serde_json::from_str(&folder.read("m/certificate.json")).unwrap();
    certificate["ledger"]["entries"] = serde_json::json!([]);
    folder.write("e.json", certificate.to_string());
    assert_eq!(folder.reticent("budget import b.budget e.json").code, 2);
    folder
        .reticent(
            "fit t.csv --schema s.toml --epsilon 0.1 --delta 1e-6 --iterations 5 --seed 1 --out s",
        )
        .ok();
    let said = folder.reticent("budget import b.budget s/certificate.json");
    assert!(said.code == 2 && said.err.contains("--beyond"), "{}", said.err);
    let said = folder.reticent("budget import b.budget s/certificate.json --beyond").ok();
    assert!(said.err.contains("NOT PRIVATE"), "{}", said.err);
    assert_eq!(show(&folder)["kept"], false);
    let said = folder.reticent("budget plan b.budget --epsilon 0.01 --delta 1e-6");
    assert_eq!(said.code, 3, "{}", said.err);
    folder.reticent("budget check b.budget").ok();
}

#[test]
fn the_history_is_exported_and_checked() {
    let folder = folder();
    let object = folder.reticent("budget export b.budget").ok().json();
    assert_eq!(object["history"][0]["kind"], "opened");
    folder.reticent("budget export b.budget --out h.json").ok();
    assert_eq!(folder.reticent("budget export b.budget --out h.json").code, 2);
    let said = folder.reticent("budget check b.budget").ok();
    assert!(said.out.contains("b.budget checks: 1 lines"), "{}", said.out);
    // Who wrote the last line down notices that an older state was put back.
    let old = std::fs::read(folder.path().join("b.budget")).unwrap();
    folder.reticent(&format!("{FIT} --epsilon 0.1 --out m")).ok();
    let head = show(&folder)["head"].as_str().unwrap()[..16].to_owned();
    folder.reticent(&format!("budget check b.budget --since {head}")).ok();
    folder.write("b.budget", old);
    folder.reticent("budget check b.budget").ok();
    let said = folder.reticent(&format!("budget check b.budget --since {head}"));
    assert!(said.code == 2 && said.err.contains("older state"), "{}", said.err);
    assert_eq!(folder.reticent("budget check b.budget --since 12").code, 2);
    let mut bytes = std::fs::read(folder.path().join("b.budget")).unwrap();
    let place = bytes.windows(7).position(|part| part == b"promise").unwrap();
    bytes[place] = b'q';
    folder.write("b.budget", bytes);
    let said = folder.reticent("budget check b.budget");
    assert!(said.code == 2 && said.err.contains("line 1"), "{}", said.err);
}

const FIT: &str = "fit t.csv --schema s.toml --delta 1e-6 --iterations 5 --budget b.budget";

#[test]
fn a_fit_reserves_settles_and_is_refused_before_its_table_is_opened() {
    let folder = folder();
    let first = folder.reticent(&format!("{FIT} --epsilon 1 --out m --json")).ok().json();
    assert_eq!(first["budget"]["job"], 3);
    let text = folder.reticent(&format!("{FIT} --epsilon 1 --out n")).ok().out;
    assert!(text.contains("It is job 5 of b.budget: 1.5"), "{text}");
    let object = show(&folder);
    assert_eq!(object["jobs"][1]["state"], "settled");
    assert_eq!(object["jobs"][1]["label"], "fit to n");
    // Not even that there is no such table is noticed.
    let gone = FIT.replace("t.csv", "gone.csv");
    let said = folder.reticent(&format!("{gone} --epsilon 2.9 --out o"));
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(said.err.contains("fits up to epsilon = "), "{}", said.err);
    // What is said to fit fits.
    let left = object["groups"][0]["left"].as_f64().unwrap();
    folder.reticent(&format!("{FIT} --epsilon {left} --out o")).ok();
    assert!(show(&folder)["groups"][0]["counted"].as_f64().unwrap() <= 3.0);
    assert_eq!(folder.reticent(&format!("{FIT} --epsilon 0.5 --out o")).code, 3);
    folder.reticent("budget check b.budget").ok();
}

#[test]
fn a_budget_knows_its_table_again() {
    let folder = folder();
    folder.reticent(&format!("{FIT} --epsilon 0.5 --out m")).ok();
    folder.write("t.csv", csv(201));
    let said = folder.reticent(&format!("{FIT} --epsilon 0.5 --out n"));
    assert!(said.code == 2 && said.err.contains("--new-edition"), "{}", said.err);
    assert!(!folder.path().join("n").exists());
    let before = show(&folder);
    folder.reticent(&format!("{FIT} --epsilon 0.5 --new-edition --out n")).ok();
    let after = show(&folder);
    assert_eq!((&before["tables"], &after["tables"]), (&1.into(), &2.into()));
    let counted = |object: &Value, group: usize| object["groups"][group]["counted"].as_f64();
    assert!(counted(&after, 0) > counted(&before, 0));
    folder.write("t.csv", csv(202));
    folder.reticent(&format!("{FIT} --epsilon 0.5 --disjoint-people --out o")).ok();
    let said = folder.reticent("budget show b.budget").ok();
    assert!(said.err.contains("nobody is in two"), "{}", said.err);
    assert_eq!(counted(&show(&folder), 1), counted(&before, 0));
}

/// A file of a list was not known by itself, and a packed copy was another table.
#[test]
fn people_who_are_known_are_not_said_to_be_others() {
    let folder = folder();
    folder.write("u.csv", csv(150));
    folder.write("copy.csv", csv(200));
    let count = |files: &str, flags: &str| {
        let line = format!("count {files} --schema s.toml --epsilon 0.3 --delta 1e-6");
        folder.reticent(&format!("{line} --budget b.budget {flags}"))
    };
    count("t.csv", "").ok();
    for list in ["t.csv u.csv", "u.csv t.csv", "u.csv copy.csv"] {
        let said = count(list, "--disjoint-people");
        assert!(said.code == 2 && said.err.contains("belongs to the budget"), "{}", said.err);
    }
    count("copy.csv", "--disjoint-people").ok();
    let said = count("u.csv", "--disjoint-people").ok();
    assert!(said.out.contains("Taken as given: nobody in this table"), "{}", said.out);
    count("t.csv u.csv", "").ok();
    let people: Vec<Value> =
        show(&folder)["jobs"].as_array().unwrap().iter().map(|job| job["people"].clone()).collect();
    assert_eq!(Value::from(people), serde_json::json!([[1], [1], [2], [1, 2]]));
    let said = count("t.csv copy.csv", "");
    assert!(said.code == 2 && said.err.contains("the same file twice"), "{}", said.err);
    let line = "count t.csv t.csv --schema s.toml --epsilon 0.3 --delta 1e-6";
    assert!(folder.reticent(line).ok().err.contains("is given twice"));
    folder.reticent("budget check b.budget").ok();
}

/// Every row a user of its own would be charged as if it were a person.
#[test]
fn users_of_another_column_are_refused() {
    let folder = Folder::new();
    let ignored = |name| format!("[[column]]\nname = '{name}'\nkind = 'ignored'\n");
    folder.write("s.toml", format!("{SCHEMA}{}{}", ignored("patient"), ignored("visit")));
    let mut text = String::from("patient,visit,age,town,ill\n");
    for (i, line) in csv(200).lines().skip(1).enumerate() {
        text += &format!("p{},v{i},{line}\n", i / 4);
    }
    folder.write("t.csv", text);
    folder.reticent("budget new b.budget --epsilon 3 --delta 1e-6 --unit user").ok();
    let fit = format!("{FIT} --epsilon 0.5");
    folder.reticent(&format!("{fit} --user-column patient --out m")).ok();
    let said = folder.reticent(&format!("{fit} --user-column visit --out n"));
    assert!(said.code == 2 && said.err.contains("the job uses visit"), "{}", said.err);
    assert!(!folder.path().join("n").exists());
    let object = show(&folder);
    assert_eq!(
        (&object["user_column"], &object["groups"][0]["jobs"]),
        (&"patient".into(), &1.into())
    );
    assert!(folder.reticent("budget show b.budget").ok().out.contains("user (by patient)"));
    folder.reticent(&format!("{fit} --user-column patient --out n")).ok();
    let said = folder.reticent("budget import b.budget m/certificate.json").ok();
    assert!(said.err.contains("the users of the release"), "{}", said.err);
}

/// The certificate of a run between parties has the ledger of one of them.
#[test]
fn a_run_between_parties_who_spent_differently_is_not_imported() {
    let folder = folder();
    folder
        .reticent("fit t.csv --schema s.toml --epsilon 1 --delta 1e-6 --iterations 5 --out m")
        .ok();
    let mut certificate: Value = serde_json::from_str(&folder.read("m/certificate.json")).unwrap();
    common::as_format_1(&mut certificate);
    let most = certificate["epsilon"].as_f64().unwrap();
    let mut import = |count: u64, least: f64, flag: &str| {
        certificate["parties"] = serde_json::json!({
            "count": count, "worst": 0, "least": least, "median": most, "ninth_decile": most, "most": most
        });
        folder.write("p.json", certificate.to_string());
        folder.reticent(&format!("budget import b.budget p.json {flag}"))
    };
    for flag in ["", "--beyond"] {
        let said = import(2, 0.5, flag);
        assert!(said.code == 2 && said.err.contains("spent differently"), "{}", said.err);
    }
    assert!(import(2, most, "").ok().err.contains("cannot be verified"));
    assert_eq!(show(&folder)["jobs"].as_array().unwrap().len(), 1);
}

#[test]
fn what_no_budget_holds_reserves_nothing() {
    let folder = folder();
    for (line, word) in [
        (format!("{FIT} --epsilon 1 --seed 1"), "no noise"),
        (format!("{FIT} --epsilon 1 --algorithm exact"), "it has no noise"),
        (FIT.replace("t.csv", "-") + " --epsilon 1 --format csv", "standard input"),
        (
            format!(
                "{FIT} --epsilon 1 --adjacency add-remove --public-n 200 --sampling poisson:0.5"
            ),
            "replacement",
        ),
        (FIT.replace("b.budget", "none.budget") + " --epsilon 1", "there is no budget"),
        (FIT.replace("b.budget", "t.csv") + " --epsilon 1", "not a valid budget"),
    ] {
        let said = folder.reticent(&line);
        assert!(said.code == 2 && said.err.contains(word), "{line}: {} {}", said.code, said.err);
    }
    assert_eq!(show(&folder)["lines"], 1);
}

#[test]
fn sampled_tuned_and_graph_fits_are_counted_too() {
    let folder = folder();
    folder.reticent(&format!("{FIT} --epsilon 0.5 --sampling poisson:0.2 --out m")).ok();
    folder.reticent(&format!("{FIT} --epsilon 1 --tune 'penalty=l2:[1e-3,1e-2]' --out n")).ok();
    let before = show(&folder);
    folder.reticent(&format!("{FIT} --epsilon 0.5 --graph private --penalty l1:1e-3 --out o")).ok();
    let object = show(&folder);
    assert_eq!(object["groups"][0]["jobs"], 3);
    let counted = |object: &Value| object["groups"][0]["counted"].as_f64().unwrap();
    assert!(counted(&object) > counted(&before), "{object}");
    // All of a job is reserved at once: the whole graph, all runs.
    for job in object["jobs"].as_array().unwrap() {
        assert_eq!(job["state"], "settled");
    }
    folder.reticent("budget check b.budget").ok();
    let said =
        folder.reticent(&format!("{FIT} --epsilon 2.9 --graph private --penalty l1:1e-3 --out p"));
    assert_eq!(said.code, 3, "{}", said.err);
}

/// Where the plan follows from public numbers, not even that there is no table is noticed.
#[test]
fn what_does_not_fit_is_refused_before_its_table_is_opened() {
    let folder = folder();
    let gone = FIT.replace("t.csv", "gone.csv");
    let declared = "--adjacency add-remove --public-n 200";
    for flags in [
        "",
        "--algorithm dp-sgd",
        "--algorithm mpadmm",
        "--algorithm consensus",
        "--algorithm dp-cd",
        "--graph private --penalty l1:1e-3",
    ] {
        let said = folder.reticent(&format!("{gone} --epsilon 9 {flags}"));
        assert_eq!(said.code, 3, "{flags}: {}", said.err);
    }
    folder.reticent("budget new a.budget --epsilon 3 --delta 1e-6 --adjacency add-remove").ok();
    let gone = gone.replace("b.budget", "a.budget");
    for flags in ["", "--sampling poisson:0.5", "--tune 'penalty=l2:[1e-3,1e-2]'"] {
        let said = folder.reticent(&format!("{gone} --epsilon 9 {declared} {flags}"));
        assert_eq!(said.code, 3, "{flags}: {}", said.err);
    }
    // Otherwise what a sample costs depends on how many it is drawn from, which the table says.
    let said = folder.reticent(&format!(
        "{} --epsilon 9 --sampling poisson:0.5",
        gone.replace("a.budget", "b.budget")
    ));
    assert!(said.code == 2 && said.err.contains("gone.csv"), "{}", said.err);
    let said = folder.reticent(&format!("{FIT} --epsilon 9 --sampling poisson:0.5 --out m"));
    assert_eq!(said.code, 3, "{}", said.err);
    assert_eq!(show(&folder)["lines"], 1);
}

#[test]
fn a_run_between_parties_is_paid_by_the_budget_of_the_whole_table() {
    let folder = folder();
    folder.write("job.toml", "data = 't.csv'\nschema = 's.toml'\ndelta = 1e-6\niterations = 4\n");
    let run = "simulate job.toml --budget b.budget";
    let said = folder.reticent(&format!("{run} --epsilon 1 --split 5 --out m --json")).ok().json();
    assert_eq!(said["budget"]["job"], 3);
    let object = show(&folder);
    assert_eq!(
        (&object["jobs"][0]["state"], &object["jobs"][0]["label"]),
        (&"settled".into(), &"simulate to m".into())
    );
    // Five parties cost what one does: nobody is with two of them.
    let counted = object["groups"][0]["counted"].as_f64().unwrap();
    assert!(counted > 1.0 && counted < 1.2, "{object}");
    // Parties with different plans.
    folder
        .write("uneven.toml", "data = 't.csv'\nschema = 's.toml'\ndelta = 1e-6\nepsilon = 1.0\niterations = 4\n[parties]\nsplit = 3\nbudgets = { 1 = 0.5 }\n");
    folder.reticent("simulate uneven.toml --budget b.budget --out u").ok();
    let after = show(&folder);
    assert!(after["groups"][0]["counted"].as_f64().unwrap() > counted);
    // A party that has no room for an answer pays nothing, and the others pay.
    let uneven = folder.read("uneven.toml").replace("epsilon = 1.0", "epsilon = 0.1");
    folder.write("none.toml", uneven.replace("1 = 0.5", "1 = 1e-9"));
    folder.reticent("simulate none.toml --budget b.budget --out none").ok();
    folder.write("nobody.toml", uneven.replace("1 = 0.5", "0 = 1e-9, 1 = 1e-9, 2 = 1e-9"));
    let said = folder.reticent("simulate nobody.toml --budget b.budget --out n");
    assert!(
        said.code == 2 && said.err.contains("no party has room for one answer"),
        "{}",
        said.err
    );
    let after = show(&folder);
    folder.reticent("budget check b.budget").ok();
    let said = folder.reticent(&format!("{run} --epsilon 2.9 --split 5 --out n"));
    assert_eq!(said.code, 3, "{}", said.err);
    assert!(!folder.path().join("n").exists());
    for (flags, word) in [
        ("--epsilon 0.5 --users-from town --unit record", "may be another party's"),
        ("--epsilon 0.5 --users-from town", "--unit user"),
        ("--epsilon 0.5 --split 5 --seed 1", "no noise"),
        ("--epsilon 0.5 --split 5 --skew label:1", "no budget holds"),
        ("--epsilon 0.5 --split 5 --checkpoint c --resume", "has reserved when it began"),
        ("--epsilon 0.5 --split 5 --unit user", "a share of the records is no person"),
    ] {
        let said = folder.reticent(&format!("{run} {flags} --out n"));
        assert!(said.code == 2 && said.err.contains(word), "{flags}: {}", said.err);
    }
    assert_eq!(show(&folder)["lines"], after["lines"]);
}

#[test]
fn a_count_is_paid_for_and_has_a_certificate() {
    let folder = folder();
    let count = "count t.csv --schema s.toml --delta 1e-6";
    let said = folder
        .reticent(&format!("{count} --epsilon 1 --budget b.budget --out c.json --json"))
        .ok()
        .json();
    let number = said["count"].as_f64().unwrap();
    // Noise of 5 records; 14 deviations are never seen.
    assert!((number - 200.0).abs() < 70.0 && number != 200.0, "{said}");
    assert_eq!((&said["adjacency"], &said["certified"]), (&"add-remove".into(), &true.into()));
    assert!(said["epsilon"].as_f64().unwrap() <= 1.0);
    let by_class = folder
        .reticent(&format!("{count} --epsilon 1 --by-class --budget b.budget --json"))
        .ok()
        .json();
    assert_eq!(by_class["count"], 200.0, "public under replace-one");
    let classes = by_class["classes"].as_array().unwrap();
    let sum: f64 = classes.iter().map(|class| class["count"].as_f64().unwrap()).sum();
    assert!(classes.len() == 2 && (sum - 200.0).abs() < 1e-6, "{by_class}");
    assert_eq!((&classes[0]["class"], &classes[1]["class"]), (&"no".into(), &"yes".into()));
    let object = show(&folder);
    assert_eq!(
        (&object["jobs"][1]["state"], &object["jobs"][1]["label"]),
        (&"settled".into(), &"count".into())
    );
    // Add-remove counts twice as far for a promise to those who are replaced.
    assert!(object["groups"][0]["counted"].as_f64().unwrap() > 1.9, "{object}");
    folder.reticent("budget check b.budget").ok();
    folder.reticent("account --ledger c.json --delta 1e-6").ok();
    let said = folder
        .reticent(&format!("{} --epsilon 2 --budget b.budget", count.replace("t.csv", "gone.csv")));
    assert_eq!(said.code, 3, "{}", said.err);
    for (flags, word) in [
        ("--epsilon 1 --adjacency replace-one", "nothing to ask"),
        ("--epsilon 1 --budget none.budget", "there is no budget"),
        ("--epsilon 1 --seed 1 --budget b.budget", "no noise"),
        ("--epsilon 1 --out c.json", "c.json"),
        ("--epsilon nan", "epsilon = NaN"),
    ] {
        let said = folder.reticent(&format!("{count} {flags}"));
        assert!(said.code == 2 && said.err.contains(word), "{flags}: {}", said.err);
    }
    let said = folder.reticent(&format!("{count} --epsilon 1 --seed 1"));
    assert!(said.code == 0 && said.err.contains("NOT PRIVATE"), "{}", said.err);
}

/// Eight at once: together they stay below the ceiling, and whoever was not refused is counted.
#[test]
fn eight_fits_at_once_stay_below_the_ceiling() {
    let folder = folder();
    let line = format!(
        "for i in 1 2 3 4 5 6 7 8; do (reticent {FIT} --epsilon 1 --out m$i --quiet; echo code $?) & done; wait"
    );
    let said = folder.shell(&line).ok();
    let count = |word: &str| said.out.lines().filter(|line| *line == word).count();
    assert_eq!(count("code 0") + count("code 3"), 8, "{} {}", said.out, said.err);
    let object = show(&folder);
    assert!(object["groups"][0]["counted"].as_f64().unwrap() <= 3.0, "{object}");
    assert_eq!(object["groups"][0]["jobs"], count("code 0"), "{object}");
    assert!(count("code 0") >= 4 && count("code 3") >= 1, "{}", said.out);
}

/// A disk without room, a folder that may not be written: no model, nothing reserved, and the reason.
#[test]
fn a_budget_that_cannot_be_written_lets_nothing_be_asked() {
    let folder = folder();
    folder.reticent(&format!("{FIT} --epsilon 0.5 --out m")).ok();
    let before = show(&folder);
    let line = format!("trap '' XFSZ; ulimit -f 4; reticent {FIT} --epsilon 0.5 --out n");
    let said = folder.shell(&line);
    assert!(said.code == 2 && said.err.contains("is the disk full?"), "{} {}", said.out, said.err);
    assert!(!folder.path().join("n").exists());
    assert_eq!(show(&folder)["lines"], before["lines"]);
    // Where no log and no lock can be kept.
    for end in ["-wal", "-shm"] {
        let place = folder.path().join(format!("b.budget{end}"));
        let _ = std::fs::remove_file(&place);
        std::fs::create_dir(&place).unwrap();
        let said = folder.reticent(&format!("{FIT} --epsilon 0.5 --out n"));
        assert!(said.code == 2 && said.err.contains("b.budget"), "{end}: {}", said.err);
        assert!(!folder.path().join("n").exists(), "{end}");
        std::fs::remove_dir(&place).unwrap();
    }
    folder.reticent("budget check b.budget").ok();
    folder.reticent(&format!("{FIT} --epsilon 0.5 --out n")).ok();
}
