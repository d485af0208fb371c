//! `reticent sweep`: a job file with a table `[sweep]` → many runs on one table → results, mean and
//! spread, and pictures.

mod results;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use reticent::internal::{check_folder, write_text};
use reticent::sweep::{Journal, Sweep as Grid, SweepFile, SweepKind, SweepTerms, summary};
use reticent::{Error, Files, Guarantee, Progress, Run, Stage, Watch};
use reticent_budget::BudgetError;
use reticent_payment::{AtRest, PaidSweep, PaymentError, resume_sweep};
use serde::Serialize;

use self::results::{PointFields, picture, points, raw, shown, table};
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number;
use crate::progress::{JobBar, foretold};
use crate::purse::{BudgetReceipt, JobName, PurseFlags};
use crate::repeated::given_twice;

/// The results of a sweep, and the files that have them.
#[derive(Serialize)]
struct SweepFields<'a> {
    runs: usize,
    done: usize,
    lost: usize,
    failed: usize,
    points: Vec<PointFields<'a>>,
    results: String,
    summary: String,
    plots: Vec<String>,
}

/// The default folder of results.
const OUT: &str = "reticent-sweep";

#[derive(Debug, Args)]
#[command(
    after_help = "A job file has the keys of `reticent fit` (with [parties], of `reticent simulate`), and a table \
                  [sweep] with a list for each key that is varied (docs/sweeps.md)."
)]
pub struct SweepArgs {
    /// A job file (TOML) with a table [sweep]
    job: PathBuf,

    /// The folder for results, the journal and the models [default: reticent-sweep]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,

    /// The table is public: nothing is charged, and results have objective and metrics. NOT PRIVATE
    #[arg(long, conflicts_with = "budget")]
    public_data: bool,

    /// A public test table for every model, instead of the job file's
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,

    /// Runs at a time; a crash loses at most these [default: as many as suit the machine]
    #[arg(short, long, value_name = "N", value_parser = number::whole::<u32>, allow_negative_numbers = true)]
    jobs: Option<u32>,

    /// Continue the sweep whose journal is in the folder
    #[arg(long)]
    resume: bool,

    /// Draw this metric against epsilon, with its standard error; may be repeated
    #[arg(long, value_name = "METRIC")]
    plot: Vec<String>,

    /// Write results as Parquet
    #[arg(long)]
    parquet: bool,

    /// Also keep every model of a sweep on public data
    #[arg(long)]
    models: bool,

    #[command(flatten)]
    purse: PurseFlags,
}

