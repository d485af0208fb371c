//! The experiments of the papers, run again from Python.

use std::path::PathBuf;

use pyo3::exceptions::{PyFileNotFoundError, PyKeyboardInterrupt, PyOSError, PyValueError};
use pyo3::prelude::*;
use reticent_reproduction::{
    CATALOGUE, Context, Experiment, ExperimentError, ExperimentReport, Explained, find,
};

use crate::error::Failure;
use crate::watch::{attended, unless};

/// A claim: what is said, on which version, what came of it, the numbers, its class and why.
type Checked = (String, &'static str, &'static str, String, &'static str, &'static str);

/// What came of one: claims, figures
/// (name, title, caption, picture, numbers as CSV), what is to be known, and tables that stood in.
type Reproduced =
    (Vec<Checked>, Vec<(String, String, String, String, String)>, Vec<String>, Vec<String>);

/// Name, paper, what it is about, the tables that it needs and what the paper claims.
type Listed = (&'static str, &'static str, &'static str, Vec<&'static str>, Vec<&'static str>);

/// Every experiment.
#[pyfunction]
pub fn experiments() -> Vec<Listed> {
    let told = |one: &&dyn Experiment| {
        let needs = one.needs().iter().map(|table| table.name()).collect();
        (one.id(), one.paper(), one.about(), needs, one.claims().to_vec())
    };
    CATALOGUE.iter().map(told).collect()
}

/// Runs one. Who presses Ctrl-C stops it before its next run.
#[pyfunction]
pub fn reproduce(
    py: Python<'_>,
    name: &str,
    data_dir: Option<PathBuf>,
    quick: bool,
    seeds: Option<u64>,
) -> PyResult<Reproduced> {
    let Some(experiment) = find(name) else {
        let names: Vec<_> = CATALOGUE.iter().map(|one| one.id()).collect();
        let why = format!("there is no experiment {name}; there are {}", names.join(", "));
        return Err(PyValueError::new_err(why));
    };
    let done = attended(py, |stop| {
        let mut tell = |_: &str| unless(stop);
        let mut context =
            Context { data_dir, quick, seeds, rows: None, store: None, tell: &mut tell };
        experiment.run(&mut context)
    })?;
    done.map(|report| told(experiment, report)).map_err(in_python)
}

fn told(experiment: &dyn Experiment, report: ExperimentReport) -> Reproduced {
    let figures = report.pictures().into_iter();
    let claims = report.claims.into_iter().map(|one| {
        let Explained { words, why, .. } = Explained::of(experiment, &one);
        (one.text, one.version.words(), one.verdict.words(), one.numbers, words, why)
    });
    let figures = figures.map(|one| {
        let (svg, csv) = (one.svg(), one.csv());
        (one.name, one.title, one.caption, svg, csv)
    });
    (claims.collect(), figures.collect(), report.notes, report.stand_ins)
}

fn in_python(error: ExperimentError) -> PyErr {
    let message = error.to_string();
    match error {
        ExperimentError::Stopped => PyKeyboardInterrupt::new_err(message),
        ExperimentError::Missing { .. } => PyFileNotFoundError::new_err(message),
        ExperimentError::File { .. } => PyOSError::new_err(message),
        ExperimentError::Job(error) => Failure::from(error).into(),
        _ => PyValueError::new_err(message),
    }
}
