//! A budget on a page: what is promised, counted and left, how it went, and the jobs.

use maud::{Markup, PreEscaped, html};
use reticent_budget::{
    BudgetSummary, GroupSummary, JobProgress, JobStatus, JobSummary, Promise, SpendingPoint,
};
use reticent_plot::{Axis, Plot, PlotCurve, seconds, share};

use crate::curves::figure;
use crate::words::{
    compared, delta, down, factor, from_whom, given, one_in, protected, said, time, up,
};

/// A budget as it stands.
#[derive(Clone, Debug)]
pub struct BudgetAccount {
    pub(crate) name: String,
    pub(crate) summary: BudgetSummary,
    pub(crate) course: Vec<SpendingPoint>,
}

/// So many jobs are listed on a page; the newest.
const LISTED: usize = 100;

impl BudgetAccount {
    /// What `summary` and `course` say of the budget in a file of this name.
    #[must_use]
    pub fn new(name: &str, summary: BudgetSummary, course: Vec<SpendingPoint>) -> Self {
        Self { name: name.to_owned(), summary, course }
    }

    pub(crate) fn dataset(&self) -> &str {
        &self.summary.promise.dataset
    }

    /// The group of people with the most counted.
    pub(crate) fn worst(&self) -> Option<&GroupSummary> {
        self.summary.groups.iter().max_by(|a, b| a.counted.total_cmp(&b.counted))
    }
}

/// The section of a report.
pub(crate) fn account(account: &BudgetAccount, id: &str) -> Markup {
    html! {
        section id=(id) aria-labelledby=(format!("{id}-h")) {
            h2 id=(format!("{id}-h")) { "The budget of " (said(account.dataset())) }
            (standing(account))
            (promise(&account.summary))
            h3 { "The budget over time" }
            (course(account, id))
            h3 { "The jobs" }
            (jobs(&account.summary))
            (remarks(&account.summary))
        }
    }
}

/// How it stands, at a glance.
pub(crate) fn standing(account: &BudgetAccount) -> Markup {
    let BudgetSummary { promise, kept, groups, .. } = &account.summary;
    html! {
        @if *kept {
            div.verdict.good {
                p.badge { "Kept" }
                @for group in groups {
                    p.figure {
                        (up(group.counted)) " of ε = " (given(promise.epsilon)) " counted"
                        @if groups.len() > 1 { " (people " (group.people) ")" }
                    }
                    p { (PreEscaped(share(group.counted / promise.epsilon))) }
                    p {
                        "Left: a fit with Gaussian noise up to ε = " (down(group.left)) " at δ = "
                        (delta(promise.delta)) "."
                    }
                }
            }
        } @else {
            div.verdict.bad {
                p.badge { "Not kept" }
                p {
                    "More was released than this budget promises. It admits no job any more, and nothing is promised \
                     about the data set."
                }
            }
        }
    }
}

/// What it promises, to whom.
pub(crate) fn promise(summary: &BudgetSummary) -> Markup {
    let Promise { epsilon, delta: chance, adjacency, unit, view, rows_per_user, .. } =
        &summary.promise;
    html! {
        dl.facts {
            dt { "Promised" }
            dd { "ε = " (given(*epsilon)) " at δ = " (delta(*chance)) ", for all jobs together" }
            dt { "Who" }
            dd {
                (protected(*unit)) "."
                @if let Some(column) = &summary.users { " The column " (said(column)) " says who that is." }
                @if let Some(rows) = rows_per_user { " Nobody has more than " (rows) " rows: taken as given." }
            }
            dt { "From whom" }
            dd { (from_whom(*view)) }
            dt { "By how much" }
            dd {
                "The odds of any guess about them move by " (factor(*epsilon)) ", but for " (one_in(*chance))
                ", after all jobs together, each chosen by looking at the models before it or not."
            }
            dt { "Compared with" }
            dd { "What would have come out of " (compared(*adjacency, *unit)) "." }
        }
    }
}

