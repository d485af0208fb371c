//! TLS 1.3 over any stream of bytes: a connection of TCP, one through a proxy, or one that couriers
//! carry. Both ends prove their keys to each other, and nobody between them reads or changes a
//! frame.
//!
//! Each wait has a time limit, however slowly bytes arrive.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use rustls::Connection;

use super::pinned::{of_tls, shown};
use super::{Link, LinkError, first_frame, framed, has_frame, left, of_io};

/// The number of bytes that are read at once.
const CHUNK: usize = 1 << 14;

/// A stream of bytes in both directions.
pub(crate) trait ByteStream: Read + Write + Send {
    /// Sets the time limit of the next read.
    fn read_by(&mut self, until: Instant) -> Result<(), LinkError>;

    /// Sets the time limit of the next write.
    fn write_by(&mut self, until: Instant) -> Result<(), LinkError>;
}

impl ByteStream for TcpStream {
    fn read_by(&mut self, until: Instant) -> Result<(), LinkError> {
        self.set_read_timeout(Some(left(until)?)).map_err(|error| of_io(&error))
    }

    fn write_by(&mut self, until: Instant) -> Result<(), LinkError> {
        self.set_write_timeout(Some(left(until)?)).map_err(|error| of_io(&error))
    }
}

/// A connection whose other end has proven its key.
pub(crate) struct SecureLink<S> {
    stream: S,
    tls: Connection,
    /// Bytes that have arrived and are unread.
    came: Vec<u8>,
    peer: [u8; 32],
}

impl<S> std::fmt::Debug for SecureLink<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecureLink").finish_non_exhaustive()
    }
}

impl<S: ByteStream> SecureLink<S> {
    /// Performs the handshake.
    pub fn shaken(
        stream: S,
        tls: impl Into<Connection>,
        until: Instant,
    ) -> Result<Self, LinkError> {
        let mut link = SecureLink { stream, tls: tls.into(), came: Vec::new(), peer: [0; 32] };
        while link.tls.is_handshaking() {
            match link.tls.wants_write() {
                true => link.write(until)?,
                false => link.read(until)?,
            }
        }
        // The last message of a client, or the error about a key, has yet to be sent.
        link.write_all(until)?;
        link.peer = shown(link.tls.peer_certificates().unwrap_or_default())?;
        Ok(link)
    }

    fn write(&mut self, until: Instant) -> Result<(), LinkError> {
        self.stream.write_by(until)?;
        match self.tls.write_tls(&mut self.stream) {
            Ok(0) => Err(LinkError::Closed),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(of_io(&error)),
        }
    }

    fn write_all(&mut self, until: Instant) -> Result<(), LinkError> {
        while self.tls.wants_write() {
            self.write(until)?;
        }
        Ok(())
    }

    /// Reads the available bytes once.
    fn read(&mut self, until: Instant) -> Result<(), LinkError> {
        self.stream.read_by(until)?;
        match self.tls.read_tls(&mut self.stream) {
            Ok(0) => return Err(LinkError::Closed),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(of_io(&error)),
        }
        if let Err(error) = self.tls.process_new_packets() {
            // The alert gives the reason; it need not arrive.
            let _ = self.write_all(until);
            return Err(of_tls(error));
        }
        Ok(())
    }

    /// Waits until the next frame has arrived, and leaves it there.
    pub fn fill(&mut self, limit: usize, until: Instant) -> Result<(), LinkError> {
        while !has_frame(&mut self.came, limit)? {
            if !self.take()? {
                self.write_all(until)?;
                self.read(until)?;
            }
        }
        Ok(())
    }

    /// Takes the decrypted bytes; returns whether there were any.
    fn take(&mut self) -> Result<bool, LinkError> {
        let before = self.came.len();
        let mut chunk = [0; CHUNK];
        match self.tls.reader().read(&mut chunk) {
            Ok(0) => return Err(LinkError::Closed),
            Ok(read) => self.came.extend_from_slice(&chunk[..read]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(of_io(&error)),
        }
        Ok(self.came.len() > before)
    }
}

impl<S: ByteStream> Link for SecureLink<S> {
    fn peer(&self) -> [u8; 32] {
        self.peer
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        let framed = framed(frame)?;
        let mut rest = &framed[..];
        while !rest.is_empty() {
            let taken = self.tls.writer().write(rest).map_err(|error| of_io(&error))?;
            rest = &rest[taken..];
            self.write_all(until)?;
        }
        Ok(())
    }

    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        loop {
            if let Some(frame) = first_frame(&mut self.came, limit)? {
                return Ok(frame);
            }
            self.fill(limit, until)?;
        }
    }
}
