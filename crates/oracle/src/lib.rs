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
#[cfg(feature = "seeded-bugs")]
mod bug;
mod claim;
mod drawn;
mod exact;
mod gate;
mod inside;
mod keyed;
mod lattice;
mod law;
pub mod not_private;
mod oracle;
mod plan;
pub mod queries;
mod refusal;
mod rehearsal;
mod released;
mod sums;
mod table;
pub mod tables;
mod terms;

pub use aggregator::{Seal, SealedBlock, TrustedAggregator, TrusteeBooks};
#[cfg(feature = "seeded-bugs")]
pub use bug::Bug;
pub use claim::Claim;
pub use exact::ExactOracle;
pub use gate::{Gate, Opening, PrivateSelection, Selected};
pub use keyed::Books;
pub use lattice::{Lattice, WalkTerms};
pub use law::Law;
pub use oracle::Oracle;
pub use refusal::Refusal;
pub use rehearsal::Rehearsal;
pub use released::Released;
pub use reticent_accountant::{Refused, Typed, words};
pub use reticent_data::Skew;
pub use reticent_noise::{Digest, Entropy, NoiseKey, Sampling};
pub use sums::{BlockTerms, OneRecord, Quadratic, Statistic, TableError};
pub use table::PrivateTable;
pub use terms::Terms;
