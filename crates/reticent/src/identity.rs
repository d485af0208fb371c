//! Who vouches for a certificate: an Ed25519 key (RFC 8032), as the PEM files that OpenSSL and
//! others read.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use ed25519_dalek::pkcs8::spki::EncodePublicKey;
use ed25519_dalek::pkcs8::{
    DecodePrivateKey, DecodePublicKey, EncodePrivateKey, KeypairBytes, spki::der::pem::LineEnding,
};
use ed25519_dalek::{Signer, SigningKey, VerifyingKey};
use reticent_core::{from_hex, hex};
use reticent_noise::NoiseKey;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::error::Error;

/// What is signed begins with this, so that a signature made for one purpose is none for another.
const PURPOSE: &str = "reticent certificate signature v1\n";

/// A key that can sign. It is made once, and its file is for its owner alone.
#[derive(Clone)]
pub struct Identity(SigningKey);

/// The public half of an [`Identity`]: what others check a signature with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// The signature of a certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Signature {
    /// The public key: 32 bytes in lower-case hexadecimal digits.
    pub key: String,
    /// The Ed25519 signature: 64 bytes, the same way.
    pub value: String,
}

impl Identity {
    /// Makes a key from the operating system's randomness and writes it to `path`, and its public
    /// half beside it, with `.pub` at the end of the name.
    ///
    /// # Errors
    /// If one of the two is there already, which is never replaced, or cannot be written.
    pub fn create(path: &Path) -> Result<(Self, PathBuf), Error> {
        let beside = public_path(path);
        if let Some(there) =
            [path, &beside].into_iter().find(|path| path.symlink_metadata().is_ok())
        {
            return Err(Error::Exists {
                file: there.to_owned(),
                what: "and a key is never replaced",
            });
        }
        let fail = |reason: String| Error::Write { file: path.to_owned(), reason };
        let (bytes, _) = NoiseKey::secure().map_err(|error| fail(error.to_string()))?.expose();
        let identity = Identity(SigningKey::from_bytes(&bytes));
        // Without the public half inside, which older readers of the format do not know.
        let secret = KeypairBytes { secret_key: *bytes, public_key: None };
        let secret =
            secret.to_pkcs8_pem(LineEnding::LF).map_err(|error| fail(error.to_string()))?;
        write_new(path, &secret, 0o600)?;
        write_new(&beside, &identity.public().pem()?, 0o644).inspect_err(|_| {
            // A key without its public half would never be used; that it may stay is no news.
            let _ = fs::remove_file(path);
        })?;
        Ok((identity, beside))
    }

    /// Reads the file of a key.
    ///
    /// # Errors
    /// If it cannot be read, others may read it, or it is no Ed25519 key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let refuse = |reason: &str| Error::Key { file: path.to_owned(), reason: reason.to_owned() };
        let text = Zeroizing::new(
            fs::read_to_string(path).map_err(|error| Error::read(path, "the key", &error))?,
        );
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let there = fs::metadata(path).map_err(|error| Error::read(path, "the key", &error))?;
            if there.permissions().mode() & 0o077 != 0 {
                return Err(refuse("others than its owner may read it; take that away (mode 600)"));
            }
        }
        SigningKey::from_pkcs8_pem(&text)
            .map(Identity)
            .map_err(|_| refuse("it is no Ed25519 key in a PEM file (PKCS#8)"))
    }

    /// The public key, which checks its signatures.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }

    /// The signature of a message, which must begin with what it is for.
    #[doc(hidden)] // for the crate that hosts a party
    pub fn sign_message(&self, message: &[u8]) -> [u8; 64] {
        self.0.sign(message).to_bytes()
    }

    /// The signature of a digest.
    pub(crate) fn sign(&self, digest: &str) -> Signature {
        let value = self.0.sign(message(digest).as_bytes());
        Signature { key: hex(self.0.verifying_key().as_bytes()), value: hex(&value.to_bytes()) }
    }
}

