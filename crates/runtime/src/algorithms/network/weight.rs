//! The weight C of a party's mean loss beside its penalty (RA18, equation 1).
//!
//! ```text
//! O(f, D_i) = (C/B_i) Σ losses of D_i + r(f),   0 < C ≤ B_i
//! ```
//!
//! Every argmin with C is one without it whose public part is divided by C, and that is what the
//! gate is asked for: sensitivities and determinants then have C in them by themselves
//! (proofs/recycled.md).

use reticent_admm::{Refused, positive};

use super::own::PeerSettings;
use super::rule::StepRule;
use crate::algorithms::ProtocolRecipe;
use crate::message::PartyId;

/// The name of the setting.
const NAME: &str = "loss_weight";

/// C; default 1.
pub(super) fn loss_weight(recipe: &ProtocolRecipe<'_>) -> Result<f64, Refused> {
    let weight = positive(NAME, recipe.settings.loss_weight.unwrap_or(1.0))?;
    if weight == 1.0 {
        return Ok(weight);
    }
    if recipe.unit.is_whole() {
        let allowed = "it may be at most the number of records of a party, which is a secret where whole parties are \
                       protected; protect records, or divide rho, proximal and the penalty by it instead";
        return Err(Refused::new(NAME, weight, allowed));
    }
    let fewest = recipe.records.iter().copied().min().unwrap_or(1);
    if weight > fewest as f64 {
        let allowed = format!(
            "a number above 0 and at most that of the records of a party is needed, and one has {fewest}"
        );
        return Err(Refused::new(NAME, weight, allowed));
    }
    Ok(weight)
}

/// Refuses linearised steps that overshoot: a step of more than 2/(CL) along the gradient of CF,
/// with L its Lipschitz constant at C = 1, ends above where it began, and the next one further. A
/// default is never refused: it grows with C. A weight of at most 1 is not checked, as in earlier
/// versions: L may be far above the curvature of the records.
pub(super) fn fits(
    recipe: &ProtocolRecipe<'_>,
    rule: &StepRule,
    own: &PeerSettings,
) -> Result<(), Refused> {
    let bend = rule.weight() * recipe.public.gradient_lipschitz();
    let Some((name, gamma)) = recipe.settings.proximal_weight()? else { return Ok(()) };
    if rule.weight() <= 1.0 || !rule.is_linearised() || !bend.is_finite() {
        return Ok(());
    }
    let held =
        |party: u32| 2.0 * own.eta(PartyId(party)) * recipe.topology.degree(party) as f64 + gamma;
    let least = (0..recipe.parties()).map(held).fold(f64::INFINITY, f64::min);
    if bend <= 2.0 * least {
        return Ok(());
    }
    let allowed = format!(
        "with loss_weight = {} a step along a released gradient may be at most {:.2e} long, and this one is {:.2e}; \
         set {name} to {:.4} or more, leave it out, or choose release = objective",
        rule.weight(),
        2.0 / bend,
        1.0 / least,
        gamma + 0.5 * bend - least,
    );
    Err(Refused::new(name, gamma, allowed))
}
