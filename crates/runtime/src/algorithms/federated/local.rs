//! Trust nobody: the server sees each message, so each message has noise of its own.
//!
//! ```text
//! server → user:  z, u_i                        (u_i is known to the server: it is the sum of what the user sent)
//! user → server:  clip(x_i − z, C′) + noise,    x_i = prox_{γf_i}(2z − u_i)
//! server:         u_i ← u_i + 2λ·message,  ẑ ← ẑ + 2λ·message/n
//! ```
//!
//! The user keeps nothing, so a message that is lost is lost without harm. Released: one message
//! per participation, a Gaussian event of the user's own gate with the ratio 2C′ over its noise.
//! The server knows who takes part, so chance amplifies nothing (E3); a user takes part at most
//! [`cap`] times.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use reticent_noise::{Hasher, NoiseKey};
use reticent_oracle::queries::{Residual, ResidualTerms};
use reticent_oracle::{Claim, Oracle, Refusal};
use serde::{Deserialize, Serialize};

use super::Federated;
use crate::algorithms::{Network, Protocol, Start};
use crate::client::{Client, ClientContext};
use crate::error::RunError;
use crate::inbox::{Inbox, Memory};
use crate::message::{Envelope, Kind, PartyId, RunId, SERVER};
use crate::node::Node;
use crate::participation::{cap, choose};
use crate::party::Party;
use crate::rejected::Rejected;
use crate::wire;

#[derive(Debug)]
pub(crate) struct Local(pub Federated);

/// What a user is asked.
#[derive(Serialize, Deserialize)]
struct Ask {
    z: Vec<f64>,
    u: Vec<f64>,
}

/// The user's step: the one place that asks the gate, in a rehearsal and in a run.
fn contribute(
    ask: &Ask,
    params: &ResidualTerms,
    claim: Option<Claim>,
    oracle: &mut dyn Oracle,
) -> Result<Vec<f64>, Refusal> {
    if let Some(claim) = claim {
        oracle.claim(claim);
    }
    let v: Vec<f64> = ask.z.iter().zip(&ask.u).map(|(z, u)| 2.0 * z - u).collect();
    Ok(oracle.ask(&Residual { v: &v, z: &ask.z, params: *params })?.into_inner())
}

impl Protocol for Local {
    fn rounds(&self) -> u32 {
        self.0.rounds
    }

    fn longest_payload(&self) -> usize {
        16 * self.0.len() + 20
    }

    fn rehearse(&self, _: PartyId, noise: f64, oracle: &mut dyn Oracle) -> Result<(), Refusal> {
        let Federated { parties, rounds, sampling, params, .. } = &self.0;
        let params = ResidualTerms { noise_multiplier: noise, ..*params };
        let claim = self.0.claim(noise);
        let ask = Ask { z: vec![0.0; self.0.len()], u: vec![0.0; self.0.len()] };
        (0..cap(*sampling, *parties, *rounds))
            .try_for_each(|_| contribute(&ask, &params, claim, oracle).map(|_| ()))
    }

    fn network(&self, parties: Vec<Party>, start: Start<'_>) -> Result<Network, RunError> {
        let run = RunId::from(start.run);
        let noise = start.noise;
        let mut nodes: Vec<Box<dyn Node>> = Vec::with_capacity(parties.len() + 1);
        nodes.extend(parties.into_iter().zip(noise).map(|(party, &noise_multiplier)| {
            let params = ResidualTerms { noise_multiplier, ..self.0.params };
            let claim = self.0.claim(noise_multiplier);
            User { params, claim }.into_node(run, party)
        }));
        let noisiest = noise.iter().copied().fold(0.0, f64::max);
        nodes.push(Box::new(Server::new(self.0.clone(), noisiest, run, start.server)));
        Ok(Network { nodes, initiators: vec![SERVER] })
    }

    fn solution(&self, nodes: &[Box<dyn Node>]) -> Result<Vec<f64>, RunError> {
        let server = nodes.last().and_then(|node| node.as_any().downcast_ref::<Server>());
        server.map(|server| server.z.clone()).ok_or(RunError::Snapshot("no server"))
    }

    fn exaggerated(&self, envelope: &Envelope) -> Option<Envelope> {
        let mut message: Vec<f64> = wire::unpack(&envelope.payload).ok()?;
        message.iter_mut().for_each(|v| *v *= 1e9);
        Some(Envelope { payload: wire::pack(&message).ok()?, ..envelope.clone() })
    }
}

/// A user, who keeps nothing but its data and its books.
struct User {
    params: ResidualTerms,
    claim: Option<Claim>,
}

