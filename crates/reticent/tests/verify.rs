//! Attacks on files: single edits of a model, any leaf of it, and edits by somebody who computes
//! the digests anew.

#![allow(clippy::type_complexity)] // a list of functions is plainer than a name for their type
#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::path::Path;

use reticent::accountant::Adjacency;
use reticent::{
    Certificate, CheckOutcome, Document, Guarantee, Identity, Model, PublicKey, Spec, Standing,
    Verification, verify,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// A private model of a small table, in its folder.
fn fitted(change: impl FnOnce(&mut Spec)) -> (TempDir, Model) {
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
    model.write(&folder.path().join("out")).unwrap();
    (folder, model)
}

/// Runs of every kind.
fn kinds() -> Vec<(&'static str, TempDir, Model)> {
    let all: [(&str, fn(&mut Spec)); 9] = [
        ("private", |_| {}),
        ("add-remove", |spec| {
            spec.guarantee.adjacency = Some(Adjacency::AddRemove);
            spec.guarantee.public_n = Some(60);
        }),
        ("poisson", |spec| spec.settings.sampling = Some("poisson:0.2".parse().unwrap())),
        ("fixed size", |spec| {
            spec.algorithm = Some("dp-sgd".to_owned());
            spec.settings.sampling = Some("wor:12".parse().unwrap());
        }),
        ("pure", |spec| {
            spec.algorithm = Some("amp".to_owned());
            spec.settings.iterations = None;
        }),
        ("seeded", |spec| spec.guarantee.seed = Some(1)),
        ("as published", |spec| {
            spec.algorithm = Some("mpadmm".to_owned());
            spec.settings.as_published = Some(true);
        }),
        ("tuned", |spec| {
            spec.penalty = None;
            spec.tune = Some(vec!["penalty=l2:[1e-3,1e-2]".to_owned()]);
        }),
        ("exact", |spec| {
            spec.algorithm = Some("exact".to_owned());
            spec.settings.iterations = None;
        }),
    ];
    let made = |(kind, change): (&'static str, fn(&mut Spec))| {
        let (folder, model) = fitted(change);
        (kind, folder, model)
    };
    all.into_iter().map(made).collect()
}

fn value(model: &Model) -> Value {
    serde_json::to_value(model).unwrap()
}

/// What is thought of a file with this text; `None` for one that is refused outright.
fn judged(text: &str, key: Option<&PublicKey>) -> Option<Verification> {
    Document::parse(text).ok().map(|document| document.verify(key))
}

fn fails(value: &Value) -> bool {
    judged(&value.to_string(), None).is_none_or(|found| !found.holds())
}

fn digest(value: &Value) -> String {
    let bytes = Sha256::digest(serde_json_canonicalizer::to_vec(value).unwrap());
    format!("sha256:{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// The digests that belong to a model as it now is: what a forger does who has no key.
fn resealed(mut model: Value) -> Value {
    let mut body = model.clone();
    body.as_object_mut().unwrap().remove("certificate");
    model["certificate"] = resealed_certificate(model["certificate"].take(), &digest(&body));
    model
}

fn resealed_certificate(mut certificate: Value, model: &str) -> Value {
    let fields = certificate.as_object_mut().unwrap();
    fields.insert("model".to_owned(), json!(model));
    fields.remove("digest");
    fields.remove("signature");
    let digest = digest(&certificate);
    certificate["digest"] = json!(digest);
    certificate
}

/// The single edits of a model file that were once shown as "certified yes", and a few more. The
/// last word says whether it is found out even when the digests are computed anew.
type Edit = (&'static str, fn(&mut Value), bool);

const EDITS: [Edit; 22] = [
    ("epsilon 1 to 0.01", |m| m["certificate"]["epsilon"] = json!(0.01), true),
    ("a larger epsilon", |m| m["certificate"]["epsilon"] = json!(5.0), true),
    ("delta", |m| m["certificate"]["delta"] = json!(1e-9), true),
    ("unit", |m| m["certificate"]["unit"] = json!("user"), true),
    ("view", |m| m["certificate"]["view"] = json!("local"), true),
    ("adjacency", |m| m["certificate"]["adjacency"] = json!("add-remove"), true),
    ("population", |m| m["certificate"]["population"] = json!(1_000_000), false),
    ("noise", |m| m["certificate"]["noise"] = json!("none"), true),
    ("an emptied ledger", |m| m["certificate"]["ledger"]["entries"] = json!([]), true),
    ("a changed event", |m| noise(m, 2.0), true),
    ("a cheaper event", |m| noise(m, 0.5), true),
    ("a dropped event", |m| count(m, -1), true),
    ("one more event", |m| count(m, 1), true),
    ("meaning", |m| m["certificate"]["meaning"] = json!("Perfectly private."), true),
    ("the curve", |m| m["certificate"]["curve"][0]["epsilon"] = json!(0.0), true),
    ("assumptions", |m| m["certificate"]["assumptions"] = json!(["none"]), true),
    ("accountant", |m| m["certificate"]["accountant"] = json!("pld"), true),
    ("algorithm", |m| m["algorithm"] = json!("exact"), true),
    ("a coefficient", |m| m["coefficients"][0]["values"] = json!([7.5]), false),
    ("the intercept", |m| m["intercept"] = json!([7.5]), false),
    ("a moved coefficient", swap_values, false),
    ("the row norm", |m| m["preprocessing"]["row_norm"] = json!(2.0), false),
];

fn noise(model: &mut Value, by: f64) {
    let entry = &mut model["certificate"]["ledger"]["entries"][0];
    let noise = &mut entry["event"]["mechanism"]["noise_multiplier"];
    *noise = json!(by * noise.as_f64().unwrap());
}

fn count(model: &mut Value, by: i64) {
    let count = &mut model["certificate"]["ledger"]["entries"][0]["count"];
    *count = json!(count.as_i64().unwrap() + by);
}

fn swap_values(model: &mut Value) {
    let first = model["coefficients"][0]["values"].take();
    let second = model["coefficients"][1]["values"].take();
    model["coefficients"][0]["values"] = second;
    model["coefficients"][1]["values"] = first;
}

#[test]
fn what_a_run_wrote_holds() {
    for (kind, folder, model) in kinds() {
        let out = folder.path().join("out");
        for path in [out.clone(), out.join("model.json"), out.join("certificate.json")] {
            let found = verify(&path, None).unwrap();
            assert!(found.holds(), "{kind}: {:?}", found.checks);
            assert_eq!(found.certificate, *model.certificate(), "{kind}");
        }
        assert!(model.verify(None).unwrap().holds(), "{kind}");
        assert!(model.certificate().verify(None).unwrap().holds(), "{kind}");
    }
}

#[test]
fn every_single_edit_is_found_out() {
    let (_folder, model) = fitted(|_| {});
    let good = value(&model);
    assert!(!fails(&good) && !fails(&resealed(good.clone())));
    for (name, edit, follows) in EDITS {
        let mut edited = good.clone();
        edit(&mut edited);
        assert_ne!(edited, good, "{name} changes nothing");
        let found = judged(&edited.to_string(), None);
        assert!(found.as_ref().is_none_or(|found| found.standing() == Standing::Fails), "{name}");
        assert!(found.is_none_or(|found| !found.certificate.certified), "{name}");
        // A model whose digest does not fit is not used either.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.json");
        std::fs::write(&path, edited.to_string()).unwrap();
        assert!(Model::read(&path).is_err(), "{name}");
        assert_eq!(fails(&resealed(edited)), follows, "{name}, the digests computed anew");
    }
}

#[test]
fn a_tainted_run_is_never_certified() {
    let (_folder, model) = fitted(|spec| spec.guarantee.seed = Some(1));
    let mut forged = value(&model);
    forged["certificate"]["certified"] = json!(true);
    assert!(fails(&forged) && fails(&resealed(forged.clone())));
    forged["certificate"]["reasons"] = json!([]);
    forged["certificate"]["epsilon"] = json!(1.0);
    forged["certificate"]["noise"] = json!("secure");
    let found = judged(&resealed(forged).to_string(), None).unwrap();
    assert!(!found.holds() && !found.certificate.certified);
}

/// Every place of a value that has no places inside, and every list and object, as pointers.
fn places(value: &Value, at: &str, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = name.replace('~', "~0").replace('/', "~1");
                places(value, &format!("{at}/{name}"), all);
            }
        }
        Value::Array(items) => {
            for (i, value) in items.iter().enumerate() {
                places(value, &format!("{at}/{i}"), all);
            }
        }
        _ => (),
    }
}

/// Other values of the same kind, and of another. (Two zeros are one number.)
fn changes(value: &Value) -> Vec<Value> {
    let same =
        |new: &Value| new == value || new.as_f64().is_some_and(|x| Some(x) == value.as_f64());
    all_changes(value).into_iter().filter(|new| !same(new)).collect()
}

fn all_changes(value: &Value) -> Vec<Value> {
    match value {
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(whole), _) => vec![json!(whole + 1), json!(whole / 2 + 2), json!("1")],
            (_, Some(x)) => vec![json!(x.next_up()), json!(-x - 1.0), json!(x * 0.5), json!(null)],
            _ => Vec::new(),
        },
        Value::String(text) => {
            let flipped: String = text.chars().map(|c| if c == 'a' { 'b' } else { c }).collect();
            vec![json!(format!("{text} ")), json!(""), json!(flipped), json!(1)]
        }
        Value::Bool(is) => vec![json!(!is)],
        Value::Null => vec![json!(0)],
        Value::Array(items) => {
            let mut longer = items.clone();
            longer.extend(items.first().cloned().or(Some(json!(0))));
            let (mut shorter, mut turned) = (items.clone(), items.clone());
            shorter.pop();
            turned.reverse();
            [longer, shorter, turned].map(Value::Array).into()
        }
        Value::Object(fields) => {
            let mut all = vec![Value::Object(fields.clone())];
            all[0]["another"] = json!(1);
            for name in fields.keys() {
                let mut fewer = fields.clone();
                fewer.remove(name);
                all.push(Value::Object(fewer));
            }
            all
        }
    }
}

