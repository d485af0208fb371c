use reticent_accountant::EventError;
use reticent_noise::entropy::EntropyError;
use reticent_noise::grid::NoiseError;

use crate::sums::{TableError, Unsolvable};

/// Why the gate did not answer. Never says anything about the data, and none of it depends on a
/// record: docs/refusals.md has what each depends on.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// Add-remove without a public count.
    #[error(
        "add-remove keeps the number of records private, so a public estimate of it is needed: \
         give `public_n = N`, or public_n in the schema"
    )]
    NoPublicCount,
    /// A query that the plan did not foresee.
    #[error(
        "a query was asked that the plan does not have (asked: {asked}; planned next: {planned}); \
         nothing was answered"
    )]
    Unplanned {
        /// The event of the query.
        asked: String,
        /// The next event of the plan.
        planned: String,
    },
    /// A query that the plan foresees, but not so often.
    #[error("all that was planned to be spent has been spent; nothing was answered")]
    Exhausted,
    /// A second and different mean of one sample.
    #[error(
        "a mean of round {0} was released already, and another one over the same sample is not; nothing was answered"
    )]
    RoundReleased(u32),
    /// Something that only a gate with a key can do.
    #[error("this gate draws its noise from a stream and not from a key: open it with open_keyed")]
    NoKey,
    /// Something that a gate with a key cannot do.
    #[error(
        "this gate's noise follows from a key, and a selection needs a stream: open it with open"
    )]
    NoStream,
    /// Books that already have entries.
    #[error(
        "the books of this gate already have entries and are not replaced: recall them before the first query"
    )]
    BooksInUse,
    /// A query whose numbers cannot be, by public quantities alone: the text says which and what is
    /// allowed.
    #[error("{0}")]
    BadQuery(String),
    /// A query whose numbers cannot be because of the answers before it: the iterates ran away. A
    /// function of what was released, so that of several runs to choose among it may be the one
    /// that loses.
    #[error("{0}")]
    Diverged(String),
    /// A step of consensus before its blocks were put anywhere.
    #[error("there are no blocks to move: open_consensus(start) must come before consensus(z, …)")]
    NoConsensus,
    /// The caller has stopped the run: no fault of the query's, and no function of the data.
    #[error("the run was stopped before its end")]
    Stopped,
    /// A table that cannot be summed over.
    #[error(transparent)]
    Table(#[from] TableError),
    /// An event that the books do not know.
    #[error(transparent)]
    Event(#[from] EventError),
    /// Noise that cannot be drawn.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// No randomness from the operating system.
    #[error(transparent)]
    Entropy(#[from] EntropyError),
}

impl From<Unsolvable> for Refusal {
    fn from(why: Unsolvable) -> Self {
        Refusal::BadQuery(why.to_string())
    }
}
