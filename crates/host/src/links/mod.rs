//! Connections between a party and the lead. A link has proven the key at its other end; everything
//! above it relies on that key. Parties dial, the lead listens.

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

/// A connection, both ends of which have proven their keys.
pub trait Link: Debug + Send {
    /// The key at the other end.
    fn peer(&self) -> [u8; 32];

    /// Sends one frame.
    ///
    /// # Errors
    /// If it is not sent in time.
    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError>;

    /// Receives the next frame, of at most `limit` bytes: a longer one is refused before memory is
    /// allocated for it. A part of a frame that has arrived in time is kept for the next call.
    ///
    /// # Errors
    /// If there is none in time.
    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError>;
}

/// The connection from a party to the lead.
pub trait Dial: Debug + Send + Sync {
    /// Connects to the lead.
    ///
    /// # Errors
    /// If there is no connection in time, or the other end is not the lead.
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError>;
}

/// The entrance of the lead for connections of parties.
pub trait Listen: Debug + Send {
    /// The next connection; `None` if there is none in time.
    ///
    /// # Errors
    /// If nobody can connect any more.
    fn accept(&self, until: Instant) -> Result<Option<Arrival>, LinkError>;
}

/// Why a link has failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The time is over.
    #[error("nothing came in time")]
    Timeout,
    /// The other end has closed the connection.
    #[error("the connection was closed")]
    Closed,
    /// A frame that is too long.
    #[error("a frame of {given} bytes is longer than {limit}")]
    TooLong {
        /// The announced length.
        given: usize,
        /// The largest length.
        limit: usize,
    },
    /// The key at the other end is not one of the roster's.
    #[error("the other end is not trusted: {0}")]
    Untrusted(String),
    /// An error of the network.
    #[error("the connection failed: {0}")]
    Failed(String),
}

/// The time that is left; an error if there is none.
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

/// The number of bytes before a frame that give its length.
const FRONT: usize = 4;

/// A frame with its length before it.
pub(crate) fn framed(frame: &[u8]) -> Result<Vec<u8>, LinkError> {
    let length = u32::try_from(frame.len()).map_err(|_| failed("a frame is too long"))?;
    Ok([&length.to_le_bytes()[..], frame].concat())
}

/// The length of the first frame, once it is known; refuses one that is too long.
fn frame_length(came: &[u8], limit: usize) -> Result<Option<usize>, LinkError> {
    let Some(front) = came.first_chunk::<FRONT>() else { return Ok(None) };
    match u32::from_le_bytes(*front) as usize {
        given if given > limit => Err(LinkError::TooLong { given, limit }),
        given => Ok(Some(given)),
    }
}

/// Whether the first frame has arrived; if not, reserves memory for the rest of it and no more.
pub(crate) fn has_frame(came: &mut Vec<u8>, limit: usize) -> Result<bool, LinkError> {
    let Some(length) = frame_length(came, limit)? else { return Ok(false) };
    let missing = (FRONT + length).saturating_sub(came.len());
    came.reserve_exact(missing);
    Ok(missing == 0)
}

/// Takes the first frame if it has arrived; refuses one that is too long.
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
