//! Every bad input gives its message, exit code 2 (3 when the budget is refused), leaves nothing behind and
//! shows no value of the table. The same list is in the README of this crate, and a test keeps the two
//! together.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, SCHEMA, Said, csv};

/// A run that must be refused. `message` may end in `…`: then only the beginning counts.
struct Case {
    line: &'static str,
    message: &'static str,
    code: i32,
}

const fn case(line: &'static str, message: &'static str) -> Case {
    Case { line, message, code: 2 }
}

/// Flags that are right, for the cases that get something else wrong.
const GOOD: &str = "--schema schema.toml --target ill --epsilon 1 --delta 1e-5 --out out";
const SVM: &str = "--epsilon 1 --delta 1e-5 --out out";

/// `GOOD` and `SVM` stand for the flags above.
const CASES: &[Case] = &[
    // Files.
    case("fit none.csv GOOD", "none.csv: cannot be opened: no such file"),
    case("fit empty.csv GOOD", "empty.csv: the file is empty"),
    case("fit header.csv GOOD", "header.csv: the file has a header but no records"),
    case("fit ragged.csv GOOD", "ragged.csv:3: the record has 2 fields where 3 are expected"),
    case("fit text.csv GOOD", "text.csv:2: column `age` is numeric, but the field is not a number"),
    case(
        "fit nan.csv GOOD",
        "nan.csv:2: column `age` is numeric, but the field is not finite (NaN or infinity)",
    ),
    case(
        "fit inf.csv GOOD",
        "inf.csv:2: column `age` is numeric, but the field is not finite (NaN or infinity)",
    ),
    case(
        "fit label.csv GOOD",
        "label.csv:2: column `ill` holds a label outside its classes; allowed: no, yes",
    ),
    case("fit nolabel.csv GOOD", "nolabel.csv:2: column `ill` is the target, but the field is missing"),
    case("fit twice.csv GOOD", "twice.csv: the header names column `age` twice"),
    case("fit fewer.csv GOOD", "fewer.csv: the file has no column `town`, which the schema declares"),
    case(
        "fit more.csv GOOD",
        "more.csv: column 4 of the file is not declared in the schema; declared: `age`, `town`, `ill`",
    ),
    case(
        "fit good.txt GOOD",
        "good.txt: the name does not tell the format; known: .csv .tsv .data .libsvm .svm .parquet, also with \
         .gz or .xz",
    ),
    case("fit cut.csv.gz GOOD", "cut.csv.gz: reading failed after line …"),
    case("fit not.parquet GOOD", "not.parquet: reading failed after line 0: …"),
    case(
        "fit index.svm --features 3 --row-norm 1 SVM",
        "index.svm:2: item 1 has an index beyond the declared 3 features; allowed: 1 to 3",
    ),
    case("fit pair.svm --features 3 --row-norm 1 SVM", "pair.svm:1: item 1 is not of the form index:value"),
    // The schema.
    case(
        "fit good.csv --target ill SVM",
        "the schema is missing: nothing about private data is guessed: write a schema (docs/schema.md), or draft …",
    ),
    case(
        "fit good.csv --schema none.toml --target ill SVM",
        "none.toml: the schema cannot be read: no such file",
    ),
    case(
        "fit good.csv --schema duplicate.toml --target ill SVM",
        "duplicate.toml: column `age` is declared twice",
    ),
    case(
        "fit good.csv --schema nofeatures.toml --target ill SVM",
        "nofeatures.toml: no feature is declared (d = 0); allowed: at least one numeric or categorical column, or \
         features >= 1",
    ),
    case(
        "fit good.csv --schema norm.toml --target ill SVM",
        "norm.toml: row_norm is 0; allowed: a number from 1e-100 to 1e100, above 0",
    ),
    case(
        "fit good.csv --schema schema.toml --target sick SVM",
        "there is no column `sick`; declared: `age`, `town`, `ill`",
    ),
    case("fit good.csv GOOD --user-column who", "there is no column `who`; declared: `age`, `town`, `ill`"),
    case(
        "fit good.svm --features 3 --row-norm -1 SVM",
        "row_norm is -1; allowed: a number from 1e-100 to 1e100, above 0",
    ),
    case(
        "fit good.svm --features 0 --row-norm 1 SVM",
        "no feature is declared (d = 0); allowed: at least one numeric or categorical column, or features >= 1",
    ),
    case(
        "fit good.svm --features 3 SVM",
        "the following required arguments were not provided: --row-norm <R>…",
    ),
    // The budget.
    case("fit good.csv GOOD --epsilon 0", "epsilon = 0: it must be a number above 0, for example 1.0"),
    case("fit good.csv GOOD --epsilon -1", "epsilon = -1: it must be a number above 0, for example 1.0"),
    case("fit good.csv GOOD --epsilon nan", "epsilon = NaN: it must be a number above 0, for example 1.0"),
    case("fit good.csv GOOD --epsilon inf", "epsilon = inf: it must be a number above 0, for example 1.0"),
    case(
        "fit good.csv GOOD --epsilon much",
        "invalid value 'much' for '--epsilon <E>': this is not a number; write for example 1, 0.5 or 1e-5",
    ),
    case("fit good.csv GOOD --delta 0", "delta = 0: it must lie strictly between 0 and 1, for example 1e-5"),
    case("fit good.csv GOOD --delta 1", "delta = 1: it must lie strictly between 0 and 1, for example 1e-5"),
    case(
        "fit good.csv --schema schema.toml --target ill",
        "the budget is missing: say how much may be spent, with --epsilon E (and --delta D)",
    ),
    Case {
        line: "fit good.csv GOOD --epsilon 1e-12 --delta 1e-200",
        message: "the budget does not allow this: no noise multiplier brings epsilon to …",
        code: 3,
    },
    case(
        "fit good.csv GOOD --adjacency add-remove",
        "a public number of records is missing: add-remove keeps the true number private: give an estimate …",
    ),
    case(
        "fit good.csv GOOD --adjacency replace-two",
        "invalid value 'replace-two' for '--adjacency <ADJACENCY>' [possible values: replace-one, add-remove]",
    ),
    case(
        "fit good.csv GOOD --unit user",
        "unit 'user' needs a column that says whose record each row is: give --user-column NAME",
    ),
    // The problem and the algorithm.
    case("fit good.csv GOOD --iterations 0", "iterations = 0: a whole number of at least 1 is needed"),
    case("fit good.csv GOOD --iterations some", "iterations = some: a whole number of at least 1 is needed"),
    case("fit good.csv GOOD --algorithm ssadm", "algorithm = ssadm: there are auto, exact, …"),
    case(
        "fit good.csv GOOD --loss logstic",
        "there is no loss called `logstic` (did you mean `logistic`?); the loss is one of: logistic, …",
    ),
    case("fit good.csv GOOD --penalty l3:1", "there is no penalty called `l3` …"),
    case("fit good.csv GOOD --penalty l1:-1", "lambda of `l1` is -1; it must be a finite number ≥ 0"),
    case(
        "fit good.csv GOOD --loss squared",
        "loss = squared: it predicts a number, the target is two classes; use logistic",
    ),
    case("fit good.csv GOOD --sampling wor:1000", "without-replacement-gaussian: …"),
    case("fit good.csv GOOD --clip 0", "clip = 0: a number above 0 is needed"),
    case(
        "fit good.csv GOOD --algorithm dp-sgd --as-published",
        "as-published = true: dp-sgd has no such setting: there is no published version of it with a claim that \
         does not hold; these have one: …",
    ),
    case(
        "fit good.csv GOOD --algorithm consensus --schedule blocks:0",
        "schedule = blocks:0: unknown schedule 'blocks:0': use all, permutation, single, or blocks:M with M ≥ 1",
    ),
    case(
        "fit good.csv GOOD --algorithm consensus --schedule blocks:41",
        "schedule = blocks:41: there are 40 blocks, a record or user each; use blocks:M with M of at most that",
    ),
    case(
        "fit good.csv GOOD --algorithm consensus --schedule single --sampling poisson:0.5",
        "sampling = poisson:0.5: with a schedule of blocks, or as published, the mean is over all blocks and …",
    ),
    case(
        "fit good.csv GOOD --algorithm consensus --schedule single --adjacency add-remove --public-n 40",
        "schedule = single: blocks that move at different times tell how many there are, which add-remove keeps \
         private; …",
    ),
    // What an algorithm cannot do, found out without the table: there is none.
    case("fit none.csv GOOD --algorithm ssadmm --rho 0", "rho = 0: a number above 0 is needed"),
    case("fit none.csv GOOD --algorithm sadmm --beta -1", "beta = -1: a number above 0 is needed"),
    case("fit none.csv GOOD --algorithm sadmm --gamma 0", "gamma = 0: a number above 0 is needed"),
    case("fit none.csv GOOD --algorithm general --gamma -2", "gamma = -2: a number above 0 is needed"),
    case(
        "fit none.csv GOOD --algorithm sadmm --nu -1",
        "nu = -1: a finite number of at least 0 is needed; 0 is no smoothing",
    ),
    case("fit none.csv GOOD --algorithm sadmm --mu -1", "mu = -1: a number of at least 0 is needed"),
    case(
        "fit none.csv GOOD --algorithm sadmm --step constant:0",
        "step = constant:0: step size 'constant:0': use constant:η, sqrt:η (η/√k) or epoch:η (η over the epoch), with η > 0",
    ),
    case(
        "fit none.csv GOOD --algorithm general --lambda 1.5",
        "lambda = 1.5: a number above 0 and at most 1 is needed",
    ),
    case(
        "fit none.csv GOOD --algorithm consensus --lambda 0",
        "lambda = 0: a number above 0 and below 1 is needed; …",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --penalty l1:inf",
        "lambda of `l1` is inf; it must be a finite number ≥ 0",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --constraint trend:3",
        "`trend:3` does not fit 3 features: it needs at least 5",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --constraint matrix:wide.txt",
        "`wide.txt`, line 2: `7` is no feature; a feature is given by name or by a number from 0 below 3",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --graph unknown.txt",
        "`unknown.txt`, line 2: `hieght` is no feature; a feature is given by name or by a number from 0 below 3",
    ),
    case(
        "fit none.csv GOOD --algorithm vradmm --mu 0.1 --constraint matrix:rank.txt",
        "constraint = matrix:rank.txt: in the strongly convex case vradmm needs a matrix A of full row rank, and this one (2 × 3) has dependent rows; …",
    ),
    case(
        "fit none.csv GOOD --algorithm vradmm --mu 0.1 --graph private",
        "constraint = graph: in the strongly convex case vradmm needs a matrix A of full row rank, …",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --penalty scad:0.1",
        "penalty = scad:0.1,3.7: it is not convex, and sadmm converges for convex penalties only; …",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --nu 1 --schema three.toml",
        "nu = 1: smoothing averages neighbouring features and is for one output; this model has 3 outputs (classes): use nu = 0",
    ),
    case(
        "fit none.csv GOOD --algorithm dp-cd --graph edges.txt",
        "constraint = graph:edges.txt: dp-cd handles only 'identity'; …",
    ),
    case(
        "fit none.csv GOOD --algorithm exact --graph private",
        "algorithm = exact: it has no privacy that could be measured or shared out; choose another one",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --graph private:2",
        "graph = private:2: lambda of a learned graph is on the scale of correlations: a number from 0 to below 1",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --graph private --graph-share 1",
        "graph-share = 1: a share of the budget, above 0 and below 1",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --graph private --graph-edges 0",
        "graph-edges = 0: a graph without edges needs no learning: leave it out",
    ),
    case(
        "fit none.csv GOOD --algorithm sadmm --graph-edges 5",
        "graph-edges = 5: it is for a graph that is learned: give --graph private beside it, or leave it out",
    ),
    case(
        "fit none.csv GOOD --tune penalty=l1:[1e-4]",
        "tune = penalty=l1:[1e-4]: a grid of one leaves nothing to choose, and choosing costs budget: give --penalty l1:1e-4 itself, or more values",
    ),
    case(
        "fit none.csv GOOD --tune penalty=l1:1e-4",
        "tune = penalty=l1:1e-4: write it as name=[value,value,…] or name=before[value,value,…]after, for example 'penalty=l1:[1e-5,1e-4,1e-3]'",
    ),
    case(
        "fit none.csv GOOD --tune epsilon=[1,2]",
        "tune = epsilon=[1,2]: what can be tuned is algorithm, loss, penalty, constraint, iterations, …",
    ),
    case("fit none.csv GOOD --tune clip=[1,0]", "clip = 0: a number above 0 is needed"),
    case(
        "fit none.csv GOOD --tune clip=[1,2] --clip 1",
        "tune = clip=[1,2]: clip is given as well; leave out --clip or the list",
    ),
    case(
        "fit none.csv GOOD --tune clip=[1,2] --tune-runs 0",
        "tune-runs = 0: a whole number from 1 to 1000000 is needed",
    ),
    case(
        "fit none.csv GOOD --tune clip=[1,2] --tune-mode grid",
        "tune-mode = grid: there is only 'random': every point of an ordinary grid is a fit of its own on the private data and spends the budget again, …",
    ),
    case(
        "fit none.csv GOOD --penalty l1:[1e-5,1e-4]",
        "penalty = l1:[1e-5,1e-4]: one value is needed, not a list: every point of an ordinary grid …",
    ),
    case(
        "fit none.csv GOOD --clip [1,2]",
        "clip = [1,2]: one value is needed, not a list: every point of an ordinary grid …",
    ),
    case("fit none.csv GOOD --spec lists.toml", "lists.toml is not a job file: …"),
    // Job files.
    case("fit good.csv GOOD --spec none.toml", "cannot read the job file none.toml: no such file"),
    case("fit good.csv GOOD --spec bad_job.toml", "bad_job.toml is not a job file: …"),
    // Models.
    case("inspect none.json", "cannot read the model none.json: no such file"),
    case("inspect good.csv", "good.csv is not a model of this version: expected value at line 1 column 1"),
    case("predict cut_model.json good.csv", "cut_model.json is not a model of this version: …"),
    case("evaluate model other.csv", "other.csv: the file has no column `age`, which the schema declares"),
    case("predict model good.svm", "good.svm: a LIBSVM file needs a schema with `features`, not columns"),
    case(
        "evaluate model label.csv",
        "label.csv:2: column `ill` holds a label outside its classes; allowed: no, yes",
    ),
    // Places to write to.
    case("fit good.csv GOOD --out good.csv", "cannot write good.csv: …"),
    case(
        "predict model good.csv --out none/p.csv",
        "cannot write none/p.csv: no such file; nothing was left behind",
    ),
    case(
        "predict model good.csv --out /dev/full",
        "cannot write /dev/full: the disk is full; nothing was left behind",
    ),
    // Words that are not understood.
    case("fitt good.csv", "unrecognized subcommand 'fitt'…"),
    case("list lossses", "invalid value 'lossses' for '<WHAT>' …"),
    case("schema init empty.csv", "empty.csv: the file is empty"),
    case(
        "schema check ragged.csv --schema schema.toml",
        "ragged.csv:3: the record has 2 fields where 3 are expected",
    ),
];

