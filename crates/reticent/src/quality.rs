//! How good predictions are: accuracy, confusion, area under the ROC curve, log-loss; R² and
//! errors.

use reticent_oracle::tables::TargetKind;
use reticent_oracle::without_privacy::Scored;

use crate::model::LOG_ODDS;
use crate::ranking::{RocCurves, area, curves, tenths};

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

/// The quality of predicted numbers, both in the units of the target.
pub fn regression(predicted: &[f64], targets: &[f64]) -> Quality {
    let n = targets.len();
    let mean = targets.iter().sum::<f64>() / n as f64;
    let errors = || targets.iter().zip(predicted).map(|(b, s)| b - s);
    let squares: f64 = errors().map(|error| error * error).sum();
    let spread: f64 = targets.iter().map(|b| (b - mean).powi(2)).sum();
    let mae = errors().map(f64::abs).sum::<f64>() / n as f64;
    Quality::Range { r2: 1.0 - squares / spread, rmse: (squares / n as f64).sqrt(), mae, n }
}

/// The quality of the scores of a parameter that is no model yet, for a target of this kind under
/// this loss.
pub(crate) fn of_scores(kind: &TargetKind, loss: &str, scored: Scored) -> Quality {
    let Scored { scores, targets, .. } = scored;
    let TargetKind::Classes(labels) = kind else {
        let decoded = |v: &[f64]| v.iter().map(|&v| decode(kind, v)).collect::<Vec<_>>();
        return regression(&decoded(&scores), &decoded(&targets));
    };
    let log_odds = LOG_ODDS.contains(&loss.split(':').next().unwrap_or_default());
    let (values, classes) = in_rows(scores, &targets, labels.len() == 2);
    let scores = Scores { values: &values, classes: &classes, outputs: labels.len(), log_odds };
    let best =
        |row: &[f64]| (1..row.len()).fold(0, |best, k| if row[k] > row[best] { k } else { best });
    scores.quality(best)
}

/// An encoded number in the units of the target, within its declared range: nothing outside can be.
pub(crate) fn decode(kind: &TargetKind, encoded: f64) -> f64 {
    match kind {
        TargetKind::Range { lower, upper } => kind.decode_number(encoded).clamp(*lower, *upper),
        _ => encoded,
    }
}

/// A row of scores for each record, of one score with a 0 for the first class, and the class of each
/// record.
pub(crate) fn in_rows(values: Vec<f64>, targets: &[f64], binary: bool) -> (Vec<f64>, Vec<usize>) {
    let code = |&target: &f64| if binary { usize::from(target > 0.0) } else { target as usize };
    let classes = targets.iter().map(code).collect();
    let rows = match binary {
        true => values.into_iter().flat_map(|score| [0.0, score]).collect(),
        false => values,
    };
    (rows, classes)
}

/// Scores of records, a row of `outputs` each, with their classes.
#[derive(Clone, Copy, Debug)]
pub struct Scores<'a> {
    /// Row after row.
    pub values: &'a [f64],
    /// The class of each record.
    pub classes: &'a [usize],
    /// The number of classes, at least two.
    pub outputs: usize,
    /// Whether scores are log-odds, so that there are probabilities.
    pub log_odds: bool,
}

