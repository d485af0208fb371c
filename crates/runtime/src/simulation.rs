//! Rounds in one process: every message becomes bytes and is read from bytes.
//!
//! ```text
//! a round: the deadline of the one before → messages → who gets one answers, all in parallel → messages → …
//! ```
//!
//! Nodes share nothing, and what they send is put in the order of the senders before it is
//! delivered, so the bits do not depend on the number of threads.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use reticent_accountant::Ledger;
use reticent_noise::{Digest, Hasher, NoiseKey};

use crate::adversary::Witness;
use crate::algorithms::Protocol;
use crate::checkpoint::Checkpoint;
use crate::error::RunError;
use crate::failures::{Failures, RawMessage, When};
use crate::message::{Envelope, PartyId, SERVER};
use crate::node::Node;
use crate::party::{Party, PartyReport};
use crate::rejected::Rejected;
use crate::run::Agreement;
use crate::wire;

/// What was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct SimulationOutcome {
    /// The parameter.
    pub parameter: Vec<f64>,
    /// That of each party, where each has one to show ([`Protocol::node_models`]).
    pub nodes: Vec<Vec<f64>>,
    /// The books of each party.
    pub parties: Vec<PartyReport>,
    /// What was moved; `None` where that would say something of a secret sample.
    pub traffic: Option<Traffic>,
    /// Messages that were rejected, by name; none are told where the traffic is not.
    pub rejections: BTreeMap<String, u64>,
}

/// A run of an algorithm, round by round: one host of all the nodes.
pub struct SimulatedRun {
    agreement: Agreement,
    /// Party `i` at place `i`, then the server if there is one.
    nodes: Vec<Box<dyn Node>>,
    /// Whose deadlines are called, in this order: the server's, or every party's.
    initiators: Vec<PartyId>,
    /// Rounds that are over.
    round: u32,
    traffic: Traffic,
    rejections: BTreeMap<String, u64>,
    failures: Failures,
    /// What arrives with the next round.
    late: Vec<RawMessage>,
    /// Called with every message that is sent, before faults are injected.
    tap: Option<Tap>,
    /// The noise multiplier of each party.
    noise: Vec<f64>,
    /// Stands for every party's table and noise.
    tables: Digest,
    key: NoiseKey,
    #[cfg(reticent_seeded_bugs)]
    pub(crate) bug: Option<reticent_oracle::Bug>,
}

/// What hears every message: round and bytes.
pub type Tap = Box<dyn FnMut(u32, &[u8]) + Send>;

/// What a node made of its messages.
struct Outbox {
    sent: Vec<RawMessage>,
    rejected: Vec<Rejected>,
}

impl SimulatedRun {
    pub(crate) fn new(
        mut agreement: Agreement,
        nodes: Vec<Box<dyn Node>>,
        key: NoiseKey,
    ) -> Result<Self, RunError> {
        let noise = agreement.all_noise()?;
        let mut tables = Hasher::new("reticent tables");
        for party in nodes.iter().filter_map(|node| node.party()) {
            tables.field(&party.fingerprint()?);
        }
        let ids = nodes.iter().map(|node| node.id());
        let initiators =
            if ids.clone().any(|id| id == SERVER) { vec![SERVER] } else { ids.collect() };
        Ok(SimulatedRun {
            agreement,
            nodes,
            initiators,
            round: 0,
            traffic: Traffic::default(),
            rejections: BTreeMap::new(),
            failures: Failures::default(),
            late: Vec::new(),
            tap: None,
            tables: tables.numbers(&noise).finish(),
            noise,
            key,
            #[cfg(reticent_seeded_bugs)]
            bug: None,
        })
    }

    /// From here on, these things go wrong.
    pub fn fail(&mut self, failures: Failures) -> Result<(), RunError> {
        failures.check()?;
        self.failures = failures;
        Ok(())
    }

    /// From here on, `tap` hears every message that is sent: what somebody sees who sees them all.
    pub fn listen(&mut self, tap: Tap) {
        self.tap = Some(tap);
    }

