//! From noisy counts to what a model of classes is worth. All of it is arithmetic on released
//! values.
//!
//! ```text
//! accuracy   Σ_c n(c, c) / n
//! AUC        Σ_{i>j} p_i q_j + ½ Σ_i p_i q_i, over p q    p_i of the class in bin i, q_i of the others
//! log loss   Σ over the bins of a class's own records, times −ln of its probability there
//! ECE        Σ_groups | those of the class − Σ probability · records | / n
//! ```
//!
//! Who is taken for what is counted twice: as such, with little noise, and as a sum over bins. The
//! two are reconciled by their variances before anything is computed.

use reticent_accountant::statistics::normal_quantile;
use reticent_oracle::queries::HistogramCells;
use serde::Serialize;

use super::estimate::{Estimate, SHARE, spread};

/// Probabilities are brought this far into (0, 1) before their logarithms are taken: a bin that
/// begins at 0 has none.
pub(super) const CLIP: f64 = 1e-3;

/// A class with fewer records than so many standard deviations of their noise is not seen well
/// enough for a ratio to be taken.
const SEEN: f64 = 5.0;

/// Private estimates of the quality of a model of classes. Their intervals are for the noise.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PrivateClasses {
    /// The share of units whose predicted class is theirs.
    pub accuracy: Estimate,
    /// The area under the ROC curve, pairs in one bin counting half; of more than two classes the
    /// plain mean over the classes, each against the rest.
    pub auc: Estimate,
    /// The mean negative log-likelihood of probabilities that are brought into [0.001, 0.999];
    /// nothing where scores are no log-odds.
    pub log_loss: Option<Estimate>,
    /// The expected calibration error over the groups of [`PrivateClasses::reliability`], of more
    /// than two classes the mean over the classes; nothing where scores are no log-odds.
    pub calibration_error: Option<Estimate>,
    /// The observed frequency by predicted probability; empty if scores are not log-odds.
    pub reliability: Vec<Reliability>,
    /// The noisy confusion matrix, in the order of the classes.
    pub confusion: Vec<Vec<f64>>,
    /// How far each number of the confusion may be off, at the confidence of the evaluation.
    pub confusion_margin: f64,
    /// Units; with noise where their number is private.
    pub n: f64,
    /// Whether that is the true number.
    pub n_is_exact: bool,
    /// Bins of the scores.
    pub bins: usize,
}

/// The observed share of a class among units with a predicted probability in one range.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Reliability {
    /// The class that the probabilities are of, by its place.
    pub class: usize,
    /// The range.
    pub probability: [f64; 2],
    /// Units with a probability in it, with noise.
    pub n: f64,
    /// The share of the class among them; nothing where they are too few for the noise.
    pub share: Option<f64>,
    /// Where the same share without noise is.
    pub interval: [f64; 2],
}

/// How the counts were asked for.
#[derive(Clone, Debug)]
pub(super) struct Counts {
    pub cells: HistogramCells,
    /// The edges of the bins, as probabilities (or as what stands in for them).
    pub edges: Vec<f64>,
    /// Bins at or below the cut between two classes.
    pub below_cut: usize,
    /// The noise of a count of the confusion, and of one of a block.
    pub deviations: (f64, f64),
    /// The true number of units, where it is public.
    pub n: Option<f64>,
    /// Whether scores are log-odds.
    pub log_odds: bool,
    pub confidence: f64,
}

/// The reconciled counts.
struct ReconciledCounts {
    /// Those taken for their own class.
    right: f64,
    /// Of each block and bin: those of others, those of its class.
    blocks: Vec<Vec<[f64; 2]>>,
    n: f64,
}

