//! From a 256-bit seed to a vector that is uniform modulo 2⁶⁴, added or taken away.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use zeroize::Zeroizing;

use crate::MemberId;
use crate::keys::Key;

/// Which way a mask goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskSign {
    Plus,
    Minus,
}

impl MaskSign {
    /// The sign with which `member` uses the mask that it has in common with `other`: of every pair
    /// one adds and one takes away, so the pair cancels.
    pub(crate) fn of(member: MemberId, other: MemberId) -> Self {
        if member < other { Self::Plus } else { Self::Minus }
    }

    pub(crate) fn other(self) -> Self {
        match self {
            Self::Plus => Self::Minus,
            Self::Minus => Self::Plus,
        }
    }
}

/// Adds ±PRG(seed), ChaCha20 with the seed as its key.
pub(crate) fn apply(seed: &Key, sign: MaskSign, values: &mut [u64]) {
    let mut stream = ChaCha20Rng::from_seed(**seed);
    let mut block = Zeroizing::new([0_u8; 512]);
    for chunk in values.chunks_mut(64) {
        let bytes = &mut block[..8 * chunk.len()];
        stream.fill_bytes(bytes);
        for (value, word) in chunk.iter_mut().zip(words(bytes)) {
            *value = match sign {
                MaskSign::Plus => value.wrapping_add(word),
                MaskSign::Minus => value.wrapping_sub(word),
            };
        }
    }
}

/// Little-endian words; bytes beyond a multiple of eight are left out.
pub(crate) fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word))
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn a_pair_cancels_and_one_alone_does_not() {
        let (seed, plain) = (Zeroizing::new([4; 32]), vec![17_u64; 100]);
        let mut values = plain.clone();
        apply(&seed, MaskSign::of(3, 8), &mut values);
        assert!(values.iter().zip(&plain).all(|(masked, plain)| masked != plain));
        apply(&seed, MaskSign::of(8, 3), &mut values);
        assert_eq!(values, plain);
    }

    #[test]
    fn a_longer_vector_starts_with_the_shorter_one() {
        let seed = Zeroizing::new([4; 32]);
        let (mut long, mut short) = (vec![0; 200], vec![0; 70]);
        apply(&seed, MaskSign::Plus, &mut long);
        apply(&seed, MaskSign::Plus, &mut short);
        assert_eq!(long[..64], short[..64]);
    }
}
