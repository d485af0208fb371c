//! A pass over a table in a cache file against the pass over the same table in memory, and against
//! plain reads of the very file, from the memory of the system: processor time, within one run.
//!
//! `cached ROWS COLUMNS FOLDER`; threads by `RAYON_NUM_THREADS`. Half of the columns are whole numbers below 100, half are
//! numbers of six decimals, as in benches/cache.py. The last lines are for benches/roofline.py.

mod clock;

use std::fs::File;
use std::hint::black_box;
use std::path::Path;

use clock::best;
use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_oracle::queries::{ClippedMean, Gradient};
use reticent_oracle::{CachedTable, Entropy, Gate, PrivacyModel, Sampling};
use reticent_problem::losses;

/// Measurements of each, of which the least counts.
const RUNS: usize = 7;

/// Operations on an entry: two for its score, and four to scale, round and add it.
const PER_ENTRY: f64 = 6.0;

/// Bytes of rows of a block, as a table that is read has them.
const BLOCK: usize = 512 << 10;

/// Numbers without pattern, in [−½, ½).
fn weyl(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_749_894_9).fract() - 0.5
}

fn table(rows: usize, columns: usize) -> Table {
    let value = |i: usize| match (i % columns) % 2 {
        0 => ((weyl(i) * 100.0).floor() + 50.0) / 50.0 - 1.0,
        _ => (weyl(i) * 1e8).round() / 1e6 / 50.0,
    };
    let values = (0..rows * columns).map(value).collect();
    let targets = (0..rows).map(|i| if weyl(i * 7) > 0.0 { 1.0 } else { -1.0 }).collect();
    let rows = Rows::Dense(Dense { rows, columns, values });
    let names = (0..columns).map(|j| j.to_string()).collect();
    Table { rows, targets, users: None, weights: None, names }
}

/// Reads the file without a name that this process has open, in pieces, and says its length.
fn plain_scan(piece: &mut [u8]) -> u64 {
    let own = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let unnamed = own.filter(|entry| {
        std::fs::read_link(entry.path()).is_ok_and(|to| to.to_string_lossy().ends_with("(deleted)"))
    });
    let mut bytes = 0;
    for entry in unnamed {
        let Ok(mut file) = File::open(entry.path()) else { continue };
        while let Ok(read @ 1..) = std::io::Read::read(&mut file, piece) {
            bytes += read as u64;
        }
    }
    bytes
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).filter(|text| text != "--bench").collect();
    let [rows, columns, folder] = &given[..] else {
        // Where all benchmarks are run without arguments there is no folder.
        return println!("cached ROWS COLUMNS FOLDER: asked by benches/roofline.py");
    };
    let number = |text: &String| text.parse::<usize>().expect("a number");
    let (rows, columns) = (number(rows), number(columns));
    let opening = PrivacyModel {
        adjacency: Adjacency::ReplaceOne,
        unit: Unit::Record,
        view: View::Central,
        public_n: None,
        intercept: 1.0,
    };
    let loss = || losses::parse("logistic", None).expect("it is in the catalogue");
    let at: Vec<f64> = (0..=columns).map(weyl).collect();
    let mean = ClippedMean { clip: 1.0, noise_multiplier: 1.0, sampling: Sampling::Full };
    let table = table(rows, columns);
    let cached = CachedTable::of_table(&table, BLOCK, Path::new(folder)).expect("room on the disk");
    let mut piece = vec![0; 2 << 20];
    let length = plain_scan(&mut piece);
    let (scan, _) = best(RUNS, || {
        black_box(plain_scan(black_box(&mut piece)));
    });
    let ask = |mut gate: Gate| {
        best(RUNS, || {
            black_box(gate.ask(&Gradient { at: black_box(&at), mean }).expect("an ordinary query"));
        })
    };
    let (memory, memory_wall) =
        ask(Gate::open(table.into(), loss(), &opening, Entropy::seeded(1)).expect("a table"));
    let (file, file_wall) =
        ask(Gate::open_cached(cached, loss(), &opening, Entropy::seeded(1)).expect("a table"));
    let of_a_number = |seconds: f64| 1e9 * seconds / (rows * columns) as f64;
    println!(
        "{rows} × {columns}, {} threads, {:.0} MB in memory, {:.0} MB in the file, processor ms: plain scan {:.1}, in memory \
         {:.1} ({:.2} ns a number), in the file {:.1} ({:.2} ns): {:.2} scans, {:.2} passes in memory; wall ms: {:.1}, {:.1}",
        rayon::current_num_threads(),
        (8 * rows * columns) as f64 / 1e6,
        length as f64 / 1e6,
        1e3 * scan,
        1e3 * memory,
        of_a_number(memory),
        1e3 * file,
        of_a_number(file),
        file / scan,
        file / memory,
        1e3 * memory_wall,
        1e3 * file_wall
    );
    let (operations, bytes) = (PER_ENTRY * (rows * columns) as f64, length as f64);
    println!("roof\tfile\t{:e}", bytes / scan);
    println!(
        "reached\tgradient from a cache file\t{}\t{:e}",
        operations / bytes,
        operations / file
    );
}
