//! One certificate on a page.

use maud::{Markup, html};
use reticent::{Certificate, View};

use crate::coefficients::coefficients;
use crate::column_curves::column_curves;
use crate::curves::{attacker, epsilon};
use crate::parts::{many, table};
use crate::subject::{Finding, FindingOutcome, ReportSubject};
use crate::surfaces::surfaces;
use crate::words::{
    COMPARED_WITHIN, WITHIN_PARTY, compared, delta, down, factor, from_whom, given, one_in,
    protected, rounded, said, up,
};

/// The section of a subject, beside a budget or not; `id` is unique in the page, and headings begin at
/// the second level.
pub(crate) fn section(subject: &ReportSubject, id: &str, beside_budget: bool) -> Markup {
    let ReportSubject { certificate, model, .. } = subject;
    html! {
        section.subject id=(id) aria-labelledby=(format!("{id}-h")) {
            h2 id=(format!("{id}-h")) { (said(&subject.name)) }
            (verdict(subject))
            @if beside_budget && subject.paid.is_none() { (unpaid()) }
            @if subject.is_sound() { (promise(certificate)) }
            (checks(subject))
            @if subject.is_sound() {
                h3 { "What an attacker can do" }
                (attacker(subject, id))
                h3 { "The price of certainty: ε and δ" }
                (epsilon(subject, id))
            }
            h3 { "What was released, and what each part cost" }
            (table(&subject.parts))
            (plan(subject))
            @if let Some(parties) = &certificate.parties {
                h3 { "Between parties" }
                p {
                    "The numbers above are those of the party who spent most, of " (parties.count)
                    ". The least that a party spent is ε = " (up(parties.least)) ", half of them spent at most "
                    (up(parties.median)) ", and nine of ten at most " (up(parties.ninth_decile)) "."
                }
            }
            @if subject.is_sound() {
                h3 { "What it relies on" }
                ul { @for assumption in &certificate.assumptions { li { (said(assumption)) } } }
            }
            @if let Some(model) = model {
                h3 { "The model" }
                (facts(subject))
                (column_curves(model, id))
                (surfaces(model))
                (coefficients(model, id))
            } @else {
                h3 { "The run" }
                (facts(subject))
            }
        }
    }
}

/// Whether it holds, at a glance.
fn verdict(subject: &ReportSubject) -> Markup {
    let certificate = &subject.certificate;
    let view = certificate.view;
    html! {
        @if subject.is_sound() {
            div.verdict.good {
                p.badge { "Guarantee" }
                p.figure {
                    span { "ε ≤ " (up(certificate.epsilon)) } " " span { "at δ = " (delta(certificate.delta)) }
                }
                p { (said(&certificate.meaning)) }
                @if !subject.findings.signed {
                    p {
                        "Nobody has signed it: that the file agrees with itself does not say who made it. Rely on \
                         it if you had it from somebody you trust, or ask for a signed one."
                    }
                }
            }
        } @else if !subject.findings.hold() {
            div.verdict.bad {
                p.badge { "Contradicts itself" }
                p {
                    "The file does not agree with itself, so nothing in it should be relied on: see what was \
                     checked."
                }
                @if !certificate.certified { p { (said(&certificate.meaning)) } }
            }
        } @else if certificate.certified {
            div.verdict.bad {
                p.badge { "Cannot be verified" }
                p {
                    "The file is of an earlier version and has no digest: nothing shows whether it was changed. \
                     Fit the model again, or ask whoever made it."
                }
            }
        } @else {
            div.verdict.bad {
                p.badge { "Not private" }
                p { (said(&certificate.meaning)) }
                @if !certificate.reasons.is_empty() {
                    ul { @for reason in &certificate.reasons { li { (said(reason)) } } }
                }
            }
        }
        @if view == View::Network && subject.is_sound() {
            p.note { "Who shows the model to anybody but the observer shows more than was counted." }
        }
    }
}

/// A model beside a budget that did not pay for it.
fn unpaid() -> Markup {
    html! {
        div.verdict.bad {
            p.badge { "Not paid by this budget" }
            p {
                "No job of the budget on this page paid for it: if it is about the same people, what it cost adds to \
                 what the budget counts. Record it there with reticent budget import."
            }
        }
    }
}

