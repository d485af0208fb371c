//! Nothing is said that the disk does not have: a tap in the links of the lead and of every party reads the journal
//! of whoever speaks, at the instant at which it speaks. What is said is in it byte by byte, or follows from it
//! alone; before a run is agreed on, nothing is said that a journal must know.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use reticent::internal::runtime::{Envelope, RunId, wire};
use reticent::simulate::RemoteKind;
use reticent_host::links::{Arrival, Dial, Link, LinkError, Listen};
use reticent_host::message::HostMessage;
use reticent_host::peers::frame::{RelayedFrame, SignedRelayKey};
use reticent_host::peers::seal::{RelaySeals, RelaySecret};
use reticent_host::{RunJournal, RunTerms, sign};
use reticent_noise::{Digest, Hasher, NoiseKey};
use zeroize::Zeroizing;

use super::peers::{R_ADMM, WALK};
use super::steps::STEPS;
use super::world::{AUTO, World, options};

const PARTIES: u32 = 3;

/// The fronts of what journals keep, as they are written: a value is read as far as it is named here.
type SignedRow = (Digest, RunTerms, Vec<u8>);
type JoinedRow = (SignedRow, Digest, Digest, [u8; 32]);
type BegunRow = (Digest, Digest, Digest, RunTerms, Vec<Vec<u8>>, [u8; 32]);
type OverRow = (Digest, Digest, Digest, Vec<u32>, String);
type MailRow = (Vec<u64>, Vec<u64>);

/// The children of a member's key that its relay key is from.
const RELAY: [u64; 2] = [2, 3];

/// What all taps have heard.
struct Overheard {
    /// A journal that has nothing.
    empty: RunJournal,
    faults: Vec<String>,
    kinds: BTreeSet<&'static str>,
    /// What an empty journal does not have.
    bound: BTreeSet<&'static str>,
    asked: BTreeMap<(u32, u32), Digest>,
    posted: Vec<RelayedFrame>,
    secrets: BTreeMap<u32, [u8; 32]>,
    keys: Vec<SignedRelayKey>,
}

/// Who listens in, at one member's end.
#[derive(Clone)]
struct WireTap {
    world: Arc<World>,
    /// The lead behind the parties.
    member: u32,
    heard: Arc<Mutex<Overheard>>,
    /// After so many frames of it the link breaks once.
    breaks: Arc<Mutex<Option<u32>>>,
}

impl std::fmt::Debug for WireTap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WireTap").field("member", &self.member).finish_non_exhaustive()
    }
}

/// What a journal has at this instant, as a machine would find it that lost its power: of two files, of which the
/// first changes only where the second is emptied.
pub fn at_this_instant(journal: &Path) -> (tempfile::TempDir, RunJournal) {
    let folder = tempfile::tempdir().unwrap();
    let log = journal.with_extension("journal-wal");
    loop {
        let before = std::fs::read(journal).unwrap();
        let ahead = std::fs::read(&log).unwrap_or_default();
        if std::fs::read(journal).unwrap() != before {
            continue;
        }
        let copy = folder.path().join("copy.journal");
        for (path, bytes) in
            [(copy.clone(), before), (folder.path().join("copy.journal-wal"), ahead)]
        {
            std::fs::write(&path, bytes).unwrap();
            std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
                .unwrap();
        }
        let journal = RunJournal::open(&copy).unwrap();
        return (folder, journal);
    }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|own| own == part)
}

/// What is wrong with a message, if something is.
type WireCheck = Result<(), String>;

fn ensure(holds: bool, what: &str) -> WireCheck {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

/// One message and the journal of whoever says it.
struct SpokenInstant<'a> {
    tap: &'a WireTap,
    journal: &'a RunJournal,
    heard: &'a Overheard,
}

