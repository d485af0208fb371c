//! A job that is paid for from the budget of its data set: what its plan costs is reserved before
//! anything is asked, and settled after. Whatever happens between leaves it counted in full.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use reticent::accountant::{Adjacency, Ledger, Unit, View};
use reticent::internal::Payable;
use reticent::internal::tables::fingerprint;
use reticent::{Error, Files, Guarantee, Run};
use reticent_budget::{BudgetError, GroupSummary, Relation, Store, gaussian_job};
use reticent_payment::{AtRest, Bill, Paid, PaymentError, pay};
use serde::Serialize;
use serde_json::Value;

use crate::answer::{Answer, object};
use crate::delivery::{Charged, Delivery};
use crate::failure::CommandFailure;
use crate::layout::wrapped;
use crate::number::{show_delta, show_down, show_up};
use crate::spool::{self, JobMark, Keeping, KeptResult};

/// What `--disjoint-people` says.
const DISJOINT: &str = "nobody in this table is in another table of the budget";

#[derive(Debug, Args)]
#[command(next_help_heading = "The budget of the data set (docs/budgets.md)")]
pub struct PurseFlags {
    /// Reserve the cost of the job in this budget, before the first query
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,

    /// The table is a new edition of the budget's table: the same people, so costs add up
    #[arg(long, requires = "budget")]
    new_edition: bool,

    /// Nobody in this table is in another table of the budget. Recorded as an assumption
    #[arg(long, requires = "budget", conflicts_with = "new_edition")]
    disjoint_people: bool,
}

/// A budget, and what is asked of it.
#[derive(Debug)]
pub struct Purse {
    store: Store,
    file: PathBuf,
    relation: Relation,
    label: String,
    asked: (f64, f64),
    table: Files,
    /// What tells the job from others, where its result is kept until it is delivered.
    mark: Option<[u8; 32]>,
    /// The result of this job, if it was paid for already and not delivered.
    kept: Option<KeptResult>,
}

/// A job as it is told from others: its label, and all that was asked.
#[derive(Debug)]
pub struct JobName {
    label: String,
    asked: Option<Vec<Vec<u8>>>,
}

impl JobName {
    /// A job that keeps what came of it by itself.
    pub fn of(label: &str) -> Self {
        JobName { label: label.to_owned(), asked: None }
    }

    /// A job whose result is kept until it is delivered: what was asked of which files, and the
    /// files, beside the table, that say what is asked.
    pub fn kept(label: &str, asked: &impl Serialize, data: &Files, beside: &[PathBuf]) -> Self {
        let asked = object(asked).to_string();
        let mut all = vec![asked.into_bytes(), format!("{:?}", data.reading).into()];
        // What cannot be read is refused by who needs it.
        all.extend(beside.iter().map(|file| fs::read(file).unwrap_or_default()));
        JobName { label: label.to_owned(), asked: Some(all) }
    }
}

/// What a fit did to its budget.
#[derive(Debug)]
pub struct BudgetReceipt {
    /// For people.
    pub text: String,
    /// For programs.
    pub object: Value,
    /// What must not be overlooked.
    pub remarks: Vec<String>,
    /// The number of the job, where one budget paid.
    pub job: Option<u64>,
}

/// What a budget says of a job.
#[derive(Serialize)]
struct ReceiptFields<'a> {
    file: &'a Path,
    job: u64,
    #[serde(flatten)]
    balance: Option<BalanceFields>,
}

/// What is counted after a job.
#[derive(Serialize)]
struct BalanceFields {
    counted: f64,
    left: f64,
    assumption: Option<&'static str>,
}

impl BudgetReceipt {
    /// Says it behind what the job itself has to say.
    pub fn add_to(self, answer: &mut Answer) {
        answer.text += &format!("\n{}", self.text);
        answer.object["budget"] = self.object;
        answer.remarks.extend(self.remarks);
    }
}

impl PurseFlags {
    /// Whether a budget was named.
    pub fn is_given(&self) -> bool {
        self.budget.is_some()
    }

    /// The budget that was named.
    pub fn file(&self) -> Option<&Path> {
        self.budget.as_deref()
    }

    /// Stands for a table, under the key of the budget that was named: for a job that goes on.
    pub fn mark(&self, data: &Files) -> Result<Option<[u8; 32]>, CommandFailure> {
        let Some(file) = &self.budget else { return Ok(None) };
        let key =
            Store::open(file).and_then(|store| store.key()).map_err(CommandFailure::Budget)?;
        let unreadable = |error: std::io::Error| {
            CommandFailure::of_payment(PaymentError::Unreadable(error.kind().to_string()))
        };
        fingerprint(&data.paths, &key).map(Some).map_err(unreadable)
    }

