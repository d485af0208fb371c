//! `reticent budget`: the budget of a data set, over all that is ever fitted to it.

#[cfg(feature = "serve")]
mod serve;
mod show;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use reticent::accountant::{Unit, View};
use reticent::internal::write_text;
use reticent::{Certificate, Document, JobFile, Scope, Spec, Standing, Verification};
use reticent_budget::{BudgetError, Import, Promise, Store};
use serde::Serialize;
use serde_json::Value;

use super::shared::one_of;
use super::verify::unverifiable;
use crate::answer::{Answer, object};
use crate::failure::CommandFailure;
use crate::layout::wrapped;
use crate::number;
use crate::promise_flags::PromiseFlags;
use crate::purse::gaussian;

#[derive(Debug, Subcommand)]
pub enum BudgetCommand {
    /// Create the budget of a data set: the limit of the cost of all jobs together
    New(BudgetNewArgs),
    /// Show the promise, the counted cost, the rest, and the jobs
    Show(BudgetFileArgs),
    /// Show whether a job would fit, and how much would be left
    Plan(BudgetPlanArgs),
    /// Recompute everything from the ledgers, and name the first line that does not match
    Check(BudgetCheckArgs),
    /// Write the history for other programs
    Export(BudgetExportArgs),
    /// Record a release that was made elsewhere, from its certificate
    Import(ImportArgs),
    /// Close a job that did not return; it stays counted in full
    Forfeit(Forfeit),
    /// Show budgets as pages on this machine, read-only unless given a token
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
}

#[derive(Debug, Args)]
#[command(after_help = "All jobs together may cost at most epsilon at delta.")]
pub struct BudgetNewArgs {
    /// The file to make
    file: PathBuf,

    /// The data set that it is for [default: the name of the file]
    #[arg(long, value_name = "NAME")]
    dataset: Option<String>,

    #[command(flatten)]
    promise: PromiseFlags,

    /// The trust model: against whom the data are protected [default: central]
    #[arg(long, value_parser = one_of!(View))]
    view: Option<View>,

    /// The most rows of one user, if that is public: jobs that protect records can then be counted
    #[arg(long, value_name = "N", value_parser = number::times, allow_negative_numbers = true)]
    rows_per_user: Option<u64>,
}

#[derive(Debug, Args)]
pub struct BudgetFileArgs {
    /// The budget
    file: PathBuf,
}

#[derive(Debug, Args)]
pub struct BudgetCheckArgs {
    /// The budget
    file: PathBuf,

    /// The hash that an earlier check printed: refuse a history without that line
    #[arg(long, value_name = "HASH")]
    since: Option<String>,
}

#[derive(Debug, Args)]
pub struct BudgetPlanArgs {
    /// The budget
    file: PathBuf,

    /// A job file; its epsilon, delta, adjacency and unit are used
    #[arg(required_unless_present_all = ["epsilon", "delta"])]
    job: Option<PathBuf>,

    /// The privacy loss ε of the job
    #[arg(long, value_name = "E", value_parser = number::parse, allow_negative_numbers = true)]
    epsilon: Option<f64>,

    /// The additive slack δ of the job
    #[arg(long, value_name = "D", value_parser = number::parse, allow_negative_numbers = true)]
    delta: Option<f64>,
}

#[derive(Debug, Args)]
pub struct BudgetExportArgs {
    /// The budget
    file: PathBuf,

    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The budget
    file: PathBuf,

    /// The certificate.json or model.json of the release
    certificate: PathBuf,

    /// A description in one line [default: the path of the certificate]
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,

    /// Record it even if it exceeds the budget or has no guarantee: the budget then promises
    /// nothing any more
    #[arg(long)]
    beyond: bool,
}

#[derive(Debug, Args)]
pub struct Forfeit {
    /// The budget
    file: PathBuf,

    /// The number of the job, as `show` lists it
    #[arg(value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    job: u64,
}

impl BudgetCommand {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        match self {
            BudgetCommand::New(new) => new.run(),
            BudgetCommand::Show(BudgetFileArgs { file }) => {
                let summary = read(&file)?.summary().map_err(CommandFailure::Budget)?;
                Ok(show::answer(&file, &summary))
            }
            BudgetCommand::Check(BudgetCheckArgs { file, since }) => {
                let store = read(&file)?;
                let summary = store.check().map_err(CommandFailure::Budget)?;
                if let Some(hash) = since {
                    store.has_line(&hash).map_err(CommandFailure::Budget)?;
                }
                Ok(show::checked(&file, &summary))
            }
            BudgetCommand::Plan(plan) => plan.run(),
            BudgetCommand::Export(export) => export.run(),
            BudgetCommand::Import(import) => import.run(),
            BudgetCommand::Forfeit(Forfeit { file, job }) => forfeit(&file, job),
            #[cfg(feature = "serve")]
            BudgetCommand::Serve(serve) => serve.run(),
        }
    }

    /// Whether its answer is a mere report of what was written.
    pub fn is_report(&self) -> bool {
        match self {
            BudgetCommand::New(_) | BudgetCommand::Import(_) | BudgetCommand::Forfeit(_) => true,
            BudgetCommand::Export(export) => export.out.is_some(),
            _ => false,
        }
    }
}

