//! What is said of a ledger: one verdict for `fit`, `account`, `inspect` and the certificate,
//! whatever the ledger carries.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, SCHEMA, csv};
use serde_json::{Value, json};

const FIT: &str = "fit t.csv --schema s.toml --epsilon 1 --delta 1e-5 --iterations 10";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.toml", SCHEMA);
    folder.write("t.csv", csv(200));
    folder
}

/// Every taint that a ledger can carry, as it is written.
fn taints() -> [(Value, &'static str); 4] {
    [
        (json!("seeded-noise"), "known seed"),
        (json!({ "as-published": 4 }), "erratum E4"),
        (json!("unpaid-read"), "without being paid for"),
        (json!("raw-release"), "without noise"),
    ]
}

/// A model whose ledger was given a taint afterwards, while its certificate still says that it is
/// one.
fn spoilt(folder: &Folder, taint: &Value) -> Value {
    folder.reticent(&format!("{FIT} --out m")).ok();
    let mut model: Value = serde_json::from_str(&folder.read("m/model.json")).unwrap();
    model["certificate"]["ledger"]["taints"] = json!([taint]);
    folder.write("m/model.json", model.to_string());
    model
}

#[test]
fn account_gives_no_guarantee_for_a_ledger_with_a_taint() {
    let folder = folder();
    for (taint, reason) in taints() {
        spoilt(&folder, &taint);
        let said = folder.reticent("account --ledger m/model.json --delta 1e-5").ok();
        assert!(!said.out.contains("ε is at most"), "{taint}: {}", said.out);
        assert!(
            said.out.contains("No guarantee: ") && said.out.contains(reason),
            "{taint}: {}",
            said.out
        );
        assert!(said.err.starts_with("NOT PRIVATE: "), "{taint}: {}", said.err);
        let object =
            folder.reticent("account --ledger m/model.json --delta 1e-5 --json").ok().json();
        assert_eq!(
            (&object["certified"], &object["epsilon"]["upper"]),
            (&json!(false), &json!("infinity"))
        );
        assert!(object["reasons"].to_string().contains(reason), "{object}");
        assert_eq!(object["all"], json!([]), "{object}");
        let object =
            folder.reticent("account --ledger m/model.json --epsilon 1 --json").ok().json();
        assert_eq!(
            (&object["certified"], &object["delta"]["upper"]),
            (&json!(false), &json!(1.0)),
            "{object}"
        );
        let text = folder.reticent("account --ledger m/model.json --epsilon 1").ok().out;
        assert!(
            !text.contains("δ is at most") && text.contains("No guarantee: "),
            "{taint}: {text}"
        );
        let drawn = folder.reticent("account --ledger m/model.json --plot c.svg");
        assert!(
            drawn.code == 2 && drawn.err.contains("there is no curve to draw"),
            "{taint}: {drawn:?}"
        );
    }
}

/// A certificate that says more than its ledger is not believed.
#[test]
fn inspect_reads_the_ledger_and_not_only_the_words_beside_it() {
    let folder = folder();
    for (taint, reason) in taints() {
        spoilt(&folder, &taint);
        let said = folder.reticent("inspect m");
        assert_eq!(said.code, 1, "{taint}");
        assert!(
            said.out.contains("certified   NO") && said.out.contains(reason),
            "{taint}: {}",
            said.out
        );
        assert!(said.err.starts_with("NOT PRIVATE: "), "{taint}: {}", said.err);
        let object = folder.reticent("inspect m --json").json();
        assert_eq!(
            (&object["certified"], &object["epsilon"]),
            (&json!(false), &json!("infinity")),
            "{taint}"
        );
        let inner = &object["certificate"];
        assert_eq!(
            (&inner["certified"], &inner["epsilon"]),
            (&json!(false), &json!("infinity")),
            "{taint}"
        );
        assert!(inner["rdp"] == json!([]) && inner["mu"].is_null(), "{taint}: {inner}");
        let curve = inner["curve"].as_array().unwrap();
        assert!(
            curve.iter().all(|point| point["epsilon"] == json!("infinity")),
            "{taint}: {inner}"
        );
    }
    // Nor is a smaller number than the events cost.
    folder.reticent(&format!("{FIT} --out m")).ok();
    let mut model: Value = serde_json::from_str(&folder.read("m/model.json")).unwrap();
    model["certificate"]["epsilon"] = json!(0.5);
    folder.write("m/model.json", model.to_string());
    let said = folder.reticent("inspect m");
    assert_eq!(said.code, 1);
    assert!(said.out.contains("certified   NO") && said.out.contains("its ledger"), "{}", said.out);
}

#[test]
fn a_run_that_is_no_guarantee_is_said_the_same_way_by_all() {
    let folder = folder();
    for flags in ["--seed 7", "--algorithm mpadmm --as-published"] {
        let fit = folder.reticent(&format!("{FIT} {flags} --out m --json")).ok().json();
        let inspect = folder.reticent("inspect m --json").ok().json();
        let account =
            folder.reticent("account --ledger m/certificate.json --delta 1e-5 --json").ok().json();
        for field in ["certified", "reasons", "meaning"] {
            assert_eq!(fit[field], inspect[field], "{flags}: {field}");
            assert_eq!(fit[field], account[field], "{flags}: {field}");
        }
        assert_eq!(
            (&fit["epsilon"], &inspect["epsilon"]),
            (&json!("infinity"), &json!("infinity")),
            "{flags}"
        );
        assert_eq!(account["epsilon"]["upper"], "infinity", "{flags}");
        let text = folder.reticent(&format!("{FIT} {flags} --out m")).ok().out;
        assert!(
            text.lines()
                .any(|line| line.trim_start().starts_with("epsilon") && line.contains("none")),
            "{text}"
        );
    }
    // And one that is, too.
    let fit = folder.reticent(&format!("{FIT} --out m --json")).ok().json();
    let account =
        folder.reticent("account --ledger m/certificate.json --delta 1e-5 --json").ok().json();
    assert_eq!(
        (&fit["meaning"], &fit["epsilon"]),
        (&account["meaning"], &account["epsilon"]["upper"])
    );
}

/// The number that no analysis can beat is about all that was released on the way, and the last
/// model alone may tell less.
#[test]
fn the_lower_end_is_said_to_be_of_the_whole_transcript() {
    let folder = Folder::new();
    for line in [
        "account --event gaussian:z=2 --delta 1e-5",
        "account --event gaussian:z=2 --epsilon 1",
        "calibrate --epsilon 1 --delta 1e-5",
    ] {
        let text = folder.reticent(line).ok().out;
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            words.contains("no analysis of all that was released can give less than"),
            "{line}: {words}"
        );
    }
}

