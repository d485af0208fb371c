//! A coordinator in the middle that asks every party in every round: what such algorithms have in
//! common.
//!
//! ```text
//! coordinator → party i:  an ask, made from what the coordinator knows
//! party i → coordinator:  one vector, a release of the party's own gate
//! coordinator:            a new state from its state and the answers, in the order of the parties
//! ```
//!
//! The coordinator sees every message, so all of its state is public in the local view, and it
//! sends each party the part that belongs to it: a party keeps nothing but its data and its books,
//! and a message that is lost is lost without harm.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use reticent_oracle::{Oracle, Refusal};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Network, Protocol, Start, Witness};
use crate::client::{Client, ClientContext};
use crate::error::RunError;
use crate::inbox::{Inbox, Memory};
use crate::message::{Envelope, Kind, PartyId, RunId, SERVER};
use crate::node::Node;
use crate::party::Party;
use crate::rejected::Rejected;
use crate::wire;

/// The mathematics of an algorithm with a coordinator.
pub(crate) trait Exchange: Clone + fmt::Debug + Send + Sync + 'static {
    /// What a party is asked.
    type Ask: Serialize + DeserializeOwned;
    /// What the coordinator keeps between rounds.
    type State: Clone + fmt::Debug + Serialize + DeserializeOwned + Send + Sync;

    fn parties(&self) -> u32;

    fn rounds(&self) -> u32;

    /// Entries of an answer.
    fn len(&self) -> usize;

    /// No ask is longer, in bytes.
    fn longest_ask(&self) -> usize;

    /// The state before the first round.
    fn start(&self) -> Self::State;

    /// What `party` is asked in `round` (from 1).
    fn ask(&self, state: &Self::State, round: u32, party: u32) -> Self::Ask;

    /// The party's step: the one place that asks the gate, in a rehearsal and in a run.
    fn answer(
        &self,
        ask: &Self::Ask,
        noise: f64,
        oracle: &mut dyn Oracle,
    ) -> Result<Vec<f64>, Refusal>;

    /// A public point and a distance from it that no honest answer of `party` exceeds, but for a
    /// chance of less than 10⁻⁸ (a normal vector of length d has a norm above √d + 6 with at most
    /// that). What is further away is moved there, so that a party that lies moves the others no
    /// further than it may.
    fn reach(&self, ask: &Self::Ask, party: u32, noise: f64) -> (Vec<f64>, f64);

    /// Takes the answers in; a party that has not answered is not among them.
    fn close(&self, state: &mut Self::State, answers: BTreeMap<u32, Vec<f64>>);

    /// The parameter that the state stands for.
    fn solution(&self, state: &Self::State) -> Vec<f64>;

    /// What an adversary makes of one answer: the vector that has the noise as the gate put it
    /// there.
    fn bare(&self, ask: &Self::Ask, answer: Vec<f64>, party: u32, noise: f64) -> Vec<f64>;
}

/// The protocol of such an algorithm.
#[derive(Debug)]
pub(crate) struct Star<E>(pub E);

impl<E: Exchange> Protocol for Star<E> {
    fn rounds(&self) -> u32 {
        self.0.rounds()
    }

    fn longest_payload(&self) -> usize {
        self.0.longest_ask().max(8 * self.0.len() + 16)
    }

    fn rehearse(&self, party: PartyId, noise: f64, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let state = self.0.start();
        (1..=self.0.rounds()).try_for_each(|round| {
            self.0.answer(&self.0.ask(&state, round, party.0), noise, oracle).map(|_| ())
        })
    }

    fn network(&self, parties: Vec<Party>, start: Start<'_>) -> Result<Network, RunError> {
        let run = RunId::from(start.run);
        let mut nodes: Vec<Box<dyn Node>> = Vec::with_capacity(parties.len() + 1);
        nodes.extend(parties.into_iter().zip(start.noise).map(|(party, &noise)| {
            Contributor { noise, config: self.0.clone() }.into_node(run, party)
        }));
        nodes.push(Box::new(Coordinator {
            inbox: Inbox::new(run, SERVER),
            noise: start.noise.to_vec(),
            state: State {
                round: 0,
                attempt: 0,
                own: self.0.start(),
                answers: BTreeMap::new(),
                declined: BTreeSet::new(),
            },
            config: self.0.clone(),
        }));
        Ok(Network { nodes, initiators: vec![SERVER] })
    }

    fn solution(&self, nodes: &[Box<dyn Node>]) -> Result<Vec<f64>, RunError> {
        let server = nodes.last().and_then(|node| node.as_any().downcast_ref::<Coordinator<E>>());
        server
            .map(|server| self.0.solution(&server.state.own))
            .ok_or(RunError::Snapshot("no coordinator"))
    }

