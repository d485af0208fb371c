//! WHERE: one member of a private run on a machine of its own. The lead runs the algorithm; a party says
//! sums over its own records to it: exact ones that are closed for a lead that it trusts and that adds the
//! noise, or sums with its own noise, by themselves or behind masks, to one that it does not trust.
//!
//! * [`Roster`]: who takes part, signed by all.
//! * [`RemoteJob`](reticent::simulate::RemoteJob): what is asked, the same for all.
//! * [`links`]: how frames travel; each link has proven the key at its other end.
//! * [`RunJournal`]: what a member remembers; **nothing is sent before the state that remembers it is on
//!   the disk**.
//! * [`Lead`] and [`RemoteParty`]: the two roles.
//! * [`peers`]: nodes that speak with one another, through a lead that cannot read it.
//!
//! The one function that a reviewer of a party reads is `Serving::answer` in `serving.rs`. Proof:
//! proofs/network.md.
#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod agreeing;
mod agreement;
mod answer_payer;
mod attempts;
mod carrier;
mod company;
mod door;
mod error;
mod files;
mod hall;
mod journal;
mod kept;
mod lead;
mod leaving;
pub mod links;
mod lobby;
mod mask_keys;
#[doc(hidden)] // for tests of what a stranger may say
pub mod message;
mod node;
mod options;
mod paid;
mod party;
#[doc(hidden)] // for tests of what a relay may do
pub mod peers;
mod roster;
mod rotation;
mod seat;
mod serving;
mod signed_rosters;
mod slots;
mod status;
mod sums;

pub use agreement::{PROGRAM, RunTerms, commitment, sign, statement};
#[doc(hidden)]
pub use answer_payer::ReservedJob;
pub use error::HostError;
pub use files::{PartyFile, RunFile};
pub use journal::RunJournal;
pub use lead::{Lead, Led};
pub use options::{HostOptions, Notice, Notify};
#[doc(hidden)]
pub use options::{KnownGone, Moment};
pub use paid::{JoinBudget, PaidRun};
pub use party::{Joined, RemoteParty};
pub use roster::{MOST_PARTIES, Roster, RosterMember, today};
pub use rotation::RotatedKey;
pub use signed_rosters::SignedRosters;
pub use status::{RunStage, RunStatus, forfeit, let_go};
