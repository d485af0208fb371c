//! The algorithms, by the names that users type. Adding one is a file and a line in [`CATALOGUE`].

use std::sync::Arc;

use reticent_problem::Regulariser;

use crate::algorithm::Algorithm;
use crate::settings::{Public, Settings, SettingsError};
use crate::ssadmm;
use crate::step_size::StepSizeError;

/// An algorithm: what a user must know, and how it is built.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name users type.
    pub name: &'static str,
    /// One line in plain words.
    pub about: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// How it is run.
    pub kind: Kind,
}

/// How an algorithm is run.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Over the gate, with noise.
    Private(Build),
    /// On the exact objective, without any privacy.
    Exact,
}

/// How an algorithm is built.
pub type Build = fn(&Recipe<'_>) -> Result<Built, SettingsError>;

/// What an algorithm is built from.
#[derive(Debug)]
pub struct Recipe<'a> {
    /// What the user set.
    pub settings: &'a Settings,
    /// What may be known.
    pub public: &'a Public,
    /// The penalty and its constraint.
    pub regulariser: &'a Arc<Regulariser>,
    /// The noise, in clips; every query of the algorithm has a fixed multiple of it.
    pub noise_multiplier: f64,
}

/// An algorithm at its start.
pub struct Built {
    /// The state.
    pub algorithm: Box<dyn Algorithm>,
    /// How many steps it is to make.
    pub iterations: u64,
}

/// Every algorithm.
pub const CATALOGUE: &[Entry] = &[
    Entry {
        name: "exact",
        about: "ADMM to convergence on the exact objective; no privacy at all (ε = ∞)",
        reference: "Boyd et al. 2011, section 3",
        kind: Kind::Exact,
    },
    Entry {
        name: "ssadmm",
        about: "noisy (sub)sampled gradients, a penalty with a prox",
        reference: "RDP20, Algorithm 1",
        kind: Kind::Private(ssadmm::build),
    },
];

/// The algorithm of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}

impl Recipe<'_> {
    /// Refuses a constraint other than `x = z`.
    pub(crate) fn needs_identity(&self, algorithm: &str) -> Result<(), SettingsError> {
        if self.regulariser.constraint().is_identity() {
            return Ok(());
        }
        Err(SettingsError {
            name: "constraint",
            given: self.regulariser.constraint().spec().to_owned(),
            allowed: format!(
                "{algorithm} handles only 'identity'; choose another algorithm for this constraint"
            ),
        })
    }

    pub(crate) fn bad_step(&self) -> impl Fn(StepSizeError) -> SettingsError + use<> {
        |error| SettingsError { name: "step", given: String::new(), allowed: error.to_string() }
    }
}
