//! Many runs over a grid: every combination of some values, each several times, on one table.
//!
//! ```text
//! job.toml, [sweep] ─► Sweep ─► check every run ─► open: one table, a gate a run ─► the bill
//!                                                     │
//!                         journal: started ─► run ─► done, a line each, kept before it counts
//! ```
//!
//! On private data a sweep is a release of all its models: [`ReadySweep::plan`] is what they cost
//! together, to be reserved before the first of them runs. A run that was begun is never begun again,
//! which is kept where no copy of a journal is ([`Register`], proofs/sweep.md), so that a sweep that
//! was killed and goes on releases no more than it was billed for. On a table that is public all of it is an
//! experiment, and what was lost is repeated.

mod grid;
mod journal;
mod run;
#[cfg(test)]
mod run_tests;
mod summary;
mod workers;

pub use grid::{GridPoint, Sweep, SweepFile};
pub use journal::{Finished, Journal, Reserved, SweepKind};
pub use run::{ReadySweep, Register, SweepTerms};
pub use summary::{RunMean, Summary, summary};
