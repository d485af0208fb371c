//! What a file says, hashed as it stands there.

use serde_json::Error;

use crate::canonical::CanonicalObject;
use crate::model::body_digest;

/// What a certificate says of itself from outside: its digest covers neither.
const AROUND: [&str; 2] = ["digest", "signature"];

/// The digests of a file: of a model and its certificate, or of a certificate alone.
#[derive(Clone, Debug)]
pub(crate) struct Stated {
    /// Of weights, preprocessing and settings, where there is a model.
    pub body: Option<String>,
    /// Of the certificate, without its digest and its signature.
    pub digest: String,
    /// The certificate, in canonical form.
    pub certificate: String,
}

impl Stated {
    /// Of the text of a model. Refuses what two readers may read in two ways.
    pub fn of_model(text: &str) -> Result<Self, Error> {
        let object = CanonicalObject::read(text)?;
        let inside = object.get("certificate");
        let inside = inside.ok_or_else(|| serde::de::Error::missing_field("certificate"))?;
        Ok(Stated { body: Some(body_digest(&object)?), ..Self::of_certificate(inside)? })
    }

    /// The statement in the text of a certificate.
    pub fn of_certificate(text: &str) -> Result<Self, Error> {
        let object = CanonicalObject::read(text)?;
        let digest = object.digest_without(&AROUND)?;
        Ok(Stated { body: None, digest, certificate: object.text()? })
    }
}
