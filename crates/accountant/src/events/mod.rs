//! The mechanisms an event can name, a file each. A member says what it costs to each accountant
//! through `EventCost`; repetition and sums are done in one place, by the accountants.
//!
//! To add a mechanism: one file here, one line in the `catalogue!` below, one note in `proofs/`.

use crate::pld::PrivacyLoss;
use crate::vocabulary::Adjacency;

mod approximate;
mod approximate_zcdp;
mod checked;
mod choice;
mod exponential;
mod gaussian;
mod gdp;
mod iteration;
mod laplace;
mod non_private;
mod objective;
mod parallel;
mod poisson_gaussian;
mod pure;
mod selection;
mod shown_sample;
mod spans;
mod without_replacement;
mod zcdp;

pub use approximate::ApproximateDp;
pub use approximate_zcdp::ApproximateZcdp;
pub use choice::Choice;
pub use exponential::ExponentialMechanism;
pub use gaussian::Gaussian;
pub use gdp::Gdp;
pub use iteration::Iteration;
pub use laplace::Laplace;
pub use non_private::NonPrivate;
pub use objective::ObjectivePerturbation;
pub use parallel::Parallel;
pub use poisson_gaussian::PoissonGaussian;
pub use pure::PureDp;
pub use selection::{Repetitions, Selection};
pub use shown_sample::ShownSample;
pub use without_replacement::WithoutReplacementGaussian;
pub use zcdp::Zcdp;

/// A parameter or a combination that has no meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// A parameter outside its range.
    #[error("{event}: {field} is {given}, but it must be {allowed}")]
    OutOfRange {
        /// The name of the mechanism.
        event: &'static str,
        /// The name of the parameter.
        field: &'static str,
        /// The value that was given.
        given: String,
        /// The values that are allowed.
        allowed: &'static str,
    },
    /// A mechanism that says nothing under the adjacency asked for.
    #[error("{event} is not defined under {adjacency}: {reason}")]
    Undefined {
        /// The name of the mechanism.
        event: &'static str,
        /// The adjacency asked for.
        adjacency: Adjacency,
        /// Why, and what to use instead.
        reason: &'static str,
    },
    /// A group of several records, where no exact statement is known.
    #[error(
        "{event} has no exact guarantee for groups of {size}: count the event per user instead"
    )]
    Group {
        /// The name of the mechanism.
        event: &'static str,
        /// The number of records in the group.
        size: u64,
    },
}

/// Rényi divergence as a function of the order; ∞ where nothing is known.
pub(crate) type Curve = Box<dyn Fn(f64) -> f64>;

/// What one use of a mechanism costs, in the currency of each accountant. `None`: this accountant
/// has nothing to say about it. All values are upper bounds, rounded outward by the accountant that
/// adds them up.
pub(crate) trait EventCost {
    /// The name of the mechanism in files and lists, in kebab case.
    fn kind(&self) -> &'static str;

    /// Refuses an adjacency under which the mechanism has no meaning.
    fn check(&self, _adjacency: Adjacency) -> Result<(), EventError> {
        Ok(())
    }

    /// μ, when the mechanism is exactly as private as a Gaussian with that sensitivity-to-noise
    /// ratio.
    fn gdp(&self, _adjacency: Adjacency) -> Option<f64> {
        None
    }

    /// ε of a (ε, δ = 0) guarantee.
    fn pure(&self, _adjacency: Adjacency) -> Option<f64> {
        None
    }

    /// Probability that the guarantee fails altogether; the other costs hold outside that failure.
    fn failure(&self) -> f64 {
        0.0
    }

    /// Rényi divergence as a function of the order > 1.
    fn rdp(&self, _adjacency: Adjacency) -> Option<Curve> {
        None
    }

    /// The privacy loss in the two directions, removal first; failures are part of it.
    fn losses(&self, _adjacency: Adjacency) -> Option<(PrivacyLoss, PrivacyLoss)> {
        None
    }

    /// The same mechanism with `by` times the noise, where it has noise.
    fn scaled(&self, _by: f64) -> Option<Mechanism> {
        None
    }

    /// The same mechanism seen by a group of `size` records, where that is exact.
    fn group(&self, _size: u64) -> Option<Mechanism> {
        None
    }
}

