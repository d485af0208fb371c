//! The evaluation within a budget: one noisy answer, figures with intervals, and a certificate.

use std::path::{Path, PathBuf};

use clap::Args;
use reticent::accountant::{Taint, Unit};
use reticent::internal::check_new;
use reticent::tables::Schema;
use reticent::{
    Certificate, Estimate, Evaluated, Evaluation, Files, Guarantee, Model, PrivateClasses,
    PrivateNumbers, PrivateQuality, Run,
};
use serde::Serialize;

use super::super::shared::{CertificateFields, certificate_rows, shouted};
use super::plain::{AVERAGE, MANY};
use crate::answer::Answer;
use crate::delivery::{Delivery, OutputPlaces};
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number::{self, JsonNumber, show};
use crate::parties::{BetweenFlags, Paying, QuestionParties};
use crate::progress::JobBar;
use crate::purse::{JobName, PurseFlags};
use crate::repeated::given_twice;

/// What may be done where a model does not tell whether the table is the file of its schema.
const ASK_FOR_DRAFT: &str = " A model does not know the file that its schema was drafted from: if the table is \
                             another, give the draft with --schema and the two are compared (docs/schema.md).";

/// Above the flags of an evaluation within a budget.
const HEADING: &str = "Within a budget (docs/evaluate.md)";

/// What is said of a budget needs one.
fn of_a_budget(flag: clap::Arg) -> clap::Arg {
    match flag.get_id().as_str() {
        "epsilon" => flag.help_heading(HEADING),
        "delta" | "adjacency" | "unit" | "public_n" | "seed" => {
            flag.requires("epsilon").help_heading(HEADING)
        }
        "trust" | "split" | "honest" | "party_budget" => flag.requires("epsilon"),
        _ => flag,
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = HEADING, mut_args(of_a_budget))]
pub struct PrivateFlags {
    #[command(flatten)]
    guarantee: Guarantee,

    /// Bins of scores, from 2 to 200 [default: as many as suit the noise]
    #[arg(long, value_name = "N", requires = "epsilon", value_parser = number::whole::<u32>, allow_negative_numbers = true)]
    bins: Option<u32>,

    /// The confidence of the intervals [default: 0.95]
    #[arg(long, value_name = "C", requires = "epsilon", value_parser = number::parse, allow_negative_numbers = true)]
    confidence: Option<f64>,

    /// The schema of the fit, if it was drafted from a file that is not public: without it the
    /// program cannot tell whether the table is that file
    #[arg(long, value_name = "FILE", requires = "epsilon")]
    schema: Option<PathBuf>,

    /// Keep the cache file and reuse it while the table is unchanged
    #[arg(long, requires = "cache", requires = "epsilon")]
    keep_cache: bool,

    /// Write the figures, with their certificate, to this file (JSON)
    #[arg(long, value_name = "FILE", requires = "epsilon")]
    out: Option<PathBuf>,

    #[command(flatten)]
    purse: PurseFlags,

    #[command(flatten)]
    between: BetweenFlags,
}

impl PrivateFlags {
    /// Whether there is a budget.
    pub fn is_asked(&self) -> bool {
        self.guarantee.epsilon.is_some() || self.purse.is_given()
    }

    /// Does it.
    pub fn run(
        self,
        model: &Model,
        (path, files): (&Path, Files),
        threshold: Option<f64>,
        force: bool,
    ) -> Result<Answer, CommandFailure> {
        if self.guarantee.asked().is_none() {
            return Err(CommandFailure::Usage {
                message: "an evaluation within a budget needs an epsilon and a delta of its own"
                    .to_owned(),
                hint: "give --epsilon and --delta".to_owned(),
            });
        }
        let mut evaluation = self.evaluation(threshold);
        if let Some(path) = &self.schema {
            evaluation = evaluation.draft(Schema::read(path)?);
        }
        let job = evaluation.check(model)?;
        if let Some(out) = &self.out {
            check_new(out, force)?;
        }
        let files = files.with(|it| it.keep_cache = self.keep_cache);
        let label = format!("evaluation of {}", path.display());
        let asked = AskedEvaluation {
            evaluation: self.guarantee,
            threshold,
            bins: self.bins,
            confidence: self.confidence,
            model: model.to_json()?,
            parties: self.between.described(),
        };
        let name = JobName::kept(&label, &asked, &files, self.schema.as_slice());
        let purse = self
            .purse
            .open(&self.guarantee, &files, name, || self.between.plan_beforehand(&job))?;
        let mut bar = JobBar::new("iteration");
        let mut watch = |stage| bar.watch(stage);
        let run = Run::watched(&mut watch);
        let deliver = |evaluated: &mut Evaluated| {
            let mut answer = answer(model, evaluated, threshold);
            answer.remarks.extend(given_twice(&files.paths));
            let whole = format!("{:#}\n", answer.object);
            Ok(Delivery::of(answer, "file", "", whole))
        };
        let paying = Paying { purse, label: &label, guarantee: &self.guarantee };
        let done = self.between.ask(&job, &files, paying, run, deliver);
        bar.finish();
        let (delivery, charged) = done?;
        Ok(delivery.hand_over(&OutputPlaces::default().and("file", self.out.as_deref()), charged))
    }

