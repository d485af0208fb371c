//! QUIC over UDP, with quinn: TLS 1.3 with the same keys, and one stream of frames in each
//! connection. A party with a lossy line or a changing address stays connected.
//!
//! A refused party learns of it at its first read (the lead checks a key after the party has
//! checked the lead's), so a connection counts only from its first answer.
//!
//! quinn is asynchronous and the rest is not: one thread moves the packets, and callers wait for it
//! with a time limit.

use std::future::Future;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{
    ClientConfig, Connection, ConnectionError, Endpoint, EndpointConfig, Incoming, ReadError,
    RecvStream, SendStream, ServerConfig, TokioRuntime, TransportConfig, VarInt, WriteError,
};
use quinn_proto::RandomConnectionIdGenerator;
use reticent::Identity;
use ring::hmac;
use rustls::pki_types::CertificateDer;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::pinned::{NAME, lead_config, not_taken, party_config, shown};
use super::{
    Arrival, Dial, Link, LinkError, Listen, failed, first_frame, framed, left, of_io, places,
};
use crate::roster::Roster;

/// The protocol of the connection (RFC 7301), which QUIC requires.
const PROTOCOL: &[u8] = b"reticent/1";

/// The silence after which the other end counts as gone.
const SILENCE: Duration = Duration::from_secs(15);

/// The interval of a party's keep-alive packets. A lead that was killed and restarted answers that
/// it does not know the connection, so its parties wait for it in vain for at most this long.
const SIGN: Duration = Duration::from_millis(500);

/// The time of the first attempt to reach the lead; each later attempt takes twice as long. Within
/// an attempt, packets follow at ever longer intervals (RFC 9002, section 6.2.1), which would find
/// a lead that comes back late.
const FIRST_ATTEMPT: Duration = Duration::from_secs(1);

/// The time for the last bytes of a link after the link was dropped.
const LINGER: Duration = Duration::from_secs(3);

/// The assumed round-trip time before it is measured: a packet without an answer is sent again
/// after three times as long. With the default a party that is earlier than the lead would wait for
/// a second (RFC 9002, section 6.2).
const FIRST_TRY: Duration = Duration::from_millis(50);

/// The largest number of bytes of a stream on their way: memory that a peer can take.
const WINDOW: u32 = 1 << 20;

/// The number of bytes that are read at once.
const CHUNK: usize = 1 << 16;

/// The largest number of connections that wait to be accepted; further ones are ignored, and try
/// again.
const MOST_WAITING: usize = 64;

/// The thread that moves packets. It ends when this is dropped and the last bytes have arrived.
struct Mover {
    handle: Handle,
    endpoint: Endpoint,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Whether there was a link: without one, such as where UDP is blocked, there are no last
    /// bytes.
    linked: Arc<AtomicBool>,
}

impl std::fmt::Debug for Mover {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.endpoint.fmt(f)
    }
}

impl Mover {
    fn new(
        socket: UdpSocket,
        config: EndpointConfig,
        server: Option<ServerConfig>,
    ) -> Result<Arc<Self>, LinkError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(failed)?;
        let handle = runtime.handle().clone();
        let endpoint = {
            let _inside = runtime.enter();
            Endpoint::new(config, server, socket, Arc::new(TokioRuntime)).map_err(failed)?
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let (own, linked) = (endpoint.clone(), Arc::new(AtomicBool::new(false)));
        let was_linked = Arc::clone(&linked);
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                // The signal comes when the sender is dropped, whether or not it was sent.
                let _ = stopped.await;
                if was_linked.load(Ordering::Relaxed) {
                    let _ = tokio::time::timeout(LINGER, own.wait_idle()).await;
                }
            });
        });
        Ok(Arc::new(Mover { handle, endpoint, stop: Some(stop), thread: Some(thread), linked }))
    }

    /// Waits for a result with a time limit.
    fn wait<T>(
        &self,
        until: Instant,
        work: impl Future<Output = Result<T, LinkError>>,
    ) -> Result<T, LinkError> {
        left(until)?;
        self.handle.block_on(async {
            let ended = tokio::time::timeout_at(until.into(), work).await;
            ended.unwrap_or(Err(LinkError::Timeout))
        })
    }
}

impl Drop for Mover {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // The thread stops within a few seconds.
            let _ = thread.join();
        }
    }
}

fn transport() -> Result<TransportConfig, LinkError> {
    let mut transport = TransportConfig::default();
    transport
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(u64::from(WINDOW))
        .datagram_receive_buffer_size(None)
        .initial_rtt(FIRST_TRY)
        .max_idle_timeout(Some(SILENCE.try_into().map_err(failed)?));
    Ok(transport)
}

/// The configuration of an endpoint whose reset tokens follow from the key. A lead that was killed
/// and restarted answers connections that it does not know with a reset (RFC 9000, section 10.3),
/// so that parties do not wait for the silence. Signatures of Ed25519 are deterministic: this one,
/// of a text that is signed nowhere else, is never shown.
fn known_again(identity: &Identity) -> EndpointConfig {
    let secret = identity.sign_message(b"reticent resets of quic v1");
    let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
    let mut config = EndpointConfig::new(Arc::new(key));
    // Connection numbers are random: those of an earlier process are answered too.
    config.cid_generator(|| Box::new(RandomConnectionIdGenerator::default()));
    config
}

