//! How frames travel between a party and the lead. A link has proven whose key is at its other end;
//! everything above it goes by that key. Parties dial, the lead listens.

mod arrival;
#[cfg(unix)]
mod channel;
#[cfg(unix)]
mod courier;
pub mod memory;
#[cfg(unix)]
mod parcel;
mod pinned;
pub mod proxy;
pub mod quic;
mod secure;
pub mod several;
#[cfg(unix)]
pub mod socket;
pub mod tls;
mod way;

pub use arrival::{Arrival, BreakOff};
pub use way::{LinkKind, PartyWay, listener};

use std::fmt::Debug;
use std::io::ErrorKind;
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Instant;

/// One connection, both ends of which have proven their keys.
pub trait Link: Debug + Send {
    /// The key at the other end.
    fn peer(&self) -> [u8; 32];

    /// Sends one frame.
    ///
    /// # Errors
    /// If it is not sent by then.
    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError>;

    /// The next frame, of at most `limit` bytes: a longer one is refused before there is memory for
    /// it. What came of a frame until the time was up is kept for the next call.
    ///
    /// # Errors
    /// If there is none by then.
    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError>;
}

/// How a party gets to the lead.
pub trait Dial: Debug + Send + Sync {
    /// A link to the lead.
    ///
    /// # Errors
    /// If there is none by then, or the other end is not the lead.
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError>;
}

/// Where the lead hears of parties.
pub trait Listen: Debug + Send {
    /// Who comes next; `None` if nobody does by then.
    ///
    /// # Errors
    /// If nobody can come any more.
    fn accept(&self, until: Instant) -> Result<Option<Arrival>, LinkError>;
}

/// Why nothing came, or went.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The time was up.
    #[error("nothing came in time")]
    Timeout,
    /// The other end has gone.
    #[error("the connection was closed")]
    Closed,
    /// A frame that is longer than may be.
    #[error("a frame of {given} bytes is longer than {limit}")]
    TooLong {
        /// What it says of itself.
        given: usize,
        /// What may be.
        limit: usize,
    },
    /// A key that is not the other end's to have.
    #[error("the other end is not trusted: {0}")]
    Untrusted(String),
    /// What the network says.
    #[error("the connection failed: {0}")]
    Failed(String),
}

/// How long there is until then; the error if there is nothing left.
pub(crate) fn left(until: Instant) -> Result<std::time::Duration, LinkError> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(LinkError::Timeout) } else { Ok(left) }
}

/// The addresses of `host:port`.
pub(crate) fn places(address: &str) -> Result<Vec<SocketAddr>, LinkError> {
    let found = address.to_socket_addrs().map_err(|error| match error.kind() {
        ErrorKind::InvalidInput => failed(format!("{address} is no host:port")),
        _ => failed(format!("{address} is not found by its name")),
    })?;
    let all: Vec<SocketAddr> = found.collect();
    if all.is_empty() { Err(failed(format!("{address} has no address"))) } else { Ok(all) }
}

pub(crate) fn failed(error: impl std::fmt::Display) -> LinkError {
    LinkError::Failed(error.to_string())
}

pub(crate) fn of_io(error: &std::io::Error) -> LinkError {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => LinkError::Timeout,
        ErrorKind::UnexpectedEof
        | ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::NotConnected => LinkError::Closed,
        _ => LinkError::Failed(error.kind().to_string()),
    }
}

/// The front of a frame says how long the rest is.
const FRONT: usize = 4;

/// A frame as it is sent.
pub(crate) fn framed(frame: &[u8]) -> Result<Vec<u8>, LinkError> {
    let length = u32::try_from(frame.len()).map_err(|_| failed("a frame is too long"))?;
    Ok([&length.to_le_bytes()[..], frame].concat())
}

/// How long the frame at the front is, once that is known; refuses one that will be too long.
fn frame_length(came: &[u8], limit: usize) -> Result<Option<usize>, LinkError> {
    let Some(front) = came.first_chunk::<FRONT>() else { return Ok(None) };
    match u32::from_le_bytes(*front) as usize {
        given if given > limit => Err(LinkError::TooLong { given, limit }),
        given => Ok(Some(given)),
    }
}

/// Whether the frame at the front has come; if not, there is room for the rest of it and no more.
pub(crate) fn has_frame(came: &mut Vec<u8>, limit: usize) -> Result<bool, LinkError> {
    let Some(length) = frame_length(came, limit)? else { return Ok(false) };
    let missing = (FRONT + length).saturating_sub(came.len());
    came.reserve_exact(missing);
    Ok(missing == 0)
}

/// The frame at the front of what came, if it is there; refuses one that will be too long.
pub(crate) fn first_frame(came: &mut Vec<u8>, limit: usize) -> Result<Option<Vec<u8>>, LinkError> {
    if !has_frame(came, limit)? {
        return Ok(None);
    }
    let given = frame_length(came, limit)?.unwrap_or_default();
    let rest = came.split_off(FRONT + given);
    let mut frame = std::mem::replace(came, rest);
    frame.drain(..FRONT);
    Ok(Some(frame))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_whole_and_refused_by_their_front() {
        let mut came = vec![3, 0, 0, 0, 1, 2];
        assert_eq!(first_frame(&mut came, 3).unwrap(), None);
        came.extend([3, 0, 0, 0, 0, 9]);
        assert_eq!(first_frame(&mut came, 3).unwrap(), Some(vec![1, 2, 3]));
        assert_eq!(first_frame(&mut came, 3).unwrap(), Some(Vec::new()));
        assert_eq!(came, [9]);
        let mut came = vec![4, 0, 0, 0];
        let refused = first_frame(&mut came, 3).unwrap_err();
        assert_eq!(refused, LinkError::TooLong { given: 4, limit: 3 });
    }
}
