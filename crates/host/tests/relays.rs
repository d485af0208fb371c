//! A lead that does as it likes with what it carries between peers: it can delay or lose it, and
//! nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use reticent_host::links::{Dial, Link, LinkError};
use reticent_host::message::HostMessage;
use reticent_host::peers::frame::RelayedFrame;
use reticent_host::{HostError, HostOptions, RunJournal};

use super::peers::R_ADMM;
use super::world::{World, bits, options};

/// How long a member that says nothing is waited for: what these tests wait for, and more than a busy machine takes between
/// two words.
const SILENCE: Duration = Duration::from_secs(10);

/// What becomes of a message on its way to or from one party.
pub type Twist = Arc<dyn Fn(HostMessage) -> HostMessage + Send + Sync>;

struct Twisted {
    dialer: Box<dyn Dial>,
    come: Twist,
    go: Twist,
}

struct TwistedLink {
    link: Box<dyn Link>,
    come: Twist,
    go: Twist,
}

impl std::fmt::Debug for Twisted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Twisted")
    }
}

impl std::fmt::Debug for TwistedLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TwistedLink")
    }
}

impl Dial for Twisted {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        let (come, go) = (Arc::clone(&self.come), Arc::clone(&self.go));
        Ok(Box::new(TwistedLink { link: self.dialer.dial(until)?, come, go }))
    }
}

impl Link for TwistedLink {
    fn peer(&self) -> [u8; 32] {
        self.link.peer()
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        let said = (self.go)(HostMessage::unpack(frame).unwrap());
        self.link.send(&said.pack(), until)
    }

    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        let said = self.link.receive(limit, until)?;
        Ok((self.come)(HostMessage::unpack(&said).unwrap()).pack())
    }
}

pub fn as_it_is() -> Twist {
    Arc::new(|message| message)
}

/// Everybody, where what party 0 is told and says is twisted; what party 0, and the lead, say of it.
pub fn twisted(
    world: &World,
    own: &HostOptions,
    (come, go): (Twist, Twist),
) -> (Vec<Result<Vec<u64>, HostError>>, Vec<String>) {
    let (_net, listener, mut dialers) = world.net();
    let dialer = dialers.remove(0);
    dialers.insert(0, Box::new(Twisted { dialer, come, go }));
    let (led, joined) = world.all(own, listener, &dialers);
    let joined = joined.into_iter().map(|own| own.map(|own| bits(&own.joined.model))).collect();
    let names = led
        .map_or_else(|why| vec![why.to_string()], |led| led.rejections.keys().cloned().collect());
    (joined, names)
}

fn mail(twist: impl Fn(Vec<RelayedFrame>) -> Vec<RelayedFrame> + Send + Sync + 'static) -> Twist {
    Arc::new(move |message| match message {
        HostMessage::Mail(mut mail) => {
            mail.frames = twist(mail.frames);
            HostMessage::Mail(mail)
        }
        other => other,
    })
}

fn assert_same_bits(world: &World, joined: Vec<Result<Vec<u64>, HostError>>, what: &str) {
    let simulated = world.in_one_process();
    for (party, own) in joined.into_iter().enumerate() {
        let own = own.unwrap_or_else(|why| panic!("{what}: {why}"));
        assert_eq!(own, bits(&simulated.nodes.model(party).unwrap()), "{what}");
    }
}

/// Frames that are lost, repeated, kept back and told late, changed, cut, renamed or said to be
/// another's: the same bits, or nothing is heard until they are said again.
#[test]
fn a_relay_that_drops_repeats_swaps_or_changes_frames_changes_no_bit() {
    let count = Arc::new(AtomicU64::new(0));
    let every = |n: u64| {
        let count = Arc::clone(&count);
        move || count.fetch_add(1, Ordering::Relaxed).is_multiple_of(n)
    };
    let kept: Arc<std::sync::Mutex<Vec<RelayedFrame>>> = Arc::default();
    let (drops, changes, renames) = (every(5), every(5), every(5));
    let twists: Vec<(&str, Twist)> = vec![
        ("drops", mail(move |frames| frames.into_iter().filter(|_| !drops()).collect())),
        (
            "repeats",
            mail(move |frames| {
                let mut old = kept.lock().unwrap();
                old.extend(frames.clone());
                let all = old.iter().rev().take(12).cloned();
                all.chain(frames).collect()
            }),
        ),
        (
            "swaps",
            mail(|mut frames| {
                frames.reverse();
                let (mut from, numbers): (Vec<u32>, Vec<u64>) =
                    frames.iter().map(|frame| (frame.from, frame.number)).unzip();
                from.reverse();
                let swapped = frames.iter().zip(from.iter().zip(&numbers)).map(
                    |(frame, (&from, &number))| RelayedFrame { from, number, ..frame.clone() },
                );
                let swapped: Vec<_> = swapped.collect();
                swapped.into_iter().chain(frames.clone()).collect()
            }),
        ),
        (
            "changes",
            mail(move |mut frames| {
                for frame in frames.iter_mut().filter(|_| changes()) {
                    let at = frame.sealed.len() / 2;
                    frame.sealed[at] ^= 1;
                }
                frames
            }),
        ),
        (
            "renames",
            mail(move |mut frames| {
                frames.iter_mut().filter(|_| renames()).for_each(|frame| frame.number += 1);
                frames
            }),
        ),
    ];
    for (what, twist) in twists {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 3, R_ADMM, "local");
        let (joined, names) = twisted(&world, &options(), (twist, as_it_is()));
        assert!(names.is_empty(), "{what}: {names:?}");
        assert_same_bits(&world, joined, what);
    }
}