    /// The algorithm with its settings.
    pub fn protocol(&self) -> &dyn Protocol {
        self.agreement.protocol()
    }

    /// The plan of a party with this noise.
    pub fn plan(&self, party: PartyId, noise: f64) -> Result<Ledger, RunError> {
        self.agreement.plan(party, noise)
    }

    /// What the adversary of the view makes of the messages that were `heard` and of what is public
    /// by now: see [`Watched`](crate::adversary::Transcribed).
    pub fn transcript(
        &self,
        heard: &[Envelope],
        victim: PartyId,
        observer: PartyId,
    ) -> Vec<Vec<f64>> {
        let mut public = self.trajectory().to_vec();
        public.extend(self.protocol().published(&self.nodes));
        let noise = self.noise.get(victim.index()).copied().unwrap_or(0.0);
        let witness = Witness { heard, public: &public, victim, observer, noise };
        self.protocol().transcript(&witness)
    }

    /// The calibrated noise multiplier of each party.
    pub fn noise(&self) -> &[f64] {
        &self.noise
    }

    /// Rounds that are over, and rounds that there are.
    pub fn progress(&self) -> (u32, u32) {
        (self.round, self.protocol().rounds())
    }

    /// Runs one round; `false` if none is left.
    pub fn step(&mut self) -> Result<bool, RunError> {
        self.step_after(|_| {})
    }

    /// Runs one round. `settled` is called with the run once the previous round is over, before a
    /// message of this round is sent: after the deadline of the previous round, at which a server
    /// aggregates, or before it, where peers take their next step at it
    /// ([`Protocol::steps_at_deadline`]).
    pub fn step_after(&mut self, settled: impl FnOnce(&Self)) -> Result<bool, RunError> {
        if self.round >= self.protocol().rounds() {
            return Ok(false);
        }
        // The server, as it was when it last saved: that is all it knows after a restart.
        let restarts = self.failures.restarts(self.round + 1) && self.initiators == [SERVER];
        let saved = if restarts { Some(self.nodes[self.place(SERVER)].snapshot()?) } else { None };
        let late = std::mem::take(&mut self.late);
        let begun = if self.protocol().steps_at_deadline() {
            settled(self);
            self.deadline()?
        } else {
            let begun = self.deadline()?;
            settled(self);
            begun
        };
        self.deliver(late, begun, 0)?;
        if let Some(saved) = saved {
            let place = self.place(SERVER);
            self.nodes[place].restore(&saved)?;
            let begun = self.deadline()?;
            self.deliver(Vec::new(), begun, 1)?;
        }
        self.round += 1;
        Ok(true)
    }

    /// Does all the rounds that are left; `after` hears how many are over. There is no stopping
    /// rule.
    pub fn run(&mut self, mut after: impl FnMut(u32, u32)) -> Result<(), RunError> {
        while self.step()? {
            after(self.round, self.protocol().rounds());
        }
        Ok(())
    }

    /// The last deadline, and the parameter to publish.
    pub fn finish(&mut self) -> Result<Vec<f64>, RunError> {
        self.deadline()?;
        let published = self.protocol().published(&self.nodes);
        published.ok_or(RunError::Snapshot("no node has a model"))
    }

    /// The books of each party as they stand: what it has set aside is in them before the first
    /// round.
    pub fn reports(&self) -> Vec<PartyReport> {
        self.nodes.iter().filter_map(|node| node.party()).map(Party::report).collect()
    }

    /// Runs what is left of the run to its end.
    pub fn complete(mut self, after: impl FnMut(u32, u32)) -> Result<SimulationOutcome, RunError> {
        self.run(after)?;
        self.close_after(|_| {})
    }

    /// What came out of a run whose rounds are over; `settled` is shown it when the last deadline
    /// is.
    pub fn close_after(
        mut self,
        settled: impl FnOnce(&Self),
    ) -> Result<SimulationOutcome, RunError> {
        let parameter = self.finish()?;
        settled(&self);
        let parties = self.reports();
        let nodes = self.protocol().node_models(&self.nodes);
        let told = self.protocol().traffic_is_public();
        Ok(SimulationOutcome {
            parameter,
            nodes,
            parties,
            traffic: told.then_some(self.traffic),
            rejections: if told { self.rejections.clone() } else { BTreeMap::new() },
        })
    }