impl Counts {
    /// The figures.
    pub fn read(&self, answer: &[f64]) -> PrivateClasses {
        let Counts { cells, log_odds, confidence, .. } = self;
        let table = self.table(answer);
        let (coarse, _) = self.deviations;
        let deviation = |i: usize| self.deviation(i);
        let figure = |of: fn(&Self, &ReconciledCounts) -> f64| {
            let noise = spread(answer, deviation, |moved| of(self, &self.table(moved)));
            (of(self, &table), noise)
        };
        let (accuracy, noise) = figure(|_, table| table.right / table.n);
        let sampling = (accuracy * (1.0 - accuracy)).max(0.0) / table.n;
        let accuracy =
            Estimate::new(accuracy, noise, 0.0, Some(sampling.sqrt()), (*confidence, SHARE));
        let auc = if self.sees_every_class(&table) {
            let (auc, noise) = figure(Self::auc);
            let (hidden, sampling) = self.auc_errors(&table);
            Estimate::new(auc, noise, hidden, Some(sampling), (*confidence, SHARE))
        } else {
            Estimate::unknown(SHARE)
        };
        let log_loss = log_odds.then(|| {
            let (loss, noise) = figure(Self::log_loss);
            let (hidden, sampling) = self.log_loss_errors(&table);
            let range = [0.0, -CLIP.ln()];
            Estimate::new(loss, noise, hidden, Some(sampling), (*confidence, range))
        });
        let counted = |c: usize, k: usize| answer[cells.confusion(c, k)];
        let classes = cells.classes();
        PrivateClasses {
            accuracy,
            auc,
            log_loss,
            calibration_error: log_odds.then(|| self.calibration_error(answer, table.n)),
            reliability: if *log_odds { self.reliability(answer) } else { Vec::new() },
            confusion: (0..classes)
                .map(|c| (0..classes).map(|k| counted(c, k)).collect())
                .collect(),
            confusion_margin: normal_quantile(0.5 + 0.5 * confidence) * coarse,
            n: table.n,
            n_is_exact: self.n.is_some(),
            bins: cells.bins(),
        }
    }

    fn deviation(&self, i: usize) -> f64 {
        let classes = self.cells.classes();
        if i < classes * classes { self.deviations.0 } else { self.deviations.1 }
    }

    /// The counts, reconciled.
    fn table(&self, answer: &[f64]) -> ReconciledCounts {
        let Counts { cells, deviations, .. } = self;
        let (classes, bins) = (cells.classes(), cells.bins());
        let coarse = deviations.0.powi(2);
        let mut confusion = answer[..classes * classes].to_vec();
        if let Some(n) = self.n {
            let missing = (n - confusion.iter().sum::<f64>()) / confusion.len() as f64;
            confusion.iter_mut().for_each(|count| *count += missing);
        }
        let n = self.n.unwrap_or_else(|| confusion.iter().sum());
        let block = |block: usize| -> Vec<[f64; 2]> {
            let count = |bin, is| answer[cells.scored(block, bin, is)];
            (0..bins).map(|bin| [count(bin, false), count(bin, true)]).collect()
        };
        let mut blocks: Vec<_> = (0..cells.blocks()).map(block).collect();
        for (k, block) in blocks.iter_mut().enumerate() {
            for is in 0..2 {
                let of = |c: usize| usize::from(c == cells.class_of(k)) == is;
                let rows = (0..classes).filter(|c| of(*c));
                if classes == 2 {
                    // Both sides of the cut are counted in the confusion as well.
                    let (low, high) = block.split_at_mut(self.below_cut);
                    for (side, bins) in [low, high].into_iter().enumerate() {
                        self.reconcile(bins, is, confusion[cells.confusion(is, side)], coarse);
                    }
                } else {
                    let cell = |c: usize| (0..classes).map(move |j| cells.confusion(c, j));
                    let total: Vec<f64> = rows.flat_map(cell).map(|i| confusion[i]).collect();
                    self.reconcile(block, is, total.iter().sum(), coarse * total.len() as f64);
                }
            }
        }
        let right = (0..classes).map(|c| confusion[cells.confusion(c, c)]).sum();
        ReconciledCounts { right, blocks, n }
    }

    /// Shifts counts of bins towards a total that is known with this variance.
    fn reconcile(&self, bins: &mut [[f64; 2]], is: usize, total: f64, variance: f64) {
        let sum: f64 = bins.iter().map(|bin| bin[is]).sum();
        let own = bins.len() as f64 * self.deviations.1.powi(2);
        let weight = if own > 0.0 { own / (own + variance) } else { 0.0 };
        let shift = weight * (total - sum) / bins.len().max(1) as f64;
        bins.iter_mut().for_each(|bin| bin[is] += shift);
    }