/// Whatever is changed in a file, in one place, is found out. Reading a model already finds it, by
/// the digests that `verify` looks at too. (What nobody signed has no signature to leave out.)
#[test]
fn any_change_of_any_place_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    for (kind, _, model) in kinds() {
        for_each_change(&value(&model), |edited, what| {
            std::fs::write(&path, edited.to_string()).unwrap();
            assert!(Model::read(&path).is_err(), "{kind}: {what}");
        });
    }
}

/// The same of a certificate alone, and of a model by all that `verify` does.
#[test]
fn any_change_of_a_certificate_is_found_out() {
    for change in [(|_| {}) as fn(&mut Spec), |spec| spec.guarantee.seed = Some(1)] {
        let (_folder, model) = fitted(change);
        for good in [value(&model), serde_json::to_value(model.certificate()).unwrap()] {
            for_each_change(&good, |edited, what| assert!(fails(edited), "{what}"));
        }
    }
}

/// Every change of every place.
fn for_each_change(good: &Value, mut see: impl FnMut(&Value, &str)) {
    let mut all = Vec::new();
    places(good, "", &mut all);
    assert!(all.len() > 50, "{}", all.len());
    for place in all {
        for new in changes(good.pointer(&place).unwrap()) {
            let mut edited = good.clone();
            *edited.pointer_mut(&place).unwrap() = new.clone();
            see(&edited, &format!("{place} = {new}"));
        }
    }
}

