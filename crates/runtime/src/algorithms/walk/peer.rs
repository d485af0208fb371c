//! A user of the walk.
//!
//! ```text
//! a token with a new number:  a receipt to whoever sent it; a step; the next token, kept until its receipt comes
//! a deadline:                 a token without receipt is sent again, the same bits
//! ```

use std::any::Any;
use std::sync::Arc;

use reticent_noise::{Digest, Hasher, NoiseKey};
use serde::{Deserialize, Serialize};

use super::{HOPS, Memory, Walk};
use crate::error::RunError;
use crate::inbox::{Inbox, Memory as Remembered};
use crate::message::{Envelope, Kind, PartyId};
use crate::node::Node;
use crate::party::Party;
use crate::rejected::Rejected;
use crate::wire;

pub(super) struct Peer {
    config: Arc<Walk>,
    inbox: Inbox,
    party: Party,
    /// Where the token goes next: nobody else's business.
    key: NoiseKey,
    noise: f64,
    state: State,
}

/// What it keeps between two visits.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
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

impl Peer {
    pub fn new(config: Arc<Walk>, inbox: Inbox, party: Party, key: NoiseKey, noise: f64) -> Self {
        let u =
            if config.memory == Memory::Stateful { vec![0.0; config.len()] } else { Vec::new() };
        Peer {
            config,
            inbox,
            party,
            key,
            noise,
            state: State { last: 0, seen: None, u, out: None },
        }
    }

    /// The number of the last token that came.
    pub fn last(&self) -> u32 {
        self.state.last
    }

    /// The last token that came.
    pub fn seen(&self) -> Option<Vec<f64>> {
        self.state.seen.clone()
    }

    /// What became of it.
    pub fn sent(&self) -> Option<Vec<f64>> {
        self.state.out.as_ref().map(|out| out.token.clone())
    }

    /// Whom the token goes to: the same for the same token.
    fn next(&self, label: &Digest) -> Result<u32, RunError> {
        let context = Hasher::new("reticent route").field(label).finish();
        Ok(self.key.entropy(&context).below(u64::from(self.config.parties))? as u32)
    }

    /// The step on a token that came; changes nothing but the party's books.
    fn step(&mut self, token: &[f64], label: &Digest) -> Result<(Vec<f64>, Vec<f64>), Rejected> {
        let config = Arc::clone(&self.config);
        let z = config.consensus(token);
        let v = config.point(&z, &self.state.u);
        let noise = self.noise;
        let answer = self.party.step(label, |oracle| config.contribute(&v, &z, noise, oracle));
        let answer = answer.map_err(|refusal| Rejected::Gate(refusal.to_string()))?;
        let message = match (answer, config.lattice()) {
            (Some(message), _) => message,
            // A walk that is counted message by message: there is nothing to cover, and the token
            // stays as it is.
            (None, None) => return Ok((token.to_vec(), self.state.u.clone())),
            // Others' steps are to be hidden: noise as that of a release, on the same grid.
            (None, Some(_)) => self.party.cover(label, &config.residual(noise))?,
        };
        Ok(config.moved(token, &self.state.u, &message))
    }

    fn on_token(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        let parties = self.config.parties;
        let admitted = self.inbox.check(envelope, |from| from.0 < parties)?;
        let receipt = envelope.reply(Kind::Receipt, Vec::new());
        if admitted.again {
            self.inbox.take(envelope, &admitted);
            return Ok(vec![receipt]);
        }
        let number = envelope.round;
        if number <= self.state.last {
            return Err(Rejected::Stale { given: number });
        }
        if number > self.config.hops {
            return Err(Rejected::Early { given: number });
        }
        let token = wire::checked(wire::unpack(&envelope.payload)?, self.config.len())?;
        let to = self.next(&admitted.digest).map_err(|error| Rejected::Gate(error.to_string()))?;
        let (next, u) = self.step(&token, &admitted.digest)?;
        self.inbox.take(envelope, &admitted);
        // The last token goes nowhere, and the last of a round waits for the deadline.
        let waits = number.is_multiple_of(HOPS) || number == self.config.hops;
        let out = Out {
            number: number + 1,
            to,
            token: next,
            tries: u16::from(!waits),
            received: number == self.config.hops,
        };
        let mut messages = vec![receipt];
        if !waits {
            messages.push(self.written(&out, 0)?);
        }
        self.state = State { last: number, seen: Some(token), u, out: Some(out) };
        Ok(messages)
    }

    fn written(&self, out: &Out, attempt: u16) -> Result<Envelope, Rejected> {
        let payload = wire::pack(&out.token)?;
        Ok(Envelope {
            attempt,
            ..self.inbox.write(out.number, PartyId(out.to), Kind::Token, payload)
        })
    }
}

impl Node for Peer {
    fn id(&self) -> PartyId {
        self.party.id()
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        match envelope.kind {
            Kind::Token => self.on_token(envelope),
            Kind::Receipt => {
                let parties = self.config.parties;
                let admitted = self.inbox.check(envelope, |from| from.0 < parties)?;
                match &mut self.state.out {
                    Some(out) if out.number == envelope.round && out.to == envelope.from.0 => {
                        out.received = true
                    }
                    // A token has come back since.
                    Some(out) if out.number > envelope.round => {}
                    _ => return Err(Rejected::Unexpected),
                }
                self.inbox.take(envelope, &admitted);
                Ok(Vec::new())
            }
            _ => Err(Rejected::Unexpected),
        }
    }

    fn on_deadline(&mut self, round: u32) -> Result<Vec<Envelope>, RunError> {
        if round == 0 && self.party.id() == PartyId(0) {
            let label = Hasher::new("reticent first").field(&self.inbox.run().0).finish();
            let token = vec![0.0; self.config.len()];
            self.state.out =
                Some(Out { number: 1, to: self.next(&label)?, token, tries: 0, received: false });
        }
        let Some(out) = self.state.out.as_mut().filter(|out| !out.received) else {
            return Ok(Vec::new());
        };
        let attempt = out.tries;
        out.tries = out.tries.saturating_add(1);
        let out = out.clone();
        Ok(vec![self.written(&out, attempt)?])
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(self.inbox.memory(), &self.state, self.party.books()?))?)
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        let (memory, mut state, books): (Remembered, State, String) = wire::unpack(snapshot)?;
        self.inbox.remember(memory);
        // What is sent from here on may have been sent before.
        if let Some(out) = &mut state.out {
            out.tries = out.tries.saturating_add(1);
        }
        self.state = state;
        self.party.recall(&books)
    }

    fn party(&self) -> Option<&Party> {
        Some(&self.party)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
