//! The only source of randomness: operating system → ChaCha20 → uniform words.
//!
//! * `secure`: a 256-bit key from the operating system; at the start of a call, once 2²⁰ blocks (64
//!   MiB) have been used, the key is replaced by (32 bytes of the old stream) ⊕ (32 bytes of the
//!   system), which is as good as the better of the two. A process that finds itself with another
//!   process id (it was forked) first throws the buffer away and takes a key from the system alone,
//!   so that parent and child never share a word.
//! * `seeded`: for tests and simulations. The key is a function of a 64-bit number, so noise made
//!   from it hides nothing; [`Entropy::is_seeded`] lets the gate taint its ledger.
//!
//! * derived from a [`NoiseKey`](crate::NoiseKey) and a context: the same words for the same
//!   context, by intent; see there for why that is safe. No process id is looked at: parent and
//!   child that do the same step say the same.
//!
//! Key, stream state and buffer are overwritten when dropped. What no user-space code can see is a
//! virtual machine that is copied while it runs: such copies share words until the next replacement
//! of the key. Proof note: `proofs/entropy.md`.

use chacha20::ChaCha20Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use zeroize::{Zeroize, Zeroizing};

/// 64-bit words that are made at a time (4 KiB).
const BUFFER: usize = 512;

/// Buffers between two replacements of the key: 2²⁰ blocks of 64 bytes.
const BUFFERS_PER_KEY: u64 = (1 << 20) * 64 / (BUFFER as u64 * 8);

pub(crate) type Key = Zeroizing<[u8; 32]>;

/// Why no random number was given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EntropyError {
    /// The operating system's generator failed.
    #[error(
        "the operating system gave no random bytes ({0}); nothing was released: try again or see getrandom(2)"
    )]
    System(getrandom::Error),
    /// A probability outside \[0, 1\].
    #[error("a sampling rate must be between 0 and 1, got {0}")]
    Rate(f64),
    /// What noise was to follow from has no canonical bytes.
    #[error("what the noise was to follow from cannot be written as bytes; nothing was released")]
    NoBytes,
    /// A uniform integer below zero.
    #[error("cannot choose from an empty range; the bound must be at least 1")]
    EmptyRange,
    /// A subset larger than the set, or a set that 32-bit indices cannot number.
    #[error(
        "cannot choose {size} of {population} records; the size must not exceed the number of records, and that number must be at most 2^32"
    )]
    Subset {
        /// Records that there are.
        population: u64,
        /// Records that were asked for.
        size: u64,
    },
}

/// Where the key came from.
enum Origin {
    /// The operating system, in the process with this id; buffers left before the key is replaced.
    System { process: u32, buffers_left: u64 },
    /// A seed; number of streams forked so far, and the key that makes their keys.
    Seed { forks: u64, fork_key: Key },
    /// A [`NoiseKey`](crate::NoiseKey) from the system and a context; forks as for a seed.
    Derived { forks: u64, fork_key: Key },
}

impl Origin {
    /// Not from a seed after all, but from a key that came from the system.
    fn made_secure(&mut self) {
        if let Origin::Seed { forks, fork_key } = self {
            *self = Origin::Derived { forks: *forks, fork_key: std::mem::take(fork_key) };
        }
    }
}

/// A stream of uniform random words. Not `Clone`: noise that is used twice cancels.
pub struct Entropy {
    stream: ChaCha20Rng,
    origin: Origin,
    buffer: Box<[u64; BUFFER]>,
    next: usize,
}

impl Entropy {
    /// A stream whose key comes from the operating system: the only kind that gives privacy.
    pub fn secure() -> Result<Self, EntropyError> {
        let key = system_key()?;
        let origin = Origin::System { process: std::process::id(), buffers_left: BUFFERS_PER_KEY };
        Ok(Self::new(ChaCha20Rng::from_seed(*key), origin))
    }

    /// A reproducible stream for tests. NOT PRIVATE: whoever knows the seed can subtract the noise.
    pub fn seeded(seed: u64) -> Self {
        let mut root = Zeroizing::new([0; 32]);
        root[..8].copy_from_slice(&seed.to_le_bytes());
        Self::derived(&root, 0)
    }

