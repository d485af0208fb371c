//! Messages as bytes.
//!
//! ```text
//! "RTCT"  version:u16  kind:u8  0:u8  run:16  round:u32  attempt:u16  from:u32  to:u32  length:u32  payload  check:8
//! ```
//!
//! Little-endian; `check` is the front of the SHA-256 of all before it. It finds what a line or a
//! disk has done to a message, not what an enemy has: whoever needs that puts the bytes through a
//! channel that proves the sender. One message has one form: bytes that decode encode to the same
//! bytes.

use reticent_noise::Hasher;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::message::{Envelope, MessageKind, PartyId, RunId};
use crate::rejected::Rejected;

/// The version of the format.
pub const VERSION: u16 = 1;

/// The longest payload of any algorithm.
pub const LONGEST: usize = 64 << 20;

const MAGIC: [u8; 4] = *b"RTCT";
const HEADER: usize = 42;
const CHECK: usize = 8;

/// The envelope as bytes.
pub fn encode(envelope: &Envelope) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEADER + envelope.payload.len() + CHECK);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([envelope.kind as u8, 0]);
    bytes.extend(envelope.run.0);
    bytes.extend(envelope.round.to_le_bytes());
    bytes.extend(envelope.attempt.to_le_bytes());
    bytes.extend(envelope.from.0.to_le_bytes());
    bytes.extend(envelope.to.0.to_le_bytes());
    bytes.extend((envelope.payload.len() as u32).to_le_bytes());
    bytes.extend(&envelope.payload);
    let check = check(&bytes);
    bytes.extend(check);
    bytes
}

/// The envelope of these bytes, with a payload of at most `limit` bytes. The length is checked
/// first, so that an overlong message costs nothing.
pub fn decode(bytes: &[u8], limit: usize) -> Result<Envelope, Rejected> {
    let limit = limit.min(LONGEST);
    if bytes.len() > HEADER + limit + CHECK {
        return Err(Rejected::Oversized { bytes: bytes.len(), limit });
    }
    let Some(payload_len) = bytes.len().checked_sub(HEADER + CHECK) else {
        return Err(Rejected::Malformed("short"));
    };
    let (body, given) = bytes.split_at(HEADER + payload_len);
    if body[..4] != MAGIC {
        return Err(Rejected::Malformed("not a message"));
    }
    let version = u16::from_le_bytes(fixed(&body[4..6]));
    if version != VERSION {
        return Err(Rejected::Version { given: version });
    }
    if check(body) != given {
        return Err(Rejected::Corrupt);
    }
    let kind = MessageKind::ALL
        .into_iter()
        .find(|&kind| kind as u8 == body[6])
        .ok_or(Rejected::Malformed("kind"))?;
    if body[7] != 0 || u32::from_le_bytes(fixed(&body[38..42])) as usize != payload_len {
        return Err(Rejected::Malformed("length"));
    }
    Ok(Envelope {
        run: RunId(fixed(&body[8..24])),
        round: u32::from_le_bytes(fixed(&body[24..28])),
        attempt: u16::from_le_bytes(fixed(&body[28..30])),
        from: PartyId(u32::from_le_bytes(fixed(&body[30..34]))),
        to: PartyId(u32::from_le_bytes(fixed(&body[34..38]))),
        kind,
        payload: body[HEADER..].to_vec(),
    })
}

/// The kind and the round of a message, from its bytes.
pub(crate) fn kind_and_round(bytes: &[u8]) -> Option<(u8, u32)> {
    Some((*bytes.get(6)?, u32::from_le_bytes(fixed(bytes.get(24..28)?))))
}

/// A payload: any value, in the compact form of postcard.
pub fn pack<T: Serialize>(value: &T) -> Result<Vec<u8>, Rejected> {
    postcard::to_allocvec(value).map_err(|_| Rejected::Malformed("payload"))
}

/// The value of a whole payload.
pub fn unpack<T: DeserializeOwned>(payload: &[u8]) -> Result<T, Rejected> {
    match postcard::take_from_bytes(payload) {
        Ok((value, [])) => Ok(value),
        _ => Err(Rejected::Malformed("payload")),
    }
}

/// Refuses vectors of another length than the parameter's, or with entries that are not finite.
pub fn checked(vector: Vec<f64>, len: usize) -> Result<Vec<f64>, Rejected> {
    if vector.len() == len && vector.iter().all(|v| v.is_finite()) {
        return Ok(vector);
    }
    Err(Rejected::Malformed("vector"))
}

fn check(body: &[u8]) -> [u8; CHECK] {
    fixed(&Hasher::new("reticent message").field(body).finish()[..CHECK])
}

/// The callers give the exact number of bytes.
fn fixed<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(bytes);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn envelope(payload: Vec<u8>) -> Envelope {
        Envelope {
            run: RunId([7; 16]),
            round: 3,
            attempt: 1,
            from: PartyId(5),
            to: crate::SERVER,
            kind: MessageKind::Answer,
            payload,
        }
    }

    #[test]
    fn what_is_wrong_with_a_message_has_a_name() {
        let good = encode(&envelope(vec![1, 2, 3]));
        assert_eq!(decode(&good, 3).unwrap(), envelope(vec![1, 2, 3]));
        assert_eq!(decode(&good, 2).unwrap_err().name(), "oversized");
        assert_eq!(decode(&good[..20], 3).unwrap_err().name(), "malformed");
        assert_eq!(decode(&[], 3).unwrap_err().name(), "malformed");
        let spoil = |at: usize, by: u8| {
            let mut bytes = good.clone();
            bytes[at] ^= by;
            decode(&bytes, 10).unwrap_err().name()
        };
        assert_eq!(spoil(0, 1), "malformed");
        assert_eq!(spoil(4, 8), "other version");
        assert_eq!(spoil(43, 1), "corrupt");
        assert_eq!(spoil(good.len() - 1, 1), "corrupt");
    }

    proptest! {
        /// A change of any one bit of a message is found.
        #[test]
        fn a_changed_bit_is_found(payload in prop::collection::vec(any::<u8>(), 0..200), bit in any::<prop::sample::Index>()) {
            let mut bytes = encode(&envelope(payload));
            let bit = bit.index(8 * bytes.len());
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(decode(&bytes, 1000).is_err());
        }

        #[test]
        fn any_bytes_are_rejected_or_encode_to_themselves(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(envelope) = decode(&bytes, 1000) {
                prop_assert_eq!(encode(&envelope), bytes);
            }
        }

        #[test]
        fn vectors_survive(vector in prop::collection::vec(any::<f64>().prop_filter("finite", |v| v.is_finite()), 0..50)) {
            let back: Vec<f64> = unpack(&pack(&vector).unwrap()).unwrap();
            prop_assert_eq!(&checked(back, vector.len()).unwrap(), &vector);
            prop_assert!(checked(vector.clone(), vector.len() + 1).is_err());
        }
    }
}
