//! The same bits as in one process, whatever carries them.

use reticent::Model;
use reticent_host::links::Dial;

use reticent_host::HostOptions;

use super::world::{AUTO, World, assert_same, bits, options};

const SAMPLED: &str = "algorithm = \"dp-sgd\"\nepsilon = 2.0\ndelta = 1e-5\niterations = 6\n\
    sampling = \"poisson:0.3\"\n";

const SHORT: &str = "algorithm = \"dp-sgd\"\nepsilon = 2.0\ndelta = 1e-5\niterations = 6\n";

fn check(world: &World, led: reticent_host::Led, joined: Vec<reticent_host::PaidRun>) {
    let simulated = world.simulated();
    let model = Model::from_json(&led.model).unwrap();
    assert_same(&model, &simulated);
    assert!(led.without.is_empty() && led.rejections.is_empty(), "{led:?}");
    assert_eq!(joined.len(), world.parties as usize);
    for own in joined {
        assert_same(&own.joined.model, &simulated);
        assert_eq!(own.joined.run, led.run);
    }
}

#[test]
fn a_run_in_memory_has_the_bits_of_simulate() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 3, AUTO);
    let (_net, listener, dialers) = world.net();
    let (led, joined) = world.all(&options(), listener, &dialers);
    check(&world, led.unwrap(), joined.into_iter().map(Result::unwrap).collect());
}

#[test]
fn a_run_over_tls_has_the_bits_of_simulate() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path(), 3, AUTO);
    let listener = world.tls_listener().unwrap();
    let dialers: Vec<Box<dyn Dial>> = (0..3)
        .map(|party| Box::new(world.tls_dialer(&format!("party-{party}"))) as Box<dyn Dial>)
        .collect();
    let (led, joined) = world.all(&options(), listener, &dialers);
    let led = led.unwrap();
    let (rounds, traffic) = led.moved.unwrap();
    assert!(rounds > 3 && traffic.messages > 2 * u64::from(rounds));
    check(&world, led, joined.into_iter().map(Result::unwrap).collect());
}

/// Whatever carries the frames, a courier that loses parcels too: the same model and the same ledger.
#[cfg(unix)]
#[test]
fn a_run_by_quic_through_a_proxy_and_by_couriers_has_the_bits_of_simulate() {
    use super::ways::Way;
    for way in [Way::Quic, Way::Proxy, Way::Socket] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::new(folder.path(), 3, SHORT);
        let names = ["party-0", "party-1", "party-2"];
        let carried = way.carried(&world, &names);
        let roster = world.run_file().roster;
        let listener = way.listener(&world, &roster);
        let dialers: Vec<Box<dyn Dial>> =
            names.iter().map(|name| way.dialer(&world, &roster, name)).collect();
        let (led, joined) = world.all(&options(), listener, &dialers);
        let led = led.unwrap_or_else(|why| panic!("{way:?}: {why}"));
        check(&world, led, joined.into_iter().map(Result::unwrap).collect());
        drop((dialers, carried));
    }
}

/// A secret sample: the bits are those of the pooled fit, whose rows are the parties' one behind the
/// other, and what is moved is as much whoever is drawn.
#[test]
fn a_secret_sample_is_the_pooled_one_and_does_not_show_in_what_is_moved() {
    let run = |seed: u64| {
        let folder = tempfile::tempdir().unwrap();
        let world = World::new(folder.path(), 2, SAMPLED);
        let (_net, listener, dialers) = world.net();
        let own = HostOptions { seed: Some(seed), ..options() };
        let (led, joined) = world.all(&own, listener, &dialers);
        joined.into_iter().for_each(|own| drop(own.unwrap()));
        let led = led.unwrap();
        let model = Model::from_json(&led.model).unwrap();
        assert_eq!(bits(&model), bits(&world.pooled(seed)));
        (led.moved.unwrap(), bits(&model))
    };
    let ((one, first), (two, second)) = (run(7), run(8));
    assert_eq!(one, two);
    assert_ne!(first, second);
}
