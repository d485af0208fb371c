//! The prox of a penalty behind a linear constraint,
//! `argmin_x { r(y) + ‖x − v‖²/(2η) : A x + B y = c }`.
//!
//! For `x = y` it is the penalty's own. For any other constraint it has no closed form, and a few
//! steps of linearised ADMM on it, from where the last prox ended, are close enough: no data is
//! needed for them, so they cost nothing but time.

use std::sync::Arc;

use reticent_problem::Regulariser;

use crate::basis::Basis;
use crate::catalogue::{AlgorithmEntry, Recipe};
use crate::settings::Settings;
use crate::splitting::Splitting;
use reticent_oracle::Refused;

/// Inner steps. The argument moves little between two iterations, so that the steps of many add up.
const STEPS: usize = 20;

/// How the prox is computed, and where it ended.
#[derive(Debug)]
pub(crate) enum ProxStep {
    Direct(Arc<Regulariser>),
    Inner(Box<Splitting>),
    /// In coordinates of its own.
    Within(Box<Basis>),
}

impl ProxStep {
    pub fn new(recipe: &Recipe<'_>, entry: &AlgorithmEntry) -> Result<Self, Refused> {
        if recipe.regulariser.constraint().is_identity() {
            return Ok(ProxStep::Direct(Arc::clone(recipe.regulariser)));
        }
        let settings =
            Settings { smoothing: Some(0.0), strong_convexity: Some(0.0), ..Settings::default() };
        Ok(ProxStep::Inner(Box::new(Splitting::new(
            &Recipe { settings: &settings, ..*recipe },
            entry,
        )?)))
    }

    /// `v` in the coordinates of the table, after the prox.
    pub fn native<'a>(&'a self, v: &'a [f64]) -> &'a [f64] {
        match self {
            ProxStep::Within(basis) => basis.native(),
            ProxStep::Direct(_) | ProxStep::Inner(_) => v,
        }
    }

    /// The prox of `v` with step `eta`, in place.
    pub fn apply(&mut self, v: &mut [f64], eta: f64) {
        match self {
            ProxStep::Direct(regulariser) => regulariser.prox_y(v, eta),
            ProxStep::Within(basis) => basis.prox(v, eta),
            ProxStep::Inner(admm) => {
                let alpha = admm.alpha_of(eta);
                let mut g = vec![0.0; v.len()];
                for _ in 0..STEPS {
                    for ((g, x), v) in g.iter_mut().zip(&admm.x).zip(&*v) {
                        *g = (x - v) / eta;
                    }
                    admm.step(&g, alpha);
                }
                v.copy_from_slice(&admm.x);
            }
        }
    }
}
