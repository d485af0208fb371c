//! The time limits of a member, and its notifications.

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
    /// A member cannot be reached; it is tried again.
    Unreached {
        /// Its name.
        name: String,
        /// The reason.
        why: String,
    },
    /// A member was reached.
    Reached {
        /// Its name.
        name: String,
        /// Whether a run was signed or begun before; otherwise others may still be missing.
        again: bool,
    },
    /// A party has left while the run was agreed on: nothing is spent, and all begin again.
    #[serde(rename = "left early")]
    LeftEarly {
        /// Its name.
        name: String,
    },
    /// Parties did not connect in time, and the run begins without them.
    Struck {
        /// Their names.
        parties: Vec<String>,
    },
    /// A party has left for good, and the others continue from this round on.
    Forfeited {
        /// Its name.
        name: String,
        /// The round.
        round: u32,
    },
    /// A connection or a message was refused.
    Rejected {
        /// The reason, or the sender.
        name: String,
    },
    /// The run has begun, or continues.
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

/// A moment of a message, with the name of what is written or sent: for tests that end a process
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum Moment {
    /// The state is about to be written.
    BeforeCommit(&'static str),
    /// The state is on the disk.
    AfterCommit(&'static str),
    /// A frame is about to be sent.
    BeforeSend(&'static str),
    /// A frame was sent.
    AfterSend(&'static str),
}

/// The receiver of notifications.
pub type Notify = Arc<dyn Fn(&Notice) + Send + Sync>;

/// Tells whether a member is known to be gone for good.
#[doc(hidden)]
pub type KnownGone = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// The options of a member.
#[derive(Clone)]
pub struct HostOptions {
    /// The longest time to wait for a member that is away.
    pub patience: Duration,
    /// The fewest parties that the run may begin and continue with; by default all.
    pub least: Option<u32>,
    /// The rosters that the member has signed last: it begins no run with another one of the same
    /// study.
    pub signed: SignedRosters,
    /// The receiver of notifications.
    pub notify: Notify,
    /// The seed of the lead's noise: for tests that compare bits. The result is then not private,
    /// and its certificate says so.
    #[doc(hidden)]
    pub seed: Option<u64>,
    /// Members that are known to be gone for good: for tests that do not wait for the time limit.
    #[doc(hidden)]
    pub gone: Option<KnownGone>,
    /// The receiver of every moment of a message.
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

    /// Runs a transaction between its two moments.
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

    /// Sends a frame between its two moments.
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
