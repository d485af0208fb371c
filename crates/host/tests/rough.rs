//! Members as processes of their own that come by QUIC or TLS as a party's default is, and with a seed, so
//! that `benches/rough.py` can compare the bits of runs on rough networks, full disks and odd clocks, and `kills.rs` those
//! of runs whose members are killed.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use reticent_budget::Relation;
use reticent_host::links::{LinkKind, PartyWay, listener};
use reticent_host::{HostError, HostOptions, JoinBudget, KnownGone};

use super::world::{AUTO, Tapped, World, options};

/// The member's folder, which member it is, and a folder for what the script looks at: a disk that is full is the member's
/// own.
const FOLDER: &str = "RETICENT_ROUGH_FOLDER";
const ROLE: &str = "RETICENT_ROUGH_ROLE";
const OUT: &str = "RETICENT_ROUGH_OUT";

/// By what they come, where it is not the default; and whether whoever has its model is waited for no more.
const LINK: &str = "RETICENT_ROUGH_LINK";
const LEAVES: &str = "RETICENT_ROUGH_LEAVES";

pub const MEMBERS: [&str; 4] = ["lead", "party-0", "party-1", "party-2"];

/// A member over this link, whose folder is everybody's.
pub fn start(folder: &Path, role: &str, link: &str) -> Child {
    let _ = std::fs::remove_file(folder.join(format!("{role}.end")));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "rough::member", "--nocapture"]).env(FOLDER, folder).env(OUT, folder);
    command.env(ROLE, role).env(LINK, link).env(LEAVES, "1");
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn link() -> LinkKind {
    std::env::var(LINK).map_or(LinkKind::Auto, |name| name.parse().unwrap())
}

/// What such a process does; nothing where nobody has asked for it.
#[test]
fn member() {
    let (Ok(folder), Ok(role)) = (std::env::var(FOLDER), std::env::var(ROLE)) else { return };
    let out = PathBuf::from(std::env::var(OUT).unwrap());
    let world = World::found(Path::new(&folder), 3, AUTO, "as written");
    let has_model = out.clone();
    let gone: KnownGone = Arc::new(move |name| {
        let said = std::fs::read_to_string(has_model.join(format!("{name}.end")));
        said.is_ok_and(|said| said == "done")
    });
    let gone = std::env::var(LEAVES).is_ok().then_some(gone);
    let options = HostOptions { patience: world.run_file().patience, gone, ..options() };
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
    let place = Some((link(), roster.lead_address()));
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
    let mut way = PartyWay::default();
    way.link = link();
    let dialer = Tapped { dialer: way.dialer(&identity, &roster)?, file };
    let budget = world.at(&format!("{role}.budget"));
    let paid = JoinBudget { file: &budget, relation: Relation::Same };
    let done = world.join_paid(party, options, &dialer, Some(paid))?;
    Ok(done.joined.model.to_json()?)
}
