//! `reticent fit`: flags → `Spec` → checked job → model and certificate.

use std::path::{Path, PathBuf};

use clap::Args;
use reticent::accountant::{Adjacency, Unit};
use reticent::admm::catalogue::CATALOGUE;
use reticent::tables::{Format, ReadOptions};
use reticent::trace::{PublicData, Trace, Tracing};
use reticent::{
    Certificate, Error, Files, Fitted, Fitting, Identity, Job, JobFile, Ready, Spec, Stage, Tuned,
    UtilityForecast, Watch, check_folder, check_results, write_model,
};
use serde_json::{Value, json};

use super::shared::{
    algorithm, certificate_before, certificate_fields, certificate_rows, format, not_private,
    one_of, problem_fields, problem_rows, replaces, row, weak,
};
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number;
use crate::progress::{JobBar, said};
use crate::purse::PurseFlags;
use crate::repeated::given_twice;
use crate::settings::{SettingFlags, is_setting};
use crate::tracing::TraceFlags;

/// Where a model goes when nothing is said.
const OUT: &str = "reticent-model";

/// Above the flags that say what becomes of a model.
pub(super) const RESULT: &str = "The result";

#[derive(Debug, Args)]
#[command(
    after_help = "`reticent list losses|penalties|constraints|algorithms` shows what can be chosen.\n\
                        `reticent list algorithms` says which settings each of them has.\n\
                        All of it may also stand in a job file, under the same names without the dashes.",
    mut_args(of_a_fit)
)]
pub struct FitArgs {
    /// The table: CSV, TSV, LIBSVM or Parquet; text also as .gz, .xz, .bz2, .zst or .zip; - is
    /// standard input. Several files are read as one table
    data: Vec<PathBuf>,

    /// A job file (TOML); flags win over it
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

    /// Draw the noise from this seed, for tests: the result is then NOT PRIVATE
    #[arg(long, value_name = "N", value_parser = number::whole::<u64>, allow_negative_numbers = true, help_heading = RESULT)]
    seed: Option<u64>,

    /// Replace files in that folder that this program did not write
    #[arg(long, help_heading = RESULT)]
    force: bool,

    /// Sign the certificate with this key, which `reticent identity new` makes
    #[arg(long, value_name = "KEY", help_heading = RESULT)]
    sign: Option<PathBuf>,

    #[command(flatten)]
    table: TableFlags,

    #[command(flatten)]
    budget: BudgetFlags,

    #[command(flatten)]
    problem: ProblemFlags,

    #[command(flatten)]
    tuning: TuningFlags,

    #[command(flatten)]
    settings: SettingFlags,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "The table")]
struct TableFlags {
    /// The schema of the table (TOML, see docs/schema.md): nothing about private data is guessed
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,

    /// The column to predict, where the schema does not say
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,

    /// The column that says whose row it is; a person is then protected with all their rows
    #[arg(long, value_name = "COLUMN")]
    user_column: Option<String>,

    /// How the table is written, where its name does not tell
    #[arg(long, value_parser = format())]
    format: Option<Format>,

    /// The longest record of a text file, in bytes [default: 64000000]
    #[arg(long, value_name = "BYTES", value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    max_line: Option<u64>,

    /// LIBSVM without a schema: the number of features
    #[arg(long, value_name = "N", requires = "row_norm", conflicts_with = "schema",
        value_parser = number::whole::<u32>, allow_negative_numbers = true)]
    features: Option<u32>,

    /// LIBSVM without a schema: rows are scaled into this norm
    #[arg(long, value_name = "R", value_parser = number::parse, allow_negative_numbers = true)]
    row_norm: Option<f64>,

    /// LIBSVM without a schema: the labels, the negative one first [default: -1,+1]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', allow_hyphen_values = true)]
    classes: Option<Vec<String>>,

    /// LIBSVM without a schema: the range of a number to predict
    #[arg(long, value_name = "LOW,HIGH", value_parser = range, allow_hyphen_values = true)]
    target_range: Option<[f64; 2]>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "The budget")]
