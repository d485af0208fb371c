//! A file that states something, as it was read: what is hashed is what stands there, not what this
//! program makes of it.

use std::path::{Path, PathBuf};

use super::stated::Stated;
use super::{CheckOutcome, Verification, VerifyCheck, statement};
use crate::canonical::CanonicalObject;
use crate::certificate::{Certificate, VERSION};
use crate::error::Error;
use crate::identity::PublicKey;
use crate::model::Model;

/// A model with its certificate, or a certificate alone. Reading it believes nothing:
/// [`Document::verify`] says what holds.
#[derive(Clone, Debug)]
pub struct Document {
    /// What stands there, hashed.
    stated: Stated,
    model: Option<Model>,
    certificate: Certificate,
    /// The file.
    path: PathBuf,
    /// The certificate in the file beside it, where a folder was given.
    beside: Option<String>,
}

/// The two names.
const MODEL: &str = "model.json";
const CERTIFICATE: &str = "certificate.json";

/// What only a model has.
const OF_A_MODEL: [&str; 3] = ["coefficients", "intercept", "preprocessing"];

impl Document {
    /// Reads a model file, a certificate file, or the folder that they are in.
    ///
    /// # Errors
    /// If there is no such file, or it is neither.
    pub fn read(path: &Path) -> Result<Self, Error> {
        if !path.is_dir() {
            return Self::read_file(path);
        }
        let (model, certificate) = (path.join(MODEL), path.join(CERTIFICATE));
        if !model.exists() && certificate.exists() {
            return Self::read_file(&certificate);
        }
        let mut document = Self::read_model(&model)?;
        if certificate.exists() {
            document.beside = Some(Self::read_file(&certificate)?.stated.certificate);
        }
        Ok(document)
    }

    /// Reads a text that is in no file.
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let path = Path::new("the text");
        let document = Self::made(text, path)?;
        Ok(Document { path: PathBuf::new(), ..document })
    }

    /// Reads a file that must be a model.
    pub(crate) fn read_model(path: &Path) -> Result<Self, Error> {
        Self::made_model(&text_of(path)?, path)
    }

    fn read_file(path: &Path) -> Result<Self, Error> {
        Self::made(&text_of(path)?, path)
    }

    fn made_model(text: &str, path: &Path) -> Result<Self, Error> {
        let refuse = |reason: String| Error::Model { file: path.to_owned(), reason };
        let stated = Stated::of_model(text).map_err(|error| refuse(error.to_string()))?;
        let model = Model::from_text(text).map_err(refuse)?;
        Ok(Document { path: path.to_owned(), ..Self::of_model(stated, model) })
    }

    fn made(text: &str, path: &Path) -> Result<Self, Error> {
        let refuse = |reason: String| Error::Model { file: path.to_owned(), reason };
        let unread = |error: serde_json::Error| refuse(error.to_string());
        let object = CanonicalObject::read(text).map_err(unread)?;
        if OF_A_MODEL.iter().any(|name| object.get(name).is_some()) {
            drop(object);
            return Self::made_model(text, path);
        }
        // Figures, or whatever else has a certificate beside it: the certificate is what is checked.
        let text = object.get("certificate").unwrap_or(text);
        let stated = Stated::of_certificate(text).map_err(unread)?;
        let certificate: Certificate = serde_json::from_str(text).map_err(unread)?;
        if !(1..=VERSION).contains(&certificate.version) {
            let version = certificate.version;
            return Err(refuse(format!(
                "it has version {version}, this program reads 1 to {VERSION}"
            )));
        }
        Ok(Document { path: path.to_owned(), ..Self::of_certificate(stated, certificate) })
    }

    pub(super) fn of_model(stated: Stated, model: Model) -> Self {
        let certificate = model.certificate().clone();
        Document { stated, model: Some(model), certificate, path: PathBuf::new(), beside: None }
    }

    pub(super) fn of_certificate(stated: Stated, certificate: Certificate) -> Self {
        Document { stated, model: None, certificate, path: PathBuf::new(), beside: None }
    }

    /// The file that was read; empty for what was in memory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The model, unless it is a certificate alone.
    pub fn model(&self) -> Option<&Model> {
        self.model.as_ref()
    }

    /// The model, not to be believed before [`Document::verify`]; `None` for a certificate alone.
    pub fn into_model(self) -> Option<Model> {
        self.model
    }

    /// The certificate as it stands there: not to be believed before [`Document::verify`].
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Runs every check. With a key, it must be signed by that key.
    pub fn verify(&self, key: Option<&PublicKey>) -> Verification {
        let (mut checks, derived) = statement::checks(&self.certificate);
        if let Some(model) = &self.model {
            checks.push(belongs(model));
            checks.push(self.weights());
        }
        checks.push(self.digest());
        checks.push(signature(&self.certificate, key));
        checks.extend(self.beside.as_ref().map(|beside| {
            if *beside == self.stated.certificate {
                VerifyCheck::holds(
                    "beside",
                    "certificate.json is the certificate inside model.json",
                )
            } else {
                VerifyCheck::fails(
                    "beside",
                    "certificate.json is another than the one inside model.json",
                )
            }
        }));
        let signed =
            |check: &VerifyCheck| check.name == "signature" && check.outcome == CheckOutcome::Holds;
        let signature = self.certificate.signature.as_ref();
        let signer = signature.filter(|_| checks.iter().any(signed)).map(|by| by.key.clone());
        let certificate = believed(&self.certificate, derived, &checks);
        Verification { checks, certificate, signer }
    }

    /// Refuses what its digests do not cover, without counting the ledger.
    pub(crate) fn refuse_altered(&self, path: &Path) -> Result<(), Error> {
        let checks = [self.weights(), self.digest()];
        match checks.into_iter().find(|check| check.outcome == CheckOutcome::Fails) {
            Some(check) => Err(Error::Altered { file: path.to_owned(), what: check.said }),
            None => Ok(()),
        }
    }

    /// The digest of weights, preprocessing and settings.
    fn weights(&self) -> VerifyCheck {
        let said = self.certificate.model.as_deref();
        match (said, self.stated.body.as_deref()) {
            (None, _) if self.certificate.version < 2 => {
                VerifyCheck::absent("weights", "format 1 does not say which model it is about")
            }
            (Some(said), Some(is)) if said == is => VerifyCheck::holds(
                "weights",
                "weights, preprocessing and settings are those certified",
            ),
            _ => VerifyCheck::fails(
                "weights",
                "weights, preprocessing or settings are not those that the certificate is about",
            ),
        }
    }

    /// The digest of the certificate.
    fn digest(&self) -> VerifyCheck {
        match (self.certificate.digest.as_deref(), &*self.stated.digest) {
            (None, _) if self.certificate.version < 2 => VerifyCheck::absent(
                "digest",
                "format 1 has none: whether it was changed cannot be told",
            ),
            (Some(said), is) if said == is => VerifyCheck::holds("digest", is),
            _ => VerifyCheck::fails("digest", "the certificate is not as it was written"),
        }
    }
}

