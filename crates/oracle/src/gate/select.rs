//! The best of a random number of runs, and nothing else (Papernot–Steinke 2022).
//!
//! ```text
//! 1. the selection, with the plans of its runs inside, is entered in the ledger
//! 2. K is drawn from its law; K times: a plan is drawn uniformly, the run asks what the plan has, and has a score
//! 3. the run with the least score is handed out; the others are forgotten
//! ```
//!
//! A run asks this gate, which is bound to the run's plan meanwhile. Proof: proofs/selection.md,
//! proofs/choice.md.

use reticent_accountant::{Choice, Event, Ledger, Mechanism, Repetitions, Selection};
use reticent_noise::entropy::Entropy;

use super::{Gate, Oracle};
use crate::books::Books;
use crate::refusal::Refusal;
use crate::released::Released;
use crate::terms::Terms;

/// What may run and how often.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateSelection {
    /// What each candidate asks, its score included.
    pub plans: Vec<Ledger>,
    /// The law of the number of runs: positive Poisson with a whole rate, or geometric (negative
    /// binomial, η = 1).
    pub law: Repetitions,
}

/// What won.
#[derive(Clone, Debug, PartialEq)]
pub struct Selected<T> {
    /// What the run gave.
    pub result: T,
    /// Which candidate it was.
    pub candidate: usize,
    /// Its noisy score.
    pub score: Released<f64>,
}

impl PrivateSelection {
    /// The one event that the whole costs.
    fn event(&self, terms: &Terms) -> Result<Event, Refusal> {
        let run = |plan: &Ledger| -> Vec<(Mechanism, u64)> {
            plan.entries()
                .iter()
                .map(|entry| (entry.event().mechanism().clone(), entry.count()))
                .collect()
        };
        let run = match self.plans.split_first() {
            Some((first, rest)) if rest.iter().all(|plan| plan.entries() == first.entries()) => {
                run(first)
            }
            _ => vec![(Choice::new(self.plans.iter().map(run).collect())?.into(), 1)],
        };
        Ok(terms.event(Selection::new(run, self.law)?)?)
    }

    /// What [`Gate::select`] will have in its ledger.
    pub fn ledger(&self, terms: &Terms) -> Result<Ledger, Refusal> {
        let mut books = Books::default();
        books.enter(None, vec![self.event(terms)?])?;
        books.close()
    }

    fn draw(&self, entropy: &mut Entropy) -> Result<u64, Refusal> {
        match self.law {
            Repetitions::PositivePoisson { rate }
                if rate >= 1.0 && rate.fract() == 0.0 && rate < 1e9 =>
            {
                loop {
                    let runs = entropy.poisson(rate as u64)?;
                    if runs > 0 {
                        return Ok(runs);
                    }
                }
            }
            Repetitions::TruncatedNegativeBinomial { eta: 1.0, gamma } => {
                Ok(entropy.geometric(gamma)?)
            }
            other => Err(Refusal::BadQuery(format!("no way to draw from {other:?} exactly"))),
        }
    }
}

impl Gate {
    /// Runs the contest. `run` gets the number of a candidate and must ask what its plan has; it
    /// gives a result and the score that it got for it, the less the better, or nothing when the
    /// numbers ran away. Nothing wins when every run gave nothing.
    pub fn select<T, E: From<Refusal>>(
        mut self,
        selection: &PrivateSelection,
        mut run: impl FnMut(&mut dyn Oracle, usize) -> Result<Option<(T, Released<f64>)>, E>,
    ) -> Result<(Option<Selected<T>>, Ledger), E> {
        self.books.enter(None, vec![selection.event(&self.inside.terms)?])?;
        let mut whole = std::mem::take(&mut self.books);
        // What the losers were told is not released, so no copy of it is kept.
        self.transcript = None;
        let runs = selection.draw(&mut self.source.entropy)?;
        let mut best: Option<Selected<T>> = None;
        for _ in 0..runs {
            let candidates = selection.plans.len() as u64;
            let candidate = self.source.entropy.below(candidates).map_err(Refusal::from)? as usize;
            // A run that ran away may have left the rows in coordinates of its own.
            self.set_basis(None)?;
            self.books = Books::default();
            self.books.bind(selection.plans[candidate].clone());
            let given = run(&mut self, candidate)?;
            let books = std::mem::take(&mut self.books);
            whole.taint_like(books.ledger());
            if let Some((result, score)) = given {
                books.close()?;
                if best.as_ref().is_none_or(|best| score.get() < best.score.get()) {
                    best = Some(Selected { result, candidate, score });
                }
            }
        }
        Ok((best, whole.close()?))
    }
}