struct BudgetFlags {
    /// How much privacy may be spent
    #[arg(long, value_name = "E", value_parser = number::parse, allow_negative_numbers = true)]
    epsilon: Option<f64>,

    /// The chance that epsilon does not hold; well below one over the number of records
    #[arg(long, value_name = "D", value_parser = number::parse, allow_negative_numbers = true)]
    delta: Option<f64>,

    /// Which tables must be hard to tell apart [default: replace-one]
    #[arg(long, value_parser = one_of!(Adjacency))]
    adjacency: Option<Adjacency>,

    /// What is protected [default: user where a user column is declared, otherwise record]
    #[arg(long, value_parser = one_of!(Unit))]
    unit: Option<Unit>,

    /// A number of records (or users) that is public; needed for add-remove
    #[arg(long, value_name = "N", value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    public_n: Option<u64>,

    /// This noise, in clips, in place of the least that the budget allows, which is then a limit; 0
    /// is no noise, NO PRIVACY and no budget, for comparison; beside --precondition that of the
    /// gradients
    #[arg(long, value_name = "Z", value_parser = number::parse, allow_negative_numbers = true)]
    noise: Option<f64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "The problem")]
struct ProblemFlags {
    /// The algorithm [default: auto; between parties federated]
    #[arg(long, value_name = "NAME")]
    algorithm: Option<String>,

    /// The loss, as NAME[:NUMBER] [default: the usual one for the target]
    #[arg(long)]
    loss: Option<String>,

    /// The penalty, as NAME[:NUMBER], for example l1:1e-4 [default: none]
    #[arg(long)]
    penalty: Option<String>,

    /// The constraint between the parameter and what is penalised [default: identity]
    #[arg(long)]
    constraint: Option<String>,

    /// A graph of the features to fuse along: FILE, or private[:LAMBDA] to learn it within the
    /// budget (docs/graph.md)
    #[arg(long, value_name = "FILE|private", conflicts_with = "constraint")]
    graph: Option<String>,

    /// The share of the budget that learning the graph gets [default: 0.3]
    #[arg(long, value_name = "SHARE", value_parser = number::parse, allow_negative_numbers = true)]
    graph_share: Option<f64>,

    /// The most edges of a learned graph [default: the number of features]
    #[arg(long, value_name = "N", value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    graph_edges: Option<u64>,

    /// How much a record of each class counts: balanced (by --class-prior), or as
    /// CLASS:NUMBER,CLASS:NUMBER (docs/classes.md)
    #[arg(long, value_name = "WEIGHTS")]
    class_weight: Option<String>,

    /// The shares of the classes, if they are public, as CLASS:NUMBER,CLASS:NUMBER
    #[arg(long, value_name = "SHARES")]
    class_prior: Option<String>,

    /// Spend this share of the budget on estimates of the coefficients with standard errors, which
    /// `inspect` shows (docs/uncertainty.md)
    #[arg(long, value_name = "SHARE", value_parser = number::parse, allow_negative_numbers = true)]
    standard_errors: Option<f64>,

    /// Leave the intercept out
    #[arg(long)]
    no_intercept: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Tuning within the budget (docs/tuning.md)")]
struct TuningFlags {
    /// Choose privately from a list, for example 'penalty=l1:[1e-5,1e-4,1e-3]'; several lists make
    /// their product
    #[arg(long, value_name = "NAME=[A,B,…]")]
    tune: Option<Vec<String>>,

    /// The expected number of runs to choose from [default: the number of points]
    #[arg(long, value_name = "N", value_parser = number::whole::<u64>, allow_negative_numbers = true, requires = "tune")]
    tune_runs: Option<u64>,

