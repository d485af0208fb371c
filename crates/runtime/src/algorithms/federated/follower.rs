//! A user that keeps its block to itself: the block follows the public z's inside the user's gate,
//! and leaves it in one way or another when the server asks.
//!
//! ```text
//! asked:  follow the z's; behind: say how many were followed; else hand the block over
//! ```

use reticent_oracle::BlockTerms;

use super::trajectory::BlockRequest;
use crate::endpoint::Endpoint;
use crate::error::RunError;
use crate::inbox::server_only;
use crate::message::{Envelope, Kind, PartyId, RunId};
use crate::node::Node;
use crate::party::Party;
use crate::rejected::Rejected;
use crate::wire;

/// The way in which a block leaves.
pub(super) trait HandOver: Send + 'static {
    /// Whether a server that begins a round again may have what was handed over in it.
    const BEGINS_AGAIN: bool = true;

    /// The message with the block of a round, whose user is at `place` among those asked; `None`
    /// when the party's budget does not allow it.
    fn hand_over(
        &mut self,
        party: &mut Party,
        round: u32,
        place: u32,
    ) -> Result<Option<(Kind, Vec<u8>)>, Rejected>;

    /// A message of the masked sum of a round.
    fn masked(&mut self, _round: u32, _said: &[u8]) -> Result<Vec<Vec<u8>>, Rejected> {
        Err(Rejected::Unexpected)
    }
}

/// The node of such a user.
pub(super) struct Follower<H> {
    endpoint: Endpoint,
    block: BlockTerms,
    way: H,
}

impl<H: HandOver> Follower<H> {
    pub fn node(run: RunId, party: Party, block: BlockTerms, way: H) -> Box<dyn Node> {
        Box::new(Follower { endpoint: Endpoint::new(run, party), block, way })
    }
}

impl<H: HandOver> Node for Follower<H> {
    fn id(&self) -> PartyId {
        self.endpoint.party.id()
    }

    fn on_message(&mut self, envelope: &Envelope) -> Result<Vec<Envelope>, Rejected> {
        let Follower { endpoint: Endpoint { inbox, party }, block, way } = self;
        if envelope.kind == Kind::Masks {
            inbox.address(envelope, server_only)?;
            let said = way.masked(envelope.round, &envelope.payload)?;
            return Ok(said.into_iter().map(|said| envelope.reply(Kind::Masks, said)).collect());
        }
        let admitted = inbox.check(envelope, server_only)?;
        if envelope.kind != Kind::Ask {
            return Err(Rejected::Unexpected);
        }
        if admitted.again && (H::BEGINS_AGAIN || inbox.attempted(envelope)) {
            return Ok(inbox.repeat(envelope));
        }
        if admitted.again {
            return Err(Rejected::Duplicate);
        }
        let BlockRequest { first, zs, place } = wire::unpack(&envelope.payload)?;
        let followed = party.follow(first, &zs, block)?;
        if followed < first {
            return Ok(vec![envelope.reply(Kind::Receipt, wire::pack(&followed)?)]);
        }
        let reply = match way.hand_over(party, envelope.round, place)? {
            Some((kind, block)) => envelope.reply(kind, block),
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

    fn catch_up(&mut self, zs: &[Vec<f64>]) -> Result<(), RunError> {
        self.endpoint.party.catch_up(zs, &self.block)
    }

    fn party(&self) -> Option<&Party> {
        Some(&self.endpoint.party)
    }
}
