//! Statistics of columns as a user types them: budgets, several columns, users, missing values, and
//! what is refused.

use serde_json::Value;

use crate::common::Folder;

const SCHEMA: &str = "row_norm = 1\nmissing_tokens = ['', '?']\n\
    [[column]]\nname = 'age'\nkind = 'numeric'\nlower = 0\nupper = 100\nmissing = 20\n\
    [[column]]\nname = 'pay'\nkind = 'numeric'\nlower = 0\nupper = 5000\nscale = 'log'\n\
    [[column]]\nname = 'town'\nkind = 'categorical'\ncategories = ['A', 'B']\n\
    [[column]]\nname = 'who'\nkind = 'ignored'\n\
    [[column]]\nname = 'ill'\nkind = 'target'\nclasses = ['no', 'yes']\n";

/// 2,000 records of 500 persons: ages 30 and 50 in turn, one in ten missing.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.toml", SCHEMA);
    let line = |i: usize| {
        let age = ["30", "50"][i % 2];
        let age = if i % 10 == 9 { "?" } else { age };
        let (town, ill) = (["A", "B", "B", ""][i % 4], ["no", "yes"][i % 2]);
        format!("{age},{},{town},p{},{ill}\n", 1000 + i % 7, i % 500)
    };
    folder.write(
        "t.csv",
        "age,pay,town,who,ill\n".to_owned() + &(0..2000).map(line).collect::<String>(),
    );
    folder.reticent("budget new b.budget --epsilon 3 --delta 1e-5").ok();
    folder
}

const PRICE: &str = "--schema s.toml --epsilon 1 --delta 1e-6";

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Whether a figure is within eight deviations, which are not seen in 10¹⁴ runs.
fn near(figure: &Value, truth: f64, deviation: f64) -> bool {
    deviation > 0.0 && (number(figure) - truth).abs() < 8.0 * deviation
}