fn of_connection(error: &ConnectionError) -> LinkError {
    match error {
        // Alerts of TLS begin at 0x100 (RFC 9001, section 4.8).
        ConnectionError::ConnectionClosed(close) if is_alert(close.error_code.into()) => {
            not_taken(&close.error_code)
        }
        ConnectionError::TransportError(why) if is_alert(why.code.into()) => {
            let said = why.reason.as_str();
            let said = said.strip_prefix("unexpected error: ").unwrap_or(said);
            LinkError::Untrusted(said.to_owned())
        }
        ConnectionError::TimedOut => failed("no packet came for a while"),
        ConnectionError::ApplicationClosed(_)
        | ConnectionError::Reset
        | ConnectionError::LocallyClosed => LinkError::Closed,
        other => failed(other),
    }
}

fn is_alert(code: u64) -> bool {
    (0x100..0x200).contains(&code)
}

fn of_read(error: &ReadError) -> LinkError {
    match error {
        ReadError::ConnectionLost(why) => of_connection(why),
        _ => LinkError::Closed,
    }
}

fn of_write(error: &WriteError) -> LinkError {
    match error {
        WriteError::ConnectionLost(why) => of_connection(why),
        _ => LinkError::Closed,
    }
}

/// The connection of a party to the lead of a roster.
#[derive(Debug)]
pub struct QuicDialer {
    config: ClientConfig,
    address: String,
    movers: [std::sync::OnceLock<Arc<Mover>>; 2],
}

impl QuicDialer {
    /// For the member with this key.
    ///
    /// # Errors
    /// If TLS 1.3 is not available.
    pub fn new(identity: &Arc<Identity>, roster: &Arc<Roster>) -> Result<Self, LinkError> {
        let mut tls = party_config(identity, roster)?;
        tls.alpn_protocols = vec![PROTOCOL.to_vec()];
        let tls = QuicClientConfig::try_from(tls).map_err(failed)?;
        let mut config = ClientConfig::new(Arc::new(tls));
        let mut transport = transport()?;
        transport.keep_alive_interval(Some(SIGN));
        config.transport_config(Arc::new(transport));
        let address = roster.lead_address().to_owned();
        Ok(QuicDialer { config, address, movers: Default::default() })
    }

    /// The thread for addresses of this kind.
    fn mover(&self, place: SocketAddr) -> Result<&Arc<Mover>, LinkError> {
        let (slot, any) = match place {
            SocketAddr::V4(_) => (&self.movers[0], "0.0.0.0:0"),
            SocketAddr::V6(_) => (&self.movers[1], "[::]:0"),
        };
        if slot.get().is_none() {
            let socket = UdpSocket::bind(any).map_err(|error| of_io(&error))?;
            let made = Mover::new(socket, EndpointConfig::default(), None)?;
            // If another thread was first, its own is as good.
            let _ = slot.set(made);
        }
        slot.get().ok_or(LinkError::Closed)
    }
}

impl QuicDialer {
    fn attempt(&self, place: SocketAddr, until: Instant) -> Result<QuicLink, LinkError> {
        let mover = self.mover(place)?;
        mover.wait(until, async {
            let made = mover.endpoint.connect_with(self.config.clone(), place, NAME);
            let made = made.map_err(failed)?.await.map_err(|why| of_connection(&why))?;
            let streams = made.open_bi().await.map_err(|why| of_connection(&why))?;
            QuicLink::new(mover, made, streams)
        })
    }
}

impl Dial for QuicDialer {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        let mut last = LinkError::Closed;
        for place in places(&self.address)? {
            let mut time = FIRST_ATTEMPT;
            last = loop {
                match self.attempt(place, until.min(Instant::now() + time)) {
                    Ok(link) => return Ok(Box::new(link)),
                    Err(LinkError::Timeout) if Instant::now() < until => time *= 2,
                    Err(why) => break why,
                }
            };
        }
        Err(last)
    }
}

/// The listener of the lead.
#[derive(Debug)]
pub struct QuicListener {
    mover: Arc<Mover>,
    /// Connections that were not accepted yet.
    came: mpsc::Receiver<Incoming>,
}

