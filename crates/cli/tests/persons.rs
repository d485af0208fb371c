//! One person in two files, as other programs write ids.

use crate::common::{Folder, parquet};

const SCHEMA: &str = "row_norm = 1\n\
    [[column]]\nname = 'age'\nkind = 'numeric'\nlower = 0\nupper = 100\n\
    [[column]]\nname = 'who'\nkind = 'user'\n\
    [[column]]\nname = 'ill'\nkind = 'target'\nclasses = ['no', 'yes']\n";

/// A hundred persons, one record each.
fn month(shift: u32, spell: fn(u32) -> String) -> String {
    let line = |i: u32| {
        let ill = if (i + shift).is_multiple_of(3) { "yes" } else { "no" };
        format!("{},{},{ill}\n", (i * 7 + shift) % 100, spell(i))
    };
    "age,who,ill\n".to_owned() + &(0..100).map(line).collect::<String>()
}

/// A column of integers that had a gap is one of floating-point numbers to pandas, which it writes
/// with a point: both months are of the same hundred people.
#[test]
fn files_of_7_and_of_7_0_are_of_the_same_people() {
    let folder = Folder::new();
    folder.write("schema.toml", SCHEMA);
    folder.write("jan.csv", month(0, |i| i.to_string()));
    folder.write("feb.csv", month(5, |i| i.to_string()));
    folder.write("feb-float.csv", month(5, |i| format!("{i}.0")));
    let fit = |february: &str, out: &str| {
        let line = format!(
            "fit jan.csv {february} --schema schema.toml --epsilon 1 --delta 1e-6 --seed 3 --out {out}"
        );
        folder.reticent(&line).ok();
        serde_json::from_str::<serde_json::Value>(&folder.read(&format!("{out}/model.json")))
            .unwrap()
    };
    let (once, twice) = (fit("feb.csv", "once"), fit("feb-float.csv", "twice"));
    assert_eq!(twice["certificate"]["unit"], "user");
    assert_eq!(twice["certificate"]["population"], 100, "of a public number under replace-one");
    assert_eq!(twice["coefficients"], once["coefficients"]);
    let count = |february: &str| {
        let line = "--schema schema.toml --epsilon 1 --delta 1e-6 --seed 3 --json";
        let said = folder.reticent(&format!("count jan.csv {february} {line}")).ok().json();
        said["count"].as_f64().unwrap()
    };
    assert_eq!(count("feb-float.csv"), count("feb.csv"));
    // A model keeps how ids are told apart, and an evaluation does as the fit did.
    folder.write("text.toml", SCHEMA.replace("'user'", "'user'\nas = 'text'"));
    let line = "fit jan.csv feb-float.csv --schema text.toml --epsilon 1 --delta 1e-6 --out text";
    folder.reticent(line).ok();
    let text: serde_json::Value = serde_json::from_str(&folder.read("text/model.json")).unwrap();
    assert_eq!(text["certificate"]["population"], 200, "every spelling is somebody else");
    folder.write("both.csv", folder.read("jan.csv") + &folder.read("feb-float.csv")[12..]);
    for (model, persons) in [("once", 100), ("text", 200)] {
        let line = format!("evaluate {model} both.csv --epsilon 1 --delta 1e-6 --json");
        let said = folder.reticent(&line).ok().json();
        assert_eq!(said["certificate"]["population"], persons, "{said}");
    }
}

