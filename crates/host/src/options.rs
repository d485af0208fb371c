//! How long a member waits, and who hears of what happens.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::HostError;
use crate::links::{Link, LinkError};
use crate::signed_rosters::SignedRosters;

/// An event of a run, for people and for programs. Nothing of it depends on a record.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Notice {
    /// The run waits for these members.
    Waiting {
        /// Their names.
        #[serde(rename = "for")]
        names: Vec<String>,
    },
    /// A member has connected.
    Arrived {
        /// Its name.
        name: String,
    },
    /// This member is not reached, for this reason, and is tried again.
    Unreached {
        /// Who.
        name: String,
        /// Why.
        why: String,
    },
    /// This member is reached.
    Reached {
        /// Who.
        name: String,
        /// Whether a run was signed or begun before: else others may be waited for.
        again: bool,
    },
    /// This party has gone while the run was agreed on: nothing is spent, and all begin again.
    #[serde(rename = "left early")]
    LeftEarly {
        /// Its name.
        name: String,
    },
    /// These did not come in time, and the run begins without them.
    Struck {
        /// Their names.
        parties: Vec<String>,
    },
    /// This party has left for good, and the others go on from this round on.
    Forfeited {
        /// Who.
        name: String,
        /// The round.
        round: u32,
    },
    /// Somebody, or something, was not let in.
    Rejected {
        /// What or who.
        name: String,
    },
    /// The run has begun, or goes on.
    Began {
        /// The run, in hexadecimal digits.
        run: String,
        /// Whether it had begun before.
        again: bool,
    },
    /// An iteration is done.
    Iteration {
        /// Iterations that are done.
        done: u64,
        /// Iterations of the run.
        of: u64,
    },
    /// A round was answered.
    Answered {
        /// The round.
        round: u32,
    },
    /// A member has the model.
    Delivered {
        /// Its name.
        name: String,
    },
}

/// When a message is on its way, and the name of what is written or said: for tests that end a process
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Moment {
    /// The state is about to be written.
    BeforeCommit(&'static str),
    /// It is on the disk.
    AfterCommit(&'static str),
    /// A frame is about to be sent.
    BeforeSend(&'static str),
    /// It was.
    AfterSend(&'static str),
}

/// Who hears of what happens.
pub type Notify = Arc<dyn Fn(&Notice) + Send + Sync>;

/// Says of a member whether it is known to be gone for good.
#[doc(hidden)]
pub type KnownGone = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// How a member takes part.
#[derive(Clone)]
pub struct HostOptions {
    /// How long somebody who is away is waited for.
    pub patience: Duration,
    /// The fewest parties that the run may begin with, and go on with; all of them where there is none.
    pub least: Option<u32>,
    /// Which rosters the member has signed last: with another one of the same study it begins nothing.
    pub signed: SignedRosters,
    /// Who hears of what happens.
    pub notify: Notify,
    /// The seed of the lead's noise: for tests that compare bits. The result is then not private,
    /// and says so.
    #[doc(hidden)]
    pub seed: Option<u64>,
    /// Who is known to be gone for good: for tests that would wait for patience to be over.
    #[doc(hidden)]
    pub gone: Option<KnownGone>,
    /// Who is shown every message on its way.
    #[doc(hidden)]
    pub witness: Option<Arc<dyn Fn(Moment) + Send + Sync>>,
}

impl Default for HostOptions {
    fn default() -> Self {
        let (patience, notify) = (Duration::from_secs(600), Arc::new(|_: &Notice| ()));
        HostOptions {
            patience,
            least: None,
            signed: SignedRosters::default(),
            notify,
            seed: None,
            gone: None,
            witness: None,
        }
    }
}

impl std::fmt::Debug for HostOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostOptions").field("patience", &self.patience).finish_non_exhaustive()
    }
}

impl HostOptions {
    pub(crate) fn tell(&self, notice: Notice) {
        (self.notify)(&notice);
    }

    pub(crate) fn is_gone(&self, name: &str) -> bool {
        self.gone.as_ref().is_some_and(|gone| gone(name))
    }

    fn at(&self, moment: Moment) {
        if let Some(witness) = &self.witness {
            witness(moment);
        }
    }

    /// A transaction, between its two moments.
    pub(crate) fn writing<T>(
        &self,
        name: &'static str,
        commit: impl FnOnce() -> Result<T, HostError>,
    ) -> Result<T, HostError> {
        self.at(Moment::BeforeCommit(name));
        let done = commit()?;
        self.at(Moment::AfterCommit(name));
        Ok(done)
    }

    /// Sends a frame, between its two moments.
    pub(crate) fn sending(
        &self,
        link: &mut dyn Link,
        (name, frame): (&'static str, &[u8]),
        until: Instant,
    ) -> Result<(), LinkError> {
        self.at(Moment::BeforeSend(name));
        link.send(frame, until)?;
        self.at(Moment::AfterSend(name));
        Ok(())
    }
}
