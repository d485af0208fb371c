//! The secrets of a member and what two members agree on, each under a label of its own.
//!
//! Every key is HKDF-SHA256 with the run as salt and an info of label ‖ round ‖ members, so a
//! secret of one round, pair or purpose says nothing about another. All seeds have 256 bits.

use std::sync::Arc;

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Nonce, Tag};
use hkdf::Hkdf;
use sha2::{Digest, Sha256};
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::{Zeroize, Zeroizing};

use crate::channels::Channels;
use crate::wire::{PublicKeys, SealedShares};
use crate::{AggregationTerms, MemberId};

/// 256 secret bits, overwritten when dropped.
pub(crate) type Key = Zeroizing<[u8; 32]>;

/// HKDF-SHA256(salt = run, secret, label ‖ round ‖ members).
fn derive<const N: usize>(
    terms: &AggregationTerms,
    secret: &[u8; 32],
    label: &[u8],
    members: &[MemberId],
) -> Zeroizing<[u8; N]> {
    let mut info = Vec::with_capacity(64);
    info.extend_from_slice(b"reticent-masks/1 ");
    info.extend_from_slice(label);
    info.extend_from_slice(&terms.round().to_le_bytes());
    members.iter().for_each(|member| info.extend_from_slice(&member.to_le_bytes()));
    let mut out = Zeroizing::new([0; N]);
    // HKDF refuses more than 255 blocks; N is at most one block here.
    const { assert!(N <= 32) };
    let filled = Hkdf::<Sha256>::new(Some(terms.run()), secret).expand(&info, &mut *out);
    debug_assert!(filled.is_ok());
    out
}

/// All that a member must keep to itself.
pub(crate) struct Secrets {
    mask: StaticSecret,
    channels: Arc<Channels>,
    public: PublicKeys,
    /// bᵤ, the seed of the self-mask.
    pub(crate) seed: Key,
    /// From which the coefficients of the secret sharing are drawn.
    pub(crate) coefficients: Key,
}

impl Secrets {
    /// Everything from one uniform key.
    pub(crate) fn new(terms: &AggregationTerms, member: MemberId, key: &[u8; 32]) -> Self {
        let part = |label: &[u8]| derive::<32>(terms, key, label, &[member]);
        let mask = StaticSecret::from(*part(b"mask secret"));
        let channels = Arc::new(Channels::new(&part(b"channel secret")));
        let public =
            PublicKeys { mask: PublicKey::from(&mask).to_bytes(), channel: channels.public() };
        let (seed, coefficients) = (part(b"self-mask seed"), part(b"coefficients"));
        Self { mask, channels, public, seed, coefficients }
    }

    /// The same with channels of a whole run.
    pub(crate) fn over(self, channels: Arc<Channels>) -> Self {
        let public = PublicKeys { channel: channels.public(), ..self.public };
        Self { channels, public, ..self }
    }

    pub(crate) fn public(&self) -> PublicKeys {
        self.public
    }

    /// The mask secret key itself: what is shared.
    pub(crate) fn mask_bytes(&self) -> &[u8; 32] {
        self.mask.as_bytes()
    }

    /// What only the two channel keys can know; `None` for a key of small order.
    pub(crate) fn channel_with(&self, other: &[u8; 32]) -> Option<Key> {
        self.channels.with(other)
    }

    /// What only the two mask keys can know; `None` for a key of small order.
    pub(crate) fn mask_with(&self, other: &[u8; 32]) -> Option<Key> {
        agree(&self.mask, other)
    }
}

/// What only the two keys can know; `None` for a key of small order.
pub(crate) fn agree(mine: &StaticSecret, other: &[u8; 32]) -> Option<Key> {
    let shared = mine.diffie_hellman(&PublicKey::from(*other));
    shared.was_contributory().then(|| Zeroizing::new(shared.to_bytes()))
}

/// A mask secret key that was opened because its owner left.
pub(crate) struct OpenedKey(StaticSecret);

impl OpenedKey {
    /// The key, if it belongs to the public key that its owner advertised.
    pub(crate) fn new(secret: &[u8; 32], public: &[u8; 32]) -> Option<Self> {
        let secret = StaticSecret::from(*secret);
        (PublicKey::from(&secret).as_bytes() == public).then_some(Self(secret))
    }