#[test]
fn means_of_two_columns_are_one_answer_that_is_paid_for() {
    let folder = folder();
    let line = format!("mean t.csv {PRICE} --column age --column pay");
    let said =
        folder.reticent(&format!("{line} --budget b.budget --out c.json --json")).ok().json();
    assert_eq!((&said["certified"], &said["algorithm"]), (&true.into(), &"mean".into()));
    assert!(number(&said["epsilon"]) <= 1.0);
    // Of ten, five have 30, four have 50, and one is missing and counts as 20.
    let [age, pay] = &said["columns"].as_array().unwrap()[..] else { panic!("{said}") };
    assert!(near(&age["value"], 37.0, number(&age["deviation"])), "{age}");
    assert!(near(&pay["value"], 1003.0, number(&pay["deviation"])), "{pay}");
    assert!(number(&age["deviation"]) < 1.0, "{age}");
    assert_eq!((&age["missing"], &pay["bounds"][1]), (&20.0.into(), &5000.0.into()));
    assert_eq!((&said["n"], &said["n_is"]), (&2000.0.into(), &"exact".into()));
    let shown = folder.reticent("budget show b.budget --json").ok().json();
    assert_eq!(shown["jobs"][0]["label"], "mean of age, pay");
    assert_eq!(shown["jobs"][0]["state"], "settled");
    folder.reticent("budget check b.budget").ok();
    folder.reticent("verify c.json").ok();
    let ledger: Value = serde_json::from_str(&folder.read("c.json")).unwrap();
    assert_eq!(ledger["ledger"]["entries"].as_array().unwrap().len(), 1);
    let text = folder.reticent(&line).ok().out;
    for word in ["age", "interval", "A missing value counts as 20.00 (age), 2500 (pay)", "95 %"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    // What does not fit is refused before the table is opened.
    let gone = line.replace("t.csv", "gone.csv").replace("--epsilon 1", "--epsilon 9");
    assert_eq!(folder.reticent(&format!("{gone} --budget b.budget")).code, 3);
}

#[test]
fn users_count_once_and_are_protected() {
    let folder = folder();
    for command in
        ["mean --column age", "histogram --column town --column age", "quantile --column age"]
    {
        let line = format!("{command} t.csv {PRICE} --user-column who --json");
        let said = folder.reticent(&line).ok().json();
        assert_eq!((&said["unit"], number(&said["n"])), (&"user".into(), 500.0), "{said}");
    }
    // Another column of ids than the one that is asked about.
    let said = folder.reticent(&format!("mean t.csv {PRICE} --column age --user-column age"));
    assert!(said.code == 2 && said.err.contains("whose row"), "{}", said.err);
    folder.write("people.toml", SCHEMA.replace("kind = 'ignored'", "kind = 'user'"));
    let line = format!("mean t.csv {PRICE} --column age --json").replace("s.toml", "people.toml");
    assert_eq!(folder.reticent(&line).ok().json()["unit"], "user");
    let line = format!("{line} --unit record");
    assert_eq!(folder.reticent(&line).ok().json()["unit"], "record");
}

#[test]
fn histograms_have_categories_and_edges() {
    let folder = folder();
    let line =
        format!("histogram t.csv {PRICE} --column town --column ill --column age --edges 25,40");
    let said = folder.reticent(&format!("{line} --json")).ok().json();
    let columns = said["columns"].as_array().unwrap();
    let truth: [&[f64]; 3] =
        [&[500.0, 1000.0, 500.0], &[1000.0, 1000.0, 0.0], &[200.0, 1000.0, 800.0]];
    for (column, truth) in columns.iter().zip(truth) {
        let bins = column["bins"].as_array().unwrap();
        assert_eq!(bins.len(), truth.len(), "{column}");
        for (bin, truth) in bins.iter().zip(truth) {
            assert!(near(&bin["count"], *truth, number(&column["deviation"])), "{bin}");
        }
    }
    assert_eq!(columns[0]["bins"][1]["category"], "B");
    assert_eq!(columns[2]["bins"][2]["range"], serde_json::json!([40.0, 100.0]));
    let text = folder.reticent(&line).ok().out;
    for word in ["(none of these, or missing)", "[25, 40)", "[40, 100]"] {
        assert!(text.contains(word), "{word}: {text}");
    }
}

#[test]
fn quantiles_come_with_their_ranks() {
    let folder = folder();
    let line = format!("quantile t.csv {PRICE} --column age --at 0.05,0.4,0.9 --resolution 1");
    let said = folder.reticent(&format!("{line} --json")).ok().json();
    let quantiles = said["columns"][0]["quantiles"].as_array().unwrap();
    // One in ten is 20, five are 30, four are 50. Ranks are off by 3 % with a chance of 10⁻⁶.
    for (quantile, truth) in quantiles.iter().zip([20.0, 30.0, 50.0]) {
        assert_eq!(number(&quantile["value"]), truth, "{quantile}");
        let [low, high] = [0, 1].map(|end| number(&quantile["fractions"][end]));
        let at = number(&quantile["at"]);
        assert!(low < at && at < high && high - low < 0.1, "{quantile}");
    }
    let remove = folder.reticent(&format!("{line} --adjacency add-remove"));
    assert!(remove.code == 2 && remove.err.contains("--public-n"), "{}", remove.err);
    folder.reticent(&format!("{line} --adjacency add-remove --public-n 2000")).ok();
}

#[test]
fn a_mean_under_add_remove_counts_for_itself() {
    let folder = folder();
    let line = format!("mean t.csv {PRICE} --column age --adjacency add-remove --json");
    let said = folder.reticent(&line).ok().json();
    assert_eq!((&said["n_is"], &said["adjacency"]), (&"noisy".into(), &"add-remove".into()));
    assert!((number(&said["n"]) - 2000.0).abs() < 100.0 && number(&said["n"]) != 2000.0, "{said}");
    assert!(near(&said["columns"][0]["value"], 37.0, number(&said["columns"][0]["deviation"])));
    let said = folder.reticent(&format!("{line} --public-n 2000")).ok().json();
    assert_eq!((&said["n_is"], number(&said["n"])), (&"given".into(), 2000.0));
}

/// Everything that a count refuses: drafts of the very table, seeds that a budget would pay for, a
/// file that is there twice, numbers that are none.
#[test]
fn what_is_no_guarantee_is_said_or_refused() {
    let folder = folder();
    folder.reticent("schema init t.csv --target ill --out draft.toml").ok();
    let draft = folder.read("draft.toml");
    let origin = draft.split("\n[drafted]\n").nth(1).unwrap().split("\n[[").next().unwrap();
    folder.write("draft.toml", format!("{SCHEMA}[drafted]\n{origin}"));
    let line = format!("mean t.csv {PRICE} --column pay").replace("s.toml", "draft.toml");
    let said = folder.reticent(&format!("{line} --json")).ok();
    assert_eq!(said.json()["certified"], false, "{}", said.out);
    let paid = folder.reticent(&format!("{line} --budget b.budget"));
    assert!(paid.code == 2 && paid.err.contains("no budget holds"), "{}", paid.err);
    let said = folder.reticent(&format!("mean t.csv {PRICE} --column age --seed 1 --json")).ok();
    assert_eq!(said.json()["certified"], false);
    let twice = folder.reticent(&format!("mean t.csv t.csv {PRICE} --column age")).ok();
    assert!(twice.err.contains("given twice"), "{}", twice.err);
    let mean = format!("mean t.csv {PRICE}");
    for (line, word) in [
        (format!("{mean} --column age --seed 1 --budget b.budget"), "no noise"),
        (format!("mean t.csv t.csv {PRICE} --column age --budget b.budget"), "same file twice"),
        (format!("{mean} --column town"), "histogram"),
        (format!("{mean} --column nobody"), "declared: `age`"),
        (format!("{mean} --column age --confidence 2"), "confidence"),
        (mean.clone(), "--column"),
        (format!("{mean} --column age").replace("1e-6", "0"), "delta"),
        (format!("{mean} --column age").replace("--epsilon 1", "--epsilon nan"), "epsilon"),
        (
            format!("histogram t.csv {PRICE} --column age --edges 30,200"),
            "bounds of age are 0 and 100",
        ),
        (format!("quantile t.csv {PRICE} --column age --at 2"), "from 0 to 1"),
    ] {
        let said = folder.reticent(&line);
        assert!(said.code == 2 && said.err.contains(word), "{line}: {}", said.err);
    }
    // A value that is no number ends the reading, and is not told.
    folder.write("bad.csv", folder.read("t.csv") + "secret,1,A,p1,no\n");
    let said = folder.reticent(&format!("mean bad.csv {PRICE} --column age"));
    assert!(said.code == 2 && !said.err.contains("secret"), "{}", said.err);
    folder.write("nan.csv", folder.read("t.csv") + "NaN,1,A,p1,no\n");
    assert_eq!(folder.reticent(&format!("mean nan.csv {PRICE} --column age")).code, 2);
}

#[test]
fn what_is_paid_for_is_not_lost_for_want_of_a_folder() {
    let folder = folder();
    let lines =
        [format!("mean t.csv {PRICE} --column age"), format!("count t.csv {PRICE} --by-class")];
    let jobs = || {
        let shown = folder.reticent("budget show b.budget --json").ok().json();
        shown["jobs"].as_array().map_or(0, Vec::len)
    };
    folder.write("file", "no folder");
    for (at, line) in lines.iter().enumerate() {
        // A place where nothing can be is refused before anything is reserved.
        for out in ["file/c.json", "."] {
            let said = folder.reticent(&format!("{line} --budget b.budget --out {out}"));
            assert!(said.code != 0 && jobs() == at, "{line} to {out}: {}", said.err);
        }
        let out = format!("new/{at}/c.json");
        folder.reticent(&format!("{line} --budget b.budget --out {out}")).ok();
        assert!(folder.read(&out).contains("\"certified\": true") && jobs() == at + 1, "{line}");
    }
    // Whatever fails after that, the result is shown.
    #[cfg(target_os = "linux")]
    {
        let said = folder.reticent(&format!("{} --out /dev/full", lines[0]));
        assert!(said.out.contains("\"certified\": true"), "{}", said.out);
        assert!(
            said.code == 4 && said.err.contains("to ask again is another release"),
            "{}",
            said.err
        );
    }
}

#[test]
fn too_many_bins_are_refused_before_the_table_is_read() {
    let folder = folder();
    let column = |i| format!("[[column]]\nname = 'x{i}'\nkind = 'numeric'\nlower = 0\nupper = 1\n");
    folder.write("s.toml", "row_norm = 1\n".to_owned() + &(0..5).map(column).collect::<String>());
    let columns: String = (0..5).map(|i| format!(" --column x{i}")).collect();
    let said = folder.reticent(&format!("histogram nothing.csv {PRICE} --bins 1000{columns}"));
    assert!(said.code == 2 && said.err.contains("4096 bins"), "{}", said.err);
}

#[test]
fn the_certificate_of_a_statistic_speaks_of_figures() {
    let folder = folder();
    let line = format!("mean t.csv {PRICE} --column age --seed 1 --out c.json");
    let said = folder.reticent(&line).ok();
    assert!(said.err.contains("Do not publish these figures"), "{}", said.err);
    let certificate = folder.read("c.json");
    assert!(!certificate.contains("model and") && !certificate.contains("penalty"));
    assert!(certificate.contains("columns, bins, fractions") && certificate.contains("the answer"));
}
