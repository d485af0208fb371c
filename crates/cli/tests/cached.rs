//! `--cache DIR` as a user types it: the same files as without it, and nothing left behind.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Folder, SCHEMA, Said, csv, parquet, visits, visits_schema};

const FIT: &str = "--schema schema.toml --target ill --epsilon 1 --delta 1e-5 --seed 3";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("schema.toml", SCHEMA);
    folder.write("t.csv", csv(300));
    let cache = folder.path().join("cache");
    std::fs::create_dir(&cache).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&cache, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    folder
}

fn left_behind(folder: &Folder) -> usize {
    std::fs::read_dir(folder.path().join("cache")).unwrap().count()
}

/// The same command with and without a cache, and the file that both write.
fn same(folder: &Folder, line: &str, file: &str) -> [Said; 2] {
    let plain = folder.reticent(&format!("{line} --out plain")).ok();
    let cached = folder.reticent(&format!("{line} --out cached --cache cache")).ok();
    assert_eq!(
        folder.read(&format!("cached{file}")),
        folder.read(&format!("plain{file}")),
        "{line}"
    );
    assert_eq!(left_behind(folder), 0);
    [plain, cached]
}

#[test]
fn a_cached_table_gives_the_files_of_the_table_in_memory() {
    let folder = folder();
    let model = "/model.json";
    let [plain, cached] = same(&folder, &format!("fit t.csv {FIT}"), model);
    assert_eq!(cached.out.replace("cached/", "plain/"), plain.out);
    let several =
        format!("fit t.csv t.csv {FIT} --algorithm dp-sgd --sampling poisson:0.2 --force");
    same(&folder, &several, model);
    folder.write("visits.csv", visits(300, 40));
    folder.write("visits.toml", visits_schema());
    let people = "fit visits.csv --schema visits.toml --epsilon 1 --delta 1e-5 --seed 3 --force";
    same(&folder, people, model);
    let piped = format!("reticent fit - {FIT} --cache cache --out piped < t.csv");
    folder.shell(&piped).ok();
    folder.reticent(&format!("fit t.csv {FIT} --out one")).ok();
    assert_eq!(folder.read("piped/model.json"), folder.read("one/model.json"));
}

/// Several groups of several batches, and several blocks of the file.
#[test]
fn a_cached_parquet_file_is_the_csv_file_of_the_same_numbers() {
    let folder = folder();
    folder.write("t.csv", csv(50_000));
    folder.write("t.parquet", parquet(50_000, 17_000));
    for more in ["", "--algorithm dp-sgd --iterations 3 --sampling poisson:0.2"] {
        let fit = |file: &str| format!("fit {file} {FIT} {more} --force");
        same(&folder, &fit("t.parquet"), "/model.json");
        let columnar = folder.read("plain/model.json");
        same(&folder, &fit("t.csv"), "/model.json");
        assert_eq!(folder.read("cached/model.json"), columnar, "{more}");
    }
}

#[test]
fn questions_about_a_cached_table_have_the_answers_of_the_table_in_memory() {
    let folder = folder();
    let terms = "--schema schema.toml --epsilon 1 --delta 1e-5 --seed 3";
    for question in ["count t.csv", "mean t.csv --column age", "quantile t.csv --column age"] {
        let plain = folder.reticent(&format!("{question} {terms}")).ok();
        let cached = folder.reticent(&format!("{question} {terms} --cache cache")).ok();
        assert_eq!(cached.out, plain.out, "{question}");
    }
    folder.reticent(&format!("fit t.csv {FIT} --out m")).ok();
    let evaluate = "evaluate m t.csv --epsilon 1 --delta 1e-5 --seed 3 --json";
    let plain = folder.reticent(evaluate).ok().json();
    assert_eq!(folder.reticent(&format!("{evaluate} --cache cache")).ok().json(), plain);
}

