//! A party's own secret, from which the noise of each of its steps follows.
//!
//! ```text
//! noise of a step = ChaCha20 under HKDF-Expand(key, digest of all that the answer depends on)
//! ```
//!
//! HKDF-Expand (RFC 5869) with a uniform key is a pseudo-random function: for different contexts
//! its values cannot be told from independent keys, so different steps have independent noise. The
//! same context gives the same noise, and because the context names everything that the answer is
//! computed from, the same answer: a party that is asked twice, or that starts again after a crash,
//! says the same bits again, and nothing new is learnt. Whoever derives noise must therefore put
//! *all* inputs of the answer into the context; the gate does. Proof note:
//! `proofs/derived-noise.md`.

use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::digest::Digest;
use crate::entropy::{Entropy, EntropyError, Key, system_key};

/// 256 secret bits. Not `Clone`: a key has one owner.
pub struct NoiseKey {
    bytes: Key,
    seeded: bool,
}

impl NoiseKey {
    /// From the operating system: the only kind that gives privacy.
    pub fn secure() -> Result<Self, EntropyError> {
        Ok(NoiseKey { bytes: system_key()?, seeded: false })
    }

    /// From a number, for tests. NOT PRIVATE.
    pub fn seeded(seed: u64) -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        NoiseKey { bytes, seeded: true }
    }

    /// Whether it, or the key it comes from, was made from a seed.
    pub fn is_seeded(&self) -> bool {
        self.seeded
    }

    /// The stream of words that belongs to a context.
    pub fn entropy(&self, context: &Digest) -> Entropy {
        Entropy::from_material(&self.expand(b"reticent noise", context), self.seeded)
    }

    /// The key number `label` under this one: a simulation hands them out to its parties.
    pub fn child(&self, label: u64) -> NoiseKey {
        let material = self.expand(b"reticent key", &label.to_le_bytes());
        let mut bytes = Zeroizing::new([0; 32]);
        bytes.copy_from_slice(&material[..32]);
        NoiseKey { bytes, seeded: self.seeded }
    }

    /// The secret itself, to be kept where only its owner can read it: whoever has it can subtract
    /// the noise.
    pub fn expose(&self) -> (Zeroizing<[u8; 32]>, bool) {
        (self.bytes.clone(), self.seeded)
    }

    /// The key that [`NoiseKey::expose`] gave.
    pub fn recall(bytes: Zeroizing<[u8; 32]>, seeded: bool) -> Self {
        NoiseKey { bytes, seeded }
    }

    fn expand(&self, purpose: &[u8], context: &[u8]) -> Zeroizing<[u8; 64]> {
        let mut material = Zeroizing::new([0; 64]);
        // 32 bytes are a key of the right length and 64 are fewer than RFC 5869 allows, so this
        // cannot fail; if it did, a stream without its key must not be handed out.
        Hkdf::<Sha256>::from_prk(&*self.bytes)
            .map_err(|error| error.to_string())
            .and_then(|hkdf| {
                hkdf.expand_multi_info(&[purpose, context], &mut *material)
                    .map_err(|e| e.to_string())
            })
            .expect("HKDF-SHA256 takes a key of 32 bytes and gives 64");
        material
    }
}

/// Says which kind of key it is and nothing of its bits.
impl std::fmt::Debug for NoiseKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.seeded { "NoiseKey(seeded: NOT PRIVATE)" } else { "NoiseKey(secure)" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(mut entropy: Entropy) -> Vec<u64> {
        (0..100).map(|_| entropy.below(u64::MAX).unwrap()).collect()
    }

    #[test]
    fn the_same_context_gives_the_same_words_and_another_gives_others() {
        let key = NoiseKey::secure().unwrap();
        assert_eq!(words(key.entropy(&[1; 32])), words(key.entropy(&[1; 32])));
        assert_ne!(words(key.entropy(&[1; 32])), words(key.entropy(&[2; 32])));
        assert_ne!(
            words(key.entropy(&[1; 32])),
            words(NoiseKey::secure().unwrap().entropy(&[1; 32]))
        );
        assert_ne!(words(key.child(1).entropy(&[1; 32])), words(key.child(2).entropy(&[1; 32])));
    }

    #[test]
    fn what_comes_from_a_seed_says_so_and_what_does_not_does_not() {
        let (seeded, secure) = (NoiseKey::seeded(1), NoiseKey::secure().unwrap());
        assert!(seeded.entropy(&[0; 32]).is_seeded() && seeded.child(3).is_seeded());
        assert!(seeded.entropy(&[0; 32]).fork().unwrap().is_seeded());
        assert!(!secure.entropy(&[0; 32]).is_seeded() && !secure.child(3).is_seeded());
        assert!(!secure.entropy(&[0; 32]).fork().unwrap().is_seeded());
        assert!(!format!("{secure:?}").contains(|c: char| c.is_ascii_digit()));
    }

    #[test]
    fn a_key_survives_being_kept() {
        let key = NoiseKey::secure().unwrap();
        let (bytes, seeded) = key.expose();
        assert_eq!(
            words(NoiseKey::recall(bytes, seeded).entropy(&[7; 32])),
            words(key.entropy(&[7; 32]))
        );
    }

    /// RFC 5869, test case 1, second half: the PRK and the first 42 bytes of its expansion.
    #[test]
    fn the_expansion_is_that_of_the_standard() {
        let hex = |text: &str| -> Vec<u8> {
            (0..text.len() / 2)
                .map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
                .collect()
        };
        let prk = hex("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5");
        let mut bytes = Zeroizing::new([0; 32]);
        bytes.copy_from_slice(&prk);
        let key = NoiseKey::recall(bytes, true);
        let info = hex("f0f1f2f3f4f5f6f7f8f9");
        assert_eq!(
            key.expand(&info[..4], &info[4..])[..42],
            hex(
                "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
            )
        );
    }
}
