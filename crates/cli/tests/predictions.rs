//! From a model back to people: what `predict`, `evaluate` and `inspect` write, and what they leave
//! alone.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::sync::Arc;

use common::{Folder, SCHEMA, csv};
use serde_json::Value;

const EXACT: &str = "--algorithm exact --penalty l2:1e-3";

/// A folder with a table, its schema and an exact model of it in `m`.
fn fitted(flags: &str) -> Folder {
    let folder = Folder::new();
    folder.write("schema.toml", SCHEMA);
    folder.write("t.csv", csv(200));
    folder.reticent(&format!("fit t.csv --schema schema.toml {EXACT} {flags} --out m")).ok();
    folder
}

/// The table with a key in front that nobody declared.
fn keyed(count: u32) -> String {
    let mut lines = String::new();
    for (i, line) in csv(count).lines().enumerate() {
        let key = if i == 0 { "id".to_owned() } else { format!("\"k,{i}\"") };
        lines += &format!("{key},{line}\n");
    }
    lines
}

#[test]
fn undeclared_columns_are_ignored_and_keys_are_kept() {
    let folder = fitted("--target ill");
    folder.write("keyed.csv", keyed(200));
    let plain = folder.reticent("predict m t.csv").ok();
    let said = folder.reticent("predict m keyed.csv").ok();
    assert_eq!(said.out, plain.out);
    assert!(said.err.contains("1 column is not read"), "{said:?}");
    let kept = folder.reticent("predict m keyed.csv --keep id --keep age").ok();
    assert!(kept.err.is_empty(), "{kept:?}");
    let lines: Vec<&str> = kept.out.lines().collect();
    assert!(lines[0].starts_with("id,age,prediction,probability of no,"), "{}", lines[0]);
    assert!(lines[1].starts_with("\"k,1\",0,no,"), "{}", lines[1]);
    assert_eq!(lines.len(), 201);
    let object = folder.reticent("predict m keyed.csv --keep id --json").ok().json();
    assert_eq!(object["predictions"][0]["kept"]["id"], "k,1");
    folder.reticent("evaluate m keyed.csv").ok();
    for (flags, message) in [
        ("--keep name", "has no column `name` to keep"),
        ("--keep id --keep id", "two columns `id`"),
        ("--out p.csv.gz", "not packed"),
    ] {
        let said = folder.reticent(&format!("predict m keyed.csv {flags}"));
        assert!(said.code == 2 && said.err.contains(message), "{said:?}");
    }
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = fitted("--target ill");
    folder.write("keyed.csv", keyed(200));
    let direct = folder.reticent("predict m keyed.csv --keep id").ok().out;
    let piped = folder.shell("cat keyed.csv | reticent predict m - --keep id").ok().out;
    assert_eq!(direct, piped);
    let packed = folder.shell("gzip -c keyed.csv | reticent predict m - --keep id").ok().out;
    assert_eq!(direct, packed);
    let said = folder.shell("cat keyed.csv | reticent predict m - --format parquet");
    assert!(
        said.code == 2 && said.err.contains("a Parquet file cannot be read from standard input"),
        "{said:?}"
    );
    // A record that cannot be read ends it with its line, whatever went out before.
    let said = folder.shell("(cat t.csv; echo x,A,no) | reticent predict m -");
    assert!(said.code == 2 && said.err.contains("standard input:202: column `age`"), "{said:?}");
}

/// What `fit` refuses to read, `predict` and `evaluate` refuse with the same words: they go through
/// the same readers.
#[test]
fn a_table_that_loses_records_is_refused_while_it_streams() {
    let folder = fitted("--target ill");
    let long = format!("{}1,{},no\n", csv(20), "A".repeat(2000));
    for (name, bytes, message) in [
        (
            "open.csv",
            format!("{}1,\"A,no\n2,B,yes\n", csv(20)).into_bytes(),
            "a quoted field is not closed",
        ),
        (
            "quote.csv",
            format!("{}1,\"A\"A,no\n", csv(20)).into_bytes(),
            "goes on behind its closing quote",
        ),
        ("latin.csv", [csv(20).as_bytes(), b"1,\xe9,no\n"].concat(), "the text is not UTF-8"),
        ("utf16.csv", b"\xff\xfea\0g\0e\0".to_vec(), "the text is in UTF-16"),
        ("long.csv", long.into_bytes(), "the record is longer than 1000 bytes"),
    ] {
        folder.write(name, bytes);
        for command in ["predict m", "evaluate m"] {
            let said = folder.reticent(&format!("{command} {name} --max-line 1000"));
            assert!(said.code == 2 && said.err.contains(message), "{command} {name}: {said:?}");
        }
        let said = folder.shell(&format!("reticent predict m - --max-line 1000 < {name}"));
        assert!(said.code == 2 && said.err.contains(message), "{name}: {said:?}");
    }
}

