//! Private ADMM in all its forms, as arithmetic on released values.
//!
//! An algorithm asks an [`Oracle`](reticent_oracle::Oracle) and computes with the answers. It
//! cannot see the data: this crate does not depend on the one that holds them.

/// The names of the settings that an algorithm takes.
#[doc(hidden)]
#[macro_export]
macro_rules! takes {
    ($($setting:ident)*) => {
        &[$(stringify!($setting)),*]
    };
}

mod algorithms;
mod average;
mod basis;
mod block_schedule;
pub mod catalogue;
pub mod defaults;
pub mod exact;
pub mod fixed_point;
mod gradient_run;
mod linearised;
mod momentum;
mod noise_schedule;
mod per_party;
mod precondition;
mod printed;
mod prox;
mod pseudo_inverse;
mod public;
mod release;
mod residual_scale;
mod score_law;
mod setting_value;
mod settings;
mod shrinkage;
mod smoothing;
mod spectrum;
mod splitting;
mod standard_errors;
mod step_size;
mod walk;

pub use algorithms::auto::{AutoChoice, MOST_COLUMNS, RunPart};
pub use algorithms::{Algorithm, Iterate, Progress, Tell, unwatched};
pub use average::Average;
pub use block_schedule::{BlockOrder, BlockSchedule};
pub use noise_schedule::NoiseSchedule;
pub use per_party::{PartyRho, PerParty};
pub use release::Release;
pub use reticent_oracle::Refused;
pub use setting_value::SettingValue;
pub use settings::{
    ProblemFacts, Setting, Settings, at_least_one, fraction, not_negative, positive,
};
pub use smoothing::Smoothing;
pub use standard_errors::{Estimated, Inference};
pub use step_size::StepSize;
pub use walk::WalkState;
