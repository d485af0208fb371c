//! Who is in a masked sum follows from the run's name, and whoever lets attempts at a run fail chooses among names: a
//! lead that lies, or one party with an honest lead. A party gives its random number to so many attempts as its
//! noise is for, and to no more, whoever starts it again.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use reticent_host::links::{Dial, Link, LinkError, Listen};
use reticent_host::message::{Hello, HostMessage, Rejection};
use reticent_host::{HostError, HostOptions, RunTerms, commitment};

use super::attacks::hello;
use super::steps::STEPS;
use super::world::{World, options};

/// How many attempts are counted with.
const MOST: usize = 64;

fn sampled() -> String {
    STEPS.replace("\"record\"", "\"user\"") + "sampling = \"wor:2\"\n"
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn say(link: &mut dyn Link, message: &HostMessage) {
    link.send(&message.pack(), soon()).unwrap();
}

fn hear(link: &mut dyn Link) -> Result<HostMessage, LinkError> {
    link.receive(1 << 20, soon()).map(|frame| HostMessage::unpack(&frame).unwrap())
}

/// A lead at the side of all parties but one, which has that one reveal its number, and begins again because it
/// does not like the name: the names, and what the party says in the end.
fn shopped(
    listener: &dyn Listen,
    units: Option<u64>,
    attempts: usize,
) -> (BTreeSet<[u8; 32]>, HostMessage) {
    let mut names = BTreeSet::new();
    loop {
        let mut link = listener.accept(soon()).unwrap().unwrap().link(soon()).unwrap();
        let HostMessage::Hello(hello) = hear(&mut *link).unwrap() else { panic!() };
        let (lead, other) = ([1; 32], [2; 32]);
        let roll = vec![
            commitment(&lead, None),
            hello.commitment,
            commitment(&other, units),
            commitment(&other, units),
        ];
        say(&mut *link, &HostMessage::Roll(vec![0, 1, 2], roll));
        let said = hear(&mut *link).unwrap();
        let HostMessage::Reveal(own, records) = said else { return (names, said) };
        let terms = RunTerms {
            seats: vec![0, 1, 2],
            nonces: vec![lead, own, other, other],
            units: vec![records, units, units],
        };
        names.insert(terms.run(&hello.job, &hello.roster));
        if names.len() == attempts {
            say(&mut *link, &HostMessage::Over("enough".to_owned()));
            return (names, HostMessage::Again);
        }
        say(&mut *link, &HostMessage::Again);
    }
}

/// Without a count a lead had a thousand names a second.
#[test]
fn a_lead_that_begins_again_until_a_name_suits_gets_few_names() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, &sampled(), "secure-aggregation");
    let (_net, listener, dialers) = world.net();
    // Starting again does not begin the count again.
    for names in [MOST, 0] {
        let (shown, said, joined) = std::thread::scope(|scope| {
            let joined = scope.spawn(|| world.join(0, options(), &*dialers[0]));
            let (shown, said) = shopped(&*listener, None, 2 * MOST);
            (shown, said, joined.join().unwrap())
        });
        assert_eq!(shown.len(), names, "names to choose from");
        assert!(matches!(said, HostMessage::Refused(Rejection::Declined(_))), "{said:?}");
        let why = joined.unwrap_err();
        assert!(matches!(why, HostError::Attempts { most: 64 }), "{why:?}");
        assert!(why.to_string().contains("64 attempts"), "{why}");
    }
}

