//! Ledgers of so many equal events, for experiments that count and train nothing.

use reticent::accountant::{
    Adjacency, Event, Ledger, Mechanism, Method, Unit, View, calibrate, report,
};

use crate::error::ExperimentError;

/// So many of one event, under replace-one.
pub(super) fn repeated(
    mechanism: impl Into<Mechanism>,
    times: u64,
    (unit, view): (Unit, View),
) -> Result<Ledger, ExperimentError> {
    let event = Event::new(mechanism, Adjacency::ReplaceOne, unit, view)
        .map_err(ExperimentError::account)?;
    let mut ledger = Ledger::new();
    ledger.append_many(event, times);
    Ok(ledger)
}

/// ε by one method, its lower and its upper end; nothing where the method does not apply.
pub(super) fn by(
    method: Method,
    ledger: &Ledger,
    delta: f64,
) -> Result<Option<(f64, f64)>, ExperimentError> {
    let report = report(ledger, delta).map_err(ExperimentError::account)?;
    let line = report.lines.into_iter().find(|line| line.method == method);
    Ok(line.and_then(|line| line.bound.ok()).map(|bound| (bound.lower, bound.upper)))
}

/// The least noise with which a plan is within ε and δ.
pub(super) fn noise(
    (epsilon, delta): (f64, f64),
    plan: impl Fn(f64) -> Result<Ledger, ExperimentError>,
) -> Result<f64, ExperimentError> {
    Ok(calibrate(epsilon, delta, plan).map_err(ExperimentError::account)?.noise_multiplier)
}
