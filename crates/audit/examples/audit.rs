//! Attacks the product itself: many fits on two tables that differ in one record, and a lower bound
//! on ε from how well the two can be told apart.
//!
//! ```sh
//! cargo run -p reticent-audit --example audit
//! ```

use reticent::Error;
use reticent_audit::{AuditMethod, AuditSpec, run};

/// Runs the example.
pub fn main() -> Result<(), Error> {
    let report = run(&AuditSpec {
        algorithm: "ssadmm".to_owned(),
        epsilon: 2.0,
        delta: 1e-3,
        runs: 2_000,
        method: AuditMethod::Gdp,
        ..AuditSpec::default()
    })?;
    println!(
        "certified {:.3}, found at least {:.3} with {} (at a confidence of {})",
        report.epsilon_certified, report.epsilon_lower, report.pair, report.confidence
    );
    assert!(!report.exceeded, "the guarantee does not hold");
    Ok(())
}
