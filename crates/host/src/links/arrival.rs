//! Connections that have proven no key yet.

use std::net::IpAddr;
use std::time::Instant;

use super::{Link, LinkError};

type Handshake = Box<dyn FnOnce(Instant) -> Result<Box<dyn Link>, LinkError> + Send>;

/// Breaks a handshake off, from any thread.
pub type BreakOff = Box<dyn FnOnce() + Send>;

/// A connection that has proven no key yet.
pub struct Arrival {
    origin: Option<IpAddr>,
    handshake: Handshake,
    end: BreakOff,
}

impl std::fmt::Debug for Arrival {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Arrival").field("origin", &self.origin).finish_non_exhaustive()
    }
}

impl Arrival {
    /// A connection whose key `handshake` proves, within the given time.
    pub fn new(
        handshake: impl FnOnce(Instant) -> Result<Box<dyn Link>, LinkError> + Send + 'static,
    ) -> Self {
        Arrival { origin: None, handshake: Box::new(handshake), end: Box::new(|| ()) }
    }

    /// Sets the address of the other end; `end` breaks the handshake off.
    #[must_use]
    pub fn at(self, address: IpAddr, end: impl FnOnce() + Send + 'static) -> Self {
        Arrival { origin: Some(network_of(address)), end: Box::new(end), ..self }
    }

    /// The origin of the connection: an address of IPv4, or the first half of one of IPv6, which
    /// one machine may have for itself; `None` if it is unknown.
    pub fn origin(&self) -> Option<IpAddr> {
        self.origin
    }

    /// The function that breaks the handshake off.
    pub fn end(&mut self) -> BreakOff {
        std::mem::replace(&mut self.end, Box::new(|| ()))
    }

    /// The link, once it has shown its key.
    ///
    /// # Errors
    /// If it has not done so in time.
    pub fn link(self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        (self.handshake)(until)
    }
}

fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6((address.to_bits() >> 64 << 64).into()),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_machine_has_one_origin() {
        let origin = |text: &str| network_of(text.parse().unwrap());
        assert_eq!(origin("::ffff:10.0.0.1"), origin("10.0.0.1"));
        assert_ne!(origin("10.0.0.1"), origin("10.0.0.2"));
        assert_eq!(origin("2001:db8::1"), origin("2001:db8::ffff:0:0:2"));
        assert_ne!(origin("2001:db8::1"), origin("2001:db8:0:1::1"));
    }
}
