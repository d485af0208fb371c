//! A user of the walk.
//!
//! ```text
//! a token with a new number:  a receipt to whoever sent it; a step; the next token, kept until its receipt comes
//! a deadline:                 a token without receipt is sent again, the same bits
//! ```

use std::sync::Arc;

use reticent_accountant::View;
use reticent_noise::{Digest, Hasher, NoiseKey};
use serde::{Deserialize, Serialize};

use super::{HOPS, Memory, Walk};
use crate::endpoint::{Endpoint, EndpointState};
use crate::error::RunError;
use crate::message::{Envelope, Kind, PartyId};
use crate::node::{Estimate, Node};
use crate::party::{Party, refused, unless_spent};
use crate::rejected::Rejected;
use crate::wire;

pub(super) struct Walker {
    config: Arc<Walk>,
    endpoint: Endpoint,
    /// Where the token goes next: nobody else's business.
    key: NoiseKey,
    noise: f64,
    visits: Visits,
}

/// What it keeps between two visits.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Visits {
    /// The highest number of a token that came; 0 for none.
    last: u32,
    /// That token.
    seen: Option<Vec<f64>>,
    /// u_i; empty if the walk is stateless.
    u: Vec<f64>,
    out: Option<Out>,
}

/// A token that was sent, or is to be sent at the next deadline.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Out {
    number: u32,
    to: u32,
    token: Vec<f64>,
    tries: u16,
    received: bool,
}

impl Walker {
    pub fn new(config: Walk, endpoint: Endpoint, key: NoiseKey, noise: f64) -> Self {
        let u =
            if config.memory == Memory::Stateful { vec![0.0; config.len()] } else { Vec::new() };
        let visits = Visits { last: 0, seen: None, u, out: None };
        Walker { config: Arc::new(config), endpoint, key, noise, visits }
    }

    /// Whom the token goes to: the same for the same token.
    fn next(&self, label: &Digest) -> Result<u32, RunError> {
        let context = Hasher::new("reticent route").field(label).finish();
        Ok(self.key.entropy(&context).below(u64::from(self.config.parties))? as u32)
    }

    fn on_receipt(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        let parties = self.config.parties;
        let admitted = self.endpoint.inbox.check(envelope, |from| from.0 < parties)?;
        match &mut self.visits.out {
            Some(out) if out.number == envelope.round && out.to == envelope.from.0 => {
                out.received = true
            }
            // A token has come back since.
            Some(out) if out.number > envelope.round => {}
            _ => return Err(Rejected::Unexpected),
        }
        Ok(self.endpoint.inbox.take(envelope, &admitted, Vec::new()))
    }

    fn written(&self, out: &Out, attempt: u16) -> Result<Envelope, Rejected> {
        let payload = wire::pack(&out.token)?;
        Ok(Envelope {
            attempt,
            ..self.endpoint.inbox.write(out.number, PartyId(out.to), Kind::Token, payload)
        })
    }
}

impl Node for Walker {
    fn id(&self) -> PartyId {
        self.endpoint.party.id()
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        match envelope.kind {
            Kind::Token => {}
            Kind::Receipt => return self.on_receipt(envelope),
            _ => return Err(Rejected::Unexpected),
        }
        let Walk { parties, hops, .. } = *self.config;
        let Endpoint { inbox, party } = &mut self.endpoint;
        let admitted = inbox.check(envelope, |from| from.0 < parties)?;
        if admitted.again {
            return Ok(inbox.repeat(envelope));
        }
        let (number, label) = (envelope.round, &admitted.digest);
        if number <= self.visits.last {
            return Err(Rejected::Stale { given: number });
        }
        if number > hops {
            return Err(Rejected::Early { given: number });
        }
        let token = wire::checked(wire::unpack(&envelope.payload)?, self.config.len())?;
        let z = self.config.consensus(&token);
        let v = self.config.point(&z, &self.visits.u);
        let answer = self.config.contribute(&v, &z, self.noise, party.begin(label));
        let message = match (unless_spent(answer).map_err(refused)?, self.config.lattice()) {
            // No contribution is left, and others' steps are to be hidden: noise as that of a
            // release, on the same grid.
            (None, Some(_)) => Some(party.cover(&self.config.residual(self.noise))?),
            (answer, _) => answer,
        };
        let (next, u) = match message {
            Some(message) => self.config.moved(&token, &self.visits.u, &message),
            // A walk that is counted message by message: there is nothing to cover, and the token
            // stays as it is.
            None => (token.clone(), self.visits.u.clone()),
        };
        let failed = |error: RunError| Rejected::Gate(error.to_string());
        // The last token goes nowhere, and the last of a round waits for the deadline.
        let waits = number.is_multiple_of(HOPS) || number == hops;
        let out = Out {
            number: number + 1,
            to: self.next(label).map_err(failed)?,
            token: next,
            tries: u16::from(!waits),
            received: number == hops,
        };
        let receipt = envelope.reply(Kind::Receipt, Vec::new());
        let next = if waits { None } else { Some(self.written(&out, 0)?) };
        let mut messages = self.endpoint.inbox.take(envelope, &admitted, vec![receipt]);
        messages.extend(next);
        self.visits = Visits { last: number, seen: Some(token), u, out: Some(out) };
        Ok(messages)
    }

    fn on_deadline(&mut self, round: u32) -> Result<Vec<Envelope>, RunError> {
        if round == 0 && self.endpoint.party.id() == PartyId(0) {
            let label = Hasher::new("reticent first").field(&self.endpoint.inbox.run().0).finish();
            let token = vec![0.0; self.config.len()];
            self.visits.out =
                Some(Out { number: 1, to: self.next(&label)?, token, tries: 0, received: false });
        }
        let Some(out) = self.visits.out.as_mut().filter(|out| !out.received) else {
            return Ok(Vec::new());
        };
        let attempt = out.tries;
        out.tries = out.tries.saturating_add(1);
        let out = out.clone();
        Ok(vec![self.written(&out, attempt)?])
    }

    fn awaits(&self) -> Vec<PartyId> {
        let out = self.visits.out.iter().filter(|out| !out.received);
        out.map(|out| PartyId(out.to)).collect()
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(self.endpoint.save(), &self.visits))?)
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        let (endpoint, mut visits): (EndpointState, Visits) = wire::unpack(snapshot)?;
        // What is sent from here on may have been sent before.
        if let Some(out) = &mut visits.out {
            out.tries = out.tries.saturating_add(1);
        }
        self.visits = visits;
        self.endpoint.load(endpoint)
    }

    /// What it may know of the parameter: the last token that came to it; where every message is
    /// counted, also what it made of that.
    fn model(&self) -> Option<Estimate> {
        let Visits { last, seen, out, .. } = &self.visits;
        let token = match self.config.view {
            View::Network => seen.as_ref()?,
            _ => &out.as_ref()?.token,
        };
        Some(Estimate { steps: *last, parameter: self.config.consensus(token) })
    }

    fn party(&self) -> Option<&Party> {
        Some(&self.endpoint.party)
    }
}
