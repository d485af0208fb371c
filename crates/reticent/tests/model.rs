//! Real models of each kind against the published JSON Schema, what it must refuse, and the recipe
//! of docs/model.md.
#![allow(clippy::unwrap_used)]

use jsonschema::Validator;
use reticent::{Model, Prediction, Spec};
use serde_json::{Value, json};
use tempfile::TempDir;

const SCHEMA: &str = include_str!("../schemas/model.schema.json");

const COLUMNS: &str = "
row_norm = 1
missing_tokens = ['', '?']
[[column]]
name = 'age'
kind = 'numeric'
lower = 0
upper = 100
missing = 40
[[column]]
name = 'town'
kind = 'categorical'
categories = [['A', 'a'], 'B']
unknown = 'B'
[[column]]
name = 'who'
kind = 'ignored'
";

fn validator() -> Validator {
    jsonschema::validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap()
}

/// An exact model of a small table with the given target, its file and its folder.
fn fitted(target: &str, label: impl Fn(usize) -> String) -> (TempDir, Model, Value) {
    let folder = tempfile::tempdir().unwrap();
    let (data, schema) = (folder.path().join("t.csv"), folder.path().join("s.toml"));
    let mut text = String::from("age,town,who,y\n");
    for i in 0..90 {
        text += &format!(
            "{},{},p{i},{}\n",
            i * 37 % 120,
            ["A", "B", "C", "?"][i % 4],
            label(i * 37 % 120)
        );
    }
    std::fs::write(&data, text).unwrap();
    std::fs::write(
        &schema,
        format!("{COLUMNS}[[column]]\nname = 'y'\nkind = 'target'\n{target}\n"),
    )
    .unwrap();
    let spec = Spec::default().with(|it| {
        it.schema = Some(schema);
        it.algorithm = Some("exact".to_owned());
        it.penalty = Some("l2:1e-3".to_owned());
    });
    let model = spec.check().unwrap().fit(&*data).unwrap().model;
    let path = model.write(folder.path()).unwrap();
    let value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    (folder, model, value)
}

fn two() -> (TempDir, Model, Value) {
    fitted("classes = ['no', 'yes']", |age| if age > 60 { "yes" } else { "no" }.to_owned())
}

#[test]
fn models_of_every_kind_are_as_the_schema_says() {
    let three = fitted("classes = [1, 2, ['3', 'three']]", |age| (1 + age / 41).to_string());
    let number = fitted("lower = 0\nupper = 10\nmissing = 3", |age| (age % 10).to_string());
    for (_folder, model, value) in [two(), three, number] {
        let errors: Vec<String> =
            validator().iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}\n{value:#}");
        assert_eq!(value["coefficients"].as_array().unwrap().len(), 3);
        assert_eq!(value["outputs"].as_array().unwrap().len(), model.outputs().len());
    }
    let libsvm = json!({ "row_norm": 1.0, "features": 3, "column": [
        { "name": "label", "kind": "target", "classes": ["-1", "+1"] }
    ]});
    let (_folder, _, mut value) = two();
    value["preprocessing"] = libsvm;
    assert!(validator().is_valid(&value));
}

#[test]
fn what_is_no_model_is_refused() {
    let (_folder, _, good) = two();
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut value = good.clone();
        change(&mut value);
        assert!(!validator().is_valid(&value), "{value:#}");
    };
    refused(&|value| value["version"] = json!(3));
    refused(&|value| value["coefficients"] = json!([]));
    refused(&|value| value["coefficients"][0]["values"] = json!(["1"]));
    refused(&|value| value["more"] = json!(1));
    refused(&|value| value["preprocessing"]["column"][0]["kind"] = json!("numbers"));
    refused(&|value| drop(value.as_object_mut().unwrap().remove("certificate")));
}

/// A damaged file is refused or read; it is no panic. What it is read as cannot always be told from
/// a good one: a digit of a weight is as good as another.
#[test]
fn a_damaged_model_is_no_panic() {
    let (folder, _, good) = two();
    let (data, damaged) = (folder.path().join("new.csv"), folder.path().join("damaged.json"));
    std::fs::write(&data, "age,town\n25,a\n,C\n").unwrap();
    let good = serde_json::to_vec(&good).unwrap();
    let mut refused = 0;
    for i in 0..400_usize {
        let mut bytes = good.clone();
        let at = i * 7919 % bytes.len();
        bytes[at] ^= 1 << (i % 8);
        std::fs::write(&damaged, bytes).unwrap();
        match Model::read(&damaged) {
            Ok(model) => drop(model.predict(&data, None)),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > 100, "{refused}");
}

/// Scores and classes that do not belong together are found out when the file is read.
#[test]
fn a_model_whose_parts_do_not_fit_is_refused() {
    let (folder, _, good) = two();
    let path = folder.path().join("other.json");
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut value = good.clone();
        change(&mut value);
        std::fs::write(&path, value.to_string()).unwrap();
        Model::read(&path).unwrap_err().to_string()
    };
    let target =
        |value: &mut Value, key: &str, new: Value| value["preprocessing"]["column"][3][key] = new;
    let said = refused(&|value| target(value, "classes", json!(["a", "b", "c"])));
    assert!(said.contains("the target is 3 classes"), "{said}");
    refused(&|value| value["loss"] = json!("squared"));
    refused(&|value| value["loss"] = json!("unknown"));
    refused(&|value| value["outputs"] = json!(["no", "yes"]));
    let said = refused(&|value| value["coefficients"][0]["name"] = json!("aga"));
    assert!(said.contains("do not fit together"), "{said}");
}

/// docs/model.md tells how to score a record by hand; this does it.
#[test]
fn a_record_can_be_scored_by_hand() {
    let (folder, model, value) = two();
    let data = folder.path().join("new.csv");
    std::fs::write(&data, "age,town\n25,a\n,C\n150,?\n").unwrap();
    let weight = |name: &str| {
        let list = value["coefficients"].as_array().unwrap();
        list.iter().find(|each| each["name"] == name).unwrap()["values"][0].as_f64().unwrap()
    };
    let intercept = value["intercept"][0].as_f64().unwrap();
    let rows = [[-0.5, 1.0, 0.0], [-0.2, 0.0, 1.0], [1.0, 0.0, 0.0]];
    for (row, said) in rows.iter().zip(model.predict(&data, None).unwrap()) {
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let names = ["age", "town=A", "town=B"];
        let sum: f64 = row.iter().zip(names).map(|(x, name)| x * weight(name)).sum();
        let score = sum * (1.0 / length).min(1.0) + intercept;
        let Prediction::Class { probabilities, .. } = said else { panic!("classes") };
        assert!((probabilities[1] - 1.0 / (1.0 + (-score).exp())).abs() < 1e-12);
    }
}