/// Without a budget: several files are one table, and what ranks the records may leave memory.
#[test]
fn an_evaluation_of_several_files_is_that_of_one_and_needs_no_memory() {
    let folder = folder();
    let text = csv(700);
    let (head, rows) = text.split_once('\n').unwrap();
    let half = rows.match_indices('\n').nth(310).unwrap().0 + 1;
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    folder.write("all.csv", format!("{head}\n{rows}"));
    folder.write("parts/1.csv", format!("{head}\n{}", &rows[..half]));
    folder.write("parts/2.csv", format!("{head}\n{}", &rows[half..]));
    folder.reticent(&format!("fit t.csv {FIT} --out m")).ok();
    let evaluated = |files: &str| {
        folder.reticent(&format!("evaluate m {files} --plots p --force --json")).ok().json()
    };
    let one = evaluated("all.csv");
    assert_eq!(one["n"], 700);
    let drawn = folder.read("p/roc.svg");
    let cached = "all.csv --cache cache";
    for files in ["parts/1.csv parts/2.csv", "parts", "'parts/*.csv'", cached] {
        let quoted = files.replace('\'', "");
        assert_eq!(evaluated(&quoted), one, "{files}");
        assert_eq!(folder.read("p/roc.svg"), drawn, "{files}");
    }
    assert_eq!(left_behind(&folder), 0);
    let kept = folder.reticent("evaluate m all.csv --cache cache --keep-cache");
    assert!(kept.code != 0 && kept.err.contains("--epsilon"), "{kept:?}");
}

/// What needs the table in memory is refused by name, and costs nothing.
#[test]
fn what_a_cached_table_is_not_for_is_refused_before_anything_is_paid() {
    let folder = folder();
    folder.reticent("budget new b.budget --epsilon 9 --delta 1e-4").ok();
    folder.write(
        "job.toml",
        "data = 't.csv'\nschema = 'schema.toml'\ntarget = 'ill'\nepsilon = 1\ndelta = 1e-5\ncache = 'cache'\n\
         [parties]\nsplit = 3\n",
    );
    let fit = "--schema schema.toml --target ill --epsilon 1 --delta 1e-5 --out m --cache cache";
    for (line, said) in [
        (format!("fit t.csv {fit} --algorithm objp --budget b.budget"), "asks for more than sums"),
        (format!("fit t.csv {fit} --algorithm exact"), "asks for more than sums"),
        ("simulate job.toml --out m".to_owned(), "on a table in memory"),
        (
            format!("fit t.csv {}", fit.replace("--cache cache", "--cache none")),
            "cannot be written",
        ),
    ] {
        let refused = folder.reticent(&line);
        assert!(refused.code != 0 && refused.err.contains(said), "{line}: {refused:?}");
    }
    let spent = folder.reticent("budget show b.budget --json").ok().json();
    assert_eq!(spent["jobs"].as_array().map(Vec::len), Some(0), "{spent}");
    // The help offers the flags where they are taken, and not where they are refused.
    let offers =
        |command: &str| folder.reticent(&format!("{command} --help")).ok().out.contains("-cache");
    assert!(offers("fit") && !offers("simulate"));
}

/// Killed while it reads or scans, it leaves no file: the cache never has a name.
#[test]
#[cfg(unix)]
fn a_killed_fit_leaves_nothing_of_its_cache() {
    let folder = folder();
    folder.write("big.csv", csv(60_000));
    let start = || {
        let line =
            format!("fit big.csv {FIT} --algorithm dp-sgd --iterations 5000 --out k --cache cache");
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("reticent"));
        command.args(line.split(' ')).current_dir(folder.path()).stderr(Stdio::null());
        command.stdout(Stdio::null()).spawn().unwrap()
    };
    for delay in [30, 120, 500] {
        let mut child = start();
        let until = Instant::now() + Duration::from_millis(delay);
        while Instant::now() < until {
            assert_eq!(left_behind(&folder), 0, "it has no name while it runs");
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(left_behind(&folder), 0);
    }
}

