//! What two who share a uniform key say to each other, so that nobody else reads or changes it.
//!
//! ```text
//! closed:  n = HKDF-Expand(HMAC-SHA256(k₁, bytes), label ‖ context)     a nonce that follows from all of it
//!          n, XChaCha20-Poly1305 under k₂ and n of the bytes, bound to the context
//! ```
//!
//! Equal bytes in one context look equal, so that what is said again after a crash is the same; of
//! different ones nothing is seen but their lengths, whoever chose them (the nonce is a
//! pseudo-random function of what is closed, as in RFC 5297).

use chacha20poly1305::aead::{AeadInOut, KeyInit};
use chacha20poly1305::{Tag, XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

use crate::keys::Key;

const NONCE: usize = 24;
const TAG: usize = 16;

/// One end of a line; the other has the same key.
pub struct Line {
    nonces: Key,
    cipher: Key,
}

impl Line {
    /// Closed messages are so much longer than what is in them.
    pub const OVERHEAD: usize = NONCE + TAG;

    /// The line of those who have this uniform key.
    pub fn new(key: &[u8; 32]) -> Self {
        let part = |label: &[u8]| {
            let mut own = Zeroizing::new([0; 32]);
            // 32 bytes are one block of HKDF-SHA256, which never refuses that.
            let filled = Hkdf::<Sha256>::new(None, key)
                .expand_multi_info(&[b"reticent-line/1 ", label], &mut *own);
            debug_assert!(filled.is_ok());
            own
        };
        Line { nonces: part(b"nonces"), cipher: part(b"cipher") }
    }

    /// Closes bytes in a context, which says what they are for. `None` if they are too many for the
    /// cipher.
    ///
    /// # Examples
    /// ```
    /// use reticent_masks::Line;
    /// let (one, other) = (Line::new(&[1; 32]), Line::new(&[1; 32]));
    /// let closed = one.close(b"round 1", b"secret").unwrap();
    /// assert_eq!(other.open(b"round 1", &closed).unwrap().as_slice(), b"secret");
    /// assert!(other.open(b"round 2", &closed).is_none());
    /// ```
    pub fn close(&self, context: &[u8], bytes: &[u8]) -> Option<Vec<u8>> {
        let mut nonce = [0; NONCE];
        Hkdf::<Sha256>::new(Some(&*self.nonces), bytes).expand(context, &mut nonce).ok()?;
        let mut closed = Vec::with_capacity(Self::OVERHEAD + bytes.len());
        closed.extend_from_slice(&nonce);
        closed.extend_from_slice(&[0; TAG]);
        closed.extend_from_slice(bytes);
        let (head, body) = closed.split_at_mut(Self::OVERHEAD);
        let tag = XChaCha20Poly1305::new((&*self.cipher).into())
            .encrypt_inout_detached(&XNonce::from(nonce), context, body.into())
            .ok()?;
        head[NONCE..].copy_from_slice(&tag);
        Some(closed)
    }

    /// The bytes that were closed in this context; `None` for anything else.
    pub fn open(&self, context: &[u8], closed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let (nonce, rest) = closed.split_first_chunk::<NONCE>()?;
        let (tag, body) = rest.split_first_chunk::<TAG>()?;
        let mut bytes = Zeroizing::new(body.to_vec());
        XChaCha20Poly1305::new((&*self.cipher).into())
            .decrypt_inout_detached(
                &XNonce::from(*nonce),
                context,
                bytes.as_mut_slice().into(),
                &Tag::from(*tag),
            )
            .ok()?;
        Some(bytes)
    }
}

/// Says nothing of the key.
impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Line")
    }
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn what_was_closed_opens_unchanged_in_its_context_for_who_has_the_key() {
        let line = Line::new(&[1; 32]);
        let closed = line.close(b"a", b"sums").unwrap();
        assert_eq!(closed.len(), Line::OVERHEAD + 4);
        assert_eq!(line.open(b"a", &closed).unwrap().as_slice(), b"sums");
        assert!(line.open(b"b", &closed).is_none() && line.open(b"a", &[]).is_none());
        assert!(Line::new(&[2; 32]).open(b"a", &closed).is_none());
        for at in 0..closed.len() {
            let mut other = closed.clone();
            other[at] ^= 1;
            assert!(line.open(b"a", &other).is_none(), "{at}");
        }
        assert!(!format!("{line:?}").contains(|c: char| c.is_ascii_digit()));
    }

    /// No key stream is used for two messages, so that their difference is not seen.
    #[test]
    fn other_bytes_and_other_contexts_have_other_nonces() {
        let line = Line::new(&[1; 32]);
        let nonce =
            |context: &[u8], bytes: &[u8]| line.close(context, bytes).unwrap()[..NONCE].to_vec();
        assert_eq!(nonce(b"a", b"0000"), nonce(b"a", b"0000"));
        assert_ne!(nonce(b"a", b"0000"), nonce(b"a", b"0001"));
        assert_ne!(nonce(b"a", b"0000"), nonce(b"b", b"0000"));
        let body = |bytes: &[u8]| line.close(b"a", bytes).unwrap()[Line::OVERHEAD..].to_vec();
        let apart: Vec<u8> = body(b"0000").iter().zip(body(b"1111")).map(|(a, b)| a ^ b).collect();
        assert_ne!(apart, [1; 4]);
    }
}