impl SpokenInstant<'_> {
    fn joined(&self) -> Result<JoinedRow, String> {
        self.journal.get::<JoinedRow>("joined").unwrap().ok_or("it has joined nothing".to_owned())
    }

    fn begun(&self) -> Result<BegunRow, String> {
        self.journal.get::<BegunRow>("begun").unwrap().ok_or("nothing has begun".to_owned())
    }

    /// The answers that the lead has of the rounds before this one.
    fn has_answers(&self, before: u32) -> WireCheck {
        let rows = self.journal.answers().unwrap();
        for party in 0..PARTIES {
            for round in 1..before {
                let row = rows.iter().find(|row| (row.round, row.party) == (round, party));
                let row = row.ok_or(format!("no answer of party {party} in round {round}"))?;
                let asked = self.heard.asked.get(&(round, party));
                ensure(asked == Some(&row.asked), "an answer to another request")?;
            }
        }
        Ok(())
    }

    fn envelope(&self, said: &Envelope) -> WireCheck {
        if self.tap.member == PARTIES {
            let run = RunId::from(&self.begun()?.0);
            ensure(said.run == run, "of another run")?;
            ensure(self.journal.greetings().unwrap().len() == PARTIES as usize, "not all greeted")?;
            // What is asked follows from the key of the run and from what was answered before.
            return self.has_answers(said.round);
        }
        let ((run, ..), _, _, key) = self.joined()?;
        ensure(said.run == RunId::from(&run), "of another run")?;
        if said.round > 0 {
            let state = self.journal.get::<Vec<u8>>("node").unwrap().unwrap_or_default();
            return ensure(has(&state, &said.payload), "an answer that the node does not keep");
        }
        match wire::unpack::<SignedRelayKey>(&said.payload) {
            Ok(signed) if self.tap.relays() => {
                let (own, me) = (relay_secret(&key, RELAY[0]), self.tap.member);
                let identity = self.tap.world.identity(&self.tap.name());
                ensure(own.signed(&identity, &run, me) == signed, "a key from elsewhere")
            }
            _ => Ok(()),
        }
    }

    /// A frame of this member: its word is in a row of the outbox, and what it says to have heard is in the journal.
    fn frame(&self, frame: &RelayedFrame) -> WireCheck {
        let RelayedFrame { from, to, number, sealed } = frame;
        let mail = self.journal.get::<MailRow>("mail").unwrap();
        let (sent, heard) = mail.ok_or("it has no mailbox".to_owned())?;
        let run = match self.tap.member == PARTIES {
            true => self.begun()?.0,
            false => self.joined()?.0.0,
        };
        let child = RELAY[usize::from(*to == PARTIES)];
        let receiver = self.heard.secrets.get(to).ok_or("a word to whom nobody knows")?;
        let receiver = relay_secret(receiver, child);
        let seals = RelaySeals::new(&receiver, &run, *to, &self.heard.keys);
        let words = seals.and_then(|seals| seals.open(*from, *number, sealed));
        let words = words.ok_or("a frame that its receiver cannot open")?;
        let (told, said): (u64, Vec<u8>) = wire::unpack(&words).map_err(|why| why.to_string())?;
        ensure(told <= heard[*to as usize], "it says to have heard what its journal has not")?;
        if *number == 0 {
            return ensure(said.is_empty(), "a word without a number");
        }
        ensure(*number <= sent[*to as usize], "a word that is not counted")?;
        let row = self.journal.get::<Vec<u8>>(&format!("out {to} {number}")).unwrap();
        ensure(row.as_ref() == Some(&said), "a word without a row")
    }

    fn check(&self, message: &HostMessage) -> WireCheck {
        let journal = self.journal;
        match message {
            // Of no run: whoever has said it may forget it.
            HostMessage::Roll(..) | HostMessage::Reveal(..) | HostMessage::Terms(..) => {
                let names = ["signed", "joined", "begun", "over"];
                ensure(!names.iter().any(|name| journal.has(name).unwrap()), "in a run already")
            }
            HostMessage::Hello(hello) => {
                let signed = journal.get::<Digest>("signed").unwrap();
                let own = signed.or(journal.get::<Digest>("joined").unwrap());
                ensure(hello.run.is_none() || hello.run == own, "it is in no such run")
            }
            HostMessage::Signed(signature) => {
                let row = journal.get::<SignedRow>("signed").unwrap();
                let (run, _, aggregator) = row.ok_or("it has signed nothing".to_owned())?;
                let identity = self.tap.world.identity(&self.tap.name());
                ensure(sign(&identity, &run, &aggregator) == *signature, "of another run")
            }
            HostMessage::Begin(all) => ensure(self.begun()?.4 == *all, "other signatures"),
            // The last one may be on its way to the disk; the party has it on its own.
            HostMessage::Known(rounds) => self.begun().and_then(|_| self.has_answers(*rounds)),
            HostMessage::Envelope(bytes) => {
                self.envelope(&wire::decode(bytes, wire::LONGEST).unwrap())
            }
            HostMessage::Model(text) => {
                let row = journal.get::<OverRow>("over").unwrap();
                let kept = row.ok_or("nothing is over".to_owned())?.4;
                ensure(kept == *text || text.is_empty(), "another model")
            }
            HostMessage::Received => {
                let forgotten = !journal.has("joined").unwrap() && !journal.has("node").unwrap();
                ensure(journal.has("model").unwrap() && forgotten, "it has no model")
            }
            HostMessage::Keys(keys) => {
                self.begun()?;
                let all = journal.greetings().unwrap();
                let kept = |(party, key): (u32, &SignedRelayKey)| {
                    let bytes = wire::pack(key).unwrap();
                    all.iter().any(|(own, row)| *own == party && *row == bytes)
                };
                let kept = (0..PARTIES).zip(keys).all(kept);
                ensure(kept, "a key that nobody has greeted with")
            }
            HostMessage::Post(post) => {
                self.joined()?;
                ensure(post.keyed == journal.has("peers").unwrap(), "it has no keys")?;
                // Whoever has said so may be told that the run is over: its journal must know that it may leave.
                let settled = post.ended && post.settled;
                let rows = journal.listed::<Vec<u8>>("out").unwrap();
                ensure(!settled || rows.is_empty(), "all was heard, which its journal has not")?;
                post.frames.iter().try_for_each(|frame| self.frame(frame))
            }
            HostMessage::Mail(mail) => {
                self.begun()?;
                mail.frames.iter().try_for_each(|frame| match frame.from == PARTIES {
                    true => self.frame(frame),
                    false => ensure(self.heard.posted.contains(frame), "a frame of nobody"),
                })
            }
            HostMessage::Again | HostMessage::Over(_) | HostMessage::Refused(_) => {
                Err("it does not belong to an undisturbed run".to_owned())
            }
        }
    }
}