/// Who is protected from whom, by how much.
fn promise(certificate: &Certificate) -> Markup {
    let Certificate { unit, view, adjacency, .. } = *certificate;
    let but = format!(", but for {}", one_in(certificate.delta));
    let (who, other) = match certificate.is_within_parties() {
        true => (WITHIN_PARTY, COMPARED_WITHIN),
        false => (protected(unit), compared(adjacency, unit)),
    };
    html! {
        h3 { "Who is protected from whom, and by how much" }
        dl.facts {
            dt { "Who" }
            dd { (who) "." }
            dt { "From whom" }
            dd { (from_whom(view)) }
            dt { "By how much" }
            dd {
                "The odds of any guess about them move by " (factor(certificate.epsilon)) (but) "."
            }
            dt { "Compared with" }
            dd { "What would have come out of " (other) "." }
            dt { "Not promised" }
            dd {
                "That the model is right or fair, or that facts about groups stay hidden: what holds for many \
                 is what a model learns, and it holds for those who are not in the table too."
            }
        }
    }
}

/// What was checked about the file.
fn checks(subject: &ReportSubject) -> Markup {
    let mark = |finding: &Finding| match finding.outcome {
        FindingOutcome::Holds => ("✓", "holds", "ok"),
        FindingOutcome::Fails => ("✗", "fails", "no"),
        FindingOutcome::Absent => ("–", "cannot be told", "absent"),
    };
    html! {
        @if !subject.findings.list.is_empty() {
            h3 { "What was checked" }
            ul.checks { @for finding in &subject.findings.list {
                @let (sign, word, class) = mark(finding);
                li class=(class) {
                    span.sign aria-hidden="true" { (sign) }
                    span { span.hidden { (word) ": " } (said(&rounded(&finding.words, up))) }
                }
            } }
        }
    }
}

/// The plan against what was used.
fn plan(subject: &ReportSubject) -> Markup {
    let certificate = &subject.certificate;
    html! {
        h3 { "The plan against what was used" }
        @if let Some(paid) = &subject.paid {
            p {
                @if paid.exact { "Job " (paid.ordinal) " of the budget paid for it." } @else {
                    "The budget has a job with just this plan: job " (paid.ordinal) ". It does not say what came of \
                                                            that job, so "
                    "that it may have paid for another model of the same plan."
                }
                " It asked for ε = " (given(paid.asked.0)) " at δ = "
                (delta(paid.asked.1)) ", planned " (paid.planned) " releases before the first was made, and made "
                (paid.used) "."
                @if subject.is_sound() {
                    " Counted from its ledger it cost ε = " (up(certificate.epsilon)) "."
                }
            }
        } @else {
            p {
                "A run plans all that it will release before it begins, and cannot release more. Its ledger has "
                (many(&subject.parts)) "."
                @if subject.is_sound() {
                    " They cost ε = " (up(certificate.epsilon)) " at δ = " (delta(certificate.delta))
                    ", and no analysis of all of them can give less than " (down(certificate.epsilon_lower)) "."
                }
            }
        }
    }
}

/// What ran.
fn facts(subject: &ReportSubject) -> Markup {
    let Certificate { algorithm, noise, accountant, population, reticent, unit, .. } =
        &subject.certificate;
    html! {
        dl.facts {
            dt { "Algorithm" }
            dd {
                (said(algorithm))
                @if let Some(choice) = &subject.certificate.choice {
                    @for (name, value) in choice.given() { ", " (said(name)) " " (said(&value.to_string())) }
                }
            }
            @if let Some(model) = &subject.model {
                @let [loss, penalty, constraint] = model.problem();
                dt { "Loss" } dd { (said(loss)) }
                dt { "Penalty" } dd { (said(penalty)) }
                dt { "Constraint" } dd { (said(constraint)) }
            }
            dt { "Noise" } dd { (said(noise)) }
            dt { "Counted by" } dd { (said(accountant)) }
            dt { "Public number of " (unit.plural()) } dd { (population) }
            dt { "Program" } dd { "reticent " (said(reticent)) }
        }
    }
}
