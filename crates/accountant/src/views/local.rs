//! The local adversary sees every message of one party, and so bounds everybody else.
//!
//! A message `u + λσ N(0, I)` whose residual is clipped to C' moves by at most 2λ·2C' when the
//! party's data change: the ratio is 4C'/σ whatever λ is (proofs/views.md).

use crate::events::{EventError, Gdp};
use crate::vocabulary::View;

pub(super) fn covers(_asked: View) -> bool {
    true
}

/// One participation as the local adversary sees it: residual clip C' and noise σ of the message
/// before averaging.
///
/// # Errors
/// When 4C'/σ is not a positive number.
pub fn local_contribution(residual_clip: f64, sigma: f64) -> Result<Gdp, EventError> {
    Gdp::new(4.0 * residual_clip / sigma)
}
