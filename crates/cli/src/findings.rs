//! What a check of a file found, for a page.

use reticent::{Check, Document, Outcome as Checked, Standing};
#[cfg(feature = "serve")]
use reticent_report::Subject;
use reticent_report::{Finding, Findings, Outcome};

/// Every check that `verify` does.
pub fn findings(document: &Document) -> Findings {
    let finding = |Check { name, outcome, said }: Check| Finding {
        outcome: match outcome {
            Checked::Holds => Outcome::Holds,
            Checked::Fails => Outcome::Fails,
            Checked::Absent => Outcome::Absent,
        },
        words: format!("{name}: {said}"),
    };
    let verification = document.verify(None);
    Findings {
        verifiable: verification.standing() != Standing::Unverifiable,
        signed: verification.signer.is_some(),
        list: verification.checks.into_iter().map(finding).collect(),
    }
}

/// More different entries than this are not counted for somebody who sends a file.
#[cfg(feature = "serve")]
const MOST_ENTRIES: usize = 256;

/// A model or a certificate that somebody sent, checked and counted; or why it is neither.
#[cfg(feature = "serve")]
pub fn subject(name: &str, text: &str) -> Result<Subject, String> {
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
    let found = findings(&document);
    let subject = match document.model() {
        Some(model) => Subject::of_model(name, model.clone(), found),
        None => Subject::of_certificate(name, certificate.clone(), found),
    };
    subject.map_err(|error| error.to_string())
}