    /// Whether the stream, or the one it was forked from, was made from a seed.
    pub fn is_seeded(&self) -> bool {
        matches!(self.origin, Origin::Seed { .. })
    }

    /// A new stream, independent of this one and of every other fork; for a seeded stream the n-th
    /// fork depends on the seed and n alone. Fork once per *task*, in the order of the tasks, and
    /// the bits are the same for any number of threads. There is no label to choose, because a
    /// label used twice would be noise used twice.
    pub fn fork(&mut self) -> Result<Self, EntropyError> {
        let seeded = self.is_seeded();
        match &mut self.origin {
            Origin::System { .. } => Self::secure(),
            Origin::Seed { forks, fork_key } | Origin::Derived { forks, fork_key } => {
                let mut child = Self::derived(fork_key, *forks);
                *forks += 1;
                if !seeded {
                    child.origin.made_secure();
                }
                Ok(child)
            }
        }
    }

    /// A stream whose two keys are the halves of `material`, made by a
    /// [`NoiseKey`](crate::NoiseKey).
    pub(crate) fn from_material(material: &Zeroizing<[u8; 64]>, seeded: bool) -> Self {
        let (mut own, mut fork_key) = (Zeroizing::new([0; 32]), Zeroizing::new([0; 32]));
        own.copy_from_slice(&material[..32]);
        fork_key.copy_from_slice(&material[32..]);
        let mut origin = Origin::Seed { forks: 0, fork_key };
        if !seeded {
            origin.made_secure();
        }
        Self::new(ChaCha20Rng::from_seed(*own), origin)
    }

    /// An integer, exactly uniform on 0 … `bound` − 1.
    pub fn below(&mut self, bound: u64) -> Result<u64, EntropyError> {
        if bound == 0 {
            return Err(EntropyError::EmptyRange);
        }
        self.ready()?;
        Ok(self.word_below(bound))
    }

    /// 256 uniform bits that are overwritten when dropped: the key of a party of a cryptographic
    /// protocol.
    pub fn key(&mut self) -> Result<Zeroizing<[u8; 32]>, EntropyError> {
        self.ready()?;
        let mut key = Zeroizing::new([0; 32]);
        for place in key.as_chunks_mut::<8>().0 {
            *place = self.word().to_le_bytes();
        }
        Ok(key)
    }

    /// True with probability exactly `rate`, the binary fraction that the `f64` is.
    pub fn bernoulli(&mut self, rate: f64) -> Result<bool, EntropyError> {
        let coin = Coin::new(rate)?;
        self.ready()?;
        Ok(coin.toss(|| self.word()))
    }

    /// To be called at the start of every public operation: notices a fork, replaces an old key. It
    /// is not called per word because asking for the process id is a system call.
    pub(crate) fn ready(&mut self) -> Result<(), EntropyError> {
        let Origin::System { process, buffers_left } = &mut self.origin else { return Ok(()) };
        let forked = *process != std::process::id();
        if !forked && *buffers_left > 0 {
            return Ok(());
        }
        let mut key = system_key()?;
        if !forked {
            let mut old = Zeroizing::new([0; 32]);
            self.stream.fill_bytes(&mut *old);
            key.iter_mut().zip(old.iter()).for_each(|(new, old)| *new ^= old);
        }
        *process = std::process::id();
        *buffers_left = BUFFERS_PER_KEY;
        self.stream = ChaCha20Rng::from_seed(*key);
        self.buffer.zeroize();
        self.next = BUFFER;
        Ok(())
    }

    /// 64 uniform bits.
    #[inline]
    pub(crate) fn word(&mut self) -> u64 {
        if self.next == BUFFER {
            self.refill();
        }
        let word = self.buffer[self.next];
        self.next += 1;
        word
    }