/// A corrupt party asked for a new key, all signed, and there were as many names again; the same with another job.
#[test]
fn neither_a_new_key_nor_another_job_gives_a_journal_new_names() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, &sampled(), "secure-aggregation");
    let (_net, listener, dialers) = world.net();
    let changes: [&dyn Fn(); 3] = [&|| {}, &|| world.rotate("party-1"), &|| {
        world.write_run("run.toml", &sampled().replace("iterations = ", "iterations = 1"))
    }];
    for (change, names) in changes.into_iter().zip([MOST, 0, 0]) {
        change();
        let (shown, joined) = std::thread::scope(|scope| {
            let joined = scope.spawn(|| world.join(0, options(), &*dialers[0]));
            let (shown, _) = shopped(&*listener, None, 2 * MOST);
            (shown, joined.join().unwrap())
        });
        assert_eq!(shown.len(), names, "names to choose from");
        assert!(matches!(joined, Err(HostError::Attempts { most: 64 })), "{joined:?}");
    }
}

/// Where nothing follows from the name a party is patient.
#[test]
fn attempts_are_not_counted_where_nothing_follows_from_the_name() {
    for (job, trust, units) in [
        (STEPS.to_owned(), "secure-aggregation", Some(9)),
        (sampled(), "central", None),
        (sampled(), "local", None),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 3, &job, trust);
        let (_net, listener, dialers) = world.net();
        let (shown, joined) = std::thread::scope(|scope| {
            let joined = scope.spawn(|| world.join(0, options(), &*dialers[0]));
            let (shown, _) = shopped(&*listener, units, MOST + 2);
            (shown, joined.join().unwrap())
        });
        assert_eq!(shown.len(), MOST + 2, "{trust}");
        assert!(matches!(joined, Err(HostError::NotBegun(_))), "{trust}: {joined:?}");
    }
}

/// One corrupt party, told the terms like everybody, that leaves when it does not like them.
fn leaves(world: &World, dialer: &dyn Dial) -> (usize, HostMessage) {
    let (mut told, nonce) = (0, [9; 32]);
    loop {
        let Ok(mut link) = dialer.dial(soon()) else { continue };
        let own = Hello { commitment: commitment(&nonce, None), ..hello(world, 1) };
        // Another may have left before: then what is heard is that it begins again.
        let say = |link: &mut dyn Link, message: HostMessage| {
            let _ = link.send(&message.pack(), soon());
        };
        say(&mut *link, HostMessage::Hello(own));
        loop {
            match hear(&mut *link) {
                Ok(HostMessage::Roll(..)) => say(&mut *link, HostMessage::Reveal(nonce, None)),
                Ok(HostMessage::Terms(..)) => {
                    told += 1;
                    assert!(told <= 2 * MOST, "as many names as it likes");
                    break;
                }
                Ok(HostMessage::Again) | Err(_) => break,
                Ok(other) => return (told, other),
            }
        }
    }
}

/// The same with a lead that follows the protocol.
#[test]
fn a_party_that_leaves_until_a_name_suits_gets_few_names() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, &sampled(), "secure-aggregation");
    let (_net, listener, dialers) = world.net();
    let own = HostOptions { patience: Duration::from_secs(300), ..options() };
    std::thread::scope(|scope| {
        let led = scope.spawn(|| world.lead(own.clone(), listener));
        let honest = [0, 2]
            .map(|party| (party, &world, own.clone(), &*dialers[party as usize]))
            .map(|(party, world, own, dialer)| scope.spawn(move || world.join(party, own, dialer)));
        let (told, said) = leaves(&world, &*dialers[1]);
        assert!(told <= MOST, "{told}");
        assert!(matches!(&said, HostMessage::Over(why) if why.contains("attempts")), "{said:?}");
        let why = led.join().unwrap().unwrap_err();
        assert!(matches!(&why, HostError::Refused { why: Rejection::Declined(_), .. }), "{why:?}");
        let ends = honest.map(|own| own.join().unwrap().unwrap_err());
        let counted = |why: &HostError| matches!(why, HostError::Attempts { .. });
        assert!(ends.iter().any(counted), "{ends:?}");
        assert!(ends.iter().all(|why| counted(why) || matches!(why, HostError::NotBegun(_))));
        // With a new journal the count would be too.
        assert!(
            ends.iter()
                .filter(|why| !counted(why))
                .all(|why| why.hint().contains("the same journal"))
        );
    });
}