    /// The nodes, parties first.
    pub fn nodes(&self) -> &[Box<dyn Node>] {
        &self.nodes
    }

    /// What was moved so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// How many messages were rejected so far, by name.
    pub fn rejections(&self) -> &BTreeMap<String, u64> {
        &self.rejections
    }

    /// All that it takes to go on from here.
    pub fn checkpoint(&self) -> Result<Checkpoint, RunError> {
        let mut checkpoint =
            Checkpoint::new(self.agreement.job, self.tables, &self.key, self.round);
        checkpoint.traffic = self.traffic;
        checkpoint.rejections = self.rejections.clone();
        checkpoint.late = self.late.clone();
        checkpoint.nodes =
            self.nodes.iter().map(|node| node.snapshot()).collect::<Result<_, _>>()?;
        Ok(checkpoint)
    }

    /// Goes on from a checkpoint of the same job, prepared with its key.
    pub fn resume(&mut self, checkpoint: &Checkpoint) -> Result<(), RunError> {
        if checkpoint.job != self.agreement.job {
            return Err(RunError::Snapshot("it is of another job"));
        }
        if *checkpoint.key().expose().0 != *self.key.expose().0 {
            return Err(RunError::Snapshot("it has another key"));
        }
        if checkpoint.nodes.len() != self.nodes.len() {
            return Err(RunError::Snapshot("it has another number of parties"));
        }
        // Whose table is the same would say what it said before with the same noise, in answer to
        // other things: the difference of the two runs would show the tables that are not.
        let same = checkpoint.tables == self.tables;
        #[cfg(reticent_seeded_bugs)]
        let same = same || self.bug == Some(reticent_oracle::Bug::ForkedNoise);
        if !same {
            return Err(RunError::Snapshot("a table, its schema or the noise is not what it was"));
        }
        for (node, snapshot) in self.nodes.iter_mut().zip(&checkpoint.nodes) {
            node.restore(snapshot)?;
        }
        // Before the next round: if a party had to ask for what it has lost, that would be messages
        // that the run before the crash did not have, and other misfortunes would befall the round
        // than when it was first begun.
        let zs = self.trajectory().to_vec();
        self.nodes.par_iter_mut().try_for_each(|node| node.catch_up(&zs))?;
        self.round = checkpoint.round;
        self.traffic = checkpoint.traffic;
        self.rejections = checkpoint.rejections.clone();
        self.late = checkpoint.late.clone();
        Ok(())
    }

    /// The public z's so far, where parties keep blocks that follow from them.
    fn trajectory(&self) -> &[Vec<f64>] {
        self.nodes.last().map_or(&[], |node| node.trajectory())
    }

    fn place(&self, id: PartyId) -> usize {
        if id == SERVER { self.nodes.len() - 1 } else { id.index() }
    }

    /// The deadline of the round that is over, for the initiators.
    fn deadline(&mut self) -> Result<Vec<RawMessage>, RunError> {
        let round = self.round;
        self.initiated(|node| node.on_deadline(round))
    }

    /// What the initiators say.
    fn initiated(
        &mut self,
        act: impl Fn(&mut dyn Node) -> Result<Vec<Envelope>, RunError> + Sync,
    ) -> Result<Vec<RawMessage>, RunError> {
        let places: Vec<usize> = self.initiators.iter().map(|&id| self.place(id)).collect();
        let sent = at_places(&mut self.nodes, &places, |node, _| act(node).map(as_bytes));
        sent.into_iter().try_fold(Vec::new(), |mut all, sent| {
            all.extend(sent?);
            Ok(all)
        })
    }

