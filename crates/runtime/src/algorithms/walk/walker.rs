//! A seat of the walk: a user's, or the observer's, which has no data.
//!
//! ```text
//! a token with a new number:  a receipt to whoever sent it; a step; the next token, kept until its receipt comes
//! its timer, or silence:      a token without receipt is sent again, the same bits to the same seat
//! ```

use std::sync::Arc;

use reticent_accountant::View;
use reticent_noise::{Digest, Hasher, NoiseKey};
use serde::{Deserialize, Serialize};

use super::{Memory, WalkProtocol};
use crate::endpoint::{Endpoint, EndpointState};
use crate::error::RunError;
use crate::inbox::Inbox;
use crate::message::{Envelope, MessageKind, PartyId};
use crate::node::{Node, NodeEstimate, RunProgress};
use crate::party::{Party, refused, unless_spent};
use crate::rejected::Rejected;
use crate::wire;

pub(super) struct Walker {
    config: Arc<WalkProtocol>,
    seat: WalkSeat,
    /// The key that draws the next seat.
    key: NoiseKey,
    noise: f64,
    visits: Visits,
}

/// The occupant of a seat.
pub(super) enum WalkSeat {
    /// A user with its gate.
    User(Box<Endpoint>),
    /// The observer, which has no data and passes the token on unchanged.
    Observer(Inbox),
}

impl WalkSeat {
    fn inbox(&self) -> &Inbox {
        match self {
            WalkSeat::User(endpoint) => &endpoint.inbox,
            WalkSeat::Observer(inbox) => inbox,
        }
    }

    fn inbox_mut(&mut self) -> &mut Inbox {
        match self {
            WalkSeat::User(endpoint) => &mut endpoint.inbox,
            WalkSeat::Observer(inbox) => inbox,
        }
    }
}

/// The state between two visits.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Visits {
    /// The highest number of a received token; 0 for none.
    last: u32,
    /// That token.
    seen: Option<Vec<f64>>,
    /// u_i; empty if the walk is stateless.
    u: Vec<f64>,
    out: Option<Out>,
}

/// A token that was sent; the last one goes nowhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Out {
    number: u32,
    to: u32,
    token: Vec<f64>,
    /// 0 until a deadline passes without a receipt; then the number of the next attempt.
    tries: u16,
    received: bool,
}

impl Walker {
    pub fn new(config: WalkProtocol, seat: WalkSeat, key: NoiseKey, noise: f64) -> Self {
        let u =
            if config.memory == Memory::Stateful { vec![0.0; config.len()] } else { Vec::new() };
        let visits = Visits { last: 0, seen: None, u, out: None };
        Walker { config: Arc::new(config), seat, key, noise, visits }
    }

    /// The receiver of the token: the same for the same token.
    fn next(&self, label: &Digest) -> Result<u32, RunError> {
        let context = Hasher::new("reticent route").field(label).finish();
        Ok(self.key.entropy(&context).below(u64::from(self.config.seats()))? as u32)
    }

    fn on_receipt(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        let seats = self.config.seats();
        let admitted = self.seat.inbox().check(envelope, |from| from.0 < seats)?;
        match &mut self.visits.out {
            Some(out) if out.number == envelope.round && out.to == envelope.from.0 => {
                out.received = true
            }
            // The token has come back since.
            Some(out) if out.number > envelope.round => {}
            _ => return Err(Rejected::Unexpected),
        }
        Ok(self.seat.inbox_mut().take(envelope, &admitted, Vec::new()))
    }

    /// The change of the token; `None` if it stays unchanged.
    fn message(&mut self, token: &[f64], label: &Digest) -> Result<Option<Vec<f64>>, Rejected> {
        let WalkSeat::User(endpoint) = &mut self.seat else { return Ok(None) };
        let party = &mut endpoint.party;
        let z = self.config.consensus(token);
        let v = self.config.point(&z, &self.visits.u);
        let answer = self.config.contribute(&v, &z, self.noise, party.begin(label));
        match (unless_spent(answer).map_err(refused)?, self.config.lattice()) {
            // No contribution is left, and the steps of others must be hidden: the noise of a
            // release, on the same grid.
            (None, Some(_)) => Ok(Some(party.cover(&self.config.residual(self.noise))?)),
            // If every message is counted by itself, there is nothing to cover.
            (answer, _) => Ok(answer),
        }
    }

    /// The same token to the same seat, unless its receipt has come.
    fn again(&mut self) -> Result<Vec<Envelope>, RunError> {
        let Some(out) = self.visits.out.as_mut().filter(|out| !out.received) else {
            return Ok(Vec::new());
        };
        let attempt = out.tries.max(1);
        out.tries = attempt.saturating_add(1);
        let out = out.clone();
        Ok(vec![self.written(&out, attempt)?])
    }

