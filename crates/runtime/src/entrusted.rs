//! Parties that send exact sums to an aggregator that they trust, in one process: every message is
//! serialised and parsed.
//!
//! The protocol is request and answer; the algorithm chooses the sums, on a gate whose rows these
//! parties hold. Proof: proofs/holders.md.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use reticent_accountant::Refused;
use reticent_noise::Digest;
use reticent_oracle::{
    Carrier, EntrustedProgress, EntrustedTable, HeldRows, PrivacyModel, PrivateTable, Refusal,
    SumAggregator,
};
use reticent_problem::losses::Loss;

use crate::error::RunError;
use crate::failures::{Failures, RawMessage, When};
use crate::inbox::Inbox;
use crate::message::{Envelope, MessageKind, PartyId, RunId, SERVER};
use crate::prepare::{RunKey, key_of};
use crate::rejected::Rejected;
use crate::simulation::{Tap, Traffic};
use crate::wire;

/// The traffic so far, for the caller of the algorithm.
#[derive(Default)]
pub struct Post {
    messages: AtomicU64,
    bytes: AtomicU64,
    rounds: AtomicU32,
    tap: Mutex<Option<Tap>>,
    /// The injected failures.
    failures: Mutex<Failures>,
    /// Rejected messages, by name.
    rejections: Mutex<BTreeMap<String, u64>>,
}

impl std::fmt::Debug for Post {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Post").field("traffic", &self.traffic()).finish_non_exhaustive()
    }
}

impl Post {
    /// The number of messages and bytes.
    pub fn traffic(&self) -> Traffic {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Traffic { messages: read(&self.messages), bytes: read(&self.bytes) }
    }

    /// The number of rounds: requests to each party.
    pub fn rounds(&self) -> u32 {
        self.rounds.load(Ordering::Relaxed)
    }

    /// Injects these failures from here on.
    ///
    /// # Errors
    /// If a probability is invalid.
    pub fn fail(&self, failures: Failures) -> Result<(), RunError> {
        failures.check()?;
        *self.failures.lock().unwrap_or_else(PoisonError::into_inner) = failures;
        Ok(())
    }

    /// Rejected messages so far, by name.
    pub fn rejections(&self) -> BTreeMap<String, u64> {
        self.rejections.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn reject(&self, why: &Rejected) {
        let mut all = self.rejections.lock().unwrap_or_else(PoisonError::into_inner);
        *all.entry(why.name().to_owned()).or_default() += 1;
    }

    /// Restores the traffic from before a crash.
    pub(crate) fn recall(&self, rounds: u32, traffic: Traffic, rejected: BTreeMap<String, u64>) {
        self.messages.store(traffic.messages, Ordering::Relaxed);
        self.bytes.store(traffic.bytes, Ordering::Relaxed);
        self.rounds.store(rounds, Ordering::Relaxed);
        *self.rejections.lock().unwrap_or_else(PoisonError::into_inner) = rejected;
    }

    /// The delivered messages of those that travel together. A late message is lost: its sum is
    /// over by then.
    pub(crate) fn carry(&self, sent: &[Envelope], when: When) -> Vec<RawMessage> {
        let raw = |e: &Envelope| RawMessage { from: e.from, to: e.to, bytes: self.written(e) };
        let failures = *self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.inject(sent.iter().map(raw).collect(), when, |_| None).now
    }

    /// Calls `tap` with every message that is sent from here on.
    pub fn listen(&self, tap: Tap) {
        *self.tap.lock().unwrap_or_else(PoisonError::into_inner) = Some(tap);
    }

    /// Collects the answers of these parties, if answers are seen one by one, from here on: each as
    /// its numbers.
    pub fn overhear_answers(&self, parties: Range<u32>) -> Arc<Mutex<Vec<Vec<f64>>>> {
        let heard: Arc<Mutex<Vec<Vec<f64>>>> = Arc::default();
        let ours = Arc::clone(&heard);
        self.listen(Box::new(move |_, bytes| {
            let Ok(envelope) = wire::decode(bytes, wire::LONGEST) else { return };
            if parties.contains(&envelope.from.0) && envelope.kind == MessageKind::Answer {
                let (steps, _) = envelope.payload.as_chunks::<8>();
                let said = steps.iter().map(|step| i64::from_le_bytes(*step) as f64).collect();
                ours.lock().unwrap_or_else(PoisonError::into_inner).push(said);
            }
        }));
        heard
    }

    /// Moves one message.
    pub(crate) fn moved(&self, envelope: &Envelope) -> Result<Envelope, Rejected> {
        wire::decode(&self.written(envelope), wire::LONGEST)
    }

    /// A message as it is sent, counted and shown to the tap.
    fn written(&self, envelope: &Envelope) -> Vec<u8> {
        let bytes = wire::encode(envelope);
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.rounds.fetch_max(envelope.round, Ordering::Relaxed);
        if let Some(tap) = &mut *self.tap.lock().unwrap_or_else(PoisonError::into_inner) {
            tap(envelope.round, &bytes);
        }
        bytes
    }
}

/// A party that sends exact sums to a server that it trusts: the same in one process and on its own
/// machine.
#[derive(Debug)]
pub struct EntrustedParty {
    inbox: Inbox,
    table: EntrustedTable,
}

impl EntrustedParty {
    /// Party number `party` of `run`, and its greeting to the server.
    pub fn new(
        run: &Digest,
        party: PartyId,
        table: EntrustedTable,
        greeting: Vec<u8>,
    ) -> (Self, Envelope) {
        let inbox = Inbox::new(RunId::from(run), party);
        let said = inbox.write(0, SERVER, MessageKind::Share, greeting);
        (EntrustedParty { inbox, table }, said)
    }

