//! The server of everything that has one: rounds, attempts, invitations and snapshots, whatever is
//! exchanged.
//!
//! ```text
//! deadline:  close the round that is over; open the next: invite parties, and ask each
//! message:   an answer, a refusal, or word from a party that has missed something and is asked again
//! ```
//!
//! What differs is an [`Exchange`]: who is invited, what is asked, how an answer is taken, how a
//! round is closed. A coordinator that goes on from a snapshot sends with a higher attempt, because
//! it may have sent the same before.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::RunError;
use crate::inbox::Inbox;
use crate::message::{Envelope, MessageKind, PartyId, RunId, SERVER};
use crate::node::{GrowingList, ListPieces, Node, NodeEstimate, RunProgress};
use crate::rejected::Rejected;
use crate::wire;

/// The work of a coordinator in a round, and its state between rounds.
pub(crate) trait Exchange: Send + 'static {
    /// The part of an answer that is kept until the round is closed.
    type Answer: Serialize + DeserializeOwned + Send;

    /// The number of rounds of a run.
    fn rounds(&self) -> u32;

    /// Opens a round: returns the invited parties in ascending order. Those that `declined` will
    /// not contribute any more.
    fn open(&mut self, round: u32, declined: &BTreeSet<u32>) -> Result<Vec<u32>, RunError>;

    /// The request to `party`, which has the number `place` among the invited.
    fn request(&self, round: u32, party: u32, place: u32) -> Result<Vec<u8>, RunError>;

    /// Validates an answer and clips it to the honest range; rejects invalid bytes.
    fn take(&mut self, round: u32, party: u32, payload: &[u8]) -> Result<Self::Answer, Rejected>;

    /// Closes a round with the received answers, in the order of the parties.
    fn close(&mut self, round: u32, answers: BTreeMap<u32, Self::Answer>) -> Result<(), RunError>;

    /// The current parameter.
    fn model(&self) -> Vec<f64>;

    /// The released models of the parties, if the server has them.
    fn parts(&self) -> Vec<Vec<f64>> {
        Vec::new()
    }

    /// The state between rounds.
    fn save(&self) -> Result<Vec<u8>, RunError>;

    /// Restores that state.
    fn load(&mut self, saved: &[u8]) -> Result<(), RunError>;

    /// The same without the lists.
    fn save_apart(&self) -> Result<Vec<u8>, RunError> {
        self.save()
    }

    /// Restores it, with the pieces of the lists.
    fn load_apart(&mut self, saved: &[u8], _pieces: &ListPieces) -> Result<(), RunError> {
        self.load(saved)
    }

    /// The growing lists.
    fn lists(&self) -> Vec<GrowingList> {
        Vec::new()
    }

    /// A piece of such a list.
    fn piece(&self, _name: &str, _number: usize) -> Result<Vec<u8>, RunError> {
        Err(RunError::Snapshot("a list that the server does not have"))
    }

    /// The public z's so far, if parties keep blocks that follow from them.
    fn trajectory(&self) -> &[Vec<f64>] {
        &[]
    }

    /// Records that a party has followed fewer z's than assumed; it is asked again.
    fn behind(&mut self, _party: u32, _followed: u32) -> Result<(), Rejected> {
        Err(Rejected::Unexpected)
    }

    /// Handles a message of the masked sum from the member at `place`; returns the answer, and
    /// messages to the members at other places.
    fn masked(&mut self, _party: u32, _place: u32, _said: &[u8]) -> Result<ToPlaces, Rejected> {
        Err(Rejected::Unexpected)
    }

    /// The places of members that a masked sum awaits; `None` if there is no masked sum, and
    /// answers are awaited.
    fn awaits(&self) -> Option<Vec<u32>> {
        None
    }

    /// Handles silence: a masked sum continues without the members that are away.
    fn quiet(&mut self) -> ToPlaces {
        Vec::new()
    }
}

/// Messages of a masked sum, by the places of their receivers.
pub(crate) type ToPlaces = Vec<(u32, Vec<u8>)>;

/// The node of a server.
pub(crate) struct Coordinator<E: Exchange> {
    inbox: Inbox,
    exchange: E,
    round: RoundState<E::Answer>,
}

/// The state of a coordinator within a round.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RoundState<A> {
    /// The current round; 0 before the first.
    number: u32,
    attempt: u16,
    /// In ascending order.
    invited: Vec<u32>,
    answers: BTreeMap<u32, A>,
    declined: BTreeSet<u32>,
}

impl<E: Exchange> Coordinator<E> {
    pub fn node(run: RunId, exchange: E) -> Box<dyn Node> {
        let round = RoundState {
            number: 0,
            attempt: 0,
            invited: Vec::new(),
            answers: BTreeMap::new(),
            declined: BTreeSet::new(),
        };
        Box::new(Coordinator { inbox: Inbox::new(run, SERVER), exchange, round })
    }

    fn ask(&self, party: u32, attempt: u16) -> Result<Envelope, RunError> {
        let RoundState { number, invited, .. } = &self.round;
        let place = invited.binary_search(&party).unwrap_or_default() as u32;
        let payload = self.exchange.request(*number, party, place)?;
        Ok(Envelope {
            attempt,
            ..self.inbox.write(*number, PartyId(party), MessageKind::Ask, payload)
        })
    }

