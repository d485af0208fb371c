//! One use of the data: what was done, and under which adjacency, unit and view it is counted.

use crate::events::{EventError, Mechanism};
use crate::vocabulary::{Adjacency, Unit, View};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEvent {
    mechanism: Mechanism,
    adjacency: Adjacency,
    unit: Unit,
    view: View,
}

/// One use of the data. Frozen: made by [`Event::new`], never changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawEvent")]
pub struct Event {
    mechanism: Mechanism,
    adjacency: Adjacency,
    unit: Unit,
    view: View,
}

impl TryFrom<RawEvent> for Event {
    type Error = EventError;
    fn try_from(raw: RawEvent) -> Result<Self, EventError> {
        Event::new(raw.mechanism, raw.adjacency, raw.unit, raw.view)
    }
}

impl Event {
    /// Refuses a mechanism that has no meaning under the adjacency.
    ///
    /// # Errors
    /// [`EventError::Undefined`], naming both.
    ///
    /// # Examples
    ///
    /// ```
    /// use reticent_accountant::{Adjacency, Event, Gaussian, Unit, View, WithoutReplacementGaussian};
    ///
    /// let noisy = Event::new(Gaussian::new(2.0)?, Adjacency::AddRemove, Unit::User, View::Local)?;
    /// assert_eq!(noisy.unit(), Unit::User);
    ///
    /// // Samples of a fixed size need a number of records that is public.
    /// let sample = WithoutReplacementGaussian::new(2.0, 10, 1_000)?;
    /// assert!(Event::new(sample, Adjacency::AddRemove, Unit::Record, View::Central).is_err());
    /// # Ok::<(), reticent_accountant::EventError>(())
    /// ```
    pub fn new(
        mechanism: impl Into<Mechanism>,
        adjacency: Adjacency,
        unit: Unit,
        view: View,
    ) -> Result<Self, EventError> {
        let mechanism = mechanism.into();
        mechanism.check(adjacency)?;
        Ok(Self { mechanism, adjacency, unit, view })
    }

    /// The same with `by` times the noise; `None` where there is none to scale.
    pub(crate) fn scaled(&self, by: f64) -> Option<Self> {
        let mechanism = self.mechanism.cost().scaled(by)?;
        Event::new(mechanism, self.adjacency, self.unit, self.view).ok()
    }

    /// The mechanism: what was done to the data.
    #[must_use]
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// The neighbouring relation it is counted under.
    #[must_use]
    pub fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    /// The unit of protection.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The view it is counted for: who sees the result.
    #[must_use]
    pub fn view(&self) -> View {
        self.view
    }
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({}, per {}, {} view)", self.mechanism, self.adjacency, self.unit, self.view)
    }
}