    fn written(&self, out: &Out, attempt: u16) -> Result<Envelope, Rejected> {
        let payload = wire::pack(&out.token)?;
        Ok(Envelope {
            attempt,
            ..self.seat.inbox().write(out.number, PartyId(out.to), MessageKind::Token, payload)
        })
    }
}

impl Node for Walker {
    fn id(&self) -> PartyId {
        self.seat.inbox().me()
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        match envelope.kind {
            MessageKind::Token => {}
            MessageKind::Receipt => return self.on_receipt(envelope),
            _ => return Err(Rejected::Unexpected),
        }
        let (seats, hops) = (self.config.seats(), self.config.hops);
        let admitted = self.seat.inbox().check(envelope, |from| from.0 < seats)?;
        if admitted.again {
            return Ok(self.seat.inbox_mut().repeat(envelope));
        }
        let (number, label) = (envelope.round, &admitted.digest);
        if number <= self.visits.last {
            return Err(Rejected::Stale { given: number });
        }
        if number > hops {
            return Err(Rejected::Early { given: number });
        }
        let token = wire::checked(wire::unpack(&envelope.payload)?, self.config.len())?;
        let (next, u) = match self.message(&token, label)? {
            Some(message) => self.config.moved(&token, &self.visits.u, &message),
            None => (token.clone(), self.visits.u.clone()),
        };
        let failed = |error: RunError| Rejected::Gate(error.to_string());
        let ends = number == hops;
        let out = Out {
            number: number + 1,
            to: self.next(label).map_err(failed)?,
            token: next,
            tries: 0,
            received: ends,
        };
        let receipt = envelope.reply(MessageKind::Receipt, Vec::new());
        let next = if ends { None } else { Some(self.written(&out, 0)?) };
        let mut messages = self.seat.inbox_mut().take(envelope, &admitted, vec![receipt]);
        messages.extend(next);
        self.visits = Visits { last: number, seen: Some(token), u, out: Some(out) };
        Ok(messages)
    }

    fn on_deadline(&mut self, round: u32) -> Result<Vec<Envelope>, RunError> {
        if round == 0 && self.id() == PartyId(0) {
            let label = Hasher::new("reticent first").field(&self.seat.inbox().run().0).finish();
            let token = vec![0.0; self.config.len()];
            let out = Out { number: 1, to: self.next(&label)?, token, tries: 0, received: false };
            let first = self.written(&out, 0)?;
            self.visits.out = Some(out);
            return Ok(vec![first]);
        }
        match &mut self.visits.out {
            // It may be on its way: until the next deadline it is not overdue.
            Some(out) if out.tries == 0 => {
                out.tries = 1;
                Ok(Vec::new())
            }
            _ => self.again(),
        }
    }

    /// No message is on its way.
    fn on_quiet(&mut self, _round: u32) -> Result<Vec<Envelope>, RunError> {
        self.again()
    }

    fn awaits(&self) -> Vec<PartyId> {
        let out = self.visits.out.iter().filter(|out| !out.received);
        out.map(|out| PartyId(out.to)).collect()
    }

    /// Its last visit.
    fn progress(&self) -> Option<RunProgress> {
        Some(RunProgress { done: self.visits.last, of: self.config.hops })
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        Ok(match &self.seat {
            WalkSeat::User(endpoint) => wire::pack(&(endpoint.save(), &self.visits))?,
            WalkSeat::Observer(inbox) => wire::pack(&(inbox, &self.visits))?,
        })
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        let mut visits = match &mut self.seat {
            WalkSeat::User(endpoint) => {
                let (kept, visits): (EndpointState, Visits) = wire::unpack(snapshot)?;
                endpoint.load(kept)?;
                visits
            }
            WalkSeat::Observer(inbox) => {
                let (kept, visits): (Inbox, Visits) = wire::unpack(snapshot)?;
                inbox.recall(kept)?;
                visits
            }
        };
        // Later messages may have been sent before.
        if let Some(out) = &mut visits.out {
            out.tries = out.tries.saturating_add(1);
        }
        self.visits = visits;
        Ok(())
    }

    /// Its view of the parameter: the last token that it received; if every message is counted,
    /// also its own update of that.
    fn model(&self) -> Option<NodeEstimate> {
        let Visits { last, seen, out, .. } = &self.visits;
        let token = match self.config.view {
            View::Network => seen.as_ref()?,
            _ => &out.as_ref()?.token,
        };
        Some(NodeEstimate { steps: *last, parameter: self.config.consensus(token) })
    }

    fn party(&self) -> Option<&Party> {
        match &self.seat {
            WalkSeat::User(endpoint) => Some(&endpoint.party),
            WalkSeat::Observer(_) => None,
        }
    }
}