    fn exaggerated(&self, envelope: &Envelope) -> Option<Envelope> {
        let mut message: Vec<f64> = wire::unpack(&envelope.payload).ok()?;
        message.iter_mut().for_each(|v| *v *= 1e9);
        Some(Envelope { payload: wire::pack(&message).ok()?, ..envelope.clone() })
    }

    fn transcript(&self, witness: &Witness<'_>) -> Vec<Vec<f64>> {
        let Witness { heard, victim, noise, .. } = *witness;
        let mut ask = None;
        let mut seen = Vec::new();
        for envelope in heard {
            if envelope.to == victim && envelope.kind == Kind::Ask {
                ask = wire::unpack::<E::Ask>(&envelope.payload).ok();
            }
            if let (true, Kind::Answer, Some(ask), Ok(answer)) =
                (envelope.from == victim, envelope.kind, &ask, wire::unpack(&envelope.payload))
            {
                seen.push(self.0.bare(ask, answer, victim.0, noise));
            }
        }
        seen
    }
}

/// A party, who keeps nothing but its data and its books.
struct Contributor<E> {
    noise: f64,
    config: E,
}

impl<E: Exchange> Client for Contributor<E> {
    fn hear(
        &mut self,
        context: &mut ClientContext,
        envelope: &Envelope,
    ) -> Result<Vec<Envelope>, Rejected> {
        let Contributor { noise, config } = self;
        context.contribute(envelope, |ask, oracle| config.answer(ask, *noise, oracle))
    }
}

/// The coordinator.
struct Coordinator<E: Exchange> {
    inbox: Inbox,
    noise: Vec<f64>,
    state: State<E::State>,
    config: E,
}

/// What it keeps between rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State<S> {
    /// The round whose answers are awaited; 0 before the first.
    round: u32,
    attempt: u16,
    own: S,
    answers: BTreeMap<u32, Vec<f64>>,
    /// Who will not contribute any more.
    declined: BTreeSet<u32>,
}

impl<E: Exchange> Coordinator<E> {
    /// The answer, moved to where an honest one can be.
    fn within_reach(&self, party: u32, mut answer: Vec<f64>) -> Vec<f64> {
        let ask = self.config.ask(&self.state.own, self.state.round, party);
        let (centre, most) = self.config.reach(&ask, party, self.noise[party as usize]);
        let away = answer.iter().zip(&centre).map(|(a, c)| (a - c) * (a - c)).sum::<f64>().sqrt();
        if away > most {
            answer.iter_mut().zip(&centre).for_each(|(a, c)| *a = c + (*a - c) * (most / away));
        }
        answer
    }
}

impl<E: Exchange> Node for Coordinator<E> {
    fn id(&self) -> PartyId {
        SERVER
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        self.inbox.in_round(envelope, self.state.round)?;
        let from = envelope.from.0;
        let State { declined, .. } = &self.state;
        let known = |from: PartyId| from.0 < self.config.parties() && !declined.contains(&from.0);
        let admitted = self.inbox.check(envelope, known)?;
        match envelope.kind {
            // The same again, after the coordinator itself asked again.
            _ if admitted.again => {}
            Kind::Answer => {
                let answer = wire::checked(wire::unpack(&envelope.payload)?, self.config.len())?;
                let answer = self.within_reach(from, answer);
                self.state.answers.insert(from, answer);
            }
            Kind::Declined => _ = self.state.declined.insert(from),
            _ => return Err(Rejected::Unexpected),
        }
        self.inbox.take(envelope, &admitted);
        Ok(Vec::new())
    }

    fn on_deadline(&mut self, round: u32) -> Result<Vec<Envelope>, RunError> {
        let answers = std::mem::take(&mut self.state.answers);
        if round > 0 {
            self.config.close(&mut self.state.own, answers);
        }
        self.state.round = round + 1;
        if self.state.round > self.config.rounds() {
            return Ok(Vec::new());
        }
        let State { own, attempt, declined, round, .. } = &self.state;
        let asked = (0..self.config.parties()).filter(|party| !declined.contains(party));
        asked
            .map(|party| {
                let payload = wire::pack(&self.config.ask(own, *round, party))?;
                let envelope = self.inbox.write(*round, PartyId(party), Kind::Ask, payload);
                Ok(Envelope { attempt: *attempt, ..envelope })
            })
            .collect()
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(self.inbox.memory(), &self.state))?)
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        let (memory, state): (Memory, State<E::State>) = wire::unpack(snapshot)?;
        self.inbox.remember(memory);
        // What is sent from here on may have been sent before.
        self.state = State { attempt: state.attempt.saturating_add(1), ..state };
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