    pub(crate) fn mask_with(&self, other: &[u8; 32]) -> Option<Key> {
        agree(&self.0, other)
    }
}

/// The seed of the mask of a pair, the same from either end.
pub(crate) fn pair_seed(
    terms: &AggregationTerms,
    agreed: &Key,
    one: MemberId,
    other: MemberId,
) -> Key {
    derive(terms, agreed, b"pair mask", &[one.min(other), one.max(other)])
}

/// The seed of a member's own mask.
pub(crate) fn self_seed(terms: &AggregationTerms, seed: &[u8; 32], member: MemberId) -> Key {
    derive(terms, seed, b"self mask", &[member])
}

/// By which the collector notices that it put a seed together wrongly. Under another label than the
/// mask, so it says nothing about it.
pub(crate) fn seed_tag(terms: &AggregationTerms, seed: &[u8; 32], member: MemberId) -> [u8; 16] {
    *derive(terms, seed, b"seed tag", &[member])
}

/// Which of two secrets a share is of.
#[derive(Clone, Copy)]
pub(crate) enum ShareOf {
    Key = 0,
    Seed = 1,
}

/// By which a share is known when it comes back, so that a false one is its holder's fault. A share is
/// 256 uniform bits, of which this says nothing that can be computed.
pub(crate) fn share_mark(
    terms: &AggregationTerms,
    (owner, holder): (MemberId, MemberId),
    of: ShareOf,
    share: &[u8; 32],
) -> [u8; 16] {
    let whole = Sha256::new()
        .chain_update(b"reticent-masks/3 share mark")
        .chain_update(terms.run())
        .chain_update(terms.round().to_le_bytes())
        .chain_update(owner.to_le_bytes())
        .chain_update(holder.to_le_bytes())
        .chain_update([of as u8])
        .chain_update(share)
        .finalize();
    let mut short = [0; 16];
    short.copy_from_slice(&whole[..16]);
    short
}

/// The two shares that one holder keeps of one owner.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Held {
    pub(crate) key: [u8; 32],
    pub(crate) seed: [u8; 32],
}

impl Drop for Held {
    fn drop(&mut self) {
        self.key.zeroize();
        self.seed.zeroize();
    }
}

/// Who closes shares for whom, in which sum.
pub(crate) struct Sealing<'a> {
    pub(crate) terms: &'a AggregationTerms,
    pub(crate) from: MemberId,
    pub(crate) to: MemberId,
    /// The public mask key of who closes them.
    pub(crate) mask: &'a [u8; 32],
}

