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
use crate::failures::{Arrivals, Failures, RawMessage, When};
use crate::message::{Envelope, PartyId, SERVER};
use crate::node::{Node, RunProgress};
use crate::party::{Party, PartyReport};
use crate::rejected::Rejected;
use crate::run::Agreement;
use crate::wire;

/// The traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// The number of messages.
    pub messages: u64,
    /// The number of their bytes.
    pub bytes: u64,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct SimulationOutcome {
    /// The parameter.
    pub parameter: Vec<f64>,
    /// The parameter of each party, if each has one to show ([`Protocol::node_models`]).
    pub nodes: Vec<Vec<f64>>,
    /// The books of each party.
    pub parties: Vec<PartyReport>,
    /// The traffic; `None` if it would reveal something of a secret sample.
    pub traffic: Option<Traffic>,
    /// Rejected messages, by name; empty if the traffic is not public.
    pub rejections: BTreeMap<String, u64>,
}

/// A run of an algorithm in one process, round by round.
pub struct SimulatedRun {
    agreement: Agreement,
    /// Party `i` at place `i`, then the server if there is one.
    nodes: Vec<Box<dyn Node>>,
    /// The nodes whose deadlines are called, in order: the server, or every party.
    initiators: Vec<PartyId>,
    /// The number of rounds that are over.
    round: u32,
    traffic: Traffic,
    rejections: BTreeMap<String, u64>,
    failures: Failures,
    /// The messages that arrive with the next round.
    late: Vec<RawMessage>,
    /// Called with every message that is sent, before faults are injected.
    tap: Option<Tap>,
    /// The noise multiplier of each party.
    noise: Vec<f64>,
    /// The fingerprint of every party's table and noise.
    tables: Digest,
    key: NoiseKey,
    #[cfg(reticent_seeded_bugs)]
    pub(crate) bug: Option<reticent_oracle::Bug>,
}

/// A function that is called with the round and the bytes of every message.
pub type Tap = Box<dyn FnMut(u32, &[u8]) + Send>;

/// The messages of a node.
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

    /// Injects these failures from here on.
    pub fn fail(&mut self, failures: Failures) -> Result<(), RunError> {
        failures.check()?;
        self.failures = failures;
        Ok(())
    }

    /// Calls `tap` with every message that is sent from here on, as an adversary sees them that
    /// sees all.
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

    /// The releases that the adversary of the view reconstructs from the messages that it `heard`
    /// and from what is public by now: see [`Transcribed`](crate::adversary::Transcribed).
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

    /// The number of rounds that are over, and of all rounds.
    pub fn progress(&self) -> RunProgress {
        RunProgress { done: self.round, of: self.protocol().rounds() }
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
        // The server in its last saved state, which is all that it knows after a restart.
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

    /// Runs all remaining rounds; `after` is called with the number of rounds that are over. There
    /// is no stopping rule.
    pub fn run(&mut self, mut after: impl FnMut(u32, u32)) -> Result<(), RunError> {
        while self.step()? {
            after(self.round, self.protocol().rounds());
        }
        Ok(())
    }

    /// Calls the last deadline; returns the parameter to publish.
    pub fn finish(&mut self) -> Result<Vec<f64>, RunError> {
        self.deadline()?;
        let published = self.protocol().published(&self.nodes);
        published.ok_or(RunError::Snapshot("no node has a model"))
    }

    /// The current books of each party: the budget is set aside in them before the first round.
    pub fn reports(&self) -> Vec<PartyReport> {
        self.nodes.iter().filter_map(|node| node.party()).map(Party::report).collect()
    }

    /// Runs the rest of the run.
    pub fn complete(mut self, after: impl FnMut(u32, u32)) -> Result<SimulationOutcome, RunError> {
        self.run(after)?;
        self.close_after(|_| {})
    }

    /// The result of a run whose rounds are over; `settled` is called with the run after the last
    /// deadline.
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

    /// The traffic so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// The number of rejected messages so far, by name.
    pub fn rejections(&self) -> &BTreeMap<String, u64> {
        &self.rejections
    }

    /// The state that is needed to continue from here.
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

    /// Continues from a checkpoint of the same job, prepared with its key.
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
        // Unchanged tables would repeat their answers with the same noise in another context: the
        // difference of the two runs would reveal the changed ones.
        let same = checkpoint.tables == self.tables;
        #[cfg(reticent_seeded_bugs)]
        let same = same || self.bug == Some(reticent_oracle::Bug::ForkedNoise);
        if !same {
            return Err(RunError::Snapshot("a table, its schema or the noise is not what it was"));
        }
        for (node, snapshot) in self.nodes.iter_mut().zip(&checkpoint.nodes) {
            node.restore(snapshot)?;
        }
        // Before the next round: a party that had to ask for what it has lost would send messages
        // that the run before the crash did not have, and the failures of the round would differ
        // from those of its first attempt.
        let zs = self.trajectory().to_vec();
        self.nodes.par_iter_mut().try_for_each(|node| node.catch_up(&zs))?;
        self.round = checkpoint.round;
        self.traffic = checkpoint.traffic;
        self.rejections = checkpoint.rejections.clone();
        self.late = checkpoint.late.clone();
        Ok(())
    }

    /// The public z's so far, if parties keep blocks that follow from them.
    fn trajectory(&self) -> &[Vec<f64>] {
        self.nodes.last().map_or(&[], |node| node.trajectory())
    }

    fn place(&self, id: PartyId) -> usize {
        if id == SERVER { self.nodes.len() - 1 } else { id.index() }
    }

    /// Calls the deadline of the current round, for the initiators.
    fn deadline(&mut self) -> Result<Vec<RawMessage>, RunError> {
        let round = self.round;
        self.initiated(|node| node.on_deadline(round))
    }

    /// The messages of the initiators.
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

    /// The messages that arrive; late ones are kept for the next round.
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
        let Arrivals { now: arrived, late } = self.failures.inject(sent, when, exaggerated);
        self.late.extend(late);
        arrived
    }

    /// Delivers messages and the answers to them, until none are left or the round has no more time
    /// ([`Protocol::waves`]); `overdue` ones first.
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

/// Calls `act` on the nodes at `places` (each once), in parallel; returns its results, in the order
/// of `places`. The nodes are taken out for it, so that the work is in proportion to their number
/// and not to that of all nodes.
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
        // Places are distinct, so each is at or behind the front of the remaining ones.
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
