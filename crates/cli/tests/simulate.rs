//! `reticent simulate` as a user types it: trusts, parties' certificates, failures, going on after
//! kill −9.
#![allow(clippy::unwrap_used)]

use crate::common;

use common::{Folder, SCHEMA, csv, wait_until};
use serde_json::Value;

const JOB: &str = "data = 't.csv'\nschema = 's.toml'\nepsilon = 4.0\ndelta = 1e-5\niterations = 10\npenalty = 'l2:1e-2'\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.toml", SCHEMA);
    folder.write("t.csv", csv(300));
    folder.write("job.toml", format!("{JOB}[parties]\nsplit = 10\n"));
    folder
}

/// The key is that of the flag.
#[test]
fn users_from_may_stand_in_the_job_file() {
    let folder = Folder::new();
    folder.write("s.toml", common::SCHEMA);
    folder.write("t.csv", common::csv(60));
    folder.write(
        "job.toml",
        "data = 't.csv'\nschema = 's.toml'\ntarget = 'ill'\nepsilon = 8.0\ndelta = 1e-5\niterations = 2\nout = 'm'\n\
         [parties]\nusers-from = 'town'\n",
    );
    let said = folder.reticent("simulate job.toml --json").ok().json();
    assert_eq!(said["parties"]["count"], 2, "{said}");
    let said = folder.reticent("simulate job.toml --split 5 --json").ok().json();
    assert_eq!(said["parties"]["count"], 5, "{said}");
}

#[test]
fn a_run_has_a_certificate_and_every_party_its_own() {
    let folder = folder();
    let said = folder.reticent("simulate job.toml --party 3 --out m --json").ok().json();
    assert_eq!(
        (&said["certified"], &said["view"], &said["unit"]),
        (&true.into(), &"local".into(), &"record".into())
    );
    // Where no algorithm is named it is the best one.
    assert_eq!((&said["algorithm"], &said["parties"]["count"]), (&"auto".into(), &10.into()));
    assert!(said["party"]["epsilon"].as_f64().unwrap() <= 4.0);
    let entries = said["party"]["ledger"]["entries"].as_array().unwrap();
    let counts = entries.iter().map(|entry| entry["count"].as_u64().unwrap());
    assert_eq!(said["rounds"], counts.sum::<u64>());
    let each: Value = serde_json::from_str(&folder.read("m/parties.json")).unwrap();
    assert_eq!(each.as_array().unwrap().len(), 10);
    let lines = folder.reticent("predict m t.csv").ok().out;
    assert_eq!(lines.lines().count(), 301);
    assert!(folder.reticent("inspect m").ok().out.contains("auto"));
    let named =
        folder.reticent("simulate job.toml --algorithm federated --out f --json").ok().json();
    assert_eq!((&named["algorithm"], &named["rounds"]), (&"federated".into(), &10.into()));
    assert!(folder.reticent("simulate job.toml --party 10").err.contains("numbered from 0 to 9"));
}

/// Every neighbour has heard a peer's model: each is one, with the certificate of the run.
#[test]
fn every_peer_has_a_model_of_its_own() {
    let folder = folder();
    folder.reticent("identity new me").ok();
    let peers = "simulate job.toml --algorithm r-admm --topology ring --node-models nodes --out m";
    let own = "--split 3 --party-rho 0.1,0.2,0.4 --party-noise 1,1,2 --noise-schedule geometric:0.9 --start 0.1";
    let said = folder.reticent(&format!("{peers} {own} --sign me --json")).ok().json();
    assert_eq!((&said["node_models"], &said["certified"]), (&"nodes".into(), &true.into()));
    let model = |name: &str| -> Value {
        serde_json::from_str(&folder.read(&format!("{name}/model.json"))).unwrap()
    };
    let [run, first, last] = ["m", "nodes/0", "nodes/2"].map(model);
    assert_ne!(first["coefficients"], last["coefficients"]);
    for node in [&first, &last] {
        for key in ["epsilon", "ledger", "parties", "view", "certified"] {
            assert_eq!(node["certificate"][key], run["certificate"][key], "{key}");
        }
    }
    // Ten rounds, of which five touch data: five entries, each with its own noise.
    assert_eq!(run["certificate"]["ledger"]["entries"].as_array().unwrap().len(), 5);
    let each: Value = serde_json::from_str(&folder.read("m/parties.json")).unwrap();
    assert!(each[2]["epsilon"].as_f64() < each[0]["epsilon"].as_f64(), "{each}");
    folder.reticent("verify nodes/2 --key me.pub").ok();
    assert_eq!(folder.reticent("predict nodes/1 t.csv").ok().out.lines().count(), 301);
    // Not even by force: of ten parties seven would be left beside the next three.
    let again = folder.reticent(&format!("{peers} --force"));
    assert!(again.err.contains("nodes has files in it already"), "{}", again.err);
    let others = peers.replace("--node-models nodes", "--node-models ten");
    assert!(folder.reticent(&others).ok().out.contains("folders 0 to 9"));
    let secret = folder.reticent("simulate job.toml --node-models other --out n");
    assert!(secret.err.contains("no models of single parties"), "{}", secret.err);
    assert!(["n", "other"].iter().all(|name| !folder.path().join(name).exists()));
}