    /// Uniform on 0 … `bound` − 1 for `bound` ≥ 1. The high half of word × bound is uniform once
    /// the 2⁶⁴ mod bound smallest low halves are refused (Lemire 2019, Lemma 4.1); the refusal
    /// depends on random words alone.
    #[inline]
    pub(crate) fn word_below(&mut self, bound: u64) -> u64 {
        loop {
            let product = u128::from(self.word()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    fn new(stream: ChaCha20Rng, origin: Origin) -> Self {
        Self { stream, origin, buffer: Box::new([0; BUFFER]), next: BUFFER }
    }

    /// Stream number `label` under `key` gives 64 bytes: the key of the child, and the key of the
    /// child's children.
    fn derived(key: &Key, label: u64) -> Self {
        let mut maker = ChaCha20Rng::from_seed(**key);
        maker.set_stream(label);
        let (mut own, mut fork_key) = (Zeroizing::new([0; 32]), Zeroizing::new([0; 32]));
        maker.fill_bytes(&mut *own);
        maker.fill_bytes(&mut *fork_key);
        Self::new(ChaCha20Rng::from_seed(*own), Origin::Seed { forks: 0, fork_key })
    }

    #[inline(never)]
    fn refill(&mut self) {
        for word in self.buffer.iter_mut() {
            *word = self.stream.next_u64();
        }
        self.next = 0;
        if let Origin::System { buffers_left, .. } = &mut self.origin {
            *buffers_left = buffers_left.saturating_sub(1);
        }
    }
}

impl Drop for Entropy {
    fn drop(&mut self) {
        self.buffer.zeroize();
    }
}

/// Says which kind of stream it is and nothing of its state.
impl std::fmt::Debug for Entropy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_seeded() {
            "Entropy(seeded: NOT PRIVATE)"
        } else {
            "Entropy(secure)"
        })
    }
}

pub(crate) fn system_key() -> Result<Key, EntropyError> {
    let mut key = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *key).map_err(EntropyError::System)?;
    Ok(key)
}

/// A checked probability: rate = (head + tail)/2⁶⁴, head an integer and 0 ≤ tail < 1 a binary
/// fraction mantissa · 2^−shift, `None` when zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coin {
    head: u128,
    tail: Option<(u64, u32)>,
}

impl Coin {
    pub(crate) fn new(rate: f64) -> Result<Self, EntropyError> {
        if !(0.0..=1.0).contains(&rate) {
            return Err(EntropyError::Rate(rate));
        }
        // rate = mantissa · 2^−places
        let exponent = (rate.to_bits() >> 52) as u32 & 0x7ff;
        let fraction = rate.to_bits() & ((1 << 52) - 1);
        let (mantissa, places) =
            if exponent == 0 { (fraction, 1074) } else { (fraction | 1 << 52, 1075 - exponent) };
        if places <= 64 {
            return Ok(Self { head: u128::from(mantissa) << (64 - places), tail: None });
        }
        let shift = places - 64;
        if shift >= 64 {
            return Ok(Self { head: 0, tail: (mantissa != 0).then_some((mantissa, shift)) });
        }
        let tail = mantissa & ((1 << shift) - 1);
        Ok(Self { head: u128::from(mantissa >> shift), tail: (tail != 0).then_some((tail, shift)) })
    }

    /// Compares a uniform real, of which 64 bits are drawn at a time, with the rate.
    #[inline]
    pub(crate) fn toss(self, mut word: impl FnMut() -> u64) -> bool {
        let first = u128::from(word());
        if first != self.head {
            first < self.head
        } else {
            self.tail.is_some_and(|tail| later(tail, word))
        }
    }
}

/// The same for the rest mantissa · 2^−shift < 1 of the rate, a word at a time until one differs.
#[cold]
fn later((mantissa, mut shift): (u64, u32), mut word: impl FnMut() -> u64) -> bool {
    loop {
        // Bits of words already compared are above the 64th and fall away.
        let head = (u128::from(mantissa) << 64).checked_shr(shift).unwrap_or(0) as u64;
        let next = word();
        if next != head || shift <= 64 {
            return next < head;
        }
        shift -= 64;
    }
}

#[cfg(test)]
#[path = "entropy_tests.rs"]
mod tests;
