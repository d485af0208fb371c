//! The algorithms, by the names that users type.

use std::sync::Arc;

use reticent_oracle::{Refused, Sampling};
use reticent_problem::Regulariser;

use crate::algorithms::Algorithm;
pub use crate::algorithms::CATALOGUE;
use crate::algorithms::auto::{self, AutoChoice};
use crate::settings::{ProblemFacts, Settings};

/// An algorithm: what a user must know, and how it is built.
#[derive(Clone, Copy, Debug)]
pub struct AlgorithmEntry {
    /// The name users type.
    pub name: &'static str,
    /// One line in plain words.
    pub about: &'static str,
    /// Where it comes from.
    pub reference: &'static str,
    /// The settings it has (see [`Settings::ALL`]); any other is refused.
    pub takes: &'static [&'static str],
    /// A penalty that it can handle: what audits give it where there is to be one.
    pub penalty: &'static str,
    /// Whether it cannot do without a penalty.
    pub needs_penalty: bool,
    /// How it is run.
    pub kind: AlgorithmKind,
}

/// How an algorithm is run.
#[derive(Clone, Copy, Debug)]
pub enum AlgorithmKind {
    /// Over the gate, with noise.
    Private(Build),
    /// On the exact objective, without any privacy.
    Exact,
}

/// How an algorithm is built.
pub type Build = fn(&Recipe<'_>) -> Result<Box<dyn Algorithm>, Refused>;

/// What an algorithm is built from.
#[derive(Debug)]
pub struct Recipe<'a> {
    /// What the user set.
    pub settings: &'a Settings,
    /// What may be known.
    pub public: &'a ProblemFacts,
    /// The penalty and its constraint.
    pub regulariser: &'a Arc<Regulariser>,
    /// The noise, in clips; every query of the algorithm has a fixed multiple of it.
    pub noise_multiplier: f64,
}

/// The algorithm of that name.
pub fn find(name: &str) -> Option<&'static AlgorithmEntry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}

/// The algorithms that can also run as published, with a claim that does not hold.
pub fn with_errata() -> Vec<&'static str> {
    CATALOGUE
        .iter()
        .filter(|entry| entry.takes.contains(&"as_published"))
        .map(|entry| entry.name)
        .collect()
}

impl AlgorithmEntry {
    /// The algorithm for a recipe; `None` for what is not run over the gate.
    ///
    /// # Errors
    /// A setting that cannot be.
    pub fn build(&self, recipe: &Recipe<'_>) -> Result<Option<Box<dyn Algorithm>>, Refused> {
        match self.kind {
            AlgorithmKind::Private(build) => self.built(build, recipe).map(Some),
            AlgorithmKind::Exact => Ok(None),
        }
    }

    /// What `auto` makes of a recipe; `None` for an algorithm that was named.
    pub fn choice(&self, recipe: &Recipe<'_>) -> Result<Option<AutoChoice>, Refused> {
        if self.name == auto::ENTRY.name { auto::choose(recipe).map(Some) } else { Ok(None) }
    }
}

impl Recipe<'_> {
    /// Whether the paper's own version is asked for.
    pub(crate) fn as_published(&self) -> bool {
        self.settings.as_published == Some(true)
    }

    /// Refuses a setting that the algorithm does not have, and a share that has nothing to buy.
    pub(crate) fn only(&self, entry: &AlgorithmEntry) -> Result<(), Refused> {
        self.settings.only(entry.name, entry.takes)?;
        self.clip_share().map(|_| ())
    }

    /// Refuses a constraint other than `x = z`.
    pub(crate) fn needs_identity(&self, entry: &AlgorithmEntry) -> Result<(), Refused> {
        if self.regulariser.constraint().is_identity() {
            return Ok(());
        }
        Err(Refused::new(
            "constraint",
            self.regulariser.constraint().spec(),
            format!(
                "{} handles only 'identity'; choose dp-sgd, sadmm or vradmm for this constraint",
                entry.name
            ),
        ))
    }

    /// Refuses a loss whose minimiser the gate does not release.
    pub(crate) fn needs_bounded_smooth(&self, entry: &AlgorithmEntry) -> Result<(), Refused> {
        if self.public.lipschitz.is_finite() && self.public.smoothness.is_finite() {
            return Ok(());
        }
        Err(Refused::new(
            "algorithm",
            entry.name,
            "it releases the minimiser of the loss, which needs a loss with a bounded derivative without jumps; \
             use logistic, huber or huberised-hinge, or another algorithm",
        ))
    }

    /// Refuses a penalty that is not convex.
    pub(crate) fn needs_convex(&self, entry: &AlgorithmEntry) -> Result<(), Refused> {
        let penalty = self.regulariser.penalty();
        if penalty.is_convex() {
            return Ok(());
        }
        Err(Refused::new(
            "penalty",
            penalty.spec(),
            format!(
                "it is not convex, and {} converges for convex penalties only; use a convex one, or ssadmm, \
                 mpadmm or dp-sgd",
                entry.name
            ),
        ))
    }

    /// The sampling, or everything: for a given budget the mean gradient is then as good as it can
    /// be. Whether a sample is larger than the table is for the gate to say.
    pub(crate) fn sampling(&self) -> Sampling {
        self.settings.sampling.unwrap_or_default()
    }

    /// Iterations that see each record once on average.
    pub(crate) fn per_epoch(&self, sampling: Sampling) -> f64 {
        match sampling {
            Sampling::Full => 1.0,
            Sampling::Poisson(rate) => 1.0 / rate,
            Sampling::WithoutReplacement(size) => self.public.population as f64 / size as f64,
        }
    }
}
