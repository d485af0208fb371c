//! `reticent inspect`: what a model is and what is guaranteed, read out of its file.

use std::path::PathBuf;

use clap::Args;
use reticent::{
    Certificate, Coefficient, ColumnCurve, ColumnCurvePoint, Document, Model, PairSurface,
    StandardErrors, Standing, Units, Verification,
};
use reticent_core::calendar::day_text;
use serde::Serialize;

use super::shared::{
    CertificateFields, algorithm, certificate_rows, not_private, problem_rows, row,
};
use super::surfaces::surfaces;
use super::verify::{self, VerificationFields};
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number::show;

/// So many coefficients are shown without `--all`.
const MANY: usize = 20;

#[derive(Debug, Args)]
pub struct Inspect {
    /// model.json, certificate.json, or the folder that they are in
    file: PathBuf,

    /// Show every coefficient, not only the largest
    #[arg(long)]
    all: bool,
}

impl Inspect {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let document = Document::read(&self.file)?;
        // What holds, whatever is written there.
        let verification = document.verify(None);
        let certificate = &verification.certificate;
        let name = algorithm(certificate);
        let mut rows = match document.model() {
            Some(model) => problem_rows(&name, model),
            None => vec![row("algorithm", &name)],
        };
        rows.extend(certificate_rows(certificate));
        rows.push(row("accountant", &certificate.accountant));
        rows.push(row("verified", verified(&verification)));
        rows.extend(verification.signer.as_ref().map(|signer| row("signed by", signer)));
        let mut text = columns(&rows, 2, 2);
        text += &format!("\n{}\n", wrapped(&certificate.meaning));
        text += &document.model().map(|model| coefficients(model, self.all)).unwrap_or_default();
        text += &document.model().map(|model| curves(model, self.all)).unwrap_or_default();
        text += &document.model().map(|model| surfaces(model, self.all)).unwrap_or_default();
        text += &document.model().and_then(Model::standard_errors).map(errors).unwrap_or_default();

        let inspected = InspectedFile {
            model: document.model().map(ModelFields::of),
            certificate,
            fields: CertificateFields::of(certificate),
            verification: VerificationFields::of(&verification),
        };
        let mut remarks: Vec<String> = not_private(certificate).into_iter().collect();
        let file = document.path().display().to_string();
        match verification.standing() {
            Standing::Fails => remarks.extend(verify::alarm(&file, &verification)),
            Standing::Unverifiable => remarks.push(verify::unverifiable(&file)),
            Standing::Holds => (),
        }
        Ok(Answer { remarks, ..Answer::of(text, &inspected) })
    }
}

/// All that a file has, its certificate as it is to be believed.
#[derive(Serialize)]
struct InspectedFile<'a> {
    #[serde(flatten)]
    model: Option<ModelFields<'a>>,
    /// In the place of the model's own: of fields of one name the later counts.
    certificate: &'a Certificate,
    #[serde(flatten)]
    fields: CertificateFields<'a>,
    #[serde(flatten)]
    verification: VerificationFields<'a>,
}

/// A model, and what follows from it.
#[derive(Serialize)]
struct ModelFields<'a> {
    #[serde(flatten)]
    model: &'a Model,
    units: Units,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    curves: Vec<ColumnCurve>,
    #[serde(rename = "pairs", skip_serializing_if = "Vec::is_empty")]
    surfaces: Vec<PairSurface>,
}

impl<'a> ModelFields<'a> {
    fn of(model: &'a Model) -> Self {
        let (units, curves, surfaces) = (model.units(), model.curves(), model.surfaces());
        ModelFields { model, units, curves, surfaces }
    }
}

fn verified(verification: &Verification) -> &'static str {
    match verification.standing() {
        Standing::Holds => "yes",
        Standing::Unverifiable => "no: it has no digest",
        Standing::Fails => "NO: it contradicts itself or was changed",
    }
}

/// Which of a column's weights are shown: those of the encoded column, those per unit.
type Pick<'a> = &'a dyn Fn(&[f64], &[f64]) -> Vec<f64>;

