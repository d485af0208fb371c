//! The same bits as in one process, whatever carries them.

use reticent::Model;
use reticent_host::links::Dial;

use super::world::{AUTO, World, assert_same, options};

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