impl SweepArgs {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let file = SweepFile::read(&self.job).map_err(of_sweep)?;
        let SweepFile { sweep, data, .. } = &file;
        let out = self.out.clone().or(file.out.clone()).unwrap_or_else(|| OUT.into());
        check_folder(&out)?;
        let path = out.join("journal.jsonl");
        self.allowed(sweep)?;
        let test = self.test.clone().or(file.test.clone());
        let test = test.map(|path| Files::one(path).with(|it| it.reading = data.reading));
        let kind = if self.public_data { SweepKind::Experiment } else { SweepKind::Paid };
        let models = out.join("models");
        let terms = SweepTerms::new(kind, [0; 32]).with(|it| {
            it.jobs = self.jobs.map(|jobs| jobs as usize);
            it.test = test.as_ref();
            it.models = (self.models || kind == SweepKind::Paid).then_some(&models);
        });
        std::fs::create_dir_all(&models).map_err(|error| Error::written(&models, &error))?;
        let mut bar = match kind {
            // How long a run takes depends on the records, and of public ones it may be told.
            SweepKind::Experiment => JobBar::with_time_left("run"),
            SweepKind::Paid => JobBar::new("run"),
        };
        let mut watch = |stage| bar.watch(stage);
        let done = self.perform(sweep, data, terms, &path, &mut watch);
        bar.finish();
        let (journal, receipt) = done?;
        let _ = std::fs::remove_dir(&models);
        let answer = self.answer(sweep, &journal, &out);
        let mut answer = match kind {
            SweepKind::Experiment => answer?,
            SweepKind::Paid => answer.map_err(unwritten_results)?,
        };
        answer.remarks.extend(given_twice(&data.paths));
        if let Some(receipt) = receipt {
            receipt.add_to(&mut answer);
        }
        Ok(answer)
    }

    /// Refuses a sweep on private data that nobody pays for.
    fn allowed(&self, sweep: &Grid) -> Result<(), CommandFailure> {
        if self.public_data || self.purse.is_given() || self.resume {
            return Ok(());
        }
        let cost = sweep.at_most().map_or("no noise at all".to_owned(), |(epsilon, delta)| {
            format!("at most epsilon = {} at delta = {delta:e} together", number::show_up(epsilon))
        });
        Err(CommandFailure::Usage {
            message: format!("a sweep on private data releases {} models: {cost}", sweep.len()),
            hint: "charge it to the budget of the table with --budget FILE, or say with --public-data that the \
                   table is public"
                .to_owned(),
        })
    }

    fn perform(
        &self,
        sweep: &Grid,
        data: &Files,
        terms: SweepTerms<'_>,
        path: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<(Journal, Option<BudgetReceipt>), CommandFailure> {
        if self.public_data {
            let _ = watch(Stage::Reading);
            let ready = sweep.open(data, terms).map_err(of_sweep)?;
            let begun = if self.resume { ready.resume(path) } else { ready.begin(path, None) };
            let mut journal = begun.map_err(of_sweep)?;
            let mut told = |done, of| {
                let _ = watch(Stage::Iteration(Progress { done: done as u64, of: of as u64 }));
            };
            ready.run(&mut journal, &|_| Ok(true), &mut told).map_err(of_sweep)?;
            return Ok((journal, None));
        }
        if self.resume {
            return self.go_on(sweep, data, terms, path, watch).map(|journal| (journal, None));
        }
        let asked = sweep.at_most();
        let guarantee = Guarantee::default().with(|it| {
            it.epsilon = asked.map(|(epsilon, _)| epsilon);
            it.delta = asked.map(|(_, delta)| delta.min(0.5));
            it.seed = sweep.is_seeded().then_some(0);
        });
        let label = format!("sweep of {} runs to {}", sweep.len(), path.display());
        let purse = self.purse.open(&guarantee, data, JobName::of(&label), || None)?;
        let (Some(purse), Some(mark), Some(budget)) =
            (purse, self.purse.mark(data)?, self.purse.file())
        else {
            return self.allowed(sweep).and(Err(nothing_done()));
        };
        let terms = terms.with(|it| it.mark = mark);
        let open = |table: &Files, _: &mut Run<'_>| {
            let ready = sweep.open(table, terms)?;
            ready.outlooks().iter().for_each(foretold);
            Ok(PaidSweep::new(ready, path, budget))
        };
        let (done, receipt) =
            purse.pay(sweep.user_column().as_deref(), open, Run::watched(watch))?;
        Ok((done.0, Some(receipt)))
    }

    /// Goes on with a sweep on private data, as long as its job is open: it was paid for when it
    /// began, and the budget keeps what was begun since, whatever is in the folder. It has the key,
    /// too, that shows whether the table is the one that was paid for.
    fn go_on(
        &self,
        sweep: &Grid,
        data: &Files,
        terms: SweepTerms<'_>,
        path: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<Journal, CommandFailure> {
        let rest = AtRest::new(&data.paths).map_err(CommandFailure::of_payment)?;
        let Some((budget, mark)) = self.purse.file().zip(self.purse.mark(data)?) else {
            return Err(CommandFailure::Usage {
                message: "a sweep on private data goes on beside the budget that paid for it"
                    .to_owned(),
                hint: "give --budget FILE; nothing is charged again".to_owned(),
            });
        };
        let _ = watch(Stage::Reading);
        let ready = sweep.open(data, terms.with(|it| it.mark = mark)).map_err(of_sweep)?;
        // What was read is what the mark is of.
        rest.check().map_err(CommandFailure::of_payment)?;
        let mut journal = ready.resume(path).map_err(of_sweep)?;
        match resume_sweep(&ready, &mut journal, budget, Run::watched(watch)) {
            Ok(()) => Ok(journal),
            Err(PaymentError::Budget(BudgetError::NotOpen(job))) => Err(CommandFailure::Usage {
                message: format!("there is no open job {job}: the sweep is over"),
                hint: "to run it again is another sweep, with a bill of its own; give another folder with --out, and \
                       leave out --resume"
                    .to_owned(),
            }),
            Err(PaymentError::Job(error)) => Err(of_sweep(error)),
            Err(other) => Err(CommandFailure::of_payment(other)),
        }
    }

    fn answer(
        &self,
        sweep: &Grid,
        journal: &Journal,
        out: &Path,
    ) -> Result<Answer, CommandFailure> {
        let ending = if self.parquet { "parquet" } else { "csv" };
        let (runs, means) =
            (out.join(format!("runs.{ending}")), out.join(format!("summary.{ending}")));
        let all = summary(sweep, journal.finished());
        let names: BTreeSet<String> =
            all.iter().flat_map(|one| one.metrics.keys().cloned()).collect();
        raw(sweep, journal, &names).write(&runs)?;
        table(sweep, &all, &names).write(&means)?;
        let mut drawn = Vec::new();
        for metric in &self.plot {
            let file = out.join(format!("{metric}.svg"));
            write_text(&picture(sweep, &all, &names, metric)?.to_file(), &file)?;
            drawn.push(file.display().to_string());
        }
        let (over, lost) = (journal.finished().len(), journal.lost());
        let mut text = format!("{over} of {} runs are done.\n\n", sweep.len());
        text += &columns(&shown(sweep, &all, &names), 2, 2);
        text += &format!("\nWrote {} (every run)\n", runs.display());
        text += &format!("  and {} (mean and spread of each point).\n", means.display());
        for file in &drawn {
            text += &format!("Drew {file}.\n");
        }
        let mut remarks = self.remarks(&names, lost.len(), out)?;
        let failed: usize = all.iter().map(|one| one.failed).sum();
        if failed > 0 {
            remarks.push(format!(
                "{failed} runs ended without a model; {} has the reasons.",
                runs.display()
            ));
        }
        let unmeasured = journal.finished().values().filter(|run| run.unmeasured.is_some()).count();
        if unmeasured > 0 {
            remarks.push(format!(
                "{unmeasured} models exist but could not be measured; {} has the reasons.",
                runs.display()
            ));
        }
        let fields = SweepFields {
            runs: sweep.len(),
            done: over,
            lost: lost.len(),
            failed,
            points: points(sweep, &all),
            results: runs.display().to_string(),
            summary: means.display().to_string(),
            plots: drawn,
        };
        Ok(Answer { remarks, ..Answer::of(text, &fields) })
    }

    /// What must not be overlooked.
    fn remarks(
        &self,
        names: &BTreeSet<String>,
        lost: usize,
        out: &Path,
    ) -> Result<Vec<String>, CommandFailure> {
        let mut remarks = Vec::new();
        if self.public_data {
            let note = "NOT PRIVATE: results are computed from the table as it is, which was said to be public. No \
                        certificate covers them.";
            write_text(&wrapped(note), &out.join("NOT-PRIVATE.txt"))?;
            remarks.push(note.to_owned());
        } else if !names.is_empty() {
            remarks.push(
                "The metrics are computed from the test table as it is: it must be public."
                    .to_owned(),
            );
        }
        if self.resume && !self.public_data {
            remarks.push(
                "Nothing was charged: it was reserved when it began, and is counted in full."
                    .to_owned(),
            );
        }
        if !self.public_data && lost > 0 {
            remarks.push(format!(
                "{lost} runs were begun and lost. What they cost is spent, and they are not begun again: a second \
                 run would be a second release."
            ));
        }
        Ok(remarks)
    }
}

/// The runs are paid for, and in the journal: only what is drawn from it is missing.
fn unwritten_results(failure: CommandFailure) -> CommandFailure {
    CommandFailure::Undelivered {
        message: format!("the runs are done and charged, but {failure}"),
        hint: "make room and give --resume: results are written again and nothing is charged"
            .to_owned(),
    }
}

fn of_sweep(error: Error) -> CommandFailure {
    CommandFailure::of("sweep", error)
}

fn nothing_done() -> CommandFailure {
    CommandFailure::Usage {
        message: "nothing was done".to_owned(),
        hint: "give --budget".to_owned(),
    }
}