/// What was counted over time, as a picture and in words.
pub(crate) fn course(account: &BudgetAccount, id: &str) -> Markup {
    let BudgetAccount { summary, course, .. } = account;
    let ceiling = summary.promise.epsilon;
    let groups = summary.groups.len();
    let mut plot = Plot::new(
        "What is counted over time",
        Axis::time("time (UTC)"),
        Axis::linear("ε counted").from_zero().reaching(ceiling),
    )
    .with_rule(ceiling, &format!("promised: {}", given(ceiling)));
    for group in 0..groups {
        let at =
            |moment: &SpendingPoint| Some((seconds(&moment.time)?, *moment.counted.get(group)?));
        let points = held(course.iter().filter_map(at).collect());
        let name = if groups > 1 { format!("people {}", group + 1) } else { "counted".to_owned() };
        plot = plot.with(PlotCurve::steps(&name, points));
    }
    let last = account.worst().map_or(0.0, |group| group.counted);
    let words =
        format!("{} jobs so far, {} of {} counted.", summary.jobs.len(), up(last), given(ceiling));
    let plot = plot.described(&words);
    figure(
        &|size, id| plot.to_page(size, id),
        &format!("{id}-course"),
        "A step is a job that reserved what it may use; it goes down again only for a job that was refused before it \
         asked anything.",
    )
}

/// What was counted last holds on, so that the last step can be seen.
fn held(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if let (Some(&(first, _)), Some(&(last, value))) = (points.first(), points.last()) {
        points.push((last + (0.05 * (last - first)).max(120.0), value));
    }
    points
}

fn state(job: &JobSummary) -> &'static str {
    match job.status {
        JobStatus::Open => "open, counted in full",
        JobStatus::Settled => "done",
        JobStatus::Released => "refused, not counted",
        JobStatus::Forfeited => "given up, counted in full",
        JobStatus::Imported => "made elsewhere",
        other => other.name(),
    }
}

/// How far a job is, for people and for those who do not see the bar.
pub(crate) fn progress(progress: &JobProgress) -> Markup {
    html! {
        @match progress.of {
            Some(of) if of > 0 => {
                progress value=(progress.done.min(of)) max=(of) aria-label="steps done" {}
                " " (progress.done) " of " (of) " steps"
            }
            _ => { (progress.done) " steps" }
        }
        ", last heard of " (time(&progress.time)) " UTC"
    }
}

/// The newest jobs.
pub(crate) fn jobs(summary: &BudgetSummary) -> Markup {
    let hidden = summary.jobs.len().saturating_sub(LISTED);
    html! {
        @if summary.jobs.is_empty() {
            p { "None yet." }
        } @else {
            div.scroll tabindex="0" role="group" aria-label="Jobs" {
                table.cards {
                    thead { tr {
                        th.number scope="col" { "Job" }
                        th scope="col" { "What" }
                        th scope="col" { "Began (UTC)" }
                        th scope="col" { "State" }
                        th.number scope="col" { "ε asked" }
                        th.number scope="col" { "δ asked" }
                    } }
                    tbody { @for (place, job) in summary.jobs.iter().enumerate().rev().take(LISTED) { tr {
                        td.number data-label="Job" { (place + 1) }
                        th scope="row" { (said(&job.label)) }
                        td.time data-label="Began (UTC)" { (time(&job.time)) }
                        td data-label="State" {
                            (state(job))
                            @if let Some(known) = &job.progress { br; (progress(known)) }
                        }
                        td.number data-label="ε asked" { (given(job.epsilon)) }
                        td.number data-label="δ asked" { (delta(job.delta)) }
                    } } }
                }
            }
            @if hidden > 0 { p.note { "And " (hidden) " before these." } }
        }
    }
}

/// What must not be overlooked.
pub(crate) fn remarks(summary: &BudgetSummary) -> Markup {
    let gains = summary.groups.iter().filter_map(|group| {
        let (epsilon, _) = group.added?;
        (group.jobs > 1 && epsilon.is_finite() && group.counted < epsilon)
            .then_some((group, epsilon))
    });
    html! {
        @for (group, added) in gains {
            p {
                "Added up, the " (group.jobs) " jobs would come to ε = " (up(added))
                "; counted together they come to " (up(group.counted)) "."
            }
        }
        @if summary.groups.len() > 1 {
            p.note { "Assumed, as declared: nobody is in two of the groups of people." }
        }
        p.note {
            (summary.lines) " lines of history; the last has the hash "
            span.mono { (said(summary.head.get(..16).unwrap_or(&summary.head))) }
            ". Who writes it down elsewhere notices if the history is ever cut short."
        }
    }
}
