//! Where a drafted schema comes from, so that the file is known again when a model is to be fitted
//! to it.
//!
//! Bounds and categories that were read from a table are paid for by nobody. A draft therefore
//! carries a digest of its file under a key of its own, and whoever reads a table under the schema
//! finds out whether it is that one. Under another key the digest is another: two drafts do not
//! tell that they are of the same file. Whoever has the draft, key included, can confirm a guess at
//! the whole file, so a draft of a private file is private; a model does not carry it.

use super::SchemaError;
use reticent_core::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The file that a schema was drafted from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drafted {
    from: String,
    /// Whether the owner says that the file is public.
    #[serde(default)]
    public: bool,
    key: String,
    digest: String,
}

/// The digest of what is read, under the key of a draft.
#[derive(Debug, Clone)]
pub(crate) struct Fingerprint(Sha256);

impl Fingerprint {
    fn new(key: &str) -> Self {
        Self(Sha256::new().chain_update("reticent draft").chain_update(key))
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> String {
        hex(&self.0.clone().finalize())
    }
}

impl Drafted {
    /// Of a file whose bytes `read` hands to the fingerprint.
    pub(crate) fn new<E>(
        from: &str,
        key: &[u8; 32],
        read: impl FnOnce(&mut Fingerprint) -> Result<(), E>,
    ) -> Result<Self, E> {
        let key = hex(key);
        let mut fingerprint = Fingerprint::new(&key);
        read(&mut fingerprint)?;
        Ok(Self { from: from.to_owned(), public: false, key, digest: fingerprint.finish() })
    }

    /// The name of the file.
    pub fn from(&self) -> &str {
        &self.from
    }

    /// Whether the owner says that the file is public.
    pub fn public(&self) -> bool {
        self.public
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(&self.key)
    }

    /// Whether what was read is the file.
    pub(crate) fn is_of(&self, fingerprint: &Fingerprint) -> bool {
        fingerprint.finish().eq_ignore_ascii_case(&self.digest)
    }

    pub(super) fn check(&self) -> Result<(), SchemaError> {
        let whole =
            |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if whole(&self.key) && whole(&self.digest) { Ok(()) } else { Err(SchemaError::Drafted) }
    }
}
