//! What closes a word for one peer, from one peer.
//!
//! ```text
//! member:  x, xB for this run alone; xB signed by its key of the roster, with the run and its number
//! pair:    k(a → b) = HKDF-SHA256(salt run, x_a·x_bB, label ‖ a ‖ b ‖ x_aB ‖ x_bB)
//! frame:   a nonce of the operating system, XChaCha20-Poly1305 under k(a → b), bound to run, a, b, number
//! ```
//!
//! Whoever carries a frame cannot read it, change it, or pass it off as another's, of another run, for
//! another receiver or with another number. When the run is over x is forgotten, and with it what was
//! said.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use reticent::{Identity, PublicKey};
use reticent_noise::{Digest, Hasher};
use sha2::Sha256;
use x25519_dalek::{PublicKey as SharedKey, StaticSecret};
use zeroize::Zeroizing;

use super::frame::SignedRelayKey;
use crate::error::HostError;
use crate::party::fresh;
use crate::roster::Roster;

/// The prefix of what is signed: no other signature is one of a relay key.
const PURPOSE: &[u8] = b"reticent relay key signature v1\n";

const LABEL: &[u8] = b"reticent relay seal v1";

/// The sizes of the nonce, and of the tag behind the text.
pub(crate) const NONCE: usize = 24;
pub(crate) const TAG: usize = 16;

/// A member's secret key in a run.
pub struct RelaySecret {
    secret: StaticSecret,
    public: [u8; 32],
}

/// Shows nothing of the key.
impl std::fmt::Debug for RelaySecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RelaySecret(..)")
    }
}

fn statement(run: &Digest, member: u32, key: &[u8; 32]) -> Vec<u8> {
    let mut hasher = Hasher::new("reticent relay key");
    let digest = hasher.field(run).number(u64::from(member)).field(key).finish();
    [PURPOSE, &digest].concat()
}

/// The key of a member in the roster; the lead is behind the parties.
fn key_in(roster: &Roster, member: u32) -> Option<PublicKey> {
    match member == roster.parties() {
        true => PublicKey::from_bytes(&roster.lead_key()),
        false => roster.key(member).and_then(PublicKey::from_bytes),
    }
}

impl RelaySecret {
    /// The secret of a uniform key, which belongs to this member and this run alone.
    pub fn new(key: &[u8; 32]) -> Self {
        let secret = StaticSecret::from(*key);
        let public = SharedKey::from(&secret).to_bytes();
        RelaySecret { secret, public }
    }

    /// Its public key, signed.
    pub fn signed(&self, identity: &Identity, run: &Digest, member: u32) -> SignedRelayKey {
        let signature = identity.sign_message(&statement(run, member, &self.public)).to_vec();
        SignedRelayKey { key: self.public, signature }
    }
}

/// The first member whose key is not signed by its owner for this run; `None` if all are.
pub(crate) fn forged(roster: &Roster, run: &Digest, keys: &[SignedRelayKey]) -> Option<u32> {
    let good = |(member, own): (u32, &SignedRelayKey)| {
        let signature = <[u8; 64]>::try_from(&own.signature[..]).ok();
        let signed = key_in(roster, member).zip(signature).is_some_and(|(key, signature)| {
            key.has_signed(&statement(run, member, &own.key), &signature)
        });
        (!signed).then_some(member)
    };
    (0..).zip(keys).find_map(good)
}

/// The keys of one member with all others in a run.
pub struct RelaySeals {
    run: Digest,
    me: u32,
    /// The keys to and from each member; none with itself.
    pairs: Vec<Option<[XChaCha20Poly1305; 2]>>,
}

/// Shows nothing of the keys.
impl std::fmt::Debug for RelaySeals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RelaySeals").field("me", &self.me).finish_non_exhaustive()
    }
}

impl RelaySeals {
    /// The keys of a member; `None` if a public key is invalid (of small order).
    pub fn new(own: &RelaySecret, run: &Digest, me: u32, keys: &[SignedRelayKey]) -> Option<Self> {
        let pair = |(member, other): (u32, &SignedRelayKey)| {
            if member == me {
                return Some(None);
            }
            let agreed = own.secret.diffie_hellman(&SharedKey::from(other.key));
            let agreed = agreed.was_contributory().then_some(agreed)?;
            let one_way = |(from, from_key): (u32, &[u8; 32]), (to, to_key): (u32, &[u8; 32])| {
                let (from, to) = (from.to_le_bytes(), to.to_le_bytes());
                let info = [LABEL, &from, &to, from_key, to_key];
                let mut key = Zeroizing::new([0; 32]);
                let expanded = Hkdf::<Sha256>::new(Some(run), agreed.as_bytes())
                    .expand_multi_info(&info, &mut *key);
                expanded.ok().map(|()| XChaCha20Poly1305::new((&*key).into()))
            };
            let (mine, theirs) = ((me, &own.public), (member, &other.key));
            Some(Some([one_way(mine, theirs)?, one_way(theirs, mine)?]))
        };
        let pairs = (0..).zip(keys).map(pair).collect::<Option<_>>()?;
        Some(RelaySeals { run: *run, me, pairs })
    }

