//! Shares of 32 bytes over GF(2⁸): any `quorum` of them give the secret, fewer say nothing (Shamir
//! 1979). Share j is the value at the point j + 1.
//!
//! Shares are evaluated and put together 32 bytes at a time, in the lanes of four words: where all hold
//! shares of all, the work grows with the square of the members. Points, and so the weights of an
//! interpolation, are public; coefficients, shares and secrets are not. What branches, or looks up a table,
//! does so by public numbers alone. Every coefficient is drawn from the whole field (with non-zero ones only, a
//! share would rule values of the secret out). Tests compare all of it with vsss-rs.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use zeroize::Zeroizing;

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
        bytes(&powers.iter().fold([0; 4], |sum, power| added(times(sum, point), *power)))
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

fn bytes(lanes: &Lanes) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (place, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(lanes) {
        *place = word.to_le_bytes();
    }
    bytes
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

/// The powers of 3, which generates the field's non-zero elements, and their exponents. For public
/// elements alone.
const TABLES: ([u8; 255], [u8; 256]) = {
    let (mut powers, mut exponents) = ([0; 255], [0; 256]);
    let (mut power, mut exponent) = (1_u8, 0_u8);
    while exponent < 255 {
        powers[exponent as usize] = power;
        exponents[power as usize] = exponent;
        let doubled = (power << 1) ^ if power & 0x80 == 0 { 0 } else { REDUCED as u8 };
        power ^= doubled;
        exponent += 1;
    }
    (powers, exponents)
};

/// What each of these points counts for in the value at zero: the product of xⱼ/(xⱼ − xᵢ) over the
/// others. `None` for points that are not distinct and non-zero.
fn weights(points: &[u8]) -> Option<Vec<u8>> {
    let (powers, exponents) = &TABLES;
    let exponent = |element: u8| (element != 0).then(|| u32::from(exponents[element as usize]));
    let mut all = 0;
    for point in points {
        all += exponent(*point)?;
    }
    let weight = |(place, own): (usize, &u8)| {
        // Of all points but its own; 255 is 0, and each difference is at most 254.
        let mut sum = all - exponent(*own)? + 255 * points.len() as u32;
        for (other, point) in points.iter().enumerate() {
            if other != place {
                sum -= exponent(point ^ own)?;
            }
        }
        Some(powers[(sum % 255) as usize])
    };
    points.iter().enumerate().map(weight).collect()
}

/// The secret from shares at distinct non-zero points.
pub(crate) fn combine(shares: &[(u8, [u8; 32])]) -> Option<Key> {
    let points: Vec<u8> = shares.iter().map(|(point, _)| *point).collect();
    if points.len() < 2 {
        return None;
    }
    let mut sum: Zeroizing<Lanes> = Zeroizing::new([0; 4]);
    for ((_, share), weight) in shares.iter().zip(weights(&points)?) {
        *sum = added(*sum, times(lanes(share), weight.into()));
    }
    Some(Zeroizing::new(bytes(&sum)))
}

#[cfg(test)]
mod unit {
    use super::*;
    use proptest::prelude::*;
    use reticent_testkit::statistics::chi_squared;
    use vsss_rs::Gf256;

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
        /// The field is that of the library, element by element.
        #[test]
        fn lanes_multiply_as_the_library_does(elements in any::<[u8; 32]>(), point in 0_u8..=255) {
            let product = times(lanes(&elements), point.into());
            let expected = elements.map(|element| (Gf256(element) * Gf256(point)).0);
            prop_assert_eq!(product, lanes(&expected));
        }
    }

    proptest! {
        /// Any shares at any points, of a sharing or not.
        #[test]
        fn shares_are_put_together_as_by_the_library(
            points in proptest::collection::btree_set(1_u8..=255, 2..40), values in any::<[u8; 32]>(),
        ) {
            let share = |point: u8| (point, values.map(|value| value.rotate_left(point.into()) ^ point));
            let shares: Vec<(u8, [u8; 32])> = points.into_iter().rev().map(share).collect();
            let joined: Vec<Vec<u8>> =
                shares.iter().map(|(point, value)| [&[*point], &value[..]].concat()).collect();
            prop_assert_eq!(combine(&shares).unwrap().to_vec(), Gf256::combine_bytes(&joined).unwrap());
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
        assert!(combine(&[(3, [1; 32])]).is_none() && combine(&[]).is_none());
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
