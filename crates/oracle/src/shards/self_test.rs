//! What numbers this machine computes, as a digest.
//!
//! Slopes use the platform's mathematics library, and scores the vector instructions of its processor.
//! Where two machines differ in a last bit, the model depends on which row lies where, and one record
//! that is replaced could move another to a machine that computes it otherwise. So all workers of a run
//! compute the same made-up numbers as the driver, to the bit: what functions of a score say, before
//! anything is rounded to a grid.

use std::sync::{Arc, OnceLock};

use reticent_data::{Csr, Dense, Rows, Table};
use reticent_noise::{Digest, Hasher};
use reticent_problem::losses::{self, Loss, LossTarget};

use crate::holder::{Holder, TableHolder};
use crate::queries::{RecordSum, wrong};
use crate::refusal::Refusal;
use crate::sums::{Private, with_rows};

const ROWS: usize = 2_048;
/// No multiple of what vector instructions take at a time.
const COLUMNS: usize = 37;

/// Functions of the platform that rows or slopes may go through.
const FUNCTIONS: [fn(f64) -> f64; 8] =
    [f64::exp, f64::exp_m1, f64::ln_1p, f64::tanh, f64::sqrt, f64::cbrt, f64::sin, log_of_size];

fn log_of_size(x: f64) -> f64 {
    x.abs().ln()
}

/// Made-up numbers from −1 to 1, the same everywhere: integers, divided by a power of two.
fn number(at: usize) -> f64 {
    let mixed = (at as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// Stands for the numbers that this machine computes. Computed once.
pub fn self_test() -> Digest {
    static FOUND: OnceLock<Digest> = OnceLock::new();
    *FOUND.get_or_init(computed)
}

fn computed() -> Digest {
    let mut hasher = Hasher::new("reticent self-test 1");
    let points: Vec<f64> = (0..ROWS).map(|at| 40.0 * number(at)).collect();
    for function in FUNCTIONS {
        hasher.numbers(&points.iter().map(|&x| function(x)).collect::<Vec<f64>>());
    }
    for entry in losses::CATALOGUE {
        for text in [entry.name.to_owned(), format!("{}:0.7", entry.name)] {
            if let Ok(loss) = losses::parse(&text, Some(3)) {
                hasher.field(text.as_bytes()).numbers(&slopes(&*loss, &points));
            }
        }
    }
    for rows in [dense(), sparse()] {
        hasher.numbers(&scores(rows));
    }
    hasher.finish()
}

/// The slopes and the curvatures of a loss along the points.
fn slopes(loss: &dyn Loss, points: &[f64]) -> Vec<f64> {
    let outputs = loss.outputs();
    let target = |i: usize| match loss.target() {
        LossTarget::Binary => [-1.0, 1.0][i % 2],
        LossTarget::Classes(classes) => (i % classes) as f64,
        LossTarget::Real => number(i),
    };
    let scores: Vec<f64> = points[..points.len() / outputs * outputs].to_vec();
    let targets: Vec<f64> = (0..scores.len() / outputs).map(target).collect();
    let mut found = vec![0.0; scores.len()];
    loss.derivatives(&scores, &targets, &mut found);
    let mut bent = vec![0.0; outputs * outputs];
    for (scores, &target) in scores.chunks_exact(outputs).zip(&targets) {
        loss.curvature(scores, target, &mut bent);
        found.extend_from_slice(&bent);
        found.push(loss.value(scores, target));
    }
    found
}

fn dense() -> Rows {
    let values = (0..64 * COLUMNS).map(number).collect();
    Rows::Dense(Dense { rows: 64, columns: COLUMNS, values })
}

fn sparse() -> Rows {
    let mut rows = Csr::empty(COLUMNS);
    for i in 0..64 {
        let indices: Vec<u32> = (0..COLUMNS as u32).filter(|j| (i + j) % 3 == 0).collect();
        let values: Vec<f64> = indices.iter().map(|&j| number((i * 41 + j) as usize)).collect();
        rows.push(&indices, &values);
    }
    Rows::Sparse(rows)
}

/// The scores of rows, which go through the vector instructions of this processor.
fn scores(rows: Rows) -> Vec<f64> {
    let (targets, names) = (vec![1.0; 64], vec![String::new(); COLUMNS]);
    let table = Table { rows, targets, users: None, weights: None, names };
    let Ok(private) = Private::by_record(table, 0.5) else { return Vec::new() };
    let at: Vec<f64> = (0..=COLUMNS).map(|j| number(7 * j + 3)).collect();
    let mut found = Vec::with_capacity(64);
    for i in 0..64 {
        let mut score = [0.0];
        with_rows!(private.rows(), rows => private.scores(rows, i, &at, &mut score));
        found.extend_from_slice(&score);
        found.push(private.norm_above(i));
    }
    found
}

/// What one record adds to a sum that counts all of them.
pub(super) fn count_of_one(what: &RecordSum<'_>) -> Result<i64, Refusal> {
    let rows = Rows::Dense(Dense { rows: 1, columns: 1, values: vec![0.0] });
    let names = vec![String::new()];
    let table = Table { rows, targets: vec![1.0], users: None, weights: None, names };
    let mut table = TableHolder::new(Private::by_record(table, 0.0)?);
    let parsed = losses::parse("logistic", Some(2));
    let loss: Arc<dyn Loss> = parsed.map_err(|_| wrong("there is no logistic loss"))?.into();
    let mut sum = [0];
    table.sum(what, &*loss, None, &mut sum)?;
    Ok(sum[0])
}
