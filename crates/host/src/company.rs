//! The parties of a run: all parties of the roster, or those that came, if the operators let a run
//! begin without the others. Noise, plan and numbers are those of the parties of the run.

use std::sync::Arc;

use reticent::accountant::View;
use reticent::simulate::{RemoteJob, RemoteKind};

use crate::error::HostError;
use crate::roster::Roster;

/// The parties of a run, numbered from 0 in the order of the roster.
#[derive(Debug)]
pub(crate) struct Company<'a> {
    whole: &'a RemoteJob,
    part: Option<RemoteJob>,
    /// The roster of the lead and these parties.
    pub roster: Arc<Roster>,
    /// Their numbers in the roster that all have signed.
    pub seats: Vec<u32>,
}

/// Whether a running run can continue without a party.
pub(crate) fn may_leave(job: &RemoteJob) -> bool {
    job.kind() == RemoteKind::Sums && job.trust() != View::Central
}

impl<'a> Company<'a> {
    /// All parties of the roster.
    pub fn all(job: &'a RemoteJob, roster: &Roster) -> Self {
        let seats = (0..roster.parties()).collect();
        Company { whole: job, part: None, roster: Arc::new(roster.clone()), seats }
    }

    /// These parties of a roster, with the job calculated for their number.
    ///
    /// # Errors
    /// If they are not parties of the roster, or too few for the job.
    pub fn of(job: &'a RemoteJob, roster: &Roster, seats: &[u32]) -> Result<Self, HostError> {
        let ordered = seats.windows(2).all(|pair| pair[0] < pair[1]);
        if !ordered || seats.last().is_none_or(|&last| last >= roster.parties()) {
            return Err(HostError::disagreed(
                "the lead",
                "a list of parties that is not of the roster",
            ));
        }
        if seats.len() == roster.parties() as usize {
            return Ok(Company::all(job, roster));
        }
        let part = Some(job.among(seats)?);
        let roster = Arc::new(roster.among(seats));
        Ok(Company { whole: job, part, roster, seats: seats.to_vec() })
    }

    /// The job between them.
    pub fn job(&self) -> &RemoteJob {
        self.part.as_ref().unwrap_or(self.whole)
    }

    /// The number in the run of a party of the roster.
    pub fn number(&self, seat: u32) -> Option<u32> {
        self.seats.binary_search(&seat).ok().map(|place| place as u32)
    }
}
