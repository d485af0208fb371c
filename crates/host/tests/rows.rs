//! Every row of the table in docs/network.md: each algorithm under each of its trusts, in memory, by couriers and over QUIC,
//! has the bits and the ledgers of one process.

use reticent::Model;
use reticent::internal::admm::catalogue;
use reticent::simulate::RemoteKind;
use reticent_host::{HostError, Led, PaidRun};

use super::peers::{R_ADMM, WALK, check_graph, check_walk, models};
use super::world::{SEED, World, assert_alike, bits, options};

const TRUSTS: [&str; 3] = ["central", "local", "secure-aggregation"];

/// The parties of a run: a sum of one more is the same.
const PARTIES: u32 = 2;

/// The numbers and the ledger of one process, at the lead and at every party.
fn check_sums(world: &World, led: &Led, joined: Vec<PaidRun>) {
    // A sample is of the pooled rows in their order, which `simulate` deals in another.
    let simulated = match world.is_central() {
        true => world.pooled(SEED),
        false => world.simulated(),
    };
    assert!(led.without.is_empty() && led.rejections.is_empty(), "{led:?}");
    assert_alike(&Model::from_json(&led.model).unwrap(), &simulated);
    models(joined).iter().for_each(|own| assert_alike(own, &simulated));
}

/// The same of a server that asks for steps, where each party has a ledger of its own.
pub fn check_steps(world: &World, led: &Led, joined: Vec<PaidRun>) {
    let simulated = world.in_one_process();
    assert!(led.without.is_empty() && led.rejections.is_empty(), "{led:?}");
    assert_alike(&Model::from_json(&led.model).unwrap(), &simulated.model);
    for (party, own) in models(joined).iter().enumerate() {
        assert_eq!(bits(own), bits(&simulated.model));
        assert_eq!(own.certificate().ledger, simulated.parties.party(party).unwrap().ledger);
    }
}

/// A walk that all see: the last token is somebody's own.
fn check_seen_walk(world: &World, led: &Led, joined: Vec<PaidRun>) {
    assert!(led.model.is_empty() && led.without.is_empty() && led.rejections.is_empty(), "{led:?}");
    let last = bits(&world.in_one_process().model);
    assert!(models(joined).iter().any(|own| bits(own) == last));
}

/// A few rounds of an algorithm of sums.
fn of_sums(name: &str, trust: &str) -> String {
    let entry = catalogue::find(name).unwrap();
    let mut job = format!("algorithm = \"{name}\"\nepsilon = 4.0\ndelta = 1e-5\n");
    if entry.takes.contains(&"iterations") {
        job += "iterations = 2\n";
    }
    // Behind masks a sample is refused, and some of these draw where nobody says so.
    if entry.takes.contains(&"sampling") && trust != "central" {
        job += "sampling = \"full\"\n";
    }
    if entry.needs_penalty {
        job += &format!("penalty = \"{}\"\n", entry.penalty);
    }
    job
}

/// Every algorithm under every trust that it has.
fn rows() -> Vec<(String, &'static str)> {
    let mut rows = Vec::new();
    for name in ["auto", "dp-sgd", "ssadmm", "mpadmm", "sadmm", "vradmm", "dp-cd"] {
        rows.extend(TRUSTS.map(|trust| (of_sums(name, trust), trust)));
    }
    let of_nodes = |name: &str| R_ADMM.replace("r-admm", name).replace("= 6", "= 2");
    rows.extend(TRUSTS.map(|trust| (of_nodes("federated"), trust)));
    for name in ["dp-admm", "r-admm", "mr-admm", "dvp", "m-admm"] {
        rows.push((of_nodes(name), "local"));
    }
    rows.push((of_nodes("dp-admm-exact") + "penalty = \"l2:1e-1\"\n", "local"));
    let walk = WALK.replace("= 60", "= 12");
    rows.push((walk.clone() + "walk = \"stateful\"\n", "local"));
    rows.push((walk, "network"));
    rows
}

type Ran = (Result<Led, HostError>, Vec<Result<PaidRun, HostError>>);

/// So many runs at a time: most of what they take is waiting for parcels.
const TOGETHER: usize = 8;

/// All rows, by this way.
fn check_rows(way: impl Fn(&World) -> Ran + Sync) {
    let (rows, way) = (rows(), &way);
    std::thread::scope(|scope| {
        for lane in 0..TOGETHER {
            let own: Vec<_> = rows.iter().skip(lane).step_by(TOGETHER).cloned().collect();
            scope.spawn(move || check_lane(own, way));
        }
    });
}

fn check_lane(rows: Vec<(String, &'static str)>, way: &impl Fn(&World) -> Ran) {
    for (job, trust) in rows {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), PARTIES, &job, trust);
        let (led, joined) = way(&world);
        let led = led.unwrap_or_else(|why| panic!("{job} {trust}: {why}"));
        let joined: Vec<_> = joined.into_iter().map(Result::unwrap).collect();
        match (world.run_file().job.kind(), trust) {
            (RemoteKind::Sums, _) => check_sums(&world, &led, joined),
            (RemoteKind::Graph, _) => check_graph(&world, &led, &models(joined)),
            (RemoteKind::Walk, "network") => check_walk(&world, &led, &models(joined)),
            (RemoteKind::Walk, _) => check_seen_walk(&world, &led, joined),
            _ => check_steps(&world, &led, joined),
        }
    }
}

#[test]
fn every_algorithm_has_the_bits_of_one_process_in_memory() {
    check_rows(|world| {
        let (_net, listener, dialers) = world.net();
        world.all(&options(), listener, &dialers)
    });
}

#[cfg(unix)]
fn carried(world: &World, way: super::ways::Way) -> Ran {
    let (roster, names) = (world.run_file().roster, ["party-0", "party-1"]);
    let _carried = way.carried(world, &names);
    let listener = way.listener(world, &roster);
    let dialers: Vec<_> = names.iter().map(|name| way.dialer(world, &roster, name)).collect();
    world.all(&options(), listener, &dialers)
}

#[cfg(unix)]
#[test]
fn every_algorithm_has_the_bits_of_one_process_by_couriers() {
    check_rows(|world| carried(world, super::ways::Way::Socket));
}

#[cfg(unix)]
#[test]
fn every_algorithm_has_the_bits_of_one_process_over_quic() {
    check_rows(|world| carried(world, super::ways::Way::Quic));
}

/// The table of the guide says no other algorithm, and the program runs no other.
#[test]
fn the_rows_are_all_that_a_network_runs() {
    let all = rows();
    let mut names: Vec<&str> = all.iter().filter_map(|(job, _)| job.split('"').nth(1)).collect();
    names.dedup();
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), PARTIES, &all[0].0, "local");
    world.write_run("run.toml", &all[0].0.replace("auto", "admm-network"));
    let refused = reticent_host::RunFile::read(&world.at("run.toml")).unwrap_err().to_string();
    for name in names {
        assert!(refused.contains(name), "{name}: {refused}");
    }
}
