//! A run in one process: all nodes from one agreement, with keys that follow from one.

use reticent_accountant::Refused;
use reticent_noise::{Digest, Hasher, NoiseKey};
use reticent_oracle::PrivateTable;

use crate::error::RunError;
use crate::message::PartyId;
use crate::run::{Agreement, Setup};
use crate::simulation::SimulatedRun;

/// The label of the server's key under the key of a simulation; parties have their numbers.
const OF_SERVER: u64 = u64::MAX;

/// Calibrates the noise and makes the nodes; there is a table for each party. All keys follow from
/// `key`; on a network each party has its own.
pub fn prepare(
    setup: Setup<'_>,
    key: NoiseKey,
    tables: Vec<PrivateTable>,
) -> Result<SimulatedRun, RunError> {
    let run = run_id(&setup.job, &key)?;
    simulated(Agreement::new(setup, run)?, key, tables)
}

/// The same with the noise of a run on a network, whose parties may be left of `whole`: for tests
/// that compare bits.
#[doc(hidden)]
pub fn prepare_as_apart(
    setup: Setup<'_>,
    whole: Option<u32>,
    key: NoiseKey,
    tables: Vec<PrivateTable>,
) -> Result<SimulatedRun, RunError> {
    let run = run_id(&setup.job, &key)?;
    let mut agreement = Agreement::new(setup, run)?;
    whole.map_or(Ok(()), |whole| agreement.left_of(whole))?;
    agreement.protocol.count_attempts();
    simulated(agreement, key, tables)
}

/// The same with a known defect, for an audit to find.
#[cfg(reticent_seeded_bugs)]
pub fn prepare_spoiled(
    setup: Setup<'_>,
    key: NoiseKey,
    tables: Vec<PrivateTable>,
    bug: reticent_oracle::Bug,
) -> Result<SimulatedRun, RunError> {
    let run = run_id(&setup.job, &key)?;
    let mut agreement = Agreement::new(setup, run)?;
    agreement.spoil(bug);
    let mut simulation = simulated(agreement, key, tables)?;
    simulation.bug = Some(bug);
    Ok(simulation)
}

/// The identifier of a run with this key: public, and different for every run, like the key.
pub fn run_id(job: &Digest, key: &NoiseKey) -> Result<Digest, RunError> {
    let number = key.entropy(job).below(u64::MAX)?;
    Ok(Hasher::new("reticent run").field(job).number(number).finish())
}

/// The key that all keys of a run in one process follow from, and the name of the run.
#[derive(Clone, Copy, Debug)]
pub struct RunKey<'a> {
    /// The key.
    pub key: &'a NoiseKey,
    /// The name.
    pub run: &'a Digest,
}

/// The key of a party, or of the server, under the key of a simulation.
pub fn key_of(id: PartyId, key: &NoiseKey) -> NoiseKey {
    key.child(if id == crate::SERVER { OF_SERVER } else { u64::from(id.0) })
}

fn simulated(
    mut agreement: Agreement,
    key: NoiseKey,
    tables: Vec<PrivateTable>,
) -> Result<SimulatedRun, RunError> {
    if tables.len() != agreement.parties() as usize {
        let allowed = format!("the description of the run has {} parties", agreement.parties());
        return Err(Refused::new("parties", tables.len(), allowed).into());
    }
    agreement.trust(agreement.aggregator_key(&key_of(crate::SERVER, &key)));
    let mut nodes = Vec::with_capacity(tables.len() + 1);
    for (table, i) in tables.into_iter().zip(0..) {
        nodes.push(agreement.node(PartyId(i), table, key_of(PartyId(i), &key))?);
    }
    nodes.extend(agreement.server(key_of(crate::SERVER, &key))?);
    SimulatedRun::new(agreement, nodes, key)
}