fn read(file: &Path) -> Result<Store, CommandFailure> {
    Store::open_to_read(file).map_err(CommandFailure::Budget)
}

impl BudgetNewArgs {
    fn run(self) -> Result<Answer, CommandFailure> {
        let stem = || self.file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let dataset = self.dataset.clone().or_else(stem).unwrap_or_default();
        let PromiseFlags { epsilon, delta, neighbours } = self.promise;
        let Scope { adjacency, unit, view } = neighbours.scope(self.view.unwrap_or_default());
        let rows_per_user = self.rows_per_user;
        let promise = Promise { dataset, epsilon, delta, adjacency, unit, view, rows_per_user };
        let store = Store::create(&self.file, promise).map_err(CommandFailure::Budget)?;
        let summary = store.summary().map_err(CommandFailure::Budget)?;
        let text = wrapped(&format!(
            "Made {}. {} The first table that is fitted with it is bound to it. Keep one such file for \
             a data set, and keep it with care: a copy or an older state of it knows nothing of what was asked since.",
            self.file.display(),
            show::meaning(&summary.promise)
        ));
        Ok(Answer::of(text, &show::BudgetFields::of(&self.file, &summary)))
    }
}

impl BudgetPlanArgs {
    fn run(self) -> Result<Answer, CommandFailure> {
        let store = read(&self.file)?;
        let promise = store.promise().map_err(CommandFailure::Budget)?;
        let spec = match &self.job {
            Some(file) => JobFile::<Spec>::read(file)?.job,
            None => Spec::default(),
        };
        let missing = |name: &str| CommandFailure::Usage {
            message: format!("{name} is missing: it is neither a flag nor in the job file"),
            hint: format!("give --{name}"),
        };
        let epsilon = self.epsilon.or(spec.guarantee.epsilon).ok_or_else(|| missing("epsilon"))?;
        let delta = self.delta.or(spec.guarantee.delta).ok_or_else(|| missing("delta"))?;
        let adjacency = spec.guarantee.adjacency.unwrap_or(promise.adjacency);
        let unit = spec.guarantee.unit.unwrap_or(promise.unit);
        if delta == 0.0 {
            return Err(super::account::without_delta("Gaussian noise has"));
        }
        let ledger = gaussian((epsilon, delta), adjacency, unit, promise.view)?;
        store.would_fit(&ledger, (epsilon, delta)).map_err(CommandFailure::Budget)?;
        let planned = store.plan(&ledger).map_err(CommandFailure::Budget)?;
        let text = wrapped(&format!(
            "A job with Gaussian noise at epsilon = {epsilon}, delta = {} fits. With it {} of epsilon = {} would be \
             counted in place of {}, and one up to epsilon = {} would be left. What the job really plans is counted \
             when it reserves: a sampled one may cost a little more.",
            number::show_delta(delta),
            number::show_up(planned.together),
            promise.epsilon,
            number::show_up(planned.counted),
            planned.left_after
        ));
        let fields = PlanFields {
            fits: true,
            epsilon,
            delta,
            counted: planned.counted,
            with_it: planned.together,
            left: planned.left,
            left_after: planned.left_after,
        };
        Ok(Answer::of(text, &fields))
    }
}

/// What a job would cost, and leave.
#[derive(Serialize)]
struct PlanFields {
    fits: bool,
    epsilon: f64,
    delta: f64,
    counted: f64,
    with_it: f64,
    left: f64,
    left_after: f64,
}

impl BudgetExportArgs {
    fn run(self) -> Result<Answer, CommandFailure> {
        let store = read(&self.file)?;
        let summary = store.summary().map_err(CommandFailure::Budget)?;
        let lines: Result<Vec<Value>, BudgetError> = store
            .lines()
            .map_err(CommandFailure::Budget)?
            .iter()
            .map(|line| line.export())
            .collect();
        let history = lines.map_err(CommandFailure::Budget)?;
        let object = object(&ExportedHistory { promise: &summary.promise, history });
        match &self.out {
            None => Ok(Answer { text: format!("{object:#}\n"), object, ..Answer::default() }),
            Some(out) => {
                reticent::internal::check_new(out, false)?;
                write_text(&format!("{object:#}\n"), out)?;
                let text = format!("Wrote {} lines to {}.\n", summary.lines, out.display());
                Ok(Answer::of(text, &WrittenHistory { lines: summary.lines, out }))
            }
        }
    }
}

