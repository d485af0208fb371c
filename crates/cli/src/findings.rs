//! What a check of a certificate found, for a page.

#[cfg(feature = "serve")]
use reticent::Model;
use reticent::{Certificate, Error};
#[cfg(feature = "serve")]
use reticent_report::Subject;
use reticent_report::{Finding, Findings, Outcome};

/// Compares what a certificate says with what its ledger costs.
pub fn findings(certificate: &Certificate) -> Result<Findings, Error> {
    let recounted = certificate.clone().recounted()?;
    let finding = |holds: bool, words: &str| Finding {
        outcome: if holds { Outcome::Holds } else { Outcome::Fails },
        words: words.to_owned(),
    };
    let list = vec![
        finding(
            recounted.certified == certificate.certified
                && recounted.epsilon <= certificate.epsilon,
            "ε was recomputed from the ledger, and is not more than the file says",
        ),
        finding(
            recounted.meaning == certificate.meaning && recounted.noise == certificate.noise,
            "the sentence about it and the kind of noise are those of the ledger",
        ),
    ];
    Ok(Findings { list })
}

/// More different entries than this are not counted for somebody who sends a file.
#[cfg(feature = "serve")]
const MOST_ENTRIES: usize = 256;

/// A model or a certificate that somebody sent, checked and counted; or why it is neither.
#[cfg(feature = "serve")]
pub fn subject(name: &str, text: &str) -> Result<Subject, String> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let is_model = value.get("certificate").is_some();
    let read = |error: serde_json::Error| error.to_string();
    let (model, certificate) = if is_model {
        let model: Model = serde_json::from_value(value).map_err(read)?;
        (Some(model.clone()), model.certificate().clone())
    } else {
        (None, serde_json::from_value::<Certificate>(value).map_err(read)?)
    };
    if certificate.ledger.entries().len() > MOST_ENTRIES {
        return Err(format!(
            "its ledger has more than {MOST_ENTRIES} entries; use `reticent verify`"
        ));
    }
    let found = findings(&certificate).map_err(|error| error.to_string())?;
    let subject = match model {
        Some(model) => Subject::of_model(name, model, found),
        None => Subject::of_certificate(name, certificate, found),
    };
    subject.map_err(|error| error.to_string())
}
