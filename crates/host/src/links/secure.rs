//! TLS 1.3 over any bytes that travel both ways: a connection of TCP, one that a proxy has made, or what
//! couriers carry. Whatever carries them, the keys at both ends are proven to each other, and nobody on
//! the way reads or changes a frame.
//!
//! Every wait has an end: reads and writes stop when the time is up, however slowly bytes come.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use rustls::Connection;

use super::pinned::{of_tls, shown};
use super::{Link, LinkError, first_frame, framed, has_frame, left, of_io};

/// How much is read at once.
const CHUNK: usize = 1 << 14;

/// Bytes both ways.
pub(crate) trait ByteStream: Read + Write + Send {
    /// The next read ends by then.
    fn read_by(&mut self, until: Instant) -> Result<(), LinkError>;

    /// The next write ends by then.
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

/// One connection, with the key at its other end proven.
pub(crate) struct SecureLink<S> {
    stream: S,
    tls: Connection,
    /// What came and was not taken.
    came: Vec<u8>,
    peer: [u8; 32],
}

impl<S> std::fmt::Debug for SecureLink<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecureLink").finish_non_exhaustive()
    }
}

impl<S: ByteStream> SecureLink<S> {
    /// Does the handshake.
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
        // The last message of a client, and what is wrong with a key, have yet to be sent.
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

    /// Reads once what there is.
    fn read(&mut self, until: Instant) -> Result<(), LinkError> {
        self.stream.read_by(until)?;
        match self.tls.read_tls(&mut self.stream) {
            Ok(0) => return Err(LinkError::Closed),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(()),
            Err(error) => return Err(of_io(&error)),
        }
        if let Err(error) = self.tls.process_new_packets() {
            // The alert says why; whether it arrives is no matter.
            let _ = self.write_all(until);
            return Err(of_tls(error));
        }
        Ok(())
    }

    /// Waits until the next frame is here, and leaves it there.
    pub fn fill(&mut self, limit: usize, until: Instant) -> Result<(), LinkError> {
        while !has_frame(&mut self.came, limit)? {
            if !self.take()? {
                self.write_all(until)?;
                self.read(until)?;
            }
        }
        Ok(())
    }

    /// Takes what was decrypted; whether there was anything.
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
