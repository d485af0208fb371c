//! A party that answers a server, and keeps nothing between two messages but its data and its
//! books.

use std::any::Any;

use reticent_oracle::{BlockTerms, Oracle, Refusal};
use serde::de::DeserializeOwned;

use crate::error::RunError;
use crate::inbox::{Admitted, Inbox, Memory, server_only};
use crate::message::{Envelope, Kind, PartyId, RunId};
use crate::node::Node;
use crate::party::Party;
use crate::rejected::Rejected;
use crate::wire;

/// The party and the door that its messages come through.
#[derive(Debug)]
pub(crate) struct ClientContext {
    pub inbox: Inbox,
    pub party: Party,
}

/// What a party does with what it is asked: an algorithm's part of it.
pub(crate) trait Client: Send + Sized + 'static {
    /// How its block moves, if it has one.
    fn block(&self) -> Option<BlockTerms> {
        None
    }

    /// A message came; see [`Node::on_message`].
    fn hear(
        &mut self,
        context: &mut ClientContext,
        envelope: &Envelope,
    ) -> Result<Vec<Envelope>, Rejected>;

    /// The node of the party that does so.
    fn into_node(self, run: RunId, party: Party) -> Box<dyn Node> {
        Box::new(ClientNode {
            context: ClientContext { inbox: Inbox::new(run, party.id()), party },
            client: self,
        })
    }
}

/// A guest on its seat.
struct ClientNode<G> {
    context: ClientContext,
    client: G,
}

impl ClientContext {
    /// What the server asks, if it is an ask and may come in.
    pub fn asked<A: DeserializeOwned>(
        &self,
        envelope: &Envelope,
    ) -> Result<(A, Admitted), Rejected> {
        let admitted = self.inbox.check(envelope, server_only)?;
        if envelope.kind != Kind::Ask {
            return Err(Rejected::Unexpected);
        }
        Ok((wire::unpack(&envelope.payload)?, admitted))
    }

    /// Answers an ask with what the gate releases for it, or declines when the party's budget does
    /// not allow it.
    pub fn contribute<A: DeserializeOwned>(
        &mut self,
        envelope: &Envelope,
        step: impl FnOnce(&A, &mut dyn Oracle) -> Result<Vec<f64>, Refusal>,
    ) -> Result<Vec<Envelope>, Rejected> {
        let (ask, admitted) = self.asked(envelope)?;
        let answer = self.party.step(&admitted.digest, |oracle| step(&ask, oracle));
        let reply = match answer.map_err(|refusal| Rejected::Gate(refusal.to_string()))? {
            Some(message) => envelope.reply(Kind::Answer, wire::pack(&message)?),
            None => envelope.reply(Kind::Declined, Vec::new()),
        };
        self.inbox.take(envelope, &admitted);
        Ok(vec![reply])
    }
}

impl<G: Client> Node for ClientNode<G> {
    fn id(&self) -> PartyId {
        self.context.party.id()
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        self.client.hear(&mut self.context, envelope)
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        let ClientContext { inbox, party } = &self.context;
        Ok(wire::pack(&(inbox.memory(), party.books()?))?)
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        let (memory, books): (Memory, String) = wire::unpack(snapshot)?;
        let ClientContext { inbox, party } = &mut self.context;
        inbox.remember(memory);
        party.recall(&books)
    }

    fn catch_up(&mut self, zs: &[Vec<f64>]) -> Result<(), RunError> {
        match self.client.block() {
            Some(params) => self.context.party.catch_up(zs, &params),
            None => Ok(()),
        }
    }

    fn party(&self) -> Option<&Party> {
        Some(&self.context.party)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
