//! How a party's block travels to the one who is trusted with it: in a box that is closed by the
//! aggregator's public key, so that the aggregator alone reads it, and bound to the round and to the
//! party, so that what was changed, or comes from another round or in another's name, is refused.
//!
//! A party needs nothing secret but its own key; no party can open another's block. That a block
//! comes from the party that it names is for the channel to show. Proof: proofs/trust.md.

use reticent_masks::{Receiver, ReceiverKey, SealedBox};
use reticent_noise::{Entropy, Hasher, NoiseKey};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::queries::wrong;
use crate::refusal::Refusal;
use crate::sums::BlockTerms;

/// A party's block, for its trusted aggregator. Nobody else can read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncryptedBlock(SealedBox);

/// By which the parties of a trusted aggregator close their blocks, and its terms. Public: the
/// aggregator tells it to whoever takes part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AggregatorKey {
    receiver: ReceiverKey,
    params: BlockTerms,
    seeded: bool,
}

impl AggregatorKey {
    pub(crate) fn params(&self) -> &BlockTerms {
        &self.params
    }

    /// Whether it is of an aggregator on the same terms as this one's.
    pub fn has_terms_of(&self, other: &Self) -> bool {
        self.params == other.params
    }

    /// Whether the aggregator's key, from which the noise comes too, is known to others.
    pub(crate) fn is_seeded(&self) -> bool {
        self.seeded
    }

    /// The key of the box follows from all that the steps follow from: the same steps are encrypted
    /// the same, others otherwise.
    pub(crate) fn encrypt(
        &self,
        round: u32,
        party: u32,
        steps: &[i64],
        entropy: &mut Entropy,
    ) -> Result<EncryptedBlock, Refusal> {
        let key = entropy.key()?;
        let mut bytes = Zeroizing::new(Vec::with_capacity(8 * steps.len()));
        steps.iter().for_each(|step| bytes.extend_from_slice(&step.to_le_bytes()));
        let sealed = self.receiver.seal(&key, &bound_to(round, party), &bytes);
        sealed.map(EncryptedBlock).ok_or_else(|| {
            wrong("a block cannot be closed: the aggregator's key is none, or the block too long")
        })
    }
}

/// The aggregator's side: what opens the blocks.
#[derive(Debug)]
pub(crate) struct BlockOpener {
    receiver: Receiver,
    params: BlockTerms,
    seeded: bool,
}

impl BlockOpener {
    pub(crate) fn new(key: &NoiseKey, params: BlockTerms) -> Self {
        // Not the key itself: what is drawn from it elsewhere says nothing of this one.
        let (own, seeded) = key.child(0).expose();
        BlockOpener { receiver: Receiver::new(&own), params, seeded }
    }

    pub(crate) fn params(&self) -> &BlockTerms {
        &self.params
    }

    pub(crate) fn public(&self) -> AggregatorKey {
        let BlockOpener { receiver, params, seeded } = self;
        AggregatorKey { receiver: receiver.public(), params: *params, seeded: *seeded }
    }

    /// The steps of what this party encrypted in this round; anything else is refused.
    pub(crate) fn decrypt(
        &self,
        round: u32,
        party: u32,
        block: &EncryptedBlock,
    ) -> Result<Vec<i64>, Refusal> {
        let bytes = self.receiver.open(&bound_to(round, party), &block.0);
        let bytes = bytes.ok_or(Refusal::ForgedBlock { party })?;
        let (words, rest) = bytes.as_chunks::<8>();
        if !rest.is_empty() {
            return Err(Refusal::ForgedBlock { party });
        }
        Ok(words.iter().map(|word| i64::from_le_bytes(*word)).collect())
    }
}

/// What a box is for, the same from either end.
fn bound_to(round: u32, party: u32) -> [u8; 32] {
    Hasher::new("reticent block").number(u64::from(round)).number(u64::from(party)).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever has the public key can close a box of any length; steps are eight bytes each.
    #[test]
    fn a_box_that_does_not_end_with_a_step_is_refused() {
        let params = BlockTerms {
            clip: 1.0,
            row_norm: 1.0,
            step: 1.0,
            inner: 1,
            relaxation: 0.5,
            one_record: None,
        };
        let opener = BlockOpener::new(&NoiseKey::seeded(1), params);
        let opened = |bytes: &[u8]| {
            let sealed = opener.public().receiver.seal(&[2; 32], &bound_to(3, 7), bytes);
            opener.decrypt(3, 7, &EncryptedBlock(sealed.unwrap()))
        };
        let bytes = [(-5_i64).to_le_bytes(), 9_i64.to_le_bytes(), [0; 8]].concat();
        for len in 0..bytes.len() {
            match opened(&bytes[..len]) {
                Ok(steps) => assert_eq!(steps, [-5, 9][..len / 8]),
                Err(Refusal::ForgedBlock { party: 7 }) => assert_ne!(len % 8, 0),
                Err(other) => panic!("{other}"),
            }
            assert_eq!(opened(&bytes[..len]).is_ok(), len % 8 == 0);
        }
    }
}
