//! QUIC over UDP, by quinn: TLS 1.3 with the same keys, and one stream of frames a connection. A party
//! whose line is lossy, or whose address changes, stays connected.
//!
//! Who is refused learns of it at the first read only (the lead checks a key after the party has checked
//! the lead's), so that a connection is nothing until the first answer.
//!
//! quinn is asynchronous and the rest is not: a thread of its own moves the packets, and whoever waits
//! waits for it, with an end to every wait.

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

/// What is spoken in the connection (RFC 7301), as QUIC asks for.
const PROTOCOL: &[u8] = b"reticent/1";

/// Who is silent for so long is gone.
const SILENCE: Duration = Duration::from_secs(15);

/// How often a party says that it is there. A lead that was killed and is back answers that it does not know
/// the connection, so that this is how long its parties wait for it in vain, at most.
const SIGN: Duration = Duration::from_millis(500);

/// How long the first try to reach the lead may take, before it is begun anew; each takes twice as long as
/// the one before. Within a try, packets follow at ever longer pauses (RFC 9002, section 6.2.1): a lead
/// that comes back would be found late.
const FIRST_ATTEMPT: Duration = Duration::from_secs(1);

/// How long the last bytes of a link may take to arrive after the link was dropped.
const LINGER: Duration = Duration::from_secs(3);

/// How long a way is taken to be before it is known: whoever hears nothing tries again after three times
/// as long. A party that is earlier than the lead would else wait for a second (RFC 9002, section 6.2).
const FIRST_TRY: Duration = Duration::from_millis(50);

/// How much of a stream may be on its way: memory that a peer can take.
const WINDOW: u32 = 1 << 20;

/// How much is read at once.
const CHUNK: usize = 1 << 16;

/// How many may wait to be looked at; the next are ignored, and come again.
const MOST_WAITING: usize = 64;

/// The thread that moves packets. It ends when this is dropped and the last bytes have arrived.
struct Mover {
    handle: Handle,
    endpoint: Endpoint,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Whether there was a link: without one, as where UDP is blocked, there are no last bytes.
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
                // It comes when this is dropped, sent or not.
                let _ = stopped.await;
                if was_linked.load(Ordering::Relaxed) {
                    let _ = tokio::time::timeout(LINGER, own.wait_idle()).await;
                }
            });
        });
        Ok(Arc::new(Mover { handle, endpoint, stop: Some(stop), thread: Some(thread), linked }))
    }

    /// Waits for it, and not for longer.
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
            // It waits for a few seconds at most.
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

/// A lead that was killed and is back says of connections that it does not know that they are gone (RFC 9000,
/// section 10.3), with what follows from its key, so that parties do not wait for the silence. Signatures
/// of Ed25519 are deterministic: this one, of a text that is signed nowhere else, is never shown.
fn known_again(identity: &Identity) -> EndpointConfig {
    let secret = identity.sign_message(b"reticent resets of quic v1");
    let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
    let mut config = EndpointConfig::new(Arc::new(key));
    // Numbers that any process could have given: those of the one before are answered too.
    config.cid_generator(|| Box::new(RandomConnectionIdGenerator::default()));
    config
}

fn of_connection(error: &ConnectionError) -> LinkError {
    match error {
        // Alerts of TLS are from 0x100 on (RFC 9001, section 4.8).
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

/// How a party gets to the lead of a roster.
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
    /// If TLS 1.3 is not to be had.
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
            // Another thread may have been first; its own is as good.
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

/// Where the lead listens.
#[derive(Debug)]
pub struct QuicListener {
    mover: Arc<Mover>,
    /// Who came and was not looked at yet.
    came: mpsc::Receiver<Incoming>,
}

impl QuicListener {
    /// For the lead with this key, at `address`.
    ///
    /// # Errors
    /// If nobody can listen there.
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
                    // Whoever is there answers once more, which costs the lead no memory: nobody makes
                    // it send to an address that is another's.
                    false => drop(incoming.retry()),
                    // One too many is refused by being dropped.
                    true => drop(arrive.try_send(incoming)),
                }
            }
        });
        Ok(QuicListener { mover, came })
    }

    /// Where it is.
    ///
    /// # Errors
    /// If the system does not say.
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
                    // The stream is there with its first bytes.
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

/// One connection, with the key at its other end proven.
struct QuicLink {
    mover: Arc<Mover>,
    connection: Connection,
    out: Option<SendStream>,
    into: RecvStream,
    /// What came and was not taken.
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
            // After half a frame there is nothing more to say: then the stream is not put back.
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
            // Who has dropped its link may have said something last: it arrives, or the time is up.
            if out.finish().is_ok() {
                let _ = tokio::time::timeout(LINGER, out.stopped()).await;
            }
            connection.close(VarInt::from_u32(0), b"");
        });
    }
}
