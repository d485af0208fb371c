//! What a draft guesses, what it asks, and what a schema may say.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use reticent_data::{
    DraftOptions, Purpose, Schema, SchemaDraft, Thoroughness, check, draft_from_public, load,
    parse_csv, skeleton,
};
use std::path::PathBuf;

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn draft(text: &str) -> SchemaDraft {
    let folder = tempfile::tempdir().unwrap();
    let options = DraftOptions::default().with(|it| it.target = Some("ill".into()));
    draft_from_public(&file(&folder, "t.csv", text), &options, &[7; 32]).unwrap()
}

fn table() -> String {
    let mut text = String::from("patient_id,number,day,zip,ward,age,dose,weight,smoker,ill\n");
    for i in 0..200 {
        let (day, ward, age) = (1 + i % 28, 1 + i % 7, 18 + i * 37 % 61);
        let (dose, weight, smoker) = (i * 31 % 97, 50 + i % 40, ["True", "False"][i % 2]);
        text += &format!(
            "p{},{i},2024-03-{day:02},0{},{ward},{age},{}.5,{weight},{smoker},{}\n",
            i % 50,
            1000 + i % 90,
            dose,
            ["no", "yes"][i % 2]
        );
    }
    text
}

#[test]
fn identifiers_days_codes_and_weights_are_asked_about() {
    let SchemaDraft { toml, questions, schema, remarks } = draft(&table());
    assert_eq!(remarks, [] as [String; 0]);
    let about: Vec<&str> =
        questions.iter().map(|q| q.split(" looks like ").next().unwrap()).collect();
    assert_eq!(
        about,
        ["\"patient_id\"", "\"number\"", "\"day\"", "\"zip\"", "\"ward\"", "\"weight\""]
    );
    assert_eq!(toml.matches("kind = \"TODO\"").count(), 6);
    assert_eq!(schema.encoded_names(), ["age", "dose", "smoker"], "truth values are 0 and 1");
    // Nothing can be read before a person has decided.
    let refused = toml.parse::<Schema>().unwrap_err().to_string();
    assert_eq!(refused, "column `patient_id` still has kind = \"TODO\": say what it is");
    let decided = toml.replace("kind = \"TODO\"", "kind = \"ignored\"").parse::<Schema>().unwrap();
    assert_eq!(decided, schema);
}

#[test]
fn a_draft_in_which_everything_is_asked_is_a_draft() {
    let days: String =
        (1..29).map(|i| format!("2024-01-{i:02},{}\n", ["no", "yes"][i % 2])).collect();
    let SchemaDraft { toml, questions, .. } = draft(&format!("day,ill\n{days}"));
    assert_eq!((questions.len(), toml.matches("kind = \"TODO\"").count()), (1, 1));
}

#[test]
fn a_header_of_numbers_hints_at_a_missing_header() {
    let folder = tempfile::tempdir().unwrap();
    let bare = file(&folder, "t.csv", "5.1,3.5,0,yes\n4.9,3.0,1,no\n4.8,3.1,0,no\n");
    let said = draft_from_public(&bare, &DraftOptions::default(), &[7; 32]).unwrap().remarks;
    assert!(said[0].contains("`no_header`"), "{said:?}");
    let refused = skeleton(&bare, &DraftOptions::default()).unwrap_err();
    assert!(refused.hint().contains("`no_header`"), "{refused}");
    assert!(!refused.to_string().contains("5.1"));
    // Columns that are numbered have names.
    let numbered = file(&folder, "t.csv", "0,1,2\n4.9,3.0,1\n3,2,1\n");
    assert!(
        draft_from_public(&numbered, &DraftOptions::default(), &[7; 32])
            .unwrap()
            .remarks
            .is_empty()
    );
}

#[test]
fn a_skeleton_holds_names_and_no_value_and_is_refused_until_it_is_filled_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "t.csv", "age,ill,\"a \"\"b\"\"\"\nSECRET,SECRET,SECRET\n");
    let options = DraftOptions::default().with(|it| it.target = Some("ill".into()));
    let (text, _) = skeleton(&path, &options).unwrap();
    assert!(!text.contains("SECRET"));
    let refused = |text: &str| text.parse::<Schema>().unwrap_err().to_string();
    assert_eq!(refused(&text), "row_norm is still \"TODO\"");
    let text = text.replace("row_norm = \"TODO\"", "row_norm = 1");
    assert_eq!(refused(&text), "column `age` still has kind = \"TODO\": say what it is");
    let text = text.replacen("\"TODO\"\n\n", "\"numeric\"\nlower = \"TODO\"\nupper = 9\n\n", 1);
    assert_eq!(
        refused(&text),
        "column `age` still has lower = \"TODO\": write what is known without looking at private data"
    );
    let text = text
        .replace("lower = \"TODO\"", "lower = 1")
        .replace("kind = \"TODO\"", "kind = \"ignored\"");
    assert!(refused(&text).starts_with("column `ill` still has classes = \"TODO\""));
    let whole: Schema =
        text.replace("classes = \"TODO\"", "classes = ['no', 'yes']").parse().unwrap();
    assert_eq!(whole.columns()[2].name(), "a \"b\"");
}

