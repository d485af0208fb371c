//! Carries the lead's requests to the parties and their answers back, over connections that may
//! break, and keeps every answer.
//!
//! A request follows to the bit from the lead's key and the answers of earlier rounds. Both are on
//! the disk before it is sent. So a lead that restarts asks the same and receives the same answers:
//! a party repeats its answer to the same request and refuses a different one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reticent::simulate::Traffic;
use reticent_noise::{Digest, Hasher};
use reticent_oracle::{Carrier, Refusal};
use reticent_runtime::{Envelope, Inbox, MessageKind, PartyId, RunId, SERVER, Staying, wire};

use crate::company::Company;
use crate::error::HostError;
use crate::hall::{Hall, SLICE};
use crate::journal::{KeptAnswer, RunJournal};
use crate::leaving::{DROPPED, STAYINGS};
use crate::links::{Link, LinkError};
use crate::message::{HostMessage, LONGEST_LOBBY, Rejection};
use crate::options::{HostOptions, Notice};
use crate::roster::Roster;

/// The longest time that one message to a connected party may take.
const SEND_TIME: Duration = Duration::from_secs(60);

/// The connection to one party; one thread at a time uses it.
#[derive(Debug)]
struct PartyLine {
    link: Option<Box<dyn Link>>,
    inbox: Inbox,
}

/// The lead's connections to all parties, and its journal.
#[derive(Debug)]
pub(crate) struct Lines {
    pub hall: Arc<Hall>,
    /// The parties of the run, and their numbers in the hall.
    pub roster: Arc<Roster>,
    pub seats: Vec<u32>,
    lines: Vec<Mutex<PartyLine>>,
    pub journal: Mutex<RunJournal>,
    pub options: HostOptions,
    /// The largest message of a round, in bytes.
    limit: usize,
    /// The answers of earlier processes.
    kept: BTreeMap<(u32, u32), KeptAnswer>,
    /// Answers that are not on the disk yet.
    pending: Mutex<Vec<KeptAnswer>>,
    /// The last round that each party has answered.
    answered: Vec<AtomicU32>,
    /// The decisions to continue without some parties, in order.
    pub stayings: Mutex<Vec<Staying>>,
    /// The parties that are out for good, and those that the operator has removed.
    pub gone: Mutex<BTreeSet<u32>>,
    failure: Mutex<Option<HostError>>,
    messages: AtomicU64,
    bytes: AtomicU64,
}

