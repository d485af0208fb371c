//! TLS 1.3 over TCP, through an HTTP proxy too.

use std::io::ErrorKind;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use reticent::Identity;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection};

use super::pinned::{NAME, lead_config, of_tls, party_config};
use super::proxy::HttpProxy;
use super::secure::SecureLink;
use super::{Arrival, Dial, Link, LinkError, Listen, failed, left, of_io, places};
use crate::roster::Roster;

/// The interval at which a listener checks whether it should stop.
const SLICE: Duration = Duration::from_millis(10);

/// The connection of a party to the lead of a roster.
#[derive(Debug)]
pub struct TlsDialer {
    config: Arc<ClientConfig>,
    address: String,
    proxy: Option<HttpProxy>,
}

impl TlsDialer {
    /// For the member with this key.
    ///
    /// # Errors
    /// If TLS 1.3 is not available.
    pub fn new(identity: &Arc<Identity>, roster: &Arc<Roster>) -> Result<Self, LinkError> {
        let config = Arc::new(party_config(identity, roster)?);
        Ok(TlsDialer { config, address: roster.lead_address().to_owned(), proxy: None })
    }

    /// Connects through a proxy, which sees encrypted bytes alone.
    pub fn through(self, proxy: HttpProxy) -> Self {
        TlsDialer { proxy: Some(proxy), ..self }
    }
}

/// A TCP connection.
pub(crate) fn connected(address: &str, until: Instant) -> Result<TcpStream, LinkError> {
    let mut last = LinkError::Closed;
    for place in places(address)? {
        match TcpStream::connect_timeout(&place, left(until)?) {
            Ok(socket) => return socket.set_nodelay(true).map(|()| socket).map_err(failed),
            Err(error) => last = failed(error.kind()),
        }
    }
    Err(last)
}

impl Dial for TlsDialer {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        let socket = match &self.proxy {
            Some(proxy) => proxy.connect(&self.address, until)?,
            None => connected(&self.address, until)?,
        };
        let name = ServerName::try_from(NAME).map_err(failed)?;
        let tls = ClientConnection::new(Arc::clone(&self.config), name).map_err(of_tls)?;
        Ok(Box::new(SecureLink::shaken(socket, tls, until)?))
    }
}

/// The listener of the lead.
#[derive(Debug)]
pub struct TlsListener {
    config: Arc<ServerConfig>,
    listener: TcpListener,
}

impl TlsListener {
    /// For the lead with this key, at `address`.
    ///
    /// # Errors
    /// If it cannot listen there.
    pub fn new(
        identity: &Arc<Identity>,
        roster: &Arc<Roster>,
        address: &str,
    ) -> Result<Self, LinkError> {
        let config = Arc::new(lead_config(identity, roster)?);
        let listener = TcpListener::bind(address)
            .map_err(|error| failed(format!("nobody can listen at {address}: {}", error.kind())))?;
        listener.set_nonblocking(true).map_err(|error| of_io(&error))?;
        Ok(TlsListener { config, listener })
    }

    /// The address.
    ///
    /// # Errors
    /// If the system does not tell it.
    pub fn address(&self) -> Result<String, LinkError> {
        self.listener.local_addr().map(|place| place.to_string()).map_err(|error| of_io(&error))
    }
}

impl Listen for TlsListener {
    fn accept(&self, until: Instant) -> Result<Option<Arrival>, LinkError> {
        loop {
            match self.listener.accept() {
                Ok((socket, from)) => {
                    let (config, same) = (Arc::clone(&self.config), socket.try_clone());
                    let arrival = Arrival::new(move |until| {
                        socket.set_nonblocking(false).map_err(|error| of_io(&error))?;
                        socket.set_nodelay(true).map_err(|error| of_io(&error))?;
                        let tls = ServerConnection::new(config).map_err(of_tls)?;
                        Ok(Box::new(SecureLink::shaken(socket, tls, until)?))
                    });
                    let end = move || _ = same.map(|socket| socket.shutdown(Shutdown::Both));
                    return Ok(Some(arrival.at(from.ip(), end)));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => match left(until) {
                    Ok(left) => std::thread::sleep(left.min(SLICE)),
                    Err(_) => return Ok(None),
                },
                // The connection was closed early, or too many files are open for a moment.
                Err(_) => match left(until) {
                    Ok(left) => std::thread::sleep(left.min(10 * SLICE)),
                    Err(_) => return Ok(None),
                },
            }
        }
    }
}