    fn bound(&self, from: u32, to: u32, number: u64) -> Vec<u8> {
        let (from, to, number) = (from.to_le_bytes(), to.to_le_bytes(), number.to_le_bytes());
        [&self.run[..], &from, &to, &number].concat()
    }

    /// The number of members.
    pub fn members(&self) -> u32 {
        self.pairs.len() as u32
    }

    /// Encrypts a text for a peer.
    ///
    /// # Errors
    /// If the operating system gives no randomness.
    pub fn seal(&self, to: u32, number: u64, words: &[u8]) -> Result<Vec<u8>, HostError> {
        let nobody = || HostError::disagreed("the run", format!("it has no member {to}"));
        let pair = self.pairs.get(to as usize).and_then(Option::as_ref).ok_or_else(nobody)?;
        // Not a counter: a journal that was restored would repeat it.
        let random = fresh()?;
        let (front, _) = random.split_first_chunk::<NONCE>().ok_or_else(nobody)?;
        let mut bytes = words.to_vec();
        let tag = pair[0]
            .encrypt_inout_detached(
                &XNonce::from(*front),
                &self.bound(self.me, to, number),
                bytes.as_mut_slice().into(),
            )
            .map_err(|_| HostError::disagreed("this program", "a word is too long to be sealed"))?;
        Ok([&front[..], &bytes, &tag[..]].concat())
    }

    /// Decrypts a text of a peer for this member; `None` for anything else.
    pub fn open(&self, from: u32, number: u64, sealed: &[u8]) -> Option<Vec<u8>> {
        let pair = self.pairs.get(from as usize)?.as_ref()?;
        let (nonce, rest) = sealed.split_first_chunk::<NONCE>()?;
        let (words, tag) = rest.split_last_chunk::<TAG>()?;
        let mut words = words.to_vec();
        pair[1]
            .decrypt_inout_detached(
                &XNonce::from(*nonce),
                &self.bound(from, self.me, number),
                words.as_mut_slice().into(),
                &Tag::from(*tag),
            )
            .ok()?;
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seals() -> [RelaySeals; 3] {
        let own = [1, 2, 3].map(|byte| RelaySecret::new(&[byte; 32]));
        let keys: Vec<_> = own
            .iter()
            .map(|own| SignedRelayKey { key: own.public, signature: Vec::new() })
            .collect();
        [0, 1, 2].map(|me| RelaySeals::new(&own[me as usize], &[7; 32], me, &keys).unwrap())
    }

    /// The attacks of a relay: another receiver, another sender, another number, another direction,
    /// a changed bit, a part.
    #[test]
    fn a_frame_opens_for_its_receiver_from_its_sender_under_its_number_unchanged() {
        let [a, b, c] = seals();
        let sealed = a.seal(1, 5, b"words").unwrap();
        assert_eq!(b.open(0, 5, &sealed).unwrap(), b"words");
        assert!(b.open(0, 6, &sealed).is_none() && b.open(2, 5, &sealed).is_none());
        assert!(c.open(0, 5, &sealed).is_none() && a.open(1, 5, &sealed).is_none());
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert!(b.open(0, 5, &changed).is_none(), "{at}");
            assert!(b.open(0, 5, &sealed[..at]).is_none(), "{at}");
        }
        // The same text twice has other bytes: the number may be used again after a crash.
        assert_ne!(a.seal(1, 5, b"words").unwrap(), sealed);
        assert!(a.seal(0, 1, b"to itself").is_err() && a.seal(3, 1, b"to nobody").is_err());
    }

    #[test]
    fn a_frame_of_another_run_does_not_open() {
        let own = [1, 2].map(|byte| RelaySecret::new(&[byte; 32]));
        let keys: Vec<_> = own
            .iter()
            .map(|own| SignedRelayKey { key: own.public, signature: Vec::new() })
            .collect();
        let here = |run, me: u32| RelaySeals::new(&own[me as usize], &run, me, &keys).unwrap();
        let sealed = here([1; 32], 0).seal(1, 1, b"words").unwrap();
        assert!(here([1; 32], 1).open(0, 1, &sealed).is_some());
        assert!(here([2; 32], 1).open(0, 1, &sealed).is_none());
        let none = SignedRelayKey { key: [0; 32], signature: Vec::new() };
        let small = [keys[0].clone(), none];
        assert!(RelaySeals::new(&own[0], &[1; 32], 0, &small).is_none(), "of small order");
    }
}
