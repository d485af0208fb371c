//! How good predictions are: accuracy, confusion, area under the ROC curve, log-loss; R² and
//! errors.

use std::ops::Range;
use std::path::Path;

use reticent_oracle::tables::TargetKind;
use reticent_oracle::without_privacy::Scored;

use crate::error::Error;
use crate::model::LOG_ODDS;
use crate::number_pile::{HELD, NumberPile, PileOrder};
use crate::ranking::{RankedRecords, RocCurves, Tenths};

/// The quality of a model on a table. Not private.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Quality {
    /// For classes.
    #[non_exhaustive]
    Classes {
        /// The share of records whose predicted class is theirs.
        accuracy: f64,
        /// The area under the ROC curve of the second class; of more than two, the plain mean over
        /// the classes, each ranked against the rest by its probability ("macro, one against the
        /// rest"). NaN when a class does not occur.
        auc: f64,
        /// The mean negative log-likelihood; NaN where scores are no log-odds.
        log_loss: f64,
        /// The expected calibration error: how far the mean probability of the second class is from
        /// its share, over the tenths of [0, 1] by their records; of more than two classes the plain
        /// mean over them. NaN where scores are no log-odds.
        calibration_error: f64,
        /// Who was taken for what.
        confusion: Confusion,
        /// Records.
        n: usize,
    },
    /// For numbers, in the units of the target.
    #[non_exhaustive]
    Range {
        /// The share of the variance that is explained.
        r2: f64,
        /// The root of the mean squared error.
        rmse: f64,
        /// The mean absolute error.
        mae: f64,
        /// Records.
        n: usize,
    },
}

/// Counts of records by their class and the predicted one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confusion {
    classes: usize,
    counts: Vec<u64>,
}

impl Confusion {
    /// No records of so many classes.
    pub fn new(classes: usize) -> Self {
        Confusion { classes, counts: vec![0; classes * classes] }
    }

    /// Adds a record.
    pub fn add(&mut self, class: usize, predicted: usize) {
        self.counts[class * self.classes + predicted] += 1;
    }

    /// The number of records of a class that were predicted as another, or as itself.
    pub fn count(&self, class: usize, predicted: usize) -> u64 {
        self.counts[class * self.classes + predicted]
    }

    /// The number of records of a class.
    pub fn size(&self, class: usize) -> u64 {
        (0..self.classes).map(|k| self.count(class, k)).sum()
    }

    fn taken_for(&self, class: usize) -> u64 {
        (0..self.classes).map(|k| self.count(k, class)).sum()
    }

    /// The share of those taken for a class that are of it; NaN if there are none.
    pub fn precision(&self, class: usize) -> f64 {
        self.count(class, class) as f64 / self.taken_for(class) as f64
    }

    /// The share of a class that was taken for it; NaN if there is none.
    pub fn recall(&self, class: usize) -> f64 {
        self.count(class, class) as f64 / self.size(class) as f64
    }

    /// The harmonic mean of the two; NaN where there is nothing of the class at all.
    pub fn f1(&self, class: usize) -> f64 {
        2.0 * self.count(class, class) as f64 / (self.size(class) + self.taken_for(class)) as f64
    }
}

/// What the quality of predicted numbers is made of, record by record.
#[derive(Debug)]
pub(crate) struct RangeFigures {
    total: f64,
    squares: f64,
    distances: f64,
    /// Their spread is around a mean that is known behind the last.
    targets: NumberPile,
}

impl RangeFigures {
    /// No records. With a folder, targets that are more than some are in a file there.
    pub(crate) fn new(folder: Option<&Path>) -> Self {
        let targets = NumberPile::new(PileOrder::Arrival, folder, HELD);
        RangeFigures { total: 0.0, squares: 0.0, distances: 0.0, targets }
    }

    /// One more record, both numbers in the units of the target.
    pub(crate) fn add(&mut self, predicted: f64, target: f64) -> Result<(), Error> {
        let error = target - predicted;
        self.total += target;
        self.squares += error * error;
        self.distances += error.abs();
        self.targets.push(target)
    }

    /// The quality.
    pub(crate) fn quality(&mut self) -> Result<Quality, Error> {
        let n = self.targets.count() as usize;
        let (mean, mut spread) = (self.total / n as f64, 0.0);
        let mut targets = self.targets.read()?;
        while let Some(target) = targets.next()? {
            spread += (target - mean).powi(2);
        }
        let (rmse, mae) = ((self.squares / n as f64).sqrt(), self.distances / n as f64);
        Ok(Quality::Range { r2: 1.0 - self.squares / spread, rmse, mae, n })
    }
}

