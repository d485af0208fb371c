//! Sums whose noise, sample and books are the parties' own: what a server asks that is trusted with
//! nothing but noisy answers.
//!
//! ```text
//! server → party:  what is summed: point, clip, basis                 public numbers
//! party:           is it the next step of the plan that it has drawn up itself? entry ─► clip, round, add up, noise
//! party → server:  integers with their noise                          by themselves (local), or behind masks
//! server:          Σ over the parties ─► the algorithm
//! ```
//!
//! The other seam between a gate and rows that are elsewhere, [`Holder`](crate::holder::Holder), has
//! exact integers inside the gate's trust. Here nothing exact leaves a party, and the server's side,
//! [`NoisySums`], has neither noise nor books: it cannot release what has no noise, because it has
//! nothing else. Proof: proofs/noisy-sums.md.

mod answered_by;
mod law;
mod party;
mod plan;
mod reach;
mod request;
mod server;

pub use answered_by::AnsweredBy;
pub use law::SumLaw;
pub(crate) use law::masked_event;
pub use party::{SumParty, SumPartyReport, SumProgress};
pub use plan::SumPlan;
pub(crate) use plan::{DraftedPlan, PlannedStep};
pub use reach::SumReach;
pub use server::{NoisySums, PartialSum, RoundRequest, SumCarrier};
