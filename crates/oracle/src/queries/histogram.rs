//! What a model of classes says about everybody, counted with Gaussian noise: who is taken for
//! what, and how the log-odds of each class are spread over public bins.
//!
//! ```text
//! a record adds  ( 1 at (class, predicted),  1/√K at (block, bin, is of the block's class), … ) / √2
//! ```
//!
//! with one block for two classes and `K` blocks for `K` of them, each against the rest; a user
//! adds the mean over its records. Every vector has norm at most 1 and no entry below 0, so that a
//! replacement moves the sum by at most √2: the noise of `z` clips is made √2 smaller there. The
//! coarse half is there because a sum over many bins has the noise of all of them.
//!
//! Event: Gaussian with noise multiplier `z`. Proof: proofs/evaluation.md,
//! proofs/noise-gaussian-grid.md.

use std::f64::consts::FRAC_1_SQRT_2;

use reticent_problem::Shape;
use reticent_problem::losses::Loss;
use serde::Serialize;

use super::record_sum::{RecordSum, SumScope};
use super::sum_query::{AskedSum, SumQuery};
use super::{check_finite, check_noise, wrong};
use crate::holder::TableHolder;
use crate::refusal::Refusal;
use crate::sums::with_rows;
use crate::terms::Terms;

/// The most edges between bins.
const MOST_EDGES: usize = 255;

/// The most classes: there is a cell for each pair of them.
const MOST_CLASSES: usize = 64;

/// The noisy counts of a model of classes; [`HistogramCells`] says which is where.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Histogram<'a> {
    /// The parameter of the model.
    pub at: &'a [f64],
    /// Above which score a record is taken for the second of two classes. More than two are told
    /// apart by the highest score, and this is not used.
    pub cut: f64,
    /// The log-odds that part the bins, increasing. A bin has what is above its lower edge, up to
    /// its upper one.
    pub edges: &'a [f64],
    /// `z`.
    pub noise_multiplier: f64,
}

/// Where each count stands in the answer to a [`Histogram`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HistogramCells {
    classes: usize,
    bins: usize,
}

impl HistogramCells {
    fn new(shape: Shape, edges: usize) -> Self {
        HistogramCells { classes: shape.outputs.max(2), bins: edges + 1 }
    }

    /// Classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// Bins of a block.
    pub fn bins(&self) -> usize {
        self.bins
    }

    /// Blocks: one of two classes, which is about the second, and one for each of more.
    pub fn blocks(&self) -> usize {
        if self.classes == 2 { 1 } else { self.classes }
    }

    /// The class that a block is about.
    pub fn class_of(&self, block: usize) -> usize {
        if self.classes == 2 { 1 } else { block }
    }

    /// Those of a class that are taken for another, or itself.
    pub fn confusion(&self, class: usize, predicted: usize) -> usize {
        class * self.classes + predicted
    }

    /// Those in a bin of a block that are of its class, or are not.
    pub fn scored(&self, block: usize, bin: usize, is: bool) -> usize {
        self.classes * self.classes + 2 * (block * self.bins + bin) + usize::from(is)
    }

    /// All of them.
    pub fn count(&self) -> usize {
        self.classes * self.classes + 2 * self.blocks() * self.bins
    }

    /// What a record counts in a cell of a block, before noise; in one of the confusion it is 1/√2.
    fn share(&self) -> f64 {
        FRAC_1_SQRT_2 / (self.blocks() as f64).sqrt()
    }
}

impl Histogram<'_> {
    /// Where each count stands, for a parameter of this shape.
    pub fn cells(&self, shape: Shape) -> HistogramCells {
        HistogramCells::new(shape, self.edges.len())
    }

    /// The standard deviations of the noise on a count of the confusion and on one of a block,
    /// which are public.
    pub fn deviations(&self, shape: Shape, terms: &Terms) -> (f64, f64) {
        let noise = self.asked(terms).noise(terms);
        (noise / FRAC_1_SQRT_2, noise / self.cells(shape).share())
    }

    /// Writes the vector of a record, of which there are `of` in its unit.
    fn add(
        &self,
        cells: &HistogramCells,
        scores: &[f64],
        class: usize,
        of: f64,
        whole: &mut [f64],
    ) {
        let predicted = match scores {
            [score] => usize::from(*score > self.cut),
            many => (1..many.len()).fold(0, |best, k| if many[k] > many[best] { k } else { best }),
        };
        whole[cells.confusion(class, predicted)] += FRAC_1_SQRT_2 / of;
        for block in 0..cells.blocks() {
            let log_odds = match scores {
                [score] => *score,
                many => against_the_rest(many, block),
            };
            // What is no number is above no edge.
            let bin = self.edges.partition_point(|edge| log_odds > *edge);
            let is = class == cells.class_of(block);
            whole[cells.scored(block, bin, is)] += cells.share() / of;
        }
    }
}