impl Sealing<'_> {
    /// The cipher under what the two channels agree on. Its key is made for one direction of one pair
    /// in one round, and for one mask key: whoever is a member again has another. So it seals one
    /// message, and the nonce can be constant.
    fn cipher(&self, agreed: &Key) -> ChaCha20Poly1305 {
        let label = [b"channel of a run ".as_slice(), self.mask].concat();
        let key = derive::<32>(self.terms, agreed, &label, &[self.from, self.to]);
        ChaCha20Poly1305::new((&*key).into())
    }

    /// The marks of what is sealed.
    fn marks(&self, held: &Held) -> ([u8; 16], [u8; 16]) {
        let mark = |of, share| share_mark(self.terms, (self.from, self.to), of, share);
        (mark(ShareOf::Key, &held.key), mark(ShareOf::Seed, &held.seed))
    }

    /// Seals shares for one holder.
    pub(crate) fn seal(&self, agreed: &Key, held: &Held) -> Option<SealedShares> {
        let mut both = Zeroizing::new([0; 64]);
        both[..32].copy_from_slice(&held.key);
        both[32..].copy_from_slice(&held.seed);
        let tag = self
            .cipher(agreed)
            .encrypt_inout_detached(&Nonce::default(), &[], (&mut both[..]).into())
            .ok()?;
        let (key_mark, seed_mark) = self.marks(held);
        let tag = tag.into();
        let mut sealed = SealedShares { key: [0; 32], seed: [0; 32], tag, key_mark, seed_mark };
        sealed.key.copy_from_slice(&both[..32]);
        sealed.seed.copy_from_slice(&both[32..]);
        Some(sealed)
    }

    /// Opens what was sealed and marked so; `None` when it is not that.
    pub(crate) fn open(&self, agreed: &Key, sealed: &SealedShares) -> Option<Held> {
        let mut both = Zeroizing::new([0; 64]);
        both[..32].copy_from_slice(&sealed.key);
        both[32..].copy_from_slice(&sealed.seed);
        self.cipher(agreed)
            .decrypt_inout_detached(
                &Nonce::default(),
                &[],
                (&mut both[..]).into(),
                &Tag::from(sealed.tag),
            )
            .ok()?;
        let mut held = Held { key: [0; 32], seed: [0; 32] };
        held.key.copy_from_slice(&both[..32]);
        held.seed.copy_from_slice(&both[32..]);
        // A share that is not the one that was marked would be blamed on who gives it back.
        (self.marks(&held) == (sealed.key_mark, sealed.seed_mark)).then_some(held)
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    fn terms(round: u64) -> AggregationTerms {
        AggregationTerms::complete([1; 32], round, 3, 2, 1).unwrap()
    }

    #[test]
    fn both_ends_agree_and_nothing_else_does() {
        let terms = terms(0);
        let [a, b, c] = [0, 1, 2].map(|id| Secrets::new(&terms, id, &[id as u8; 32]));
        let seed = |mine: &Secrets, theirs: &Secrets, one, other| {
            pair_seed(&terms, &mine.mask_with(&theirs.public().mask).unwrap(), one, other)
        };
        assert_eq!(seed(&a, &b, 0, 1), seed(&b, &a, 1, 0));
        assert_ne!(seed(&a, &b, 0, 1), seed(&a, &c, 0, 2));
        assert_ne!(a.mask_with(&b.public().mask), a.channel_with(&b.public().channel));
    }

    #[test]
    fn one_key_gives_other_secrets_in_every_round_and_place() {
        let public = |round, id| Secrets::new(&terms(round), id, &[9; 32]).public();
        assert_eq!(public(0, 0), public(0, 0));
        assert_ne!(public(0, 0).mask, public(1, 0).mask);
        assert_ne!(public(0, 0).mask, public(0, 1).mask);
        assert_ne!(public(0, 0).mask, public(0, 0).channel);
    }

    #[test]
    fn a_seal_opens_for_its_pair_direction_round_and_mask_key_alone() {
        let (now, next) = (terms(0), terms(1));
        let agreed = Zeroizing::new([5; 32]);
        let held = Held { key: [1; 32], seed: [2; 32] };
        let sealing = |terms, from, to, mask| Sealing { terms, from, to, mask };
        let sealed = sealing(&now, 0, 1, &[7; 32]).seal(&agreed, &held).unwrap();
        assert!(sealing(&now, 0, 1, &[7; 32]).open(&agreed, &sealed) == Some(held));
        assert!(sealing(&now, 1, 0, &[7; 32]).open(&agreed, &sealed).is_none());
        assert!(sealing(&next, 0, 1, &[7; 32]).open(&agreed, &sealed).is_none());
        // A second member in the same round, on the same channel.
        assert!(sealing(&now, 0, 1, &[8; 32]).open(&agreed, &sealed).is_none());
        let other = Zeroizing::new([6; 32]);
        assert!(sealing(&now, 0, 1, &[7; 32]).open(&other, &sealed).is_none());
        let mut damaged = sealed;
        damaged.seed[31] ^= 1;
        assert!(sealing(&now, 0, 1, &[7; 32]).open(&agreed, &damaged).is_none());
        // Other shares than are marked.
        let mut marked = sealed;
        marked.seed_mark[0] ^= 1;
        assert!(sealing(&now, 0, 1, &[7; 32]).open(&agreed, &marked).is_none());
    }

    /// Channels of a run are the same in every round; masks are not.
    #[test]
    fn channels_stay_and_masks_do_not() {
        let channels = Arc::new(Channels::new(&[4; 32]));
        let public =
            |round| Secrets::new(&terms(round), 0, &[9; 32]).over(Arc::clone(&channels)).public();
        assert_eq!(public(0).channel, public(1).channel);
        assert_ne!(public(0).mask, public(1).mask);
    }

    #[test]
    fn keys_of_small_order_are_refused() {
        let secrets = Secrets::new(&terms(0), 0, &[3; 32]);
        assert!(secrets.mask_with(&[0; 32]).is_none());
        assert!(secrets.channel_with(&[0; 32]).is_none());
    }
}
