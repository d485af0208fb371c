//! One person in two files, as other programs write ids.

use crate::common::Folder;

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