/// The sensitivity-to-noise ratio of noise `multiplier` × the per-record clip: replacing a record
/// moves a sum by twice the clip, adding or removing one by once.
pub(crate) fn ratio(multiplier: f64, adjacency: Adjacency) -> f64 {
    match adjacency {
        Adjacency::ReplaceOne => 2.0 / multiplier,
        Adjacency::AddRemove => 1.0 / multiplier,
    }
}

macro_rules! catalogue {
    (@example) => { None };
    (@example $example:literal) => { Some($example) };
    ($(#[doc = $about:literal] $variant:ident = $kind:literal $(: $example:literal)?,)*) => {
        /// A mechanism on the data that this crate can count.
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(tag = "kind")]
        pub enum Mechanism {
            $(#[doc = $about] #[serde(rename = $kind)] $variant($variant),)*
        }

        $(impl From<$variant> for Mechanism {
            fn from(member: $variant) -> Self {
                Mechanism::$variant(member)
            }
        })*

        impl Mechanism {
            /// The kinds, as they are written in JSON.
            pub const KINDS: &'static [&'static str] = &[$($kind,)*];

            /// One line about each of [`Mechanism::KINDS`].
            pub const ABOUT: &'static [&'static str] = &[$($about,)*];

            /// The fields of each of [`Mechanism::KINDS`] by example, as `name=value,name=value`;
            /// `None` for one that is made of other events and stands in ledgers alone.
            pub const EXAMPLES: &'static [Option<&'static str>] =
                &[$(catalogue!(@example $($example)?),)*];

            pub(crate) fn cost(&self) -> &dyn EventCost {
                match self {
                    $(Mechanism::$variant(member) => member,)*
                }
            }
        }

        impl std::fmt::Display for Mechanism {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self {
                    $(Mechanism::$variant(member) => member.fmt(f),)*
                }
            }
        }
    };
}

catalogue! {
    /// Gaussian noise on a sum over all records.
    Gaussian = "gaussian": "z=2",
    /// Gaussian noise on a sum over a Poisson sample.
    PoissonGaussian = "poisson-gaussian": "z=1,rate=0.01",
    /// Gaussian noise on a sum over a sample of fixed size.
    WithoutReplacementGaussian = "without-replacement-gaussian": "z=2,size=326,population=32561",
    /// Gaussian noise on a sum over a sample that is seen.
    ShownSample = "shown-sample": "z=2,rate=0.1",
    /// Laplace noise on a sum over all records.
    Laplace = "laplace": "z=2",
    /// A choice by the exponential mechanism among scores that are sums over all records.
    ExponentialMechanism = "exponential-mechanism": "z=2",
    /// The exact minimiser of an objective with a Gaussian linear term.
    ObjectivePerturbation = "objective-perturbation",
    /// Anything that is (ε, 0)-private.
    PureDp = "pure-dp": "epsilon=0.1",
    /// Anything that is (ε, δ)-private.
    ApproximateDp = "approximate-dp": "epsilon=0.1,delta=1e-6",
    /// Anything that is ρ-zCDP.
    Zcdp = "zcdp": "rho=0.5",
    /// Anything that is ρ-zCDP but for a probability δ.
    ApproximateZcdp = "approximate-zcdp": "rho=0.5,delta=1e-9",
    /// Anything that is μ-GDP.
    Gdp = "gdp": "mu=1",
    /// The best of a random number of runs.
    Selection = "selection",
    /// One of several runs, chosen without looking at the data.
    Choice = "choice",
    /// One contribution to a random walk, as another peer sees it.
    Iteration = "iteration",
    /// Mechanisms on disjoint parts of the data.
    Parallel = "parallel",
    /// No protection.
    NonPrivate = "non-private": "",
}

impl Mechanism {
    /// The name of the mechanism in files and lists, in kebab case.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.cost().kind()
    }

    /// The mechanism as a group of `size` records sees it: all of them changed at once.
    ///
    /// # Errors
    /// [`EventError::Group`] where no exact statement is known; a looser one is not guessed.
    pub fn group(&self, size: u64) -> Result<Mechanism, EventError> {
        if size == 1 {
            return Ok(self.clone());
        }
        self.cost().group(size).ok_or(EventError::Group { event: self.kind(), size })
    }

    pub(crate) fn check(&self, adjacency: Adjacency) -> Result<(), EventError> {
        self.cost().check(adjacency)
    }
}
