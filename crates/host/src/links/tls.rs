//! TCP with TLS 1.3, both ends by their Ed25519 keys (RFC 7250: keys in place of certificates). Which
//! keys are good is the roster's to say: there is no authority, and no name of a machine counts.
//!
//! Every wait has an end: reads and writes stop when the time is up, however slowly bytes come.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use reticent::Identity;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{
    ClientConfig, ClientConnection, Connection, DigitallySignedStruct, DistinguishedName,
    PeerMisbehaved, ServerConfig, ServerConnection, SignatureAlgorithm, SignatureScheme,
};

use super::{Arrival, Dial, FRONT, Link, LinkError, Listen, first_frame, left};
use crate::roster::{Roster, today};

/// What stands before the 32 bytes of an Ed25519 key in its DER form (RFC 8410).
const BEFORE_KEY: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// How much is read at once.
const CHUNK: usize = 1 << 14;

/// How often a listener looks whether it is to stop.
const SLICE: Duration = Duration::from_millis(10);

/// Signs handshakes with a member's key. What TLS signs begins with 64 spaces and its own label, which
/// nothing else that the key signs begins with.
struct Own {
    identity: Arc<Identity>,
    der: Vec<u8>,
}

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.identity.fmt(f)
    }
}

impl SigningKey for Own {
    fn choose_scheme(&self, offered: &[SignatureScheme]) -> Option<Box<dyn Signer>> {
        let own = OwnSigner(Arc::clone(&self.identity));
        offered.contains(&SignatureScheme::ED25519).then(|| Box::new(own) as Box<dyn Signer>)
    }

    fn public_key(&self) -> Option<SubjectPublicKeyInfoDer<'_>> {
        Some(SubjectPublicKeyInfoDer::from(&self.der[..]))
    }

    fn algorithm(&self) -> SignatureAlgorithm {
        SignatureAlgorithm::ED25519
    }
}

#[derive(Debug)]
struct OwnSigner(Arc<Identity>);

impl Signer for OwnSigner {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rustls::Error> {
        Ok(self.0.sign_message(message).to_vec())
    }

    fn scheme(&self) -> SignatureScheme {
        SignatureScheme::ED25519
    }
}

fn der(key: &[u8; 32]) -> Vec<u8> {
    [&BEFORE_KEY[..], key].concat()
}

fn key_of(der: &[u8]) -> Option<[u8; 32]> {
    der.strip_prefix(&BEFORE_KEY)?.try_into().ok()
}

fn certified(identity: &Arc<Identity>) -> Arc<CertifiedKey> {
    let der = der(&identity.public().bytes());
    let chain = vec![CertificateDer::from(der.clone())];
    Arc::new(CertifiedKey::new(chain, Arc::new(Own { identity: Arc::clone(identity), der })))
}

/// Which keys are good.
#[derive(Debug)]
struct Pinned {
    roster: Arc<Roster>,
    /// Whether it is the lead's that is looked for, or a party's.
    lead: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    fn check(&self, der: &CertificateDer<'_>) -> Result<(), rustls::Error> {
        let refuse = |why: String| Err(rustls::Error::General(why));
        let Some(key) = key_of(der) else { return refuse("it has no Ed25519 key".to_owned()) };
        if let Err(why) = self.roster.admits(&key, today()) {
            return refuse(why);
        }
        match (key == self.roster.lead_key()) == self.lead {
            true => Ok(()),
            false if self.lead => refuse("the key is not the lead's".to_owned()),
            false => refuse("the key is the lead's, who does not join".to_owned()),
        }
    }

    fn signed(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signature, &self.algorithms)
    }
}

