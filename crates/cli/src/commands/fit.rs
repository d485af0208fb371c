//! `reticent fit`: flags → `Spec` → checked job → model and certificate.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use clap::Args;
use reticent::internal::admm::catalogue::CATALOGUE;
use reticent::internal::{all_named_files, check_folder, check_results};
use reticent::tables::{Format, ReadOptions};
use reticent::trace::PublicData;
use reticent::{
    Certificate, Curves, Files, Fitted, Identity, JobFile, Model, PrivateTable, Ready,
    Recalibration, Run, Source, Spec, Stage, StandardErrors, Tuned, UtilityForecast,
};
use serde::Serialize;

use super::shared::{
    CertificateFields, ProblemFields, algorithm, certificate_before, certificate_rows, format,
    not_private, problem_rows, replaces, row,
};
use crate::answer::Answer;
use crate::delivery::{Content, Delivery, OutputPlaces, Piece};
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number;
use crate::progress::{JobBar, foretold};
use crate::purse::{JobName, PurseFlags, done};
use crate::repeated::given_twice;
use crate::settings::{SettingFlags, is_setting};
use crate::tracing::{AskedTrace, TraceFlags};

/// The default folder of a model.
const OUT: &str = "reticent-model";

/// Above the flags that say what becomes of a model.
pub(super) const RESULT: &str = "The result";

/// Above the flags that say what the table is.
const TABLE: &str = "The table";

#[derive(Debug, Args)]
#[command(
    after_help = "`reticent list losses|penalties|constraints|algorithms` shows the choices.\n\
                        `reticent list algorithms` shows the settings of each algorithm.\n\
                        A job file has the same names without the dashes.",
    mut_args(of_a_fit)
)]
pub struct FitArgs {
    /// The table: CSV, TSV, LIBSVM or Parquet; text also as .gz, .xz, .bz2, .zst or .zip; - is
    /// standard input. Several files, a folder or a pattern are read as one table
    data: Vec<PathBuf>,

    /// A job file (TOML); flags override it
    #[arg(long, value_name = "FILE")]
    spec: Option<PathBuf>,

    #[command(flatten)]
    purse: PurseFlags,

    #[command(flatten)]
    trace: TraceFlags,

    #[command(flatten)]
    job: JobFlags,
}

/// What a job may be told, whoever runs it.
#[derive(Debug, Args)]
pub struct JobFlags {
    /// The folder to write model.json and certificate.json to [default: reticent-model]
    #[arg(long, value_name = "DIR", help_heading = RESULT)]
    out: Option<PathBuf>,

    /// Replace files in that folder that this program did not write
    #[arg(long, help_heading = RESULT)]
    force: bool,

    /// Sign the certificate with this key, which `reticent identity new` makes
    #[arg(long, value_name = "KEY", help_heading = RESULT)]
    sign: Option<PathBuf>,

    /// The format of the table, if its name does not show it
    #[arg(long, value_parser = format(), help_heading = TABLE)]
    format: Option<Format>,

    /// The longest record of a text file, in bytes [default: 64000000]
    #[arg(long, value_name = "BYTES", value_parser = number::whole::<u64>, allow_negative_numbers = true, help_heading = TABLE)]
    max_line: Option<u64>,

    /// Cache the encoded table in an unnamed file in this folder instead of memory: for a table that
    /// is larger than the memory (docs/scale.md)
    #[arg(long, value_name = "DIR", help_heading = TABLE)]
    cache: Option<PathBuf>,

    /// Keep the cache file and reuse it while the table is unchanged: it has all rows, and only you
    /// may open it
    #[arg(long, help_heading = TABLE)]
    keep_cache: bool,

    #[command(flatten)]
    spec: Spec,

    /// Leave the intercept out
    #[arg(long, help_heading = "The problem")]
    no_intercept: bool,

    #[command(flatten)]
    settings: SettingFlags,
}

