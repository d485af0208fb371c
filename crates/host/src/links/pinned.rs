//! The keys at both ends: TLS 1.3 with Ed25519 keys in place of certificates (RFC 7250). The roster
//! lists the accepted keys: there is no authority, and the names of machines do not count. All
//! links except those of tests use the two configurations here.

use std::sync::Arc;

use reticent::Identity;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls13_signature_with_raw_key,
};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::{CertifiedKey, Signer, SigningKey};
use rustls::{
    ClientConfig, DigitallySignedStruct, DistinguishedName, PeerMisbehaved, ServerConfig,
    SignatureAlgorithm, SignatureScheme,
};

use super::LinkError;
use crate::roster::{Roster, today};

/// The prefix of an Ed25519 key in its DER form (RFC 8410).
const BEFORE_KEY: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The server name that a TLS client must give; it is neither sent nor compared.
pub(crate) const NAME: &str = "lead.invalid";

/// Signs handshakes with a member's key. The text that TLS signs begins with 64 spaces and its own
/// label; nothing else that the key signs begins so.
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

/// The key that the other end has shown, and has proven by the handshake.
pub(crate) fn shown(keys: &[CertificateDer<'_>]) -> Result<[u8; 32], LinkError> {
    let key = keys.first().and_then(|der| key_of(der));
    key.ok_or_else(|| LinkError::Untrusted("it has shown no key".to_owned()))
}

fn key_of(der: &[u8]) -> Option<[u8; 32]> {
    der.strip_prefix(&BEFORE_KEY)?.try_into().ok()
}

fn certified(identity: &Arc<Identity>) -> Arc<CertifiedKey> {
    let der = der(&identity.public().bytes());
    let chain = vec![CertificateDer::from(der.clone())];
    Arc::new(CertifiedKey::new(chain, Arc::new(Own { identity: Arc::clone(identity), der })))
}

/// The accepted keys.
#[derive(Debug)]
struct Pinned {
    roster: Arc<Roster>,
    /// Whether the lead's key is accepted, or those of parties.
    lead: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Pinned {
    fn new(roster: &Arc<Roster>, lead: bool, provider: &CryptoProvider) -> Arc<Self> {
        let algorithms = provider.signature_verification_algorithms;
        Arc::new(Pinned { roster: Arc::clone(roster), lead, algorithms })
    }

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
}

/// The common part of the two verifiers of rustls, for keys of servers and of clients: a signature
/// is by the key that was shown, in TLS 1.3. Older versions are not compiled.
macro_rules! signed_by_the_shown_key {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            Err(PeerMisbehaved::SelectedUnofferedCipherSuite.into())
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            key: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, rustls::Error> {
            let key = SubjectPublicKeyInfoDer::from(key.as_ref());
            verify_tls13_signature_with_raw_key(message, &key, signature, &self.algorithms)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
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

    signed_by_the_shown_key!();
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

    signed_by_the_shown_key!();
}

/// The configuration of a party: it shows its key, and accepts the lead's alone.
pub(crate) fn party_config(
    identity: &Arc<Identity>,
    roster: &Arc<Roster>,
) -> Result<ClientConfig, LinkError> {
    let provider = Arc::new(ring::default_provider());
    let pinned = Pinned::new(roster, true, &provider);
    let resolver = rustls::client::AlwaysResolvesClientRawPublicKeys::new(certified(identity));
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(of_tls)?
        .dangerous()
        .with_custom_certificate_verifier(pinned)
        .with_client_cert_resolver(Arc::new(resolver));
    // No name of a machine is sent, and no session outlives its connection.
    config.enable_sni = false;
    config.resumption = rustls::client::Resumption::disabled();
    Ok(config)
}

/// The configuration of the lead: it shows its key, and accepts those of parties alone.
pub(crate) fn lead_config(
    identity: &Arc<Identity>,
    roster: &Arc<Roster>,
) -> Result<ServerConfig, LinkError> {
    let provider = Arc::new(ring::default_provider());
    let pinned = Pinned::new(roster, false, &provider);
    let resolver = rustls::server::AlwaysResolvesServerRawPublicKeys::new(certified(identity));
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(of_tls)?
        .with_client_cert_verifier(pinned)
        .with_cert_resolver(Arc::new(resolver));
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    Ok(config)
}

/// The error for a key that the other end refuses, in the words of TLS.
pub(crate) fn not_taken(words: &dyn std::fmt::Display) -> LinkError {
    LinkError::Untrusted(format!("it does not take this key ({words})"))
}

/// The error of a failed handshake.
pub(crate) fn of_tls(error: rustls::Error) -> LinkError {
    match error {
        rustls::Error::General(why) => LinkError::Untrusted(why),
        rustls::Error::AlertReceived(_) => not_taken(&error),
        other => LinkError::Failed(other.to_string()),
    }
}
