//! `auto` is the default, reads no data, yields to what the user sets, and can be typed by hand.
#![allow(clippy::unwrap_used)] // helpers of tests

use std::fmt::Write;
use std::path::Path;

use reticent::admm::Choice;
use reticent::{Error, Model, Spec};
use reticent_accountant::Adjacency;
use tempfile::TempDir;

const TABLE: &str = "table.libsvm";

/// `records` records with two features in LIBSVM format, of which `label` gives the label.
fn job(folder: &Path, records: u32, label: impl Fn(u32) -> bool) -> Spec {
    let mut text = String::new();
    for i in 0..records {
        let (a, b) =
            ((f64::from(i) * 0.754_877).fract() - 0.5, (f64::from(i) * 0.569_84).fract() - 0.5);
        writeln!(text, "{} 1:{a} 2:{b}", if label(i) { "+1" } else { "-1" }).unwrap();
    }
    std::fs::write(folder.join(TABLE), text).unwrap();
    Spec {
        features: Some(2),
        row_norm: Some(1.0),
        epsilon: Some(1.0),
        delta: Some(1e-5),
        adjacency: Some(Adjacency::AddRemove),
        public_n: Some(300),
        seed: Some(7),
        ..Spec::default()
    }
}

/// Fits the table that [`job`] wrote last.
fn fit(folder: &TempDir, spec: &Spec) -> Result<Model, Error> {
    Ok(spec.check()?.fit(&*folder.path().join(TABLE))?.model)
}

fn choice(model: &Model) -> Choice {
    model.certificate().choice.clone().unwrap()
}

#[test]
fn what_auto_chose_by_hand_is_the_same_run_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let spec = job(folder.path(), 300, |i| i % 3 == 0);
    let model = fit(&folder, &spec).unwrap();
    assert_eq!(model.certificate().algorithm, "auto");
    let chosen = choice(&model);
    let by_hand = Spec { algorithm: Some(chosen.algorithm), settings: chosen.settings, ..spec };
    let again = fit(&folder, &by_hand).unwrap();
    assert_eq!(again.coefficients(), model.coefficients());
    assert_eq!(again.intercept(), model.intercept());
    assert_eq!(again.certificate().ledger, model.certificate().ledger);
    assert_eq!(again.certificate().choice, None);
}

/// Neither a record more nor other labels change what is chosen: it is a function of what is
/// public.
#[test]
fn the_choice_reads_no_data() {
    let folder = tempfile::tempdir().unwrap();
    let one = choice(&fit(&folder, &job(folder.path(), 300, |i| i % 3 == 0)).unwrap());
    for (records, every) in [(301, 3), (90, 2)] {
        let other = job(folder.path(), records, |i| i % every == 0);
        assert_eq!(choice(&fit(&folder, &other).unwrap()), one);
    }
    let richer = Spec { epsilon: Some(4.0), ..job(folder.path(), 300, |i| i % 3 == 0) };
    assert_ne!(choice(&fit(&folder, &richer).unwrap()), one, "the budget is public, and counts");
}

#[test]
fn what_the_user_sets_stays() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = job(folder.path(), 300, |i| i % 3 == 0);
    spec.settings.iterations = Some(7);
    spec.settings.clip = Some(0.3);
    let settings = choice(&fit(&folder, &spec).unwrap()).settings;
    assert_eq!((settings.iterations, settings.clip), (Some(7), Some(0.3)));
    assert!(settings.step.is_some() && settings.momentum.is_some(), "the rest is chosen");
}

#[test]
fn a_setting_that_it_does_not_have_is_refused_before_the_data_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = job(folder.path(), 1, |_| true);
    spec.settings.rho = Some(0.5);
    let error = spec.check().unwrap_err().to_string();
    assert!(error.contains("auto has no such setting"), "{error}");
}

/// A table in other units gives the same model in those units, but for the rounding of the settings
/// and for the share of the intercept, whose constant stays 1.
#[test]
fn settings_follow_the_units_of_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let spec = job(folder.path(), 300, |i| i % 3 == 0);
    let at = |norm| {
        let spec = Spec { row_norm: Some(norm), intercept: Some(false), ..spec.clone() };
        choice(&fit(&folder, &spec).unwrap()).settings
    };
    let (one, ten) = (at(1.0), at(10.0));
    assert_eq!(one.iterations, ten.iterations);
    assert!((ten.clip.unwrap() / one.clip.unwrap() - 10.0).abs() < 0.1);
    let step = |settings: &reticent::admm::Settings| settings.step.unwrap().at(1, 1.0);
    assert!((step(&one) / step(&ten) - 100.0).abs() < 1.0);
}