impl Client for User {
    fn hear(
        &mut self,
        context: &mut ClientContext,
        envelope: &Envelope,
    ) -> Result<Vec<Envelope>, Rejected> {
        let User { params, claim } = self;
        context.contribute(envelope, |ask, oracle| contribute(ask, params, *claim, oracle))
    }
}

/// The server.
struct Server {
    config: Federated,
    inbox: Inbox,
    key: NoiseKey,
    /// No honest message is longer, but for a chance of less than 10⁻⁸ (a normal vector of length d
    /// has a norm above √d + 6 with at most that): what is longer is cut, so that one party moves
    /// the mean no further than it may.
    longest: f64,
    z: Vec<f64>,
    state: State,
}

/// What it keeps between rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    /// The round whose answers are awaited; 0 before the first.
    round: u32,
    attempt: u16,
    mean: Vec<f64>,
    /// u of the users who have sent anything.
    users: BTreeMap<u32, Vec<f64>>,
    asked: BTreeSet<u32>,
    answers: BTreeMap<u32, Vec<f64>>,
    /// Who will not contribute any more.
    declined: BTreeSet<u32>,
}

impl Server {
    fn new(config: Federated, noise: f64, run: RunId, key: NoiseKey) -> Self {
        let len = config.len();
        let mean = vec![0.0; len];
        let z = config.consensus(&mean);
        let longest = config.params.clip * (1.0 + noise * ((len as f64).sqrt() + 6.0));
        let state = State {
            round: 0,
            attempt: 0,
            mean,
            users: BTreeMap::new(),
            asked: BTreeSet::new(),
            answers: BTreeMap::new(),
            declined: BTreeSet::new(),
        };
        Server { config, inbox: Inbox::new(run, SERVER), key, longest, z, state }
    }

    /// Takes the answers into u and ẑ, in the order of the users.
    fn close(&mut self) {
        let State { mean, users, answers, .. } = &mut self.state;
        let Federated { lambda, parties, .. } = self.config;
        for (user, answer) in std::mem::take(answers) {
            let u = users.entry(user).or_insert_with(|| vec![0.0; mean.len()]);
            for ((u, mean), message) in u.iter_mut().zip(mean.iter_mut()).zip(answer) {
                *u += 2.0 * lambda * message;
                *mean += 2.0 * lambda * message / f64::from(parties);
            }
        }
        self.z = self.config.consensus(mean);
    }
}

impl Node for Server {
    fn id(&self) -> PartyId {
        SERVER
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        let State { round, asked, answers, declined, .. } = &mut self.state;
        self.inbox.in_round(envelope, *round)?;
        let admitted = self.inbox.check(envelope, |from| asked.contains(&from.0))?;
        let from = envelope.from.0;
        match envelope.kind {
            // The same again, after the server itself asked again.
            _ if admitted.again => {}
            Kind::Answer => {
                let mut message = wire::checked(wire::unpack(&envelope.payload)?, self.z.len())?;
                let norm = message.iter().map(|v| v * v).sum::<f64>().sqrt();
                if norm > self.longest {
                    message.iter_mut().for_each(|v| *v *= self.longest / norm);
                }
                answers.insert(from, message);
            }
            Kind::Declined => _ = declined.insert(from),
            _ => return Err(Rejected::Unexpected),
        }
        self.inbox.take(envelope, &admitted);
        Ok(Vec::new())
    }

    fn on_deadline(&mut self, round: u32) -> Result<Vec<Envelope>, RunError> {
        self.close();
        let next = round + 1;
        self.state.round = next;
        self.state.asked.clear();
        if next > self.config.rounds {
            return Ok(Vec::new());
        }
        let label = Hasher::new("reticent sample")
            .field(&self.inbox.run().0)
            .number(u64::from(next))
            .finish();
        let chosen =
            choose(self.config.sampling, self.config.parties, &mut self.key.entropy(&label))?;
        let State { asked, declined, users, attempt, .. } = &mut self.state;
        asked.extend(chosen.into_iter().filter(|user| !declined.contains(user)));
        let zeros = vec![0.0; self.z.len()];
        let ask = |&user: &u32| {
            let u = users.get(&user).unwrap_or(&zeros);
            let payload = wire::pack(&(&self.z, u))?;
            let envelope = self.inbox.write(next, PartyId(user), Kind::Ask, payload);
            Ok(Envelope { attempt: *attempt, ..envelope })
        };
        asked.iter().map(ask).collect()
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(self.inbox.memory(), &self.state))?)
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        let (memory, state): (Memory, State) = wire::unpack(snapshot)?;
        self.inbox.remember(memory);
        self.z = self.config.consensus(&state.mean);
        // What is sent from here on may have been sent before.
        self.state = State { attempt: state.attempt.saturating_add(1), ..state };
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