fn relay_secret(key: &[u8; 32], child: u64) -> RelaySecret {
    let key = NoiseKey::recall(Zeroizing::new(*key), false);
    RelaySecret::new(&key.child(child).expose().0)
}

impl WireTap {
    fn name(&self) -> String {
        match self.member == PARTIES {
            true => "lead".to_owned(),
            false => format!("party-{}", self.member),
        }
    }

    fn relays(&self) -> bool {
        self.world.run_file().job.kind() != RemoteKind::Sums
    }

    fn kind(&self, message: &HostMessage) -> &'static str {
        match message {
            HostMessage::Envelope(_) if self.member == PARTIES => "ask",
            HostMessage::Envelope(bytes) => {
                match wire::decode(bytes, wire::LONGEST).unwrap().round {
                    0 => "greeting",
                    _ => "answer",
                }
            }
            other => other.name(),
        }
    }

    /// A frame that is about to be sent.
    fn hears(&self, frame: &[u8]) {
        let message = HostMessage::unpack(frame).unwrap();
        let kind = self.kind(&message);
        let (_folder, journal) =
            at_this_instant(&self.world.at(&format!("{}.journal", self.name())));
        let mut heard = self.heard.lock().unwrap();
        heard.note(self.member, &message, &journal);
        let check = |journal| SpokenInstant { tap: self, journal, heard: &heard }.check(&message);
        let (now, never) = (check(&journal), check(&heard.empty));
        heard.kinds.insert(kind);
        if never.is_err() {
            heard.bound.insert(kind);
        }
        if let Err(why) = now {
            heard.faults.push(format!("{} says {kind}: {why}", self.name()));
        }
    }

    fn link(&self, link: Box<dyn Link>) -> Box<dyn Link> {
        Box::new(WireTapLink { link, tap: self.clone() })
    }
}

impl Overheard {
    fn of(empty: RunJournal) -> Self {
        let (faults, posted, keys) = (Vec::new(), Vec::new(), Vec::new());
        let (kinds, bound) = (BTreeSet::new(), BTreeSet::new());
        let (asked, secrets) = (BTreeMap::new(), BTreeMap::new());
        Overheard { empty, faults, kinds, bound, asked, posted, secrets, keys }
    }

