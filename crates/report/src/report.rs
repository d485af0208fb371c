//! One page of several models and a budget, which stands alone.

use maud::{Markup, html};

use crate::budget::{BudgetAccount, account};
use crate::page::Page;
use crate::section::section;
use crate::shell::{Shell, shell};
use crate::subject::ReportSubject;
use crate::words::{delta, said, up};

/// What a page says of itself.
#[derive(Clone, Debug, Default)]
pub struct ReportHead {
    /// The day on which it is made, as in 2026-01-31.
    pub day: Option<String>,
    /// The data set, where no budget names it.
    pub dataset: Option<String>,
}

/// The page.
#[must_use]
pub fn report(subjects: &[ReportSubject], budget: Option<&BudgetAccount>) -> Page {
    report_with(subjects, budget, &ReportHead::default())
}

/// The page, with its day and the name of the data set.
#[must_use]
pub fn report_with(
    subjects: &[ReportSubject],
    budget: Option<&BudgetAccount>,
    head: &ReportHead,
) -> Page {
    let dataset = head.dataset.as_deref().or(budget.map(BudgetAccount::dataset));
    let title = match (subjects, budget) {
        ([one], _) => format!("Privacy report: {}", one.name),
        ([], Some(account)) => format!("Privacy report: {}", account.dataset()),
        (many, _) => format!("Privacy report: {} models", many.len()),
    };
    let body = html! {
        @if dataset.is_some() || head.day.is_some() {
            p.under {
                @if let Some(name) = dataset { "Data set: " (said(name)) "." }
                @if let Some(day) = &head.day { " Made on " (said(day)) " (UTC)." }
            }
        }
        @if subjects.len() + usize::from(budget.is_some()) > 1 { (contents(subjects, budget)) }
        @if subjects.len() > 1 { (summary(subjects)) }
        @for (k, subject) in subjects.iter().enumerate() { (section(subject, &format!("m{}", k + 1), budget.is_some())) }
        @if let Some(budget) = budget { (account(budget, "budget")) }
    };
    shell(&Shell { title: &title, lead: Some(LEAD), nav: None }, &body)
}

const LEAD: &str = "What is promised to the people in the data, recomputed from the ledgers in the files. \
                    This page loads nothing and can be passed on as it is.";

fn contents(subjects: &[ReportSubject], budget: Option<&BudgetAccount>) -> Markup {
    html! {
        nav.contents aria-label="Contents" {
            ul {
                @for (k, subject) in subjects.iter().enumerate() {
                    li { a href=(format!("#m{}", k + 1)) { (said(&subject.name)) } }
                }
                @if budget.is_some() { li { a href="#budget" { "The budget" } } }
            }
        }
    }
}

/// All models at a glance, and what they come to if they are about the same people.
fn summary(subjects: &[ReportSubject]) -> Markup {
    html! {
        section aria-labelledby="all-h" {
            h2 id="all-h" { "All models" }
            div.scroll tabindex="0" role="group" aria-label="All models" {
                table.cards {
                    thead { tr {
                        th scope="col" { "Model" }
                        th scope="col" { "Verdict" }
                        th.number scope="col" { "ε" }
                        th.number scope="col" { "δ" }
                        th scope="col" { "Protects" }
                        th scope="col" { "Neighbours" }
                        th scope="col" { "View" }
                    } }
                    tbody { @for (k, subject) in subjects.iter().enumerate() {
                        @let certificate = &subject.certificate;
                        tr {
                            th scope="row" { a href=(format!("#m{}", k + 1)) { (said(&subject.name)) } }
                            td data-label="Verdict" { (word(subject)) }
                            td.number data-label="ε" { @if subject.is_sound() { (up(certificate.epsilon)) } @else { "none" } }
                            td.number data-label="δ" { @if subject.is_sound() { (delta(certificate.delta)) } @else { "–" } }
                            td data-label="Protects" { (certificate.unit) }
                            td data-label="Neighbours" { (certificate.adjacency) }
                            td data-label="View" { (certificate.view) }
                        }
                    } }
                }
            }
            (together(subjects))
        }
    }
}

fn word(subject: &ReportSubject) -> &'static str {
    if subject.is_sound() {
        "guarantee"
    } else if !subject.findings.hold() {
        "contradicts itself"
    } else if subject.certificate.certified {
        "cannot be verified"
    } else {
        "not private"
    }
}

/// What they cost together, if that follows.
fn together(subjects: &[ReportSubject]) -> Markup {
    let of = |subject: &ReportSubject| {
        let certificate = &subject.certificate;
        (certificate.adjacency, certificate.unit, certificate.view)
    };
    let same = subjects.windows(2).all(|pair| of(&pair[0]) == of(&pair[1]));
    let sum = subjects.iter().fold((0.0, 0.0), |(epsilon, delta), subject| {
        (epsilon + subject.certificate.epsilon, delta + subject.certificate.delta)
    });
    html! {
        p.note {
            @if !subjects.iter().all(ReportSubject::is_sound) {
                "Not all of them are guarantees, so there is none about all of them together."
            } @else if !same {
                "They do not protect the same against the same, so their numbers do not add up."
            } @else {
                "If they are about the same people, all of them together cost at most ε = " (up(sum.0))
                " at δ = " (up(sum.1)) ": the sums. A budget counts them more closely."
            }
        }
    }
}
