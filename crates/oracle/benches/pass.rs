//! The cost of a gradient against that of merely reading the same memory, as a ratio inside one
//! run.
//!
//! Dense: 200,000 × 100 against a plain sum over the same bytes. Sparse: the shape of a9a (32,561
//! rows, 14 of 123 features each) against a plain walk that multiplies and adds the same non-zeros.

use std::hint::black_box;
use std::time::Instant;

use rayon::prelude::*;
use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Csr, Dense, Rows, Table};
use reticent_oracle::queries::{ClippedMean, Gradient};
use reticent_oracle::{Entropy, Gate, Oracle, PrivacyModel, Sampling};
use reticent_problem::losses;

/// The best of several runs: noise on these machines only ever adds.
fn best(mut run: impl FnMut()) -> f64 {
    let once = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..60).map(|_| once(&mut run)).fold(f64::INFINITY, f64::min)
}

/// Numbers without pattern, in [−½, ½).
fn weyl(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_749_894_9).fract() - 0.5
}

fn table(rows: Rows) -> Table {
    let count = rows.len();
    let names = (0..rows.columns()).map(|j| j.to_string()).collect();
    let targets = (0..count).map(|i| if weyl(i * 7) > 0.0 { 1.0 } else { -1.0 }).collect();
    Table { rows, targets, users: None, weights: None, names }
}

fn gradient_seconds(table: &Table) -> f64 {
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit: Unit::Record,
        view: View::Central,
        public_n: None,
        intercept: 1.0,
    };
    let loss = losses::parse("logistic", None).expect("it is in the catalogue");
    let mut gate = Gate::open(table.clone().into(), loss, &opening, Entropy::seeded(1))
        .expect("an ordinary table");
    let at: Vec<f64> = (0..gate.shape().len()).map(weyl).collect();
    let params = ClippedMean { clip: 1.0, noise_multiplier: 1.0, sampling: Sampling::Full };
    best(|| {
        black_box(
            gate.ask(&Gradient { at: black_box(&at), mean: params }).expect("an ordinary query"),
        );
    })
}

fn sum(values: &[f64]) -> f64 {
    let (chunks, _) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    chunks.iter().for_each(|chunk| (0..8).for_each(|lane| lanes[lane] += chunk[lane]));
    lanes.iter().sum()
}

fn main() {
    let threads = rayon::current_num_threads();

    let (n, d) = (200_000, 100);
    let mut dense = Dense::empty(d);
    let columns: Vec<u32> = (0..d as u32).collect();
    for i in 0..n {
        let row: Vec<f64> = (0..d).map(|j| weyl(i * d + j)).collect();
        dense.push_sparse(&columns, &row);
    }
    let plain = best(|| {
        black_box(dense.values.par_chunks(dense.values.len() / threads).map(sum).sum::<f64>());
    });
    let ours = gradient_seconds(&table(Rows::Dense(dense)));
    println!(
        "dense {n} × {d}, {threads} threads: gradient {:.1} ms, plain sum {:.1} ms, ratio {:.2} (wanted: at most 2)",
        1e3 * ours,
        1e3 * plain,
        ours / plain
    );

    let (n, d, per_row) = (32_561, 123, 14);
    let mut csr = Csr::empty(d);
    for i in 0..n {
        let mut indices: Vec<u32> = (0..per_row)
            .map(|k| ((weyl(i * per_row + k) + 0.5) * 8.0) as u32 + 8 * k as u32)
            .collect();
        indices.iter_mut().for_each(|j| *j = (*j).min(d as u32 - 1));
        csr.push(&indices, &vec![1.0; per_row]);
    }
    let x: Vec<f64> = (0..d).map(weyl).collect();
    let walk = |range: std::ops::Range<usize>| -> f64 {
        range
            .map(|i| {
                let (indices, values) = csr.row(i);
                indices.iter().zip(values).map(|(&j, a)| a * x[j as usize]).sum::<f64>()
            })
            .sum()
    };
    let share = n.div_ceil(threads);
    let plain = best(|| {
        black_box(
            (0..threads)
                .into_par_iter()
                .map(|t| walk(t * share..((t + 1) * share).min(n)))
                .sum::<f64>(),
        );
    });
    let ours = gradient_seconds(&table(Rows::Sparse(csr)));
    println!(
        "sparse {n} × {d}, {per_row} a row, {threads} threads: gradient {:.3} ms, plain walk {:.3} ms, ratio {:.2} (wanted: at most 3)",
        1e3 * ours,
        1e3 * plain,
        ours / plain
    );
}
