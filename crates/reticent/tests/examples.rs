//! Every example runs to its end. They name nothing but `reticent`, so they also show that what a
//! caller needs can be named through it.
#![allow(unreachable_pub)]

#[path = "../examples/account_and_calibrate.rs"]
mod account_and_calibrate;
#[path = "../examples/fit_csv.rs"]
mod fit_csv;
#[path = "../examples/fit_matrix.rs"]
mod fit_matrix;
#[path = "../examples/own_loss.rs"]
mod own_loss;
#[path = "../examples/simulate_hospitals.rs"]
mod simulate_hospitals;

#[test]
fn account_and_calibrate() {
    account_and_calibrate::main().expect("it runs");
}

#[test]
fn fit_csv() {
    fit_csv::main().expect("it runs");
}

#[test]
fn fit_matrix() {
    fit_matrix::main().expect("it runs");
}

#[test]
fn own_loss() {
    own_loss::main().expect("it runs");
}

#[test]
fn simulate_hospitals() {
    simulate_hospitals::main().expect("it runs");
}

/// A new example gets its lines above.
#[test]
fn every_example_is_run() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples");
    let files = std::fs::read_dir(folder).expect("there are examples").flatten();
    let examples = files.filter(|file| file.path().extension().is_some_and(|end| end == "rs"));
    assert_eq!(examples.count(), 5);
}