#[test]
fn a_skeleton_asks_what_a_name_raises() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "t.csv", "patientId,age,zip,weight,row_key,ill\n1,2,3,4,5,6\n");
    let options = DraftOptions::default()
        .with(|it| (it.target, it.user) = (Some("ill".into()), Some("row_key".into())));
    let (text, _) = skeleton(&path, &options).unwrap();
    let asked: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split(" looks like ").next()?.strip_prefix("# \""))
        .collect();
    assert_eq!(asked, ["patientId\"", "zip\"", "weight\""], "{text}");
}

fn encoded(keys: &str, values: &[&str]) -> Vec<f64> {
    let schema = format!("row_norm = 1e9\n[[column]]\nname = 'x'\n{keys}");
    let schema: Schema = schema.parse().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(schema.to_toml().parse::<Schema>().unwrap(), schema, "it survives its file");
    let text = format!("x\n{}\n", values.join("\n"));
    let table = parse_csv(text.as_bytes(), "t", &schema, b',', Purpose::Predict).unwrap();
    (0..table.len()).map(|i| table.rows.dense_row(i)[0]).collect()
}

fn refused(keys: &str) -> String {
    format!("row_norm = 1\n[[column]]\nname = 'x'\n{keys}")
        .parse::<Schema>()
        .unwrap_err()
        .to_string()
}

#[test]
fn scales_for_amounts() {
    let log = "kind = 'numeric'\nlower = 0\nupper = 999\nscale = 'log'";
    let x = encoded(log, &["-5", "0", "9", "99", "999", "1e6"]);
    for (x, wanted) in x.iter().zip([0.0, 0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0, 1.0]) {
        assert!((x - wanted).abs() < 1e-15, "{x} {wanted}");
    }
    let steps =
        "kind = 'numeric'\nlower = 0\nupper = 1000\nscale = 'quantile'\nquantiles = [10, 50, 200]";
    assert_eq!(
        encoded(steps, &["-1", "0", "5", "10", "50", "125", "200", "600", "1000", "2000"]),
        [-1.0, -1.0, -0.75, -0.5, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0]
    );
    for quantiles in ["[]", "[5, 5]", "[0, 5]", "[5, 1000]", "[nan]"] {
        let keys = steps.replace("[10, 50, 200]", quantiles);
        assert!(
            refused(&keys).contains("needs `quantiles` beside scale = \"quantile\""),
            "{quantiles}"
        );
    }
    assert!(
        refused("kind = 'numeric'\nlower = 0\nupper = 9\nquantiles = [1]").contains("nowhere else")
    );
}

#[test]
fn days_are_a_kind_of_their_own() {
    let keys = "kind = 'date'\nlower = '2000-01-01'\nupper = '2000-12-31'\nmissing = 'lower'\nscale = 'zero_to_one'";
    let x =
        encoded(keys, &["2000-01-01", "1999-06-01", "2000-07-01T12:00:00Z", "2000-12-31", "\"\""]);
    assert_eq!(x, [0.0, 0.0, 182.0 / 365.0, 1.0, 0.0]);
    assert!(
        refused(&keys.replace("2000-12-31", "31.12.2000"))
            .contains("allowed: a day, as in \"1970-01-31\"")
    );
    assert!(refused(&keys.replace("2000-12-31", "1999-12-31")).contains("allowed: lower < upper"));
    let schema: Schema = format!("row_norm = 1\n[[column]]\nname = 'x'\n{keys}").parse().unwrap();
    let said =
        parse_csv("x\n01.02.2000\n".as_bytes(), "t", &schema, b',', Purpose::Predict).unwrap_err();
    assert!(
        said.to_string().starts_with("t:2: column `x` is a date, but the field is not a day"),
        "{said}"
    );
}