/// Another tool that is not told all would predict something else.
#[test]
fn what_another_tool_cannot_be_told_is_not_exported() {
    for (from, to, message) in [
        ("upper = 100", "upper = 100\nscale = 'quantile'\nquantiles = [50]", "the scale quantile"),
        (
            "categories = ['A', 'B']",
            "categories = ['A', 'B']\nunknown = 'error'",
            "unknown = \"error\"",
        ),
    ] {
        let folder = Folder::new();
        folder.write("schema.toml", SCHEMA.replace(from, to));
        folder.write("t.csv", csv(200).replace(",C,", ",A,"));
        folder
            .reticent(&format!("fit t.csv --schema schema.toml {EXACT} --target ill --out m"))
            .ok();
        let said = folder.reticent("export m --to sql --out m.sql");
        assert!(said.code == 2 && said.err.contains(message), "{said:?}");
        folder.reticent("inspect m").ok();
        folder.reticent("predict m t.csv").ok();
    }
}

/// A million records in less memory than their predictions take.
#[test]
fn memory_does_not_grow_with_the_table() {
    let folder = fitted("--target ill");
    let said = folder
        .shell(
            "ulimit -v 200000; (head -1 t.csv; yes 50,A,no | head -1000000) | reticent predict m - | tail -1",
        )
        .ok();
    assert!(said.out.starts_with("no,") && said.err.is_empty(), "{said:?}");
}

#[test]
fn the_name_of_the_output_says_its_format_and_keys_keep_their_type() {
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;
    let folder = fitted("--target ill");
    folder.write("keyed.csv", keyed(200));
    folder.reticent("predict m keyed.csv --keep id --out p.parquet").ok();
    // Parquet again as the input: the probabilities are then a key as good as any.
    let read = |name: &str| {
        let file = std::fs::File::open(folder.path().join(name)).unwrap();
        SerializedFileReader::new(file).unwrap()
    };
    let reader = read("p.parquet");
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 200);
    let columns: Vec<_> =
        rows[0].get_column_iter().map(|(name, field)| (name.as_str(), field.clone())).collect();
    assert_eq!(columns[0], ("id", Field::Str("k,1".into())));
    assert_eq!(columns[1], ("prediction", Field::Str("no".into())));
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["id", "prediction", "probability of no", "probability of yes"]);
    let text = folder.reticent("predict m keyed.csv").ok().out;
    let first = text.lines().nth(1).unwrap().split(',').nth(1).unwrap().parse::<f64>().unwrap();
    assert_eq!(columns[2].1, Field::Double(first));

    folder.write("t.parquet", parquet());
    folder.reticent("predict m t.parquet --keep id --keep age --out q.parquet").ok();
    let reader = read("q.parquet");
    let cells: Vec<Vec<Field>> = reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| row.unwrap().get_column_iter().take(2).map(|(_, field)| field.clone()).collect())
        .collect();
    assert_eq!(cells, [[Field::Long(7), Field::Long(30)], [Field::Long(i64::MAX), Field::Null]]);
    let text = folder.reticent("predict m t.parquet --keep id --keep age").ok().out;
    assert!(text.lines().nth(2).unwrap().starts_with("9223372036854775807,,"), "{text}");
}