    /// The budget that was named, if any; a job that surely does not fit is refused here, before
    /// its table is opened. `beforehand` is what the job plans, as far as that is known by then.
    pub fn open(
        &self,
        guarantee: &Guarantee,
        data: &Files,
        name: JobName,
        beforehand: impl FnOnce() -> Option<Ledger>,
    ) -> Result<Option<Purse>, CommandFailure> {
        let Some(file) = self.budget.clone() else { return Ok(None) };
        let asked = asked_of_budgets(guarantee)?;
        // What else is wrong with a file is said by who reads it.
        if let Some(error) = AtRest::new(&data.paths).err().filter(PaymentError::is_no_file) {
            return Err(CommandFailure::of_payment(error));
        }
        let relation = match (self.new_edition, self.disjoint_people) {
            (true, _) => Relation::NewEdition,
            (_, true) => Relation::DisjointPeople,
            _ => Relation::Same,
        };
        let store = Store::open(&file).map_err(CommandFailure::Budget)?;
        // Follows the history from end to end, which a reservation does not.
        store.promise().map_err(CommandFailure::Budget)?;
        let JobName { label, asked: all } = name;
        let mark = all.map(|all| {
            let all: Vec<&[u8]> =
                std::iter::once(&b"job"[..]).chain(all.iter().map(Vec::as_slice)).collect();
            store.fingerprint(&all)
        });
        let mark = mark.transpose().map_err(CommandFailure::Budget)?;
        let table = || fingerprint(&data.paths, &store.key().map_err(std::io::Error::other)?);
        let kept = match &mark {
            Some(mark) => spool::find(&store, &file, mark, &label, table)?,
            None => None,
        };
        // People who are in no other table have a budget of their own.
        if kept.is_none()
            && relation != Relation::DisjointPeople
            && let Some(plan) = beforehand()
            && let Err(error) = store.would_fit(&plan, asked)
            && error.is_refusal()
        {
            return Err(CommandFailure::Budget(error));
        }
        let table = data.clone();
        Ok(Some(Purse { store, file, relation, label, asked, table, mark, kept }))
    }
}

/// What a job with a budget asks for; one without a guarantee is refused.
pub fn asked_of_budgets(guarantee: &Guarantee) -> Result<(f64, f64), CommandFailure> {
    let usage = |message: &str, hint: &str| {
        Err(CommandFailure::Usage { message: message.to_owned(), hint: hint.to_owned() })
    };
    if guarantee.seed.is_some() {
        return usage(
            "seed: noise that somebody knows is no noise, and no budget holds it",
            "leave out --seed or --budget",
        );
    }
    match guarantee.asked() {
        Some(asked) => Ok(asked),
        None => usage(
            "a job with a budget needs an epsilon and a delta of its own",
            "give --epsilon and --delta",
        ),
    }
}