    /// Whether there are enough of every class, and of all others, for the noise.
    fn sees_every_class(&self, table: &ReconciledCounts) -> bool {
        let (coarse, _) = self.deviations;
        let least = SEEN * coarse * (self.cells.classes() as f64).sqrt();
        table.blocks.iter().all(|block| totals(block).iter().all(|total| *total > least))
    }

    fn auc(&self, table: &ReconciledCounts) -> f64 {
        let all = table.blocks.iter().map(|block| area(block));
        all.sum::<f64>() / table.blocks.len() as f64
    }

    /// What the bins hide of the AUC, and the standard deviation of its sampling error: of a mean
    /// over classes at most the mean of theirs.
    fn auc_errors(&self, table: &ReconciledCounts) -> (f64, f64) {
        let mut errors = (0.0, 0.0);
        for block in &table.blocks {
            let [others, own] = totals(block);
            let ties: f64 = block.iter().map(|[q, p]| q.max(0.0) * p.max(0.0)).sum();
            let auc = area(block);
            // The placements of the records of one kind among those of the other (DeLong 1988).
            let (mut below, mut square) = (0.0, [0.0, 0.0]);
            for [q, p] in block {
                let above_others = (below + 0.5 * q) / others;
                square[1] += p.max(0.0) * (above_others - auc).powi(2);
                below += q;
            }
            let mut above = own;
            for [q, p] in block {
                above -= p;
                square[0] += q.max(0.0) * ((above + 0.5 * p) / own - auc).powi(2);
            }
            let variance = square[1] / own.powi(2) + square[0] / others.powi(2);
            let hidden = 0.5 * ties / (others * own);
            errors = (errors.0 + hidden, errors.1 + variance.max(0.0).sqrt());
        }
        let blocks = table.blocks.len() as f64;
        (errors.0 / blocks, errors.1 / blocks)
    }

    /// The losses of a record of this kind at the ends of a bin.
    fn losses(&self, bin: usize, is: bool) -> [f64; 2] {
        let [low, high] = self.range(bin).map(|p| p.clamp(CLIP, 1.0 - CLIP));
        if is { [-high.ln(), -low.ln()] } else { [-(-low).ln_1p(), -(-high).ln_1p()] }
    }

