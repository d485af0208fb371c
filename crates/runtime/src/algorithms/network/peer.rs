//! A peer: its records behind its own gate, and its neighbours.

use std::collections::BTreeMap;

use reticent_noise::{Digest, Hasher};

use super::rule::StepRule;
use super::state::{PeerState, Share};
use crate::endpoint::{Endpoint, EndpointState};
use crate::error::RunError;
use crate::message::{Envelope, MessageKind, PartyId};
use crate::node::{Node, NodeEstimate, RunProgress};
use crate::party::{Party, unless_spent};
use crate::rejected::Rejected;
use crate::wire;

pub(super) struct Peer {
    endpoint: Endpoint,
    rule: StepRule,
    noise: f64,
    attempt: u16,
    state: PeerState,
    /// Messages of neighbours that are ahead: each is received when its round has begun here too.
    early: BTreeMap<PartyId, Envelope>,
}

/// The state of a peer that must survive a crash.
type PeerSnapshot = (EndpointState, u16, PeerState);

impl Peer {
    pub fn new(endpoint: Endpoint, rule: StepRule, noise: f64, state: PeerState) -> Self {
        Peer { endpoint, rule, noise, attempt: 0, state, early: BTreeMap::new() }
    }

    /// The digest of all that step `k` depends on: a repeated step is the same step, and one after
    /// another history is not.
    fn label(&self, k: u32) -> Result<Digest, RunError> {
        let inbox = &self.endpoint.inbox;
        Ok(Hasher::new("reticent peer step")
            .field(&inbox.run().0)
            .number(u64::from(k))
            .number(u64::from(inbox.me().0))
            .field(&wire::pack(&self.state)?)
            .finish())
    }
}

impl Node for Peer {
    fn id(&self) -> PartyId {
        self.endpoint.party.id()
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        let PeerState { round, near, .. } = &self.state;
        let inbox = &mut self.endpoint.inbox;
        let known = |from: PartyId| near.contains_key(&from.0);
        if envelope.round == round + 1 && envelope.round <= self.rule.rounds() {
            inbox.address(envelope, known)?;
            self.early.entry(envelope.from).or_insert_with(|| envelope.clone());
            return Ok(Vec::new());
        }
        inbox.in_round(envelope, *round)?;
        let admitted = inbox.check(envelope, known)?;
        if envelope.kind != MessageKind::Share {
            return Err(Rejected::Unexpected);
        }
        let Share { f, s } = wire::unpack(&envelope.payload)?;
        let len = self.rule.len();
        let share = Share { f: wire::checked(f, len)?, s: wire::checked(s, len)? };
        self.state.hear(envelope.from.0, share, &self.rule, *round);
        Ok(inbox.take(envelope, &admitted, Vec::new()))
    }

    fn on_deadline(&mut self, round: u32) -> Result<Vec<Envelope>, RunError> {
        let k = round + 1;
        if k > self.rule.rounds() {
            self.state.round = k;
            return Ok(Vec::new());
        }
        let mut step = None;
        if self.rule.is_fresh(k) {
            let label = self.label(k)?;
            let oracle = self.endpoint.party.begin(&label);
            step = unless_spent(self.rule.fresh(k, self.noise, &self.state, oracle))?;
        }
        let step = step.unwrap_or_else(|| self.rule.recycled(k, &self.state));
        self.state.take(step, &self.rule, k);
        self.state.round = k;
        for envelope in std::mem::take(&mut self.early).into_values() {
            // A message that is no share of a neighbour is ignored, as when it arrives in time.
            let _ = self.on_message(&envelope);
        }
        let payload = wire::pack(&self.state.own)?;
        let write = |&to: &u32| {
            let envelope =
                self.endpoint.inbox.write(k, PartyId(to), MessageKind::Share, payload.clone());
            Envelope { attempt: self.attempt, ..envelope }
        };
        Ok(self.state.near.keys().map(write).collect())
    }

    fn awaits(&self) -> Vec<PartyId> {
        let PeerState { round, near, .. } = &self.state;
        let silent = |&from: &PartyId| self.endpoint.inbox.heard(from, MessageKind::Share) < *round;
        near.keys().map(|&from| PartyId(from)).filter(silent).collect()
    }

    fn progress(&self) -> Option<RunProgress> {
        Some(RunProgress { done: self.state.round.saturating_sub(1), of: self.rule.rounds() })
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        let kept = (self.endpoint.save(), self.attempt, &self.state);
        Ok(match self.early.is_empty() {
            // The format before neighbours could be ahead.
            true => wire::pack(&kept)?,
            false => wire::pack(&(kept, self.early.values().collect::<Vec<_>>()))?,
        })
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        let plain = wire::unpack::<PeerSnapshot>(snapshot).map(|kept| (kept, Vec::new()));
        let ((endpoint, attempt, state), early): (PeerSnapshot, Vec<Envelope>) =
            plain.or_else(|_| wire::unpack(snapshot))?;
        self.endpoint.load(endpoint)?;
        self.attempt = attempt.saturating_add(1);
        self.state = state;
        self.early = early.into_iter().map(|envelope| (envelope.from, envelope)).collect();
        Ok(())
    }

    /// Its last f.
    fn model(&self) -> Option<NodeEstimate> {
        Some(NodeEstimate { steps: self.state.round, parameter: self.state.own.f.clone() })
    }

    fn party(&self) -> Option<&Party> {
        Some(&self.endpoint.party)
    }
}