    /// The state for a restart with the same table and key: the last request and its answer, and
    /// the progress of the table.
    ///
    /// # Errors
    /// If it cannot be serialised.
    pub fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(&self.inbox, self.table.progress()))?)
    }

    /// Restores a snapshot.
    ///
    /// # Errors
    /// If it is invalid, or of another run or party.
    pub fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        let (inbox, progress): (Inbox, EntrustedProgress) = wire::unpack(snapshot)?;
        self.inbox.recall(inbox)?;
        Ok(self.table.recall(progress)?)
    }

    /// The last round that was answered; 0 for none.
    pub fn answered(&self) -> u32 {
        self.inbox.heard(SERVER, MessageKind::Ask)
    }

    /// Answers a message; a repeated one gets the same bytes.
    ///
    /// # Errors
    /// If the message is not one to answer; the state has then not changed.
    pub fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        self.inbox.answer_once(envelope, |asked| {
            let said = self.table.answer(asked.round, &asked.payload);
            let said = said.map_err(|refusal| Rejected::Gate(refusal.to_string()))?;
            Ok(asked.reply(MessageKind::Answer, said))
        })
    }
}

/// A party, and what the server has received from it.
#[derive(Debug)]
struct EntrustedPlace {
    party: EntrustedParty,
    server: Inbox,
}

impl EntrustedPlace {
    fn exchange(
        &mut self,
        (post, party): (&Post, PartyId),
        round: u32,
        request: Vec<u8>,
    ) -> Result<Vec<u8>, Rejected> {
        let asked = self.server.write(round, party, MessageKind::Ask, request);
        let answers = self.party.on_message(&post.moved(&asked)?)?;
        let answer = answers.first().ok_or(Rejected::Unexpected)?;
        let answer = post.moved(answer)?;
        let admitted = self.server.check(&answer, |from| from == party)?;
        self.server.in_round(&answer, round)?;
        self.server.take(&answer, &admitted, Vec::new());
        Ok(answer.payload)
    }
}

/// All parties of a run, and their connections to the server.
#[derive(Debug)]
struct EntrustedPlaces {
    places: Vec<Mutex<EntrustedPlace>>,
    post: Arc<Post>,
}

impl Carrier for EntrustedPlaces {
    fn exchange(&self, party: u32, round: u32, request: Vec<u8>) -> Result<Vec<u8>, Refusal> {
        let lost = |why: String| Refusal::BadQuery(format!("party {party} did not answer: {why}"));
        let place = self.places.get(party as usize).ok_or_else(|| lost("unknown".to_owned()))?;
        let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
        place
            .exchange((&self.post, PartyId(party)), round, request)
            .map_err(|rejected| lost(rejected.to_string()))
    }
}

/// Entrusts the tables, one for each party, to one aggregator: returns the rows for its gate, and
/// the post between them. All keys follow from that of `run`; on a network each party has its own.
///
/// # Errors
/// If sums over a table are impossible, or there is no table.
pub fn entrust(
    tables: Vec<PrivateTable>,
    loss: &Arc<dyn Loss>,
    opening: &PrivacyModel,
    features: usize,
    RunKey { key, run }: RunKey<'_>,
) -> Result<(HeldRows, Arc<Post>), RunError> {
    if tables.is_empty() || tables.len() >= u32::MAX as usize / 2 {
        let allowed = "at least one party with its table is needed";
        return Err(Refused::new("parties", tables.len(), allowed).into());
    }
    let aggregator = SumAggregator::new(&key_of(SERVER, key), run);
    let (to, id, post) = (aggregator.public_key(), RunId::from(run), Arc::new(Post::default()));
    let (mut places, mut greetings) = (Vec::with_capacity(tables.len()), Vec::new());
    for (table, number) in tables.into_iter().zip(0..) {
        let party = PartyId(number);
        let own = key_of(party, key);
        let (table, greeting) =
            EntrustedTable::new(table, Arc::clone(loss), opening, (&own, number), &to)?;
        let (party, said) = EntrustedParty::new(run, party, table, greeting);
        greetings.push(post.moved(&said)?.payload);
        places.push(Mutex::new(EntrustedPlace { party, server: Inbox::new(id, SERVER) }));
    }
    let carrier = Box::new(EntrustedPlaces { places, post: Arc::clone(&post) });
    let rows = aggregator.admit(&greetings, (features, opening.intercept != 0.0), carrier)?;
    Ok((rows, post))
}