/// What follows from the ledger cannot be changed even by somebody who computes the digests anew.
#[test]
fn a_forger_without_a_key_cannot_change_what_follows() {
    let (_folder, model) = fitted(|_| {});
    let good = serde_json::to_value(model.certificate()).unwrap();
    let digest = good["model"].as_str().unwrap().to_owned();
    let mut all = Vec::new();
    places(&good, "", &mut all);
    // Facts, which follow from nothing else; what follows from δ and the ledger moves with them.
    let facts = ["algorithm", "choice", "population", "reticent", "model", "digest"];
    let is_fact = |place: &str| facts.contains(&place.split('/').nth(1).unwrap_or_default());
    for place in all.iter().filter(|place| !is_fact(place) && !place.is_empty()) {
        for new in changes(good.pointer(place).unwrap()) {
            let mut edited = good.clone();
            *edited.pointer_mut(place).unwrap() = new.clone();
            let edited = resealed_certificate(edited, &digest);
            // More may be assumed; in the last digit machines may differ, on either side; what is
            // read as the same says the same; and all orders of the entries cost the same.
            let more = place == "/assumptions" && new.as_array().unwrap().len() > 6;
            let last_digit = close(good.pointer(place).unwrap(), &new);
            let immaterial = || same(&edited, model.certificate());
            let reordered =
                place == "/ledger/entries" && sorted(&new) == sorted(good.pointer(place).unwrap());
            let allowed = more || last_digit || reordered;
            assert!(allowed || fails(&edited) || immaterial(), "{place} = {new}");
        }
    }
}

/// The elements in an order of their own.
fn sorted(list: &Value) -> Vec<String> {
    let mut all: Vec<String> = list.as_array().unwrap().iter().map(Value::to_string).collect();
    all.sort();
    all
}

/// Whether a file is read as this certificate, but for its digest.
fn same(edited: &Value, certificate: &Certificate) -> bool {
    let mut read: Certificate = serde_json::from_value(edited.clone()).unwrap();
    read.digest = certificate.digest.clone();
    read == *certificate
}

fn close(a: &Value, b: &Value) -> bool {
    a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| (a - b).abs() <= 1e-9 * a.abs())
}

