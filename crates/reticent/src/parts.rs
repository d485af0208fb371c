//! What a run with `auto` spent its budget on, by its ledger.

use reticent_accountant::{Ledger, LedgerEntry, gdp_mu};
use reticent_admm::RunPart;

use crate::certificate::Certificate;

impl Certificate {
    /// The parts of the budget of a run with `auto`. Beside the algorithm there may be questions that have
    /// a share of their own: then what it chose for itself is a part of its share.
    pub fn parts(&self) -> Option<Vec<RunPart>> {
        let mut parts = self.choice.as_ref()?.parts();
        let own: u64 = parts.iter().map(|part| part.answers).sum();
        let beside = self.ledger.total_events().saturating_sub(own);
        if beside > 0 {
            let share = share_of(&parts, &self.ledger);
            for part in &mut parts {
                part.share = part.share.zip(share).map(|(part, whole)| part * whole);
            }
            let share = share.map(|share| 1.0 - share);
            parts.push(RunPart { what: "questions beside the algorithm", answers: beside, share });
        }
        Some(parts)
    }
}

/// What the answers of these parts cost of all, where that adds up and it can be told which they are.
fn share_of(parts: &[RunPart], all: &Ledger) -> Option<f64> {
    let is_it = |entries: &&[LedgerEntry]| {
        entries.iter().zip(parts).all(|(entry, part)| entry.count() == part.answers)
    };
    let mut found = all.entries().windows(parts.len().max(1)).filter(is_it);
    let (entries, None) = (found.next()?, found.next()) else { return None };
    let mut own = Ledger::new();
    entries.iter().for_each(|entry| own.append_many(entry.event().clone(), entry.count()));
    Some((gdp_mu(&own)? / gdp_mu(all)?).powi(2))
}
