//! A party behind masks whose journal was put back from an old copy, and a lead that does not say so: it lies about how
//! much it has of the party, and asks again what it has asked before. Where the journal has the keys of the sum it is the
//! same member, and says the same bytes; where it has not, no key is used twice, and nothing opens: of the new masks the lead
//! is told one share, and nothing more of the others' than before.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use reticent::internal::runtime::{SignedKeys, wire};
use reticent_host::message::HostMessage;
use reticent_host::{HostOptions, RunJournal};
use reticent_masks::{Body, Message, PublicKeys};

use super::relays::{Twist, twisted};
use super::world::{AUTO, World, options};

/// The steps of the second sum.
const SECOND: std::ops::RangeInclusive<u32> = 5..=8;

/// What party 0 was asked and said, round by round, and its journal before it was asked.
#[derive(Default)]
struct FirstLife {
    asked: BTreeMap<u32, Vec<u8>>,
    said: BTreeMap<u32, Vec<u8>>,
    journals: BTreeMap<u32, [Option<Vec<u8>>; 2]>,
}

const FILES: [&str; 2] = ["party-0.journal", "party-0.journal-wal"];

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// A run in which all is as it should be.
fn lived(world: &World) -> FirstLife {
    let life: Arc<Mutex<FirstLife>> = Arc::default();
    let (own, folder) = (Arc::clone(&life), world.folder.clone());
    let come: Twist = Arc::new(move |message| {
        if let HostMessage::Envelope(bytes) = &message {
            let round = wire::decode(bytes, wire::LONGEST).unwrap().round;
            let mut own = own.lock().unwrap();
            own.asked.insert(round, bytes.clone());
            let copy = FILES.map(|file| std::fs::read(folder.join(file)).ok());
            own.journals.insert(round, copy);
        }
        message
    });
    let own = Arc::clone(&life);
    let go: Twist = Arc::new(move |message| {
        if let HostMessage::Envelope(bytes) = &message {
            let said = wire::decode(bytes, wire::LONGEST).unwrap();
            own.lock().unwrap().said.insert(said.round, said.payload);
        }
        message
    });
    let (joined, names) = twisted(world, &options(), (come, go));
    assert!(names.is_empty() && joined.iter().all(Result::is_ok));
    std::mem::take(&mut life.lock().unwrap())
}

fn put_back(folder: &Path, copy: &[Option<Vec<u8>>; 2]) {
    for (file, bytes) in FILES.iter().zip(copy) {
        match bytes {
            Some(bytes) => {
                let path = folder.join(file);
                std::fs::write(&path, bytes).unwrap();
                let own = std::os::unix::fs::PermissionsExt::from_mode(0o600);
                std::fs::set_permissions(&path, own).unwrap();
            }
            None => drop(std::fs::remove_file(folder.join(file))),
        }
    }
}

/// What party 0 says from this round of the second sum on, with the journal that it had before it, to a lead that has no
/// answer of it from then on, as it says, and asks what it has asked before; and how it ends.
fn asked_again(
    world: &World,
    life: &FirstLife,
    from: u32,
) -> (BTreeMap<u32, Vec<u8>>, Option<String>, String) {
    put_back(&world.folder, &life.journals[&from]);
    let (_net, listener, dialers) = world.net();
    let own = HostOptions { patience: Duration::from_secs(30), ..options() };
    std::thread::scope(|scope| {
        let joined = scope.spawn(|| world.join(0, own, &*dialers[0]));
        let mut link = listener.accept(soon()).unwrap().unwrap().link(soon()).unwrap();
        let hello = HostMessage::unpack(&link.receive(wire::LONGEST, soon()).unwrap()).unwrap();
        assert!(matches!(hello, HostMessage::Hello(hello) if hello.run.is_some()));
        let (mut said, mut refused) = (BTreeMap::new(), None);
        link.send(&HostMessage::Known(from - 1).pack(), soon()).unwrap();
        for round in from..=*SECOND.end() {
            let ask = HostMessage::Envelope(life.asked[&round].clone());
            link.send(&ask.pack(), soon()).unwrap();
            match HostMessage::unpack(&link.receive(wire::LONGEST, soon()).unwrap()).unwrap() {
                HostMessage::Envelope(bytes) => {
                    let answer = wire::decode(&bytes, wire::LONGEST).unwrap();
                    assert_eq!(answer.round, round);
                    said.insert(round, answer.payload);
                }
                HostMessage::Refused(why) => {
                    refused = Some(why.to_string());
                    break;
                }
                other => panic!("{other:?}"),
            }
        }
        let _ = link.send(&HostMessage::Over("it is enough".to_owned()).pack(), soon());
        (said, refused, joined.join().unwrap().unwrap_err().to_string())
    })
}