/// Refuses what is older than TLS 1.3, which is not even compiled.
fn too_old() -> Result<HandshakeSignatureValid, rustls::Error> {
    Err(PeerMisbehaved::SelectedUnofferedCipherSuite.into())
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        self.check(end_entity).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        too_old()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signed(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        self.check(end_entity).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        too_old()
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signed(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }

    fn requires_raw_public_keys(&self) -> bool {
        true
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn pinned(roster: &Arc<Roster>, lead: bool, provider: &CryptoProvider) -> Arc<Pinned> {
    let algorithms = provider.signature_verification_algorithms;
    Arc::new(Pinned { roster: Arc::clone(roster), lead, algorithms })
}

fn failed(error: impl std::fmt::Display) -> LinkError {
    LinkError::Failed(error.to_string())
}

fn of_tls(error: rustls::Error) -> LinkError {
    match error {
        rustls::Error::General(why) => LinkError::Untrusted(why),
        rustls::Error::AlertReceived(_) => {
            LinkError::Untrusted(format!("it does not take this key ({error})"))
        }
        other => LinkError::Failed(other.to_string()),
    }
}

fn of_io(error: &std::io::Error) -> LinkError {
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

/// How a party gets to the lead of a roster.
#[derive(Debug)]
pub struct TlsDialer {
    config: Arc<ClientConfig>,
    address: String,
}

impl TlsDialer {
    /// For the member with this key.
    ///
    /// # Errors
    /// If TLS 1.3 is not to be had.
    pub fn new(identity: &Arc<Identity>, roster: &Arc<Roster>) -> Result<Self, LinkError> {
        let provider = provider();
        let pinned = pinned(roster, true, &provider);
        let resolver = rustls::client::AlwaysResolvesClientRawPublicKeys::new(certified(identity));
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(failed)?
            .dangerous()
            .with_custom_certificate_verifier(pinned)
            .with_client_cert_resolver(Arc::new(resolver));
        // No name of a machine is said, and no session outlives its connection.
        config.enable_sni = false;
        config.resumption = rustls::client::Resumption::disabled();
        let address = roster.lead_address().to_owned();
        Ok(TlsDialer { config: Arc::new(config), address })
    }
}

impl Dial for TlsDialer {
    fn dial(&self, until: Instant) -> Result<Box<dyn Link>, LinkError> {
        let places = self.address.to_socket_addrs().map_err(|error| of_io(&error))?;
        let mut last = LinkError::Failed(format!("{} is no address", self.address));
        for place in places {
            match TcpStream::connect_timeout(&place, left(until)?) {
                Ok(socket) => {
                    let name = ServerName::try_from("lead.invalid").map_err(failed)?;
                    let tls = ClientConnection::new(Arc::clone(&self.config), name);
                    return TlsLink::shaken(socket, tls.map_err(of_tls)?.into(), until);
                }
                Err(error) => last = failed(error.kind()),
            }
        }
        Err(last)
    }
}

/// Where the lead listens.
#[derive(Debug)]
pub struct TlsListener {
    config: Arc<ServerConfig>,
    listener: TcpListener,
}

impl TlsListener {
    /// For the lead with this key, at `address`.
    ///
    /// # Errors
    /// If nobody can listen there.
    pub fn new(
        identity: &Arc<Identity>,
        roster: &Arc<Roster>,
        address: &str,
    ) -> Result<Self, LinkError> {
        let provider = provider();
        let pinned = pinned(roster, false, &provider);
        let resolver = rustls::server::AlwaysResolvesServerRawPublicKeys::new(certified(identity));
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(failed)?
            .with_client_cert_verifier(pinned)
            .with_cert_resolver(Arc::new(resolver));
        config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        let listener = TcpListener::bind(address)
            .map_err(|error| failed(format!("nobody can listen at {address}: {}", error.kind())))?;
        listener.set_nonblocking(true).map_err(|error| of_io(&error))?;
        Ok(TlsListener { config: Arc::new(config), listener })
    }

    /// Where it is.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn address(&self) -> Result<String, LinkError> {
        self.listener.local_addr().map(|place| place.to_string()).map_err(|error| of_io(&error))
    }
}

impl Listen for TlsListener {
    fn accept(&self, until: Instant) -> Result<Option<Arrival>, LinkError> {
        loop {
            match self.listener.accept() {
                Ok((socket, _)) => {
                    let config = Arc::clone(&self.config);
                    return Ok(Some(Box::new(move |until| {
                        socket.set_nonblocking(false).map_err(|error| of_io(&error))?;
                        let tls = ServerConnection::new(config).map_err(of_tls)?;
                        TlsLink::shaken(socket, tls.into(), until)
                    })));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => match left(until) {
                    Ok(left) => std::thread::sleep(left.min(SLICE)),
                    Err(_) => return Ok(None),
                },
                // One that went away before it was here, or too many files for a moment.
                Err(_) => match left(until) {
                    Ok(left) => std::thread::sleep(left.min(10 * SLICE)),
                    Err(_) => return Ok(None),
                },
            }
        }
    }
}

/// One connection.
struct TlsLink {
    socket: TcpStream,
    tls: Connection,
    /// What came and was not taken.
    came: Vec<u8>,
    peer: [u8; 32],
}

impl std::fmt::Debug for TlsLink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsLink").finish_non_exhaustive()
    }
}

impl TlsLink {
    /// Does the handshake.
    fn shaken(
        socket: TcpStream,
        tls: Connection,
        until: Instant,
    ) -> Result<Box<dyn Link>, LinkError> {
        socket.set_nodelay(true).map_err(|error| of_io(&error))?;
        let mut link = TlsLink { socket, tls, came: Vec::new(), peer: [0; 32] };
        while link.tls.is_handshaking() {
            match link.tls.wants_write() {
                true => link.write(until)?,
                false => link.read(until)?,
            }
        }
        // The last message of a client, and what is wrong with a key, have yet to be sent.
        link.write_all(until)?;
        let keys = link.tls.peer_certificates().unwrap_or_default();
        let key = keys.first().and_then(|der| key_of(der));
        link.peer = key.ok_or_else(|| LinkError::Untrusted("it has shown no key".to_owned()))?;
        Ok(Box::new(link))
    }

    fn write(&mut self, until: Instant) -> Result<(), LinkError> {
        let left = left(until)?;
        self.socket.set_write_timeout(Some(left)).map_err(|error| of_io(&error))?;
        match self.tls.write_tls(&mut self.socket) {
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
        let left = left(until)?;
        self.socket.set_read_timeout(Some(left)).map_err(|error| of_io(&error))?;
        match self.tls.read_tls(&mut self.socket) {
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

impl Link for TlsLink {
    fn peer(&self) -> [u8; 32] {
        self.peer
    }

    fn send(&mut self, frame: &[u8], until: Instant) -> Result<(), LinkError> {
        let length = u32::try_from(frame.len());
        let length = length.map_err(|_| failed("a frame is too long"))?.to_le_bytes();
        let framed: Vec<u8> = [&length[..], frame].concat();
        debug_assert_eq!(length.len(), FRONT);
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
            if !self.take()? {
                self.write_all(until)?;
                self.read(until)?;
            }
        }
    }
}
