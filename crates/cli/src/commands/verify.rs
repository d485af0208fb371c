//! `reticent verify`: whether a model or a certificate says what holds.

use std::path::PathBuf;

use clap::Args;
use reticent::{CheckOutcome, Document, PublicKey, Standing, Verification, VerifyCheck};
use serde::Serialize;

use super::shared::{CertificateFields, certificate_rows};
use crate::answer::{ALARM, Answer};
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};

#[derive(Debug, Args)]
#[command(
    after_help = "Exits with 1 if a check fails, or is impossible because a file of an earlier version has no \
                        digest. A digest detects accidents and edits; only a signature detects an edit with a \
                        recomputed digest. docs/certificates.md describes how to check without this program."
)]
pub struct Verify {
    /// model.json, certificate.json, or the folder that they are in
    file: PathBuf,

    /// Require a signature by this public key
    #[arg(long, value_name = "PUB")]
    key: Option<PathBuf>,
}

impl Verify {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let fail = |error| CommandFailure::of("verify", error);
        let key = self.key.as_deref().map(PublicKey::read).transpose().map_err(fail)?;
        let document = Document::read(&self.file).map_err(fail)?;
        let verification = document.verify(key.as_ref());
        let file = document.path().display().to_string();

        let mut text = format!("{file}: {}\n\n", words(verification.standing()));
        let row = |check: &VerifyCheck| {
            let outcome = match check.outcome {
                CheckOutcome::Holds => "holds",
                CheckOutcome::Fails => "FAILS",
                CheckOutcome::Absent => "-",
            };
            vec![check.name.clone(), outcome.to_owned(), check.said.clone()]
        };
        text += &columns(&verification.checks.iter().map(row).collect::<Vec<_>>(), 2, 3);
        text += &format!("\n{}", columns(&certificate_rows(&verification.certificate), 2, 2));
        text += &format!("\n{}", wrapped(&verification.certificate.meaning));

        let remarks = alarm(&file, &verification).into_iter().collect();
        let verified = VerifiedFile {
            verification: VerificationFields::of(&verification),
            file,
            certificate: CertificateFields::of(&verification.certificate),
        };
        Ok(Answer { remarks, ..Answer::of(text, &verified) })
    }
}

/// In a few words.
fn words(standing: Standing) -> &'static str {
    match standing {
        Standing::Holds => "holds",
        Standing::Unverifiable => "cannot be verified",
        Standing::Fails => "DOES NOT HOLD",
    }
}

/// A file, its checks and its certificate.
#[derive(Serialize)]
struct VerifiedFile<'a> {
    #[serde(flatten)]
    verification: VerificationFields<'a>,
    file: String,
    #[serde(flatten)]
    certificate: CertificateFields<'a>,
}

/// What every answer about a file says of its checks.
#[derive(Debug, Serialize)]
pub struct VerificationFields<'a> {
    holds: bool,
    standing: Standing,
    checks: &'a [VerifyCheck],
    signer: Option<&'a str>,
}

impl<'a> VerificationFields<'a> {
    /// The fields of this verification.
    pub fn of(verification: &'a Verification) -> Self {
        VerificationFields {
            holds: verification.holds(),
            standing: verification.standing(),
            checks: &verification.checks,
            signer: verification.signer.as_deref(),
        }
    }
}

/// For whoever reads nothing else.
pub fn alarm(file: &str, verification: &Verification) -> Option<String> {
    match (verification.standing(), verification.summary()) {
        (_, Some(failing)) => Some(format!("{ALARM}: {file} does not hold: {failing}.")),
        (Standing::Unverifiable, _) => Some(format!("{ALARM}: {}", unverifiable(file))),
        _ => None,
    }
}

/// What is said of a file without a digest.
pub fn unverifiable(file: &str) -> String {
    format!(
        "{file} cannot be verified: it is of an earlier version, without a digest. Nothing in it contradicts its \
         ledger."
    )
}
