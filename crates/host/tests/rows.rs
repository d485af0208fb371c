//! The rows of the table in docs/network.md that no other file has: algorithms of sums under each trust in memory, and
//! what is said between nodes, with noise, and behind masks, over QUIC and by couriers. The bits are those of one process.

use reticent::Model;
use reticent::internal::admm::catalogue;
use reticent_host::{Led, PaidRun};

use super::peers::{R_ADMM, WALK, check_graph, check_walk, models, ran};
use super::world::{AUTO, SEED, World, assert_alike, bits, options};

const TRUSTS: [&str; 3] = ["central", "local", "secure-aggregation"];

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
fn check_steps(world: &World, led: &Led, joined: Vec<PaidRun>) {
    let simulated = world.in_one_process();
    assert!(led.without.is_empty() && led.rejections.is_empty(), "{led:?}");
    assert_alike(&Model::from_json(&led.model).unwrap(), &simulated.model);
    for (party, own) in models(joined).iter().enumerate() {
        assert_eq!(bits(own), bits(&simulated.model));
        assert_eq!(own.certificate().ledger, simulated.parties.party(party).unwrap().ledger);
    }
}

#[test]
fn algorithms_of_sums_have_the_bits_of_one_process_under_every_trust() {
    for name in ["ssadmm", "mpadmm", "sadmm", "vradmm", "dp-cd"] {
        let entry = catalogue::find(name).unwrap();
        for trust in TRUSTS {
            let mut job = format!("algorithm = \"{name}\"\nepsilon = 4.0\ndelta = 1e-5\n");
            if entry.takes.contains(&"iterations") {
                job += "iterations = 3\n";
            }
            // Behind masks a sample is refused, and one of these draws where nobody says so.
            if entry.takes.contains(&"sampling") && trust != "central" {
                job += "sampling = \"full\"\n";
            }
            if entry.needs_penalty {
                job += &format!("penalty = \"{}\"\n", entry.penalty);
            }
            let folder = tempfile::tempdir().unwrap();
            let world = World::trusting(folder.path(), 3, &job, trust);
            let (led, joined) = ran(&world, &options());
            check_sums(&world, &led, joined);
        }
    }
}

#[cfg(unix)]
#[test]
fn what_nodes_and_sums_say_has_the_bits_of_one_process_over_quic_and_by_couriers() {
    use super::ways::Way;
    let sums = AUTO.to_owned() + "iterations = 4\n";
    let of_nodes = |name: &str| R_ADMM.replace("r-admm", name).replace("= 6", "= 3");
    let walk = WALK.replace("= 60", "= 30");
    let exact = of_nodes("dp-admm-exact") + "penalty = \"l2:1e-1\"\n";
    for (job, trust, way) in [
        (&sums, "local", Way::Socket),
        (&sums, "local", Way::Quic),
        (&sums, "secure-aggregation", Way::Socket),
        (&sums, "secure-aggregation", Way::Quic),
        (&walk, "network", Way::Quic),
        (&of_nodes("mr-admm"), "local", Way::Quic),
        (&of_nodes("dvp"), "local", Way::Socket),
        (&of_nodes("m-admm"), "local", Way::Quic),
        (&of_nodes("dp-admm"), "local", Way::Socket),
        (&exact, "local", Way::Quic),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 3, job, trust);
        let (roster, names) = (world.run_file().roster, ["party-0", "party-1", "party-2"]);
        let carried = way.carried(&world, &names);
        let listener = way.listener(&world, &roster);
        let dialers: Vec<_> = names.iter().map(|name| way.dialer(&world, &roster, name)).collect();
        let (led, joined) = world.all(&options(), listener, &dialers);
        let led = led.unwrap_or_else(|why| panic!("{job} {way:?}: {why}"));
        let joined: Vec<_> = joined.into_iter().map(Result::unwrap).collect();
        match job {
            job if *job == sums => check_sums(&world, &led, joined),
            job if *job == walk => check_walk(&world, &led, &models(joined)),
            job if job.contains("dp-admm") => check_steps(&world, &led, joined),
            _ => check_graph(&world, &led, &models(joined)),
        }
        drop((dialers, carried));
    }
}