/// The one file that is kept.
#[cfg(target_os = "linux")]
fn kept(folder: &Folder) -> std::path::PathBuf {
    let entries = std::fs::read_dir(folder.path().join("cache")).unwrap();
    let all: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    all[0].clone()
}

#[cfg(target_os = "linux")]
fn inode(folder: &Folder) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(kept(folder)).unwrap())
}

/// The model with a kept cache is the one without; whether the file is the one of before.
#[cfg(target_os = "linux")]
fn reused(folder: &Folder, what: &str) -> bool {
    let before = inode(folder);
    let plain = format!("fit {what} --seed 3 --out plain --force");
    folder.reticent(&plain).ok();
    let kept = format!("fit {what} --seed 3 --out kept --force --cache cache --keep-cache");
    folder.reticent(&kept).ok();
    assert_eq!(folder.read("kept/model.json"), folder.read("plain/model.json"), "{what}");
    inode(folder) == before
}

#[test]
#[cfg(target_os = "linux")]
fn a_kept_cache_is_used_again_for_the_same_table_and_no_other() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let fit = "t.csv --schema schema.toml --target ill --epsilon 1 --delta 1e-5";
    folder.reticent(&format!("fit {fit} --out first --cache cache --keep-cache")).ok();
    let mode = std::fs::metadata(kept(&folder)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(reused(&folder, fit));
    // A budget knows the table again, whether it was hashed for the cache or read.
    folder.reticent("budget new b.budget --epsilon 9 --delta 1e-4").ok();
    for (out, cache) in [("a", "--cache cache --keep-cache"), ("b", ""), ("c", "--cache cache")] {
        folder.reticent(&format!("fit {fit} --budget b.budget --out {out} {cache}")).ok();
    }
    // A name that says another format is another reading, though it leads to the same file.
    std::os::unix::fs::symlink("t.csv", folder.path().join("t.parquet")).unwrap();
    let link = fit.replace("t.csv", "t.parquet");
    let refused = folder.reticent(&format!("fit {link} --out link --cache cache --keep-cache"));
    assert!(refused.code != 0, "{refused:?}");
    folder.write("t.csv", csv(301));
    assert!(!reused(&folder, fit), "other rows");
    assert!(reused(&folder, fit));
    folder.write("schema.toml", SCHEMA.replace("100", "101"));
    folder.reticent(&format!("fit {fit} --out other --cache cache --keep-cache")).ok();
    assert_eq!(left_behind(&folder), 2, "another schema");
    folder.write("schema.toml", SCHEMA);
    let own = std::fs::read_dir(folder.path().join("cache")).unwrap();
    own.for_each(|entry| std::fs::remove_file(entry.unwrap().path()).unwrap());
    folder.reticent(&format!("fit {fit} --out other --force --cache cache --keep-cache")).ok();
    // Damaged within the list of blocks, or cut short: as none, and replaced.
    let bytes = std::fs::read(kept(&folder)).unwrap();
    for damaged in [bytes[..bytes.len() - 1].to_vec(), {
        let mut bytes = bytes.clone();
        let at = bytes.len() - 80;
        bytes[at] ^= 1;
        bytes
    }] {
        std::fs::write(kept(&folder), damaged).unwrap();
        let before = std::fs::read(kept(&folder)).unwrap();
        reused(&folder, fit);
        assert!(std::fs::read(kept(&folder)).unwrap() != before, "it was replaced");
    }
    // Damaged within the rows: told by their checksum, and nothing is fitted.
    let mut bytes = std::fs::read(kept(&folder)).unwrap();
    bytes[20] ^= 1;
    std::fs::write(kept(&folder), bytes).unwrap();
    let refused = folder.reticent(&format!("fit {fit} --out no --cache cache --keep-cache"));
    assert!(refused.code != 0 && refused.err.contains("changed"), "{refused:?}");
}

