//! Flags and words that several commands have in common.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use reticent::accountant::{Adjacency, Unit};
use reticent::tables::Format;
use reticent::{Certificate, Error, Model};
use serde_json::{Map, Value, json};

use crate::number;

/// How long a run took, in seconds, where that tells nothing that is protected: it tells of the number of records, which is public
/// only if records are replaced or nothing is private. In hundredths: a finer clock sees what single records are like.
pub fn seconds(certificate: &Certificate, time: Duration) -> Option<f64> {
    let is_public = (certificate.adjacency, certificate.unit) == (Adjacency::ReplaceOne, Unit::Record)
        || certificate.epsilon.is_infinite();
    is_public.then(|| (time.as_secs_f64() * 100.0).round() / 100.0)
}

/// A saved model and the table it is used on.
#[derive(Debug, Args)]
pub struct ModelAndData {
    /// The model: model.json, or the folder that it is in
    pub model: PathBuf,

    /// The table: CSV, TSV, LIBSVM or Parquet; text also as .gz or .xz
    pub data: PathBuf,

    /// How the table is written, where its name does not tell
    #[arg(long, value_parser = format())]
    pub format: Option<Format>,
}

/// Reads a model, given by its file or its folder.
pub fn read_model(path: &Path) -> Result<Model, Error> {
    Model::read(&model_file(path))
}

fn model_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("model.json") } else { path.to_owned() }
}

/// One of the known formats.
pub fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(|(name, _)| name)).try_map(|name| name.parse::<Format>())
}

/// What every answer about a model says of its certificate.
pub fn certificate_fields(certificate: &Certificate) -> Map<String, Value> {
    let object = json!({
        "epsilon": number::json(certificate.epsilon),
        "delta": given_delta(certificate),
        "adjacency": certificate.adjacency.name(),
        "unit": certificate.unit.name(),
        "view": certificate.view.name(),
        "certified": certificate.certified,
        "noise": certificate.noise,
        "accountant": certificate.accountant,
        "meaning": certificate.meaning,
        "algorithm": certificate.algorithm,
        "choice": certificate.choice,
    });
    match object {
        Value::Object(mut map) => {
            // A run as published: what the paper says, which is not what holds.
            map.extend(certificate.claimed.map(|claimed| ("claimed".to_owned(), claimed.into())));
            map
        }
        _ => Map::new(),
    }
}

/// The algorithm, and behind `auto` what it chose, as it would be typed.
pub fn algorithm(certificate: &Certificate) -> String {
    match &certificate.choice {
        Some(choice) => format!("{}: {choice}", certificate.algorithm),
        None => certificate.algorithm.clone(),
    }
}

/// A run without any noise has no δ that somebody gave.
fn given_delta(certificate: &Certificate) -> Option<f64> {
    (certificate.noise != "none").then_some(certificate.delta)
}

/// The same for people, as rows of a table.
pub fn certificate_rows(certificate: &Certificate) -> Vec<Vec<String>> {
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let claimed = certificate.claimed.map(|claimed| row("claimed (not proven)", number::show(claimed)));
    let delta = given_delta(certificate).map(|delta| row("delta", format!("{delta:e}")));
    let mut rows = vec![row("epsilon", number::show_up(certificate.epsilon))];
    rows.extend(delta);
    rows.extend([
        row("adjacency", certificate.adjacency.to_string()),
        row("unit", certificate.unit.to_string()),
        row("view", certificate.view.to_string()),
        row("certified", if certificate.certified { "yes" } else { "NO" }.to_owned()),
        row("noise", certificate.noise.clone()),
    ]);
    rows.into_iter().chain(claimed).collect()
}

/// A budget above this is remarked on: odds may move by a factor of more than 20,000.
const MUCH: f64 = 10.0;

/// What is promised and true, and yet worth little. Said and not refused: the choice is the user's.
pub fn weak(certificate: &Certificate) -> Vec<String> {
    let Certificate { epsilon, delta, population, unit, certified, .. } = certificate;
    let mut remarks = Vec::new();
    if *certified && *delta * *population as f64 >= 1.0 {
        remarks.push(format!(
            "delta = {delta:e} is not below one over the number of {unit}s ({population}): whoever published whole \
             {unit}s at random, one in {:.0}, would keep that promise too. Take a delta far below {:.0e}.",
            1.0 / delta,
            1.0 / *population as f64
        ));
    }
    if *certified && *epsilon > MUCH {
        remarks.push(format!(
            "epsilon = {} is large: the odds of a guess about one {unit} may move by a factor of e^{0}. Values from \
             0.1 to {MUCH} are usual (docs/which-epsilon.md).",
            number::show_up(*epsilon)
        ));
    }
    remarks
}

/// What to remember when a model takes the place of another.
pub fn replaces(before: &Certificate) -> String {
    if before.noise == "none" {
        return "It replaces the model that was there, which was fitted without privacy.".to_owned();
    }
    format!(
        "It replaces the model that was there, fitted at epsilon = {}, delta = {:e}. If that one was seen by anybody, \
         what both reveal adds up.",
        number::show_up(before.epsilon),
        before.delta
    )
}

/// What must be shouted: a run whose numbers are no guarantee.
pub fn not_private(certificate: &Certificate) -> Option<String> {
    let reasons: Vec<_> =
        certificate.reasons.iter().map(|reason| reason.trim_end_matches(": NOT PRIVATE")).collect();
    let reasons = reasons.join("; ");
    (!certificate.certified).then(|| format!("NOT PRIVATE: {reasons}. Do not publish this model as private."))
}
