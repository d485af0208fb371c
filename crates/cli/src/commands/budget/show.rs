//! A budget in words and as JSON.

use std::path::Path;

use reticent::accountant::{Adjacency, Unit, View};
use reticent_budget::{BudgetSummary, GroupSummary, JobProgress, JobSummary, Promise};
use serde::Serialize;

use crate::answer::Answer;
use crate::layout::{columns, wrapped};
use crate::number::{JsonNumber, show, show_delta, show_down, show_up};

/// The last so many jobs are listed; the rest is in the JSON.
const LISTED: usize = 20;

/// What is promised, as a sentence.
pub fn meaning(promise: &Promise) -> String {
    let Promise { dataset, epsilon, delta, adjacency, unit, view, .. } = promise;
    let change = match (adjacency, unit) {
        (Adjacency::ReplaceOne, Unit::Record) => "replacing any one record by another",
        (Adjacency::ReplaceOne, Unit::User) => "replacing all rows of any one user by another's",
        (Adjacency::ReplaceOne, Unit::Party) => "replacing all that any one party holds",
        (Adjacency::AddRemove, Unit::Party) => "adding or taking away any one party",
        (Adjacency::AddRemove, Unit::Record) => "adding or taking away any one record",
        (Adjacency::AddRemove, Unit::User) => "adding or taking away all rows of any one user",
    };
    format!(
        "All jobs on {dataset} together, each chosen by looking at the models before it or not, keep this: {change} \
         changes the probability of any outcome by a factor of at most e^{epsilon}, but for a probability of {} \
         ({view} view).",
        show_delta(*delta)
    )
}

/// The whole of it.
pub fn answer(file: &Path, summary: &BudgetSummary) -> Answer {
    let Promise { dataset, epsilon, delta, adjacency, view, .. } = &summary.promise;
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let mut rows = vec![
        row("data set", dataset.clone()),
        row("promised", format!("epsilon {epsilon} at delta {}", show_delta(*delta))),
        row("adjacency", adjacency.to_string()),
        row("unit", unit_and_column(summary)),
        row("view", view.to_string()),
        row("kept", if summary.kept { "yes" } else { "NO" }.to_owned()),
    ];
    for group in &summary.groups {
        rows.extend(group_rows(group, summary));
    }
    let mut text = columns(&rows, 2, 2);
    text += &format!("\n{}", wrapped(&meaning(&summary.promise)));
    let gains = summary.groups.iter().filter_map(|group| gain(group, summary));
    text.extend(gains.map(|gain| format!("\n{}", wrapped(&gain))));
    if !summary.jobs.is_empty() {
        text += &format!("\n{}", jobs(summary));
    }
    let remarks = remarks(summary);
    Answer { remarks, ..Answer::of(text, &BudgetFields::of(file, summary)) }
}

/// What is protected, and who a user is once that is known.
fn unit_and_column(summary: &BudgetSummary) -> String {
    let unit = summary.promise.unit;
    match &summary.users {
        Some(column) => format!("{unit} (by {column})"),
        None => unit.to_string(),
    }
}

fn group_rows(group: &GroupSummary, summary: &BudgetSummary) -> Vec<Vec<String>> {
    let of = if summary.groups.len() > 1 {
        format!(" (people {})", group.people)
    } else {
        String::new()
    };
    let row = |name: &str, value: String| vec![format!("{name}{of}"), value];
    let delta = show_delta(summary.promise.delta);
    let counted = if group.counted.is_finite() {
        format!("{} of {}", show_up(group.counted), summary.promise.epsilon)
    } else {
        "not bounded".to_owned()
    };
    let mut rows = vec![row("counted", counted)];
    rows.push(row(
        "left",
        format!(
            "a fit with Gaussian noise up to epsilon {} at delta {delta}",
            show_down(group.left)
        ),
    ));
    if let Some(so_far) = group.so_far.filter(|_| group.jobs > 0) {
        rows.push(row(
            "so far",
            format!("epsilon {} at delta {delta}, whenever one looks", show_up(so_far)),
        ));
    }
    if let Some(exact) = group.exact.filter(|_| group.jobs > 0) {
        let value = format!(
            "epsilon {} at delta {delta}, had all been planned beforehand (no promise)",
            show_up(exact)
        );
        rows.push(row("for comparison", value));
    }
    rows
}

/// What is gained against adding up.
fn gain(group: &GroupSummary, summary: &BudgetSummary) -> Option<String> {
    let (epsilon, delta) = group.added.filter(|(epsilon, _)| epsilon.is_finite())?;
    (group.jobs > 1 && group.counted < epsilon).then(|| {
        format!(
            "Added up, the {} jobs would come to epsilon {} at delta {}; counted together they come to {} at {}: {} \
             less.",
            group.jobs,
            show(epsilon),
            show_delta(delta),
            show_up(group.counted),
            show_delta(summary.promise.delta),
            show(epsilon - group.counted)
        )
    })
}