/// Two readers may take different ones of two fields with one name.
#[test]
fn a_name_that_stands_twice_is_refused() {
    let (_folder, model) = fitted(|_| {});
    let text = model.to_json().unwrap();
    assert!(judged(&text, None).unwrap().holds());
    for (name, value) in [("epsilon", "0.01"), ("unit", "\"user\""), ("certified", "true")] {
        let at = text.find(&format!("\"{name}\"")).unwrap();
        let twice = format!("{}\"{name}\": {value},\n{}", &text[..at], &text[at..]);
        assert!(judged(&twice, None).is_none(), "{name}");
    }
}

#[test]
fn a_signature_binds_the_file_to_a_key() {
    let (folder, mut model) = fitted(|_| {});
    let (mine, path) = Identity::create(&folder.path().join("mine")).unwrap();
    let (other, _) = Identity::create(&folder.path().join("other")).unwrap();
    let key = PublicKey::read(&path).unwrap();
    let unsigned = value(&model);
    model.sign(&mine).unwrap();
    let good = value(&model);
    let holds = |value: &Value, key| judged(&value.to_string(), key).unwrap().holds();
    assert!(holds(&good, None) && holds(&good, Some(&key)));
    let found = judged(&good.to_string(), Some(&key)).unwrap();
    assert_eq!(found.signer, Some(key.text()));
    assert_eq!(found.certificate, *model.certificate());
    // By nobody, by another, by me for another file.
    assert!(holds(&unsigned, None) && !holds(&unsigned, Some(&key)));
    model.sign(&other).unwrap();
    assert!(holds(&value(&model), None) && !holds(&value(&model), Some(&key)));
    let (_folder, another) = fitted(|_| {});
    let mut moved = value(&another);
    moved["certificate"]["signature"] = good["certificate"]["signature"].clone();
    assert!(!holds(&moved, None));
    // A forger computes the digests anew; the signature stays behind.
    for (name, edit, _) in EDITS {
        let mut edited = good.clone();
        edit(&mut edited);
        let mut edited = resealed(edited);
        edited["certificate"]["signature"] = good["certificate"]["signature"].clone();
        let found = judged(&edited.to_string(), Some(&key));
        assert!(found.is_none_or(|found| !found.holds()), "{name}");
    }
    for name in ["key", "value"] {
        for new in changes(&good["certificate"]["signature"][name]) {
            let mut edited = good.clone();
            edited["certificate"]["signature"][name] = new.clone();
            assert!(fails(&edited), "{name} = {new}");
        }
    }
}

/// The two files of a folder are of one run.
#[test]
fn a_mixed_pair_is_found_out() {
    let ((a, _), (b, _)) = (fitted(|_| {}), fitted(|_| {}));
    let (a, b) = (a.path().join("out"), b.path().join("out"));
    std::fs::copy(a.join("certificate.json"), b.join("certificate.json")).unwrap();
    let found = verify(&b, None).unwrap();
    let failing: Vec<&str> = found.failures().map(|check| check.name.as_str()).collect();
    assert_eq!(failing, ["beside"]);
    // Each by itself is as it was.
    assert!(verify(&b.join("model.json"), None).unwrap().holds());
    assert!(verify(&b.join("certificate.json"), None).unwrap().holds());
}

/// A file as version 0.1.0 wrote it, before there were digests.
#[test]
fn a_file_of_format_1_is_read_and_not_verified() {
    let (folder, model) = fitted(|_| {});
    let mut old = value(&model);
    old["version"] = json!(1);
    old["certificate"]["version"] = json!(1);
    for name in ["model", "digest"] {
        old["certificate"].as_object_mut().unwrap().remove(name);
    }
    let found = judged(&old.to_string(), None).unwrap();
    assert_eq!(found.standing(), Standing::Unverifiable, "{:?}", found.checks);
    assert!(!found.holds() && found.certificate.certified);
    let path = folder.path().join("old.json");
    std::fs::write(&path, old.to_string()).unwrap();
    let mut read = Model::read(&path).unwrap();
    assert_eq!(read.coefficients(), model.coefficients());
    let (identity, _) = Identity::create(&folder.path().join("id")).unwrap();
    assert!(read.sign(&identity).is_err());
    // Its statement is held to its ledger all the same.
    old["certificate"]["epsilon"] = json!(0.01);
    let found = judged(&old.to_string(), None).unwrap();
    assert!(found.standing() == Standing::Fails && !found.certificate.certified);
    // Taking the digests away does not make an old file of a new one.
    let mut bare = value(&model);
    bare["certificate"].as_object_mut().unwrap().remove("digest");
    assert_eq!(judged(&bare.to_string(), None).unwrap().standing(), Standing::Fails);
}

