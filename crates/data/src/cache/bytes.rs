//! Bytes that are read from the front. What is not there is `None`: a file may have been changed.

/// The bytes that are left.
#[derive(Debug)]
pub(super) struct Bytes<'a> {
    left: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub(super) fn new(left: &'a [u8]) -> Self {
        Bytes { left }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, left) = self.left.split_at_checked(count)?;
        self.left = left;
        Some(taken)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    pub(super) fn length(&mut self) -> Option<usize> {
        let bytes = self.take(4)?.first_chunk::<4>()?;
        usize::try_from(u32::from_le_bytes(*bytes)).ok()
    }

    pub(super) fn number(&mut self) -> Option<usize> {
        let bytes = self.take(8)?.first_chunk::<8>()?;
        usize::try_from(u64::from_le_bytes(*bytes)).ok()
    }

    /// Whole numbers that [`put_whole`] wrote.
    pub(super) fn whole(&mut self, count: usize, mut each: impl FnMut(u32)) -> Option<()> {
        match self.byte()? {
            1 => self.take(count)?.iter().for_each(|&n| each(n.into())),
            2 => {
                let bytes = self.take(count.checked_mul(2)?)?.as_chunks::<2>().0;
                bytes.iter().for_each(|n| each(u16::from_le_bytes(*n).into()));
            }
            4 => {
                let bytes = self.take(count.checked_mul(4)?)?.as_chunks::<4>().0;
                bytes.iter().for_each(|n| each(u32::from_le_bytes(*n)));
            }
            _ => return None,
        }
        Some(())
    }
}

pub(super) fn put_length(length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&(length as u32).to_le_bytes());
}

pub(super) fn put_number(number: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&(number as u64).to_le_bytes());
}

/// Whole numbers, in as many bytes as the largest needs.
pub(super) fn put_whole(numbers: impl Iterator<Item = u32> + Clone, out: &mut Vec<u8>) {
    match numbers.clone().max().unwrap_or(0) {
        0..=0xff => {
            out.push(1);
            out.extend(numbers.map(|n| n as u8));
        }
        0x100..=0xffff => {
            out.push(2);
            numbers.for_each(|n| out.extend_from_slice(&(n as u16).to_le_bytes()));
        }
        _ => {
            out.push(4);
            numbers.for_each(|n| out.extend_from_slice(&n.to_le_bytes()));
        }
    }
}
