//! Links that couriers carry, such as the two programs of `reticent_flower`: each member has a Unix
//! socket; a courier visits it, hands in messages of the other side and takes messages along. TLS
//! runs end to end: a courier has no key, reads nothing, and can change nothing unnoticed.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use reticent::Identity;
use rustls::crypto::ring;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection};

use super::channel::{Channel, ChannelEnd};
use super::courier::CourierSocket;
use super::parcel::Parcel;
use super::pinned::{NAME, lead_config, of_tls, party_config};
use super::secure::SecureLink;
use super::{Arrival, Dial, Link, LinkError, Listen, failed, left};
use crate::message::LONGEST_HELLO;
use crate::roster::{MOST_PARTIES, Roster};

/// The time until the next visit that a party allows its couriers, once they have brought bytes of
/// the lead.
const COURTESY: Duration = Duration::from_secs(180);

/// The time for a handshake and a hello through couriers.
const HANDSHAKE_TIME: Duration = Duration::from_secs(180);

/// The time that the last bytes wait for a courier.
const LINGER: Duration = Duration::from_secs(60);

/// The largest number of channels of a lead: two for each party, because one may have gone
/// unnoticed.
const MOST_CHANNELS: usize = 2 * MOST_PARTIES;

/// The largest number of channels without a proven key.
const MOST_ARRIVING: usize = 64;

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The channel of a party: one at a time.
#[derive(Debug, Default)]
struct Current {
    channel: Mutex<Option<Arc<Channel>>>,
    changed: Condvar,
}

impl Current {
    /// One visit of a courier.
    fn exchange(&self, brought: Option<&Parcel>, until: Instant) -> Option<Parcel> {
        let mut current = locked(&self.channel);
        let channel = loop {
            if let Some(channel) = &*current {
                break Arc::clone(channel);
            }
            let left = left(until).ok()?;
            let woken = self.changed.wait_timeout(current, left);
            current = woken.unwrap_or_else(PoisonError::into_inner).0;
        };
        drop(current);
        if let Some(parcel) = brought.filter(|parcel| parcel.channel == channel.id) {
            channel.take(parcel);
        }
        Some(channel.parcel(until))
    }
}

/// The connection of a party to the lead of a roster through couriers.
#[derive(Debug)]
pub struct SocketDialer {
    config: Arc<ClientConfig>,
    current: Arc<Current>,
    // The last field: when it is dropped, no courier comes any more.
    _socket: CourierSocket,
}

impl SocketDialer {
    /// For the member with this key; couriers use the socket at `path`.
    ///
    /// # Errors
    /// If the socket cannot be created.
    pub fn new(
        identity: &Arc<Identity>,
        roster: &Arc<Roster>,
        path: &Path,
    ) -> Result<Self, LinkError> {
        let config = Arc::new(party_config(identity, roster)?);
        let current = Arc::new(Current::default());
        let own = Arc::clone(&current);
        let exchange = move |brought: Option<Parcel>, until| own.exchange(brought.as_ref(), until);
        let socket = CourierSocket::new(path, Arc::new(exchange))?;
        Ok(SocketDialer { config, current, _socket: socket })
    }
}

impl Dial for SocketDialer {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        let mut id = [0; 16];
        ring::default_provider()
            .secure_random
            .fill(&mut id)
            .map_err(|_| failed("no randomness"))?;
        let channel = Channel::new(id);
        channel.prove();
        *locked(&self.current.channel) = Some(Arc::clone(&channel));
        self.current.changed.notify_all();
        let name = ServerName::try_from(NAME).map_err(failed)?;
        let tls = ClientConnection::new(Arc::clone(&self.config), name).map_err(of_tls)?;
        let end = ChannelEnd::new(&channel, COURTESY);
        Ok(Box::new(SecureLink::shaken(end, tls, until)?))
    }
}

impl Drop for SocketDialer {
    fn drop(&mut self) {
        let last = locked(&self.current.channel).clone();
        if let Some(channel) = last {
            channel.linger(Instant::now() + LINGER);
        }
    }
}

