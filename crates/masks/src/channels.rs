//! What a member closes the shares by that it sends to its neighbours: one key pair for all sums of a
//! run, and what was agreed on with each neighbour, which is worked out once.
//!
//! A channel key is never opened, whoever leaves, so it may serve every round; a mask key is opened
//! where its owner leaves, and so is made for one sum. The key of a seal follows from the channel, the
//! round, the direction and the sender's mask key of the sum, so that no two seals have one key.
//! Proof: proofs/secure-aggregation.md.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use x25519_dalek::{PublicKey, StaticSecret};

use crate::keys::{Key, agree};

/// Neighbours whose keys are remembered: more than any sum has.
const REMEMBERED: usize = 1024;

/// A member's channels for the sums of a run. `key` must be uniform, of this member and run alone,
/// and used for nothing else.
pub struct Channels {
    secret: StaticSecret,
    public: [u8; 32],
    /// What was agreed on, by the other's public key.
    agreed: Mutex<BTreeMap<[u8; 32], Key>>,
}

impl Channels {
    /// The channels that follow from a key.
    #[must_use]
    pub fn new(key: &[u8; 32]) -> Self {
        let secret = StaticSecret::from(*key);
        let public = PublicKey::from(&secret).to_bytes();
        Self { secret, public, agreed: Mutex::default() }
    }

    pub(crate) fn public(&self) -> [u8; 32] {
        self.public
    }

    /// What only the two channel keys can know; `None` for a key of small order.
    pub(crate) fn with(&self, other: &[u8; 32]) -> Option<Key> {
        let mut agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = agreed.get(other) {
            return Some(known.clone());
        }
        let found = agree(&self.secret, other)?;
        // Who is told other keys in every round must not remember them all.
        if agreed.len() >= REMEMBERED {
            agreed.clear();
        }
        agreed.insert(*other, found.clone());
        Some(found)
    }
}

/// Not derived: it would show what was agreed on.
impl std::fmt::Debug for Channels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Channels(..)")
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn what_is_remembered_is_what_would_be_worked_out() {
        let [a, b] = [1, 2].map(|byte| Channels::new(&[byte; 32]));
        let first = a.with(&b.public()).unwrap();
        assert_eq!(
            (first.clone(), first),
            (a.with(&b.public()).unwrap(), b.with(&a.public()).unwrap())
        );
        assert!(a.with(&[0; 32]).is_none(), "a key of small order");
    }

    #[test]
    fn strangers_do_not_fill_the_memory() {
        let own = Channels::new(&[1; 32]);
        for stranger in 0..=REMEMBERED as u32 {
            let mut key = [9; 32];
            key[..4].copy_from_slice(&stranger.to_le_bytes());
            // Points of the curve or of its twist: all are agreed with.
            own.with(&key);
        }
        assert!(own.agreed.lock().unwrap().len() <= REMEMBERED);
    }
}
