//! Shares of 32 bytes over GF(2⁸): any `quorum` of them give the secret, fewer say nothing (Shamir
//! 1979). Share j is the value at the point j + 1.
//!
//! The interpolation is that of vsss-rs, without secret-dependent branches or table look-ups. The
//! shares are evaluated here, 32 bytes at a time in the lanes of four words: byte by byte it was a
//! quarter of a round of 1,000 members. Points are public and coefficients are not, so what branches
//! does so by a point. Every coefficient is drawn from the whole field (with non-zero ones only, a
//! share would rule values of the secret out).

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use vsss_rs::Gf256;
use zeroize::{Zeroize, Zeroizing};

use crate::keys::Key;
use crate::terms::MOST_HOLDERS;

/// 32 elements of the field, a byte each.
type Lanes = [u64; 4];

/// The highest bit of every byte, and what x⁸ is: x⁴ + x³ + x + 1.
const TOP: u64 = 0x8080_8080_8080_8080;
const REDUCED: u64 = 0x1b;

/// `holders` shares; the coefficients come from ChaCha20 under `coefficients`, stream number
/// `stream`. `None` for numbers that no sharing has.
pub(crate) fn split(
    secret: &[u8; 32],
    quorum: u32,
    holders: u32,
    coefficients: &Key,
    stream: u64,
) -> Option<Zeroizing<Vec<[u8; 32]>>> {
    if quorum < 2 || quorum > holders || holders > MOST_HOLDERS {
        return None;
    }
    let mut source = ChaCha20Rng::from_seed(**coefficients);
    source.set_stream(stream);
    // From the highest power to the constant, which is the secret.
    let mut powers: Zeroizing<Vec<Lanes>> = Zeroizing::new(vec![[0; 4]; quorum as usize]);
    powers.iter_mut().flatten().for_each(|word| *word = source.next_u64());
    *powers.last_mut()? = lanes(secret);
    let value = |point: u32| {
        let horner = powers.iter().fold([0; 4], |sum, power| added(times(sum, point), *power));
        let mut bytes = [0; 32];
        for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(horner) {
            *place = word.to_le_bytes();
        }
        bytes
    };
    Some(Zeroizing::new((1..=holders).map(value).collect()))
}

fn lanes(bytes: &[u8; 32]) -> Lanes {
    let mut lanes = [0; 4];
    for (lane, word) in lanes.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *lane = u64::from_le_bytes(*word);
    }
    lanes
}

fn added(one: Lanes, other: Lanes) -> Lanes {
    std::array::from_fn(|at| one[at] ^ other[at])
}

/// Every element times a public point: doubled and added, bit by bit of the point.
#[inline]
fn times(elements: Lanes, point: u32) -> Lanes {
    let (mut doubled, mut product, mut left) = (elements, [0; 4], point);
    while left != 0 {
        if left & 1 == 1 {
            product = added(product, doubled);
        }
        doubled = doubled.map(|word| {
            let top = word & TOP;
            // Bytes of 0 or 1 times a byte: no carry from one to the next.
            ((word ^ top) << 1) ^ ((top >> 7) * REDUCED)
        });
        left >>= 1;
    }
    product
}

/// The secret from shares at distinct non-zero points.
pub(crate) fn combine(shares: &[(u8, [u8; 32])]) -> Option<Key> {
    let mut joined: Vec<Vec<u8>> =
        shares.iter().map(|(point, value)| [&[*point], &value[..]].concat()).collect();
    let mut secret = Gf256::combine_bytes(&joined).ok()?;
    joined.iter_mut().for_each(Zeroize::zeroize);
    let found = <[u8; 32]>::try_from(secret.as_slice()).ok().map(Zeroizing::new);
    secret.zeroize();
    found
}

#[cfg(test)]
mod unit {
    use super::*;
    use proptest::prelude::*;
    use reticent_testkit::statistics::chi_squared;

    fn numbered(shares: &[[u8; 32]]) -> Vec<(u8, [u8; 32])> {
        (1..=255).zip(shares.iter().copied()).collect()
    }

    proptest! {
        #[test]
        fn any_quorum_gives_the_secret(
            secret in any::<[u8; 32]>(), key in any::<[u8; 32]>(), holders in 2_u32..20, more in 0_u32..20, skip in 0_usize..20,
        ) {
            let quorum = 2 + more % (holders - 1);
            let shares = numbered(&split(&secret, quorum, holders, &Zeroizing::new(key), 0).unwrap());
            let skip = skip % (holders - quorum + 1) as usize;
            let some = &shares[skip..skip + quorum as usize];
            prop_assert_eq!(*combine(some).unwrap(), secret);
            if quorum > 2 {
                prop_assert_ne!(*combine(&some[1..]).unwrap(), secret);
            }
        }
    }

    proptest! {
        /// The field is that of the interpolation, element by element.
        #[test]
        fn lanes_multiply_as_the_library_does(elements in any::<[u8; 32]>(), point in 0_u8..=255) {
            let product = times(lanes(&elements), point.into());
            let expected = elements.map(|element| (Gf256(element) * Gf256(point)).0);
            prop_assert_eq!(product, lanes(&expected));
        }
    }

    #[test]
    fn numbers_that_no_sharing_has_are_refused() {
        let split = |quorum, holders| split(&[7; 32], quorum, holders, &Zeroizing::new([1; 32]), 0);
        assert!(split(1, 3).is_none() && split(4, 3).is_none() && split(2, 256).is_none());
        assert!(split(2, 2).is_some());
    }

    #[test]
    fn the_most_holders() {
        let shares = numbered(&split(&[7; 32], 128, 255, &Zeroizing::new([1; 32]), 0).unwrap());
        assert_eq!(*combine(&shares[127..]).unwrap(), [7; 32]);
    }

    #[test]
    fn points_that_are_zero_or_repeated_are_refused() {
        assert!(combine(&[(0, [1; 32]), (1, [2; 32])]).is_none());
        assert!(combine(&[(1, [1; 32]), (1, [1; 32])]).is_none());
        assert!(combine(&[]).is_none());
    }

    /// One share of two is uniform whatever the secret is, the value of the secret included
    /// (coefficient 0): χ² over 256 values, 2560 · 32 draws; false alarm 1e-6.
    #[test]
    fn fewer_shares_than_the_quorum_are_uniform() {
        let mut counts = [0_u64; 256];
        for stream in 0..2560 {
            let shares = split(&[0x5a; 32], 2, 3, &Zeroizing::new([2; 32]), stream).unwrap();
            shares[1].iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        }
        let p = chi_squared(&counts, &[1.0 / 256.0; 256]);
        assert!(p > 1e-6, "{p}");
    }
}