/// Two people with a key, one of an unknown age.
fn parquet() -> Vec<u8> {
    use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
    let schema =
        "message t { required int64 id; optional int32 age; required binary town (UTF8); }";
    let schema = Arc::new(parquet::schema::parser::parse_message_type(schema).unwrap());
    let mut bytes = Vec::new();
    let mut file =
        parquet::file::writer::SerializedFileWriter::new(&mut bytes, schema, Arc::default())
            .unwrap();
    let mut group = file.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&[7, i64::MAX], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int32Type>().write_batch(&[30], Some(&[1, 0]), None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let towns = ["A", "B"].map(ByteArray::from);
    column.typed::<ByteArrayType>().write_batch(&towns, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    file.close().unwrap();
    bytes
}

/// Without a header the schema has the names.
#[test]
fn a_table_without_a_header_has_keys_too() {
    let folder = Folder::new();
    folder.write(
        "s.toml",
        format!("header = false\n{SCHEMA}[[column]]\nname = 'id'\nkind = 'ignored'\n"),
    );
    let lines: String =
        csv(60).lines().skip(1).enumerate().map(|(i, line)| format!("{line},k{i}\n")).collect();
    folder.write("t.csv", lines);
    folder.reticent(&format!("fit t.csv --schema s.toml {EXACT} --out m")).ok();
    let said = folder.reticent("predict m t.csv --keep id").ok();
    assert!(said.out.starts_with("id,prediction,") && said.out.contains("\nk59,"), "{said:?}");
    assert!(said.err.is_empty(), "{said:?}");
    folder.write("bare.csv", "50,A\n");
    let said = folder.reticent("predict m bare.csv --keep id");
    assert!(said.code == 2 && said.err.contains("has no column `id` to keep"), "{said:?}");
    folder.reticent("predict m bare.csv").ok();
}

#[test]
fn a_loss_without_probabilities_gives_scores_and_says_so() {
    let folder = fitted("--target ill --loss huberised-hinge");
    let text = folder.reticent("predict m t.csv").ok().out;
    assert!(text.starts_with("prediction,score of yes\n"), "{text}");
    for line in text.lines().skip(1) {
        let (class, score) = line.split_once(',').unwrap();
        assert_eq!(class == "yes", score.parse::<f64>().unwrap() > 0.0, "{line}");
    }
    let object = folder.reticent("evaluate m t.csv --json").ok().json();
    assert!(object["log_loss"].is_null() && object["auc"].as_f64().unwrap() > 0.9, "{object}");
    assert!(folder.reticent("evaluate m t.csv").ok().out.contains("the loss has no probabilities"));
    assert!(folder.reticent("inspect m").ok().out.contains("score of ill = yes"));
}

#[test]
fn predicted_numbers_stay_in_the_declared_range() {
    let folder = Folder::new();
    folder.write(
        "schema.toml",
        "row_norm = 2\n[[column]]\nname = 'x'\nkind = 'numeric'\nlower = 0\nupper = 10\n\
        [[column]]\nname = 'y'\nkind = 'target'\nlower = 0\nupper = 1\n",
    );
    let mut text = String::from("x,y\n");
    for i in 0..100 {
        text += &format!("{},{}\n", f64::from(i) / 10.0, u8::from(i > 90));
    }
    folder.write("t.csv", text);
    folder.reticent(&format!("fit t.csv --schema schema.toml {EXACT} --out m")).ok();
    let predicted = folder.reticent("predict m t.csv").ok().out;
    let numbers: Vec<f64> = predicted.lines().skip(1).map(|line| line.parse().unwrap()).collect();
    assert!(numbers.iter().all(|y| (0.0..=1.0).contains(y)), "{predicted}");
    assert!(numbers.contains(&0.0), "the line leaves the range on this table");
    let object = folder.reticent("evaluate m t.csv --json").ok().json();
    assert!(object["mae"].as_f64().unwrap() > 0.0, "{object}");
}

#[test]
fn a_threshold_moves_predictions_and_what_is_measured() {
    let folder = fitted("--target ill");
    let count = |flags: &str| {
        let text = folder.reticent(&format!("predict m t.csv {flags}")).ok().out;
        text.lines().filter(|line| line.starts_with("yes,")).count() as u64
    };
    let (few, usual, many) = (count("--threshold 0.9"), count(""), count("--threshold 0.1"));
    assert!(few < usual && usual < many, "{few} {usual} {many}");
    assert_eq!(count("--threshold 0.5"), usual);
    assert_eq!((count("--threshold 1"), count("--threshold 0")), (0, 200));
    let object = folder.reticent("evaluate m t.csv --threshold 0.1 --json").ok().json();
    let counts = &object["confusion"]["counts"];
    let taken = counts[0][1].as_u64().unwrap() + counts[1][1].as_u64().unwrap();
    assert_eq!(taken, many);
    let yes = &object["by_class"][1];
    let recall = counts[1][1].as_f64().unwrap() / yes["records"].as_f64().unwrap();
    assert_eq!((yes["class"].as_str(), yes["recall"].as_f64()), (Some("yes"), Some(recall)));
    for flags in ["--threshold 2", "--threshold nan"] {
        let said = folder.reticent(&format!("predict m t.csv {flags}"));
        assert!(said.code == 2 && said.err.contains("a probability from 0 to 1"), "{said:?}");
    }
}

#[test]
fn pictures_are_drawn_and_say_that_they_are_not_private() {
    let folder = fitted("--target ill");
    let object = folder.reticent("evaluate m t.csv --plots pictures --json").ok().json();
    assert_eq!(object["plots"].as_array().unwrap().len(), 3);
    for name in ["roc", "precision-recall", "calibration"] {
        let svg = folder.read(&format!("pictures/{name}.svg"));
        assert!(
            svg.contains("<polyline") && svg.contains("NOT PRIVATE") && !svg.contains("NaN"),
            "{svg}"
        );
        assert!(svg.contains(">0.6<") && !svg.contains("0.60000"), "{svg}");
    }
    let said = folder.reticent("evaluate m t.csv --plots pictures");
    assert!(said.code == 2 && said.err.contains("is there already"), "{said:?}");
    folder.reticent("evaluate m t.csv --plots pictures --force").ok();
}

#[test]
fn nothing_of_somebody_else_is_overwritten_without_force() {
    let folder = fitted("--target ill");
    std::fs::create_dir_all(folder.path().join("mine")).unwrap();
    folder.write("mine/model.json", "{\"somebody\": \"else\"}");
    std::fs::create_dir_all(folder.path().join("theirs")).unwrap();
    folder.write("theirs/certificate.json", "not even JSON");
    std::fs::create_dir_all(folder.path().join("d")).unwrap();
    folder.write("d/schema.toml", "by = 'hand'\n");
    folder.write("run.bin", "an interrupted run");
    let before = folder.contents();
    let job = "--schema schema.toml --target ill --epsilon 4 --delta 1e-5 --iterations 2";
    for line in [
        "predict m t.csv --out t.csv".to_owned(),
        "predict m t.csv --out schema.toml".to_owned(),
        "predict m t.csv --out m/model.json".to_owned(),
        format!("fit t.csv {job} --out mine"),
        format!("fit t.csv {job} --out theirs"),
        format!("simulate --data t.csv {job} --split 4 --out mine"),
        format!("simulate --data t.csv {job} --split 4 --out new --checkpoint run.bin"),
        "demo --out d".to_owned(),
        "account --event gaussian:z=2 --plot schema.toml".to_owned(),
        "export m --to sql --out schema.toml".to_owned(),
    ] {
        let said = folder.reticent(&line);
        assert!(said.code == 2 && said.err.contains("is there already"), "{line}: {said:?}");
        assert_eq!(folder.contents(), before, "{line}");
    }
    folder.reticent(&format!("fit t.csv {job} --out mine --force")).ok();
    // A model of one's own is replaced with a remark, as before.
    let again = folder.reticent(&format!("fit t.csv {job} --out mine")).ok();
    assert!(again.err.contains("It replaces the model"), "{again:?}");
    let text = folder.reticent("predict m t.csv").ok().out;
    folder.reticent("predict m t.csv --out t.csv --force").ok();
    assert_eq!(folder.read("t.csv"), text);
}

#[test]
fn the_auc_of_many_classes_is_of_probabilities_and_says_which_average_it_is() {
    let folder = Folder::new();
    folder.write("schema.toml", SCHEMA.replace("['no', 'yes']", "['a', 'b', 'c']"));
    let mut text = String::from("age,town,ill\n");
    for (i, line) in csv(300).lines().skip(1).enumerate() {
        let age: usize = line.split(',').next().unwrap().parse().unwrap();
        let class = ["a", "b", "c"][(age / 34 + usize::from(i % 5 == 0)).min(2)];
        let (features, _) = line.rsplit_once(',').unwrap();
        text += &format!("{features},{class}\n");
    }
    folder.write("t.csv", &text);
    folder.reticent(&format!("fit t.csv --schema schema.toml {EXACT} --out m")).ok();
    let said = folder.reticent("evaluate m t.csv --json").ok().json();
    assert_eq!(said["auc_average"], "macro, one against the rest");
    // Again, from the probabilities that are printed.
    let predicted = folder.reticent("predict m t.csv").ok().out;
    let probabilities: Vec<Vec<f64>> = predicted
        .lines()
        .skip(1)
        .map(|line| line.split(',').skip(1).map(|p| p.parse().unwrap()).collect())
        .collect();
    let classes: Vec<&str> =
        text.lines().skip(1).map(|line| line.rsplit_once(',').unwrap().1).collect();
    let mut mean = 0.0;
    for (k, name) in ["a", "b", "c"].iter().enumerate() {
        let (mut won, mut pairs) = (0.0, 0.0);
        for (p, _) in probabilities.iter().zip(&classes).filter(|(_, class)| *class == name) {
            for (q, _) in probabilities.iter().zip(&classes).filter(|(_, class)| *class != name) {
                pairs += 1.0;
                won += if p[k] > q[k] {
                    1.0
                } else if p[k] == q[k] {
                    0.5
                } else {
                    0.0
                };
            }
        }
        mean += won / pairs / 3.0;
    }
    let auc = said["auc"].as_f64().unwrap();
    assert!((auc - mean).abs() < 1e-3, "{auc} is said, {mean} is counted");
    assert!(
        folder.reticent("evaluate m t.csv").ok().out.contains("AUC (macro, one against the rest)")
    );
}

#[test]
fn coefficients_are_shown_in_the_units_of_the_table_with_the_positive_class() {
    let folder = fitted("--target ill");
    let model = folder.reticent("inspect m --json").ok().json();
    let encoded = model["coefficients"][0]["values"][0].as_f64().unwrap();
    let unit = model["units"]["coefficients"][0]["values"][0].as_f64().unwrap();
    // Ages from 0 to 100 become -1 to 1.
    assert!((unit - encoded / 50.0).abs() < 1e-12 * encoded.abs());
    let intercept = model["units"]["intercept"][0].as_f64().unwrap();
    let expected = model["intercept"][0].as_f64().unwrap() - encoded;
    assert!((intercept - expected).abs() < 1e-12);
    assert_eq!(model["units"]["of"][0], "log-odds of ill = yes");
    let words = folder.reticent("inspect m").ok().out;
    assert!(words.contains("log-odds of ill = yes") && words.contains("per unit"), "{words}");
}

/// Tiny probabilities have an exponent and not three hundred zeros.
#[test]
fn numbers_are_short() {
    let folder = fitted("--target ill");
    let model = folder.read("m/model.json");
    let mut model: Value = serde_json::from_str(&model).unwrap();
    model["intercept"][0] = Value::from(-600.0);
    common::as_format_1(&mut model);
    folder.write("far.json", model.to_string());
    let text = folder.reticent("predict far.json t.csv").ok().out;
    assert!(text.lines().all(|line| line.len() < 80), "{text}");
    let p = text.lines().nth(1).unwrap().rsplit_once(',').unwrap().1.parse::<f64>().unwrap();
    assert!(p > 0.0 && p < 1e-200, "{p}");
}

#[test]
fn messages_have_no_numbers_of_three_hundred_digits() {
    let folder = fitted("--target ill");
    for line in [
        "fit t.csv --schema schema.toml --target ill --epsilon -1e300 --delta 1e-5",
        "fit t.csv --schema schema.toml --target ill --epsilon 1 --delta 1e-5 --clip 1e300",
        "account --event gaussian:z=1e300",
        "account --event gaussian:z=1 --epsilon 1e300",
        "calibrate --epsilon 1e-300 --delta 1e-300",
    ] {
        let said = folder.reticent(line);
        let words = said.out + &said.err;
        assert!(words.contains("1e300") || words.contains("1e-300"), "{line}: {words}");
        assert!(words.split_whitespace().all(|word| word.len() < 100), "{line}: {words}");
    }
}

#[test]
fn quiet_says_only_what_was_asked_for_and_what_must_be_said() {
    let folder = fitted("--target ill");
    folder.write("keyed.csv", keyed(20));
    let said = folder.reticent("predict m keyed.csv --quiet").ok();
    assert!(said.err.is_empty() && said.out.lines().count() == 21, "{said:?}");
    let said = folder.reticent("predict m keyed.csv --out p.csv --quiet").ok();
    assert!(said.err.is_empty() && said.out.is_empty(), "{said:?}");
    let line = "fit t.csv --schema schema.toml --target ill --epsilon 4 --delta 1e-5 --iterations 2 --out q --quiet";
    let said = folder.reticent(line).ok();
    assert!(said.err.is_empty() && said.out.is_empty(), "{said:?}");
    let said = folder.reticent(&format!("{line} --seed 1")).ok();
    assert!(said.err.starts_with("NOT PRIVATE") && said.out.is_empty(), "{said:?}");
}

/// A threshold by the shares that a fit was told, and a word about what weights do.
#[test]
fn shares_are_a_threshold_and_weights_are_remarked_on() {
    let plain = fitted("--target ill");
    let said = plain.reticent("predict m t.csv --threshold prior");
    assert!(said.code == 2 && said.err.contains("trained without --class-prior"), "{said:?}");
    let shares = "--target ill --class-prior no:0.6,yes:0.4";
    let told = fitted(shares);
    let by_share = told.reticent("predict m t.csv --threshold prior").ok();
    assert_eq!(by_share.out, told.reticent("predict m t.csv --threshold 0.4").ok().out);
    assert!(by_share.err.is_empty(), "{by_share:?}");
    let evaluated = told.reticent("evaluate m t.csv --threshold prior --json").ok().json();
    assert_eq!(evaluated["threshold"], 0.4);
    let weighted = fitted(&format!("{shares} --class-weight balanced"));
    let remarked = weighted.reticent("predict m t.csv").ok();
    assert!(remarked.err.contains("trained with class weights"), "{remarked:?}");
    let shown = weighted.reticent("inspect m").ok().out;
    assert!(shown.contains("class weights  no 0.8333, yes 1.250"), "{shown}");
}

/// What was estimated is shown in the units of the table, or why it is not.
#[test]
fn standard_errors_are_shown_or_it_is_said_why_not() {
    let folder = Folder::new();
    folder.write("schema.toml", SCHEMA);
    folder.write("t.csv", csv(4_000));
    let poor = "--target ill --epsilon 0.01 --delta 1e-6 --standard-errors 0.3 --out poor";
    folder.reticent(&format!("fit t.csv --schema schema.toml {poor}")).ok();
    let hidden = folder.reticent("inspect poor").ok().out;
    assert!(hidden.contains("No standard errors of the log-odds of ill = yes"), "{hidden}");
    folder.reticent("demo --out clinic").ok();
    let rich = "--epsilon 50 --delta 1e-6 --standard-errors 0.5 --seed 1 --out rich";
    let line =
        format!("fit clinic/patients.csv --schema clinic/schema.toml --target stroke {rich}");
    folder.reticent(&line).ok();
    let shown = folder.reticent("inspect rich").ok().out;
    for words in [
        "What moves the log-odds of stroke = yes in the population, estimated:",
        "smoker=yes, not smoker=no",
        "An interval covers sampling and the noise of privacy",
    ] {
        assert!(shown.contains(words), "{shown}");
    }
}

#[test]
fn a_kept_cell_is_no_formula_in_a_spreadsheet() {
    let folder = fitted("--target ill");
    let keys = ["=1+1", "+4179", "-5", "@SUM(A1)", "-x", "plain", "\"\t=1\""];
    let mut table = "id,age,town,ill\n".to_owned();
    keys.iter().for_each(|key| table += &format!("{key},30,A,no\n"));
    folder.write("keyed.csv", table);
    let said = folder.reticent("predict m keyed.csv --keep id").ok();
    assert!(said.out.contains("\n=1+1,") && said.err.contains("--for-spreadsheets"), "{said:?}");
    let said = folder.reticent("predict m keyed.csv --keep id --for-spreadsheets").ok();
    assert!(!said.err.contains("spreadsheet"), "{}", said.err);
    let cells: Vec<&str> = said.out.lines().skip(1).map(|l| l.split(',').next().unwrap()).collect();
    assert_eq!(cells, ["'=1+1", "+4179", "-5", "'@SUM(A1)", "'-x", "plain", "'\t=1"]);
}
