//! The gate: the only code that sees private data, and the only maker of released values.
//!
//! ```text
//! private table ─► sample ─► clip ─► exact sum ─► + noise ─► Released<T>
//!                                      │
//!                         event ─► ledger (before the noise is drawn)
//! ```
//!
//! [`Gate::open`] takes a [`PrivateTable`] in; queries come back as [`Released`] values, each with its event in
//! the [`Gate::ledger`]. A [`Rehearsal`] takes the same queries without data and so writes the plan
//! of a run beforehand; a gate that is bound to a plan answers nothing else.

mod aggregator;
mod books;
#[cfg(reticent_seeded_bugs)]
mod bug;
mod cached_table;
mod cipher;
mod claim;
mod drawn;
mod file_holder;
mod fingerprint;
mod gate;
mod holder;
mod inside;
mod kept_table;
mod lattice;
mod law;
mod noisy;
mod oracle;
mod parties;
mod plan;
pub mod queries;
mod refusal;
mod rehearsal;
mod released;
mod shards;
mod sums;
mod table;
pub mod tables;
mod terms;
pub mod without_privacy;

pub use aggregator::TrustedAggregator;
pub use books::Books;
#[cfg(reticent_seeded_bugs)]
pub use bug::Bug;
pub use cached_table::CachedTable;
pub use cipher::{AggregatorKey, EncryptedBlock};
pub use claim::PaperClaim;
pub use gate::{
    Gate, Keyed, Listener, PrivacyModel, PrivateSelection, Selected, SharedPasses, Stream,
};
pub use lattice::{Lattice, WalkTerms};
pub use law::Law;
pub use noisy::{
    AnsweredBy, NoisySums, PartialSum, RoundRequest, SumCarrier, SumLaw, SumParty, SumPartyReport,
    SumPlan, SumProgress, SumReach,
};
pub use oracle::Oracle;
pub use parties::{
    Carrier, EntrustKey, EntrustedProgress, EntrustedTable, HeldRows, SumAggregator,
};
pub use refusal::Refusal;
pub use rehearsal::Rehearsal;
pub use released::Released;
pub use reticent_core::{Refused, Typed, words};
pub use reticent_data::Skew;
pub use reticent_noise::{Digest, Entropy, NoiseKey, Sampling};
pub use shards::{Shard, ShardSeat, ShardedRows, Shards, count_persons, self_test};
pub use sums::{BlockTerms, OneRecord, Quadratic, RecordStatistic, TableError};
pub use table::PrivateTable;
pub use terms::Terms;
