//! Trust the server: users hand it their blocks, sealed for its trustee, who adds noise to their
//! mean (E2).
//!
//! ```text
//! trustee → the invited:  the z's they have not followed
//! user → trustee:         clip(u_i − p, B), sealed
//! released:               mean over the invited + N(0, (zB)² I)/(q·n)
//! ```
//!
//! Nobody is told who else is invited, or how many are, and nor is whoever reads the outcome of a
//! run. A user who has a smaller budget of its own stays away after the rounds that it allows,
//! which are the first ones: the others are none of its business.
//!
//! The invited are a secret sample of the users, and a user's block does not depend on whether it
//! was invited before, so the sample amplifies where the user is protected (proofs/trust.md; the
//! printed algorithm's state does, E3). Where one of its records is, the mean may show that the
//! user was invited, and the sample is counted as seen. Released: one mean a round, the same event
//! for every user, in the trustee's books.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use reticent_accountant::{Ledger, View};
use reticent_noise::{Digest, NoiseKey};
use reticent_oracle::queries::Mean;
use reticent_oracle::{
    BlockTerms, Oracle, Refusal, Sampling, Seal, SealedBlock, Terms, TrustedAggregator,
    TrusteeBooks,
};
use reticent_problem::Shape;
use serde::{Deserialize, Serialize};

use super::trajectory::{Request, Trajectory, label};
use super::{Federated, fewest_records};
use crate::algorithms::{Network, Protocol, Start, Witness};
use crate::client::{Client, ClientContext};
use crate::error::RunError;
use crate::inbox::{Inbox, Memory};
use crate::message::{Envelope, Kind, PartyId, RunId, SERVER};
use crate::node::Node;
use crate::party::Party;
use crate::rejected::Rejected;
use crate::wire;

#[derive(Debug)]
pub(crate) struct Central(pub Federated, pub BlockTerms);

impl Central {
    fn sum(&self, noise_multiplier: f64) -> Mean {
        Mean { clip: self.1.bound(), noise_multiplier, sampling: self.0.sampling }
    }

    fn aggregator(&self, key: &NoiseKey, run: &Digest) -> TrustedAggregator {
        let aggregator =
            TrustedAggregator::new(u64::from(self.0.parties), self.0.len(), self.1, key, run);
        #[cfg(feature = "seeded-bugs")]
        let aggregator = aggregator.spoiled(self.0.bug);
        aggregator
    }
}

impl Protocol for Central {
    #[cfg(feature = "seeded-bugs")]
    fn spoil(&mut self, bug: reticent_oracle::Bug) {
        self.0.bug = Some(bug);
    }

    fn rounds(&self) -> u32 {
        self.0.rounds
    }

    fn longest_payload(&self) -> usize {
        (8 * self.0.len() + 10) * (self.0.rounds as usize + 1) + 10 * self.0.len() + 100
    }

    fn rehearse(&self, _: PartyId, _: f64, _: &mut dyn Oracle) -> Result<(), Refusal> {
        Err(Refusal::BadQuery("what a trustee releases is planned by the trustee".to_owned()))
    }

    /// What a release costs follows from public numbers alone.
    fn plan(&self, _: PartyId, noise: f64, _: Shape, _: &Terms) -> Result<Ledger, RunError> {
        let aggregator = self.aggregator(&NoiseKey::seeded(0), &[0; 32]);
        let mut plan = Ledger::new();
        plan.append_many(aggregator.event(&self.sum(noise))?, self.0.rounds.into());
        Ok(plan)
    }

    fn assumptions(&self) -> Vec<String> {
        let trusted = "the server is trusted with every user's contribution, and who is invited in a round stays secret";
        [trusted.to_owned()].into_iter().chain(fewest_records(&self.1)).collect()
    }

    fn books_terms(&self, own: &Terms) -> Terms {
        Terms::of_parties(own.unit(), View::Central, u64::from(self.0.parties))
    }

    fn network(&self, parties: Vec<Party>, start: Start<'_>) -> Result<Network, RunError> {
        let run = RunId::from(start.run);
        let params = self.sum(start.noise.first().copied().unwrap_or(0.0));
        let mut aggregator = self.aggregator(&start.server, start.run);
        let (shape, terms) = (self.0.regulariser.shape(), *aggregator.terms());
        aggregator.bind_within(&self.plan(PartyId(0), params.noise_multiplier, shape, &terms)?);
        let mut nodes: Vec<Box<dyn Node>> = Vec::with_capacity(parties.len() + 1);
        nodes.extend(
            parties
                .into_iter()
                .map(|party| User { block: self.1, seal: aggregator.seal() }.into_node(run, party)),
        );
        let state = State {
            round: 0,
            attempt: 0,
            trajectory: Trajectory::new(self.0.len()),
            invited: BTreeSet::new(),
            entrusted: BTreeMap::new(),
        };
        nodes.push(Box::new(Server {
            config: self.0.clone(),
            block: self.1,
            params,
            inbox: Inbox::new(run, SERVER),
            aggregator,
            state,
        }));
        Ok(Network { nodes, initiators: vec![SERVER] })
    }

