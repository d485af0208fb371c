//! Trust sums only: users' blocks are added up behind masks, each with a share of the noise (crate
//! `masks`).
//!
//! ```text
//! server → users of a round:  the z's they have not followed, and their place among the members of the masked sum
//! users ↔ server:             keys, shares, clip(u_i − p, B) in whole steps + share of the noise + masks, unmasking
//! server:                     the sum over those who stayed, divided by their number
//! ```
//!
//! The users of a round are all, or a fixed number of them: the noise of a sum is counted for the
//! fewest honest members that a sum can have, so their number must be known beforehand. The server
//! knows who they are, so chance amplifies nothing. Released: one sum a round, an event of every
//! member's own gate. A round that too many leave is lost, and what its members entered stays
//! entered. A member never takes part twice in one round: two sums of the same shares of noise over
//! different members would show the difference.

use std::any::Any;
use std::collections::BTreeMap;

use reticent_accountant::{Adjacency, Ledger, Refused, Unit};
use reticent_masks::{
    Collector, Corrupt, FixedPoint, Member, NoiseShare, Outgoing, Party as End, Sparsity,
    Terms as MaskTerms,
};
use reticent_noise::{Digest, Hasher, NoiseKey};
use reticent_oracle::{BlockTerms, Oracle, Refusal, Sampling};
use reticent_problem::Shape;
use serde::{Deserialize, Serialize};

use super::trajectory::{Request, Trajectory, label};
use super::{Federated, fewest_records};
use crate::algorithms::{Network, Protocol, Start, Witness};
use crate::client::{Client, ClientContext};
use crate::error::RunError;
use crate::inbox::{Inbox, Memory, server_only};
use crate::message::{Envelope, Kind, PartyId, RunId, SERVER};
use crate::node::Node;
use crate::participation::{cap, choose};
use crate::party::Party;
use crate::rejected::Rejected;
use crate::wire;

/// So many can be everybody's neighbour.
const COMPLETE: u32 = 255;

/// The share of the members of a sum that must stay.
const STAY: f64 = 0.75;

/// Powers of two by which a sparse graph may fail: privacy, and a round.
const FAILURE: (u32, u32) = (40, 20);

/// The chance that a sum has more corrupt members than are counted with; all sums of a party
/// together are in its δ.
const MORE_CORRUPT: f64 = 1.0 / (1_u64 << 30) as f64;

#[derive(Clone, Debug)]
pub(crate) struct Masked {
    pub config: Federated,
    pub block: BlockTerms,
    /// The fraction of all parties that is assumed honest.
    pub honest: f64,
    /// What is protected.
    pub unit: Unit,
}

/// What all members of a sum agree on.
#[derive(Clone, Debug)]
struct Agreed {
    terms: MaskTerms,
    code: FixedPoint,
    share: NoiseShare,
}

impl Masked {
    /// Members of a sum.
    fn members(&self) -> u32 {
        match self.config.sampling {
            Sampling::WithoutReplacement(size) => size as u32,
            _ => self.config.parties,
        }
    }

    /// Refuses numbers of members that no masks are for.
    pub fn check(&self) -> Result<(), RunError> {
        self.agreed(&[0; 32], 1, 1.0).map(|_| ())
    }

