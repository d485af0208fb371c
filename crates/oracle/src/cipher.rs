//! How a party's block travels to the one who is trusted with it: XChaCha20-Poly1305, bound to the
//! round and to the party, so that nobody else reads it, and what was changed, or comes from another
//! round or another party, is refused.
//!
//! Parties share the key; a network needs an encrypted channel from each to the aggregator besides.

use std::sync::Arc;

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use reticent_noise::{Entropy, EntropyError, Hasher, NoiseKey};
use serde::{Deserialize, Serialize};

use crate::queries::wrong;
use crate::refusal::Refusal;
use crate::sums::BlockTerms;

/// A party's block, for its trusted aggregator. Nobody else can read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncryptedBlock {
    nonce: [u8; 24],
    tag: [u8; 16],
    bytes: Vec<u8>,
}

/// What the parties of a trusted aggregator encrypt their blocks with, and its terms.
#[derive(Clone, Debug)]
pub struct BlockCipher {
    key: Arc<NoiseKey>,
    params: BlockTerms,
}

impl BlockCipher {
    pub(crate) fn new(key: NoiseKey, params: BlockTerms) -> Self {
        BlockCipher { key: Arc::new(key), params }
    }

    pub(crate) fn params(&self) -> &BlockTerms {
        &self.params
    }

    fn cipher(&self) -> Result<XChaCha20Poly1305, EntropyError> {
        let key = self.key.entropy(&Hasher::new("reticent block cipher").finish()).key()?;
        Ok(XChaCha20Poly1305::new((&*key).into()))
    }

    /// The nonce follows from all that the steps follow from: the same steps are encrypted the same,
    /// others otherwise.
    pub(crate) fn encrypt(
        &self,
        round: u32,
        party: u32,
        steps: &[i64],
        entropy: &mut Entropy,
    ) -> Result<EncryptedBlock, Refusal> {
        let key = entropy.key()?;
        let mut nonce = [0; 24];
        nonce.copy_from_slice(&key[..24]);
        let mut bytes: Vec<u8> = steps.iter().flat_map(|step| step.to_le_bytes()).collect();
        let (at, to) = (XNonce::from(nonce), bound_to(round, party));
        let tag = self.cipher()?.encrypt_inout_detached(&at, &to, bytes.as_mut_slice().into());
        let tag = tag.map_err(|_| wrong("a block is too long to be encrypted"))?.into();
        Ok(EncryptedBlock { nonce, tag, bytes })
    }

    /// The steps of what this party encrypted in this round; anything else is refused.
    pub(crate) fn decrypt(
        &self,
        round: u32,
        party: u32,
        block: &EncryptedBlock,
    ) -> Result<Vec<i64>, Refusal> {
        let mut bytes = block.bytes.clone();
        let (at, to) = (XNonce::from(block.nonce), bound_to(round, party));
        self.cipher()?
            .decrypt_inout_detached(&at, &to, bytes.as_mut_slice().into(), &Tag::from(block.tag))
            .map_err(|_| Refusal::ForgedBlock { party })?;
        Ok(bytes.as_chunks::<8>().0.iter().map(|word| i64::from_le_bytes(*word)).collect())
    }
}

fn bound_to(round: u32, party: u32) -> [u8; 8] {
    let mut both = [0; 8];
    both[..4].copy_from_slice(&round.to_le_bytes());
    both[4..].copy_from_slice(&party.to_le_bytes());
    both
}
