//! A party that answers a server: the sender is checked, a request is answered once, and a repeated
//! request gets the same answer. The answers come from its behaviour.

use reticent_noise::Digest;

use crate::endpoint::{Endpoint, EndpointState};
use crate::error::RunError;
use crate::inbox::server_only;
use crate::message::{Envelope, MessageKind, PartyId, RunId};
use crate::node::Node;
use crate::party::Party;
use crate::rejected::Rejected;
use crate::wire;

/// The behaviour of a client.
pub(crate) trait Behaviour: Send + 'static {
    /// Whether a server that repeats a round may have the answers of the first attempt.
    const BEGINS_AGAIN: bool = true;

    /// The reply to a request of a round; `digest` stands for its whole content.
    fn reply(
        &mut self,
        party: &mut Party,
        round: u32,
        digest: &Digest,
        request: &[u8],
    ) -> Result<Reply, Rejected>;

    /// Handles a message of the masked sum of a round.
    fn masked(&mut self, _round: u32, _said: &[u8]) -> Result<Vec<Vec<u8>>, Rejected> {
        Err(Rejected::Unexpected)
    }

    /// Whether the state of a current round must survive a crash.
    const KEEPS: bool = false;

    /// That state.
    fn keep(&self) -> Result<Vec<u8>, RunError> {
        Ok(Vec::new())
    }

    /// Restores that state.
    fn recall(&mut self, _kept: &[u8]) -> Result<(), RunError> {
        Ok(())
    }

    /// [`Node::catch_up`] of its party.
    fn catch_up(&self, _party: &mut Party, _zs: &[Vec<f64>]) -> Result<(), RunError> {
        Ok(())
    }
}

/// The kind and the payload of a contribution.
pub(crate) struct Contribution {
    pub kind: MessageKind,
    pub payload: Vec<u8>,
}

/// A reply.
pub(crate) enum Reply {
    /// The contribution.
    Done(Contribution),
    /// The budget does not allow it.
    Declined,
    /// The client is behind: it needs more z's before it can be asked again.
    Behind(Vec<u8>),
}

impl Reply {
    /// The reply `said`, or a refusal if there is none.
    pub fn or_declined(said: Option<Contribution>) -> Self {
        said.map_or(Reply::Declined, Reply::Done)
    }
}

/// The node of such a party.
pub(crate) struct Client<B> {
    endpoint: Endpoint,
    behaviour: B,
}

impl<B: Behaviour> Client<B> {
    pub fn node(run: RunId, party: Party, behaviour: B) -> Box<dyn Node> {
        Box::new(Client { endpoint: Endpoint::new(run, party), behaviour })
    }
}

impl<B: Behaviour> Node for Client<B> {
    fn id(&self) -> PartyId {
        self.endpoint.party.id()
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        let Client { endpoint: Endpoint { inbox, party }, behaviour } = self;
        if envelope.kind == MessageKind::Masks {
            inbox.address(envelope, server_only)?;
            let said = behaviour.masked(envelope.round, &envelope.payload)?;
            return Ok(said
                .into_iter()
                .map(|said| envelope.reply(MessageKind::Masks, said))
                .collect());
        }
        let admitted = inbox.check(envelope, server_only)?;
        if envelope.kind != MessageKind::Ask {
            return Err(Rejected::Unexpected);
        }
        if admitted.again && (B::BEGINS_AGAIN || inbox.attempted(envelope)) {
            return Ok(inbox.repeat(envelope));
        }
        if admitted.again {
            return Err(Rejected::Duplicate);
        }
        let Envelope { round, payload, .. } = envelope;
        let reply = match behaviour.reply(party, *round, &admitted.digest, payload)? {
            Reply::Done(Contribution { kind, payload }) => envelope.reply(kind, payload),
            Reply::Declined => envelope.reply(MessageKind::Declined, Vec::new()),
            Reply::Behind(payload) => {
                return Ok(vec![envelope.reply(MessageKind::Receipt, payload)]);
            }
        };
        Ok(inbox.take(envelope, &admitted, vec![reply]))
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        if B::KEEPS {
            return Ok(wire::pack(&(self.endpoint.save(), self.behaviour.keep()?))?);
        }
        Ok(wire::pack(&self.endpoint.save())?)
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        if !B::KEEPS {
            return self.endpoint.load(wire::unpack(snapshot)?);
        }
        let (state, kept): (EndpointState, Vec<u8>) = wire::unpack(snapshot)?;
        self.endpoint.load(state)?;
        self.behaviour.recall(&kept)
    }

    fn catch_up(&mut self, zs: &[Vec<f64>]) -> Result<(), RunError> {
        self.behaviour.catch_up(&mut self.endpoint.party, zs)
    }

    fn party(&self) -> Option<&Party> {
        Some(&self.endpoint.party)
    }
}