    /// The terms of round `round`, a function of public numbers.
    fn agreed(&self, run: &Digest, round: u32, noise: f64) -> Result<Agreed, RunError> {
        let refuse = |error: &dyn std::fmt::Display| {
            Refused::new("trust", "secure-aggregation", error.to_string())
        };
        let (members, len) = (self.members(), self.config.len() as u32);
        let threshold =
            ((f64::from(members) * STAY).ceil() as u32).max(members / 2 + 1).min(members);
        let corrupt = Corrupt::among(members, self.config.parties, self.honest, MORE_CORRUPT);
        let mut failure = corrupt.chance;
        let terms = if members <= COMPLETE {
            MaskTerms::complete(*run, round.into(), members, threshold, len)
        } else {
            let graph =
                Sparsity::choose(members, corrupt.most, members - threshold, FAILURE.0, FAILURE.1);
            let graph = graph.map_err(|error| refuse(&error))?;
            failure += graph.privacy_failure;
            MaskTerms::sparse(
                *run,
                round.into(),
                members,
                threshold,
                len,
                graph.degree,
                graph.quorum,
            )
        };
        let terms = terms.map_err(|error| refuse(&error))?;
        let bound = self.block.bound();
        // About 2³² steps in the bound, as on the grid of the gate.
        let bits = (32.0 - bound.log2().ceil()).clamp(0.0, 62.0) as u32;
        // Noise is in units of half the distance of neighbours.
        let half = 0.5 * self.block.moves_in_steps(1.0 / (1_u64 << bits) as f64, self.config.len());
        // A share is a step at least: without noise there would be nothing that the theorem holds
        // for.
        let sigma = (noise * half).max(f64::from(members).sqrt());
        let share = NoiseShare::new(&terms, corrupt.most, sigma)
            .map_err(|error| refuse(&error))?
            .failing(failure);
        let code =
            FixedPoint::new(bound, bits, members, share.whole()).map_err(|error| refuse(&error))?;
        Ok(Agreed { terms, code, share })
    }
}

impl Protocol for Masked {
    fn rounds(&self) -> u32 {
        self.config.rounds
    }

    fn longest_payload(&self) -> usize {
        let told = (8 * self.config.len() + 10) * (self.config.rounds as usize + 1) + 100;
        let masks =
            self.agreed(&[0; 32], 1, 1.0).map_or(0, |agreed| agreed.terms.longest_message());
        told.max(masks + 100)
    }

    fn rehearse(&self, _: PartyId, _: f64, _: &mut dyn Oracle) -> Result<(), Refusal> {
        Err(Refusal::BadQuery("a masked sum is planned by its number of members".to_owned()))
    }

    fn assumptions(&self) -> Vec<String> {
        let mut assumptions = vec![format!(
            "the server follows the protocol of the masked sums and draws their members by chance, and of all parties a fraction \
             of at least {} follows it too, adds its share of the noise and tells nobody; who does not was settled before",
            self.honest
        )];
        assumptions.push(
            "X25519, HKDF-SHA256, ChaCha20 and Poly1305 are as hard to break as they are believed to be"
                .to_owned(),
        );
        if self.members() > COMPLETE {
            assumptions.push(
                "who is corrupt and who leaves does not depend on who has masks in common with whom"
                    .to_owned(),
            );
        }
        assumptions.extend(fewest_records(&self.block));
        assumptions
    }

    /// What a sum costs follows from public numbers alone.
    fn plan(
        &self,
        _: PartyId,
        noise: f64,
        _: Shape,
        _: &reticent_oracle::Terms,
    ) -> Result<Ledger, RunError> {
        let Agreed { code, share, .. } = self.agreed(&[0; 32], 1, noise)?;
        let apart = self.block.moves_in_steps(code.step(), self.config.len());
        let event = share.event(apart, Adjacency::ReplaceOne, self.unit);
        let event = event.map_err(|error| Refused::new("noise", noise, error.to_string()))?;
        let mut plan = Ledger::new();
        plan.append_many(
            event,
            cap(self.config.sampling, self.config.parties, self.config.rounds).into(),
        );
        Ok(plan)
    }

    fn network(&self, parties: Vec<Party>, start: Start<'_>) -> Result<Network, RunError> {
        let run = RunId::from(start.run);
        let noise = start.noise.first().copied().unwrap_or(0.0);
        let mut nodes: Vec<Box<dyn Node>> = Vec::with_capacity(parties.len() + 1);
        nodes.extend(parties.into_iter().map(|party| {
            User { config: self.clone(), noise, run: *start.run, member: None }
                .into_node(run, party)
        }));
        let state = State {
            round: 0,
            attempt: 0,
            trajectory: Trajectory::new(self.config.len()),
            places: BTreeMap::new(),
            sum: None,
        };
        nodes.push(Box::new(Server {
            config: self.clone(),
            noise,
            run: *start.run,
            key: start.server,
            inbox: Inbox::new(run, SERVER),
            collector: None,
            state,
        }));
        Ok(Network { nodes, initiators: vec![SERVER] })
    }

