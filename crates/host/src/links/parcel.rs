//! What a courier carries in one go: bytes of one channel, from where on they are, and how much of the other
//! direction has come. Couriers lose parcels, carry them twice and in another order: a parcel says nothing
//! that could be taken twice, and what has not come is carried again.

use super::LinkError;

/// The front of every parcel: what it is, its channel, from where on, how much came, whether it is the end.
pub(crate) const HEAD: usize = 4 + 16 + 8 + 8 + 1;

/// No parcel has more bytes behind its head: of a longer text the rest follows in the next.
pub(crate) const LONGEST: usize = 1 << 22;

const MARK: &[u8; 4] = b"RTP1";

/// Bytes of a channel, as they are carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parcel {
    /// One connection of a party; drawn by it.
    pub channel: [u8; 16],
    /// How many bytes were before these.
    pub from: u64,
    /// How many bytes have come the other way.
    pub came: u64,
    /// Nothing follows, and nothing is taken any more.
    pub over: bool,
    pub bytes: Vec<u8>,
}

impl Parcel {
    pub fn pack(&self) -> Vec<u8> {
        let mut packed = Vec::with_capacity(HEAD + self.bytes.len());
        packed.extend_from_slice(MARK);
        packed.extend_from_slice(&self.channel);
        packed.extend_from_slice(&self.from.to_le_bytes());
        packed.extend_from_slice(&self.came.to_le_bytes());
        packed.push(u8::from(self.over));
        packed.extend_from_slice(&self.bytes);
        packed
    }

    pub fn unpack(packed: &[u8]) -> Result<Self, LinkError> {
        let wrong = || LinkError::Failed("what the courier brought is no parcel".to_owned());
        let (mark, rest) = packed.split_first_chunk::<4>().ok_or_else(wrong)?;
        let (channel, rest) = rest.split_first_chunk::<16>().ok_or_else(wrong)?;
        let (from, rest) = rest.split_first_chunk::<8>().ok_or_else(wrong)?;
        let (came, rest) = rest.split_first_chunk::<8>().ok_or_else(wrong)?;
        let (&over, bytes) = rest.split_first().ok_or_else(wrong)?;
        if mark != MARK || over > 1 || bytes.len() > LONGEST {
            return Err(wrong());
        }
        let (from, came) = (u64::from_le_bytes(*from), u64::from_le_bytes(*came));
        Ok(Parcel { channel: *channel, from, came, over: over == 1, bytes: bytes.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parcel_is_read_as_it_was_packed_and_nothing_else_is_one() {
        let parcel =
            Parcel { channel: [7; 16], from: 1 << 40, came: 9, over: true, bytes: vec![1, 2, 3] };
        let packed = parcel.pack();
        assert_eq!(packed.len(), HEAD + 3);
        assert_eq!(Parcel::unpack(&packed).unwrap(), parcel);
        for cut in 0..HEAD {
            assert!(Parcel::unpack(&packed[..cut]).is_err(), "{cut}");
        }
        for (place, byte) in [(0, b'X'), (HEAD - 1, 2)] {
            let mut other = packed.clone();
            other[place] = byte;
            assert!(Parcel::unpack(&other).is_err(), "{place}");
        }
        let long = Parcel { bytes: vec![0; LONGEST + 1], ..parcel };
        assert!(Parcel::unpack(&long.pack()).is_err());
    }
}