/// Does the job that `open` opens, and pays for it where a budget was named. What came of it is made
/// ready by `deliver`, and kept beside the budget until it is handed over.
pub fn done<R: Payable>(
    purse: Option<Purse>,
    data: &Files,
    user: Option<String>,
    open: impl FnOnce(&Files, &mut Run<'_>) -> Result<R, Error>,
    mut run: Run<'_>,
    deliver: impl FnOnce(&mut R::Done) -> Result<Delivery, CommandFailure>,
) -> Result<(Delivery, Charged), CommandFailure> {
    match purse {
        Some(Purse { kept: Some(kept), store, file, relation, .. }) => {
            delivered_again(kept, store, &file, relation)
        }
        Some(purse) => purse.pay_and_keep(user.as_deref(), open, run, deliver),
        None => {
            let mut done = open(data, &mut run).and_then(|ready| ready.run(run))?;
            Ok((deliver(&mut done)?, Charged::default()))
        }
    }
}

/// A result that was paid for and is kept; its job is closed, if that was cut short.
fn delivered_again(
    kept: KeptResult,
    mut store: Store,
    file: &Path,
    relation: Relation,
) -> Result<(Delivery, Charged), CommandFailure> {
    kept.close(&mut store).map_err(CommandFailure::Budget)?;
    let job = kept.job;
    let receipt = Some(receipt(&store, file, relation, job, None));
    let (job, kept_in) = (Some((job, file.to_owned())), Some(kept.file));
    Ok((kept.delivery, Charged { receipt, job, kept: kept_in, again: true }))
}

impl Purse {
    /// Does the job that `open` opens.
    pub fn pay<R: Payable>(
        mut self,
        user: Option<&str>,
        open: impl FnOnce(&Files, &mut Run<'_>) -> Result<R, Error>,
        run: Run<'_>,
    ) -> Result<(R::Done, BudgetReceipt), CommandFailure> {
        let (label, asked, relation) = (&*self.label, self.asked, self.relation);
        let bill = Bill { label, asked, user, relation };
        let files = &self.table;
        let open = |run: &mut Run<'_>| open(files, run);
        let paid = pay(&mut self.store, &bill, Paid::Files(&files.paths), open, run);
        let paid = paid.map_err(CommandFailure::of_payment)?;
        let number = paid.job;
        let open = paid.open.map(|error| {
            format!("Job {number} stays open in the budget, and counted in full: {error}.")
        });
        Ok((paid.done, receipt(&self.store, &self.file, self.relation, number, open)))
    }

    /// The same, and keeps the result until it is handed over.
    fn pay_and_keep<R: Payable>(
        self,
        user: Option<&str>,
        open: impl FnOnce(&Files, &mut Run<'_>) -> Result<R, Error>,
        run: Run<'_>,
        deliver: impl FnOnce(&mut R::Done) -> Result<Delivery, CommandFailure>,
    ) -> Result<(Delivery, Charged), CommandFailure> {
        let (budget, label) = (self.file.clone(), self.label.clone());
        let (asked, key) = (self.mark.unwrap_or_default(), self.store.key());
        let key = key.map_err(CommandFailure::Budget)?;
        let opened = |data: &Files, run: &mut Run<'_>| {
            let ready = open(data, run)?;
            // Files that change meanwhile are refused: it is the mark of what was read.
            let table = fingerprint(&data.paths, &key);
            let table = table.map_err(|error| Error::written(&budget, &error))?;
            let mark = JobMark { asked, table, label };
            Ok(Keeping { ready, budget: &budget, mark, deliver, reserved: Default::default() })
        };
        let (ended, receipt) = self.pay(user, opened, run)?;
        let job = receipt.job.map(|job| (job, budget.clone()));
        let charged = Charged { receipt: Some(receipt), job, kept: ended.kept, again: false };
        charged.with(ended.delivery)
    }
}

/// What a job did to its budget.
fn receipt(
    store: &Store,
    file: &Path,
    relation: Relation,
    number: u64,
    open: Option<String>,
) -> BudgetReceipt {
    let mut remarks: Vec<String> = open.into_iter().collect();
    let job = Some(number);
    let fields = |balance| object(&ReceiptFields { file, job: number, balance });
    let summary = match store.summary() {
        Ok(summary) => summary,
        Err(error) => {
            remarks.push(error.to_string());
            return BudgetReceipt { text: String::new(), object: fields(None), remarks, job };
        }
    };
    let own = summary.jobs.iter().find(|job| job.number == number);
    let own = own.and_then(|job| job.people.as_ref());
    let mine = |group: &&GroupSummary| own.is_none_or(|own| own.contains(&group.people));
    let most = |one: &&GroupSummary, two: &&GroupSummary| one.counted.total_cmp(&two.counted);
    let group = summary.groups.iter().filter(mine).max_by(most);
    let Some(group) = group else {
        return BudgetReceipt { text: String::new(), object: fields(None), remarks, job };
    };
    let assumption = (relation == Relation::DisjointPeople).then_some(DISJOINT);
    let taken = assumption.map_or(String::new(), |said| format!(" Taken as given: {said}."));
    let text = wrapped(&format!(
        "It is job {number} of {}: {} of epsilon = {} at delta = {} are counted, and a fit with Gaussian noise up to \
             epsilon = {} is left.{taken}",
        file.display(),
        show_up(group.counted),
        summary.promise.epsilon,
        show_delta(summary.promise.delta),
        show_down(group.left)
    ));
    let (counted, left) = (group.counted, group.left);
    let object = fields(Some(BalanceFields { counted, left, assumption }));
    BudgetReceipt { text, object, remarks, job }
}

/// What a job with Gaussian noise on all records plans, of just this ε and δ.
pub fn gaussian(
    asked: (f64, f64),
    adjacency: Adjacency,
    unit: Unit,
    view: View,
) -> Result<Ledger, CommandFailure> {
    gaussian_job(asked, adjacency, unit, view).map_err(|error| match error {
        BudgetError::Calibration(error) => error.into(),
        other => CommandFailure::Budget(other),
    })
}
