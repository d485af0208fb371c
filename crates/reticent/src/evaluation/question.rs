//! What is asked about a table to find out what a model is worth there, and with how much noise.

use std::sync::Arc;

use reticent_accountant::Taint;
use reticent_oracle::queries::{Errors, Histogram};
use reticent_oracle::tables::Schema;
use reticent_oracle::{Oracle, Refusal, Terms};
use reticent_problem::{Loss, LossTarget, Shape};

use super::classes::{CLIP, Counts};
use super::numbers::Sums;
use super::{Evaluated, Evaluation, NAME, PrivateQuality};
use crate::certificate::Certificate;
use crate::guarantee::Protection;
use crate::procedure::{Asking, Ground, Question, RunFindings};
use crate::repeat::Repeat;

/// Half the most bins of a block.
const MOST_PAIRS: usize = 64;

/// Half the fewest.
const LEAST_PAIRS: usize = 4;

/// A model, and all that is public about how its worth is asked for.
#[derive(Clone, Debug)]
pub struct Evaluating {
    pub(super) evaluation: Evaluation,
    pub(super) schema: Schema,
    pub(super) loss: Arc<dyn Loss>,
    pub(super) shape: Shape,
    pub(super) parameter: Vec<f64>,
    pub(super) protection: Protection,
    /// Whether scores are log-odds.
    pub(super) log_odds: bool,
    /// Above which score a record is taken for the second of two classes.
    pub(super) cut: f64,
    /// The length of the range of a number.
    pub(super) range: f64,
    /// Whether somebody may have read the table for the model without paying.
    pub(super) unpaid: bool,
    /// What is taken as given of the model, and of ids where persons are protected.
    pub(super) taken: Vec<String>,
}

/// The edges between the bins, and the noise.
type Binned = Asking<Vec<f64>>;

impl Question for Evaluating {
    const NAME: &'static str = NAME;
    type Layout = Vec<f64>;
    type Answer = Vec<f64>;
    type Output = Evaluated;

    fn ground(&self) -> Ground<'_> {
        Ground { schema: &self.schema, loss: &self.loss, protection: &self.protection }
    }

    fn shape(&self) -> Shape {
        self.shape
    }

    fn taints(&self) -> Vec<Taint> {
        self.unpaid.then_some(Taint::UnpaidRead).into_iter().collect()
    }

    fn form(&self) -> &'static str {
        if self.loss.target() == LossTarget::Real { "numbers" } else { "classes" }
    }

    fn assumptions(&self) -> Vec<String> {
        self.taken.clone()
    }

    fn layout(&self, multiplier: f64, terms: &Terms) -> Vec<f64> {
        self.edges(multiplier, terms)
    }

    /// Puts the one question there is.
    fn ask(&self, oracle: &mut dyn Oracle, noise: &Binned) -> Result<Vec<f64>, Refusal> {
        let Asking { multiplier: noise_multiplier, layout: edges } = noise;
        let (at, noise_multiplier) = (&self.parameter[..], *noise_multiplier);
        let answer = match self.loss.target() {
            LossTarget::Real => oracle.ask(&Errors { at, noise_multiplier })?,
            _ => oracle.ask(&Histogram { at, cut: self.cut, edges, noise_multiplier })?,
        };
        Ok(answer.into_inner())
    }

    fn read(&self, found: RunFindings<'_, Binned, Vec<f64>>) -> Evaluated {
        let RunFindings { answer, noise, terms, certificate, .. } = found;
        let quality = self.figures(noise, &terms, &answer);
        Evaluated { quality, confidence: self.evaluation.confidence, certificate }
    }

    fn certificate(evaluated: &Evaluated) -> &Certificate {
        &evaluated.certificate
    }
}

impl Repeat<Evaluating> {
    /// The figures of an answer.
    pub fn read(&self, answer: &[f64]) -> PrivateQuality {
        let (question, asking, terms) = self.asked();
        question.figures(asking, terms, answer)
    }

    /// The standard deviation of the noise of each number of an answer.
    pub fn deviations(&self) -> Vec<f64> {
        let (question, asking, terms) = self.asked();
        question.deviations(asking, terms)
    }
}

impl Evaluating {
    /// The noise of each number of an answer.
    fn deviations(&self, asking: &Binned, terms: &Terms) -> Vec<f64> {
        let (at, edges) = (&self.parameter[..], &asking.layout[..]);
        let noise_multiplier = asking.multiplier;
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
    fn figures(&self, asking: &Binned, terms: &Terms, answer: &[f64]) -> PrivateQuality {
        let Evaluation { confidence, .. } = self.evaluation;
        let exact = terms.adjacency() == reticent_accountant::Adjacency::ReplaceOne;
        let n = exact.then_some(terms.population() as f64);
        let (at, noise_multiplier) = (&self.parameter[..], asking.multiplier);
        if self.loss.target() == LossTarget::Real {
            let deviations = Errors { at, noise_multiplier }.deviations(terms);
            let sums = Sums { deviations, n, range: self.range, confidence };
            return PrivateQuality::Range(sums.read(answer));
        }
        let edges = &asking.layout[..];
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
