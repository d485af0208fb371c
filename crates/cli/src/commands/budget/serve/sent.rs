//! A file that somebody sends to be verified.

use reticent::Document;
use reticent_report::{Findings, ReportSubject};

/// More different entries than this are not counted for somebody who sends a file.
const MOST_ENTRIES: usize = 256;

/// A model or a certificate that somebody sent, checked and counted; or why it is neither.
pub fn subject(name: &str, text: &str) -> Result<ReportSubject, String> {
    let document = Document::parse(text).map_err(|error| match error {
        reticent::Error::Model { reason, .. } => reason,
        other => other.to_string(),
    })?;
    let certificate = document.certificate();
    if certificate.ledger.entries().len() > MOST_ENTRIES {
        return Err(format!(
            "its ledger has more than {MOST_ENTRIES} entries; use `reticent verify`"
        ));
    }
    let found = Findings::of(&document);
    let subject = match document.model() {
        Some(model) => ReportSubject::of_model(name, model.clone(), found),
        None => ReportSubject::of_certificate(name, certificate.clone(), found),
    };
    subject.map_err(|error| error.to_string())
}