#[test]
fn kinds_that_are_none_are_refused_by_name() {
    assert_eq!(
        refused("kind = 'numerical'"),
        "column `x` has kind = \"numerical\"; allowed: numeric, date, categorical, target, ignored, user, weight"
    );
}

const OWNED: &str = schema!(1;
    age "name = 'town'\nkind = 'categorical'\ncategories = ['A', 'B']\nunknown = 'error'" who
    ill note
);

#[test]
fn an_unknown_category_can_be_an_error_and_counts_show_all_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let text = "age,town,who,ill,note\n1,A,a,no,\n,Z,b,no,\n200,B,a,yes,\n50,Y,a,no,\n";
    let path = file(&folder, "t.csv", text);
    let schema: Schema = OWNED.parse().unwrap();
    assert_eq!(schema.to_toml().parse::<Schema>().unwrap(), schema);
    let said = load(&path, None, &schema, None, None).map(|_| ()).unwrap_err().to_string();
    assert!(
        said.ends_with("t.csv:3: column `town` holds a value outside its categories"),
        "{said}"
    );
    let lenient: Schema = OWNED.replace("'error'", "'ignore'").parse().unwrap();
    let values = check(&path, None, &lenient, Thoroughness::Values).unwrap();
    assert!(values.summary.contains("every record fits the schema; 4 records were read"));
    assert_eq!((values.records, values.counts), (Some(4), None));
    for schema in [schema, lenient] {
        let checked = check(&path, None, &schema, Thoroughness::Counts).unwrap();
        let refused = schema.to_toml().contains("error");
        assert_eq!(checked.fits, !refused);
        let said = "t.csv: 4 records were read, and a fit refuses them: values outside the categories of `town`";
        assert_eq!(checked.summary.contains(said), refused, "{}", checked.summary);
        let counts = checked.counts.unwrap();
        assert_eq!((counts.records, counts.users, counts.shortened), (4, Some(2), 2));
        let [age, town, who, ill, note] = &counts.columns[..] else { panic!("{counts:?}") };
        assert_eq!((age.missing, age.clipped), (Some(1), Some(1)));
        assert_eq!((town.missing, town.unknown), (Some(0), Some(2)));
        assert_eq!((who.missing, note.missing), (Some(0), None), "what is not read is not counted");
        assert_eq!(ill.values, Some(vec![("no".into(), 3), ("yes".into(), 1)]));
    }
}

/// Without a header as well as with one: a file of one column that is none.
#[test]
fn another_delimiter_is_seen_in_a_file_without_names_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "t.csv", "1;2\n3;4\n");
    let options = DraftOptions::default().with(|it| it.no_header = true);
    let drafted = draft_from_public(&path, &options, &[0; 32]).unwrap_err();
    let filled = skeleton(&path, &options).unwrap_err();
    for error in [drafted, filled] {
        assert!(error.to_string().contains("has one field, and ';' in it"), "{error}");
    }
}

/// The first person's record became the names of the columns, without a word: a line of numbers alone
/// was remarked on, and this one has words too.
#[test]
fn a_first_line_of_numbers_and_words_is_remarked_on() {
    let folder = tempfile::tempdir().unwrap();
    let record = |i: u32| format!("{}, State-gov, {}, Bachelors, <=50K\n", 20 + i, 70_000 + 7 * i);
    let path = file(&folder, "people.csv", &(0..30).map(record).collect::<String>());
    let drafted =
        |options: DraftOptions| draft_from_public(&path, &options, &[7; 32]).unwrap().remarks;
    let remarks = drafted(DraftOptions::default());
    assert!(remarks.iter().any(|remark| remark.contains("looks like a record: it has numbers")));
    for told in [
        DraftOptions::default().with(|it| it.no_header = true),
        DraftOptions::default().with(|it| it.header = true),
    ] {
        assert!(!drafted(told).iter().any(|remark| remark.contains("looks like a record")));
    }
}

/// An id of text was ignored and nobody was told on the terminal: records were protected where persons
/// were meant.
#[test]
fn an_ignored_column_of_many_texts_may_say_whose_record_it_is() {
    let rows: String = (0..300).map(|i| format!("P-{:03},{}.5,no\n", i / 2, i % 7)).collect();
    let remarks = draft(&format!("patient,dose,ill\n{rows}P,1,yes\n")).remarks;
    let said = remarks.iter().find(|remark| remark.contains("\"patient\" is ignored")).unwrap();
    assert!(said.contains("kind = \"user\" if it says whose record it is"), "{said}");
}