/// Files that were written once are read for ever, and the words of a format are part of it: whoever
/// changes a sentence of a statement makes a new format, and keeps the old one for old files. (A
/// tighter count before the next release needs new files here; after it, old ones are on the safe
/// side.)
#[test]
fn what_was_written_once_is_still_read_and_still_holds() {
    let judged = |text| Document::parse(text).unwrap().verify(None);
    let old = judged(include_str!("files/model-1.json"));
    assert_eq!(old.standing(), Standing::Unverifiable, "{:?}", old.checks);
    let signer = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/signer.pub"));
    let signer = PublicKey::read(signer).unwrap();
    let signed = Document::parse(include_str!("files/model-2.json")).unwrap().verify(Some(&signer));
    assert!(signed.holds() && signed.certificate.certified, "{:?}", signed.checks);
    let seeded = judged(include_str!("files/certificate-2-seeded.json"));
    assert!(seeded.holds() && !seeded.certificate.certified, "{:?}", seeded.checks);
}

/// Another version may have counted less tightly, and never more so; this one counts as it does.
#[test]
fn another_version_may_promise_less_and_not_more() {
    let (_folder, model) = fitted(|_| {});
    let said_by = |version: &str, epsilon: f64| {
        let mut certificate = model.certificate().clone();
        certificate.reticent = version.to_owned();
        let by = epsilon / certificate.epsilon;
        let round = |x: f64| format!("e^{}", (x * 1e4).ceil() / 1e4);
        let from = certificate.meaning.split("at most ").nth(1).unwrap().split(',').next().unwrap();
        let to = format!("{} = {}", round(epsilon), (epsilon.exp() * 1e4).ceil() / 1e4);
        certificate.meaning = certificate.meaning.replace(from, &to);
        certificate.epsilon = epsilon;
        certificate.curve.iter_mut().for_each(|point| point.epsilon *= by);
        certificate.mu = certificate.mu.map(|mu| mu * by);
        certificate.rdp.iter_mut().for_each(|order| order.epsilon *= by * by);
        let value = serde_json::to_value(&certificate).unwrap();
        let digest = certificate.model.clone().unwrap();
        judged(&resealed_certificate(value, &digest).to_string(), None).unwrap()
    };
    for version in ["0.1.0", "9.9.9"] {
        let found = said_by(version, 1.5);
        assert!(found.holds() && found.certificate.epsilon == 1.5, "{:?}", found.checks);
        assert!(!said_by(version, 0.5).holds());
    }
    let ours = said_by(env!("CARGO_PKG_VERSION"), 1.5);
    assert!(!ours.holds(), "{:?}", ours.checks);
}

#[test]
fn a_document_is_a_model_or_a_certificate() {
    let (folder, model) = fitted(|_| {});
    let out = folder.path().join("out");
    let read = |path: &Path| Document::read(path);
    assert!(read(&out).unwrap().model().is_some());
    assert!(read(&out.join("certificate.json")).unwrap().model().is_none());
    assert!(read(&folder.path().join("table.libsvm")).is_err() && read(folder.path()).is_err());
    std::fs::remove_file(out.join("model.json")).unwrap();
    let alone: &Certificate = &read(&out).unwrap().certificate().clone();
    assert_eq!(alone, model.certificate());
    assert!(Model::read(&out.join("certificate.json")).is_err());
    let found = verify(&out, None).unwrap();
    assert!(found.checks.iter().any(|check| check.outcome == CheckOutcome::Absent));
}

/// Any δ and any ε can be asked of a certificate.
#[test]
fn a_certificate_answers_for_other_numbers() {
    let (_folder, model) = fitted(|_| {});
    let certificate = model.certificate();
    assert_eq!(certificate.epsilon_at(certificate.delta).unwrap(), certificate.epsilon);
    let delta = certificate.profile(&[certificate.epsilon]).unwrap()[0].1;
    assert!(delta <= certificate.delta * (1.0 + 1e-9));
    let missed = certificate.trade_off(&[0.05]).unwrap()[0].1;
    assert!(missed > 0.5 && missed < 0.95, "{missed}");
    let (_folder, seeded) = fitted(|spec| spec.guarantee.seed = Some(1));
    let seeded = seeded.certificate();
    assert_eq!(seeded.epsilon_at(1e-5).unwrap(), f64::INFINITY);
    assert_eq!(seeded.profile(&[1.0]).unwrap(), [(1.0, 1.0)]);
    assert_eq!(seeded.trade_off(&[0.05]).unwrap(), [(0.05, 0.0)]);
}