impl Scores<'_> {
    /// The quality, when `predict` says which class a row of scores is taken for.
    pub fn quality(&self, predict: impl Fn(&[f64]) -> usize) -> Quality {
        let n = self.classes.len();
        let mut confusion = Confusion::new(self.outputs);
        let mut log_loss = 0.0;
        for (scores, &class) in self.rows() {
            confusion.add(class, predict(scores));
            let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            log_loss +=
                top - scores[class] + scores.iter().map(|s| (s - top).exp()).sum::<f64>().ln();
        }
        let right: u64 = (0..self.outputs).map(|k| confusion.count(k, k)).sum();
        let auc = match self.outputs {
            2 => area(self.ranked(1)),
            many => (0..many).map(|k| area(self.ranked(k))).sum::<f64>() / many as f64,
        };
        let (log_loss, calibration_error) = match self.log_odds {
            true => (log_loss / n as f64, self.calibration_error()),
            false => (f64::NAN, f64::NAN),
        };
        let accuracy = right as f64 / n as f64;
        Quality::Classes { accuracy, auc, log_loss, calibration_error, confusion, n }
    }

    fn calibration_error(&self) -> f64 {
        let of = |k: usize| {
            let far = tenths(&self.ranked(k), &probability);
            far.iter().map(|(p, share, _)| (p - share).abs()).sum::<f64>()
        };
        let classes = if self.outputs == 2 { 1..2 } else { 0..self.outputs };
        let count = classes.len() as f64;
        classes.map(of).sum::<f64>() / (count * self.classes.len() as f64)
    }

    /// The curves of class `k` against the rest.
    pub fn curves(&self, k: usize) -> RocCurves {
        curves(self.ranked(k), if self.log_odds { Some(&probability) } else { None })
    }

    fn rows(&self) -> impl Iterator<Item = (&[f64], &usize)> {
        self.values.chunks_exact(self.outputs).zip(self.classes)
    }

    /// The records by the log-odds of class `k` against all others: s_k − ln Σ_{j≠k} e^{s_j}. They
    /// rank as the probabilities do, and those near 0 and 1 are still told apart; the bare score
    /// s_k ranks differently.
    fn ranked(&self, k: usize) -> Vec<(f64, bool)> {
        let log_odds = |scores: &[f64]| {
            let others = || scores.iter().enumerate().filter(|(j, _)| *j != k).map(|(_, s)| *s);
            let top = others().fold(f64::NEG_INFINITY, f64::max);
            scores[k] - top - others().map(|s| (s - top).exp()).sum::<f64>().ln()
        };
        self.rows().map(|(scores, &class)| (log_odds(scores), class == k)).collect()
    }
}

fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two records at ½ of which both are of the class, and two at 0.9 of which one is.
    #[test]
    fn a_calibration_error_is_how_far_probabilities_are_from_shares() {
        let odds = 9.0_f64.ln();
        let scores = Scores {
            values: &[0.0, 0.0, 0.0, 0.0, 0.0, odds, 0.0, odds],
            classes: &[1, 1, 1, 0],
            outputs: 2,
            log_odds: true,
        };
        let Quality::Classes { calibration_error, .. } = scores.quality(best) else {
            panic!("classes")
        };
        assert!((calibration_error - (0.5 + 0.4) / 2.0).abs() < 1e-12, "{calibration_error}");
    }

    fn best(scores: &[f64]) -> usize {
        (1..scores.len()).fold(0, |best, k| if scores[k] > scores[best] { k } else { best })
    }

    #[test]
    fn classes_are_scored_as_log_odds() {
        let scores =
            Scores { values: &[0.0, 2.0, 0.0, -1.0], classes: &[1, 1], outputs: 2, log_odds: true };
        let Quality::Classes { accuracy, log_loss, n, .. } = scores.quality(best) else {
            panic!("classes")
        };
        assert_eq!((accuracy, n), (0.5, 2));
        let expected = ((-2.0_f64).exp().ln_1p() + 1.0_f64.exp().ln_1p()) / 2.0;
        assert!((log_loss - expected).abs() < 1e-15);
        let Quality::Classes { log_loss, .. } =
            (Scores { log_odds: false, ..scores }).quality(best)
        else {
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
        let auc = |values: &[f64]| {
            let scores = Scores { values, classes: &[0, 1, 2, 1], outputs: 3, log_odds: true };
            match scores.quality(best) {
                Quality::Classes { auc, .. } => auc,
                Quality::Range { .. } => panic!("classes"),
            }
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
        let scores = Scores {
            values: &[0.0, 1.0, 0.0, -1.0, 0.0, 1.0, 0.0, -1.0],
            classes: &[1, 1, 0, 0],
            outputs: 2,
            log_odds: true,
        };
        let Quality::Classes { confusion, .. } = scores.quality(best) else { panic!("classes") };
        assert_eq!(
            [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(a, b)| confusion.count(a, b)),
            [1, 1, 1, 1]
        );
        assert_eq!((confusion.precision(1), confusion.recall(1), confusion.f1(1)), (0.5, 0.5, 0.5));
        let Quality::Classes { confusion, .. } = scores.quality(|_| 0) else { panic!("classes") };
        assert!(confusion.precision(1).is_nan());
        assert_eq!((confusion.recall(1), confusion.f1(1)), (0.0, 0.0));
    }

    #[test]
    fn the_mean_explains_nothing() {
        let quality = regression(&[0.0, 0.0], &[10.0, -10.0]);
        assert_eq!(quality, Quality::Range { r2: 0.0, rmse: 10.0, mae: 10.0, n: 2 });
    }
}
