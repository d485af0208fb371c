//! What a run on noisy sums refuses before it has a table.

use reticent_accountant::View;
use reticent_admm::fraction;
use reticent_oracle::Digest;
use reticent_runtime::{Failures, ProtocolEntry};

use super::check::{SimulationJob, no_needless_graph};
use super::held::{asks_for_more, check_public_sizes, not_sums};
use super::noisy::NoisyJob;
use super::simulation::Simulation;
use crate::error::Error;
use crate::map;

/// The default fraction of all parties that is assumed honest behind masks.
pub(super) const HONEST: f64 = 0.8;

impl Simulation {
    /// Checks a run of an algorithm of one table on noisy sums.
    pub(super) fn check_noisy(
        mut self,
        digest: Digest,
        view: View,
    ) -> Result<SimulationJob, Error> {
        let honest = self.settings.honest.take();
        self.check_unused(view, honest)?;
        check_public_sizes(&self.guarantee, self.split)?;
        let honest = fraction("honest", honest.unwrap_or(HONEST))?;
        let (job, task) = self.of_one_table(view, digest)?;
        // No other trust would help what asks for more than sums.
        let more = |why| if asks_for_more(&task) { not_sums(job.entry.name) } else { why };
        needs_server(job.entry, view)
            .and_then(|()| map::offered(&task.cell(false)))
            .map_err(more)?;
        let noisy = NoisyJob::new(task, honest);
        noisy.try_out(job.split)?;
        Ok(SimulationJob { noisy: Some(noisy), ..job })
    }

    /// Refuses what is said of a run that no run on noisy sums has.
    fn check_unused(&self, view: View, honest: Option<f64>) -> Result<(), Error> {
        self.check_skew()?;
        no_needless_graph(self.entry(), self.topology.as_deref())?;
        if let Some(honest) = honest.filter(|_| view == View::Local) {
            let why = "it is for `trust = secure-aggregation`; where every answer is seen nobody else's noise \
                       counts; leave it out";
            return Err(Error::value("honest", honest, why));
        }
        if self.settings.as_published == Some(true) {
            let why = "what papers claim of one table is not run between parties; leave it out";
            return Err(Error::value("as_published", true, why));
        }
        if self.noise == Some(0.0) {
            let why = "without noise there is nothing between a party's records and the server; give some, or use \
                       `reticent fit` on one table";
            return Err(Error::value("noise", 0, why));
        }
        check_failures(&self.failures, view)?;
        match self.budgets.iter().next() {
            None => Ok(()),
            Some((party, _)) => {
                let why = "each party adds the same part of the noise of every sum, and is counted for the same; \
                           give one epsilon for all, or use `algorithm = federated`";
                Err(Error::value("budgets", party, why))
            }
        }
    }
}

/// Refuses what peers have nobody to ask for.
fn needs_server(entry: &ProtocolEntry, view: View) -> Result<(), Error> {
    if view != View::Network {
        return Ok(());
    }
    let why = format!(
        "{} asks a server, which peers have none of; use local, secure-aggregation or central, or `algorithm = r-admm`",
        entry.name
    );
    Err(Error::value("trust", view, why))
}

/// Refuses what may not, or cannot, go wrong in a run on noisy sums.
fn check_failures(failures: &Failures, view: View) -> Result<(), Error> {
    let Failures { delay, byzantine, restart, .. } = *failures;
    let why = match view {
        _ if *failures == Failures::default() => return Ok(()),
        View::SecureAggregation if delay > 0.0 => {
            "a message that comes a round late is lost here, because its sum is over; say `before` or `after`"
        }
        View::SecureAggregation if byzantine > 0.0 => {
            "nobody sees how large a masked vector is; leave it out, or use `algorithm = federated`"
        }
        View::SecureAggregation if restart > 0.0 => {
            "a run on sums goes on after a crash by itself, from a checkpoint; leave it out"
        }
        View::SecureAggregation => return Ok(failures.check()?),
        _ => {
            "where every answer is seen a run on sums ends where a party does: a party that stays away would be \
             missing from the model without a word; leave it out, or use secure-aggregation, or `algorithm = \
             federated`"
        }
    };
    Err(Error::value("fail", "given", why))
}
