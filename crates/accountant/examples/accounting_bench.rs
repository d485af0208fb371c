//! Times the accountant on the cases that `benches/accounting.py` runs with dp_accounting; prints
//! one JSON object.
//!
//! Run with `cargo run --release -p reticent-accountant --example accounting_bench`.

use reticent_accountant::{
    Adjacency, Bound, Event, EventError, Gaussian, Ledger, PoissonGaussian, Unit, View, calibrate,
    epsilon,
};
use std::time::Instant;

type Failure = Box<dyn std::error::Error>;

fn event(rate: f64, z: f64) -> Result<Event, EventError> {
    if rate == 1.0 {
        return Event::new(Gaussian::new(z)?, Adjacency::AddRemove, Unit::Record, View::Central);
    }
    Event::new(PoissonGaussian::new(z, rate)?, Adjacency::AddRemove, Unit::Record, View::Central)
}

fn ledger(parts: &[(f64, f64, u64)]) -> Result<Ledger, EventError> {
    let mut ledger = Ledger::new();
    for &(rate, z, steps) in parts {
        ledger.append_many(event(rate, z)?, steps);
    }
    Ok(ledger)
}

/// Least seconds of `runs` calls (the other side is timed the same way), and the last answer.
fn time<T>(runs: usize, mut call: impl FnMut() -> Result<T, Failure>) -> Result<(f64, T), Failure> {
    let mut answer = call()?;
    let mut least = f64::INFINITY;
    for _ in 0..runs {
        let start = Instant::now();
        answer = call()?;
        let seconds = start.elapsed().as_secs_f64();
        least = if seconds < least { seconds } else { least };
    }
    Ok((least, answer))
}

fn line(name: &str, seconds: f64, bound: &Bound) -> String {
    format!(
        r#"  "{name}": {{"seconds": {seconds:e}, "lower": {}, "upper": {}}}"#,
        bound.lower, bound.upper
    )
}

fn main() -> Result<(), Failure> {
    let mut lines = Vec::new();
    for (rate, z, steps) in
        [(0.01, 1.0, 10_000), (0.005, 0.8, 4000), (0.03, 2.0, 1000), (0.25, 20.0, 160)]
    {
        let (seconds, bound) = time(9, || Ok(epsilon(&ledger(&[(rate, z, steps)])?, 1e-5)?))?;
        lines.push(line(&format!("poisson {rate} {z} {steps}"), seconds, &bound));
    }
    let many: Vec<_> = (0..50).map(|k| (0.01, 0.8 + 0.02 * f64::from(k), 20)).collect();
    let (seconds, bound) = time(3, || Ok(epsilon(&ledger(&many)?, 1e-5)?))?;
    lines.push(line("50 different", seconds, &bound));
    let (seconds, found) = time(3, || Ok(calibrate(1.0, 1e-5, |z| ledger(&[(0.01, z, 10_000)]))?))?;
    lines.push(line("calibrate", seconds, &found.epsilon));
    lines.push(format!(r#"  "calibrated noise": {}"#, found.noise_multiplier));
    let one = ledger(&[(1.0, 2.0, 100)])?;
    let (seconds, bound) = time(5, || {
        let mut bound = epsilon(&one, 1e-5)?;
        for _ in 1..1000 {
            bound = epsilon(&one, 1e-5)?;
        }
        Ok(bound)
    })?;
    lines.push(line("exact gaussian", seconds / 1000.0, &bound));
    println!("{{\n{}\n}}", lines.join(",\n"));
    Ok(())
}
