//! A job of many parties, run in one process.

mod asked;
mod asked_sums;
mod books;
mod budget_files;
mod check;
mod dealing;
mod held;
mod kept;
mod lead_errors;
mod nodes;
mod noisy;
mod noisy_check;
mod noisy_run;
mod ready;
mod remaining;
mod remote;
mod remote_peers;
mod remote_sums;
mod run;
mod seating;
mod simulated;
mod simulation;
mod spec;
mod staying;
mod sum_assumptions;
mod usual;

pub use asked::{JobBetween, ReadyBetween};
#[doc(hidden)]
pub use asked_sums::CalibratedQuestion;
pub use books::{PartyBooks, Spread};
pub use budget_files::BudgetFiles;
pub use check::SimulationJob;
pub use kept::CheckpointOptions;
pub use nodes::NodeModels;
#[doc(hidden)]
pub use noisy::{CalibratedSums, rounds_if_learned};
pub use ready::ReadySimulation;
pub use remote::{MOST_TOGETHER, RemoteJob, RemoteRun};
pub use remote_peers::{RemoteKind, SignedByAll};
pub use remote_sums::RemoteSums;
pub use reticent_oracle::Skew;
pub use reticent_runtime::{Failures, Traffic};
pub use simulated::Simulated;
pub use simulation::Simulation;
pub use spec::{Parties, SimulationSpec};

pub use crate::spec::{BETWEEN_PARTIES, OF_ONE_TABLE};