    fn evaluation(&self, threshold: Option<f64>) -> Evaluation {
        let mut evaluation = Evaluation::of(self.guarantee);
        if let Some(threshold) = threshold {
            evaluation = evaluation.threshold(threshold);
        }
        if let Some(bins) = self.bins {
            evaluation = evaluation.bins(bins as usize);
        }
        if let Some(confidence) = self.confidence {
            evaluation = evaluation.confidence(confidence);
        }
        evaluation
    }
}

/// All that tells an evaluation from others in a budget.
#[derive(Serialize)]
struct AskedEvaluation {
    evaluation: Guarantee,
    threshold: Option<f64>,
    bins: Option<u32>,
    confidence: Option<f64>,
    model: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parties: Option<QuestionParties>,
}

/// The figures of a model, and what covers them.
#[derive(Serialize)]
struct EvaluatedModel<'a> {
    #[serde(flatten)]
    figures: Option<NoisyFigures<'a>>,
    #[serde(flatten)]
    fields: CertificateFields<'a>,
    threshold: Option<f64>,
    confidence: f64,
    private: bool,
    note: &'static str,
    certificate: &'a Certificate,
}

/// By the target of the model.
#[derive(Serialize)]
#[serde(untagged)]
enum NoisyFigures<'a> {
    Classes(NoisyClassFigures<'a>),
    Range(NoisyRangeFigures),
}

/// The figures of a model of classes.
#[derive(Serialize)]
struct NoisyClassFigures<'a> {
    accuracy: FigureFields,
    auc: FigureFields,
    auc_average: Option<&'static str>,
    log_loss: Option<FigureFields>,
    calibration_error: Option<FigureFields>,
    reliability: Vec<ReliabilityFields<'a>>,
    confusion: ConfusionFields<'a>,
    bins: usize,
    n: f64,
    n_is_exact: bool,
    sampling_error: &'static str,
}

/// The observed share of a class among records with a predicted probability in one range.
#[derive(Serialize)]
struct ReliabilityFields<'a> {
    class: Option<&'a str>,
    probability: [f64; 2],
    n: f64,
    share: Option<f64>,
    interval: [f64; 2],
}

/// Who was taken for what: a row for each class.
#[derive(Serialize)]
struct ConfusionFields<'a> {
    classes: Vec<&'a str>,
    counts: &'a [Vec<f64>],
    margin: f64,
}

/// The figures of a model of a number.
#[derive(Serialize)]
struct NoisyRangeFigures {
    r2: FigureFields,
    mae: FigureFields,
    mse: FigureFields,
    rmse: FigureFields,
    n: f64,
    n_is_exact: bool,
    sampling_error: &'static str,
}

/// A figure for programs.
#[derive(Serialize)]
struct FigureFields {
    value: Option<f64>,
    interval: [JsonNumber; 2],
    noise: JsonNumber,
    discretisation: JsonNumber,
    population: Option<[JsonNumber; 2]>,
}

impl From<&Estimate> for FigureFields {
    fn from(estimate: &Estimate) -> Self {
        FigureFields {
            value: estimate.value,
            interval: estimate.interval.map(JsonNumber),
            noise: estimate.noise.into(),
            discretisation: estimate.discretisation.into(),
            population: estimate.population.map(|ends| ends.map(JsonNumber)),
        }
    }
}

fn answer(model: &Model, evaluated: &Evaluated, threshold: Option<f64>) -> Answer {
    let Evaluated { quality, confidence, certificate, .. } = evaluated;
    let percent = format!("{} %", (1e4 * confidence).round() / 100.0);
    let unit = certificate.unit;
    let (mut text, figures) = match quality {
        PrivateQuality::Classes(quality) => classes(model, quality, &percent, unit),
        PrivateQuality::Range(quality) => numbers(quality, &percent, unit),
        other => (format!("{other:?}\n"), None),
    };
    text += &format!("\n{}\n", columns(&certificate_rows(certificate), 2, 2));
    let note = note(certificate.certified);
    text += &wrapped(&format!("{note} {}", certificate.meaning));
    let evaluated = EvaluatedModel {
        figures,
        fields: CertificateFields::of(certificate),
        threshold,
        confidence: *confidence,
        private: certificate.certified,
        note,
        certificate,
    };
    let mut remarks = Vec::new();
    if !certificate.certified {
        let unpaid = certificate.ledger.taints().contains(&Taint::UnpaidRead);
        remarks.push(format!(
            "{} Do not publish these figures as private.{}",
            shouted(&certificate.reasons),
            if unpaid { ASK_FOR_DRAFT } else { "" }
        ));
    }
    remarks.extend(certificate.weaknesses());
    Answer { remarks, ..Answer::of(text, &evaluated) }
}

