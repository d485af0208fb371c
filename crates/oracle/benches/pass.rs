//! The cost of a gradient against that of merely reading the same memory, as a ratio inside one
//! run.
//!
//! Dense: 200,000 × 100 against a plain sum over the same bytes. Sparse: the shape of a9a (32,561
//! rows, 14 of 123 features each) against a plain walk that multiplies and adds the same non-zeros.
//!
//! What is measured is processor time of all threads. The last lines are for benches/roofline.py: what the
//! machine can, and what the gradients reach of it.

mod clock;

use std::hint::black_box;

use clock::best;
use rayon::prelude::*;
use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Csr, Dense, Rows, Table};
use reticent_oracle::queries::{ClippedMean, Gradient};
use reticent_oracle::{Entropy, Gate, Oracle, PrivacyModel, Sampling};
use reticent_problem::losses;

/// Measurements of each, of which the least counts.
const RUNS: usize = 5;

/// Operations on an entry: two for its score, and four to scale, round and add it.
const PER_ENTRY: f64 = 6.0;

/// Multiplications and additions that wait for nothing but each other.
struct Peak;

impl Peak {
    const STEPS: usize = 1 << 20;
    const AT_ONCE: usize = 16;

    /// Operations of a run.
    fn operations() -> f64 {
        let lanes = pulp::Arch::new().dispatch(Lanes);
        (2 * Peak::STEPS * Peak::AT_ONCE * lanes) as f64
    }
}

impl pulp::WithSimd for Peak {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, simd: S) {
        let (by, plus) = (simd.splat_f64s(black_box(0.5)), simd.splat_f64s(black_box(0.5)));
        let mut sums: [S::f64s; Peak::AT_ONCE] = std::array::from_fn(|_| plus);
        for _ in 0..Peak::STEPS {
            for sum in &mut sums {
                *sum = simd.add_f64s(simd.mul_f64s(*sum, by), plus);
            }
        }
        sums.iter().for_each(|sum| {
            black_box(simd.reduce_sum_f64s(*sum));
        });
    }
}

/// How many doubles the widest vectors hold.
struct Lanes;

impl pulp::WithSimd for Lanes {
    type Output = usize;

    fn with_simd<S: pulp::Simd>(self, _: S) -> usize {
        S::F64_LANES
    }
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
    best(RUNS, || {
        black_box(
            gate.ask(&Gradient { at: black_box(&at), mean: params }).expect("an ordinary query"),
        );
    })
    .0
}

fn sum(values: &[f64]) -> f64 {
    let (chunks, _) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    chunks.iter().for_each(|chunk| (0..8).for_each(|lane| lanes[lane] += chunk[lane]));
    lanes.iter().sum()
}

/// All threads together: each processor second is one of theirs.
fn rate(count: f64, seconds: f64) -> f64 {
    rayon::current_num_threads() as f64 * count / seconds
}

fn main() {
    let threads = rayon::current_num_threads();
    of_dense_rows(threads);
    of_sparse_rows(threads);
}

fn of_dense_rows(threads: usize) {
    let (peak, _) = best(RUNS, || pulp::Arch::new().dispatch(Peak));
    let (n, d) = (200_000, 100);
    let mut dense = Dense::empty(d);
    let columns: Vec<u32> = (0..d as u32).collect();
    for i in 0..n {
        let row: Vec<f64> = (0..d).map(|j| weyl(i * d + j)).collect();
        dense.push_sparse(&columns, &row);
    }
    let (plain, _) = best(RUNS, || {
        black_box(dense.values.par_chunks(dense.values.len() / threads).map(sum).sum::<f64>());
    });
    let ours = gradient_seconds(&table(Rows::Dense(dense)));
    println!(
        "dense {n} × {d}, {threads} threads: gradient {:.1} ms, plain sum {:.1} ms, ratio {:.2} (wanted: at most 2)",
        1e3 * ours,
        1e3 * plain,
        ours / plain
    );

    let (entries, bytes) = ((n * d) as f64, (8 * n * d) as f64);
    println!("roof\toperations\t{:e}", rate(Peak::operations(), peak));
    println!("roof\tbytes\t{:e}", rate(bytes, plain));
    let reached = rate(PER_ENTRY * entries, ours);
    println!("reached\tdense gradient\t{}\t{reached:e}", PER_ENTRY / 8.0);
}

fn of_sparse_rows(threads: usize) {
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
    let (plain, _) = best(RUNS, || {
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
    let reached = rate(PER_ENTRY * (n * per_row) as f64, ours);
    println!("reached\tsparse gradient\t{}\t{reached:e}", PER_ENTRY / 12.0);
}