    fn solution(&self, nodes: &[Box<dyn Node>]) -> Result<Vec<f64>, RunError> {
        Ok(server(nodes)?.state.trajectory.solution(&self.config))
    }

    /// The mean of every round, which the view may see: each is an entry.
    fn transcript(&self, witness: &Witness<'_>) -> Vec<Vec<f64>> {
        server(witness.nodes)
            .map_or_else(|_| Vec::new(), |server| server.state.trajectory.released(&self.block))
    }

    fn trajectory(&self, nodes: &[Box<dyn Node>]) -> Result<Vec<Vec<f64>>, RunError> {
        Ok(server(nodes)?.state.trajectory.zs().to_vec())
    }
}

fn server(nodes: &[Box<dyn Node>]) -> Result<&Server, RunError> {
    let server = nodes.last().and_then(|node| node.as_any().downcast_ref::<Server>());
    server.ok_or(RunError::Snapshot("no server"))
}

/// A user, and the member of the masked sum that it is in this round.
struct User {
    config: Masked,
    noise: f64,
    run: Digest,
    member: Option<(u32, Member)>,
}

impl User {
    fn mask(
        &self,
        context: &mut ClientContext,
        round: u32,
        place: u32,
    ) -> Result<Option<Member>, Rejected> {
        let agreed = self.config.agreed(&self.run, round, self.noise);
        let Agreed { terms, code, share } =
            agreed.map_err(|error| Rejected::Gate(error.to_string()))?;
        context.party.mask(&label(round, place), &code, &share, &terms, place)
    }
}

impl Client for User {
    fn block(&self) -> Option<BlockTerms> {
        Some(self.config.block)
    }

    fn hear(
        &mut self,
        context: &mut ClientContext,
        envelope: &Envelope,
    ) -> Result<Vec<Envelope>, Rejected> {
        if envelope.kind == Kind::Shares {
            context.inbox.address(envelope, server_only)?;
            let Some((round, member)) = &mut self.member else { return Err(Rejected::Unexpected) };
            context.inbox.in_round(envelope, *round)?;
            let said = member.on_message(&envelope.payload).map_err(|_| Rejected::Unexpected)?;
            return Ok(said
                .into_iter()
                .map(|out| envelope.reply(Kind::Shares, out.bytes))
                .collect());
        }
        let (told, admitted): (Request, _) = context.asked(envelope)?;
        if admitted.again {
            return Err(Rejected::Duplicate);
        }
        let followed = context.party.follow(told.first, &told.zs, &self.config.block)?;
        if followed < told.first {
            return Ok(vec![envelope.reply(Kind::Receipt, wire::pack(&followed)?)]);
        }
        let member = self.mask(context, envelope.round, told.place)?;
        context.inbox.take(envelope, &admitted);
        let Some(member) = member else {
            return Ok(vec![envelope.reply(Kind::Declined, Vec::new())]);
        };
        let first = member.start().bytes;
        self.member = Some((envelope.round, member));
        Ok(vec![envelope.reply(Kind::Shares, first)])
    }
}

/// The server, who sees sums.
struct Server {
    config: Masked,
    noise: f64,
    run: Digest,
    key: NoiseKey,
    inbox: Inbox,
    collector: Option<Collector>,
    state: State,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    round: u32,
    attempt: u16,
    trajectory: Trajectory,
    /// The users of the round, and their places among the members.
    places: BTreeMap<u32, u32>,
    /// The opened sum and how many are in it.
    sum: Option<(Vec<u64>, u32)>,
}

impl Server {
    fn ask(&self, user: u32, attempt: u16) -> Result<Envelope, RunError> {
        let payload =
            self.state.trajectory.tell(user, self.state.places.get(&user).copied().unwrap_or(0))?;
        let envelope = self.inbox.write(self.state.round, PartyId(user), Kind::Ask, payload);
        Ok(Envelope { attempt, ..envelope })
    }