fn note(certified: bool) -> &'static str {
    if certified {
        "The certificate is about the people of the table that was evaluated on. If they are those that the model was \
         trained on, what both show adds up: a budget (--budget) counts it."
    } else {
        "There is no certificate that could be relied on."
    }
}

/// A row: the figure, where it is, and where that of the population is.
fn row(name: &str, estimate: &Estimate) -> Vec<String> {
    let ends = |ends: [f64; 2]| format!("{} to {}", show(ends[0]), show(ends[1]));
    vec![
        name.to_owned(),
        estimate.value.map_or("too much noise".to_owned(), show),
        ends(estimate.interval),
        estimate.population.map_or("–".to_owned(), ends),
    ]
}

fn heads(percent: &str) -> Vec<String> {
    let table = format!("{percent} of this table");
    ["", "value", table.as_str(), "with sampling error"].map(str::to_owned).to_vec()
}

fn classes<'a>(
    model: &'a Model,
    quality: &'a PrivateClasses,
    percent: &str,
    unit: Unit,
) -> (String, Option<NoisyFigures<'a>>) {
    let names = model.classes().unwrap_or_default();
    let several = names.len() > 2;
    let area = if several { format!("AUC ({AVERAGE})") } else { "AUC".to_owned() };
    let mut rows =
        vec![heads(percent), row("accuracy", &quality.accuracy), row(&area, &quality.auc)];
    rows.extend(quality.log_loss.iter().map(|loss| row("log loss", loss)));
    rows.extend(quality.calibration_error.iter().map(|error| row("calibration error", error)));
    let mut text = columns(&rows, 2, 1);
    text += &format!("\n  {}\n", counted(quality.n, quality.n_is_exact, unit));
    if names.len() <= MANY {
        let head = std::iter::once("taken for").chain(names.iter().copied()).map(str::to_owned);
        let mut rows: Vec<Vec<String>> = vec![head.collect()];
        for (name, counts) in names.iter().zip(&quality.confusion) {
            let counts = counts.iter().map(|count| format!("{count:.0}"));
            rows.push(std::iter::once((*name).to_owned()).chain(counts).collect());
        }
        text += &format!("\n{}", columns(&rows, 2, 1));
        text += &format!("  (each within {:.0} at {percent})\n", quality.confusion_margin);
    }
    let reliability = quality.reliability.iter().map(|row| ReliabilityFields {
        class: names.get(row.class).copied(),
        probability: row.probability,
        n: row.n,
        share: row.share,
        interval: row.interval,
    });
    let figures = NoisyClassFigures {
        accuracy: (&quality.accuracy).into(),
        auc: (&quality.auc).into(),
        auc_average: several.then_some(AVERAGE),
        log_loss: quality.log_loss.as_ref().map(FigureFields::from),
        calibration_error: quality.calibration_error.as_ref().map(FigureFields::from),
        reliability: reliability.collect(),
        confusion: ConfusionFields {
            classes: names,
            counts: &quality.confusion,
            margin: quality.confusion_margin,
        },
        bins: quality.bins,
        n: quality.n,
        n_is_exact: quality.n_is_exact,
        sampling_error: "in population alone",
    };
    (text, Some(NoisyFigures::Classes(figures)))
}

fn numbers<'a>(
    quality: &PrivateNumbers,
    percent: &str,
    unit: Unit,
) -> (String, Option<NoisyFigures<'a>>) {
    let PrivateNumbers { r2, mae, mse, rmse, n, n_is_exact, .. } = quality;
    let figures = [("R²", r2), ("RMSE", rmse), ("MAE", mae), ("MSE", mse)];
    let rows = figures.iter().map(|(name, estimate)| row(name, estimate));
    let rows: Vec<_> = std::iter::once(heads(percent)).chain(rows).collect();
    let text = columns(&rows, 2, 1) + &format!("\n  {}\n", counted(*n, *n_is_exact, unit));
    let figures = NoisyRangeFigures {
        r2: r2.into(),
        mae: mae.into(),
        mse: mse.into(),
        rmse: rmse.into(),
        n: *n,
        n_is_exact: *n_is_exact,
        sampling_error: "not included",
    };
    (text, Some(NoisyFigures::Range(figures)))
}

/// How many there are, as far as that is known.
fn counted(n: f64, exact: bool, unit: Unit) -> String {
    let units = unit.plural();
    if exact {
        format!("of {n:.0} {units}")
    } else {
        format!("of about {n:.0} {units} (their number has noise too)")
    }
}