#[test]
fn trust_decides_what_is_counted() {
    let folder = folder();
    folder.write("v.csv", common::visits(300, 10));
    folder.write("v.toml", common::visits_schema());
    let persons = "--data v.csv --schema v.toml --users-from who";
    for (flags, view, unit) in [
        ("--trust central", "central", "record"),
        ("--trust central --algorithm federated --sampling poisson:0.5", "central", "record"),
        ("--trust central --sampling poisson:0.5", "central", "user"),
        ("--trust secure-aggregation --iterations 2", "secure-aggregation", "user"),
    ] {
        let whose = if unit == "user" { persons } else { "" };
        let line = format!("simulate job.toml {whose} {flags} --json");
        let said = folder.reticent(&line).ok().json();
        assert_eq!((&said["certified"], &said["view"]), (&true.into(), &view.into()), "{said}");
        // How many messages there were would tell how many were in the secret sample.
        assert_eq!(said["messages"].is_null(), flags.contains("poisson"), "{said}");
        assert_eq!(said["unit"], unit, "{said}");
    }
    let refused = folder.reticent("simulate job.toml --trust network");
    assert!(
        refused
            .err
            .contains("federated has a guarantee for local, secure-aggregation, central only"),
        "{}",
        refused.err
    );
}

/// A party may have several persons, each whole: the fit of the pooled table, which protects persons.
#[test]
fn persons_within_parties_have_the_fit_of_the_pooled_table() {
    let folder = folder();
    folder.write("v.csv", common::visits(300, 40));
    folder.write("v.toml", common::visits_schema());
    let job = "--schema v.toml --epsilon 4 --delta 1e-5 --iterations 6 --seed 5";
    folder.reticent(&format!("fit v.csv {job} --out pooled")).ok();
    let trusted = format!("simulate --data v.csv {job} --split 6 --trust central --out m --json");
    let said = folder.reticent(&trusted).ok().json();
    assert_eq!((&said["unit"], &said["parties"]["count"]), (&"user".into(), &6.into()));
    let model = |name: &str| -> Value {
        serde_json::from_str(&folder.read(&format!("{name}/model.json"))).unwrap()
    };
    let (pooled, dealt) = (model("pooled"), model("m"));
    assert_eq!(dealt["coefficients"], pooled["coefficients"]);
    let certificate = &dealt["certificate"];
    assert_eq!(certificate["population"], pooled["certificate"]["population"]);
    assert_eq!(certificate["ledger"], pooled["certificate"]["ledger"]);
    assert!(
        certificate["assumptions"].to_string().contains("k² times the entries"),
        "{certificate}"
    );
    // Who is with which party follows from all persons, so that no party has a budget of its own.
    for party in 0..6 {
        let new = format!("budget new b{party} --epsilon 9 --delta 1e-3 --unit user");
        folder.reticent(&new).ok();
    }
    let paid = format!("{trusted} --force --algorithm auto --party-budget b{{}}");
    let refused = folder.reticent(&paid.replace(" --seed 5", "").replace(" --json", ""));
    assert!(
        refused.code == 2 && refused.err.contains("follows from all of them"),
        "{}",
        refused.err
    );
}