/// A party that hands over frames under another's name, or for nobody: named, and nobody hears them.
#[test]
fn a_peer_with_anothers_name_is_named_and_not_carried() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, R_ADMM, "local");
    let go: Twist = Arc::new(|message| match message {
        HostMessage::Post(mut post) => {
            if let Some(frame) = post.frames.first().cloned() {
                post.frames.insert(0, RelayedFrame { from: 1, to: 2, ..frame.clone() });
                post.frames.insert(0, RelayedFrame { to: 77, ..frame });
            }
            HostMessage::Post(post)
        }
        other => other,
    });
    let (joined, names) = twisted(&world, &options(), (as_it_is(), go));
    assert!(names.iter().any(|name| name == "another's name"), "{names:?}");
    assert_same_bits(&world, joined, "another's name");
}

/// A party that hands over frames that are longer than any message of the run: a lead that kept so many of
/// them would keep sixteen times as much as it must.
#[test]
fn a_frame_that_is_too_long_is_named_and_not_carried() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::trusting(folder.path(), 3, R_ADMM, "local");
    let longest = world.run_file().job.longest_between();
    let go: Twist = Arc::new(move |message| match message {
        HostMessage::Post(mut post) if post.keyed => {
            let long = |to: u32| {
                let sealed = vec![0; longest + 1_000];
                RelayedFrame { from: 0, to, number: u64::MAX, sealed }
            };
            post.frames.extend([long(1), long(2)]);
            HostMessage::Post(post)
        }
        other => other,
    });
    let (joined, names) = twisted(&world, &options(), (as_it_is(), go));
    assert_eq!(names, ["oversized"]);
    assert_same_bits(&world, joined, "oversized");
}

/// A party that keeps its steps back, and says that the run is over and all is heard: no unfinished model is
/// signed as the run's, and who is awaited is named.
#[test]
fn a_party_that_says_that_the_run_is_over_does_not_end_it() {
    let folder = tempfile::tempdir().unwrap();
    let job = R_ADMM.replace("r-admm", "dp-admm");
    let world = World::trusting(folder.path(), 2, &job, "local");
    let own = HostOptions { patience: SILENCE, ..options() };
    let go: Twist = Arc::new(|message| match message {
        HostMessage::Post(mut post) => {
            post.frames.retain(|frame| frame.number < 3);
            (post.ended, post.settled) = (true, true);
            HostMessage::Post(post)
        }
        other => other,
    });
    let (joined, names) = twisted(&world, &own, (as_it_is(), go));
    assert!(names.iter().any(|name| name.contains("party-0 did not come")), "{names:?}");
    assert!(joined.iter().all(Result::is_err));
}

/// Keys that their owners have not signed, too few of them, and a run that is said to be over: party 0
/// ends by name, and nothing of it was said.
#[test]
fn a_lead_that_lies_about_keys_or_the_end_is_named() {
    let lies: [(&str, &str, Twist); 3] = [
        (
            "has not signed the key",
            "key",
            Arc::new(|message| match message {
                HostMessage::Keys(mut keys) => {
                    keys.swap(1, 2);
                    HostMessage::Keys(keys)
                }
                other => other,
            }),
        ),
        (
            "not those of the roster",
            "few",
            Arc::new(|message| match message {
                HostMessage::Keys(keys) => HostMessage::Keys(keys[..2].to_vec()),
                other => other,
            }),
        ),
        (
            "is over, and it is not",
            "end",
            Arc::new(|message| match message {
                HostMessage::Mail(_) => HostMessage::Model(String::new()),
                other => other,
            }),
        ),
    ];
    let met = |why: &str, what: &str, come: Twist| {
        let folder = tempfile::tempdir().unwrap();
        let world = World::trusting(folder.path(), 2, R_ADMM, "local");
        let own = HostOptions { patience: SILENCE, ..options() };
        let (mut joined, _) = twisted(&world, &own, (come, as_it_is()));
        let said = joined.remove(0).unwrap_err().to_string();
        assert!(said.contains(why), "{what}: {said}");
        // The other one ends too, and by name.
        let other = joined.remove(0).unwrap_err();
        assert!(matches!(other, HostError::Absent { .. }), "{what}: {other}");
        let journal = RunJournal::open(&world.at("party-0.journal")).unwrap();
        assert!(!journal.has("mail").unwrap(), "{what}");
    };
    // Side by side: each waits for the other party.
    std::thread::scope(|scope| {
        for (why, what, come) in lies {
            scope.spawn(move || met(why, what, come));
        }
    });
}