    /// Every count that is a part of the log loss, with its losses: each record is in one of them.
    fn lossy<'a>(
        &'a self,
        table: &'a ReconciledCounts,
    ) -> impl Iterator<Item = (f64, [f64; 2])> + 'a {
        let both = self.cells.classes() == 2;
        table.blocks.iter().flat_map(move |block| {
            block.iter().enumerate().flat_map(move |(bin, [q, p])| {
                let others = both.then(|| (*q, self.losses(bin, false)));
                std::iter::once((*p, self.losses(bin, true))).chain(others)
            })
        })
    }

    fn log_loss(&self, table: &ReconciledCounts) -> f64 {
        let sum: f64 =
            self.lossy(table).map(|(count, [low, high])| count * 0.5 * (low + high)).sum();
        sum / table.n
    }

    /// What the bins hide of the log loss, and the standard deviation of its sampling error.
    fn log_loss_errors(&self, table: &ReconciledCounts) -> (f64, f64) {
        let mean = self.log_loss(table);
        let (mut hidden, mut square) = (0.0, 0.0);
        for (count, [low, high]) in self.lossy(table) {
            hidden += count.max(0.0) * 0.5 * (high - low);
            square += count.max(0.0) * (0.5 * (low + high) - mean).powi(2);
        }
        (hidden / table.n, square.sqrt() / table.n)
    }

    /// The probabilities that part a bin from its neighbours.
    fn range(&self, bin: usize) -> [f64; 2] {
        let lower = if bin == 0 { 0.0 } else { self.edges[bin - 1] };
        [lower, self.edges.get(bin).copied().unwrap_or(1.0)]
    }

    /// The bins of each group of the calibration: a handful, because every bin more is noise more.
    fn groups(&self) -> Vec<std::ops::Range<usize>> {
        let bins = self.cells.bins();
        let groups = (bins / 4).clamp(1, 10);
        (0..groups).map(|g| g * bins / groups..(g + 1) * bins / groups).collect()
    }

    /// Of every class and group: the gap between those of the class and those that were said to be,
    /// the standard deviation of its noise, and what the bins hide of it.
    fn gaps(&self, answer: &[f64]) -> Vec<(f64, f64, f64)> {
        let fine = self.deviations.1;
        let mut gaps = Vec::new();
        for block in 0..self.cells.blocks() {
            for group in self.groups() {
                let (mut gap, mut square, mut hidden) = (0.0, 0.0, 0.0_f64);
                for bin in group {
                    let [low, high] = self.range(bin);
                    let middle = 0.5 * (low + high);
                    let [q, p] = [false, true].map(|is| answer[self.cells.scored(block, bin, is)]);
                    gap += p - middle * (p + q);
                    square += ((1.0 - middle).powi(2) + middle.powi(2)) * fine * fine;
                    hidden += 0.5 * (high - low) * (p + q).max(0.0);
                }
                gaps.push((gap, square.sqrt(), hidden));
            }
        }
        gaps
    }

    /// Noise makes a gap of what is none: it is taken out of the square of every gap, and the
    /// interval allows for all that the sum of its sizes may be.
    fn calibration_error(&self, answer: &[f64], n: f64) -> Estimate {
        let gaps = self.gaps(answer);
        let all = n * self.cells.blocks() as f64;
        let sum = |of: &dyn Fn(&(f64, f64, f64)) -> f64| gaps.iter().map(of).sum::<f64>() / all;
        let value = sum(&|(gap, noise, _)| (gap * gap - noise * noise).max(0.0).sqrt());
        let seen = sum(&|(gap, ..)| gap.abs()).min(1.0);
        let hidden = sum(&|(.., hidden)| *hidden);
        // Sizes of normal noise have the mean √(2/π) and the variance 1 − 2/π; their sum leans to
        // the right, which the second term of Cornish and Fisher is for.
        let mean = sum(&|(_, noise, _)| noise * std::f64::consts::FRAC_2_PI.sqrt());
        let square: f64 = gaps.iter().map(|(_, noise, _)| noise * noise).sum();
        let spread = (square * (1.0 - std::f64::consts::FRAC_2_PI)).sqrt() / all;
        let z = normal_quantile(self.confidence);
        let lean = (z * z - 1.0) / (6.0 * (gaps.len() as f64).sqrt());
        let off = mean + (z + lean) * spread + hidden;
        if !(seen.is_finite() && off.is_finite()) {
            return Estimate::unknown(SHARE);
        }
        Estimate {
            value: Some(value.clamp(0.0, 1.0)),
            interval: [seen - off, seen + off].map(|end| end.clamp(0.0, 1.0)),
            noise: spread,
            discretisation: hidden,
            population: None,
        }
    }

    fn reliability(&self, answer: &[f64]) -> Vec<Reliability> {
        let (_, fine) = self.deviations;
        let z = normal_quantile(0.5 + 0.5 * self.confidence);
        let mut rows = Vec::new();
        for block in 0..self.cells.blocks() {
            for group in self.groups() {
                let ends = [self.range(group.start)[0], self.range(group.end - 1)[1]];
                let count = |is: bool| -> f64 {
                    group.clone().map(|bin| answer[self.cells.scored(block, bin, is)]).sum()
                };
                let [q, p] = [count(false), count(true)];
                let noise = fine * (group.len() as f64).sqrt();
                let n = p + q;
                let share = (n > SEEN * noise * 2.0_f64.sqrt()).then(|| (p / n).clamp(0.0, 1.0));
                let off = |share: f64| z * noise * share.hypot(1.0 - share) / n;
                let interval = share.map_or(SHARE, |share| {
                    [share - off(share), share + off(share)].map(|end| end.clamp(0.0, 1.0))
                });
                let class = self.cells.class_of(block);
                rows.push(Reliability { class, probability: ends, n, share, interval });
            }
        }
        rows
    }
}

/// Those of others, those of the class.
fn totals(block: &[[f64; 2]]) -> [f64; 2] {
    [0, 1].map(|is| block.iter().map(|bin| bin[is]).sum())
}

/// The area under the ROC curve of a block, pairs in one bin counting half.
fn area(block: &[[f64; 2]]) -> f64 {
    let [others, own] = totals(block);
    let (mut below, mut pairs) = (0.0, 0.0);
    for [q, p] in block {
        pairs += p * (below + 0.5 * q);
        below += q;
    }
    pairs / (others * own)
}
