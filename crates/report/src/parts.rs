//! What was released, part by part, and what each cost.

use maud::{Markup, PreEscaped, html};
use reticent::accountant::{Ledger, LedgerEntry, epsilon, gdp_mu, rdp_curve};
use reticent_plot::share;

use crate::words::{delta, down, percent_near, rounded, said, up};

/// One entry of the ledger.
#[derive(Clone, Debug)]
pub(crate) struct LedgerPart {
    count: u64,
    what: String,
    /// ε of this part by itself, at the δ of the certificate.
    alone: Option<f64>,
    share: Option<f64>,
}

/// All entries.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    list: Vec<LedgerPart>,
    /// How many entries there are beyond those.
    more: usize,
    /// By what shares are measured.
    by: Option<String>,
    delta: f64,
}

/// More entries are not shown one by one.
const SHOWN: usize = 40;

/// More entries are not counted one by one.
const COUNTED: usize = 12;

/// The order of the Rényi divergence that shares are measured by where not all is Gaussian.
const ORDER: f64 = 8.0;

pub(crate) fn parts(ledger: &Ledger, delta: f64) -> Parts {
    let entries = ledger.entries();
    let single: Vec<Ledger> = entries.iter().take(SHOWN).map(alone).collect();
    let whole = entries.len() <= SHOWN;
    let (by, weights) = if whole { weights(&single) } else { (None, Vec::new()) };
    let sum: f64 = weights.iter().sum();
    let counts = entries.len() <= COUNTED && delta > 0.0;
    let list =
        entries.iter().take(SHOWN).zip(&single).enumerate().map(|(k, (entry, own))| LedgerPart {
            count: entry.count(),
            what: rounded(&entry.event().to_string(), down),
            alone: counts.then(|| epsilon(own, delta).ok().map(|bound| bound.upper)).flatten(),
            share: weights.get(k).filter(|_| sum > 0.0).map(|weight| weight / sum),
        });
    let more = entries.len().saturating_sub(SHOWN);
    Parts { list: list.collect(), more, by: by.filter(|_| sum > 0.0), delta }
}

fn alone(entry: &LedgerEntry) -> Ledger {
    let mut ledger = Ledger::new();
    ledger.append_many(entry.event().clone(), entry.count());
    ledger
}

/// What adds up: μ² where all is Gaussian, else Rényi divergences of one order.
fn weights(single: &[Ledger]) -> (Option<String>, Vec<f64>) {
    let squares: Option<Vec<f64>> =
        single.iter().map(|own| gdp_mu(own).map(|mu| mu * mu)).collect();
    let finite = |weights: &Vec<f64>| weights.iter().all(|weight| weight.is_finite());
    if let Some(squares) = squares.filter(finite) {
        return (Some("μ², which adds up for Gaussian noise".to_owned()), squares);
    }
    let at = |own: &Ledger| {
        let curve = rdp_curve(own);
        curve.into_iter().find(|(order, _)| *order == ORDER).map(|(_, divergence)| divergence)
    };
    match single.iter().map(at).collect::<Option<Vec<f64>>>().filter(finite) {
        Some(found) => {
            (Some(format!("the Rényi divergence of order {ORDER}, which adds up")), found)
        }
        None => (None, Vec::new()),
    }
}

/// The table.
pub(crate) fn table(parts: &Parts) -> Markup {
    let Parts { list, more, by, delta: at } = parts;
    if list.is_empty() {
        return html! { p { "Nothing was released: the ledger has no entry." } };
    }
    let counted = list.iter().any(|part| part.alone.is_some());
    html! {
        div.scroll tabindex="0" role="group" aria-label="What was released" {
            table.cards {
                thead { tr {
                    th scope="col" { "Times" }
                    th scope="col" { "What was released" }
                    @if counted { th.number scope="col" { "ε of it alone" } }
                    @if by.is_some() { th scope="col" { "Share of the cost" } }
                } }
                tbody { @for part in list { tr {
                    td.number data-label="Times" { (part.count) }
                    td { (said(&part.what)) }
                    @if counted {
                        td.number data-label="ε of it alone" { (part.alone.map_or_else(|| "–".to_owned(), up)) }
                    }
                    @if let Some(own) = part.share {
                        td.share data-label="Share of the cost" { (PreEscaped(share(own))) " " (percent_near(own)) }
                    } @else if by.is_some() { td { "–" } }
                } } }
            }
        }
        @if *more > 0 { p.note { "And " (more) " more entries, which the certificate lists." } }
        @if let Some(by) = by {
            p.note {
                "Shares are of " (by) "."
                @if counted && list.len() > 1 {
                    " The ε of the parts at δ = " (delta(*at)) " do not add up to the ε of the whole: \
                     together they cost less than their sum."
                }
            }
        }
    }
}

/// In how many parts.
pub(crate) fn many(parts: &Parts) -> String {
    let events = parts.list.iter().fold(0_u64, |sum, part| sum.saturating_add(part.count));
    match (parts.more, events) {
        (0, 1) => "one release".to_owned(),
        (0, events) => format!("{events} releases"),
        _ => format!("more than {events} releases"),
    }
}