/// A budget of persons, of parties, or of one party's records knows how these are told apart: under another
/// column of the same place in words, or another form of ids, they are others.
#[test]
fn a_budget_does_not_take_other_persons_or_parties_for_its_own() {
    let folder = Folder::new();
    let row = |i: u32| {
        let (ill, small) = (["no", "yes"][i as usize % 2], i < 80);
        let name = if small && i.is_multiple_of(3) {
            format!("0{}", i % 20)
        } else {
            (i % 20).to_string()
        };
        format!(
            "{},{},{},{name},{ill}\n",
            i % 100,
            ["a", "b"][i as usize / 60 % 2],
            ["b", "a", "a"][i as usize % 3]
        )
    };
    folder.write("t.csv", (0..240).map(row).collect::<String>());
    let schema = |roles: [&str; 3], more: &str| {
        let column = |name: &str| format!("[[column]]\nname = '{name}'\nkind = 'ignored'\n");
        format!(
            "row_norm = 1\nheader = false\n{more}[[column]]\nname = 'age'\nkind = 'numeric'\nlower = 0\nupper = 100\n{}\
             [[column]]\nname = 'ill'\nkind = 'target'\nclasses = ['no', 'yes']\n",
            roles.map(column).concat()
        )
    };
    folder.write("second.toml", schema(["hospital", "clinic", "who"], ""));
    folder.write("third.toml", schema(["clinic", "hospital", "who"], ""));
    folder.write("spaces.toml", schema(["hospital", "clinic", "who"], "trim = false\n"));
    let who = "name = 'who'\nkind = 'ignored'";
    let user = |form: &str| {
        schema(["hospital", "clinic", "who"], "")
            .replace(who, &format!("name = 'who'\nkind = 'user'\n{form}"))
    };
    folder.write("user.toml", user(""));
    folder.write("text.toml", user("as = 'text'\n"));

    let promise = "--epsilon 5 --delta 1e-4";
    let asked = "--epsilon 1 --delta 1e-6 --iterations 2 --algorithm dp-sgd";
    let between = |schema: &str, paid: &str| {
        folder.reticent(&format!(
            "simulate --data t.csv --schema {schema}.toml --parties-from hospital {asked} --trust local {paid} --out {schema} --force"
        ))
    };
    // Whole parties of one budget.
    folder.reticent(&format!("budget new all {promise} --unit party")).ok();
    between("second", "--unit party --budget all").ok();
    let refused = between("third", "--unit party --budget all");
    assert!(
        refused.code != 0 && refused.err.contains("column 2 of a file without a header"),
        "{}",
        refused.err
    );
    between("second", "--unit party --budget all").ok();
    let mean = |schema: &str| {
        folder.reticent(&format!(
            "mean t.csv --schema {schema}.toml --column age --epsilon 0.5 --delta 1e-6 --unit party --parties-from hospital \
             --trust local --budget all"
        ))
    };
    mean("second").ok();
    let refused = mean("third");
    assert!(
        refused.code != 0 && refused.err.contains("column 2 of a file without a header"),
        "{}",
        refused.err
    );
    // Records, from a budget of each party.
    for party in 0..2 {
        folder.reticent(&format!("budget new b{party} {promise}")).ok();
    }
    between("second", "--unit record --party-budget b{}").ok();
    for other in ["third", "spaces"] {
        let refused = between(other, "--unit record --party-budget b{}");
        assert!(
            refused.code != 0 && refused.err.contains("not the table"),
            "{other}: {}",
            refused.err
        );
    }
    between("second", "--unit record --party-budget b{}").ok();
    // Persons of one table.
    folder.reticent(&format!("budget new people {promise} --unit user")).ok();
    let fit = |schema: &str| {
        folder.reticent(&format!(
            "fit t.csv --schema {schema}.toml {asked} --budget people --out {schema} --force"
        ))
    };
    fit("user").ok();
    let refused = fit("text");
    assert!(refused.code != 0 && refused.err.contains("as text"), "{}", refused.err);
    fit("user").ok();
}

/// Columns of Parquet have names, and a budget knew them by their places in the schema.
#[test]
fn whose_rows_of_parquet_are_is_not_told_by_places() {
    let folder = Folder::new();
    folder.write("t.parquet", parquet(60, 60));
    let schema = SCHEMA.replace("'who'", "'town'");
    folder.write("named.toml", &schema);
    folder.write("placed.toml", format!("header = false\n{schema}"));
    let fit = |schema: &str| {
        folder.reticent(&format!(
            "fit t.parquet --schema {schema}.toml --epsilon 1 --delta 1e-6 --algorithm dp-sgd --iterations 2 --out {schema}"
        ))
    };
    fit("named").ok();
    let refused = fit("placed");
    assert!(
        refused.code == 2 && refused.err.contains("the file names its columns"),
        "{}",
        refused.err
    );
}