/// Parties that a column names: a person within one of them is protected, or a party under its own name,
/// whomever they trust.
#[test]
fn parties_of_a_column_have_persons_of_their_own() {
    let folder = folder();
    let visits = common::visits(300, 40);
    let mut lines = visits.lines();
    let head = format!("{},hospital\n", lines.next().unwrap());
    let placed = lines.enumerate().map(|(i, line)| {
        // The first rows of everybody are at two hospitals.
        format!("{line},{}\n", ["north", "south", "east", "west"][i / 3 % 4])
    });
    folder.write("h.csv", head + &placed.collect::<String>());
    let column = "\n[[column]]\nname = 'hospital'\nkind = 'ignored'\n";
    folder.write("h.toml", common::visits_schema().to_owned() + column);
    let job = "simulate --data h.csv --schema h.toml --epsilon 4 --delta 1e-5 --iterations 4 --parties-from hospital";
    for trust in ["central", "local", "secure-aggregation"] {
        let said =
            folder.reticent(&format!("{job} --trust {trust} --out {trust} --json")).ok().json();
        assert_eq!((&said["unit"], &said["parties"]["count"]), (&"user".into(), &4.into()));
        assert_eq!(said["certified"], true, "{said}");
        let model: Value =
            serde_json::from_str(&folder.read(&format!("{trust}/model.json"))).unwrap();
        let certificate = &model["certificate"];
        assert!(certificate["population"].as_u64().unwrap() > 40, "{certificate}");
        assert!(certificate["assumptions"].to_string().contains("covered k-fold"), "{certificate}");
        folder.reticent(&format!("verify {trust}")).ok();
        let party =
            format!("{job} --unit party --trust {trust} --algorithm dp-sgd --out p-{trust}");
        let said = folder.reticent(&format!("{party} --json")).ok().json();
        assert_eq!(said["unit"], "party");
        assert!(said["meaning"].as_str().unwrap().contains("any one party"), "{said}");
        folder.reticent(&format!("verify p-{trust}")).ok();
    }
    let users = "budget new u --epsilon 9 --delta 1e-3 --unit user";
    folder.reticent(users).ok();
    folder.reticent(&users.replace(" u ", " all ").replace("user", "party")).ok();
    let refused = folder.reticent("budget import u central/certificate.json");
    assert!(refused.code == 2 && refused.err.contains("counts as k persons"), "{}", refused.err);
    let taken = folder.reticent("budget import all p-central/certificate.json").ok();
    assert!(taken.err.contains("the parties of the release"), "{}", taken.err);
    let asked = "mean h.csv --schema h.toml --column age --epsilon 1 --delta 1e-6 --adjacency replace-one --trust central";
    let said = folder.reticent(&format!("{asked} --parties-from hospital")).ok().out;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("A user counts once at each party"), "{said}");
    let said = folder.reticent(&format!("{asked} --parties-from hospital --json")).ok().json();
    assert_eq!(said["unit"], "user", "{said}");
    for (flags, word) in [
        ("--algorithm federated", "which protect a person within a party"),
        ("--trust central --sampling poisson:0.5", "a bit for each of its persons"),
        ("--adjacency add-remove --public-n 40", "who takes part is public"),
        ("--split 3", "cannot be used with"),
        ("--unit party --budget b", "--unit party"),
    ] {
        if flags.contains("budget") {
            folder.reticent("budget new b --epsilon 9 --delta 1e-3 --unit user").ok();
        }
        let refused = folder.reticent(&format!("{job} {flags}"));
        let said = refused.err.replace("unit = party", "--unit party");
        assert!(refused.code != 0 && said.contains(word), "{flags}: {}", refused.err);
    }
    let refused =
        folder.reticent("fit h.csv --schema h.toml --epsilon 1 --delta 1e-5 --unit party");
    assert!(
        refused.code == 2 && refused.err.contains("one table has no parties"),
        "{}",
        refused.err
    );
}

