//! A user that keeps its block to itself: the block follows the public z's inside the user's gate,
//! and leaves it in one way or another when the server asks.
//!
//! ```text
//! asked:  follow the z's; not up to the round's: say how many were followed; else hand the block over
//! ```

use reticent_noise::Digest;
use reticent_oracle::BlockTerms;

use super::trajectory::BlockRequest;
use crate::client::{Behaviour, Contribution, Reply};
use crate::error::RunError;
use crate::party::Party;
use crate::rejected::Rejected;
use crate::wire;

/// How a block leaves the gate.
pub(super) trait HandOver: Send + 'static {
    /// Whether a server that repeats a round may have the answers of the first attempt.
    const BEGINS_AGAIN: bool = true;

    /// The message with the block of a round, for the user at `place` among those asked; `None` if
    /// the party's budget does not allow it.
    fn hand_over(
        &mut self,
        party: &mut Party,
        round: u32,
        place: u32,
    ) -> Result<Option<Contribution>, Rejected>;

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
}

/// The behaviour of such a user.
pub(super) struct Follower<H> {
    pub block: BlockTerms,
    pub way: H,
}

impl<H: HandOver> Behaviour for Follower<H> {
    const BEGINS_AGAIN: bool = H::BEGINS_AGAIN;

    fn reply(
        &mut self,
        party: &mut Party,
        round: u32,
        _: &Digest,
        request: &[u8],
    ) -> Result<Reply, Rejected> {
        let BlockRequest { first, zs, place } = wire::unpack(request)?;
        let followed = party.follow(first, &zs, &self.block)?;
        // Round k has the k-th z: a user that has not followed that far has received a part of
        // them.
        if followed < first.max(round) {
            return Ok(Reply::Behind(wire::pack(&followed)?));
        }
        Ok(Reply::or_declined(self.way.hand_over(party, round, place)?))
    }

    fn masked(&mut self, round: u32, said: &[u8]) -> Result<Vec<Vec<u8>>, Rejected> {
        self.way.masked(round, said)
    }

    const KEEPS: bool = H::KEEPS;

    fn keep(&self) -> Result<Vec<u8>, RunError> {
        self.way.keep()
    }

    fn recall(&mut self, kept: &[u8]) -> Result<(), RunError> {
        self.way.recall(kept)
    }

    fn catch_up(&self, party: &mut Party, zs: &[Vec<f64>]) -> Result<(), RunError> {
        party.catch_up(zs, &self.block)
    }
}