/// How long a run takes depends on what is in the fields.
#[test]
fn no_answer_of_a_run_has_a_time() {
    let folder = folder();
    let users = "--unit user --user-column town";
    for line in [
        FIT.to_owned(),
        format!("{FIT} {users}"),
        format!("{FIT} --adjacency add-remove --public-n 200"),
        format!("{FIT} --algorithm exact"),
        format!("{FIT} --algorithm sadmm --tune penalty=l1:[1e-4,1e-3]"),
        "simulate --data t.csv --schema s.toml --epsilon 4 --delta 1e-5 --iterations 3 --split 4"
            .to_owned(),
    ] {
        let object = folder.reticent(&format!("{line} --out m --json")).ok().json();
        for field in object.as_object().unwrap().keys() {
            let time =
                ["second", "time", "elapsed", "duration"].iter().any(|word| field.contains(word));
            assert!(!time, "{line}: {field}");
        }
        let text = folder.reticent(&format!("{line} --out m")).ok().out;
        let seconds = text.split([' ', '\n']).collect::<Vec<_>>();
        let timed = seconds.windows(2).any(|pair| {
            pair[0].parse::<f64>().is_ok()
                && matches!(pair[1].trim_end_matches(['.', ';', ',']), "s" | "ms" | "seconds")
        });
        assert!(!timed, "{line}: {text}");
    }
}

