//! A job that is paid for from the budget of its data set: what its plan costs is reserved before
//! anything is asked, and settled after. Whatever happens between leaves it counted in full.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use reticent::accountant::{Adjacency, Ledger, Unit, View};
use reticent::tables::{fingerprint, stamps};
use reticent::{Error, Files, Payable, Progress, Spec, Stage, Watch, unplanned};
use reticent_budget::{BudgetError, Relation, Request, Reservation, Store, Table, gaussian_job};
use serde_json::{Value, json};

use crate::answer::Answer;
use crate::failure::Failure;
use crate::layout::wrapped;
use crate::number::{show_delta, show_up};

/// How often a job says in its budget how far it is.
const BEAT: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
#[command(next_help_heading = "The budget of the data set (docs/budgets.md)")]
pub struct PurseFlags {
    /// Reserve what the job costs in this budget, before anything is asked
    #[arg(long, value_name = "FILE")]
    budget: Option<PathBuf>,

    /// The table is a new edition of the budget's: the same people, what is asked adds up
    #[arg(long, requires = "budget")]
    new_edition: bool,

    /// Nobody in this table is in another table of the budget. Taken as given, and recorded
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
}

/// What a fit did to its budget.
#[derive(Debug)]
pub struct Receipt {
    /// For people.
    pub text: String,
    /// For programs.
    pub object: Value,
    /// What must not be overlooked.
    pub remarks: Vec<String>,
}

impl Receipt {
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
    pub fn mark(&self, data: &Files) -> Result<Option<[u8; 32]>, Failure> {
        let Some(file) = &self.budget else { return Ok(None) };
        let key = Store::open(file).and_then(|store| store.key()).map_err(Failure::Budget)?;
        fingerprint(&data.paths, &key).map(Some).map_err(unreadable)
    }

    /// The budget that was named, if any; a job that surely does not fit is refused here, before
    /// its table is opened. `beforehand` is what the job plans, as far as that is known by then.
    pub fn open(
        &self,
        spec: &Spec,
        data: &Files,
        label: &str,
        beforehand: impl FnOnce() -> Option<Ledger>,
    ) -> Result<Option<Purse>, Failure> {
        let Some(file) = self.budget.clone() else { return Ok(None) };
        let usage = |message: &str, hint: &str| {
            Err(Failure::Usage { message: message.to_owned(), hint: hint.to_owned() })
        };
        if spec.seed.is_some() {
            return usage(
                "seed: noise that somebody knows is no noise, and no budget holds it",
                "leave out --seed or --budget",
            );
        }
        let Some(asked) = spec.epsilon.zip(spec.delta) else {
            return usage(
                "a job with a budget needs an epsilon and a delta of its own",
                "give --epsilon and --delta",
            );
        };
        if data.paths.iter().any(|path| path.as_os_str() == "-") {
            return usage(
                "a budget knows its table by its file, and standard input is none",
                "give a file",
            );
        }
        let relation = match (self.new_edition, self.disjoint_people) {
            (true, _) => Relation::NewEdition,
            (_, true) => Relation::DisjointPeople,
            _ => Relation::Same,
        };
        let store = Store::open(&file).map_err(Failure::Budget)?;
        // Follows the history from end to end, which a reservation does not.
        store.promise().map_err(Failure::Budget)?;
        // People who are in no other table have a budget of their own.
        if relation != Relation::DisjointPeople
            && let Some(plan) = beforehand()
            && let Err(error) = store.would_fit(&plan, asked)
            && error.is_refusal()
        {
            return Err(Failure::Budget(error));
        }
        let label = label.chars().filter(|c| !c.is_control()).take(200).collect();
        Ok(Some(Purse { store, file, relation, label, asked, table: data.clone() }))
    }
}

