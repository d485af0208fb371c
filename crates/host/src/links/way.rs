//! The choice of a connection, from the files and flags of a member.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use reticent::Identity;

use super::proxy::HttpProxy;
use super::quic::{QuicDialer, QuicListener};
use super::several::{FallbackDialer, SeveralListeners};
#[cfg(unix)]
use super::socket::{SocketDialer, SocketListener};
use super::tls::{TlsDialer, TlsListener};
use super::{Dial, LinkError, Listen};
use crate::roster::Roster;

reticent_core::words! {
    /// The kind of connection between machines.
    #[derive(Default, Eq)]
    pub enum LinkKind = "link" {
        /// QUIC, or TLS if UDP is blocked.
        #[default]
        Auto = "auto",
        /// QUIC over UDP alone.
        Quic = "quic",
        /// TLS over TCP alone.
        Tls = "tls",
    }
}

/// The connection of a party to the lead.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PartyWay {
    /// The kind of connection.
    pub link: LinkKind,
    /// A proxy for TLS.
    pub proxy: Option<HttpProxy>,
    /// The socket for couriers; if it is given, nothing else is used.
    pub courier: Option<PathBuf>,
}

impl PartyWay {
    /// The dialer of the member with this key.
    ///
    /// # Errors
    /// If there is none.
    pub fn dialer(
        &self,
        identity: &Arc<Identity>,
        roster: &Arc<Roster>,
    ) -> Result<Box<dyn Dial>, LinkError> {
        if let Some(path) = &self.courier {
            return by_courier(identity, roster, path);
        }
        let tls = || TlsDialer::new(identity, roster);
        if let Some(proxy) = &self.proxy {
            return Ok(Box::new(tls()?.through(proxy.clone())));
        }
        let quic = || QuicDialer::new(identity, roster);
        Ok(match self.link {
            LinkKind::Auto => Box::new(FallbackDialer::new(Box::new(quic()?), Box::new(tls()?))),
            LinkKind::Quic => Box::new(quic()?),
            LinkKind::Tls => Box::new(tls()?),
        })
    }
}

#[cfg(unix)]
fn by_courier(
    identity: &Arc<Identity>,
    roster: &Arc<Roster>,
    path: &Path,
) -> Result<Box<dyn Dial>, LinkError> {
    Ok(Box::new(SocketDialer::new(identity, roster, path)?))
}

#[cfg(not(unix))]
fn by_courier(_: &Arc<Identity>, _: &Arc<Roster>, _: &Path) -> Result<Box<dyn Dial>, LinkError> {
    Err(LinkError::Failed("couriers need Unix sockets, which this system does not have".to_owned()))
}

/// The listener of the lead: at an address, by the kind of `place`, and for couriers at the socket.
///
/// # Errors
/// If it cannot listen there.
pub fn listener(
    identity: &Arc<Identity>,
    roster: &Arc<Roster>,
    place: Option<(LinkKind, &str)>,
    courier: Option<&Path>,
) -> Result<Box<dyn Listen>, LinkError> {
    let mut all: Vec<Box<dyn Listen>> = Vec::new();
    if let Some(path) = courier {
        all.push(couriers(identity, roster, path)?);
    }
    if let Some((LinkKind::Auto | LinkKind::Tls, address)) = place {
        all.push(Box::new(TlsListener::new(identity, roster, address)?));
    }
    if let Some((LinkKind::Auto | LinkKind::Quic, address)) = place {
        all.push(Box::new(QuicListener::new(identity, roster, address)?));
    }
    Ok(Box::new(SeveralListeners::new(all)))
}

#[cfg(unix)]
fn couriers(
    identity: &Arc<Identity>,
    roster: &Arc<Roster>,
    path: &Path,
) -> Result<Box<dyn Listen>, LinkError> {
    Ok(Box::new(SocketListener::new(identity, roster, path)?))
}

#[cfg(not(unix))]
fn couriers(_: &Arc<Identity>, _: &Arc<Roster>, _: &Path) -> Result<Box<dyn Listen>, LinkError> {
    Err(LinkError::Failed("couriers need Unix sockets, which this system does not have".to_owned()))
}