/// What somebody else may have written is not read, and what is kept is not written where others may
/// put something in its place.
#[test]
#[cfg(target_os = "linux")]
fn a_kept_cache_of_somebody_else_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let cache = folder.path().join("cache");
    let open = |path: &std::path::Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let line = format!("fit t.csv {FIT} --out m --force --cache cache --keep-cache");
    folder.reticent(&line).ok();
    let file = kept(&folder);
    let refused = |what: &str| {
        let refused = folder.reticent(&line);
        assert!(refused.code != 0 && refused.err.contains("cannot be kept"), "{what}: {refused:?}");
    };
    open(&file, 0o644);
    refused("others may read it");
    open(&file, 0o600);
    open(&cache, 0o777);
    refused("others may write to the folder");
    open(&cache, 0o700);
    std::fs::hard_link(&file, folder.path().join("second")).unwrap();
    refused("it has another name");
    std::fs::remove_file(folder.path().join("second")).unwrap();
    std::fs::rename(&file, folder.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(folder.path().join("moved"), &file).unwrap();
    refused("a link");
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    refused("a folder");
    std::fs::remove_dir(&file).unwrap();
    folder.reticent(&line).ok();
    let piped = folder.shell(&format!("reticent {} < t.csv", line.replace("t.csv", "-")));
    assert!(piped.code != 0 && piped.err.contains("cannot be read again"), "{piped:?}");
    let alone = folder.reticent(&line.replace("--cache cache ", ""));
    assert!(alone.code != 0 && alone.err.contains("--cache"), "{alone:?}");
}

/// Persons are brought together again from what is kept, and a question is encoded otherwise than a fit.
#[test]
#[cfg(target_os = "linux")]
fn persons_and_questions_have_kept_caches_too() {
    let folder = folder();
    folder.write("visits.csv", visits(300, 40));
    folder.write("visits.toml", visits_schema());
    let people = "visits.csv --schema visits.toml --epsilon 1 --delta 1e-5";
    folder.reticent(&format!("fit {people} --out first --cache cache --keep-cache")).ok();
    assert!(reused(&folder, people));
    let terms = "--schema schema.toml --epsilon 1 --delta 1e-5 --seed 3";
    for question in ["count t.csv", "mean t.csv --column age", "mean t.csv --column age"] {
        let plain = folder.reticent(&format!("{question} {terms}")).ok();
        let kept = format!("{question} {terms} --cache cache --keep-cache");
        assert_eq!(folder.reticent(&kept).ok().out, plain.out, "{question}");
    }
}

/// A cache that was kept in the folder of the table was read as a part of the table by the next run.
#[test]
#[cfg(target_os = "linux")]
fn a_kept_cache_in_the_folder_of_the_table_is_no_part_of_it() {
    let folder = folder();
    let fit = "--schema schema.toml --target ill --epsilon 1 --delta 1e-5 --seed 3";
    for name in ["a", "b"] {
        folder.write(&format!("cache/{name}.csv"), csv(150));
    }
    folder.reticent(&format!("fit cache/a.csv cache/b.csv {fit} --out plain")).ok();
    for (run, data) in ["cache", "cache", "cache/*", "cache/*"].into_iter().enumerate() {
        let said = format!("fit {data} {fit} --cache cache --keep-cache --out kept{run}");
        folder.reticent(&said).ok();
        let model = folder.read(&format!("kept{run}/model.json"));
        assert_eq!(model, folder.read("plain/model.json"), "{said}");
    }
    assert_eq!(left_behind(&folder), 3, "two files of the table, and one cache");
}

