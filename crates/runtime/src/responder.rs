//! A party that answers a server's requests from its gate, and keeps nothing between two messages
//! but its data and its books: a message that is lost is lost without harm.

use reticent_oracle::{Oracle, Refusal};
use serde::de::DeserializeOwned;

use crate::endpoint::Endpoint;
use crate::error::RunError;
use crate::inbox::server_only;
use crate::message::{Envelope, Kind, PartyId, RunId};
use crate::node::Node;
use crate::party::{Party, refused, unless_spent};
use crate::rejected::Rejected;
use crate::wire;

/// The mathematics of a party's step.
pub(crate) trait Respond: Send + 'static {
    /// What a party is asked.
    type Request: DeserializeOwned;

    /// The party's step: the one place that asks the gate, in a rehearsal and in a run.
    fn answer(
        &self,
        request: &Self::Request,
        noise: f64,
        oracle: &mut dyn Oracle,
    ) -> Result<Vec<f64>, Refusal>;
}

/// The node of such a party.
pub(crate) struct Responder<R> {
    endpoint: Endpoint,
    config: R,
    noise: f64,
}

impl<R: Respond> Responder<R> {
    pub fn node(run: RunId, party: Party, config: R, noise: f64) -> Box<dyn Node> {
        Box::new(Responder { endpoint: Endpoint::new(run, party), config, noise })
    }
}

impl<R: Respond> Node for Responder<R> {
    fn id(&self) -> PartyId {
        self.endpoint.party.id()
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        let Responder { endpoint: Endpoint { inbox, party }, config, noise } = self;
        let admitted = inbox.check(envelope, server_only)?;
        if envelope.kind != Kind::Ask {
            return Err(Rejected::Unexpected);
        }
        if admitted.again {
            return Ok(inbox.repeat(envelope));
        }
        let request = wire::unpack(&envelope.payload)?;
        let answer = config.answer(&request, *noise, party.begin(&admitted.digest));
        let reply = match unless_spent(answer).map_err(refused)? {
            Some(message) => envelope.reply(Kind::Answer, wire::pack(&message)?),
            None => envelope.reply(Kind::Declined, Vec::new()),
        };
        Ok(inbox.take(envelope, &admitted, vec![reply]))
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&self.endpoint.save())?)
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        self.endpoint.load(wire::unpack(snapshot)?)
    }

    fn party(&self) -> Option<&Party> {
        Some(&self.endpoint.party)
    }
}