fn jobs(summary: &BudgetSummary) -> String {
    let mut rows =
        vec![["job", "time", "state", "epsilon", "delta", ""].map(str::to_owned).to_vec()];
    let hidden = summary.jobs.len().saturating_sub(LISTED);
    rows.extend(summary.jobs.iter().skip(hidden).map(|job| {
        vec![
            job.number.to_string(),
            job.time.clone(),
            job.status.name().to_owned(),
            show(job.epsilon),
            show_delta(job.delta),
            job.label.clone(),
        ]
    }));
    let more = if hidden > 0 { format!("  and {hidden} before these\n") } else { String::new() };
    columns(&rows, 2, 9) + &more
}

fn remarks(summary: &BudgetSummary) -> Vec<String> {
    let mut remarks = Vec::new();
    if !summary.kept {
        remarks.push(
            "NOT PRIVATE: more was released than this budget promises. It admits no job any more, and nothing is \
             promised about the data set."
                .to_owned(),
        );
    }
    let stale: Vec<String> = summary.open().take(LISTED).map(still_open).collect();
    if !stale.is_empty() {
        remarks.push(format!(
            "Still open, and counted in full: {}. A job that is no longer running is closed with `reticent budget \
             forfeit`; it stays counted, because its queries are unknown.",
            stale.join(", ")
        ));
    }
    if summary.groups.len() > 1 {
        remarks.push("Assumed, as declared: nobody is in two of the groups of people.".to_owned());
    }
    remarks
}

fn still_open(job: &JobSummary) -> String {
    let heard = match &job.progress {
        None => String::new(),
        Some(JobProgress { time, done, of: None, .. }) => format!(", {done} steps done at {time}"),
        Some(JobProgress { time, done, of: Some(of), .. }) => format!(", {done} of {of} at {time}"),
    };
    format!("job {} ({}, since {}{heard})", job.number, job.label, job.time)
}

/// The same for programs.
#[derive(Serialize)]
pub struct BudgetFields<'a> {
    budget: &'a Path,
    dataset: &'a str,
    epsilon: f64,
    delta: f64,
    adjacency: Adjacency,
    unit: Unit,
    view: View,
    user_column: Option<&'a str>,
    rows_per_user: Option<u64>,
    kept: bool,
    groups: Vec<GroupFields>,
    jobs: Vec<JobFields<'a>>,
    tables: usize,
    lines: u64,
    head: &'a str,
}

/// What is counted for one group of people.
#[derive(Serialize)]
struct GroupFields {
    people: u64,
    jobs: usize,
    counted: JsonNumber,
    left: f64,
    so_far: Option<f64>,
    exact_if_planned: Option<f64>,
    added: Option<AddedFields>,
}

/// The jobs' own ε and δ, added up.
#[derive(Serialize)]
struct AddedFields {
    epsilon: JsonNumber,
    delta: f64,
}

/// A job of a budget.
#[derive(Serialize)]
struct JobFields<'a> {
    job: u64,
    label: &'a str,
    time: &'a str,
    state: &'static str,
    closed: Option<&'a str>,
    progress: Option<&'a JobProgress>,
    epsilon: JsonNumber,
    delta: f64,
    people: Option<&'a [u64]>,
}

impl<'a> BudgetFields<'a> {
    /// The fields of this budget.
    pub fn of(budget: &'a Path, summary: &'a BudgetSummary) -> Self {
        let Promise { dataset, epsilon, delta, adjacency, unit, view, rows_per_user } =
            &summary.promise;
        BudgetFields {
            budget,
            dataset,
            epsilon: *epsilon,
            delta: *delta,
            adjacency: *adjacency,
            unit: *unit,
            view: *view,
            user_column: summary.users.as_deref(),
            rows_per_user: *rows_per_user,
            kept: summary.kept,
            groups: summary.groups.iter().map(GroupFields::from).collect(),
            jobs: summary.jobs.iter().map(JobFields::from).collect(),
            tables: summary.tables,
            lines: summary.lines,
            head: &summary.head,
        }
    }
}

impl From<&GroupSummary> for GroupFields {
    fn from(group: &GroupSummary) -> Self {
        let added = |(epsilon, delta): (f64, f64)| AddedFields { epsilon: epsilon.into(), delta };
        GroupFields {
            people: group.people,
            jobs: group.jobs,
            counted: group.counted.into(),
            left: group.left,
            so_far: group.so_far,
            exact_if_planned: group.exact,
            added: group.added.map(added),
        }
    }
}

impl<'a> From<&'a JobSummary> for JobFields<'a> {
    fn from(job: &'a JobSummary) -> Self {
        JobFields {
            job: job.number,
            label: &job.label,
            time: &job.time,
            state: job.status.name(),
            closed: job.closed.as_deref(),
            progress: job.progress.as_ref(),
            epsilon: job.epsilon.into(),
            delta: job.delta,
            people: job.people.as_deref(),
        }
    }
}

/// What `check` says when all is well.
pub fn checked(file: &Path, summary: &BudgetSummary) -> Answer {
    let text = wrapped(&format!(
        "{} checks: {} lines, {} jobs, every charge recounted from its ledger. The last line is {}: write it down \
         elsewhere, and you will notice if the history is ever cut short.",
        file.display(),
        summary.lines,
        summary.jobs.len(),
        &summary.head[..16]
    ));
    let remarks = remarks(summary);
    Answer { remarks, ..Answer::of(text, &BudgetFields::of(file, summary)) }
}
