//! What is protected, and the public quantities that an answer may be divided by.

use reticent_accountant::{
    Adjacency, Event, EventError, Gaussian, Mechanism, NonPrivate, PoissonGaussian, Unit, View,
    WithoutReplacementGaussian,
};
use reticent_noise::Sampling;

use crate::refusal::Refusal;

/// The terms on which a gate is opened: they are part of every event it records.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    adjacency: Adjacency,
    unit: Unit,
    view: View,
    population: u64,
}

impl Terms {
    /// Replace-one: the number of records (or users) is public, so it is the population.
    pub(crate) fn replace_one(unit: Unit, view: View, count: u64) -> Self {
        Terms { adjacency: Adjacency::ReplaceOne, unit, view, population: count }
    }

    /// Add-remove: the number of records is private, so a public estimate of it must be given.
    pub fn add_remove(unit: Unit, view: View, public_n: u64) -> Result<Self, Refusal> {
        if public_n == 0 {
            return Err(Refusal::NoPublicCount);
        }
        Ok(Terms { adjacency: Adjacency::AddRemove, unit, view, population: public_n })
    }

    /// Which tables are neighbours.
    pub fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    /// Whether a neighbour differs in a record or in a user.
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The trust model: who sees the messages.
    pub fn view(&self) -> View {
        self.view
    }

    /// The public number of records or users: their count under replace-one, the declared estimate
    /// under add-remove.
    pub fn population(&self) -> u64 {
        self.population
    }

    /// The mechanism that the books know a sum over such a sample by, with Gaussian noise of `z`
    /// clips. No noise is no privacy, whatever the sampling.
    pub(crate) fn mechanism(&self, sampling: Sampling, z: f64) -> Result<Mechanism, EventError> {
        if z == 0.0 {
            return Ok(NonPrivate {}.into());
        }
        Ok(match sampling {
            Sampling::Full => Gaussian::new(z)?.into(),
            Sampling::Poisson(rate) => PoissonGaussian::new(z, rate)?.into(),
            Sampling::WithoutReplacement(size) => {
                WithoutReplacementGaussian::new(z, size, self.population)?.into()
            }
        })
    }

    /// The event of a sum over everybody with Gaussian noise of `z` clips.
    pub(crate) fn noisy(&self, z: f64) -> Result<Event, EventError> {
        self.event(self.mechanism(Sampling::Full, z)?)
    }

    /// `mechanism` as an event on these terms.
    pub(crate) fn event(&self, mechanism: impl Into<Mechanism>) -> Result<Event, EventError> {
        Event::new(mechanism, self.adjacency, self.unit, self.view)
    }
}