fn coefficients(model: &Model, all: bool) -> String {
    let units = model.units();
    let mut sorted: Vec<(&Coefficient, &Coefficient)> =
        model.coefficients().iter().zip(&units.coefficients).collect();
    let size =
        |c: &Coefficient| c.values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    sorted.sort_by(|a, b| size(b.0).total_cmp(&size(a.0)));
    let shown = if all { sorted.len() } else { MANY.min(sorted.len()) };
    // Of one output the two numbers stand side by side, of several in two tables.
    let side_by_side = units.of.len() == 1;
    let table = |heads: Vec<String>, values: Pick<'_>| {
        let line = |name: &str, encoded: &[f64], units: &[f64]| {
            let numbers = values(encoded, units).into_iter().map(show);
            std::iter::once(name.to_owned()).chain(numbers).collect::<Vec<_>>()
        };
        let mut rows = vec![heads];
        if !model.intercept().is_empty() {
            rows.push(line("(intercept)", model.intercept(), &units.intercept));
        }
        rows.extend(sorted[..shown].iter().map(|(a, b)| line(&a.name, &a.values, &b.values)));
        columns(&rows, 2, 1)
    };
    let head = |first: &str, rest: &[String]| {
        std::iter::once(first.to_owned()).chain(rest.iter().cloned()).collect::<Vec<_>>()
    };
    let mut text = if side_by_side {
        let names = ["encoded".to_owned(), "per unit".to_owned()];
        let both = |encoded: &[f64], units: &[f64]| vec![encoded[0], units[0]];
        format!("What moves the {}:\n{}", units.of[0], table(head("coefficient", &names), &both))
    } else {
        let encoded = table(head("encoded", &units.of), &|encoded, _| encoded.to_vec());
        encoded + "\n" + &table(head("per unit", &units.of), &|_, units| units.to_vec())
    };
    if shown < sorted.len() {
        text += &format!("  … and {} smaller ones; --all shows them\n", sorted.len() - shown);
    }
    text + "  (encoded: numbers scaled by their bounds, 0/1 for a category; per unit: for one more of the\n   \
            column as the table has it, within its bounds and the row norm)\n"
}

/// So many curves are shown without `--all`.
const MANY_CURVES: usize = 8;

/// Columns that are bent: what each adds at its bounds and its knots, drawn with signs.
fn curves(model: &Model, all: bool) -> String {
    let curves = model.curves();
    let shown = if all { curves.len() } else { MANY_CURVES.min(curves.len()) };
    let Some(first) = curves.first() else { return String::new() };
    let mut text = String::new();
    for (k, of) in first.of.iter().enumerate() {
        let head = ["column", "from", "to", "lowest", "highest", "from left to right"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        rows.extend(curves[..shown].iter().map(|curve| curve_row(curve, k)));
        text += &format!("\nCurves of the {of}, the widest range first:\n{}", columns(&rows, 2, 9));
    }
    if shown < curves.len() {
        text += &format!("  … and {} that move less; --all shows them\n", curves.len() - shown);
    }
    text + "  (what is added for a value of the column, less the mean over its knots; --json has every point)\n"
}

fn curve_row(curve: &ColumnCurve, k: usize) -> Vec<String> {
    let values = || curve.points.iter().map(|at| at.values[k]);
    let low = values().fold(f64::INFINITY, f64::min);
    let high = values().fold(f64::NEG_INFINITY, f64::max);
    let end = |x: f64| if curve.days { day_text(x as i64) } else { show(x) };
    let end = |at: &ColumnCurvePoint| at.category.clone().unwrap_or_else(|| end(at.x));
    let (from, to) = (&curve.points[0], &curve.points[curve.points.len() - 1]);
    // By knots, which are equally far apart on a scale that is bent; categories one by one.
    let step = match &from.category {
        Some(_) => 1,
        None => (curve.points.len() - 1) / (curve.knots.len() + 1),
    };
    let drawn = values().step_by(step.max(1)).map(|value| bar((value - low) / (high - low)));
    vec![curve.column.clone(), end(from), end(to), show(low), show(high), drawn.collect()]
}

/// A part of the whole height as one sign.
fn bar(part: f64) -> char {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    BARS[(part * 7.0).round().clamp(0.0, 7.0) as usize]
}

/// What intervals do not cover, for whoever reads them.
const NOT_COVERED: &str = "An interval covers sampling and the noise of privacy, if the records were drawn \
    independently and the model is true of them. It covers neither values outside their declared bounds nor rows \
    longer than the row norm, which were cut, nor what the columns leave out. The estimates are those of the loss \
    without a penalty: they are not the weights above, which predict.";

/// The estimates, as whoever reports them wants them.
fn errors(found: &StandardErrors) -> String {
    let of = &found.of;
    if let Some(why) = &found.hidden {
        let text = format!(
            "No standard errors of the {of} can be given, though they were paid for: {why}."
        );
        return format!("\n{}\n", wrapped(&text));
    }
    let heads = ["per unit", "estimate", "std. error", "from", "to (95 %)"];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    for estimate in &found.estimates {
        let (from, to) = estimate.interval();
        let name = match (&estimate.against, estimate.encoded) {
            (Some(against), _) => format!("{}, not {against}", estimate.name),
            (None, true) => format!("{} (encoded)", estimate.name),
            (None, false) => estimate.name.clone(),
        };
        let numbers = [estimate.estimate, estimate.standard_error, from, to].map(show);
        rows.push(std::iter::once(name).chain(numbers).collect());
    }
    let head = format!("\nWhat moves the {of} in the population, estimated:\n");
    format!("{head}{}{}\n", columns(&rows, 2, 1), wrapped(NOT_COVERED))
}
