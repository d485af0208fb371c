//! Every bad input gives one exact message, with the place, the allowed values and never a value
//! from the file.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use reticent_data::{DataError, Purpose, Schema, Target, load, parse_csv, parse_libsvm};
use std::io::Write;
use std::path::{Path, PathBuf};

const SCHEMA: &str = schema!(1; age town ill);

fn csv(text: &str) -> String {
    let schema: Schema = SCHEMA.parse().unwrap();
    parse_csv(text.as_bytes(), "f.csv", &schema, b',', Purpose::Fit)
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

fn libsvm(text: &str) -> String {
    let schema = Schema::libsvm(3, 1.0, Target::classes(["-1", "1"]).unwrap()).unwrap();
    parse_libsvm(text.as_bytes(), "f.svm", &schema, Purpose::Fit)
        .map(|_| ())
        .unwrap_err()
        .to_string()
}

fn schema(text: &str) -> String {
    text.parse::<Schema>().unwrap_err().to_string()
}

#[test]
fn delimited_text() {
    let declared = "declared: `age`, `town`, `ill`";
    for (text, message) in [
        ("", "f.csv: the file is empty".to_string()),
        ("\n\n", "f.csv: the file is empty".into()),
        ("age,town,ill\n", "f.csv: the file has a header but no records".into()),
        ("age,town,ill\n\n  \n", "f.csv: the file has a header but no records".into()),
        (
            "age,town,ill\n1,A,no\n2,B\n",
            "f.csv:3: the record has 2 fields where 3 are expected".into(),
        ),
        (
            "age,town,ill\n1,A,no,7\n",
            "f.csv:2: the record has 4 fields where 3 are expected".into(),
        ),
        (
            "age,town,ill\nSECRET,A,no\n",
            "f.csv:2: column `age` is numeric, but the field is not a number".into(),
        ),
        (
            "age,town,ill\nNaN,A,no\n",
            "f.csv:2: column `age` is numeric, but the field is not finite (NaN or infinity)"
                .into(),
        ),
        (
            "age,town,ill\n-inf,A,no\n",
            "f.csv:2: column `age` is numeric, but the field is not finite (NaN or infinity)"
                .into(),
        ),
        (
            "age,town,ill\n1e999,A,no\n",
            "f.csv:2: column `age` is numeric, but the field is not finite (NaN or infinity)"
                .into(),
        ),
        (
            "age,town,ill\n1,A,SECRET\n",
            "f.csv:2: column `ill` holds a label outside its classes; allowed: no, yes".into(),
        ),
        (
            "age,town,ill\n1,A,\n",
            "f.csv:2: column `ill` is the target, but the field is missing".into(),
        ),
        (
            "age,town,ill,SECRET\n1,A,no,2\n",
            format!("f.csv: column 4 of the file is not declared in the schema; {declared}"),
        ),
        (
            "age,ill\n1,no\n",
            "f.csv: the file has no column `town`, which the schema declares".into(),
        ),
        ("age,age,town,ill\n1,1,A,no\n", "f.csv: the header names column `age` twice".into()),
        // A line number counts lines, not records, whatever ends them.
        (
            "age,town,ill\r\n1,A,no\r\nx,A,no\r\n",
            "f.csv:3: column `age` is numeric, but the field is not a number".into(),
        ),
        (
            "age,town,ill\n1,A,no\nx,A,no",
            "f.csv:3: column `age` is numeric, but the field is not a number".into(),
        ),
        (
            "\nage,town,ill\nx,A,no",
            "f.csv:3: column `age` is numeric, but the field is not a number".into(),
        ),
        (
            "age,town,ill\n1,\"A\n\",no\n\nx,A,no\n",
            "f.csv:5: column `age` is numeric, but the field is not a number".into(),
        ),
    ] {
        let given = csv(text);
        assert_eq!(given, message, "{text:?}");
        assert!(!given.contains("SECRET"));
    }
}

#[test]
fn libsvm_text() {
    for (text, message) in [
        ("", "f.svm: the file is empty"),
        ("# nothing\n\n", "f.svm: the file is empty"),
        (
            "1 1:1\n1 4:1\n",
            "f.svm:2: item 1 has an index beyond the declared 3 features; allowed: 1 to 3",
        ),
        (
            "1 99999999999999999999999999:1\n",
            "f.svm:1: item 1 has an index beyond the declared 3 features; allowed: 1 to 3",
        ),
        ("1 0:1\n", "f.svm:1: item 1 has index 0; indices start at 1"),
        ("1 1:1 -2:1\n", "f.svm:1: item 2 is not of the form index:value"),
        ("1 qid:3 1:1\n", "f.svm:1: item 1 is not of the form index:value"),
        ("1 1\n", "f.svm:1: item 1 is not of the form index:value"),
        ("1 1:\n", "f.svm:1: the value of item 1 is not a number"),
        ("1 2:SECRET\n", "f.svm:1: the value of item 1 is not a number"),
        ("1 2:nan\n", "f.svm:1: the value of item 1 is not finite (NaN or infinity)"),
        ("1 2:1 2:1\n", "f.svm:1: a feature index occurs twice"),
        ("1 1:1 3:1 2:1\n", "f.svm:1: item 3 has an index below that of the item before it"),
        ("1 3:0.5e-1 1:1\n", "f.svm:1: item 2 has an index below that of the item before it"),
        ("1 3:1\n#1 1:1\n", "f.svm:2: the comment may hide a record or a part of one"),
        ("1 1:1 #:0.5\n", "f.svm:1: the comment may hide a record or a part of one"),
        ("1 1:1#2\n", "f.svm:1: the comment may hide a record or a part of one"),
        ("7 1:1\n", "f.svm:1: column `label` holds a label outside its classes; allowed: -1, 1"),
        ("1:1 2:1\n", "f.svm:1: column `label` holds a label outside its classes; allowed: -1, 1"),
    ] {
        assert_eq!(libsvm(text), message, "{text:?}");
    }
}

#[test]
fn schemas() {
    let numeric = |keys: &str| {
        schema(&format!("row_norm = 1\n[[column]]\nname = 'a'\nkind = 'numeric'\n{keys}"))
    };
    let target = |keys: &str| {
        schema(&format!("row_norm = 1\n[[column]]\nname = 'a'\nkind = 'target'\n{keys}"))
    };
    let text = |keys: &str| {
        schema(&format!("row_norm = 1\n[[column]]\nname = 'a'\nkind = 'categorical'\n{keys}"))
    };
    let bounds = "column `a` has lower = 1 and upper = 1; allowed: finite, lower < upper";
    for (given, message) in [
        (numeric("upper = 1"), "column `a` needs `lower`, a public bound"),
        (numeric("lower = 1\nupper = 1"), bounds),
        (
            numeric("lower = -1e308\nupper = 1.7e308"),
            &format!(
                "column `a` has lower = {} and upper = {}; allowed: finite, lower < upper",
                -1e308, 1.7e308
            ),
        ),
        (
            numeric("lower = 0\nupper = 1\nmissing = 2"),
            "column `a` has missing = 2; allowed: a number from 0 to 1",
        ),
        (
            numeric("lower = 0\nupper = 1\nmissing = 'mean'"),
            "column `a` has missing = \"mean\"; allowed: a number, \"middle\", \"lower\" or \"upper\"",
        ),
        (
            numeric("lower = 0\nupper = 1\nclasses = [1, 2]"),
            "column `a` has the key `classes`, which its kind does not use; allowed: lower, upper, scale, quantiles, curve, knots, missing",
        ),
        (text("unknown = 'x'"), "column `a` needs `categories`, the public list of its values"),
        (text("categories = []"), "column `a` has no categories; allowed: at least one"),
        (
            text("categories = ['x', 'x']"),
            "column `a` `categories` names `x` twice; each spelling may occur once",
        ),
        (
            text("categories = ['x']\nunknown = 'y'"),
            "column `a` has unknown = \"y\"; allowed: one of its categories, or \"ignore\" or \"error\"",
        ),
        (
            text("categories = ['ignore']\nmissing = 'ignore'"),
            "column `a` has missing = \"ignore\" and a category of that name; leave `missing` out for all zeros",
        ),
        (target(""), "column `a` is a target and needs either `classes`, or `lower` and `upper`"),
        (target("classes = ['x']"), "column `a` has 1 classes; allowed: two or more"),
        (target("lower = 1\nupper = 1"), bounds),
        (
            target("lower = 0\nupper = 1"),
            "no feature is declared (d = 0); allowed: at least one numeric or categorical column, or features >= 1",
        ),
        (
            schema("row_norm = 0\nfeatures = 3"),
            "row_norm is 0; allowed: a number from 1e-100 to 1e100, above 0",
        ),
        (
            schema("row_norm = -1\nfeatures = 3"),
            "row_norm is -1; allowed: a number from 1e-100 to 1e100, above 0",
        ),
        (
            schema("row_norm = nan\nfeatures = 3"),
            "row_norm is NaN; allowed: a number from 1e-100 to 1e100, above 0",
        ),
        (
            schema("row_norm = 1\nfeatures = 0"),
            "no feature is declared (d = 0); allowed: at least one numeric or categorical column, or features >= 1",
        ),
        (
            schema("row_norm = 1\nfeatures = 1\npublic_n = 0"),
            "public_n is 0; allowed: a whole number from 1",
        ),
        (
            schema("row_norm = 1\nfeatures = 1\ndelimiter = '::'"),
            "delimiter is \"::\"; allowed: one ASCII character other than a quote or a line break",
        ),
        (
            schema(&format!("{SCHEMA}[[column]]\nname = 'age'\nkind = 'ignored'")),
            "column `age` is declared twice",
        ),
        (
            schema(&format!("features = 3\n{SCHEMA}")),
            "a schema with `features` (LIBSVM) may declare only a target column",
        ),
    ] {
        assert_eq!(given, message);
    }
    assert!(
        schema("row_norm = 1\nfeatures = 1\nrow_nrom = 2").contains("unknown field `row_nrom`")
    );
    assert!(schema("features = 1").contains("missing field `row_norm`"));
}

#[test]
fn roles() {
    let schema: Schema = SCHEMA.parse().unwrap();
    let fails = |target, user| schema.with_roles(target, user).unwrap_err().to_string();
    assert_eq!(
        fails(Some("sick"), None),
        "there is no column `sick`; declared: `age`, `town`, `ill`"
    );
    assert_eq!(fails(None, Some("id")), "there is no column `id`; declared: `age`, `town`, `ill`");
    assert_eq!(
        fails(Some("ill"), Some("ill")),
        "column `ill` cannot be both the target and the user"
    );
    let two: Schema =
        format!("{SCHEMA}[[column]]\nname = 'x'\nkind = 'target'\nlower = 0\nupper = 1")
            .parse()
            .unwrap();
    assert_eq!(
        two.with_roles(None, None).unwrap_err().to_string(),
        "several columns are declared as target: `ill`, `x`"
    );
    assert_eq!(two.with_roles(Some("x"), None).unwrap().target().unwrap().0, "x");
    assert_eq!(schema.with_roles(Some("town"), None).unwrap().width(), 1);
    let libsvm = Schema::libsvm(3, 1.0, Target::classes(["-1", "1"]).unwrap()).unwrap();
    assert_eq!(
        libsvm.with_roles(None, Some("x")).unwrap_err().to_string(),
        "a LIBSVM file has no user column"
    );
}

fn file(dir: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = dir.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn refused(path: &Path, schema: &Schema) -> DataError {
    load(path, None, schema, None, None).map(|_| ()).unwrap_err()
}

#[test]
fn files() {
    let dir = tempfile::tempdir().unwrap();
    let schema: Schema = SCHEMA.parse().unwrap();
    let says = |path: &Path| {
        let error = refused(path, &schema);
        assert!(!error.hint().is_empty());
        error.to_string().replace(&dir.path().display().to_string(), "DIR")
    };
    assert_eq!(says(&dir.path().join("none.csv")), "DIR/none.csv: cannot be opened: no such file");
    assert_eq!(
        says(dir.path().join("d.csv").as_path()),
        "DIR/d.csv: cannot be opened: no such file"
    );
    assert_eq!(says(&file(&dir, "e.csv", b"")), "DIR/e.csv: the file is empty");
    assert_eq!(
        says(&file(&dir, "x.txt", b"1")),
        "DIR/x.txt: the name does not tell the format; known: .csv .tsv .data .libsvm .svm .parquet, also with .gz .xz .bz2 .zst or .zip"
    );
    assert_eq!(
        says(&file(&dir, "x.svm", b"1")),
        "DIR/x.svm: a LIBSVM file needs a schema with `features`, not columns"
    );
    #[cfg(feature = "parquet")]
    {
        assert_eq!(says(&file(&dir, "e.parquet", b"")), "DIR/e.parquet: the file is empty");
        assert!(
            says(&file(&dir, "x.parquet", b"no parquet at all"))
                .starts_with("DIR/x.parquet: reading failed after line 0: ")
        );
    }
    let features = Schema::libsvm(3, 1.0, Target::classes(["-1", "1"]).unwrap()).unwrap();
    assert!(
        refused(&file(&dir, "y.csv", b"1"), &features)
            .to_string()
            .ends_with("a schema with `features` is for LIBSVM files only")
    );
    assert!(
        Schema::read(&dir.path().join("s.toml"))
            .unwrap_err()
            .to_string()
            .ends_with("s.toml: the schema cannot be read: no such file")
    );
}

/// A text long enough that a cut in the middle loses data after some whole records.
fn long_table() -> Vec<u8> {
    let mut text = b"age,town,ill\n".to_vec();
    let mut x = 1_u32;
    for _ in 0..20_000 {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        writeln!(
            text,
            "{},{},{}",
            x % 97,
            ["A", "B"][(x >> 20) as usize % 2],
            ["no", "yes"][(x >> 24) as usize % 2]
        )
        .unwrap();
    }
    text
}

#[test]
fn compressed_files_cut_short() {
    let dir = tempfile::tempdir().unwrap();
    let schema: Schema = SCHEMA.parse().unwrap();
    let text = long_table();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gz.write_all(&text).unwrap();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
    xz.write_all(&text).unwrap();
    for (name, packed) in [("t.csv.gz", gz.finish().unwrap()), ("t.csv.xz", xz.finish().unwrap())] {
        let whole = load(&file(&dir, name, &packed), None, &schema, None, None).unwrap();
        assert_eq!(whole.len(), 20_000);
        // In the trailer, in the middle, and just after the magic bytes.
        for cut in [packed.len() - 1, packed.len() - 9, packed.len() / 2, 12, 7] {
            let error = refused(&file(&dir, name, &packed[..cut]), &schema).to_string();
            assert!(
                error.contains(&format!("{name}: reading failed after line ")),
                "{name} cut at {cut}: {error}"
            );
        }
    }
}

#[test]
fn what_well_formed_data_may_be_is_no_error() {
    let schema: Schema = SCHEMA.parse().unwrap();
    let ok = |text: &str| parse_csv(text.as_bytes(), "f.csv", &schema, b',', Purpose::Fit).unwrap();
    assert_eq!(ok("age,town,ill\n1,A,no\n").targets, [-1.0], "one record, one class");
    assert_eq!(ok("age,town,ill\n50,Z,no\n,,no\n").rows.dense_row(0), [0.0; 3], "zero rows");
    assert_eq!(ok("age,town,ill\n-7,,no\n999,,no\n").rows.dense_row(1), [1.0, 0.0, 0.0], "clipped");
}
