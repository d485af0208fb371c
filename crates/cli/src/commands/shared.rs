//! Flags and words that several commands have in common.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::TypedValueParser;
use reticent::accountant::{Adjacency, Taint, Unit, View};
use reticent::admm::{AutoChoice, RunPart};
use reticent::simulate::rounds_if_learned;
use reticent::tables::Format;
use reticent::{Certificate, Document, Error, Model};
use serde::Serialize;

use crate::failure::CommandFailure;
use crate::flags::typed;
use crate::number::{self, JsonNumber};

/// A saved model and the table it is used on.
#[derive(Debug, Args)]
pub struct ModelAndData {
    /// The model: model.json, or the folder that it is in
    pub model: PathBuf,

    /// The table: CSV, TSV, LIBSVM or Parquet; text also as .gz, .xz, .bz2, .zst or .zip
    pub data: PathBuf,

    /// The format of the table, if its name does not show it
    #[arg(long, value_parser = format())]
    pub format: Option<Format>,

    /// The longest record of a text file, in bytes [default: 64000000]
    #[arg(long, value_name = "BYTES", value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    pub max_line: Option<u64>,
}

/// Reads a model, given by its file or its folder.
pub fn read_model(path: &Path) -> Result<Model, Error> {
    Model::read(&model_file(path))
}

fn model_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("model.json") } else { path.to_owned() }
}

pub(crate) use reticent::one_of;

/// One of the known formats.
pub fn format() -> impl TypedValueParser<Value = Format> {
    one_of!(Format)
}

/// What every answer about a model says of its certificate.
#[derive(Debug, Serialize)]
pub struct CertificateFields<'a> {
    epsilon: JsonNumber,
    delta: Option<f64>,
    adjacency: Adjacency,
    unit: Unit,
    view: View,
    certified: bool,
    reasons: &'a [String],
    noise: &'a str,
    accountant: &'a str,
    meaning: &'a str,
    algorithm: &'a str,
    choice: Option<&'a AutoChoice>,
    parts: Option<Vec<RunPart>>,
    #[serde(flatten)]
    without_guarantee: UnprovenEpsilons,
}

impl<'a> CertificateFields<'a> {
    /// The fields of this certificate.
    pub fn of(certificate: &'a Certificate) -> Self {
        CertificateFields {
            epsilon: certificate.epsilon.into(),
            delta: given_delta(certificate),
            adjacency: certificate.adjacency,
            unit: certificate.unit,
            view: certificate.view,
            certified: certificate.certified,
            reasons: &certificate.reasons,
            noise: &certificate.noise,
            accountant: &certificate.accountant,
            meaning: &certificate.meaning,
            algorithm: &certificate.algorithm,
            choice: certificate.choice.as_ref(),
            parts: certificate.parts(),
            without_guarantee: UnprovenEpsilons {
                claimed: certificate.claimed,
                counted: certificate.counted,
            },
        }
    }
}

/// What a paper says of a run as published, and what events would cost without the reasons why they
/// are no guarantee: neither is what holds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UnprovenEpsilons {
    /// The ε of the paper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed: Option<f64>,
    /// The ε of the events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<f64>,
}

/// The algorithm, and behind `auto` what it chose, as it would be typed.
pub fn algorithm(certificate: &Certificate) -> String {
    match &certificate.choice {
        Some(choice) => {
            let flags = choice.given().into_iter();
            let flags: Vec<_> =
                flags.map(|(name, value)| format!("--{} {value}", typed(name))).collect();
            format!("{}: {}", certificate.algorithm, flags.join(" "))
        }
        None => certificate.algorithm.clone(),
    }
}

/// Why `auto` took more rounds between parties than it takes in learned coordinates, where it did.
pub fn many_rounds(model: &Model, rounds: u32) -> Option<String> {
    let few = rounds_if_learned(model, rounds)?;
    Some(format!(
        "{rounds}, in the coordinates of the table: in learned ones auto takes {few}, and needs more signal for them \
         (docs/auto.md); --iterations sets the number"
    ))
}

/// A run without any noise has no δ that somebody gave.
fn given_delta(certificate: &Certificate) -> Option<f64> {
    (certificate.noise != "none").then_some(certificate.delta)
}

/// One row of a table for people.
pub fn row(name: &str, value: impl Into<String>) -> Vec<String> {
    vec![name.to_owned(), value.into()]
}

/// What was minimised, and by what, for people.
pub fn problem_rows(algorithm: &str, model: &Model) -> Vec<Vec<String>> {
    let described = model.described().into_iter().map(|(name, value)| row(name, value));
    std::iter::once(row("algorithm", algorithm)).chain(described).collect()
}