fn folder() -> Folder {
    let folder = Folder::new();
    let table = csv(40);
    folder.write("schema.toml", SCHEMA);
    folder.write("good.csv", &table);
    folder.write("good.txt", &table);
    folder.write("empty.csv", "");
    folder.write("header.csv", "age,town,ill\n");
    folder.write("ragged.csv", "age,town,ill\n1,A,no\n2,B\n");
    folder.write("text.csv", "age,town,ill\nSECRET,A,no\n");
    folder.write("nan.csv", "age,town,ill\nNaN,A,no\n");
    folder.write("inf.csv", "age,town,ill\n-inf,A,no\n");
    folder.write("label.csv", "age,town,ill\n1,A,SECRET\n");
    folder.write("nolabel.csv", "age,town,ill\n1,A,\n");
    folder.write("twice.csv", "age,age,town,ill\n1,1,A,no\n");
    folder.write("fewer.csv", "age,ill\n1,no\n");
    folder.write("more.csv", "age,town,ill,SECRET\n1,A,no,2\n");
    folder.write("other.csv", "height,weight\n1,2\n");
    folder.write("cut.csv.gz", &gz(&csv(2_000))[..1_000]);
    folder.write("not.parquet", "no parquet at all");
    folder.write("good.svm", "+1 1:1 3:0.5\n-1 2:1\n");
    folder.write("index.svm", "+1 1:1\n-1 4:1\n");
    folder.write("pair.svm", "+1 SECRET\n");
    folder.write("duplicate.toml", format!("{SCHEMA}[[column]]\nname = 'age'\nkind = 'ignored'\n"));
    folder.write("norm.toml", SCHEMA.replace("row_norm = 1", "row_norm = 0"));
    let target = &SCHEMA[SCHEMA.rfind("[[column]]").unwrap()..];
    folder.write("nofeatures.toml", format!("row_norm = 1\n{target}"));
    folder.write("bad_job.toml", "epsilom = 1.0\n");
    folder.write("lists.toml", "clip = [1, 2]\n");
    folder.write("three.toml", SCHEMA.replace("['no', 'yes']", "['no', 'yes', 'maybe']"));
    folder.write("edges.txt", "age town=A\n");
    folder.write("unknown.txt", "age town=A\nage hieght\n");
    folder.write("rank.txt", "0 age 1\n1 age 2\n");
    folder.write("wide.txt", "0 age 1\n1 7 1\n");
    folder.reticent(&format!("fit good.csv {} --out model", GOOD.replace(" --out out", ""))).ok();
    folder.write("cut_model.json", &folder.read("model/model.json")[..200]);
    folder
}

