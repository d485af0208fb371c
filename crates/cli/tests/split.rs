//! `reticent split`: two files, nobody in both.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use crate::common::Folder;

/// 400 records of 100 persons, whose ids are written in several ways.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut text = "person,note,age,ill\n".to_owned();
    for i in 0..400_usize {
        let id = match i % 4 {
            0 => format!("{}", i / 4),
            1 => format!("{}.0", i / 4),
            2 => format!(" +{} ", i / 4),
            _ => format!("00{}", i / 4),
        };
        text += &format!("{id},\"a, \"\"b\"\"\",{},{}\n", 20 + i % 50, i % 2);
    }
    folder.write("t.csv", text);
    folder
}

fn lines(folder: &Folder, name: &str) -> Vec<String> {
    folder.read(name).lines().map(str::to_owned).collect()
}

/// Whose the records of a file are.
fn persons(lines: &[String]) -> BTreeSet<u32> {
    let id = |line: &String| line.split(',').next().unwrap().trim_matches('"').trim().to_owned();
    let number = |id: String| id.trim_start_matches('+').parse::<f64>().unwrap() as u32;
    lines[1..].iter().map(|line| number(id(line))).collect()
}

const SPLIT: &str = "split t.csv --by person --train a.csv --test b.csv";

#[test]
fn nobody_is_on_both_sides_of_a_split_however_they_are_written() {
    let folder = folder();
    let said = folder.reticent(SPLIT).ok();
    let (a, b) = (lines(&folder, "a.csv"), lines(&folder, "b.csv"));
    assert_eq!((a[0].as_str(), &a[0]), ("person,note,age,ill", &b[0]));
    assert_eq!(a.len() + b.len(), 402);
    let (train, test) = (persons(&a), persons(&b));
    assert!(train.is_disjoint(&test) && train.len() + test.len() == 100);
    // A quarter of 100 persons, give or take; the hash is fixed, so that this cannot change.
    assert!((15..=35).contains(&test.len()), "{}", test.len());
    assert!(a[1].contains("\"a, \"\"b\"\"\""), "{}", a[1]);
    // How many records went where is nobody's business.
    assert!(said.out.chars().all(|c| !c.is_ascii_digit()), "{}", said.out);
}

#[test]
fn the_same_split_is_made_again_and_another_word_makes_another() {
    let folder = folder();
    folder.reticent(SPLIT).ok();
    let first = folder.read("b.csv");
    assert_eq!(folder.reticent(SPLIT).code, 2);
    folder.reticent(&format!("{SPLIT} --force")).ok();
    assert_eq!(folder.read("b.csv"), first);
    folder.reticent(&format!("{SPLIT} --force --seed other")).ok();
    assert_ne!(folder.read("b.csv"), first);
    // Where a record goes depends on its person alone: not on who else is there.
    let half: String =
        folder.read("t.csv").lines().take(201).map(|line| format!("{line}\n")).collect();
    folder.write("t.csv", half);
    folder.reticent(&format!("{SPLIT} --force")).ok();
    assert!(first.starts_with(&folder.read("b.csv")));
}

#[test]
fn a_split_goes_by_the_users_of_a_schema_and_refuses_nobody() {
    let folder = folder();
    folder.write(
        "s.toml",
        "row_norm = 1\n[[column]]\nname = 'person'\nkind = 'user'\n[[column]]\nname = 'note'\nkind = 'ignored'\n\
         [[column]]\nname = 'age'\nkind = 'numeric'\nlower = 0\nupper = 100\n[[column]]\nname = 'ill'\nkind = 'target'\n\
         classes = ['0', '1']\n",
    );
    folder.reticent(SPLIT).ok();
    let by_name = folder.read("b.csv");
    folder.reticent(&format!("{} --schema s.toml --force", SPLIT.replace("--by person ", ""))).ok();
    assert_eq!(folder.read("b.csv"), by_name);
    let fit =
        "fit a.csv --schema s.toml --epsilon 1 --delta 1e-5 --iterations 3 --public-n 75 --out m";
    folder.reticent(fit).ok();
    for (from, to, message) in [
        ("\n1,", "\n,", "person"),
        ("\n1,", "\n\"1,000\",", "person"),
        ("person,note", "who,note", "no column `person` to split by"),
        ("person,note", "person,person", "twice"),
    ] {
        folder.write("bad.csv", folder.read("t.csv").replacen(from, to, 1));
        let line =
            SPLIT.replace("t.csv", "bad.csv").replace("a.csv", "c.csv").replace("b.csv", "d.csv");
        let said = folder.reticent(&line);
        assert!(said.code == 2 && said.err.contains(message), "{to}: {}", said.err);
        assert!(!folder.path().join("c.csv").exists() && !folder.path().join("d.csv").exists());
        assert!(!said.err.contains("1,000"), "{}", said.err);
    }
    assert_eq!(folder.reticent(&format!("{SPLIT} --share 1")).code, 2);
    assert_eq!(folder.reticent("split t.parquet --by person --train c.csv --test d.csv").code, 2);
}

/// Records of persons are not shown to more users of the system than the table is.
#[test]
#[cfg(unix)]
fn a_split_is_as_private_as_its_table() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let mode = |name: &str| std::fs::metadata(at(name)).unwrap().permissions().mode() & 0o777;
    for own in [0o600, 0o640, 0o644] {
        std::fs::set_permissions(at("t.csv"), PermissionsExt::from_mode(own)).unwrap();
        assert_eq!(folder.shell(&format!("umask 022; reticent {SPLIT} --force")).code, 0);
        assert_eq!((mode("a.csv"), mode("b.csv")), (own, own));
    }
    // Nobody knows who may read a pipe.
    let line = SPLIT.replace("t.csv", "- --format csv");
    assert_eq!(folder.shell(&format!("umask 022; reticent {line} --force < t.csv")).code, 0);
    assert_eq!((mode("a.csv"), mode("b.csv")), (0o600, 0o600));
}

#[test]
fn two_files_that_are_one_and_files_of_other_formats_are_refused() {
    let folder = folder();
    for (train, test) in [("a.csv", "./a.csv"), ("x/a.csv", "x/../x/a.csv"), ("a.csv", "a.csv")] {
        let said =
            folder.reticent(&format!("split t.csv --by person --train {train} --test {test}"));
        assert!(
            said.code == 2 && said.err.contains("the same file"),
            "{train} {test}: {}",
            said.err
        );
        assert!(!folder.path().join(train).exists());
    }
    for train in ["a.parquet", "a.csv.gz", "a.XLSX"] {
        let said =
            folder.reticent(&format!("split t.csv --by person --train {train} --test b.csv"));
        assert!(said.code == 2 && said.err.contains("plain text"), "{train}: {}", said.err);
        assert!(!folder.path().join(train).exists());
    }
}