/// Above which probability the second of two classes is predicted.
#[derive(Clone, Copy, Debug)]
pub enum Threshold {
    /// This one.
    At(f64),
    /// Its share, as the model was told it.
    Prior,
}

impl Threshold {
    /// Reads a number, or the word.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "prior" => Ok(Threshold::Prior),
            _ => number::parse(text)
                .map(Threshold::At)
                .map_err(|_| "a number such as 0.3 is needed, or the word prior".to_owned()),
        }
    }

    /// The number that it is for a model.
    pub fn of(self, model: &Model) -> Result<f64, CommandFailure> {
        match self {
            Threshold::At(number) => Ok(number),
            Threshold::Prior => Ok(model.prior_threshold()?),
        }
    }
}

/// What was minimised, as fields of a result.
#[derive(Debug, Serialize)]
pub struct ProblemFields<'a> {
    loss: &'a str,
    penalty: &'a str,
    constraint: &'a str,
}

impl<'a> ProblemFields<'a> {
    /// The problem of this model.
    pub fn of(model: &'a Model) -> Self {
        let [loss, penalty, constraint] = model.problem();
        ProblemFields { loss, penalty, constraint }
    }
}

/// The same for people, as rows of a table.
pub fn certificate_rows(certificate: &Certificate) -> Vec<Vec<String>> {
    let claimed =
        certificate.claimed.map(|claimed| row("claimed (not proven)", number::show(claimed)));
    let delta = given_delta(certificate).map(|delta| row("delta", number::show_delta(delta)));
    let mut rows = vec![row("epsilon", epsilon(certificate))];
    rows.extend(delta);
    rows.extend([
        row("adjacency", certificate.adjacency.to_string()),
        row("unit", certificate.unit.to_string()),
        row("view", certificate.view.to_string()),
        row("certified", if certificate.certified { "yes" } else { "NO" }.to_owned()),
        row("noise", certificate.noise.clone()),
    ]);
    rows.extend(certificate.parts().map(|parts| row("parts", in_words(parts))));
    rows.into_iter().chain(claimed).collect()
}

/// The parts of a budget, for people.
fn in_words(parts: Vec<RunPart>) -> String {
    let part = |part: RunPart| {
        let times = if part.answers == 1 { "once" } else { &format!("{} times", part.answers) };
        match part.share {
            Some(share) => format!("{:.0} % for the {}, {times}", 100.0 * share, part.what),
            None => format!("the {}, {times}", part.what),
        }
    };
    parts.into_iter().map(part).collect::<Vec<_>>().join("; ")
}

/// ε as it is shown: a number only where it is a guarantee.
fn epsilon(certificate: &Certificate) -> String {
    if certificate.certified {
        number::show_up(certificate.epsilon)
    } else {
        "none (not bounded)".to_owned()
    }
}

/// The certificate of a model that is there already, as it is to be believed. One that cannot be
/// read has no budget to remind of.
pub fn certificate_before(folder: &Path) -> Option<Certificate> {
    let before = Document::read(&model_file(folder)).ok()?;
    Some(before.verify(None).certificate)
}

/// What to remember when a model takes the place of another.
pub fn replaces(before: &Certificate) -> String {
    if !before.certified {
        return "It replaces the model that was there, which had no guarantee. If that one was seen by anybody, what it \
                revealed has no bound."
            .to_owned();
    }
    format!(
        "It replaces the model that was there, fitted at epsilon = {}, delta = {}. If that one was seen by anybody, \
         what both reveal adds up, if both are about the same neighbours and unit (docs/which-epsilon.md).",
        number::show_up(before.epsilon),
        number::show_delta(before.delta)
    )
}

/// What a file is that has a certificate alone.
pub const CERTIFICATE: &str = " (the certificate)";

/// What must be shouted: a run whose numbers are no guarantee.
pub fn not_private(certificate: &Certificate) -> Option<String> {
    let Certificate { certified, reasons, ledger, .. } = certificate;
    let what = if certificate.is_of_figures() { "these figures" } else { "this model" };
    (!certified).then(|| {
        let todo = if ledger.taints().contains(&Taint::UnpaidRead) {
            " If it was the schema, and the table is public, say so in the schema, with public = true under [drafted] \
             (docs/schema.md). If it was the labels (--skew label:A), deal by iid or size:A."
        } else {
            ""
        };
        format!("{} Do not publish {what} as private.{todo}", shouted(reasons))
    })
}

/// The reasons why something is no guarantee, for whoever reads nothing else.
pub fn shouted(reasons: &[String]) -> String {
    let reasons: Vec<_> =
        reasons.iter().map(|reason| reason.trim_end_matches(": NOT PRIVATE")).collect();
    format!("NOT PRIVATE: {}.", reasons.join("; "))
}