/// It was lost where the folder was a flag, or refused where the file had no folder.
#[test]
#[cfg(target_os = "linux")]
fn keep_cache_in_a_job_file_holds_for_a_folder_on_the_command_line() {
    let folder = folder();
    let job = |more: &str| {
        let job = "data = 't.csv'\nschema = 'schema.toml'\ntarget = 'ill'\nepsilon = 1\ndelta = 1e-5\nseed = 3\n";
        folder.write("job.toml", format!("{job}{more}"));
    };
    let fit =
        |flags: &str| folder.reticent(&format!("fit --spec job.toml --out m --force {flags}"));
    job("cache = 'none'\nkeep_cache = true\n");
    fit("--cache cache").ok();
    let first = inode(&folder);
    job("keep_cache = true\n");
    fit("--cache cache").ok();
    job("cache = 'cache'\n");
    fit("--keep-cache").ok();
    assert_eq!(inode(&folder), first, "one file, used again");
    job("keep_cache = true\n");
    let alone = fit("");
    assert!(alone.code != 0 && alone.err.contains("no folder to keep it in"), "{alone:?}");
}

/// A folder and a pattern are the files in byte order, on the command line and in a job file.
#[test]
fn a_folder_and_a_pattern_are_the_files_in_byte_order() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("2019")).unwrap();
    for (name, count) in [("10.csv", 100), ("9.csv", 120), ("B.csv", 80)] {
        folder.write(&format!("2019/{name}"), csv(count));
    }
    folder.write("2019/_SUCCESS", "");
    folder.reticent(&format!("fit 2019/10.csv 2019/9.csv 2019/B.csv {FIT} --out plain")).ok();
    let job = |data: &str| {
        format!(
            "data = '{data}'\nschema = 'schema.toml'\ntarget = 'ill'\nepsilon = 1\ndelta = 1e-5\nseed = 3\ncache = 'cache'\n"
        )
    };
    for data in ["2019", "2019/*.csv"] {
        folder.write("job.toml", job(data));
        for line in [format!("fit '{data}' {FIT} --cache cache"), "fit --spec job.toml".to_owned()]
        {
            folder.reticent(&format!("{line} --out same --force")).ok();
            assert_eq!(folder.read("same/model.json"), folder.read("plain/model.json"), "{line}");
        }
    }
    let none = folder.reticent(&format!("fit '2019/*.parquet' {FIT} --out none"));
    assert!(none.code != 0 && none.err.contains("no file is there"), "{none:?}");
}

/// A sweep that is paid for scans the file in place of memory; one on public data looks at the rows.
#[test]
fn a_sweep_on_a_cached_table_has_the_bill_of_one_in_memory() {
    let folder = folder();
    let job = |cache: &str| {
        format!(
            "data = 't.csv'\nschema = 'schema.toml'\ntarget = 'ill'\ndelta = 1e-6\niterations = 4\n{cache}[sweep]\nepsilon = [0.5, \
             1.0]\nalgorithm = ['dp-sgd', 'ssadmm']\n"
        )
    };
    let bill = |name: &str, cache: &str| {
        folder.write("job.toml", job(cache));
        folder.reticent(&format!("budget new {name} --epsilon 9 --delta 1e-4")).ok();
        let sweep = format!("sweep job.toml --out {name}-out --budget {name} --jobs 4 --json");
        let said = folder.reticent(&sweep).ok().json();
        assert_eq!((said["done"].as_u64(), said["failed"].as_u64()), (Some(4), Some(0)), "{said}");
        said["budget"]["counted"].as_f64().unwrap()
    };
    assert_eq!(bill("file", "cache = 'cache'\n"), bill("memory", ""));
    assert_eq!(left_behind(&folder), 0);
    folder.write("job.toml", job("cache = 'cache'\n"));
    let refused = folder.reticent("sweep job.toml --public-data --out public");
    assert!(refused.code != 0 && refused.err.contains("on a table in memory"), "{refused:?}");
    let exact = job("cache = 'cache'\n").replace("ssadmm", "objp").replace("iterations = 4\n", "");
    folder.write("job.toml", exact);
    let refused = folder.reticent("sweep job.toml --out exact --budget file");
    assert!(refused.code != 0 && refused.err.contains("more than sums"), "{refused:?}");
}