fn gz(text: &str) -> Vec<u8> {
    use std::io::Write;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// Flags given twice are a mistake; the case wins over the flags that are right.
fn line(case: &Case) -> String {
    let own: Vec<&str> = case.line.split_whitespace().filter(|word| word.starts_with("--")).collect();
    let keep = |flags: &str| {
        let words: Vec<&str> = flags.split_whitespace().collect();
        words
            .chunks(2)
            .filter(|pair| !own.contains(&pair[0]))
            .flatten()
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
    };
    case.line.replace("GOOD", &keep(GOOD)).replace("SVM", &keep(SVM))
}

fn is(message: &str, said: &str) -> bool {
    // A usage error is printed on several lines.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    match message.strip_suffix('…') {
        Some(beginning) => said.starts_with(beginning.trim_end()),
        None => said == message,
    }
}

#[test]
fn every_bad_input_is_refused_by_its_message_and_leaves_nothing_behind() {
    let folder = folder();
    let before = folder.contents();
    for case in CASES {
        let line = line(case);
        let Said { code, out, err } = folder.reticent(&line);
        assert_eq!(code, case.code, "{line}\n{out}{err}");
        assert_eq!(out, "", "{line}");
        let said = err.strip_prefix("error: ").unwrap_or_else(|| panic!("{line}\n{err}"));
        let message = said.split("\n hint: ").next().unwrap();
        let message = message.split("\n\nUsage:").next().unwrap().split("\n\nFor more").next().unwrap();
        let message = message.split("\n\n  tip:").next().unwrap();
        assert!(is(case.message, message), "{line}\n  is  {message:?}\nwant {:?}", case.message);

        let said = folder.reticent(&format!("{line} --json"));
        assert_eq!(said.code, case.code, "{line} --json");
        let object = said.json();
        assert!(is(case.message, object["error"].as_str().unwrap()), "{line}\n{object}");
        assert!(!object["hint"].as_str().unwrap().is_empty(), "{line}\n{object}");
        assert!(!format!("{err}{}{}", said.out, said.err).contains("SECRET"), "{line}\n{err}");
    }
    assert_eq!(folder.contents(), before);
}