/// The channels of a lead.
#[derive(Debug)]
struct SocketChannels {
    known: Mutex<BTreeMap<[u8; 16], Arc<Channel>>>,
    config: Arc<ServerConfig>,
    arrivals: SyncSender<Result<Box<dyn Link>, LinkError>>,
}

impl SocketChannels {
    /// One visit of a courier.
    fn exchange(self: &Arc<Self>, brought: Option<&Parcel>, until: Instant) -> Option<Parcel> {
        let parcel = brought?;
        let over = Parcel { from: 0, came: 0, over: true, bytes: Vec::new(), ..parcel.clone() };
        let Some(channel) = self.known(parcel) else { return Some(over) };
        channel.take(parcel);
        Some(channel.parcel(until))
    }

    /// The channel of a parcel; a new one if the parcel begins it.
    fn known(self: &Arc<Self>, parcel: &Parcel) -> Option<Arc<Channel>> {
        let mut known = locked(&self.known);
        if let Some(channel) = known.get(&parcel.channel) {
            return Some(Arc::clone(channel));
        }
        known.retain(|_, channel| !channel.is_done());
        let arriving = known.values().filter(|channel| !channel.is_proven()).count();
        let begins =
            parcel.from == 0 && parcel.came == 0 && !parcel.over && !parcel.bytes.is_empty();
        if !begins || known.len() >= MOST_CHANNELS || arriving >= MOST_ARRIVING {
            return None;
        }
        let channel = Channel::new(parcel.channel);
        known.insert(parcel.channel, Arc::clone(&channel));
        let (own, made) = (Arc::clone(self), Arc::clone(&channel));
        std::thread::spawn(move || own.receive(&made));
        Some(channel)
    }

    /// Performs the handshake and waits for the hello, with the time that couriers need, before the
    /// lead is told of a connection.
    fn receive(&self, channel: &Arc<Channel>) {
        let until = Instant::now() + HANDSHAKE_TIME;
        let received = ServerConnection::new(Arc::clone(&self.config)).map_err(of_tls);
        let received = received.and_then(|tls| {
            let end = ChannelEnd::new(channel, Duration::ZERO);
            let mut link = SecureLink::shaken(end, tls, until)?;
            channel.prove();
            link.fill(LONGEST_HELLO, until)?;
            Ok(Box::new(link) as Box<dyn Link>)
        });
        // Nobody listens any more.
        let _ = self.arrivals.send(received);
    }

    fn linger(&self, until: Instant) {
        let all: Vec<Arc<Channel>> = locked(&self.known).values().cloned().collect();
        all.iter().filter(|channel| channel.is_proven()).for_each(|channel| channel.linger(until));
    }
}

/// The listener of the lead for couriers.
#[derive(Debug)]
pub struct SocketListener {
    came: Receiver<Result<Box<dyn Link>, LinkError>>,
    channels: Arc<SocketChannels>,
    _socket: CourierSocket,
}

impl SocketListener {
    /// For the lead with this key; couriers use the socket at `path`.
    ///
    /// # Errors
    /// If the socket cannot be created.
    pub fn new(
        identity: &Arc<Identity>,
        roster: &Arc<Roster>,
        path: &Path,
    ) -> Result<Self, LinkError> {
        let config = Arc::new(lead_config(identity, roster)?);
        let (arrivals, came) = sync_channel(MOST_CHANNELS);
        let channels = Arc::new(SocketChannels { known: Mutex::default(), config, arrivals });
        let own = Arc::clone(&channels);
        let exchange = move |brought: Option<Parcel>, until| own.exchange(brought.as_ref(), until);
        let socket = CourierSocket::new(path, Arc::new(exchange))?;
        Ok(SocketListener { came, channels, _socket: socket })
    }
}

impl Listen for SocketListener {
    fn accept(&self, until: Instant) -> Result<Option<Arrival>, LinkError> {
        let Ok(left) = left(until) else { return Ok(None) };
        match self.came.recv_timeout(left) {
            Ok(received) => Ok(Some(Arrival::new(move |_| received))),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(LinkError::Closed),
        }
    }
}

impl Drop for SocketListener {
    fn drop(&mut self) {
        self.channels.linger(Instant::now() + LINGER);
    }
}