    /// What arrives of what is sent; what comes late is kept for the next round.
    fn travel(&mut self, sent: Vec<RawMessage>, when: When) -> Vec<RawMessage> {
        for message in &sent {
            self.traffic.messages += 1;
            self.traffic.bytes += message.bytes.len() as u64;
            if let Some(tap) = &mut self.tap {
                tap(when.round, &message.bytes);
            }
        }
        let protocol = self.agreement.protocol();
        let exaggerated = |bytes: &[u8]| {
            let honest = wire::decode(bytes, protocol.longest_payload()).ok()?;
            Some(wire::encode(&protocol.exaggerated(&honest)?))
        };
        let (arrived, late) = self.failures.inject(sent, when, exaggerated);
        self.late.extend(late);
        arrived
    }

    /// Delivers messages, and the answers to them, until nobody says anything more or the round has
    /// no more time ([`Protocol::waves`]); `overdue` ones first.
    fn deliver(
        &mut self,
        mut overdue: Vec<RawMessage>,
        mut sent: Vec<RawMessage>,
        attempt: u32,
    ) -> Result<(), RunError> {
        let limit = self.protocol().longest_payload();
        let waves = self.protocol().waves();
        for wave in 0..waves {
            if sent.is_empty() && overdue.is_empty() {
                let round = self.round + 1;
                sent = self.initiated(|node| match node.awaits()[..] {
                    [] => Ok(Vec::new()),
                    _ => node.on_quiet(round),
                })?;
                if sent.is_empty() {
                    return Ok(());
                }
            }
            let arrived = self.travel(sent, When { round: self.round + 1, attempt, wave });
            let mut inboxes: BTreeMap<usize, Vec<Vec<u8>>> = BTreeMap::new();
            for RawMessage { to, bytes, .. } in overdue.drain(..).chain(arrived) {
                let place = self.place(to);
                if place < self.nodes.len() {
                    inboxes.entry(place).or_default().push(bytes);
                }
            }
            let places: Vec<usize> = inboxes.keys().copied().collect();
            let outboxes = at_places(&mut self.nodes, &places, |node, place| {
                let mut outbox = Outbox { sent: Vec::new(), rejected: Vec::new() };
                for bytes in &inboxes[&place] {
                    match wire::decode(bytes, limit).and_then(|envelope| node.on_message(&envelope))
                    {
                        Ok(sent) => outbox.sent.extend(as_bytes(sent)),
                        Err(rejected) => outbox.rejected.push(rejected),
                    }
                }
                outbox
            });
            sent = Vec::new();
            for outbox in outboxes {
                sent.extend(outbox.sent);
                for rejected in outbox.rejected {
                    *self.rejections.entry(rejected.name().to_owned()).or_default() += 1;
                }
            }
        }
        let arrived = self.travel(sent, When { round: self.round + 1, attempt, wave: waves });
        self.late.extend(arrived);
        Ok(())
    }
}

fn as_bytes(sent: Vec<Envelope>) -> Vec<RawMessage> {
    let raw = |e: Envelope| RawMessage { from: e.from, to: e.to, bytes: wire::encode(&e) };
    sent.into_iter().map(raw).collect()
}

/// `act` on the nodes at `places` (each once), in parallel; what it gives, in the order of
/// `places`. The nodes are taken out for it, so that the work is in proportion to those who act and
/// not to all there are.
fn at_places<T: Send>(
    nodes: &mut [Box<dyn Node>],
    places: &[usize],
    act: impl Fn(&mut dyn Node, usize) -> T + Sync,
) -> Vec<T> {
    let mut taken: Vec<(usize, &mut Box<dyn Node>)> = Vec::with_capacity(places.len());
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by_key(|&k| places[k]);
    let (mut rest, mut passed) = (nodes, 0);
    for k in order {
        // Places are distinct, so each is at or behind the front of what is left.
        let Some((node, behind)) =
            rest.get_mut(places[k] - passed..).and_then(<[_]>::split_first_mut)
        else {
            break;
        };
        passed = places[k] + 1;
        taken.push((k, node));
        rest = behind;
    }
    let mut done: Vec<(usize, T)> =
        taken.into_par_iter().map(|(k, node)| (k, act(&mut **node, places[k]))).collect();
    done.sort_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, t)| t).collect()
}