/// The message of the masks; a byte of version and sixteen of digest come first.
fn body(bytes: &[u8]) -> Body {
    postcard::from_bytes::<Message>(&bytes[17..]).unwrap().body
}

fn keys(said: &[u8]) -> PublicKeys {
    match body(&postcard::from_bytes::<SignedKeys>(said).unwrap().message) {
        Body::Advertise(keys) => keys,
        other => panic!("{other:?}"),
    }
}

fn masked(said: &[u8]) -> Vec<u64> {
    match body(said) {
        Body::Masked(bytes) => {
            bytes.chunks(8).map(|own| u64::from_le_bytes(own.try_into().unwrap())).collect()
        }
        other => panic!("{other:?}"),
    }
}

/// The shares of seeds that are told, by their owners; of keys there are none.
fn seeds(said: &[u8]) -> Vec<(u32, [u8; 32])> {
    match body(said) {
        Body::Unmask { seeds, keys } => {
            assert!(keys.is_empty());
            seeds
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_masked_party_that_was_set_back_repeats_no_mask_key_whatever_the_lead_says() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, AUTO, "secure-aggregation");
    let life = lived(&world);
    // The first of four steps says keys; round 0 is the greeting.
    let first = life.said.iter().filter(|(round, _)| *round % 4 == 1);
    let mut all: Vec<[u8; 32]> = first.map(|(_, said)| keys(said).mask).collect();
    assert!(all.len() >= 4, "several sums: {}", all.len());
    let mut vectors = vec![masked(&life.said[&7])];
    // Two lives that have said nothing of the second sum.
    for _ in 0..2 {
        let (said, refused, ended) = asked_again(&world, &life, *SECOND.start());
        assert!(refused.is_none() && ended.contains("it is enough"), "{refused:?} {ended}");
        all.push(keys(&said[&5]).mask);
        vectors.push(masked(&said[&7]));
        // Its shares for the others, who have answered this step and take no others; one of its own; what it had told of theirs.
        assert_ne!(said[&6], life.said[&6]);
        let (told, before) = (seeds(&said[&8]), seeds(&life.said[&8]));
        let differ: Vec<u32> =
            told.iter().zip(&before).filter(|(a, b)| a != b).map(|(told, _)| told.0).collect();
        assert_eq!((told.len(), differ), (3, vec![0]));
        let journal = RunJournal::open(&world.at("party-0.journal")).unwrap();
        assert!(journal.has("ended").unwrap() && !journal.has("node").unwrap());
    }
    // Of the same numbers, under masks that have nothing in common: no number of one vector is as far from that of another as
    // the next one is.
    for (one, other) in [(0, 1), (0, 2), (1, 2)] {
        let pairs = vectors[one].iter().zip(&vectors[other]);
        let apart: BTreeSet<u64> = pairs.map(|(a, b)| a.wrapping_sub(*b)).collect();
        assert!(apart.len() == vectors[one].len() && apart.len() > 1, "{apart:?}");
    }
    let distinct: BTreeSet<_> = all.iter().collect();
    assert_eq!(distinct.len(), all.len(), "a key was used twice");
}

#[test]
fn a_masked_party_that_was_set_back_within_a_sum_says_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, AUTO, "secure-aggregation");
    let life = lived(&world);
    for from in SECOND.skip(1) {
        let (said, refused, ended) = asked_again(&world, &life, from);
        let before: BTreeMap<u32, Vec<u8>> = life
            .said
            .iter()
            .filter(|(round, _)| (from..=8).contains(*round))
            .map(|(round, said)| (*round, said.clone()))
            .collect();
        assert_eq!((said, refused), (before, None), "from step {from}");
        assert!(ended.contains("it is enough"), "{ended}");
    }
}
