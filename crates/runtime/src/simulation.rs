//! Rounds in one process: every message becomes bytes and is read from bytes.
//!
//! ```text
//! a round: the deadline of the one before → messages → who gets one answers, all in parallel → messages → …
//! ```
//!
//! Nodes share nothing, and what they send is put in the order of the senders before it is delivered, so the bits do not
//! depend on the number of threads.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::algorithms::{Network, Protocol};
use crate::error::RunError;
use crate::message::{Envelope, PartyId, SERVER};
use crate::node::Node;
use crate::rejected::Rejected;
use crate::wire;

/// Message and answer and answer to the answer … in one round; more than any algorithm has.
const WAVES: u32 = 64;

/// What was moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A run of an algorithm, round by round.
pub struct Simulation {
    pub(crate) protocol: Box<dyn Protocol>,
    pub(crate) nodes: Vec<Box<dyn Node>>,
    initiators: Vec<PartyId>,
    /// Rounds that are over.
    pub(crate) round: u32,
    traffic: Traffic,
    rejections: BTreeMap<&'static str, u64>,
}

/// What a node made of its messages.
struct Outbox {
    place: usize,
    bytes: Vec<(PartyId, Vec<u8>)>,
    rejected: Vec<Rejected>,
}

impl Simulation {
    pub(crate) fn new(protocol: Box<dyn Protocol>, network: Network) -> Self {
        let Network { nodes, initiators } = network;
        Simulation {
            protocol,
            nodes,
            initiators,
            round: 0,
            traffic: Traffic::default(),
            rejections: BTreeMap::new(),
        }
    }

    /// Rounds that are over, and rounds that there are.
    pub fn progress(&self) -> (u32, u32) {
        (self.round, self.protocol.rounds())
    }

    /// Does one round; `false` when there is none left.
    pub fn step(&mut self) -> Result<bool, RunError> {
        if self.round >= self.protocol.rounds() {
            return Ok(false);
        }
        let begun = self.deadline()?;
        self.deliver(begun);
        self.round += 1;
        Ok(true)
    }

    /// Does all the rounds that are left; `after` hears how many are over. There is no stopping rule.
    pub fn run(&mut self, mut after: impl FnMut(u32, u32)) -> Result<(), RunError> {
        while self.step()? {
            after(self.round, self.protocol.rounds());
        }
        Ok(())
    }

    /// The last deadline, and the parameter to publish.
    pub fn finish(&mut self) -> Result<Vec<f64>, RunError> {
        self.deadline()?;
        self.protocol.solution(&self.nodes)
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
    pub fn rejections(&self) -> &BTreeMap<&'static str, u64> {
        &self.rejections
    }

    fn place(&self, id: PartyId) -> usize {
        if id == SERVER { self.nodes.len() - 1 } else { id.index() }
    }

    /// The deadline of the round that is over, for the initiators.
    fn deadline(&mut self) -> Result<Vec<(PartyId, Vec<u8>)>, RunError> {
        let round = self.round;
        let places: Vec<usize> = self.initiators.iter().map(|&id| self.place(id)).collect();
        let sent = at_places(&mut self.nodes, &places, |node, _| node.on_deadline(round).map(sealed));
        sent.into_iter().try_fold(Vec::new(), |mut all, sent| {
            all.extend(sent?);
            Ok(all)
        })
    }

    /// Delivers messages, and the answers to them, until nobody says anything more.
    fn deliver(&mut self, mut wave: Vec<(PartyId, Vec<u8>)>) {
        let limit = self.protocol.longest_payload();
        for _ in 0..WAVES {
            if wave.is_empty() {
                return;
            }
            let mut inboxes: BTreeMap<usize, Vec<Vec<u8>>> = BTreeMap::new();
            for (to, bytes) in wave {
                self.traffic.messages += 1;
                self.traffic.bytes += bytes.len() as u64;
                let place = self.place(to);
                if place < self.nodes.len() {
                    inboxes.entry(place).or_default().push(bytes);
                }
            }
            let places: Vec<usize> = inboxes.keys().copied().collect();
            let outboxes = at_places(&mut self.nodes, &places, |node, place| {
                let mut outbox = Outbox { place, bytes: Vec::new(), rejected: Vec::new() };
                for bytes in &inboxes[&place] {
                    match wire::decode(bytes, limit).and_then(|envelope| node.on_message(&envelope)) {
                        Ok(sent) => outbox.bytes.extend(sealed(sent)),
                        Err(rejected) => outbox.rejected.push(rejected),
                    }
                }
                outbox
            });
            debug_assert!(outboxes.is_sorted_by_key(|outbox| outbox.place));
            wave = Vec::new();
            for outbox in outboxes {
                wave.extend(outbox.bytes);
                for rejected in outbox.rejected {
                    *self.rejections.entry(rejected.name()).or_default() += 1;
                }
            }
        }
    }
}

fn sealed(sent: Vec<Envelope>) -> Vec<(PartyId, Vec<u8>)> {
    sent.into_iter().map(|envelope| (envelope.to, wire::encode(&envelope))).collect()
}

/// `act` on the nodes at `places` (each once), in parallel; what it gives, in the order of `places`. The nodes are taken out
/// for it, so that the work is in proportion to those who act and not to all there are.
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
        let Some((node, behind)) = rest.get_mut(places[k] - passed..).and_then(<[_]>::split_first_mut) else {
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
