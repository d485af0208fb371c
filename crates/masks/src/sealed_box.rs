//! A box that anybody can close and only its receiver can open, for one who is trusted with what is
//! in it.
//!
//! ```text
//! sender:    e, eB of its own, for this box alone    k = HKDF-SHA256(e·rB, label ‖ eB ‖ rB ‖ context)
//! box:       eB, XChaCha20-Poly1305 under k of the bytes, bound to the context
//! receiver:  the same k from r·eB
//! ```
//!
//! Whoever has the receiver's public key, and other boxes for it, learns nothing of this one: k
//! follows from e·rB, which takes e or r (RFC 7748, section 6.1). That the sender is who the context
//! says is not shown by the box: a channel must see to it.

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::Zeroizing;

use crate::keys::{Key, agree};

/// Who can open boxes: a secret key.
pub struct Receiver {
    secret: StaticSecret,
    public: ReceiverKey,
}

/// By which boxes are closed for a receiver. Public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverKey([u8; 32]);

/// Bytes that only their receiver can read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedBox {
    sender: [u8; 32],
    tag: [u8; 16],
    bytes: Vec<u8>,
}

impl Receiver {
    /// The receiver that has this uniform key.
    pub fn new(key: &[u8; 32]) -> Self {
        let secret = StaticSecret::from(*key);
        let public = ReceiverKey(PublicKey::from(&secret).to_bytes());
        Receiver { secret, public }
    }

    /// What senders need.
    pub fn public(&self) -> ReceiverKey {
        self.public
    }

    /// The bytes that were closed for this receiver in this context; `None` for anything else: one
    /// for another receiver, in another context, or changed on its way.
    pub fn open(&self, context: &[u8], sealed: &SealedBox) -> Option<Zeroizing<Vec<u8>>> {
        let agreed = agree(&self.secret, &sealed.sender)?;
        let mut bytes = Zeroizing::new(sealed.bytes.clone());
        cipher(&agreed, &sealed.sender, &self.public, context)
            .decrypt_inout_detached(
                &XNonce::default(),
                context,
                bytes.as_mut_slice().into(),
                &Tag::from(sealed.tag),
            )
            .ok()?;
        Some(bytes)
    }
}

/// Says nothing of the key.
impl std::fmt::Debug for Receiver {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Receiver")
    }
}

impl ReceiverKey {
    /// Closes bytes for the receiver. `key` is uniform and for these bytes in this context alone:
    /// with it, the box can be opened. `None` if the receiver's key is none (of small order), or
    /// the bytes are too many for the cipher.
    ///
    /// # Examples
    /// ```
    /// use reticent_masks::Receiver;
    /// // In use, both keys are uniform; the first is the receiver's own, the second fresh.
    /// let receiver = Receiver::new(&[1; 32]);
    /// let sealed = receiver.public().seal(&[2; 32], b"round 1, party 7", b"secret").unwrap();
    /// let opened = receiver.open(b"round 1, party 7", &sealed);
    /// assert_eq!(opened.unwrap().as_slice(), b"secret");
    /// assert!(receiver.open(b"round 1, party 8", &sealed).is_none());
    /// assert!(Receiver::new(&[3; 32]).open(b"round 1, party 7", &sealed).is_none());
    /// ```
    pub fn seal(&self, key: &[u8; 32], context: &[u8], bytes: &[u8]) -> Option<SealedBox> {
        let own = StaticSecret::from(*key);
        let sender = PublicKey::from(&own).to_bytes();
        let mut bytes = bytes.to_vec();
        // One key for one box, so the nonce can be constant.
        let tag = cipher(&agree(&own, &self.0)?, &sender, self, context)
            .encrypt_inout_detached(&XNonce::default(), context, bytes.as_mut_slice().into())
            .ok()?
            .into();
        Some(SealedBox { sender, tag, bytes })
    }
}

fn cipher(
    agreed: &Key,
    sender: &[u8; 32],
    receiver: &ReceiverKey,
    context: &[u8],
) -> XChaCha20Poly1305 {
    let mut key = Zeroizing::new([0; 32]);
    // 32 bytes are one block of HKDF-SHA256, which never refuses that.
    let info = [&b"reticent-sealed-box/1 "[..], sender, &receiver.0, context];
    let filled = Hkdf::<Sha256>::new(None, &**agreed).expand_multi_info(&info, &mut *key);
    debug_assert!(filled.is_ok());
    XChaCha20Poly1305::new((&*key).into())
}

#[cfg(test)]
mod unit {
    use super::*;

    const CONTEXT: &[u8] = b"round 3, party 1";

    fn sealed(receiver: &Receiver) -> SealedBox {
        receiver.public().seal(&[2; 32], CONTEXT, b"block").unwrap()
    }

    #[test]
    fn what_travels_opens_for_its_receiver_in_its_context_unchanged() {
        let receiver = Receiver::new(&[1; 32]);
        let sealed = sealed(&receiver);
        assert_eq!(receiver.open(CONTEXT, &sealed).unwrap().as_slice(), b"block");
        assert!(receiver.open(b"round 4, party 1", &sealed).is_none());
        let changed = |change: fn(&mut SealedBox)| {
            let mut other = sealed.clone();
            change(&mut other);
            receiver.open(CONTEXT, &other)
        };
        assert!(changed(|sealed| sealed.sender[5] ^= 1).is_none());
        assert!(changed(|sealed| sealed.tag[5] ^= 1).is_none());
        assert!(changed(|sealed| sealed.bytes[4] ^= 1).is_none());
        assert!(changed(|sealed| _ = sealed.bytes.pop()).is_none());
        assert!(changed(|sealed| sealed.bytes.push(0)).is_none());
        assert!(changed(|sealed| sealed.sender = [0; 32]).is_none(), "of small order");
    }

    /// All keys that somebody else can think of: its own, what is public, and what travels.
    #[test]
    fn nobody_else_opens_it() {
        let receiver = Receiver::new(&[1; 32]);
        let sealed = sealed(&receiver);
        for key in [[0; 32], [3; 32], receiver.public().0, sealed.sender] {
            assert!(Receiver::new(&key).open(CONTEXT, &sealed).is_none());
        }
        assert!(!format!("{receiver:?}").contains(|c: char| c.is_ascii_digit()));
    }

    #[test]
    fn nothing_is_closed_for_a_key_of_small_order() {
        assert!(ReceiverKey([0; 32]).seal(&[2; 32], CONTEXT, b"block").is_none());
    }

    #[test]
    fn equal_bytes_look_different_to_whom_they_are_not_for() {
        let receiver = Receiver::new(&[1; 32]);
        let of = |key: [u8; 32], context: &[u8]| {
            receiver.public().seal(&key, context, b"block").unwrap().bytes
        };
        assert_ne!(of([2; 32], CONTEXT), of([4; 32], CONTEXT));
        assert_ne!(of([2; 32], CONTEXT), of([2; 32], b"round 4, party 1"));
    }
}