/// `s_k − ln Σ_{j≠k} e^{s_j}`.
fn against_the_rest(scores: &[f64], k: usize) -> f64 {
    let others = || scores.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, s)| *s);
    let top = others().fold(f64::NEG_INFINITY, f64::max);
    scores[k] - top - others().map(|s| (s - top).exp()).sum::<f64>().ln()
}

/// What the noise of `z` clips is multiplied with where a unit takes another's place.
pub(super) const REPLACED: f64 = FRAC_1_SQRT_2 * (1.0 + f64::EPSILON);

impl SumQuery for Histogram<'_> {
    const NAME: &'static str = "histogram";
    type Answer = Vec<f64>;

    fn check(&self, _: Shape, _: &Terms) -> Result<(), Refusal> {
        check_noise(self.noise_multiplier)
    }

    fn asked(&self, _: &Terms) -> AskedSum<'_> {
        let Histogram { at, cut, edges, noise_multiplier } = *self;
        let what = RecordSum::Histogram { at: at.into(), cut, edges: edges.into() };
        AskedSum::of_all(what, noise_multiplier)
    }

    fn read(&self, sum: &[i64], shape: Shape, terms: &Terms) -> Vec<f64> {
        let cells = self.cells(shape);
        let step = self.asked(terms).what.step(shape);
        let (confusion, blocks) = sum.split_at(cells.classes() * cells.classes());
        let counts = |steps: &i64, share: f64| *steps as f64 * step / share;
        let confusion = confusion.iter().map(|steps| counts(steps, FRAC_1_SQRT_2));
        confusion.chain(blocks.iter().map(|steps| counts(steps, cells.share()))).collect()
    }

    fn made_up(&self, shape: Shape, terms: &Terms, _: &mut dyn FnMut() -> f64) -> Vec<f64> {
        let cells = self.cells(shape);
        vec![terms.population() as f64 / cells.count() as f64; cells.count()]
    }
}

/// Where each count stands.
pub(super) fn cells(shape: Shape, edges: &[f64]) -> HistogramCells {
    HistogramCells::new(shape, edges.len())
}

pub(super) fn check(cut: f64, edges: &[f64], shape: Shape) -> Result<(), Refusal> {
    check_finite(edges)?;
    if edges.len() > MOST_EDGES || edges.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(wrong("the edges of the bins must increase, and be at most 255"));
    }
    if cut.is_nan() {
        return Err(wrong("the cut between two classes is not a number"));
    }
    if shape.outputs > MOST_CLASSES {
        return Err(Refusal::BadQuery(format!(
            "{} classes are too many to count who is taken for whom: at most {MOST_CLASSES}",
            shape.outputs
        )));
    }
    Ok(())
}

pub(super) fn add_up(
    TableHolder { private, pass }: &mut TableHolder,
    loss: &dyn Loss,
    (at, cut, edges): (&[f64], f64, &[f64]),
    over: &SumScope<'_>,
    out: &mut [i64],
) {
    let histogram = Histogram { at, cut, edges, noise_multiplier: 0.0 };
    let outputs = loss.outputs();
    let cells = histogram.cells(private.shape(outputs));
    pass.vector_sum(&over.of(private.units()), out, |unit, whole, _| {
        let records = private.records_in(unit);
        let mut scores = vec![0.0; outputs];
        for &i in records.iter() {
            let i = i as usize;
            with_rows!(private.rows(), rows => private.scores(rows, i, at, &mut scores));
            let target = private.target(i);
            let class = if outputs == 1 { usize::from(target > 0.0) } else { target as usize };
            histogram.add(&cells, &scores, class, records.len() as f64, whole);
        }
    });
}
