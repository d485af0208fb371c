//! Members as processes of their own that come by QUIC or TLS as a party's default is, and with a seed, so
//! that `benches/rough.py` can compare the bits of runs on rough networks, full disks and odd clocks.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reticent_budget::Relation;
use reticent_host::links::quic::QuicDialer;
use reticent_host::links::several::FallbackDialer;
use reticent_host::links::tls::TlsDialer;
use reticent_host::links::{LinkKind, listener};
use reticent_host::{HostError, HostOptions, JoinBudget};

use super::world::{AUTO, Tapped, World, options};

/// The member's folder, which member it is, and a folder for what the script looks at: a disk that is full is the member's
/// own.
const FOLDER: &str = "RETICENT_ROUGH_FOLDER";
const ROLE: &str = "RETICENT_ROUGH_ROLE";
const OUT: &str = "RETICENT_ROUGH_OUT";

/// What such a process does; nothing where nobody has asked for it.
#[test]
fn member() {
    let (Ok(folder), Ok(role)) = (std::env::var(FOLDER), std::env::var(ROLE)) else { return };
    let out = PathBuf::from(std::env::var(OUT).unwrap());
    let world = World::found(Path::new(&folder), 3, AUTO, "as written");
    let options = HostOptions { patience: world.run_file().patience, ..options() };
    let done = match role.strip_prefix("party-") {
        Some(party) => {
            joined(&world, party.parse().unwrap(), options, out.join(format!("{role}.wire")))
        }
        None => led(&world, options),
    };
    let said = match done {
        Ok(model) => {
            std::fs::write(out.join(format!("{role}.model")), model).unwrap();
            "done".to_owned()
        }
        Err(why) => why.to_string(),
    };
    std::fs::write(out.join(format!("{role}.end")), said).unwrap();
}

fn led(world: &World, options: HostOptions) -> Result<String, HostError> {
    let (identity, roster) = (Arc::new(world.identity("lead")), world.run_file().roster);
    let place = Some((LinkKind::Auto, roster.lead_address()));
    Ok(world.lead(options, listener(&identity, &roster, place, None)?)?.model)
}

fn joined(
    world: &World,
    party: u32,
    options: HostOptions,
    file: PathBuf,
) -> Result<String, HostError> {
    let role = format!("party-{party}");
    let (identity, roster) = (Arc::new(world.identity(&role)), world.run_file().roster);
    let quic = Box::new(QuicDialer::new(&identity, &roster)?);
    let dialer = FallbackDialer::new(quic, Box::new(TlsDialer::new(&identity, &roster)?));
    let dialer = Tapped { dialer, file };
    let budget = world.at(&format!("{role}.budget"));
    let paid = JoinBudget { file: &budget, relation: Relation::Same };
    let done = world.join_paid(party, options, &dialer, Some(paid))?;
    Ok(done.joined.model.to_json()?)
}