    /// What the collector says, to whom it says it; and the sum, when there is one.
    fn carry(&mut self, said: Vec<Outgoing>) -> Vec<Envelope> {
        if let Some(Some(Ok(sum))) = self.collector.as_ref().map(Collector::outcome) {
            self.state.sum = Some((sum.values.clone(), sum.members.len() as u32));
        }
        let users: BTreeMap<u32, u32> =
            self.state.places.iter().map(|(&user, &place)| (place, user)).collect();
        let carry = |out: Outgoing| match out.to {
            End::Member(place) => {
                let user = users.get(&place)?;
                Some(self.inbox.write(self.state.round, PartyId(*user), Kind::Shares, out.bytes))
            }
            End::Collector => None,
        };
        said.into_iter().filter_map(carry).collect()
    }
}

impl Node for Server {
    fn id(&self) -> PartyId {
        SERVER
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        self.inbox.in_round(envelope, self.state.round)?;
        let user = envelope.from.0;
        let known = |from: PartyId| self.state.places.contains_key(&from.0);
        if envelope.kind == Kind::Shares {
            self.inbox.address(envelope, known)?;
            let place = self.state.places[&user];
            let Some(collector) = &mut self.collector else { return Err(Rejected::Unexpected) };
            let said =
                collector.on_message(place, &envelope.payload).map_err(|_| Rejected::Unexpected)?;
            self.state.trajectory.up_to_date(user);
            return Ok(self.carry(said));
        }
        let admitted = self.inbox.check(envelope, known)?;
        let mut replies = Vec::new();
        match envelope.kind {
            Kind::Receipt => {
                self.state.trajectory.heard(user, wire::unpack(&envelope.payload)?)?;
                let again = self.ask(user, envelope.attempt.saturating_add(1));
                replies.push(again.map_err(|_| Rejected::Malformed("payload"))?);
            }
            Kind::Declined => {}
            _ => return Err(Rejected::Unexpected),
        }
        self.inbox.take(envelope, &admitted);
        Ok(replies)
    }

    /// Somebody is away: the masked sum goes on without, or ends.
    fn on_quiet(&mut self, _round: u32) -> Result<Vec<Envelope>, RunError> {
        match &mut self.collector {
            Some(collector) if collector.outcome().is_none() => {
                let said = collector.on_deadline();
                Ok(self.carry(said))
            }
            _ => Ok(Vec::new()),
        }
    }

    fn on_deadline(&mut self, round: u32) -> Result<Vec<Envelope>, RunError> {
        if round > 0 {
            let code = self.config.agreed(&self.run, round, self.noise)?.code;
            let mean = self.state.sum.take().map(|(sum, stayed)| {
                code.decode(&sum).into_iter().map(|value| value / f64::from(stayed)).collect()
            });
            self.state.trajectory.end(&self.config.block, mean);
        }
        self.state.round = round + 1;
        self.state.places.clear();
        self.collector = None;
        if self.state.round > self.config.config.rounds {
            return Ok(Vec::new());
        }
        self.state.trajectory.begin(&self.config.config);
        let label =
            Hasher::new("reticent sample").field(&self.run).number(u64::from(round)).finish();
        let config = &self.config.config;
        let chosen = choose(config.sampling, config.parties, &mut self.key.entropy(&label))?;
        self.state.places = chosen.iter().zip(0..).map(|(&user, place)| (user, place)).collect();
        self.collector = Some(Collector::new(
            self.config.agreed(&self.run, self.state.round, self.noise)?.terms,
        ));
        chosen.into_iter().map(|user| self.ask(user, self.state.attempt)).collect()
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(self.inbox.memory(), &self.state))?)
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        let (memory, state): (Memory, State) = wire::unpack(snapshot)?;
        self.inbox.remember(memory);
        self.state = State { attempt: state.attempt.saturating_add(1), ..state };
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
