//! The pages of a server: budgets, one budget, its history, what a planned job would leave, and a file
//! to verify.

use maud::{Markup, PreEscaped, html};
use reticent_budget::{HistoryLine, JobSummary, Planned};
use reticent_plot::share;

use crate::budget::{BudgetAccount, course, jobs, progress, promise, remarks, standing};
use crate::page::Page;
use crate::section::section;
use crate::shell::{Shell, shell};
use crate::subject::ReportSubject;
use crate::words::{delta, down, given, said, time, up};

/// Where else one can go.
fn nav() -> Markup {
    html! {
        nav aria-label="Pages" { ul {
            li { a href="/" { "Budgets" } }
            li { a href="/verify" { "Verify a file" } }
        } }
    }
}

fn page(title: &str, lead: Option<&str>, body: &Markup) -> Page {
    shell(&Shell { title, lead, nav: Some(&nav()) }, body)
}

/// All budgets; one that cannot be read says why.
#[must_use]
pub fn index(budgets: &[(String, Result<BudgetAccount, String>)]) -> Page {
    let body = html! {
        @for (k, (name, budget)) in budgets.iter().enumerate() {
            section {
                @match budget {
                    Ok(account) => {
                        h2 { a href=(format!("/budget/{}", k + 1)) { (said(account.dataset())) } }
                        p.note { (said(name)) }
                        (standing(account))
                        @let open = account.summary.open().count();
                        p {
                            (account.summary.jobs.len()) " jobs so far"
                            @if open > 0 { ", " (open) " of them still open" }
                            "."
                        }
                    }
                    Err(why) => {
                        h2 { (said(name)) }
                        div.verdict.bad {
                            p.badge { "Cannot be read" }
                            p { (said(why)) }
                        }
                    }
                }
            }
        }
    };
    page(
        "Budgets",
        Some("What the people in each data set were promised, and what is left."),
        &body,
    )
}

/// What a page of a budget is asked for.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    /// The number of the budget in the address.
    pub number: usize,
    /// Whether whoever has the token may give a job up here.
    pub writable: bool,
    /// Whether the page comes again by itself.
    pub watching: bool,
}

/// One budget.
#[must_use]
pub fn budget(account: &BudgetAccount, asked: PageRequest) -> Page {
    let summary = &account.summary;
    let own = format!("/budget/{}", asked.number);
    let open: Vec<&JobSummary> = summary.open().collect();
    let body = html! {
        section aria-labelledby="stands" {
            h2 id="stands" { "How it stands" }
            (standing(account))
            (promise(summary))
        }
        section aria-labelledby="running" {
            h2 id="running" { "Jobs in progress" }
            (running(&open, asked, &own))
        }
        section aria-labelledby="plan-h" {
            h2 id="plan-h" { "What a planned job would leave" }
            (plan_form(&own, None))
        }
        section aria-labelledby="time" {
            h2 id="time" { "The budget over time" }
            (course(account, "live"))
        }
        section aria-labelledby="jobs" {
            h2 id="jobs" { "The jobs" }
            (jobs(summary))
            (remarks(summary))
            p { a href=(format!("{own}/history")) { "The history, line by line" } }
        }
    };
    page(&format!("Budget of {}", account.dataset()), Some(&account.name), &body)
}

fn running(open: &[&JobSummary], asked: PageRequest, own: &str) -> Markup {
    html! {
        @if open.is_empty() { p { "None: every job has come back." } }
        @for job in open {
            h3 { "Job " (job.number) ": " (said(&job.label)) }
            p {
                "Since " (time(&job.time)) " UTC, asked for ε = " (given(job.epsilon)) " at δ = " (delta(job.delta)) ". "
                @if let Some(known) = &job.progress { (progress(known)) "." }
                @else { "It has not said how far it is." }
            }
            @if asked.writable {
                details {
                    summary { "It is no longer running: give it up" }
                    p { "It stays counted in full, because its queries are unknown. This cannot be undone." }
                    form method="post" action=(format!("{own}/forfeit")) autocomplete="off" {
                        input type="hidden" name="job" value=(job.number);
                        label { "The token of this server"
                            input type="password" name="token" required autocomplete="off";
                        }
                        button type="submit" { "Give job " (job.number) " up" }
                    }
                }
            }
        }
        p.note {
            @if asked.watching {
                "This page comes again every ten seconds. " a href=(own) { "Stop that" } "."
            } @else {
                a href=(format!("{own}?watch=yes")) { "Look again every ten seconds" } "."
            }
        }
    }
}

fn plan_form(own: &str, given: Option<(&str, &str)>) -> Markup {
    let (epsilon, chance) = given.unwrap_or(("", ""));
    html! {
        form method="get" action=(format!("{own}/plan")) {
            label { "ε of the job"
                input name="epsilon" inputmode="decimal" required maxlength="30" value=(epsilon) placeholder="1";
            }
            label { "δ of the job"
                input name="delta" inputmode="decimal" required maxlength="30" value=(chance) placeholder="1e-6";
            }
            button type="submit" { "Work it out" }
        }
        p.note { "For a job with Gaussian noise; a sampled one may cost a little more. Nothing is reserved." }
    }
}

