//! Parcels of couriers: bytes of one channel, their position, and how many bytes of the other
//! direction have arrived. Couriers may lose, repeat and reorder parcels: a parcel can be taken
//! twice without harm, and unconfirmed bytes are sent again.

use super::LinkError;

/// The header of a parcel: its kind, its channel, its position, the confirmed bytes, and whether it
/// ends the channel.
pub(crate) const HEAD: usize = 4 + 16 + 8 + 8 + 1;

/// The largest number of bytes behind the header; the rest follows in the next parcel.
pub(crate) const LONGEST: usize = 1 << 22;

const MARK: &[u8; 4] = b"RTP1";

/// Bytes of a channel on their way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parcel {
    /// One connection of a party, which draws the number.
    pub channel: [u8; 16],
    /// The position of the first byte.
    pub from: u64,
    /// The number of bytes that have arrived in the other direction.
    pub came: u64,
    /// Whether the channel ends here: nothing follows, and nothing more is read.
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