impl Purse {
    /// Does the job that `open` opens.
    pub fn pay<R: Payable>(
        mut self,
        user: Option<&str>,
        open: impl FnOnce(&Files, &mut Watch<'_>) -> Result<R, Error>,
        watch: &mut Watch<'_>,
    ) -> Result<(R::Done, Receipt), Failure> {
        let before = match stamps(&self.table.paths) {
            Ok(before) => before,
            Err(error) => {
                // What is wrong with a file is said better by who reads it.
                open(&self.table, watch)?;
                return Err(unreadable(error));
            }
        };
        let mut ready = open(&self.table, watch)?;
        let key = self.store.key().map_err(Failure::Budget)?;
        let fingerprint = fingerprint(&self.table.paths, &key).map_err(unreadable)?;
        if stamps(&self.table.paths).map_err(unreadable)? != before {
            return Err(Failure::Usage {
                message: "the table was written while it was read: nothing was reserved".to_owned(),
                hint: "try again when it is at rest".to_owned(),
            });
        }
        let plans = ready.plans();
        let Some((plan, others)) = plans.split_first() else {
            return Err(no_guarantee("it has no noise"));
        };
        if let Some(taint) = plans.iter().find_map(|plan| plan.taints().first()) {
            return Err(no_guarantee(&taint.to_string()));
        }
        let table = Table { fingerprint, relation: self.relation };
        let request = Request { label: &self.label, asked: self.asked, plan, table, user };
        let reservation = self.store.reserve_between(&request, others).map_err(Failure::Budget)?;
        let number = reservation.job();
        ready.reserved(number, &reservation.hash());
        let (done, closed) = self.run(ready, reservation, &plans, watch);
        let done = done?;
        let open = closed.err().map(|error| {
            format!("Job {number} stays open in the budget, and counted in full: {error}.")
        });
        Ok((done, self.receipt(number, open)))
    }

    /// Runs what was reserved, and closes the reservation.
    fn run<R: Payable>(
        &mut self,
        ready: R,
        reservation: Reservation,
        plans: &[Ledger],
        watch: &mut Watch<'_>,
    ) -> (Result<R::Done, Error>, Result<(), BudgetError>) {
        let last = Instant::now();
        let mut pulse = Pulse { store: &mut self.store, reservation: &reservation, last };
        let ran = ready.run(&mut |stage| {
            pulse.hear(stage);
            watch(stage)
        });
        match ran {
            Ok(done) => {
                let more = unplanned(plans, R::ledgers(&done));
                let closed = self.store.settle_for(&reservation, &more, R::digest(&done));
                (Ok(done), closed)
            }
            // Something was asked: the plan stays counted.
            Err(error @ Error::Spent { .. }) => {
                (Err(error), self.store.settle(&reservation, &Ledger::new()))
            }
            // It stays open, and counted in full, so that what was not begun can go on.
            Err(error @ Error::Unfinished { .. }) => (Err(error), Ok(())),
            Err(error) => (Err(error), self.store.release(reservation)),
        }
    }

    fn receipt(&self, number: u64, open: Option<String>) -> Receipt {
        let mut remarks: Vec<String> = open.into_iter().collect();
        let object = json!({ "file": self.file, "job": number });
        let summary = match self.store.summary() {
            Ok(summary) => summary,
            Err(error) => {
                remarks.push(error.to_string());
                return Receipt { text: String::new(), object, remarks };
            }
        };
        let own = summary.jobs.iter().find(|job| job.number == number).and_then(|job| job.people);
        let group = summary.groups.iter().find(|group| own.is_none_or(|own| own == group.people));
        let Some(group) = group else { return Receipt { text: String::new(), object, remarks } };
        let text = wrapped(&format!(
            "It is job {number} of {}: {} of epsilon = {} at delta = {} are counted, and a fit with Gaussian noise up to \
             epsilon = {} is left.",
            self.file.display(),
            show_up(group.counted),
            summary.promise.epsilon,
            show_delta(summary.promise.delta),
            group.left
        ));
        let object = json!({
            "file": self.file, "job": number, "counted": group.counted, "left": group.left,
        });
        Receipt { text, object, remarks }
    }
}

/// Writes down how far a job is.
#[derive(Debug)]
struct Pulse<'a> {
    store: &'a mut Store,
    reservation: &'a Reservation,
    last: Instant,
}

impl Pulse<'_> {
    fn hear(&mut self, stage: Stage) {
        let Stage::Iteration(Progress { done, of }) = stage else { return };
        if self.last.elapsed() >= BEAT {
            // A budget that is busy hears of the next one.
            let _ = self.store.beat(self.reservation, done, Some(of));
            self.last = Instant::now();
        }
    }
}

fn unreadable(error: std::io::Error) -> Failure {
    Failure::Usage {
        message: format!("the table cannot be read twice: {}", error.kind()),
        hint: "a budget knows its table by its files".to_owned(),
    }
}

fn no_guarantee(why: &str) -> Failure {
    Failure::Usage {
        message: format!("no budget holds this job: {why}"),
        hint: "nothing was reserved, and nothing was asked".to_owned(),
    }
}

/// What a job with Gaussian noise on all records plans, of just this ε and δ.
pub fn gaussian(
    asked: (f64, f64),
    adjacency: Adjacency,
    unit: Unit,
    view: View,
) -> Result<Ledger, Failure> {
    gaussian_job(asked, adjacency, unit, view).map_err(|error| match error {
        BudgetError::Calibration(error) => error.into(),
        other => Failure::Budget(other),
    })
}
