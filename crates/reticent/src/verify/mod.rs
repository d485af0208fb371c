//! Whether a model or a certificate says what holds.
//!
//! A certificate has few facts: the ledger, δ, the algorithm, the public number of records. All
//! else follows from them by one function, the same that wrote it; here it is computed again and
//! compared whole, so that no field can be forgotten. What follows from nothing (a weight, a bound
//! of the preprocessing) is held by digests, and the digest by a signature, if there is one.
//!
//! A digest alone finds accidents and edits. It does not stop somebody who changes a file *and*
//! computes the digest anew; a signature does, for whoever knows the signer's key.
//! `docs/certificates.md` has the canonical form and how to check all this without this program.

mod document;
mod stated;
mod statement;

use std::path::Path;

use serde::Serialize;

use crate::certificate::Certificate;
use crate::error::Error;
use crate::identity::PublicKey;
use crate::model::Model;

pub use document::Document;
use stated::Stated;

/// The outcome of one check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// What was checked holds.
    Holds,
    /// It does not.
    Fails,
    /// There is nothing to check it by, and nobody asked for it.
    Absent,
}

/// One check, by name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct VerifyCheck {
    /// The name of the check: `ledger`, `epsilon`, `statement`, `model`, `weights`, `digest`,
    /// `signature`, `beside`, or the field of a certificate that is not what it must be.
    pub name: String,
    /// The outcome.
    pub outcome: CheckOutcome,
    /// The finding in words.
    pub said: String,
}

/// The result of verification as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Every check holds.
    Holds,
    /// Nothing contradicts it, and it has no digest: written by an earlier version.
    Unverifiable,
    /// It contradicts itself, was changed, or is not signed by whom it should be.
    Fails,
}

/// All checks of a model or a certificate, and what is left of its promise.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Verification {
    /// The checks, in order.
    pub checks: Vec<VerifyCheck>,
    /// The certificate as it is to be believed: the file's where all holds, otherwise one without a
    /// guarantee that says why. Its ε is never below what the ledger costs as counted here.
    pub certificate: Certificate,
    /// The key of a signature that is right.
    pub signer: Option<String>,
}

impl VerifyCheck {
    fn new(name: &str, outcome: CheckOutcome, said: impl Into<String>) -> Self {
        VerifyCheck { name: name.to_owned(), outcome, said: said.into() }
    }

    fn holds(name: &str, said: impl Into<String>) -> Self {
        VerifyCheck::new(name, CheckOutcome::Holds, said)
    }

    fn fails(name: &str, said: impl Into<String>) -> Self {
        VerifyCheck::new(name, CheckOutcome::Fails, said)
    }

    fn absent(name: &str, said: impl Into<String>) -> Self {
        VerifyCheck::new(name, CheckOutcome::Absent, said)
    }
}

impl Verification {
    /// The standing of the file.
    pub fn standing(&self) -> Standing {
        let no_digest =
            |check: &VerifyCheck| check.name == "digest" && check.outcome == CheckOutcome::Absent;
        if self.failures().next().is_some() {
            Standing::Fails
        } else if self.checks.iter().any(no_digest) {
            Standing::Unverifiable
        } else {
            Standing::Holds
        }
    }

    /// Whether every check holds. A file without a digest does not.
    pub fn holds(&self) -> bool {
        self.standing() == Standing::Holds
    }

    /// The failed checks, in a sentence without its full stop: the first check in full, the others by name.
    pub fn summary(&self) -> Option<String> {
        summary(&self.checks)
    }

    /// The checks that fail.
    pub fn failures(&self) -> impl Iterator<Item = &VerifyCheck> {
        self.checks.iter().filter(|check| check.outcome == CheckOutcome::Fails)
    }
}

fn summary(checks: &[VerifyCheck]) -> Option<String> {
    let mut failing = checks.iter().filter(|check| check.outcome == CheckOutcome::Fails);
    let first = failing.next()?;
    let names: Vec<&str> = failing.map(|check| check.name.as_str()).collect();
    match &names[..] {
        [] => Some(first.said.clone()),
        _ => Some(format!("{} (nor do these hold: {})", first.said, names.join(", "))),
    }
}

/// Checks a `model.json`, a `certificate.json`, or the folder in which a fit left both. With a key,
/// it must be signed by that key.
///
/// # Errors
/// If there is no such file, or it is neither a model nor a certificate.
pub fn verify(path: &Path, key: Option<&PublicKey>) -> Result<Verification, Error> {
    Ok(Document::read(path)?.verify(key))
}

impl Model {
    /// Checks a model in memory and its certificate.
    ///
    /// # Errors
    /// None for a model that a run or a file gave.
    pub fn verify(&self, key: Option<&PublicKey>) -> Result<Verification, Error> {
        let text = serde_json::to_string(self).map_err(Error::no_digest)?;
        let stated = Stated::of_model(&text).map_err(Error::no_digest)?;
        Ok(Document::of_model(stated, self.clone()).verify(key))
    }
}

impl Certificate {
    /// Checks a certificate in memory, without its model.
    ///
    /// # Errors
    /// None for a certificate that a run or a file gave.
    pub fn verify(&self, key: Option<&PublicKey>) -> Result<Verification, Error> {
        let text = serde_json::to_string(self).map_err(Error::no_digest)?;
        let stated = Stated::of_certificate(&text).map_err(Error::no_digest)?;
        Ok(Document::of_certificate(stated, self.clone()).verify(key))
    }
}