    fn solution(&self, nodes: &[Box<dyn Node>]) -> Result<Vec<f64>, RunError> {
        Ok(server(nodes)?.state.trajectory.solution(&self.0))
    }

    /// The mean of every round, which the view may see: each is an entry.
    fn transcript(&self, witness: &Witness<'_>) -> Vec<Vec<f64>> {
        server(witness.nodes)
            .map_or_else(|_| Vec::new(), |server| server.state.trajectory.released(&self.1))
    }

    fn trajectory(&self, nodes: &[Box<dyn Node>]) -> Result<Vec<Vec<f64>>, RunError> {
        Ok(server(nodes)?.state.trajectory.zs().to_vec())
    }

    fn traffic_is_public(&self) -> bool {
        self.0.sampling == Sampling::Full
    }
}

fn server(nodes: &[Box<dyn Node>]) -> Result<&Server, RunError> {
    let server = nodes.last().and_then(|node| node.as_any().downcast_ref::<Server>());
    server.ok_or(RunError::Snapshot("no server"))
}

/// A user: its block is in its gate.
struct User {
    block: BlockTerms,
    seal: Seal,
}

impl Client for User {
    fn block(&self) -> Option<BlockTerms> {
        Some(self.block)
    }

    fn hear(
        &mut self,
        context: &mut ClientContext,
        envelope: &Envelope,
    ) -> Result<Vec<Envelope>, Rejected> {
        let User { block, seal } = self;
        let (told, admitted): (Request, _) = context.asked(envelope)?;
        if u64::from(envelope.round) > context.party.plan().total_events() {
            context.inbox.take(envelope, &admitted);
            return Ok(vec![envelope.reply(Kind::Declined, Vec::new())]);
        }
        let followed = context.party.follow(told.first, &told.zs, block)?;
        if followed < told.first {
            return Ok(vec![envelope.reply(Kind::Receipt, wire::pack(&followed)?)]);
        }
        let entrusted = context.party.entrust(&label(envelope.round, told.place), seal)?;
        context.inbox.take(envelope, &admitted);
        Ok(vec![envelope.reply(Kind::Answer, wire::pack(&entrusted)?)])
    }
}

/// The server, with the trustee in its house.
struct Server {
    config: Federated,
    block: BlockTerms,
    params: Mean,
    inbox: Inbox,
    aggregator: TrustedAggregator,
    state: State,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    round: u32,
    attempt: u16,
    trajectory: Trajectory,
    invited: BTreeSet<u32>,
    entrusted: BTreeMap<u32, SealedBlock>,
}

impl Server {
    fn ask(&self, user: u32, attempt: u16) -> Result<Envelope, RunError> {
        // The same place for all: a number among the invited would tell how many of them come
        // before.
        let payload = self.state.trajectory.tell(user, 0)?;
        let envelope = self.inbox.write(self.state.round, PartyId(user), Kind::Ask, payload);
        Ok(Envelope { attempt, ..envelope })
    }
}

impl Node for Server {
    fn id(&self) -> PartyId {
        SERVER
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        self.inbox.in_round(envelope, self.state.round)?;
        let admitted = self.inbox.check(envelope, |from| self.state.invited.contains(&from.0))?;
        let user = envelope.from.0;
        let mut replies = Vec::new();
        match envelope.kind {
            Kind::Answer => {
                let entrusted: SealedBlock = wire::unpack(&envelope.payload)?;
                if !self.aggregator.takes(&entrusted) {
                    return Err(Rejected::Malformed("vector"));
                }
                self.state.entrusted.insert(user, entrusted);
                self.state.trajectory.up_to_date(user);
            }
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

    fn on_deadline(&mut self, round: u32) -> Result<Vec<Envelope>, RunError> {
        if round > 0 {
            let entrusted: Vec<SealedBlock> =
                std::mem::take(&mut self.state.entrusted).into_values().collect();
            let mean = match self.aggregator.release(round, &self.params, &entrusted) {
                Ok(released) => Some(released.into_inner()),
                // A round that was begun again and came out otherwise has had its mean.
                Err(Refusal::Exhausted | Refusal::RoundReleased(_)) => None,
                Err(refusal) => return Err(refusal.into()),
            };
            self.state.trajectory.end(&self.block, mean);
        }
        self.state.round = round + 1;
        self.state.invited.clear();
        if self.state.round > self.config.rounds {
            return Ok(Vec::new());
        }
        self.state.trajectory.begin(&self.config);
        let invited = self.aggregator.invite(self.state.round, &self.params)?;
        self.state.invited = invited.iter().copied().collect();
        invited.into_iter().map(|user| self.ask(user, self.state.attempt)).collect()
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        let books = serde_json::to_string(&self.aggregator.books());
        let books = books.map_err(|_| RunError::Snapshot("books that cannot be written"))?;
        Ok(wire::pack(&(self.inbox.memory(), &self.state, books))?)
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        let (memory, state, books): (Memory, State, String) = wire::unpack(snapshot)?;
        let books: TrusteeBooks = serde_json::from_str(&books)
            .map_err(|_| RunError::Snapshot("books that cannot be read"))?;
        self.aggregator.recall(&books)?;
        self.inbox.remember(memory);
        self.state = State { attempt: state.attempt.saturating_add(1), ..state };
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