/// The number of rounds stood there without a word of what it follows from.
#[test]
fn auto_says_where_it_takes_more_rounds_than_in_learned_coordinates() {
    let folder = folder();
    let row = |i: u32| {
        let class = ["-1", "+1"][i as usize % 2];
        format!("{class} {}:1 {}:1\n", 1 + i % 2, 3 + i * 7 % 2000)
    };
    folder.write("wide.libsvm", (0..400).map(row).collect::<String>());
    let wide = "simulate --data wide.libsvm --features 2500 --row-norm 1.5 --epsilon 20 --delta 1e-5 --split 2";
    for (trust, few) in [("local", 25), ("central", 33)] {
        let said = |flags: &str| {
            let line = format!("{wide} --trust {trust} --force --out wide {flags}");
            folder.reticent(&line).ok().out.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let many = said("");
        let words = format!("in the coordinates of the table: in learned ones auto takes {few}");
        assert!(many.contains(&words), "{many}");
        let rounds = many.split(" in ").nth(1).and_then(|it| it.split(' ').next());
        assert!(rounds.unwrap().parse::<u32>().unwrap() > few, "{many}");
        // The settings stand there as they would be typed.
        assert!(many.contains("auto: --algorithm dp-sgd"), "{many}");
        assert!(!said("--iterations 5").contains("in learned ones"));
        // Behind a constraint, where each is one of a single table, learned ones take 97, which is more than these.
        let behind = said("--penalty l1:1e-3 --constraint chain");
        let said_few = behind.contains(&format!("in learned ones auto takes {few}"));
        assert_eq!(said_few, trust == "local", "{behind}");
        assert!(!behind.contains("takes 97"), "{behind}");
        let learned = folder.reticent(&format!(
            "simulate job.toml --trust {trust} --algorithm auto --split 3 --epsilon 8 --force --out m"
        ));
        assert!(!learned.ok().out.contains("in learned ones"));
    }
}

/// Whoever adds the noise: told with the run, shown by `inspect`, in the model and in what is verified; and from a job
/// file as from flags.
#[test]
fn standard_errors_are_told_of_a_run_between_parties() {
    let folder = folder();
    folder.reticent("demo --out clinic").ok();
    let job = "simulate --data clinic/patients.csv --schema clinic/schema.toml --target stroke --epsilon 100 --delta 1e-6 \
               --split 4 --iterations 8 --standard-errors 0.5 --seed 1";
    for trust in ["central", "local", "secure-aggregation"] {
        let said = folder.reticent(&format!("{job} --trust {trust} --out {trust}")).ok().out;
        assert!(said.contains("standard errors") && said.contains("inspect"), "{said}");
        let shown = folder.reticent(&format!("inspect {trust}")).ok().out;
        assert!(shown.contains("What moves the log-odds of stroke = yes"), "{shown}");
        assert!(shown.contains("smoker=yes, not smoker=no"), "{shown}");
        folder.reticent(&format!("verify {trust}")).ok();
    }
    let file = "data = 'clinic/patients.csv'\nschema = 'clinic/schema.toml'\ntarget = 'stroke'\nepsilon = 100.0\n\
        delta = 1e-6\niterations = 8\nstandard_errors = 0.5\nseed = 1\nout = 'again'\n\
        [parties]\nsplit = 4\ntrust = 'local'\n";
    folder.write("errors.toml", file);
    folder.reticent("simulate errors.toml").ok();
    let model = |of: &str| folder.read(&format!("{of}/model.json"));
    assert_eq!(model("again"), model("local"));
}

/// The way out was one for drafted schemas alone.
#[test]
fn records_dealt_by_their_labels_are_told_the_way_out() {
    let said = folder().reticent("simulate job.toml --skew label:0.5 --out m").ok();
    let words = said.err.replace('\n', " ");
    assert!(words.contains("NOT PRIVATE") && words.contains("deal by iid or size:A"), "{words}");
}

#[test]
fn failures_are_counted_and_mistakes_refused() {
    let folder = folder();
    let persons = SCHEMA.replace("kind = 'categorical'\ncategories = ['A', 'B']", "kind = 'user'");
    folder.write("persons.toml", persons);
    let said =
        folder.reticent("simulate job.toml --fail duplicate=0.5,corrupt=0.1 --json").ok().json();
    assert!(said["rejections"]["duplicate"].as_u64().unwrap() > 0, "{said}");
    assert!(said["rejections"]["corrupt"].as_u64().unwrap() > 0, "{said}");
    for (flags, word) in [
        ("--fail sometimes=0.1", "sometimes"),
        ("--fail after=2", "a chance from 0 to 1"),
        ("--split 0", "at least one party"),
        ("--split 5 --unit user --user-column town", "the rows of a person are not kept together"),
        (
            "--split 5 --unit user --schema persons.toml --trust central --sampling poisson:0.5",
            "who is with which party follows from all of them",
        ),
        (
            "--split 5 --unit user --schema persons.toml --trust central --skew size:1",
            "persons are dealt whole",
        ),
        (
            "--split 5 --unit user --schema persons.toml --trust secure-aggregation",
            "a person's records would be dealt to several parties",
        ),
        (
            "--split 5 --unit user --schema persons.toml",
            "a person's records would be dealt to several parties",
        ),
        ("--split 5 --schema persons.toml", "a person's records would be dealt to several parties"),
        ("--split 5 --unit user", "make every person a party with --users-from COLUMN"),
        ("--tune clip=[1,2]", "nothing can be tuned between parties"),
        ("--graph private", "no graph is learned between parties"),
        ("--skew upwards", "label:A"),
        ("--algorithm r-admm --topology circle", "erdos-renyi:P"),
        ("--algorithm consensus", "consensus: it asks for more than sums over records"),
        ("--algorithm federated --adjacency add-remove", "use replace-one"),
        ("--resume --checkpoint nowhere", "no such checkpoint"),
    ] {
        let refused = folder.reticent(&format!("simulate job.toml {flags}"));
        assert!(refused.code == 2 && refused.err.contains(word), "{flags}: {}", refused.err);
    }
}

#[test]
fn a_run_that_is_killed_goes_on_to_the_same_model() {
    let folder = folder();
    let flags = "--iterations 400 --seed 5 --fail after=0.1,restart=0.1";
    folder.reticent(&format!("simulate job.toml {flags} --out whole")).ok();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("reticent"))
        .current_dir(folder.path())
        .args(format!("simulate job.toml {flags} --out killed --checkpoint run").split_whitespace())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    // Until a round has been saved; then without warning.
    wait_until(|| folder.path().join("run").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(folder.path().join("run").exists());
    folder
        .reticent(&format!("simulate job.toml {flags} --out killed --checkpoint run --resume"))
        .ok();
    for file in ["model.json", "parties.json"] {
        assert_eq!(
            folder.read(&format!("killed/{file}")),
            folder.read(&format!("whole/{file}")),
            "{file}"
        );
    }
    let other = folder.reticent("simulate job.toml --seed 5 --checkpoint run --resume");
    assert!(other.err.contains("of another job"), "{}", other.err);
}

/// Runs on sums go on too, behind masks without those who leave: the algorithm is run again over what
/// was released.
#[test]
fn a_run_on_sums_that_is_killed_goes_on_to_the_same_model() {
    let folder = folder();
    let masked =
        "--algorithm auto --trust secure-aggregation --split 20 --fail after=0.01,before=0.01";
    for (name, flags) in [
        ("masked", masked),
        ("local", "--algorithm auto --trust local"),
        ("central", "--algorithm auto --trust central"),
    ] {
        let flags = format!("{flags} --iterations 12 --seed 5");
        let whole =
            folder.reticent(&format!("simulate job.toml {flags} --out {name} --json")).ok().json();
        assert_eq!(whole["fewest"].is_null(), name != "masked", "{whole}");
        let kept = format!("--out {name}-killed --checkpoint {name}.run");
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("reticent"))
            .current_dir(folder.path())
            .args(format!("simulate job.toml {flags} {kept}").split_whitespace())
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        wait_until(|| folder.path().join(format!("{name}.run")).exists());
        child.kill().unwrap();
        child.wait().unwrap();
        let again = format!("simulate job.toml {flags} {kept} --resume --force --json");
        let done = folder.reticent(&again).ok().json();
        for key in ["rounds", "messages", "bytes", "fewest", "rejections", "epsilon"] {
            assert_eq!(done[key], whole[key], "{name}: {key}");
        }
        for file in ["model.json", "parties.json"] {
            assert_eq!(
                folder.read(&format!("{name}-killed/{file}")),
                folder.read(&format!("{name}/{file}")),
                "{name}: {file}"
            );
        }
    }
    // Another table would be answered with the noise of this one.
    folder.write("t.csv", csv(299));
    let again = "--algorithm auto --trust central --iterations 12 --seed 5 --checkpoint central.run --resume";
    let other = folder.reticent(&format!("simulate job.toml {again}"));
    assert!(other.code == 2 && other.err.contains("not what it was"), "{}", other.err);
}