/// The quality of the scores of a parameter that is no model yet, for a target of this kind under
/// this loss.
pub(crate) fn of_scores(kind: &TargetKind, loss: &str, scored: Scored) -> Result<Quality, Error> {
    let Scored { scores, targets, .. } = scored;
    let TargetKind::Classes(labels) = kind else {
        let mut figures = RangeFigures::new(None);
        for (score, target) in scores.iter().zip(&targets) {
            figures.add(decode(kind, *score), decode(kind, *target))?;
        }
        return figures.quality();
    };
    let log_odds = LOG_ODDS.contains(&loss.split(':').next().unwrap_or_default());
    let mut figures = ClassFigures::new(labels.len(), log_odds, None);
    for (row, target) in scores.chunks_exact(outputs_of(labels.len())).zip(targets) {
        figures.add(row, target, class_of(row, 0.0))?;
    }
    figures.quality()
}

/// How many scores a record has: the second of two classes has the only one.
fn outputs_of(classes: usize) -> usize {
    if classes == 2 { 1 } else { classes }
}

/// The class that scores stand for: one score is that of the second of two classes against `cut`.
pub(crate) fn class_of(scores: &[f64], cut: f64) -> usize {
    match scores {
        [score] => usize::from(*score > cut),
        many => (1..many.len()).fold(0, |best, k| if many[k] > many[best] { k } else { best }),
    }
}

/// An encoded number in the units of the target, within its declared range: nothing outside can be.
pub(crate) fn decode(kind: &TargetKind, encoded: f64) -> f64 {
    match kind {
        TargetKind::Range { lower, upper } => kind.decode_number(encoded).clamp(*lower, *upper),
        _ => encoded,
    }
}

/// What the quality of predicted classes is made of, record by record.
#[derive(Debug)]
pub(crate) struct ClassFigures {
    /// The number of classes, at least two.
    classes: usize,
    /// Whether scores are log-odds, so that there are probabilities.
    log_odds: bool,
    confusion: Confusion,
    log_loss: f64,
    /// The second of two classes, or each of more against the rest.
    ranked: Vec<RankedClass>,
    n: usize,
}

/// The records by how sure it is that they are of a class.
#[derive(Debug)]
struct RankedClass {
    class: usize,
    ranking: RankedRecords,
    tenths: Tenths,
}

impl ClassFigures {
    /// No records. With a folder, what ranks them is in files there where it is more than some.
    pub(crate) fn new(classes: usize, log_odds: bool, folder: Option<&Path>) -> Self {
        let ranked: Range<usize> = if classes == 2 { 1..2 } else { 0..classes };
        let most = HELD / (2 * ranked.len());
        let ranked = ranked.map(|class| RankedClass {
            class,
            ranking: RankedRecords::new(folder, most),
            tenths: Tenths::default(),
        });
        let (ranked, confusion) = (ranked.collect(), Confusion::new(classes));
        ClassFigures { classes, log_odds, confusion, log_loss: 0.0, ranked, n: 0 }
    }

    /// One more record: its scores, its encoded target, and the class that it is taken for.
    pub(crate) fn add(
        &mut self,
        scores: &[f64],
        target: f64,
        predicted: usize,
    ) -> Result<(), Error> {
        let second;
        let (scores, class) = match scores {
            [score] => {
                second = [0.0, *score];
                (&second[..], usize::from(target > 0.0))
            }
            many => (many, target as usize),
        };
        self.confusion.add(class, predicted);
        let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.log_loss +=
            top - scores[class] + scores.iter().map(|s| (s - top).exp()).sum::<f64>().ln();
        self.n += 1;
        for ranked in &mut self.ranked {
            let (rank, own) = (log_odds(scores, ranked.class), class == ranked.class);
            if self.log_odds {
                ranked.tenths.add(probability(rank), own);
            }
            ranked.ranking.add(rank, own)?;
        }
        Ok(())
    }

    /// The quality.
    pub(crate) fn quality(&mut self) -> Result<Quality, Error> {
        let (n, count) = (self.n, self.ranked.len() as f64);
        let right: u64 = (0..self.classes).map(|k| self.confusion.count(k, k)).sum();
        let areas: Result<Vec<f64>, Error> =
            self.ranked.iter_mut().map(|ranked| ranked.ranking.area()).collect();
        let auc = match &areas?[..] {
            [area] => *area,
            many => many.iter().sum::<f64>() / count,
        };
        let far: f64 = self.ranked.iter().map(|ranked| ranked.tenths.far()).sum();
        let (log_loss, calibration_error) = match self.log_odds {
            true => (self.log_loss / n as f64, far / (count * n as f64)),
            false => (f64::NAN, f64::NAN),
        };
        let (accuracy, confusion) = (right as f64 / n as f64, self.confusion.clone());
        Ok(Quality::Classes { accuracy, auc, log_loss, calibration_error, confusion, n })
    }

    /// The curves of each class that is ranked.
    pub(crate) fn curves(&mut self) -> Result<Vec<(usize, RocCurves)>, Error> {
        let log_odds = self.log_odds;
        let curves = |ranked: &mut RankedClass| {
            let tenths = log_odds.then_some(&ranked.tenths);
            Ok((ranked.class, ranked.ranking.curves(tenths)?))
        };
        self.ranked.iter_mut().map(curves).collect()
    }
}

