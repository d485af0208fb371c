//! Real certificates of each kind against the published JSON Schema, and what the schema must
//! refuse.
// The lint spares test functions but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use std::fmt::Write;

use jsonschema::Validator;
use reticent::accountant::{Adjacency, Mechanism};
use reticent::{Guarantee, Spec};
use serde_json::{Value, json};

const SCHEMA: &str = include_str!("../schemas/certificate.schema.json");

fn validator() -> Validator {
    jsonschema::validator_for(&serde_json::from_str(SCHEMA).unwrap()).unwrap()
}

/// The certificate of a small job, read back from the file that was written for it.
fn certificate(change: impl FnOnce(&mut Spec)) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("table.libsvm");
    let mut text = String::new();
    for i in 0..60 {
        writeln!(text, "{} 1:{} 2:1", if i % 3 == 0 { "+1" } else { "-1" }, f64::from(i % 7) / 7.0)
            .unwrap();
    }
    std::fs::write(&data, text).unwrap();
    let mut spec = Spec::default().with(|it| {
        it.guarantee = Guarantee::default().with(|it| {
            it.epsilon = Some(1.0);
            it.delta = Some(1e-5);
        });
        it.features = Some(2);
        it.row_norm = Some(1.0);
    });
    spec.settings.iterations = Some(5);
    change(&mut spec);
    let model = spec.check().unwrap().fit(&*data).unwrap().model;
    let path = model.write(folder.path()).unwrap().with_file_name("certificate.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn kinds() -> Vec<(&'static str, Value)> {
    vec![
        ("private", certificate(|_| {})),
        (
            "add-remove",
            certificate(|spec| {
                spec.guarantee.adjacency = Some(Adjacency::AddRemove);
                spec.guarantee.public_n = Some(60);
            }),
        ),
        (
            "poisson",
            certificate(|spec| spec.settings.sampling = Some("poisson:0.2".parse().unwrap())),
        ),
        ("seeded", certificate(|spec| spec.guarantee.seed = Some(1))),
        (
            "as published",
            certificate(|spec| {
                spec.algorithm = Some("mpadmm".to_owned());
                spec.settings.as_published = Some(true);
            }),
        ),
        (
            "tuned",
            certificate(|spec| {
                spec.penalty = None;
                spec.tune = Some(vec!["penalty=l2:[1e-3,1e-2]".to_owned()]);
            }),
        ),
        (
            "exact",
            certificate(|spec| {
                spec.algorithm = Some("exact".to_owned());
                spec.settings.iterations = None;
            }),
        ),
    ]
}

#[test]
fn certificates_of_every_kind_are_valid() {
    let validator = validator();
    for (kind, certificate) in kinds() {
        let errors: Vec<String> =
            validator.iter_errors(&certificate).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{kind}: {errors:?}");
        let uncertified = matches!(kind, "seeded" | "exact" | "as published");
        assert_eq!(certificate["certified"], !uncertified, "{kind}");
        assert_eq!(certificate["epsilon"] == "infinity", uncertified, "{kind}");
        assert_eq!(certificate.get("counted").is_some(), kind == "seeded", "{kind}");
        assert_eq!(certificate.get("claimed").is_some(), kind == "as published", "{kind}");
        assert_eq!(certificate["noise"] == "seeded, NOT PRIVATE", kind == "seeded", "{kind}");
        assert!(certificate["rdp"].as_array().unwrap().len() <= 12, "{kind}");
        let says_no = certificate["meaning"].as_str().unwrap().starts_with("No guarantee");
        assert_eq!(says_no, uncertified, "{kind}");
    }
}

/// The claim is in its own field, with the number of the erratum beside it, and nothing else has a
/// finite number.
#[test]
fn a_run_as_published_is_a_claim_and_not_a_guarantee() {
    // A paper with an accountant of its own has more noise than its claim needs by ours.
    for (algorithm, erratum, least) in [
        ("mpadmm", 4, 0.5),
        ("general", 13, 0.99),
        ("sadmm", 11, 0.99),
        ("ssadmm", 18, 0.5),
        ("vradmm", 16, 0.5),
    ] {
        let certificate = certificate(|spec| {
            spec.algorithm = Some(algorithm.to_owned());
            spec.settings.as_published = Some(true);
            if algorithm == "vradmm" {
                spec.settings.iterations = None;
                (spec.settings.outer, spec.settings.inner) = (Some(1), Some(5));
            }
        });
        let claimed = certificate["claimed"].as_f64().unwrap();
        assert!((least..=1.0).contains(&claimed), "{algorithm}: {claimed}");
        let reasons = certificate["reasons"].to_string();
        assert!(reasons.contains(&format!("erratum E{erratum}")), "{algorithm}: {reasons}");
        assert!(
            certificate["curve"].as_array().unwrap().iter().all(|p| p["epsilon"] == "infinity")
        );
        assert!(certificate.get("mu").is_none(), "{algorithm}");
        assert!(
            certificate["meaning"].as_str().unwrap().contains("The paper claims"),
            "{algorithm}"
        );
    }
}

#[test]
fn the_schema_refuses_what_a_certificate_must_not_say() {
    let validator = validator();
    let good = certificate(|_| {});
    for (pointer, value) in [
        ("/epsilon", json!("infinity")),
        ("/epsilon", json!(-1)),
        ("/delta", json!(-1e-5)),
        ("/delta", json!(1)),
        ("/noise", json!("seeded, NOT PRIVATE")),
        ("/reasons", json!(["a reason"])),
        ("/adjacency", json!("replace-two")),
        ("/ledger/taints", json!(["seeded-noise"])),
        ("/ledger/entries/0/count", json!(0)),
        ("/version", json!(3)),
        ("/version", json!(0)),
        ("/digest", json!("sha256:00")),
        ("/model", json!(null)),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value.clone();
        assert!(!validator.is_valid(&bad), "{pointer} = {value}");
    }
    let mut bad = good.clone();
    bad["claimed"] = json!(1.0);
    assert!(!validator.is_valid(&bad));
    let mut bad = good.clone();
    bad["counted"] = json!(1.0);
    assert!(!validator.is_valid(&bad));
    // What is not certified has no number to promise.
    let mut bad = certificate(|spec| spec.guarantee.seed = Some(1));
    bad["epsilon"] = json!(1.0);
    assert!(!validator.is_valid(&bad));
    let mut bad = good.clone();
    bad["extra"] = json!(1);
    assert!(!validator.is_valid(&bad));
    // Format 1 had no digest, and format 2 has one.
    let mut old = good;
    for name in ["model", "digest"] {
        old.as_object_mut().unwrap().remove(name);
    }
    assert!(!validator.is_valid(&old));
    old["version"] = json!(1);
    assert!(validator.is_valid(&old));
}

#[test]
fn the_schema_knows_every_word_of_the_vocabulary() {
    use reticent::accountant::{Unit, View};
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let words = |name: &str| schema["$defs"][name]["enum"].clone();
    assert_eq!(words("adjacency"), json!(Adjacency::ALL));
    assert_eq!(words("unit"), json!(Unit::ALL));
    assert_eq!(words("view"), json!(View::ALL));
    assert_eq!(Mechanism::KINDS.len(), Mechanism::ABOUT.len());
}
