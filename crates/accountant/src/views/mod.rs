//! Who sees what: from the ledger to the events as one adversary sees them.
//!
//! An event states a guarantee against the view it names. Whoever sees a function of what that view
//! sees is bounded as well (post-processing); whoever sees more is not. So per adversary a view
//! counts or is refused by name:
//!
//! | event recorded for | central | secure-aggregation | local | network |
//! | --- | --- | --- | --- | --- |
//! | central             | yes | – | – | – |
//! | secure-aggregation  | yes | yes | – | – |
//! | local               | yes | yes | yes | yes |
//! | network             | – | – | – | yes |
//!
//! A released model is a function of the sums, the sums are functions of the messages, and a peer's
//! tokens are messages. A network guarantee is against one peer and says nothing about what is
//! released at the end. Proof note: `proofs/views.md`.

mod central;
mod distributed_noise;
mod local;
mod network;
mod secure_aggregation;

pub use distributed_noise::{DistributedNoiseError, distributed_gaussian};
pub use local::local_contribution;
pub use network::network_contribution;
pub use secure_aggregation::{AggregationError, share_of_noise, surviving_noise};

use crate::event::Event;
use crate::events::EventError;
use crate::ledger::Ledger;
use crate::vocabulary::View;

/// A ledger that says nothing about the adversary asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// An event whose guarantee is against somebody who sees less.
    #[error(
        "\"{event}\" says nothing about the {asked} view: the adversary there sees more than it was counted for"
    )]
    SeesMore {
        /// The event that cannot be seen so, in words.
        event: String,
        /// The adversary asked for.
        asked: View,
    },
    /// Parameters out of range.
    #[error(transparent)]
    Event(#[from] EventError),
}

/// Whether a guarantee against `recorded` holds against `asked`.
#[must_use]
pub fn covers(recorded: View, asked: View) -> bool {
    match recorded {
        View::Central => central::covers(asked),
        View::SecureAggregation => secure_aggregation::covers(asked),
        View::Local => local::covers(asked),
        View::Network => network::covers(asked),
    }
}

/// The ledger as the adversary sees it: every event counted for the view asked for, or refused by
/// name.
///
/// # Errors
/// [`ViewError::SeesMore`] for the first event whose guarantee does not reach that far.
pub fn seen_by(ledger: &Ledger, asked: View) -> Result<Ledger, ViewError> {
    let mut seen = Ledger::new();
    for entry in ledger.entries() {
        let event = entry.event();
        if !covers(event.view(), asked) {
            return Err(ViewError::SeesMore { event: event.to_string(), asked });
        }
        let event = Event::new(event.mechanism().clone(), event.adjacency(), event.unit(), asked)?;
        seen.append_many(event, entry.count());
    }
    ledger.taints().iter().for_each(|&taint| seen.taint(taint));
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Adjacency, Gaussian, Unit};

    #[test]
    fn a_guarantee_reaches_whoever_sees_less() {
        for &view in View::ALL {
            assert!(covers(view, view));
            assert!(covers(View::Local, view));
        }
        // Transitive: what holds against a, which covers b, holds against whatever b covers.
        for &a in View::ALL {
            for &b in View::ALL {
                for &c in View::ALL {
                    assert!(!(covers(a, b) && covers(b, c)) || covers(a, c), "{a} {b} {c}");
                }
            }
        }
    }

    #[test]
    fn a_central_event_is_refused_for_the_local_adversary() {
        let mut ledger = Ledger::new();
        let gaussian = Gaussian::new(1.0).unwrap();
        ledger
            .append(Event::new(gaussian, Adjacency::ReplaceOne, Unit::User, View::Local).unwrap());
        assert_eq!(
            seen_by(&ledger, View::Central).unwrap().entries()[0].event().view(),
            View::Central
        );
        ledger.append(
            Event::new(gaussian, Adjacency::ReplaceOne, Unit::User, View::Central).unwrap(),
        );
        assert!(seen_by(&ledger, View::Central).is_ok());
        assert!(
            seen_by(&ledger, View::Local)
                .unwrap_err()
                .to_string()
                .contains("says nothing about the local")
        );
    }
}