impl PublicKey {
    /// Reads the file of a public key.
    ///
    /// # Errors
    /// If it cannot be read or is no Ed25519 public key.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path)
            .map_err(|error| Error::read(path, "the public key", &error))?;
        let key = VerifyingKey::from_public_key_pem(text.trim()).ok();
        key.filter(|key| !key.is_weak()).map(PublicKey).ok_or_else(|| Error::Key {
            file: path.to_owned(),
            reason: "it is no Ed25519 public key in a PEM file".to_owned(),
        })
    }

    /// The key as a certificate names it: 32 bytes in hexadecimal digits.
    pub fn text(&self) -> String {
        hex(self.0.as_bytes())
    }

    /// The key of these 32 bytes; `None` where they are none, or one for which anybody can sign.
    #[doc(hidden)] // for the crate that hosts a party
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        VerifyingKey::from_bytes(bytes).ok().filter(|key| !key.is_weak()).map(PublicKey)
    }

    /// Its 32 bytes.
    #[doc(hidden)] // for the crate that hosts a party
    pub fn bytes(&self) -> [u8; 32] {
        *self.0.as_bytes()
    }

    /// Whether it is its signature of this message.
    #[doc(hidden)] // for the crate that hosts a party
    pub fn has_signed(&self, message: &[u8], signature: &[u8; 64]) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(signature);
        self.0.verify_strict(message, &signature).is_ok()
    }

    fn pem(&self) -> Result<String, Error> {
        self.0
            .to_public_key_pem(LineEnding::LF)
            .map_err(|error| Error::Key { file: PathBuf::new(), reason: error.to_string() })
    }
}

impl Signature {
    /// Whether it is a signature of `digest` by the key that it names.
    pub(crate) fn is_of(&self, digest: &str) -> bool {
        let key = from_hex(&self.key).and_then(|bytes| VerifyingKey::from_bytes(&bytes).ok());
        let value = from_hex(&self.value).map(|bytes| ed25519_dalek::Signature::from_bytes(&bytes));
        key.zip(value).is_some_and(|(key, value)| {
            key.verify_strict(message(digest).as_bytes(), &value).is_ok()
        })
    }
}

/// Says which key it is and nothing of its secret.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Identity({})", self.public().text())
    }
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PublicKey({})", self.text())
    }
}

/// The bytes that are signed.
fn message(digest: &str) -> String {
    format!("{PURPOSE}{digest}")
}

/// Where the public half goes.
fn public_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".pub");
    name.into()
}

/// Writes a file that must not be there yet, with these permissions from the start.
fn write_new(path: &Path, text: &str, mode: u32) -> Result<(), Error> {
    let fail = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Error::Exists { file: path.to_owned(), what: "and a key is never replaced" }
        }
        _ => Error::write(path, &error),
    };
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, mode);
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = options.open(path).map_err(fail)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    written.map_err(|error| {
        // Half a key is no key; that it may stay is no news beside the error itself.
        let _ = fs::remove_file(path);
        Error::write(path, &error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_digest_by_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let (a, _) = Identity::create(&folder.path().join("a")).unwrap();
        let (b, _) = Identity::create(&folder.path().join("b")).unwrap();
        let signed = a.sign("sha256:00");
        assert!(signed.is_of("sha256:00") && !signed.is_of("sha256:01"));
        assert!(!Signature { key: b.public().text(), ..signed.clone() }.is_of("sha256:00"));
        assert!(!Signature { key: signed.key.to_uppercase(), ..signed }.is_of("sha256:00"));
        // Other purposes of the same key do not meet.
        let other = hex(&a.0.sign(b"sha256:00").to_bytes());
        assert!(!Signature { key: a.public().text(), value: other }.is_of("sha256:00"));
    }

    #[test]
    fn a_key_is_read_back_and_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("id");
        let (made, public) = Identity::create(&path).unwrap();
        assert_eq!(Identity::read(&path).unwrap().public(), made.public());
        assert_eq!(PublicKey::read(&public).unwrap(), made.public());
        let before = fs::read(&path).unwrap();
        assert!(matches!(Identity::create(&path), Err(Error::Exists { .. })));
        // The public half alone is in the way as well.
        fs::rename(&path, folder.path().join("elsewhere")).unwrap();
        assert!(matches!(Identity::create(&path), Err(Error::Exists { .. })));
        assert_eq!(before, fs::read(folder.path().join("elsewhere")).unwrap());
        assert!(Identity::read(&public).is_err() && PublicKey::read(&path).is_err());
        assert!(!format!("{made:?}").contains("PRIVATE"));
    }

    #[cfg(unix)]
    #[test]
    fn a_key_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("id");
        Identity::create(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        assert!(Identity::read(&path).unwrap_err().to_string().contains("mode 600"));
    }
}