#[test]
fn files_of_a_job_file_are_found_from_another_folder() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("elsewhere")).unwrap();
    let ring: String = (0..10).map(|i| format!("{i} {}\n", (i + 1) % 10)).collect();
    folder.write("ring.txt", ring);
    folder.write(
        "ring.toml",
        format!("{JOB}algorithm = 'r-admm'\nout = 'm'\n[parties]\nsplit = 10\ntopology = 'file:ring.txt'\n"),
    );
    folder.shell("cd elsewhere && reticent simulate ../ring.toml").ok();
    assert!(folder.path().join("m/model.json").exists());
    let again = folder.shell("cd elsewhere && reticent simulate ../ring.toml").ok();
    assert!(again.err.contains("It replaces the model that was there"), "{}", again.err);
    let names = [
        "accountant",
        "adjacency",
        "algorithm",
        "bytes",
        "certified",
        "choice",
        "constraint",
        "delta",
    ];
    let object = folder.reticent("simulate ring.toml --json").ok().json();
    assert!(names.iter().all(|name| object.get(name).is_some()), "{object}");
    assert_eq!(object["spent"], "m/parties.json");
}

/// Without noise and penalty a table in other units is the same problem, the intercept included.
#[test]
fn a_table_in_other_units_gives_the_same_model() {
    let folder = Folder::new();
    let predicted = |unit: u32| {
        let numeric = |name: &str| {
            format!(
                "[[column]]\nname = '{name}'\nkind = 'numeric'\nlower = 0\nupper = {unit}\nscale = 'none'\n"
            )
        };
        let target = "[[column]]\nname = 'ill'\nkind = 'target'\nclasses = ['no', 'yes']\n";
        folder.write(
            "s.toml",
            format!("row_norm = {unit}\n{}{}{target}", numeric("a"), numeric("b")),
        );
        let rows = (0..200).map(|i| (i * 37 % 101, i * 53 % 97, i % 3));
        let row = |(a, b, c): (u32, u32, u32)| {
            let of = |value: u32| f64::from(value * unit) / 128.0;
            format!("{},{},{}\n", of(a), of(b), if a + 20 * c > b + 30 { "yes" } else { "no" })
        };
        folder.write("t.csv", format!("a,b,ill\n{}", rows.map(row).collect::<String>()));
        let flags = "--schema s.toml --split 5 --algorithm admm-network --iterations 20 --out m";
        folder.reticent(&format!("simulate --data t.csv {flags}")).ok();
        let object = folder.reticent("predict m t.csv --json").ok().json();
        let each = object["predictions"].as_array().unwrap().clone();
        each.iter().map(|each| each["probabilities"][1].as_f64().unwrap()).collect::<Vec<_>>()
    };
    let (small, large) = (predicted(1), predicted(8));
    assert!(small.iter().zip(&large).all(|(a, b)| (a - b).abs() < 1e-9), "{small:?}\n{large:?}");
    assert!(small.iter().any(|p| (p - 0.5).abs() > 0.05), "{small:?}");
}

/// Every job file of `examples/` runs. Each is meant to take less than twenty seconds, which a benchmark may say and a
/// busy machine not.
#[test]
fn every_example_runs() {
    let folder = Folder::new();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(examples).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let said =
            folder.reticent(&format!("simulate {} --out m --json", path.display())).ok().json();
        let name = said["algorithm"].as_str().unwrap().to_owned();
        assert_eq!(said["certified"], name != "admm-network", "{}", path.display());
        names.push(name);
    }
    let protocols = folder.reticent("list protocols --json").ok().json();
    for protocol in protocols["protocols"].as_array().unwrap() {
        let name = protocol["name"].as_str().unwrap();
        assert!(names.iter().any(|had| had == name), "{name} has no example");
    }
}