/// A pure guarantee is said to have no exception, and noise that has none is refused δ = 0.
#[test]
fn a_delta_of_zero_is_for_pure_guarantees() {
    let folder = folder();
    let fit = "fit t.csv --schema s.toml --epsilon 1 --delta 0 --out m";
    for flags in [
        "--algorithm amp --law spherical-laplace",
        "--algorithm objp --law spherical-laplace --iterations 2",
        "--algorithm amp --law spherical-laplace --adjacency add-remove --public-n 200",
    ] {
        let said = folder.reticent(&format!("{fit} {flags} --json")).ok().json();
        assert_eq!(
            (&said["certified"], &said["delta"]),
            (&json!(true), &json!(0.0)),
            "{flags}: {said}"
        );
        let epsilon = said["epsilon"].as_f64().unwrap();
        assert!(epsilon <= 1.0 && epsilon > 0.99, "{flags}: {epsilon}");
        assert!(
            said["meaning"].as_str().unwrap().contains("but for a probability below 1e-40"),
            "{flags}: {said}"
        );
        let text = folder.reticent("inspect m").ok().out;
        assert!(text.contains("delta       0\n") && text.contains("below 1e-40"), "{text}");
        let account = folder.reticent("account --ledger m/model.json --delta 0 --json").ok().json();
        assert_eq!(account["epsilon"]["upper"], said["epsilon"], "{flags}");
    }
    let upper = |event: &str| {
        folder.reticent(&format!("account --event {event} --delta 0 --json")).ok().json()["epsilon"]
            ["upper"]
            .clone()
    };
    assert_eq!(upper("pure-dp:epsilon=0.5").as_f64().map(|e| (e * 1e6).round()), Some(5e5));
    assert_eq!(upper("laplace:z=2").as_f64().map(|e| (e * 1e6).round()), Some(1e6));
    for line in [
        "account --event gaussian:z=2 --delta 0",
        "account --event approximate-dp:epsilon=0.1,delta=1e-6 --delta 0",
        "calibrate --epsilon 1 --delta 0",
        "simulate --data t.csv --schema s.toml --epsilon 1 --delta 0 --split 4 --iterations 2",
    ] {
        let refused = folder.reticent(line);
        assert!(refused.code == 2 && refused.err.contains("delta = 0: "), "{line}: {refused:?}");
        let why = ["without exception", "mechanisms that are pure"];
        assert!(why.iter().any(|why| refused.err.contains(why)), "{line}: {refused:?}");
    }
}

/// Nothing but a verdict turns a ledger into numbers: what the accountant says of one without its
/// taints is not for people.
#[test]
fn the_command_line_counts_no_ledger_by_itself() {
    let mut left = vec![std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src"))];
    let mut files = 0;
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        files += 1;
        let text = std::fs::read_to_string(&path).unwrap();
        for part in text.split("accountant::").skip(1) {
            let named =
                if part.starts_with('{') { part.split('}').next() } else { part.split(';').next() };
            for word in named.unwrap().split(|c: char| !(c.is_alphanumeric() || c == '_')) {
                let counts =
                    ["epsilon", "delta", "report", "curve", "profile", "gdp_mu", "rdp_curve"]
                        .contains(&word);
                assert!(!counts, "{}: accountant::{word}", path.display());
            }
        }
    }
    assert!(files > 10);
}

/// The plural of a party was "partys".
#[test]
fn units_have_a_plural_of_their_own() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<_> =
        ["cli", "report", "reticent"].map(|name| crates.join(name).join("src")).into();
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap();
            assert!(
                !text.contains("unit}s") && !text.contains("(unit) \"s\""),
                "{}",
                path.display()
            );
        }
    }
    assert!(files > 150, "{files}");
}

/// Only the command line knows flags: no other crate says one.
#[test]
fn no_other_crate_names_a_flag() {
    let crates = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<_> = std::fs::read_dir(crates)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|folder| !folder.ends_with("cli") && !folder.ends_with("testkit"))
        .map(|folder| folder.join("src"))
        .collect();
    let mut files = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            // The names of colours in a style sheet look like flags, and are none.
            if path.extension().is_some_and(|end| end == "css") {
                continue;
            }
            files += 1;
            for (number, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
                let code = line.split("//").next().unwrap();
                let flag = |at: usize| code[at + 2..].starts_with(|c: char| c.is_ascii_lowercase());
                let colour = |at: usize| code[at..].starts_with("--plot-");
                let named = code.match_indices("--").any(|(at, _)| flag(at) && !colour(at));
                assert!(!named, "{}:{}: {line}", path.display(), number + 1);
            }
        }
    }
    assert!(files > 200, "{files}");
}

/// The flags of a statistic stood among those of the budget of the data set.
#[test]
fn the_flags_of_a_statistic_have_a_heading_of_their_own() {
    let folder = Folder::new();
    for command in ["mean", "histogram", "quantile"] {
        let help = folder.reticent(&format!("{command} --help")).ok().out;
        let (_, own) = help.split_once("The statistic:").unwrap();
        assert!(own.contains("--column") && own.contains("--confidence"), "{help}");
    }
}

/// δ is added to a probability; that ε fails with this chance is another statement.
#[test]
fn no_help_calls_delta_the_chance_that_epsilon_fails() {
    let folder = Folder::new();
    for command in ["fit", "count", "account", "calibrate", "budget new", "budget plan", "audit"] {
        let help = folder.reticent(&format!("{command} --help")).ok().out.replace("\n", " ");
        let words: Vec<&str> = help.split_whitespace().collect();
        let help = words.join(" ");
        assert!(help.contains("additive slack δ"), "{command}: {help}");
        assert!(!help.contains("epsilon does not hold"), "{command}");
    }
}
