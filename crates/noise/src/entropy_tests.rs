//! What must hold of the source itself; that its samples have the right law is in
//! `tests/entropy.rs`.

use super::*;
use num_bigint::BigUint;
use proptest::prelude::*;

/// A system stream with a known key, so that a replacement of the key can be seen.
fn known(process: u32, buffers_left: u64) -> Entropy {
    Entropy::new(ChaCha20Rng::from_seed([7; 32]), Origin::System { process, buffers_left })
}

fn words(entropy: &mut Entropy, count: usize) -> Vec<u64> {
    (0..count).map(|_| entropy.word()).collect()
}

#[test]
fn the_stream_is_chacha20() {
    // The first 8 bytes of the ChaCha20 key stream for the zero key and nonce (RFC 8439, appendix
    // A.1, vector 1).
    let origin = Origin::System { process: std::process::id(), buffers_left: 1 };
    let mut entropy = Entropy::new(ChaCha20Rng::from_seed([0; 32]), origin);
    assert_eq!(entropy.word().to_le_bytes(), [0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90]);
}

#[test]
fn a_forked_process_gets_a_key_of_its_own_and_loses_the_buffer() {
    let here = std::process::id();
    let mut parent = known(here, 9);
    let mut child = known(here.wrapping_add(1), 9);
    assert_eq!(parent.word(), child.word(), "the buffer is shared at the time of the fork");
    parent.ready().unwrap();
    child.ready().unwrap();
    let (a, b) = (words(&mut parent, 64), words(&mut child, 64));
    assert!(a.iter().all(|word| !b.contains(word)));
    assert_eq!(a, words(&mut known(here, 9), 65)[1..], "the parent goes on as it was");
    child.ready().unwrap();
    assert_eq!(child.next, 64, "and the child notices once");
}

#[test]
fn an_old_key_is_replaced() {
    let here = std::process::id();
    let mut entropy = known(here, 1);
    entropy.ready().unwrap();
    let before = words(&mut entropy, 1);
    entropy.ready().unwrap();
    assert_eq!(entropy.next, BUFFER, "the only buffer of this key is thrown away");
    let after = words(&mut entropy, 2 * BUFFER);
    let old = words(&mut known(here, 9), 4 * BUFFER);
    assert_eq!(before, old[..1]);
    assert!(after.iter().all(|word| !old.contains(word)));
}

#[test]
fn state_is_wiped_when_dropped_and_never_printed() {
    fn wiped<T: zeroize::ZeroizeOnDrop>() {}
    wiped::<ChaCha20Rng>();
    wiped::<Key>();
    assert_eq!(format!("{:?}", Entropy::seeded(3)), "Entropy(seeded: NOT PRIVATE)");
    assert_eq!(format!("{:?}", Entropy::secure().unwrap()), "Entropy(secure)");
}

#[test]
fn forks_differ_from_each_other_and_from_their_parent() {
    let mut parent = Entropy::seeded(5);
    let mut first = parent.fork().unwrap();
    let drawn = words(&mut parent, 100);
    let mut second = parent.fork().unwrap();
    let mut grandchild = first.fork().unwrap();
    let all: std::collections::HashSet<u64> = [&mut first, &mut second, &mut grandchild]
        .into_iter()
        .flat_map(|stream| words(stream, 100))
        .chain(drawn)
        .collect();
    assert_eq!(all.len(), 400);
    // What the parent drew in between makes no difference.
    let mut again = Entropy::seeded(5);
    let _ = again.fork().unwrap();
    let mut second_again = again.fork().unwrap();
    assert_eq!(words(&mut second_again, 10), words(&mut second_of_five(), 10));
    assert!(
        first.is_seeded()
            && grandchild.is_seeded()
            && !Entropy::secure().unwrap().fork().unwrap().is_seeded()
    );
}

fn second_of_five() -> Entropy {
    let mut parent = Entropy::seeded(5);
    words(&mut parent, 77);
    let _ = parent.fork().unwrap();
    parent.fork().unwrap()
}

/// Whether 0.w₁w₂… < rate, in integers of any size. 24 words cover the 1074 binary places of an
/// `f64`.
fn compare(words: &[u64; 24], rate: f64) -> bool {
    let uniform = words.iter().fold(BigUint::ZERO, |sum, &word| (sum << 64_u32) + word);
    let exponent = (rate.to_bits() >> 52) as u32;
    let fraction = rate.to_bits() & ((1 << 52) - 1);
    let (mantissa, places) =
        if exponent == 0 { (fraction, 1074) } else { (fraction | 1 << 52, 1075 - exponent) };
    uniform << places < BigUint::from(mantissa) << (24 * 64_u32)
}

/// The words of the rate's own expansion, so that a comparison goes to the last of them.
fn expansion(rate: f64) -> [u64; 24] {
    let mut words = [0; 24];
    let mut rest = rate;
    for word in &mut words {
        rest *= 2_f64.powi(64);
        *word = rest as u64;
        rest -= *word as f64;
    }
    words
}

proptest! {
    #[test]
    fn a_coin_is_an_exact_comparison(
        bits in 0_u64..=1_f64.to_bits(), changed in 0_usize..24, by in -1_i64..=1, random in any::<[u64; 24]>(),
    ) {
        let rate = f64::from_bits(bits);
        let mut near = if rate < 1.0 { expansion(rate) } else { [u64::MAX; 24] };
        near[changed] = near[changed].saturating_add_signed(by);
        for words in [near, random] {
            let mut next = words.iter().copied().chain(std::iter::repeat(0));
            let tossed = Coin::new(rate).unwrap().toss(|| next.next().unwrap());
            prop_assert_eq!(tossed, compare(&words, rate), "rate {:e}", rate);
        }
    }
}

#[test]
fn one_in_a_thousand_million_is_exact() {
    // 10⁻⁹ is 4835703278458517·2⁻⁸²: the words below it and above it differ in the second word.
    let coin = Coin::new(1e-9).unwrap();
    let [first, second, ..] = expansion(1e-9);
    assert_eq!(first, 18_446_744_073);
    for (words, expected) in [
        ([first - 1, u64::MAX], true),
        ([first + 1, 0], false),
        ([first, second - 1], true),
        ([first, second], false),
    ] {
        let mut next = words.into_iter().chain([0; 9]);
        assert_eq!(coin.toss(|| next.next().unwrap()), expected);
    }
}

#[test]
fn wrong_requests_are_refused() {
    let mut entropy = Entropy::seeded(0);
    for rate in [-1e-300, 1.0 + f64::EPSILON, f64::NAN, f64::INFINITY] {
        assert!(matches!(entropy.bernoulli(rate), Err(EntropyError::Rate(_))), "{rate}");
    }
    assert!(matches!(entropy.below(0), Err(EntropyError::EmptyRange)));
    assert!(matches!(
        entropy.subset(3, 4, &mut Vec::new()),
        Err(EntropyError::Subset { population: 3, size: 4 })
    ));
    assert!(entropy.bernoulli(-0.0).is_ok_and(|outcome| !outcome));
}