/// A budget for other programs.
#[derive(Serialize)]
struct ExportedHistory<'a> {
    promise: &'a Promise,
    history: Vec<Value>,
}

/// The file of a history.
#[derive(Serialize)]
struct WrittenHistory<'a> {
    lines: u64,
    out: &'a Path,
}

impl ImportArgs {
    fn run(self) -> Result<Answer, CommandFailure> {
        let verification = read_certificate(&self.certificate)?;
        let certificate = &verification.certificate;
        if !certificate.certified && !self.beyond {
            return Err(CommandFailure::Usage {
                message: format!(
                    "{} is no guarantee: {}",
                    self.certificate.display(),
                    certificate.reasons.join("; ")
                ),
                hint: "if it was released all the same, record it with --beyond: the budget then promises nothing \
                       any more"
                    .to_owned(),
            });
        }
        one_ledger_for_all(&self.certificate, certificate)?;
        one_unit_for_each(&self.certificate, certificate, self.beyond)?;
        let label = self.label.unwrap_or_else(|| self.certificate.display().to_string());
        let import = Import {
            label: &label,
            asked: (certificate.epsilon, certificate.delta),
            ledger: &certificate.ledger,
            beyond: self.beyond,
        };
        let mut store = Store::open(&self.file).map_err(CommandFailure::Budget)?;
        let number = store.import(&import).map_err(CommandFailure::Budget)?;
        let summary = store.summary().map_err(CommandFailure::Budget)?;
        let mut answer = show::answer(&self.file, &summary);
        answer.text = format!("Recorded as job {number}.\n\n{}", answer.text);
        answer.object["job"] = number.into();
        if verification.standing() == Standing::Unverifiable {
            answer.remarks.push(unverifiable(&self.certificate.display().to_string()));
        }
        let whose = match certificate.unit {
            Unit::Record => None,
            Unit::User => Some("users"),
            Unit::Party => Some("parties"),
        };
        answer.remarks.extend(
            whose.map(|whose| {
                format!("Assumed: the {whose} of the release are those of the budget.")
            }),
        );
        Ok(answer)
    }
}

/// Refuses the certificate of a run whose parties spent differently: it has the ledger of one, who
/// spent most at one δ, and that need not cover the others at another.
fn one_ledger_for_all(path: &Path, certificate: &Certificate) -> Result<(), CommandFailure> {
    match &certificate.parties {
        Some(spread) if spread.count > 1 && spread.least != spread.most => Err(CommandFailure::Usage {
            message: format!(
                "{} is of a run between {} parties who spent differently (epsilon from {} to {}), and has the \
                 ledger of one of them",
                path.display(),
                spread.count,
                spread.least,
                spread.most
            ),
            hint: "nothing was recorded: what the others spent is not in it, so that no budget can count the run"
                .to_owned(),
        }),
        _ => Ok(()),
    }
}

/// Refuses the certificate of a run in which one user of the budget may have been several units, or a
/// record may be replaced in two parties: the run itself pays from no such budget either.
fn one_unit_for_each(
    path: &Path,
    certificate: &Certificate,
    beyond: bool,
) -> Result<(), CommandFailure> {
    let (why, or) = if certificate.is_within_parties() {
        (
            "in which a person with rows at k parties counts as k persons, and a budget of users would count them \
             as one",
            "",
        )
    } else if certificate.is_about_one_party() {
        (
            "that promises something of a record that is replaced by another one with the same party, and a record \
             of a budget may be replaced by one of another party, so that two change",
            "; record the certificate of each party in a budget of its own",
        )
    } else {
        return Ok(());
    };
    if beyond {
        return Ok(());
    }
    Err(CommandFailure::Usage {
        message: format!("{} is of a run {why}", path.display()),
        hint: format!(
            "nothing was recorded; --beyond records it all the same: the budget then promises nothing any more{or}"
        ),
    })
}

/// A certificate, by itself or inside a model, as it is to be believed.
fn read_certificate(path: &Path) -> Result<Verification, CommandFailure> {
    let document = Document::read(path).map_err(|error| CommandFailure::Usage {
        message: error.to_string(),
        hint: "give a certificate.json or a model.json that `reticent fit` wrote".to_owned(),
    })?;
    Ok(document.verify(None))
}

fn forfeit(file: &Path, job: u64) -> Result<Answer, CommandFailure> {
    let mut store = Store::open(file).map_err(CommandFailure::Budget)?;
    store.forfeit(job).map_err(CommandFailure::Budget)?;
    let summary = store.summary().map_err(CommandFailure::Budget)?;
    let mut answer = show::answer(file, &summary);
    answer.text = format!("Job {job} is closed, and counted as spent.\n\n{}", answer.text);
    Ok(answer)
}
