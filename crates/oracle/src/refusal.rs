use reticent_accountant::EventError;
use reticent_data::CacheError;
use reticent_noise::entropy::EntropyError;
use reticent_noise::grid::NoiseError;

use crate::sums::{TableError, Unsolvable};

/// Why the gate did not answer. Never says anything about the data, and none of it depends on a
/// record: docs/refusals.md has what each depends on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
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
    /// A second answer in a round that has one: another mean of the same sample, or a member of
    /// the same masked sum once more.
    #[error("round {0} has had its one answer, or is over; nothing was answered")]
    RoundReleased(u64),
    /// A block that was changed on its way, or is another party's, or another round's.
    #[error(
        "the block of party {party} is not what that party encrypted for this round: it was changed on its way, or \
         sent before; nothing was answered"
    )]
    ForgedBlock {
        /// Whose it was said to be.
        party: u32,
    },
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
    /// A question that needs the rows themselves, where others hold them or they are in a file.
    #[error(
        "this question is no sum over records, and rows that others hold, or that are in a cache file, are asked for sums \
         alone: use an algorithm of gradients, such as auto"
    )]
    NoSum,
    /// A question that is proven for records that count alike, on a table with weights.
    #[error(
        "records have weights here, and this question is proven for records that count alike: use an algorithm of \
         gradients, such as auto, or leave the weights out"
    )]
    Weighted,
    /// A sample among rows that others hold, where their number is private.
    #[error(
        "who is drawn is told to a party in a bit for each of its units, and add-remove keeps their number private: ask \
         for a sum over all of them (`sampling = full`), or use replace-one"
    )]
    SampleTellsSizes,
    /// A sample of persons among rows that others hold, where a party may have several.
    #[error(
        "who is drawn is told to a party in a bit for each of its persons, and who is with which party follows from all of \
         them: ask for a sum over all of them (`sampling = full`), or make every person a party"
    )]
    SampleOfPersonsHeld,
    /// A sample of a fixed number of all parties' units, where each draws its own.
    #[error(
        "each party draws its own sample, and how many of a fixed number are whose would be known to nobody: use a Poisson \
         sample (`sampling = poisson:RATE`) or all units (`sampling = full`)"
    )]
    SampleOfAllParties,
    /// A sample behind masks.
    #[error(
        "what a sample hides behind masks is not proven: ask for a sum over all units (`sampling = full`), or use `trust = \
         local` or central"
    )]
    SampleBehindMasks,
    /// A worker that holds a shard of the table and is not what it enrolled as, or what all must be.
    #[error("shard {shard} {why}; nothing was answered")]
    Shard {
        /// Its number, from 0 on.
        shard: usize,
        /// What is wrong, and what to do. A function of programs, machines and files.
        why: &'static str,
    },
    /// What carries requests to shards has none of their answers.
    #[error(
        "the workers that hold the shards of the table were not reached: {0}; nothing was answered"
    )]
    ShardEngine(String),
    /// The caller has stopped the run: no fault of the query's, and no function of the data.
    #[error("the run was stopped before its end")]
    Stopped,
    /// A table that cannot be summed over.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A table in a file that cannot be written or read.
    #[error(transparent)]
    Cache(#[from] CacheError),
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