impl QuicListener {
    /// For the lead with this key, at `address`.
    ///
    /// # Errors
    /// If it cannot listen there.
    pub fn new(
        identity: &Arc<Identity>,
        roster: &Arc<Roster>,
        address: &str,
    ) -> Result<Self, LinkError> {
        let mut tls = lead_config(identity, roster)?;
        tls.alpn_protocols = vec![PROTOCOL.to_vec()];
        let tls = QuicServerConfig::try_from(tls).map_err(failed)?;
        let mut config = ServerConfig::with_crypto(Arc::new(tls));
        config.transport_config(Arc::new(transport()?));
        config.max_incoming(MOST_WAITING).incoming_buffer_size_total(1 << 22);
        let socket = UdpSocket::bind(address).map_err(|error| {
            failed(format!("nobody can listen at {address} (UDP): {}", error.kind()))
        })?;
        let mover = Mover::new(socket, known_again(identity), Some(config))?;
        let (arrive, came) = mpsc::sync_channel(MOST_WAITING);
        let endpoint = mover.endpoint.clone();
        mover.handle.spawn(async move {
            while let Some(incoming) = endpoint.accept().await {
                match incoming.remote_address_validated() {
                    // The address must be confirmed first, which costs the lead no memory: nobody
                    // can make it send packets to an address of somebody else.
                    false => drop(incoming.retry()),
                    // Dropping a connection refuses it.
                    true => drop(arrive.try_send(incoming)),
                }
            }
        });
        Ok(QuicListener { mover, came })
    }

    /// The address.
    ///
    /// # Errors
    /// If the system does not tell it.
    pub fn address(&self) -> Result<String, LinkError> {
        let place = self.mover.endpoint.local_addr();
        place.map(|place| place.to_string()).map_err(|error| of_io(&error))
    }
}

impl Listen for QuicListener {
    fn accept(&self, until: Instant) -> Result<Option<Arrival>, LinkError> {
        let Ok(left) = left(until) else { return Ok(None) };
        let incoming = match self.came.recv_timeout(left) {
            Ok(incoming) => incoming,
            Err(mpsc::RecvTimeoutError::Timeout) => return Ok(None),
            Err(mpsc::RecvTimeoutError::Disconnected) => return Err(LinkError::Closed),
        };
        let (mover, from) = (Arc::clone(&self.mover), incoming.remote_address().ip());
        let (end, ended) = oneshot::channel::<()>();
        let arrival = Arrival::new(move |until| {
            let link = mover.wait(until, async {
                let made = incoming.accept().map_err(|why| of_connection(&why))?;
                let shaken = async {
                    let made = made.await.map_err(|why| of_connection(&why))?;
                    // The stream exists from its first bytes on.
                    let streams = made.accept_bi().await.map_err(|why| of_connection(&why))?;
                    QuicLink::new(&mover, made, streams)
                };
                tokio::select! {
                    link = shaken => link,
                    Ok(()) = ended => Err(LinkError::Closed),
                }
            })?;
            Ok(Box::new(link))
        });
        Ok(Some(arrival.at(from, move || _ = end.send(()))))
    }
}

/// A connection whose other end has proven its key.
struct QuicLink {
    mover: Arc<Mover>,
    connection: Connection,
    out: Option<SendStream>,
    into: RecvStream,
    /// Bytes that have arrived and are unread.
    came: Vec<u8>,
    peer: [u8; 32],
}

impl std::fmt::Debug for QuicLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("QuicLink").finish_non_exhaustive()
    }
}

impl QuicLink {
    fn new(
        mover: &Arc<Mover>,
        connection: Connection,
        (out, into): (SendStream, RecvStream),
    ) -> Result<Self, LinkError> {
        let identity = connection.peer_identity();
        let keys = identity.and_then(|any| any.downcast::<Vec<CertificateDer<'static>>>().ok());
        let peer = shown(&keys.unwrap_or_default())?;
        mover.linked.store(true, Ordering::Relaxed);
        let (mover, out) = (Arc::clone(mover), Some(out));
        Ok(QuicLink { mover, connection, out, into, came: Vec::new(), peer })
    }
}

impl Link for QuicLink {
    fn peer(&self) -> [u8; 32] {
        self.peer
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        let framed = framed(frame)?;
        let mut out = self.out.take().ok_or(LinkError::Closed)?;
        self.mover.wait(until, async {
            out.write_all(&framed).await.map_err(|why| of_write(&why))?;
            // After half a frame nothing more can be sent: then the stream is not put back.
            self.out = Some(out);
            Ok(())
        })
    }

    fn receive(&mut self, limit: usize, until: Instant) -> Result<Vec<u8>, LinkError> {
        loop {
            if let Some(frame) = first_frame(&mut self.came, limit)? {
                return Ok(frame);
            }
            let into = &mut self.into;
            let chunk = self.mover.wait(until, async {
                let chunk = into.read_chunk(CHUNK, true).await.map_err(|why| of_read(&why))?;
                chunk.map(|chunk| chunk.bytes).ok_or(LinkError::Closed)
            })?;
            self.came.extend_from_slice(&chunk);
        }
    }
}

impl Drop for QuicLink {
    fn drop(&mut self) {
        let Some(mut out) = self.out.take() else { return };
        let connection = self.connection.clone();
        self.mover.handle.spawn(async move {
            // The last message before a link is dropped arrives, or the time is over.
            if out.finish().is_ok() {
                let _ = tokio::time::timeout(LINGER, out.stopped()).await;
            }
            connection.close(VarInt::from_u32(0), b"");
        });
    }
}