impl FitArgs {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let force = self.job.force();
        let identity = self.job.identity()?;
        let (file, purse, trace) = self.file()?;
        let out = folder(&file);
        let job = file.job.check()?;
        check_folder(&out)?;
        check_results(&out, force)?;
        trace.check(purse.is_given(), force)?;
        if trace.trace.is_some() {
            job.check_traceable()?;
        }
        let name = job_name(&file, &trace, identity.as_ref());
        let purse = purse.open(&file.job.guarantee, &file.data, name, || job.plan_beforehand())?;
        let mut bar = JobBar::new("iteration");
        let mut watch = |stage| bar.watch(stage);
        let outlook = RefCell::new(None);
        // What is to be expected is said before anything is asked, while it can still be stopped.
        let hear = |ready: &Ready<'_>| {
            let expected = ready.outlook();
            expected.iter().for_each(foretold);
            *outlook.borrow_mut() = expected;
        };
        let looks_on = |table: PrivateTable| PublicData::of_job(&job, table);
        let load = |data: &Files| {
            let _ = watch(Stage::Reading);
            job.load(data)
        };
        let public = trace.public(&file.data, load, looks_on)?;
        let (table, mut public) = public.unzip();
        let open = |data: &Files, run: &mut Run<'_>| {
            let ready = job.open(table.map_or(Source::from(data), Source::from), run)?;
            hear(&ready);
            Ok(ready)
        };
        let run = Run::watched(&mut watch).with_trace(trace.tracing(public.as_mut()));
        let deliver = |fitted: &mut Fitted| {
            if let Some(identity) = &identity {
                fitted.model.sign(identity)?;
            }
            delivery(&file.data, fitted, &out, outlook.borrow().as_ref())
        };
        let done = done(purse, &file.data, job.user_column(), open, run, deliver);
        bar.finish();
        let (delivery, charged) = done?;
        let before = certificate_before(&out);
        let places = OutputPlaces::default().and("model", Some(&out));
        let mut answer = delivery.hand_over(&places.and("trace", trace.trace.as_deref()), charged);
        let replaced = replaced(before, &out);
        answer.object["replaced"] = replaced.is_some().into();
        let bends = !answer.object["curves"].is_null();
        answer.remarks.extend(straight(file.job.curves, bends));
        answer.remarks.extend(replaced);
        Ok(answer)
    }

    fn file(self) -> Result<(JobFile<Spec>, PurseFlags, TraceFlags), CommandFailure> {
        let flags = self.job.file(self.data)?;
        let file = match self.spec {
            Some(file) => JobFile::<Spec>::read(&file)?.overlaid(flags),
            None => flags,
        };
        Ok((file, self.purse, self.trace))
    }
}

/// A fit as its budget tells it from others.
fn job_name(file: &JobFile<Spec>, trace: &TraceFlags, identity: Option<&Identity>) -> JobName {
    let label = format!("fit to {}", folder(file).display());
    let signed_by = identity.map(|identity| identity.public().text());
    let asked = AskedFit { fit: &file.job, trace: trace.asked(), signed_by };
    JobName::kept(&label, &asked, &file.data, &file.job.described_in())
}

/// All that tells a fit from others in a budget.
#[derive(Serialize)]
struct AskedFit<'a> {
    fit: &'a Spec,
    trace: AskedTrace,
    signed_by: Option<String>,
}

/// A fit, and the files of its model.
#[derive(Serialize)]
struct FitFields<'a> {
    #[serde(flatten)]
    certificate_fields: CertificateFields<'a>,
    #[serde(flatten)]
    problem: ProblemFields<'a>,
    records: Option<u64>,
    iterations: u64,
    converged: Option<bool>,
    tuned: Option<&'a Tuned>,
    graph: Option<&'a [(String, String, f64)]>,
    standard_errors: Option<&'a StandardErrors>,
    model: String,
    certificate: String,
    outlook: Option<&'a UtilityForecast>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curves: Option<usize>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pairs: &'a [[String; 2]],
    #[serde(skip_serializing_if = "Option::is_none")]
    recalibration: Option<&'a Recalibration>,
}

/// What to say where curves were left to public numbers, and these allow none.
fn straight(curves: Option<Curves>, bends: bool) -> Option<String> {
    let none = curves == Some(Curves::Auto) && !bends;
    none.then(|| {
        "--curves auto chose lines: with so many records and columns at this epsilon, knots would cost more than they \
         bring (docs/curves.md)."
            .to_owned()
    })
}

/// The folder to write to.
pub fn folder<J>(file: &JobFile<J>) -> PathBuf {
    file.out.clone().unwrap_or_else(|| OUT.into())
}

impl JobFlags {
    /// The job that the flags alone make.
    pub fn file(self, paths: Vec<PathBuf>) -> Result<JobFile<Spec>, CommandFailure> {
        let reading = ReadOptions::from(self.format).with(|it| it.max_line = self.max_line);
        let mut job = self.spec;
        job.settings = self.settings.settings()?;
        job.intercept = self.no_intercept.then_some(false);
        let out = self.out;
        let paths = all_named_files(Path::new(""), &paths)?;
        let (cache, keep_cache) = (self.cache, self.keep_cache);
        let data = Files::all(paths).with(|it| {
            (it.reading, it.cache, it.keep_cache) = (reading, cache, keep_cache);
        });
        Ok(JobFile::new(job, data, out))
    }

