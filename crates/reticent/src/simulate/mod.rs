//! A job of many parties, run in one process.

mod books;
mod check;
mod held;
mod nodes;
mod remote;
mod run;
mod seating;
mod simulation;
mod spec;

pub use books::{PartyBooks, Spread};
pub use check::SimulationJob;
pub use nodes::NodeModels;
pub use remote::{RemoteJob, RemoteRun};
pub use reticent_oracle::Skew;
pub use reticent_runtime::{Failures, Traffic};
pub use run::{CheckpointOptions, ReadySimulation, Simulated};
pub use simulation::Simulation;
pub use spec::{BETWEEN_PARTIES, OF_ONE_TABLE, Parties, SimulationSpec};
