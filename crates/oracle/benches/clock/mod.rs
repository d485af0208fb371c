//! What a benchmark measures: processor time, which a busy machine changes less than the time on the wall.

use std::time::Instant;

/// Processor seconds of all threads so far, as Linux counts them.
fn processor_seconds() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let spent = tasks.filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    });
    spent.sum::<f64>() / 1e9
}

/// What a measurement takes at least: the system brings its counts up to date every few milliseconds.
const LEAST: f64 = 0.2;

/// The least processor seconds and the least wall seconds of a run, of several measurements: what else
/// the machine does only ever adds.
pub fn best(measurements: usize, mut run: impl FnMut()) -> (f64, f64) {
    let mut measured = |runs: usize| {
        let (from, start) = (processor_seconds(), Instant::now());
        (0..runs).for_each(|_| run());
        let (spent, wall) = (processor_seconds() - from, start.elapsed().as_secs_f64());
        (spent / runs as f64, wall / runs as f64)
    };
    let mut runs = 1;
    while measured(runs).0 * (runs as f64) < LEAST {
        runs *= 2;
    }
    (0..measurements)
        .map(|_| measured(runs))
        .fold((f64::INFINITY, f64::INFINITY), |(processor, wall), (spent, taken)| {
            (processor.min(spent), wall.min(taken))
        })
}