fn text_of(path: &Path) -> Result<String, Error> {
    reticent_oracle::tables::read_text(path).map_err(|error| Error::read(path, "the model", &error))
}

/// Whether a model and the certificate inside are about the same run.
fn belongs(model: &Model) -> VerifyCheck {
    let certificate = model.certificate();
    let [_, _, constraint] = model.problem();
    let graph = model.graph().is_some() == (constraint == "graph:private");
    if model.version() != certificate.version {
        VerifyCheck::fails("model", "the model and its certificate are of different formats")
    } else if model.algorithm() != certificate.algorithm {
        let said = format!(
            "the model is of the algorithm {}, its certificate of {}",
            model.algorithm(),
            certificate.algorithm
        );
        VerifyCheck::fails("model", said)
    } else if !graph {
        VerifyCheck::fails(
            "model",
            "a graph that was learned and its constraint do not go together",
        )
    } else {
        VerifyCheck::holds("model", "the certificate is about a run of this kind")
    }
}

fn signature(certificate: &Certificate, key: Option<&PublicKey>) -> VerifyCheck {
    let wanted = key.map(PublicKey::text);
    let Some(signature) = &certificate.signature else {
        return match wanted {
            None => VerifyCheck::absent("signature", "nobody has signed it"),
            Some(wanted) => {
                VerifyCheck::fails("signature", format!("it is not signed by {wanted}"))
            }
        };
    };
    if !certificate.digest.as_deref().is_some_and(|digest| signature.is_of(digest)) {
        return VerifyCheck::fails("signature", "the signature is not one of this certificate");
    }
    match wanted {
        Some(wanted) if wanted != signature.key => VerifyCheck::fails(
            "signature",
            format!("it is signed by {}, and not by {wanted}", signature.key),
        ),
        Some(_) => VerifyCheck::holds("signature", format!("signed by {}", signature.key)),
        None => VerifyCheck::holds(
            "signature",
            format!("signed by {}; whose key that is, you have to know", signature.key),
        ),
    }
}

/// What is left of a certificate after these checks; `derived` is what should stand there.
fn believed(
    stated: &Certificate,
    derived: Option<Certificate>,
    checks: &[VerifyCheck],
) -> Certificate {
    let failed = super::summary(checks);
    match derived {
        // Of two numbers that differ in the last digits the larger is shown.
        Some(derived) if failed.is_none() => {
            Certificate { epsilon: derived.epsilon.max(stated.epsilon), ..stated.clone() }
        }
        Some(derived) => {
            let reasons = derived.reasons.iter().cloned().chain(failed).collect();
            derived.disbelieved(reasons)
        }
        None => stated.clone().disbelieved(failed.into_iter().collect()),
    }
}
