//! The scores of the records behind a gate, with their targets: what the quality of a parameter on a
//! table that is public is measured from, without reading a file at every iteration.
//!
//! Event: every use is recorded as non-private, ε = ∞.

use super::{Scored, behind};
use crate::gate::Gate;
use crate::refusal::Refusal;
use crate::sums::{PrivateLoss, with_rows};

/// The scores of every record behind `gate` at the parameter `at`, and the encoded targets.
///
/// # Errors
/// If the parameter is none of this gate's shape, or the gate is bound to a plan.
pub fn known_scores(gate: &mut Gate, at: &[f64]) -> Result<Scored, Refusal> {
    let (inside, _) = behind(gate, &[at])?;
    let PrivateLoss { private, loss } = inside.rows_and_loss()?;
    let (outputs, records) = (loss.outputs(), private.records());
    let mut scores = vec![0.0; records * outputs];
    with_rows!(private.rows(), rows => {
        for (i, scores) in scores.chunks_exact_mut(outputs).enumerate() {
            private.scores(rows, i, at, scores);
        }
    });
    let targets = (0..records).map(|i| private.target(i)).collect();
    Ok(Scored { scores, targets, kept: Vec::new(), records })
}