pub(crate) fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Lines {
    pub fn new(
        hall: &Arc<Hall>,
        (run, company): (&Digest, &Company<'_>),
        journal: RunJournal,
        options: &HostOptions,
        limit: usize,
    ) -> Result<Self, HostError> {
        let parties = company.roster.parties();
        let mut kept = BTreeMap::new();
        let answered: Vec<AtomicU32> = (0..parties).map(|_| AtomicU32::new(0)).collect();
        for answer in journal.answers()? {
            if let Some(last) = answered.get(answer.party as usize) {
                last.fetch_max(answer.round, Ordering::Relaxed);
            }
            kept.insert((answer.round, answer.party), answer);
        }
        let line = |_| {
            let inbox = Inbox::new(RunId::from(run), SERVER);
            Mutex::new(PartyLine { link: None, inbox })
        };
        let stayings = journal.get::<Vec<Staying>>(STAYINGS)?.unwrap_or_default();
        let dropped = journal.get::<Vec<String>>(DROPPED)?.unwrap_or_default();
        let gone = (0..parties).filter(|&party| dropped.contains(&company.roster.name(party)));
        let lines = Lines {
            hall: Arc::clone(hall),
            roster: Arc::clone(&company.roster),
            seats: company.seats.clone(),
            lines: (0..parties).map(line).collect(),
            journal: Mutex::new(journal),
            options: options.clone(),
            limit,
            kept,
            pending: Mutex::new(Vec::new()),
            answered,
            gone: Mutex::new(gone.collect()),
            failure: Mutex::new(None),
            messages: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            stayings: Mutex::new(Vec::new()),
        };
        if let Some(last) = stayings.last() {
            let left = (0..parties).filter(|party| !last.members.contains(party));
            left.for_each(|party| lines.forfeit(party, last.round));
        }
        *locked(&lines.stayings) = stayings;
        Ok(lines)
    }

    /// Assigns the connections of parties to their lines.
    pub fn seat(&self, links: Vec<Box<dyn Link>>) {
        for (line, link) in self.lines.iter().zip(links) {
            locked(line).link = Some(link);
        }
    }

    /// The number of rounds, and the traffic of this process.
    pub fn moved(&self) -> (u32, Traffic) {
        let rounds = self.answered.iter().map(|last| last.load(Ordering::Relaxed)).max();
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let traffic = Traffic { messages: read(&self.messages), bytes: read(&self.bytes) };
        (rounds.unwrap_or(0), traffic)
    }

    /// The longest time to wait for a party that is away.
    pub fn patience(&self) -> Duration {
        self.options.patience
    }

    /// Counts a rejected message.
    pub fn reject(&self, name: &'static str) {
        self.hall.reject(name);
    }

    /// The reason why a request had no answer.
    pub fn failure(&self) -> Option<HostError> {
        locked(&self.failure).take()
    }

    /// Holds a conversation with a party, and repeats it on each new connection.
    pub fn converse<T>(
        &self,
        party: u32,
        mut talk: impl FnMut(&mut dyn Link, &mut Inbox) -> Result<T, Talk>,
    ) -> Result<T, HostError> {
        let until = Instant::now() + self.options.patience;
        let mut line = locked(&self.lines[party as usize]);
        let absent = || self.absent(self.roster.name(party));
        if !self.stays(party) {
            return Err(absent());
        }
        loop {
            if line.link.is_none() || self.hall.is_newer(self.seats[party as usize]) {
                let mut came = loop {
                    let soon = until.min(Instant::now() + SLICE);
                    match self.hall.take(self.seats[party as usize], soon) {
                        Some(visitor) => break visitor.link,
                        None if Instant::now() >= until => return Err(absent()),
                        None if self.options.is_gone(&self.roster.name(party)) => {
                            return Err(absent());
                        }
                        None => {}
                    }
                };
                let known = self.answered[party as usize].load(Ordering::Relaxed);
                let known = ("known", &HostMessage::Known(known).pack()[..]);
                let soon = Instant::now() + SEND_TIME;
                line.link = self.options.sending(&mut *came, known, soon).ok().map(|()| came);
            }
            let PartyLine { link, inbox } = &mut *line;
            let Some(link) = link else { continue };
            match talk(link.as_mut(), inbox) {
                Ok(done) => return Ok(done),
                Err(Talk::Broken) => line.link = None,
                Err(Talk::Over(why)) => return Err(why),
            }
            if Instant::now() >= until {
                return Err(absent());
            }
        }
    }

    /// The next message of a connection, unless the party has reconnected meanwhile.
    pub fn hear(
        &self,
        party: u32,
        link: &mut dyn Link,
        until: Instant,
    ) -> Result<HostMessage, Talk> {
        loop {
            match link.receive(self.limit, until.min(Instant::now() + SLICE)) {
                Ok(frame) => {
                    self.count(frame.len());
                    let said = HostMessage::unpack(&frame);
                    return said.map_err(|why| {
                        self.hall.reject(why.name());
                        Talk::Broken
                    });
                }
                Err(LinkError::Timeout)
                    if Instant::now() < until
                        && !self.hall.is_newer(self.seats[party as usize]) => {}
                Err(LinkError::TooLong { .. }) => {
                    self.hall.reject("oversized");
                    return Err(Talk::Broken);
                }
                Err(_) => return Err(Talk::Broken),
            }
        }
    }

    pub fn say(&self, link: &mut dyn Link, message: &HostMessage) -> Result<(), Talk> {
        let frame = message.pack();
        self.count(frame.len());
        let said = (message.name(), &frame[..]);
        Ok(self.options.sending(link, said, Instant::now() + SEND_TIME)?)
    }

    fn count(&self, bytes: usize) {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Checks that a message comes from the party at the other end of the connection and is the one
    /// that comes next; returns its payload.
    fn admit(
        &self,
        (party, round, kind): (u32, u32, MessageKind),
        link: &dyn Link,
        inbox: &mut Inbox,
        bytes: &[u8],
    ) -> Result<Vec<u8>, &'static str> {
        let envelope = wire::decode(bytes, self.limit).map_err(|why| why.name())?;
        let proven = self.roster.number(&link.peer());
        if proven != Some(party) || envelope.from != PartyId(party) {
            return Err("another's name");
        }
        let checked = inbox.check(&envelope, |from| from == PartyId(party));
        let admitted = checked.map_err(|why| why.name())?;
        inbox.in_round(&envelope, round).map_err(|why| why.name())?;
        if envelope.kind != kind {
            return Err("unexpected");
        }
        inbox.take(&envelope, &admitted, Vec::new());
        Ok(envelope.payload)
    }

    /// The greeting of a party that has agreed on the run; it is in the journal when this returns.
    pub fn greeting(&self, party: u32, signatures: &[Vec<u8>]) -> Result<Vec<u8>, HostError> {
        let begin = HostMessage::Begin(signatures.to_vec());
        let greeting = self.converse(party, |link, inbox| {
            self.say(link, &begin)?;
            let until = Instant::now() + 2 * SEND_TIME;
            loop {
                match self.hear(party, link, until)? {
                    HostMessage::Envelope(bytes) => {
                        let expected = (party, 0, MessageKind::Share);
                        match self.admit(expected, link, inbox, &bytes) {
                            Ok(greeting) => return Ok(greeting),
                            Err(name) => self.hall.reject(name),
                        }
                    }
                    HostMessage::Refused(why) => return Err(self.refused(party, why)),
                    _ => self.hall.reject(Rejection::Unexpected.name()),
                }
            }
        })?;
        let keep = || locked(&self.journal).commit(|change| change.greeting(party, &greeting));
        self.options.writing("greeting", keep)?;
        Ok(greeting)
    }

    pub fn refused(&self, party: u32, why: Rejection) -> Talk {
        Talk::Over(HostError::Refused { who: self.roster.name(party), why })
    }

    /// Writes the answers of earlier rounds to the disk.
    fn flush(&self, round: u32) -> Result<(), HostError> {
        let mut pending = locked(&self.pending);
        if pending.iter().all(|answer| answer.round >= round) {
            return Ok(());
        }
        self.options.writing("answers", || {
            locked(&self.journal)
                .commit(|change| pending.iter().try_for_each(|answer| change.answer(answer)))
        })?;
        pending.clear();
        self.options.tell(Notice::Answered { round: round - 1 });
        Ok(())
    }

    /// Sends a request to a party and keeps its answer.
    pub fn exchange(&self, party: u32, round: u32, request: Vec<u8>) -> Result<Vec<u8>, HostError> {
        let asked = Hasher::new("reticent request").field(&request).finish();
        let said = |kept: &KeptAnswer| match kept.asked == asked {
            true => Ok(kept.value.clone()),
            false => Err(HostError::disagreed(
                "this machine",
                "it does not compute what was asked before the run was cut short",
            )),
        };
        if let Some(kept) = self.kept.get(&(round, party)) {
            return said(kept);
        }
        // When another party has left, a round is repeated.
        let of_round = |kept: &&KeptAnswer| (kept.round, kept.party) == (round, party);
        if let Some(kept) = locked(&self.pending).iter().find(of_round) {
            return said(kept);
        }
        self.flush(round)?;
        let value = self.converse(party, |link, inbox| {
            let to = PartyId(party);
            let ask: Envelope = inbox.write(round, to, MessageKind::Ask, request.clone());
            self.say(link, &HostMessage::Envelope(wire::encode(&ask)))?;
            let until = Instant::now() + self.options.patience;
            loop {
                match self.hear(party, link, until)? {
                    HostMessage::Envelope(bytes) => {
                        let expected = (party, round, MessageKind::Answer);
                        match self.admit(expected, link, inbox, &bytes) {
                            Ok(answer) => return Ok(answer),
                            Err(name) => self.hall.reject(name),
                        }
                    }
                    HostMessage::Refused(why) => return Err(self.refused(party, why)),
                    _ => self.hall.reject(Rejection::Unexpected.name()),
                }
            }
        })?;
        self.answered[party as usize].fetch_max(round, Ordering::Relaxed);
        locked(&self.pending).push(KeptAnswer { round, party, asked, value: value.clone() });
        Ok(value)
    }

    /// The same for the algorithm: the reason of a failure is kept in its own words.
    pub fn carried(&self, party: u32, round: u32, request: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        self.exchange(party, round, request).map_err(|why| {
            let said = format!("party {party} did not answer: {why}");
            locked(&self.failure).get_or_insert(why);
            Refusal::BadQuery(said)
        })
    }

    /// Ends the run for a reason outside the algorithm.
    pub fn fail(&self, why: HostError) -> Refusal {
        let said = why.to_string();
        locked(&self.failure).get_or_insert(why);
        Refusal::BadQuery(said)
    }

    /// Sends the model to a party that does not have it, and records that it has.
    pub fn deliver(&self, party: u32, model: &str) -> Result<(), HostError> {
        let model = HostMessage::Model(model.to_owned());
        self.converse(party, |link, _| {
            self.say(link, &model)?;
            let until = Instant::now() + 2 * SEND_TIME;
            loop {
                match self.hear(party, link, until)? {
                    HostMessage::Received => return Ok(()),
                    // A peer that came back begins its turn before it hears that the run is over.
                    HostMessage::Post(_) => {}
                    HostMessage::Refused(why) => return Err(self.refused(party, why)),
                    _ => self.hall.reject(Rejection::Unexpected.name()),
                }
            }
        })?;
        self.options.tell(Notice::Delivered { name: self.roster.name(party) });
        let keep = || locked(&self.journal).commit(|change| change.received(party));
        self.options.writing("received", keep)
    }

    /// Tells a connected party that it is out of the run, and closes the connection. A party that
    /// is away is told when it reconnects, if the lead is still running.
    pub fn dismiss(&self, party: u32, why: &str) {
        // A line in use belongs to a thread that waits for a party that is away.
        let Ok(mut line) = self.lines[party as usize].try_lock() else { return };
        if let Some(mut link) = line.link.take() {
            let out = HostMessage::Refused(Rejection::Forfeited(why.to_owned())).pack();
            let soon = Instant::now() + Duration::from_secs(1);
            let _ = self.options.sending(&mut *link, ("forfeited", &out[..]), soon);
        }
    }

    /// Tells all connected parties that the run is over.
    pub fn tell_over(&self, why: &str) {
        debug_assert!(why.len() < LONGEST_LOBBY);
        let over = ("over", &HostMessage::Over(why.to_owned()).pack()[..]);
        for line in &self.lines {
            if let Some(link) = &mut locked(line).link {
                // A party that is away is told when it comes back.
                let soon = Instant::now() + Duration::from_secs(1);
                let _ = self.options.sending(&mut **link, over, soon);
            }
        }
    }
}

/// Why a conversation did not finish.
pub(crate) enum Talk {
    /// The connection broke: the conversation is repeated on the next one.
    Broken,
    /// There is nothing more to say.
    Over(HostError),
}

impl From<LinkError> for Talk {
    fn from(_: LinkError) -> Self {
        Talk::Broken
    }
}

/// The connections of a run, for its gate.
#[derive(Debug)]
pub(crate) struct NetworkCarrier(pub Arc<Lines>);

impl Carrier for NetworkCarrier {
    fn exchange(&self, party: u32, round: u32, request: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        self.0.carried(party, round, request)
    }
}
