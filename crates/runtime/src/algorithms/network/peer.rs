//! A peer: its records behind its own gate, its neighbours, and nobody else.

use std::any::Any;
use std::sync::Arc;

use reticent_noise::Hasher;

use super::rule::Rule;
use super::state::{Share, State};
use crate::error::RunError;
use crate::inbox::{Inbox, Memory};
use crate::message::{Envelope, Kind, PartyId, RunId};
use crate::node::Node;
use crate::party::Party;
use crate::rejected::Rejected;
use crate::wire;

pub(super) struct Peer {
    inbox: Inbox,
    party: Party,
    rule: Arc<Rule>,
    noise: f64,
    attempt: u16,
    state: State,
}

impl Peer {
    pub fn new(run: RunId, party: Party, rule: Arc<Rule>, noise: f64, state: State) -> Self {
        Peer { inbox: Inbox::new(run, party.id()), party, rule, noise, attempt: 0, state }
    }

    /// Its last f.
    pub fn model(&self) -> &[f64] {
        &self.state.own.f
    }
}

impl Node for Peer {
    fn id(&self) -> PartyId {
        self.party.id()
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        let State { round, near, .. } = &self.state;
        self.inbox.in_round(envelope, *round)?;
        let admitted = self.inbox.check(envelope, |from| near.contains_key(&from.0))?;
        if envelope.kind != Kind::Share {
            return Err(Rejected::Unexpected);
        }
        let Share { f, s } = wire::unpack(&envelope.payload)?;
        let len = self.rule.len();
        let share = Share { f: wire::checked(f, len)?, s: wire::checked(s, len)? };
        self.state.hear(envelope.from.0, share, &self.rule, *round);
        self.inbox.take(envelope, &admitted);
        Ok(Vec::new())
    }

    fn on_deadline(&mut self, round: u32) -> Result<Vec<Envelope>, RunError> {
        let Peer { inbox, party, rule, noise, attempt, state } = self;
        let k = round + 1;
        if k > rule.rounds() {
            state.round = k;
            return Ok(Vec::new());
        }
        let mut step = None;
        if rule.is_fresh(k) {
            // All that the step depends on: done again, it is the same step; after another history
            // it is another.
            let label = Hasher::new("reticent peer step")
                .field(&inbox.run().0)
                .number(u64::from(k))
                .number(u64::from(inbox.me().0))
                .field(&wire::pack(&*state)?)
                .finish();
            step = party.step(&label, |oracle| rule.fresh(k, *noise, state, oracle))?;
        }
        let step = step.unwrap_or_else(|| rule.recycled(k, state));
        state.take(step, rule, k);
        state.round = k;
        let payload = wire::pack(&state.own)?;
        let write = |&to: &u32| {
            let envelope = inbox.write(k, PartyId(to), Kind::Share, payload.clone());
            Envelope { attempt: *attempt, ..envelope }
        };
        Ok(state.near.keys().map(write).collect())
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(self.inbox.memory(), self.party.books()?, self.attempt, &self.state))?)
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        let (memory, books, attempt, state): (Memory, String, u16, State) = wire::unpack(snapshot)?;
        self.party.recall(&books)?;
        self.inbox.remember(memory);
        self.attempt = attempt.saturating_add(1);
        self.state = state;
        Ok(())
    }

    fn party(&self) -> Option<&Party> {
        Some(&self.party)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