    /// The key to sign with, read before any work is done.
    pub fn identity(&self) -> Result<Option<Identity>, CommandFailure> {
        Ok(self.sign.as_deref().map(Identity::read).transpose()?)
    }

    /// Whether what somebody else wrote may be replaced.
    pub fn force(&self) -> bool {
        self.force
    }
}

/// Flags that no algorithm here has are not in the help; whoever gives one is told.
fn of_a_fit(flag: clap::Arg) -> clap::Arg {
    let taken = |name: &str| CATALOGUE.iter().any(|entry| entry.takes.contains(&name));
    let hidden = is_setting(flag.get_id().as_str()) && !taken(flag.get_id().as_str());
    if hidden { flag.hide(true) } else { flag }
}

/// What to remember if the model took the place of another, the one that was there `before`. Its own,
/// which was written in part, is none.
pub(super) fn replaced(before: Option<Certificate>, out: &Path) -> Option<String> {
    let now = certificate_before(out)?;
    before.filter(|before| before.digest != now.digest).as_ref().map(replaces)
}

fn delivery(
    data: &Files,
    fitted: &Fitted,
    out: &Path,
    outlook: Option<&UtilityForecast>,
) -> Result<Delivery, CommandFailure> {
    let mut answer = answer(data, fitted, &out.join("model.json"), outlook);
    let content = Content::Model { model: fitted.model.to_json()?, parties: None };
    let what = " (the model, its certificate inside)".to_owned();
    let mut pieces = vec![Piece { key: "model".to_owned(), what, content }];
    pieces.extend(fitted.trace.as_ref().map(|traced| TraceFlags::piece(traced, &mut answer)));
    let meaning = &fitted.model.certificate().meaning;
    let tail = wrapped(&format!("What the certificate means. {meaning}"));
    Ok(Delivery { answer, tail, pieces })
}

fn answer(data: &Files, fitted: &Fitted, path: &Path, outlook: Option<&UtilityForecast>) -> Answer {
    let Fitted { model, records, iterations, tuned, converged, .. } = fitted;
    let certificate = model.certificate();
    let beside = path.with_file_name("certificate.json");
    let table = match &data.paths[..] {
        [] => "the table".to_owned(),
        [file] => file.display().to_string(),
        [file, more @ ..] => format!("{} and {} more", file.display(), more.len()),
    };
    let read = records.map(|n| format!("{n} records of ")).unwrap_or_default();

    let mut text = format!("Fitted {read}{table} in {iterations} iterations.\n\n");
    let mut rows = problem_rows(&algorithm(certificate), model);
    if let Some(graph) = model.graph() {
        rows.push(row("graph", format!("{} edges, learned within the budget", graph.len())));
    }
    rows.extend(extra_rows(model));
    if let Some(Tuned { chosen, points, expected_runs, .. }) = tuned {
        rows.push(row(
            "tuned",
            format!("{chosen} (of {points} points, {expected_runs:.1} runs expected)"),
        ));
    }
    rows.extend(certificate_rows(certificate));
    text += &columns(&rows, 2, 2);

    let fields = FitFields {
        certificate_fields: CertificateFields::of(certificate),
        problem: ProblemFields::of(model),
        records: *records,
        iterations: *iterations,
        converged: *converged,
        tuned: tuned.as_ref(),
        graph: model.graph(),
        standard_errors: model.standard_errors(),
        model: path.display().to_string(),
        certificate: beside.display().to_string(),
        outlook,
        curves: Some(model.preprocessing().curved()).filter(|curves| *curves > 0),
        pairs: model.preprocessing().pairs(),
        recalibration: model.recalibration(),
    };
    let unsolved = (*converged == Some(false)).then(|| {
        format!(
            "The exact solver did not get to the optimum in {iterations} iterations: the model is not the minimiser. \
             Give it more with --iterations, or a penalty if the problem has no minimiser."
        )
    });
    let remarks = not_private(certificate).into_iter().chain(unsolved);
    let remarks = remarks.chain(certificate.weaknesses());
    let remarks = remarks.chain(given_twice(&data.paths)).collect();
    Answer { remarks, ..Answer::of(text, &fields) }
}

/// What a share of the budget was spent on beside the model.
pub(super) fn extra_rows(model: &Model) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    if let Some(errors) = model.standard_errors() {
        let said = match &errors.hidden {
            None => "yes: `reticent inspect` shows them",
            Some(_) => "none: `reticent inspect` says why",
        };
        rows.push(row("standard errors", said));
    }
    if let Some(Recalibration { slope, shift, .. }) = model.recalibration() {
        let said = format!("log-odds × {}, then + {}", number::show(*slope), number::show(*shift));
        rows.push(row("calibrated", said));
    }
    rows
}