/// What a job that is planned would leave; `typed` is ε and δ as they were typed.
#[must_use]
pub fn plan(
    account: &BudgetAccount,
    number_of: usize,
    typed: (&str, &str),
    found: &Result<Planned, String>,
) -> Page {
    let own = format!("/budget/{number_of}");
    let ceiling = account.summary.promise.epsilon;
    let body = html! {
        section aria-labelledby="found" {
            h2 id="found" { "A job of ε = " (said(typed.0)) " at δ = " (said(typed.1)) }
            @match found {
                Ok(planned) if planned.fits => {
                    div.verdict.good {
                        p.badge { "Fits" }
                        p.figure { (up(planned.together)) " of " (given(ceiling)) " counted with it" }
                        p { (PreEscaped(share(planned.together / ceiling))) }
                    }
                    dl.facts {
                        dt { "Counted now" } dd { (up(planned.counted)) }
                        dt { "With it" } dd { (up(planned.together)) }
                        dt { "Left now" } dd { "a fit up to ε = " (down(planned.left)) }
                        dt { "Left with it" } dd { "a fit up to ε = " (down(planned.left_after)) }
                    }
                }
                Ok(planned) => {
                    div.verdict.bad {
                        p.badge { "Does not fit" }
                        p {
                            (up(planned.counted)) " of " (given(ceiling)) " are counted; with it, it would be "
                            (up(planned.together)) ". The largest that fits is ε = " (down(planned.left)) " at δ = "
                            (delta(account.summary.promise.delta)) "."
                        }
                    }
                }
                Err(why) => {
                    div.verdict.bad { p.badge { "Cannot be worked out" } p { (said(why)) } }
                }
            }
            h3 { "Another one" }
            (plan_form(&own, Some(typed)))
            p { a href=(own) { "Back to the budget" } }
        }
    };
    page(&format!("Budget of {}: a plan", account.dataset()), None, &body)
}

/// Lines of a history on one page.
pub const LINES: usize = 200;

/// The history, from line `from` on.
#[must_use]
pub fn history(
    account: &BudgetAccount,
    number_of: usize,
    lines: &[HistoryLine],
    from: usize,
) -> Page {
    let own = format!("/budget/{number_of}");
    let shown = lines.iter().skip(from.saturating_sub(1)).take(LINES);
    let next = from.saturating_add(LINES);
    let body = html! {
        section aria-labelledby="lines" {
            h2 id="lines" { "Lines" }
            div.scroll tabindex="0" role="group" aria-label="Lines" {
                table {
                    thead { tr {
                        th.number scope="col" { "Line" }
                        th scope="col" { "Time (UTC)" }
                        th scope="col" { "What" }
                        th.number scope="col" { "Job" }
                        th scope="col" { "Hash" }
                    } }
                    tbody { @for line in shown { tr {
                        td.number { (line.number()) }
                        td.time { (time(line.time())) }
                        td { (line.kind()) }
                        td.number { @if let Some(job) = line.job() { (job) } @else { "–" } }
                        td.mono { (line.hash().get(..16).unwrap_or_default()) "…" }
                    } } }
                }
            }
            p {
                @if from > 1 { a href=(format!("{own}/history?from={}", from.saturating_sub(LINES).max(1))) { "Earlier" } " " }
                @if next <= lines.len() { a href=(format!("{own}/history?from={next}")) { "Later" } " " }
                a href=(own) { "Back to the budget" }
            }
        }
    };
    let lead = "Append-only; every hash has the one before in it.";
    page(&format!("Budget of {}: history", account.dataset()), Some(lead), &body)
}

/// The form to verify a file.
fn verify_form() -> Markup {
    html! {
        form method="post" action="/verify" enctype="multipart/form-data" {
            label { "A model.json or a certificate.json"
                input type="file" name="file" accept=".json,application/json" required;
            }
            button type="submit" { "Verify" }
        }
        p.note { "The file is read, checked and forgotten: nothing of it is stored." }
    }
}

/// The page to verify a file.
#[must_use]
pub fn verify() -> Page {
    let body = html! { section aria-labelledby="open" {
        h2 id="open" { "Open a file" }
        (verify_form())
    } };
    let lead = "What a model or a certificate promises, recomputed from its ledger.";
    page("Verify a file", Some(lead), &body)
}

/// What a file came to.
#[must_use]
pub fn verified(subject: &ReportSubject) -> Page {
    let body = html! {
        (section(subject, "file", false))
        section aria-labelledby="open" { h2 id="open" { "Another file" } (verify_form()) }
    };
    page("Verify a file", None, &body)
}

/// What was done, or was not done and why, and where to go from here.
#[must_use]
pub fn message(title: &str, words: &str, back: &str) -> Page {
    let back = if back.starts_with('/') && !back.starts_with("//") { back } else { "/" };
    let body = html! { section { p { (said(words)) } p { a href=(back) { "Back" } } } };
    page(title, None, &body)
}