    /// How to choose; there is only random: an ordinary grid would spend the budget at every point
    #[arg(long, value_name = "MODE")]
    tune_mode: Option<String>,
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
        let label = format!("fit to {}", out.display());
        let purse = purse.open(&file.job, &file.data, &label, || job.plan_beforehand())?;
        let mut bar = JobBar::new("iteration");
        let mut watch = |stage| bar.watch(stage);
        let wanted = trace.trace.is_some();
        let mut outlook = None;
        // What is to be expected is said before anything is asked, while it can still be stopped.
        let mut hear = |ready: &Ready<'_>| {
            outlook = ready.outlook();
            outlook
                .as_ref()
                .and_then(UtilityForecast::warning)
                .iter()
                .for_each(|warning| said(warning));
        };
        let done = match purse {
            Some(purse) => {
                let user = job.user_column();
                let open = |table: &Files, watch: &mut Watch<'_>| {
                    let ready = job.open(table, watch)?;
                    hear(&ready);
                    Ok(Fitting(ready, wanted.then(|| trace.tracing())))
                };
                let paid = purse.pay(user.as_deref(), open, &mut watch);
                paid.map(|(done, paid)| (done, Some(paid)))
            }
            None => {
                let done = fitted(&job, &file.data, &trace, &mut hear, &mut watch);
                done.map(|done| (done, None)).map_err(CommandFailure::from)
            }
        };
        bar.finish();
        let ((mut fitted, traced), receipt) = done?;
        if let Some(identity) = &identity {
            fitted.model.sign(identity)?;
        }
        let before = certificate_before(&out);
        let path = write_model(&fitted.model, &out)?;
        let mut answer = answer(&file.data, &fitted, &path, before.as_ref());
        answer.object["outlook"] = json!(outlook);
        if let Some(traced) = &traced {
            trace.write(traced, &mut answer)?;
        }
        if let Some(receipt) = receipt {
            receipt.add_to(&mut answer);
        }
        Ok(answer)
    }

    fn file(self) -> Result<(JobFile<Spec>, PurseFlags, TraceFlags), CommandFailure> {
        let flags = self.job.file(self.data)?;
        let file = match self.spec {
            Some(file) => JobFile::<Spec>::read(&file)?.overlaid(flags)?,
            None => flags,
        };
        Ok((file, self.purse, self.trace))
    }
}

