//! What is asked about a table to find out what a model is worth there, and with how much noise.

use std::sync::Arc;

use reticent_accountant::{Ledger, Unit, calibrate};
use reticent_oracle::queries::{Errors, Histogram};
use reticent_oracle::{
    Entropy, Gate, Oracle, PrivacyModel, PrivateTable, Refusal, Rehearsal, Released, Terms,
};
use reticent_problem::{Loss, LossTarget, Shape};

use super::classes::{CLIP, Counts};
use super::numbers::Sums;
use super::{Evaluation, PrivateQuality};
use crate::error::Error;

/// Half the most bins of a block.
const MOST_PAIRS: usize = 64;

/// Half the fewest.
const LEAST_PAIRS: usize = 4;

/// A model, and all that is public about how its worth is asked for.
#[derive(Clone, Debug)]
pub(crate) struct EvaluationQuestion {
    pub evaluation: Evaluation,
    pub loss: Arc<dyn Loss>,
    pub shape: Shape,
    pub parameter: Vec<f64>,
    pub opening: PrivacyModel,
    /// Whether scores are log-odds.
    pub log_odds: bool,
    /// Above which score a record is taken for the second of two classes.
    pub cut: f64,
    /// The length of the range of a number.
    pub range: f64,
}

/// A question with its noise.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    pub edges: Vec<f64>,
    pub noise: f64,
    pub plan: Ledger,
}

impl EvaluationQuestion {
    /// The gate on `table`. `number` tells runs with the same seed apart.
    pub fn open(&self, table: PrivateTable, number: u64) -> Result<Gate, Error> {
        let entropy = match self.evaluation.seed {
            Some(seed) => {
                Entropy::seeded(seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
            }
            None => Entropy::secure().map_err(Refusal::from)?,
        };
        Ok(Gate::open(table, self.loss.clone(), &self.opening, entropy)?)
    }

    /// Refuses a table that says whose each row is, where nobody said that records are to be
    /// protected all the same.
    pub fn check_owners(&self, table: &PrivateTable) -> Result<(), Error> {
        let unsaid = self.opening.unit == Unit::Record && self.evaluation.unit.is_none();
        if table.has_owners() && unsaid {
            let why = "the table says whose each row is: choose user, to protect persons with all their rows, or \
                       choose record";
            return Err(Error::value("unit", Unit::Record, why));
        }
        Ok(())
    }

    /// The least noise within the budget, on public quantities alone.
    pub fn calibrate(&self, terms: &Terms) -> Result<Asking, Error> {
        let budget = self.evaluation.budget;
        let asked = |noise: f64, edges: &[f64]| -> Result<Ledger, Refusal> {
            let mut rehearsal = Rehearsal::new(self.shape, *terms);
            self.ask(&mut rehearsal, edges, noise)?;
            Ok(rehearsal.into_plan())
        };
        // Once before the search, so that what cannot be asked is refused as itself.
        asked(1.0, &[0.0])?;
        let plan = |noise| asked(noise, &[0.0]);
        let noise = calibrate(budget.epsilon(), budget.delta(), plan)?.noise_multiplier;
        let edges = self.edges(noise, terms);
        let plan = asked(noise, &edges)?;
        Ok(Asking { edges, noise, plan })
    }

    /// Puts the one question there is.
    pub fn ask(
        &self,
        oracle: &mut dyn Oracle,
        edges: &[f64],
        noise_multiplier: f64,
    ) -> Result<Released<Vec<f64>>, Refusal> {
        let at = &self.parameter[..];
        match self.loss.target() {
            LossTarget::Real => oracle.ask(&Errors { at, noise_multiplier }),
            _ => oracle.ask(&Histogram { at, cut: self.cut, edges, noise_multiplier }),
        }
    }

    /// The noise of each number of an answer.
    pub fn deviations(&self, asking: &Asking, terms: &Terms) -> Vec<f64> {
        let (at, edges) = (&self.parameter[..], &asking.edges[..]);
        let noise_multiplier = asking.noise;
        if self.loss.target() == LossTarget::Real {
            return Errors { at, noise_multiplier }.deviations(terms);
        }
        let histogram = Histogram { at, cut: self.cut, edges, noise_multiplier };
        let cells = histogram.cells(self.shape);
        let (coarse, fine) = histogram.deviations(self.shape, terms);
        let pairs = cells.classes() * cells.classes();
        (0..cells.count()).map(|i| if i < pairs { coarse } else { fine }).collect()
    }

    /// What the answer says.
    pub fn read(&self, asking: &Asking, terms: &Terms, answer: &[f64]) -> PrivateQuality {
        let Evaluation { confidence, .. } = self.evaluation;
        let exact = terms.adjacency() == reticent_accountant::Adjacency::ReplaceOne;
        let n = exact.then_some(terms.population() as f64);
        let (at, noise_multiplier) = (&self.parameter[..], asking.noise);
        if self.loss.target() == LossTarget::Real {
            let deviations = Errors { at, noise_multiplier }.deviations(terms);
            let sums = Sums { deviations, n, range: self.range, confidence };
            return PrivateQuality::Range(sums.read(answer));
        }
        let edges = &asking.edges[..];
        let histogram = Histogram { at, cut: self.cut, edges, noise_multiplier };
        let counts = Counts {
            cells: histogram.cells(self.shape),
            edges: edges.iter().map(|edge| 1.0 / (1.0 + (-edge).exp())).collect(),
            below_cut: if self.cut == f64::INFINITY {
                edges.len() + 1
            } else {
                edges.iter().filter(|edge| **edge <= self.cut).count()
            },
            deviations: histogram.deviations(self.shape, terms),
            n,
            log_odds: self.log_odds,
            confidence,
        };
        PrivateQuality::Classes(counts.read(answer))
    }

    /// The log-odds between the bins: probabilities sin²(πj/2B), which are closer where they change
    /// more, within what is clipped, and the cut.
    ///
    /// More bins hide less and have more noise. Of the AUC of two classes of the same size they
    /// hide about 0.65/B, and its interval has about 1.2·√(2B)·σ/n to each side; the sum is least
    /// where B³ = (0.78 n/σ)².
    fn edges(&self, noise: f64, terms: &Terms) -> Vec<f64> {
        if self.loss.target() == LossTarget::Real {
            return Vec::new();
        }
        let probe = Histogram { at: &[], cut: 0.0, edges: &[], noise_multiplier: noise };
        let (_, fine) = probe.deviations(self.shape, terms);
        let best = (0.78 * terms.population() as f64 / fine).powf(2.0 / 3.0);
        let pairs = match self.evaluation.bins {
            Some(bins) => bins / 2,
            None => ((0.5 * best).round() as usize).clamp(LEAST_PAIRS, MOST_PAIRS),
        };
        let bins = 2 * pairs.max(1);
        let probability =
            |j: usize| (std::f64::consts::FRAC_PI_2 * j as f64 / bins as f64).sin().powi(2);
        let odds = |p: f64| (p / (1.0 - p)).ln();
        let mut edges: Vec<f64> = (1..bins)
            .map(probability)
            .filter(|p| (CLIP..=1.0 - CLIP).contains(p))
            .map(odds)
            .collect();
        // The middle exactly, and where records are told apart.
        edges.retain(|edge| edge.abs() > 1e-9 && (edge - self.cut).abs() > 1e-9);
        edges.push(0.0);
        if self.cut.is_finite() && self.cut != 0.0 && self.shape.outputs == 1 {
            edges.push(self.cut);
        }
        edges.sort_by(f64::total_cmp);
        edges
    }
}
