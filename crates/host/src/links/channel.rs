//! A byte stream in both directions that couriers carry in parcels. Each side keeps its bytes until
//! the other has confirmed them, and takes the other's bytes in order, once.

use std::io::{ErrorKind, Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::parcel::{LONGEST, Parcel};
use super::secure::ByteStream;
use super::{LinkError, left};

/// The largest number of bytes that wait on a channel with a proven key, and on one without.
const MOST: usize = LONGEST;
const MOST_UNPROVEN: usize = 1 << 16;

/// The time in which further writes join the same parcel: a writer has seldom finished after its
/// first write.
const SETTLE: Duration = Duration::from_millis(20);

#[derive(Debug, Default)]
struct Ways {
    /// Bytes that have arrived and are unread, and the total that has arrived.
    into: Vec<u8>,
    came: u64,
    /// Bytes that are not confirmed yet, and the total that is confirmed.
    out: Vec<u8>,
    gone: u64,
    /// The number of bytes that were handed to a courier at least once.
    handed: u64,
    /// The time of the last write.
    written: Option<Instant>,
    proven: bool,
    /// Whether this side has ended the channel, and whether the other has.
    over_here: bool,
    over_there: bool,
    /// The time of the last parcel from the other side.
    visited: Option<Instant>,
}

/// One connection, from the side of its couriers.
#[derive(Debug)]
pub(crate) struct Channel {
    pub id: [u8; 16],
    ways: Mutex<Ways>,
    moved: Condvar,
}

impl Channel {
    pub fn new(id: [u8; 16]) -> Arc<Self> {
        Arc::new(Channel { id, ways: Mutex::default(), moved: Condvar::new() })
    }

    fn ways(&self) -> MutexGuard<'_, Ways> {
        self.ways.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the new bytes of a parcel, in order.
    pub fn take(&self, parcel: &Parcel) {
        let mut ways = self.ways();
        ways.visited = Some(Instant::now());
        if let Some(known) = parcel.came.checked_sub(ways.gone) {
            // More bytes than were written cannot be confirmed.
            if let Ok(known) = usize::try_from(known)
                && known <= ways.out.len()
            {
                ways.out.drain(..known);
                ways.gone += known as u64;
            }
        }
        if let Some(skip) = ways.came.checked_sub(parcel.from) {
            let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(parcel.bytes.len());
            let most = if ways.proven { MOST } else { MOST_UNPROVEN };
            let fits = most.saturating_sub(ways.into.len()).min(parcel.bytes.len() - skip);
            ways.into.extend_from_slice(&parcel.bytes[skip..skip + fits]);
            ways.came += fits as u64;
            // The end counts when its last byte has arrived.
            ways.over_there |= parcel.over && skip + fits == parcel.bytes.len();
        }
        drop(ways);
        self.moved.notify_all();
    }

    /// The next parcel: returns when there are unconfirmed bytes, or the time is over.
    pub fn parcel(&self, until: Instant) -> Parcel {
        let mut ways = self.ways();
        loop {
            let now = Instant::now();
            let ready = match ways.written {
                Some(when) if !ways.out.is_empty() => when + SETTLE,
                _ if ways.over_here => now,
                _ => until,
            };
            let ready = ready.min(until.max(now));
            if ready <= now {
                break;
            }
            let woken = self.moved.wait_timeout(ways, ready - now);
            ways = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        let bytes = ways.out[..ways.out.len().min(LONGEST)].to_vec();
        ways.handed = ways.handed.max(ways.gone + bytes.len() as u64);
        let over = ways.over_here && bytes.len() == ways.out.len();
        let parcel = Parcel { channel: self.id, from: ways.gone, came: ways.came, over, bytes };
        drop(ways);
        self.moved.notify_all();
        parcel
    }

    /// Marks the key of the channel as proven.
    pub fn prove(&self) {
        self.ways().proven = true;
    }

    pub fn is_proven(&self) -> bool {
        self.ways().proven
    }

    /// Ends the channel on this side.
    pub fn end(&self) {
        self.ways().over_here = true;
        self.moved.notify_all();
    }

    /// Whether there is nothing left to carry or to read.
    pub fn is_done(&self) -> bool {
        let ways = self.ways();
        ways.over_there || (ways.over_here && ways.out.is_empty())
    }

    /// Waits until a courier has taken everything, or the time is over. If no courier has ever
    /// come, it does not wait.
    pub fn linger(&self, until: Instant) {
        let mut ways = self.ways();
        let waits = |ways: &Ways| ways.handed < ways.gone + ways.out.len() as u64;
        while ways.visited.is_some() && waits(&ways) && !ways.over_there {
            let Ok(left) = left(until) else { return };
            let woken = self.moved.wait_timeout(ways, left);
            ways = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// An end of a channel, as a stream of bytes.
#[derive(Debug)]
pub(crate) struct ChannelEnd {
    channel: Arc<Channel>,
    /// The time that couriers are given: while they come, no wait ends earlier than this after the
    /// last visit. Zero if the caller retries by itself.
    courtesy: Duration,
    until: Instant,
}

impl ChannelEnd {
    pub fn new(channel: &Arc<Channel>, courtesy: Duration) -> Self {
        ChannelEnd { channel: Arc::clone(channel), courtesy, until: Instant::now() }
    }

    fn wait<'a>(&self, ways: MutexGuard<'a, Ways>) -> std::io::Result<MutexGuard<'a, Ways>> {
        let visited = ways.visited.map(|when| when + self.courtesy);
        let until = visited.map_or(self.until, |visited| visited.max(self.until));
        let Ok(left) = left(until) else { return Err(ErrorKind::TimedOut.into()) };
        let woken = self.channel.moved.wait_timeout(ways, left);
        Ok(woken.unwrap_or_else(PoisonError::into_inner).0)
    }
}

impl ByteStream for ChannelEnd {
    fn read_by(&mut self, until: Instant) -> Result<(), LinkError> {
        self.until = until;
        Ok(())
    }

    fn write_by(&mut self, until: Instant) -> Result<(), LinkError> {
        self.read_by(until)
    }
}

impl Read for ChannelEnd {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut ways = self.channel.ways();
        loop {
            let read = ways.into.len().min(buffer.len());
            if read > 0 {
                buffer[..read].copy_from_slice(&ways.into[..read]);
                ways.into.drain(..read);
                return Ok(read);
            }
            if ways.over_there {
                return Ok(0);
            }
            ways = self.wait(ways)?;
        }
    }
}

impl Write for ChannelEnd {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut ways = self.channel.ways();
        loop {
            if ways.over_there {
                return Err(ErrorKind::BrokenPipe.into());
            }
            let taken = MOST.saturating_sub(ways.out.len()).min(bytes.len());
            if taken > 0 {
                ways.out.extend_from_slice(&bytes[..taken]);
                ways.written = Some(Instant::now());
                drop(ways);
                self.channel.moved.notify_all();
                return Ok(taken);
            }
            ways = self.wait(ways)?;
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Drop for ChannelEnd {
    fn drop(&mut self) {
        self.channel.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(60)
    }

    /// Parcels may be lost, repeated or late; what is read is what was written.
    #[test]
    fn what_is_read_is_what_was_written_whatever_couriers_do() {
        let (here, there) = (Channel::new([1; 16]), Channel::new([1; 16]));
        let text: Vec<u8> = (0..100_000_u32).map(|i| (i % 251) as u8).collect();
        let mut end = ChannelEnd::new(&here, Duration::ZERO);
        end.write_by(soon()).unwrap();
        assert_eq!(end.write(&text).unwrap(), text.len());
        let mut other = ChannelEnd::new(&there, Duration::ZERO);
        let (mut read, mut old) = (Vec::new(), None);
        for step in 0_u32.. {
            let parcel = here.parcel(soon());
            match step % 4 {
                0 => {}
                1 => there.take(&parcel),
                2 => [&parcel, &parcel].into_iter().for_each(|parcel| there.take(parcel)),
                _ => old.iter().for_each(|parcel| there.take(parcel)),
            }
            old = Some(parcel);
            let mut chunk = [0; 3_000];
            other.read_by(Instant::now()).unwrap();
            while let Ok(got @ 1..) = other.read(&mut chunk) {
                read.extend_from_slice(&chunk[..got]);
            }
            if read.len() >= text.len() {
                break;
            }
            let back = there.parcel(Instant::now());
            if !step.is_multiple_of(3) {
                here.take(&back);
            }
        }
        assert_eq!(read, text);
    }

    /// Before its key is proven, a channel takes only the memory of a handshake.
    #[test]
    fn a_stranger_takes_little_memory_and_an_ack_of_more_than_was_said_is_ignored() {
        let channel = Channel::new([2; 16]);
        let parcel =
            Parcel { channel: [2; 16], from: 0, came: 99, over: false, bytes: vec![0; LONGEST] };
        channel.take(&parcel);
        channel.take(&Parcel { from: u64::MAX, came: u64::MAX, ..parcel.clone() });
        let back = channel.parcel(Instant::now());
        assert_eq!((back.from, back.came), (0, MOST_UNPROVEN as u64));
        channel.prove();
        channel.take(&parcel);
        assert_eq!(channel.parcel(Instant::now()).came, MOST as u64);
    }

    #[test]
    fn the_end_comes_after_the_last_byte() {
        let (here, there) = (Channel::new([3; 16]), Channel::new([3; 16]));
        let mut end = ChannelEnd::new(&here, Duration::ZERO);
        end.write_by(soon()).unwrap();
        assert_eq!(end.write(b"last").unwrap(), 4);
        drop(end);
        let parcel = here.parcel(soon());
        assert!(parcel.over && !here.is_done());
        there.take(&parcel);
        let mut other = ChannelEnd::new(&there, Duration::ZERO);
        let mut chunk = [0; 9];
        other.read_by(soon()).unwrap();
        assert_eq!((other.read(&mut chunk).unwrap(), other.read(&mut chunk).unwrap()), (4, 0));
        assert!(other.write(b"x").is_err());
    }
}
