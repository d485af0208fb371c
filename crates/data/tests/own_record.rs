//! A row is encoded from its own record and the schema alone: what the sensitivities rest on, and what the
//! gate, which is handed rows, cannot see. Whatever one record becomes, no other row changes in a bit.

use reticent_data::{Schema, Table, load};
use std::fmt::Write;
use std::path::Path;

/// A column of every kind and with every rule for what is missing.
const SCHEMA: &str = "\
row_norm = 1.5
pairs = [['age', 'grade'], ['town', 'wage']]
missing_tokens = ['', 'NA']
[[column]]
name = 'age'
kind = 'numeric'
lower = 0
upper = 100
curve = 3
[[column]]
name = 'wage'
kind = 'numeric'
lower = 1
upper = 1e6
scale = 'log'
missing = 'upper'
[[column]]
name = 'rank'
kind = 'numeric'
lower = 0
upper = 10
scale = 'quantile'
quantiles = [1, 2, 5]
knots = [3, 7]
missing = 4
[[column]]
name = 'day'
kind = 'date'
lower = '2020-01-01'
upper = '2024-12-31'
missing = 'lower'
[[column]]
name = 'town'
kind = 'categorical'
categories = ['A', 'B', 'C']
unknown = 'B'
[[column]]
name = 'grade'
kind = 'categorical'
categories = ['1', '2', '3', '4']
ordered = true
missing = '3'
[[column]]
name = 'note'
kind = 'ignored'
[[column]]
name = 'much'
kind = 'weight'
upper = 3
missing = 1
[[column]]
name = 'ill'
kind = 'target'
classes = ['no', 'yes']
missing = 'yes'
";

/// What one record may be: usual; all of it missing; far out of every bound; and a field that takes a block
/// of the file for itself.
fn others() -> [String; 4] {
    [
        "50,1000,5,2022-06-01,C,2,fine,2,no".into(),
        ",NA,,,,,NA,,".into(),
        "-1e300,1e300,99,1980-01-01,nowhere,9,x,1e9,yes".into(),
        format!("1,2,3,2020-01-02,A,1,\"{}\",3,no", "long,\n\"\"".repeat(60_000)),
    ]
}

/// Many blocks of records, of which one is `own`. Every third lacks something.
fn csv(at: usize, own: &str) -> String {
    let mut text = String::from("age,wage,rank,day,town,grade,note,much,ill\n");
    for i in 0..COUNT {
        if i == at {
            writeln!(text, "{own}").unwrap();
            continue;
        }
        let lacks = |k: usize| i.is_multiple_of(3) && i / 3 % 9 == k;
        let field = |k: usize, value: String| if lacks(k) { String::new() } else { value };
        let all = [
            field(0, format!("{}.5", i % 101)),
            field(1, (1 + i * i).to_string()),
            field(2, (i % 12).to_string()),
            field(3, format!("202{}-03-{:02}", i % 5, 1 + i % 28)),
            field(4, ["A", "B", "C", "D"][i % 4].to_owned()),
            field(5, (1 + i % 4).to_string()),
            field(6, "a note".repeat(1 + i % 5)),
            field(7, format!("0.{i}")),
            field(8, ["no", "yes"][i % 2].to_owned()),
        ];
        writeln!(text, "{}", all.join(",")).unwrap();
    }
    text
}

const COUNT: usize = 12_000;

fn read(path: &Path, schema: &Schema, threads: usize) -> Table {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| load(path, None, schema, None, None)).unwrap()
}

/// All that is known of a record.
fn bits(table: &Table, i: usize) -> Vec<u64> {
    let weight = table.weights.as_ref().map(|weights| weights[i]);
    let own = table.rows.dense_row(i).into_iter().chain([table.targets[i]]).chain(weight);
    own.map(f64::to_bits).collect()
}

fn no_other_row_changes(name: &str, schema: &Schema, texts: &[(usize, String)]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut first: Option<(usize, Table)> = None;
    for (k, (at, text)) in texts.iter().enumerate() {
        std::fs::write(&path, text).unwrap();
        let table = read(&path, schema, 1 + k % 3);
        assert_eq!(table.len(), COUNT);
        let Some((was, first)) = &first else {
            first = Some((*at, table));
            continue;
        };
        for i in (0..COUNT).filter(|i| i != at && i != was) {
            assert_eq!(bits(&table, i), bits(first, i), "record {i}, file {k}");
        }
    }
}

#[test]
fn one_record_of_a_file_changes_no_other_row() {
    let schema: Schema = SCHEMA.parse().unwrap();
    for at in [0, 7_001] {
        let texts: Vec<_> = others().iter().map(|own| (at, csv(at, own))).collect();
        no_other_row_changes("t.csv", &schema, &texts);
    }
}

/// The same for pairs, where a record may have no pair at all.
#[test]
fn one_record_of_pairs_changes_no_other_row() {
    let schema = "row_norm = 1\nfeatures = 40\n[[column]]\nname = 'label'\nkind = 'target'\nclasses = [-1, 1]\n";
    let schema: Schema = schema.parse().unwrap();
    let own =
        ["-1 1:1 40:-3".to_owned(), "1".to_owned(), format!("1 2:1e300 # {}", "x".repeat(9_999))];
    let text = |own: &String| {
        let mut text = String::new();
        for i in 0..COUNT {
            match i {
                5_003 => writeln!(text, "{own}").unwrap(),
                _ => writeln!(
                    text,
                    "{} {}:0.{i} {}:1",
                    2 * (i as i32 % 2) - 1,
                    1 + i % 7,
                    9 + i % 31
                )
                .unwrap(),
            }
        }
        (5_003, text)
    };
    no_other_row_changes("t.svm", &schema, &own.iter().map(text).collect::<Vec<_>>());
}