/// The fit without a budget, traced where that is wanted. `hear` hears of it before anything is
/// asked.
fn fitted(
    job: &Job,
    data: &Files,
    trace: &TraceFlags,
    hear: &mut dyn FnMut(&Ready<'_>),
    watch: &mut Watch<'_>,
) -> Result<(Fitted, Option<Trace>), Error> {
    if trace.trace.is_none() {
        let ready = job.open(data, watch)?;
        hear(&ready);
        return Ok((ready.run(watch)?, None));
    }
    if !trace.public_data {
        let ready = job.open(data, watch)?;
        hear(&ready);
        let (fitted, trace) = ready.run_traced(trace.tracing(), watch)?;
        return Ok((fitted, Some(trace)));
    }
    // Read once, for the run and for who looks on.
    let _ = watch(Stage::Reading);
    let table = job.load(data)?;
    let mut public = PublicData::of_job(job, table.share())?;
    if let Some(test) = trace.test_files(data) {
        public = public.with_test(&test)?;
    }
    let tracing = Tracing { public: Some(&mut public), ..trace.tracing() };
    let ready = job.open(table, watch)?;
    hear(&ready);
    let (fitted, trace) = ready.run_traced(tracing, watch)?;
    Ok((fitted, Some(trace)))
}

/// The folder to write to.
pub fn folder<J>(file: &JobFile<J>) -> PathBuf {
    file.out.clone().unwrap_or_else(|| OUT.into())
}

impl JobFlags {
    /// The job that the flags alone make.
    pub fn file(self, paths: Vec<PathBuf>) -> Result<JobFile<Spec>, CommandFailure> {
        let JobFlags { out, seed, force: _, sign: _, table, budget, problem, tuning, settings } =
            self;
        let reading = ReadOptions { format: table.format, max_line: table.max_line };
        let job = Spec {
            schema: table.schema,
            features: table.features,
            row_norm: table.row_norm,
            classes: table.classes,
            target_range: table.target_range,
            target: table.target,
            user_column: table.user_column,
            epsilon: budget.epsilon,
            delta: budget.delta,
            adjacency: budget.adjacency,
            unit: budget.unit,
            public_n: budget.public_n,
            noise: budget.noise,
            algorithm: problem.algorithm,
            loss: problem.loss,
            penalty: problem.penalty,
            constraint: problem.constraint,
            graph: problem.graph,
            graph_share: problem.graph_share,
            graph_edges: problem.graph_edges,
            class_weight: problem.class_weight,
            class_prior: problem.class_prior,
            standard_errors: problem.standard_errors,
            tune: tuning.tune,
            tune_runs: tuning.tune_runs,
            tune_mode: tuning.tune_mode,
            intercept: problem.no_intercept.then_some(false),
            settings: settings.settings()?,
            seed,
        };
        Ok(JobFile { job, data: Files { paths, reading }, out })
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

fn range(text: &str) -> Result<[f64; 2], String> {
    let (low, high) = text.split_once(',').ok_or("two numbers are needed, as in 0,100")?;
    Ok([number::parse(low)?, number::parse(high)?])
}

fn answer(data: &Files, fitted: &Fitted, path: &Path, before: Option<&Certificate>) -> Answer {
    let Fitted { model, records, iterations, tuned, converged } = fitted;
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
    if let Some(errors) = model.standard_errors() {
        let said = match &errors.hidden {
            None => "yes: `reticent inspect` shows them",
            Some(_) => "none: `reticent inspect` says why",
        };
        rows.push(row("standard errors", said));
    }
    if let Some(Tuned { chosen, points, expected_runs, .. }) = tuned {
        rows.push(row(
            "tuned",
            format!("{chosen} (of {points} points, {expected_runs:.1} runs expected)"),
        ));
    }
    rows.extend(certificate_rows(certificate));
    text += &columns(&rows, 2, 2);
    text += &format!("\nWrote {} (the model, its certificate inside)\n", path.display());
    text += &format!("  and {} (the certificate alone).\n\n", beside.display());
    text += &wrapped(&format!("What the certificate means. {}", certificate.meaning));

    let mut object = certificate_fields(certificate);
    object.extend(problem_fields(model));
    object.extend([
        ("records".to_owned(), Value::from(*records)),
        ("iterations".to_owned(), Value::from(*iterations)),
        ("converged".to_owned(), Value::from(*converged)),
        ("tuned".to_owned(), tuned.as_ref().map_or(Value::Null, tuned_fields)),
        ("graph".to_owned(), json!(model.graph())),
        ("standard_errors".to_owned(), json!(model.standard_errors())),
        ("model".to_owned(), Value::from(path.display().to_string())),
        ("certificate".to_owned(), Value::from(beside.display().to_string())),
        ("replaced".to_owned(), Value::from(before.is_some())),
    ]);
    let unsolved = (*converged == Some(false)).then(|| {
        format!(
            "The exact solver did not get to the optimum in {iterations} iterations: the model is not the minimiser. \
             Give it more with --iterations, or a penalty if the problem has no minimiser."
        )
    });
    let remarks = not_private(certificate).into_iter().chain(unsolved);
    let remarks = remarks.chain(weak(certificate)).chain(before.map(replaces));
    let remarks = remarks.chain(given_twice(&data.paths)).collect();
    Answer { text, object: json!(object), remarks }
}

fn tuned_fields(tuned: &Tuned) -> Value {
    let Tuned { chosen, points, expected_runs, score } = tuned;
    json!({ "chosen": chosen, "points": points, "expected_runs": expected_runs, "score": score })
}