#[test]
fn the_readme_lists_every_case() {
    let readme = include_str!("../README.md");
    for case in CASES {
        let line = format!("`{}`", case.line.replace("GOOD", "…").replace("SVM", "…"));
        assert!(readme.contains(&line), "the README lacks {line}");
        let message = case.message.trim_end_matches('…').trim_end();
        assert!(readme.contains(message), "the README lacks {message}");
    }
}

/// A limit on the size of files stands for a full disk: every write fails.
#[test]
fn a_full_disk_leaves_what_was_there() {
    let folder = folder();
    let before = folder.contents();
    let full = "trap '' XFSZ; ulimit -f 0; exec reticent";
    for (line, named) in [
        (format!("fit good.csv {GOOD}"), "out/certificate.json"),
        (format!("fit good.csv {} --out model", GOOD.replace(" --out out", "")), "model/certificate.json"),
        ("predict model good.csv --out p.csv".to_owned(), "p.csv"),
        ("schema init good.csv --out s.toml".to_owned(), "s.toml"),
        ("demo".to_owned(), "reticent-demo/patients.csv"),
    ] {
        // The sizes are limited for regular files, and standard output is a pipe here.
        let said = folder.shell(&format!("{full} {line}"));
        assert_eq!(said.code, 2, "{line}: {said:?}");
        assert!(said.err.starts_with(&format!("error: cannot write {named}: ")), "{line}: {said:?}");
        assert!(said.err.contains("hint: "), "{line}: {said:?}");
    }
    std::fs::remove_dir(folder.path().join("reticent-demo")).unwrap();
    assert_eq!(folder.contents(), before);

    let said = folder.shell("reticent predict model good.csv > /dev/full");
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.starts_with("error: cannot write to standard output: "), "{said:?}");
}

