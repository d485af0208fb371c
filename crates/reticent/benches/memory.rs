//! Peak memory of a fit of what is in memory, beside the caller's own arrays: one case a process,
//! because a peak is a process's. `benches/memory.py` runs all of them.
//!
//! ```sh
//! cargo bench -p reticent --bench memory -- rows 1000000 40
//! ```

#![allow(clippy::unwrap_used)]

use reticent::tables::{Dataset, Schema, Target};
use reticent::{Budget, Fit, Settings, Solver};

/// A number of `/proc/self/status`, in MB.
fn status(key: &str) -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("0 kB");
    line.trim_end_matches("kB").trim().parse::<f64>().unwrap_or(0.0) * 1024.0 / 1e6
}

fn main() {
    let given: Vec<String> = std::env::args().filter(|word| !word.starts_with("--")).collect();
    let [_, layout, n, d] = &given[..] else { return };
    let (n, d): (usize, usize) = (n.parse().unwrap(), d.parse().unwrap());
    let y: Vec<u32> = (0..n).map(|i| (i % 3 == 0).into()).collect();
    let value = |i: usize| (i * 37 % 101) as f64 / 100.0;
    let target = Target::classes(["no", "yes"]).unwrap();
    let (x, indptr, indices): (Vec<f64>, Vec<usize>, Vec<u32>) = match layout.as_str() {
        "csr" => (
            (0..n * d).map(value).collect(),
            (0..=n).map(|i| i * d).collect(),
            // Every fourth column of a wide table.
            (0..n * d).map(|i| (4 * (i % d)) as u32).collect(),
        ),
        _ => ((0..n * d).map(value).collect(), Vec::new(), Vec::new()),
    };
    let (dataset, schema) = match layout.as_str() {
        "rows" => {
            let schema = Schema::bounded(&vec![(0.0, 1.0); d], target).unwrap();
            (Dataset::dense(&x, n, d).unwrap(), schema)
        }
        "columns" => {
            let schema = Schema::bounded(&vec![(0.0, 1.0); d], target).unwrap();
            (Dataset::dense_by_column(&x, n, d).unwrap(), schema)
        }
        _ => {
            let schema = Schema::sparse_of_norm(4 * d, 1.0, target).unwrap();
            (Dataset::csr(&indptr, &indices, &x, 4 * d).unwrap(), schema)
        }
    };
    let data = dataset.with_targets(&y).unwrap();
    let few = Settings { iterations: Some(2), ..Settings::default() };
    let fit = Fit::new(schema).solver(Solver::ssadmm().with(few).unwrap());
    let job = fit.budget(Budget::new(1.0, 1e-7).unwrap()).check().unwrap();
    let before = status("VmRSS:");
    job.fit(&data).unwrap();
    let (peak, per) = (status("VmHWM:"), if layout == "csr" { 12.0 } else { 8.0 });
    let table = (n * d) as f64 * per / 1e6;
    println!("{layout} {n} {d} {before:.0} {:.0} {table:.0}", peak - before);
}