/// The log-odds of class `k` against all others: s_k − ln Σ_{j≠k} e^{s_j}. They rank as the
/// probabilities do, and those near 0 and 1 are still told apart; the bare score s_k ranks differently.
fn log_odds(scores: &[f64], k: usize) -> f64 {
    let others = || scores.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, s)| *s);
    let top = others().fold(f64::NEG_INFINITY, f64::max);
    scores[k] - top - others().map(|s| (s - top).exp()).sum::<f64>().ln()
}

fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The quality of rows of scores, of which the first of two classes has none.
    fn quality(scores: &[f64], classes: &[usize], outputs: usize, log_odds: bool) -> Quality {
        let mut figures = ClassFigures::new(if outputs == 1 { 2 } else { outputs }, log_odds, None);
        for (row, &class) in scores.chunks_exact(outputs).zip(classes) {
            let target = if outputs == 1 { 2.0 * class as f64 - 1.0 } else { class as f64 };
            figures.add(row, target, class_of(row, 0.0)).unwrap();
        }
        figures.quality().unwrap()
    }

    /// Two records at ½ of which both are of the class, and two at 0.9 of which one is.
    #[test]
    fn a_calibration_error_is_how_far_probabilities_are_from_shares() {
        let odds = 9.0_f64.ln();
        let found = quality(&[0.0, 0.0, odds, odds], &[1, 1, 1, 0], 1, true);
        let Quality::Classes { calibration_error, .. } = found else { panic!("classes") };
        assert!((calibration_error - (0.5 + 0.4) / 2.0).abs() < 1e-12, "{calibration_error}");
    }

    #[test]
    fn classes_are_scored_as_log_odds() {
        let Quality::Classes { accuracy, log_loss, n, .. } =
            quality(&[2.0, -1.0], &[1, 1], 1, true)
        else {
            panic!("classes")
        };
        assert_eq!((accuracy, n), (0.5, 2));
        let expected = ((-2.0_f64).exp().ln_1p() + 1.0_f64.exp().ln_1p()) / 2.0;
        assert!((log_loss - expected).abs() < 1e-15);
        let Quality::Classes { log_loss, .. } = quality(&[2.0, -1.0], &[1, 1], 1, false) else {
            panic!("classes")
        };
        assert!(log_loss.is_nan(), "margins have no likelihood");
    }

    /// Raw scores of one class are not comparable between records: adding a constant to a row
    /// changes no probability.
    #[test]
    fn the_auc_of_many_classes_ranks_probabilities_and_not_raw_scores() {
        let values = [1.0, 0.0, 0.0, 11.0, 12.0, 10.0, 5.0, 5.0, 6.0, -3.0, -2.0, -1.0];
        let moved: Vec<f64> = values
            .chunks_exact(3)
            .enumerate()
            .flat_map(|(i, row)| row.iter().map(move |s| s - 7.0 * i as f64))
            .collect();
        let auc = |values: &[f64]| match quality(values, &[0, 1, 2, 1], 3, true) {
            Quality::Classes { auc, .. } => auc,
            Quality::Range { .. } => panic!("classes"),
        };
        // By hand, with probabilities: class 0 ranks its record first, class 1 both of its own
        // before the other two (by raw scores one of them comes last), class 2 its record above two
        // of three.
        let expected = (1.0 + 1.0 + 2.0 / 3.0) / 3.0;
        assert!((auc(&values) - expected).abs() < 1e-15, "{}", auc(&values));
        assert_eq!(auc(&values), auc(&moved));
    }

    #[test]
    fn who_was_taken_for_what() {
        let mut figures = ClassFigures::new(2, true, None);
        let mut nobody = ClassFigures::new(2, true, None);
        for (score, target) in [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)] {
            figures.add(&[score], target, class_of(&[score], 0.0)).unwrap();
            nobody.add(&[score], target, 0).unwrap();
        }
        let confusion = |figures: &mut ClassFigures| match figures.quality().unwrap() {
            Quality::Classes { confusion, .. } => confusion,
            Quality::Range { .. } => panic!("classes"),
        };
        let found = confusion(&mut figures);
        assert_eq!([(0, 0), (0, 1), (1, 0), (1, 1)].map(|(a, b)| found.count(a, b)), [1, 1, 1, 1]);
        assert_eq!((found.precision(1), found.recall(1), found.f1(1)), (0.5, 0.5, 0.5));
        let found = confusion(&mut nobody);
        assert!(found.precision(1).is_nan());
        assert_eq!((found.recall(1), found.f1(1)), (0.0, 0.0));
    }

    #[test]
    fn the_mean_explains_nothing() {
        let mut figures = RangeFigures::new(None);
        [10.0, -10.0].iter().for_each(|&target| figures.add(0.0, target).unwrap());
        let wanted = Quality::Range { r2: 0.0, rmse: 10.0, mae: 10.0, n: 2 };
        assert_eq!(figures.quality().unwrap(), wanted);
    }
}