    /// What is needed to read what is said later.
    fn note(&mut self, member: u32, message: &HostMessage, journal: &RunJournal) {
        match message {
            HostMessage::Envelope(bytes) => {
                let said = wire::decode(bytes, wire::LONGEST).unwrap();
                if member == PARTIES {
                    let asked = Hasher::new("reticent request").field(&said.payload).finish();
                    self.asked.insert((said.round, said.to.0), asked);
                } else if let Some(row) = journal.get::<JoinedRow>("joined").unwrap() {
                    self.secrets.insert(member, row.3);
                }
            }
            HostMessage::Begin(_) => {
                let row = journal.get::<BegunRow>("begun").unwrap();
                self.secrets.extend(row.map(|row| (member, row.5)));
            }
            HostMessage::Keys(keys) => self.keys.clone_from(keys),
            HostMessage::Post(post) => self.posted.extend(post.frames.clone()),
            _ => {}
        }
    }
}

#[derive(Debug)]
struct WireTapLink {
    link: Box<dyn Link>,
    tap: WireTap,
}

impl Link for WireTapLink {
    fn peer(&self) -> [u8; 32] {
        self.link.peer()
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        let mut breaks = self.tap.breaks.lock().unwrap();
        *breaks = breaks.map(|left| left.saturating_sub(1));
        if *breaks == Some(0) {
            *breaks = None;
            return Err(LinkError::Closed);
        }
        drop(breaks);
        self.tap.hears(frame);
        self.link.send(frame, until)
    }

    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        self.link.receive(limit, until)
    }
}

/// A way in or out with a tap in it.
#[derive(Debug)]
struct Overhearing<D> {
    way: D,
    tap: WireTap,
}

impl Dial for Overhearing<Box<dyn Dial>> {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        Ok(self.tap.link(self.way.dial(until)?))
    }
}

impl Listen for Overhearing<Box<dyn Listen>> {
    fn accept(&self, until: Instant) -> Result<Option<Arrival>, LinkError> {
        let Some(arrival) = self.way.accept(until)? else { return Ok(None) };
        let tap = self.tap.clone();
        Ok(Some(Arrival::new(move |until| Ok(tap.link(arrival.link(until)?)))))
    }
}

/// What is of a run in every one of them, and must be on a disk; the rolls before it need not.
const EACH: [&str; 7] = ["begin", "greeting", "hello", "known", "model", "received", "signed"];
const BEFORE: [&str; 3] = ["reveal", "roll", "terms"];

/// Runs with a tap at every member; the kinds of messages besides.
fn overheard((job, trust): (&str, &str), besides: &[&'static str]) {
    let folder = tempfile::tempdir().unwrap();
    let world = Arc::new(World::trusting(folder.path(), PARTIES, job, trust));
    let empty = RunJournal::open(&folder.path().join("empty")).unwrap();
    let heard = Arc::new(Mutex::new(Overheard::of(empty)));
    let tap = |member: u32| WireTap {
        world: Arc::clone(&world),
        member,
        heard: Arc::clone(&heard),
        breaks: Arc::new(Mutex::new((member == 0).then_some(7))),
    };
    let (_net, listener, dialers) = world.net();
    let listener = Box::new(Overhearing { way: listener, tap: tap(PARTIES) });
    let dialers: Vec<Box<dyn Dial>> = (0..)
        .zip(dialers)
        .map(|(party, way)| Box::new(Overhearing { way, tap: tap(party) }) as Box<dyn Dial>)
        .collect();
    let (led, joined) = world.all(&options(), listener, &dialers);
    let heard = heard.lock().unwrap();
    assert_eq!(heard.faults, [""; 0], "{job} {trust}");
    assert!(led.unwrap().without.is_empty() && joined.iter().all(Result::is_ok));
    let bound: BTreeSet<&str> = EACH.iter().chain(besides).copied().collect();
    let all: BTreeSet<&str> = bound.iter().chain(&BEFORE).copied().collect();
    assert_eq!(heard.kinds, all, "{job} {trust}");
    // The taps can tell: a journal that has nothing has nothing of this.
    assert_eq!(heard.bound, bound, "{job} {trust}");
}

#[test]
fn every_byte_of_a_sum_is_on_the_disk_before_it_is_on_the_wire() {
    for trust in ["central", "local", "secure-aggregation"] {
        overheard((AUTO, trust), &["answer", "ask"]);
    }
}

/// The words of nodes to one another, opened by the keys of those whom they are for.
#[test]
fn every_word_of_a_node_is_in_an_outbox_on_the_disk_before_it_is_on_the_wire() {
    for (job, trust) in [
        (R_ADMM, "local"),
        (WALK, "network"),
        (STEPS, "central"),
        (STEPS, "local"),
        (STEPS, "secure-aggregation"),
    ] {
        overheard((job, trust), &["keys", "mail", "post"]);
    }
}
