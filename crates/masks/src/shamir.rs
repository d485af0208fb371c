//! Shares of 32 bytes over GF(2⁸): any `quorum` of them give the secret, fewer say nothing (Shamir
//! 1979).
//!
//! The field, the polynomials and the interpolation are those of vsss-rs, which computes without
//! secret-dependent branches or table look-ups and draws every coefficient from the whole field
//! (with non-zero coefficients only, a share would rule values of the secret out). Share j is the
//! value at the point j + 1.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::SeedableRng;
use vsss_rs::Gf256;
use zeroize::{Zeroize, Zeroizing};

use crate::keys::Key;

/// `holders` shares; the coefficients come from ChaCha20 under `coefficients`, stream number
/// `stream`.
pub(crate) fn split(
    secret: &[u8; 32],
    quorum: u32,
    holders: u32,
    coefficients: &Key,
    stream: u64,
) -> Option<Zeroizing<Vec<[u8; 32]>>> {
    let mut source = ChaCha20Rng::from_seed(**coefficients);
    source.set_stream(stream);
    let mut shares = Gf256::split_bytes(quorum as usize, holders as usize, secret, source).ok()?;
    let values: Option<Vec<[u8; 32]>> =
        shares.iter().map(|share| share.get(1..).and_then(|value| value.try_into().ok())).collect();
    shares.iter_mut().for_each(Zeroize::zeroize);
    values.map(Zeroizing::new)
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