    fn recall(
        &mut self,
        snapshot: &[u8],
        load: impl FnOnce(&mut E, &[u8]) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        let (inbox, round, saved): (Inbox, RoundState<E::Answer>, Vec<u8>) =
            wire::unpack(snapshot)?;
        self.inbox.recall(inbox)?;
        load(&mut self.exchange, &saved)?;
        self.round = RoundState { attempt: round.attempt.saturating_add(1), ..round };
        Ok(())
    }

    fn carry(&self, said: ToPlaces) -> Vec<Envelope> {
        let RoundState { number, invited, .. } = &self.round;
        let write = |(place, bytes): (u32, Vec<u8>)| {
            let party = PartyId(*invited.get(place as usize)?);
            Some(self.inbox.write(*number, party, MessageKind::Masks, bytes))
        };
        said.into_iter().filter_map(write).collect()
    }
}

impl<E: Exchange> Node for Coordinator<E> {
    fn id(&self) -> PartyId {
        SERVER
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        let (number, party) = (self.round.number, envelope.from.0);
        self.inbox.in_round(envelope, number)?;
        let place = self.round.invited.binary_search(&party);
        let known = |_: PartyId| place.is_ok();
        if envelope.kind == MessageKind::Masks {
            self.inbox.address(envelope, known)?;
            let place = place.unwrap_or_default() as u32;
            let said = self.exchange.masked(party, place, &envelope.payload)?;
            return Ok(self.carry(said));
        }
        let admitted = self.inbox.check(envelope, known)?;
        let mut replies = Vec::new();
        match envelope.kind {
            MessageKind::Receipt => {
                self.exchange.behind(party, wire::unpack(&envelope.payload)?)?;
                let again = self.ask(party, envelope.attempt.saturating_add(1));
                replies.push(again.map_err(|_| Rejected::Malformed("payload"))?);
            }
            // A repeated answer, after the coordinator has repeated its request.
            MessageKind::Answer | MessageKind::Declined if admitted.again => {}
            MessageKind::Answer => {
                let answer = self.exchange.take(number, party, &envelope.payload)?;
                self.round.answers.insert(party, answer);
            }
            MessageKind::Declined => _ = self.round.declined.insert(party),
            _ => return Err(Rejected::Unexpected),
        }
        self.inbox.take(envelope, &admitted, Vec::new());
        Ok(replies)
    }

    fn on_deadline(&mut self, round: u32) -> Result<Vec<Envelope>, RunError> {
        let answers = std::mem::take(&mut self.round.answers);
        if round > 0 {
            self.exchange.close(round, answers)?;
        }
        self.round.number = round + 1;
        self.round.invited.clear();
        if self.round.number > self.exchange.rounds() {
            return Ok(Vec::new());
        }
        self.round.invited = self.exchange.open(self.round.number, &self.round.declined)?;
        let RoundState { invited, attempt, .. } = &self.round;
        invited.iter().map(|&party| self.ask(party, *attempt)).collect()
    }

    fn on_quiet(&mut self, _round: u32) -> Result<Vec<Envelope>, RunError> {
        let said = self.exchange.quiet();
        Ok(self.carry(said))
    }

    fn snapshot(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(&self.inbox, &self.round, self.exchange.save()?))?)
    }

    fn restore(&mut self, snapshot: &[u8]) -> Result<(), RunError> {
        self.recall(snapshot, |exchange, saved| exchange.load(saved))
    }

    fn lists(&self) -> Vec<GrowingList> {
        self.exchange.lists()
    }

    fn piece(&self, name: &str, number: usize) -> Result<Vec<u8>, RunError> {
        self.exchange.piece(name, number)
    }

    fn snapshot_apart(&self) -> Result<Vec<u8>, RunError> {
        Ok(wire::pack(&(&self.inbox, &self.round, self.exchange.save_apart()?))?)
    }

    fn restore_apart(&mut self, snapshot: &[u8], pieces: &ListPieces) -> Result<(), RunError> {
        self.recall(snapshot, |exchange, saved| exchange.load_apart(saved, pieces))
    }

    fn awaits(&self) -> Vec<PartyId> {
        let RoundState { invited, answers, declined, .. } = &self.round;
        if let Some(places) = self.exchange.awaits() {
            let party = |place: u32| invited.get(place as usize).map(|&party| PartyId(party));
            return places.into_iter().filter_map(party).collect();
        }
        let silent = |party: &&u32| !answers.contains_key(party) && !declined.contains(party);
        invited.iter().filter(silent).map(|&party| PartyId(party)).collect()
    }

    fn trajectory(&self) -> &[Vec<f64>] {
        self.exchange.trajectory()
    }

    fn progress(&self) -> Option<RunProgress> {
        Some(RunProgress { done: self.round.number.saturating_sub(1), of: self.exchange.rounds() })
    }

    fn model(&self) -> Option<NodeEstimate> {
        Some(NodeEstimate { steps: self.round.number, parameter: self.exchange.model() })
    }

    fn parts(&self) -> Vec<Vec<f64>> {
        self.exchange.parts()
    }
}