/// What well-formed private data may be is no error: an error would tell.
#[test]
fn what_would_tell_something_about_the_data_is_no_error() {
    let folder = Folder::new();
    folder.write("schema.toml", SCHEMA);
    for (name, table) in [
        ("one class", "age,town,ill\n1,A,no\n2,B,no\n3,A,no\n"),
        ("one record", "age,town,ill\n1,A,no\n"),
        ("zero rows", "age,town,ill\n50,Z,no\n50,,yes\n"),
        ("missing, unknown and outside the bounds", "age,town,ill\n,A,no\n-7,Z,yes\n999,B,no\n"),
    ] {
        folder.write("t.csv", table);
        for flags in
            ["", "--sampling poisson:0.001 --iterations 20", "--adjacency add-remove --public-n 1000"]
        {
            let said = folder.reticent(&format!("fit t.csv {GOOD} {flags} --json"));
            assert_eq!(said.code, 0, "{name}, {flags}: {said:?}");
            let object = said.json();
            assert_eq!(object["certified"], true, "{name}, {flags}: {object}");
        }
        folder.reticent("predict out t.csv").ok();
        let quality = folder.reticent("evaluate out t.csv --json").ok().json();
        // A class that does not occur leaves the AUC undefined.
        assert_eq!(
            quality["auc"].is_null(),
            name == "one class" || name == "one record",
            "{name}: {quality}"
        );
    }
}
