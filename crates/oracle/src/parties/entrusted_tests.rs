//! What a party answers: no request that cannot be, also from whom it trusts.

use std::sync::Arc;

use reticent_accountant::{Adjacency, Unit, View};
use reticent_data::{Dense, Rows, Table};
use reticent_masks::Line;
use reticent_noise::NoiseKey;
use reticent_problem::losses::{self, Loss};

use super::request::{Direction, HolderRequest, bound_to, read_steps};
use super::{EntrustedTable, SumAggregator};
use crate::gate::PrivacyModel;
use crate::queries::{Bins, RecordSum};
use crate::refusal::Refusal;
use crate::sums::RecordStatistic;

const RUN: [u8; 32] = [9; 32];

struct Asked {
    table: EntrustedTable,
    line: Line,
    round: u32,
}

impl Asked {
    fn new(records: usize) -> Self {
        let mut dense = Dense::empty(2);
        (0..records).for_each(|_| dense.push_sparse(&[0, 1], &[0.5, -0.25]));
        let targets = vec![1.0; records];
        let rows = Rows::Dense(dense);
        let table =
            Table { rows, targets, users: None, weights: None, names: vec![String::new(); 2] };
        let opening = PrivacyModel {
            adjacency: Adjacency::ReplaceOne,
            unit: Unit::Record,
            view: View::Central,
            public_n: None,
            intercept: 1.0,
        };
        let loss: Arc<dyn Loss> = losses::parse("logistic", Some(2)).unwrap().into();
        let aggregator = SumAggregator::new(&NoiseKey::seeded(1), &RUN);
        let (key, to) = (NoiseKey::seeded(2), aggregator.public_key());
        let made = EntrustedTable::new(table.into(), loss, &opening, (&key, 0), &to);
        let (table, greeting) = made.unwrap();
        let hello = aggregator.hello(0, &greeting).unwrap();
        Asked { table, line: Line::new(&hello.key), round: 0 }
    }

    fn ask(&mut self, request: &HolderRequest<'_>, behind: &[u8]) -> Result<Vec<i64>, Refusal> {
        self.round += 1;
        let mut bytes = request.pack()?;
        bytes.extend_from_slice(behind);
        let closed = self.line.close(&bound_to(&RUN, 0, self.round, Direction::Asked), &bytes);
        let said = self.table.answer(self.round, &closed.unwrap())?;
        let context = bound_to(&RUN, 0, self.round, Direction::Answered);
        Ok(read_steps(&self.line.open(&context, &said).unwrap()).unwrap())
    }

    fn sum(&mut self, what: RecordSum<'_>) -> Result<Vec<i64>, Refusal> {
        self.ask(&HolderRequest::Sum { what, sampled: false }, &[])
    }
}

fn gradient(at: &[f64], clip: f64) -> RecordSum<'_> {
    RecordSum::Gradient { at: at.into(), clip }
}

#[test]
fn numbers_and_lengths_that_cannot_be_are_refused_and_the_party_goes_on() {
    let mut party = Asked::new(9);
    let fine = || gradient(&[0.1, 0.2, 0.3], 1.0);
    let first = party.sum(fine()).unwrap();
    let at = || (&[0.0; 3][..]).into();
    let bad = [
        gradient(&[0.0; 3], f64::NAN),
        gradient(&[0.0; 3], f64::INFINITY),
        gradient(&[0.0; 3], 0.0),
        gradient(&[0.0; 3], -1.0),
        gradient(&[f64::NAN, 0.0, 0.0], 1.0),
        gradient(&[f64::INFINITY, 0.0, 0.0], 1.0),
        gradient(&[0.0; 2], 1.0),
        gradient(&[0.0; 4], 1.0),
        gradient(&[], 1.0),
        RecordSum::Correction { at: at(), from: (&[0.0; 2][..]).into(), clip: 1.0 },
        RecordSum::Coordinate { at: at(), index: usize::MAX, clip: 1.0 },
        RecordSum::SecondMoment { row_norm: f64::NAN, whole: true },
        RecordSum::Curvature { at: at(), row_norm: 1.0, most: f64::NAN },
        RecordSum::Count { of: RecordStatistic::Feature(2), at_most: 0.0 },
        RecordSum::Count { of: RecordStatistic::Target, at_most: f64::NAN },
        RecordSum::Histogram { at: at(), cut: f64::NAN, edges: (&[0.0][..]).into() },
        RecordSum::Histogram { at: at(), cut: 0.0, edges: (&[1.0, 0.0][..]).into() },
        RecordSum::Errors { at: at(), counted: false },
        RecordSum::LogOddsLine { at: at(), line: [f64::NAN, 0.0], most: 1.0 },
        RecordSum::LogOddsLine { at: at(), line: [1.0, 0.0], most: f64::INFINITY },
        RecordSum::BinCounts { of: vec![Bins::Categories { first: usize::MAX, len: 2 }].into() },
        RecordSum::BinCounts { of: Vec::new().into() },
        RecordSum::ColumnSums { features: (&[0, 0][..]).into(), counted: true },
        RecordSum::ColumnSums { features: (&[2][..]).into(), counted: false },
    ];
    for what in bad {
        let asked = format!("{what:?}");
        assert!(party.sum(what).is_err(), "{asked}");
    }
    for images in [vec![0.0; 4], vec![f64::NAN; 9], Vec::new()] {
        assert!(party.ask(&HolderRequest::Basis(Some(images.into())), &[]).is_err());
    }
    // Bits for another number of units, bits where nobody is drawn, bytes behind a basis.
    let drawn = || HolderRequest::Sum { what: fine(), sampled: true };
    for behind in [&[][..], &[0], &[0; 3]] {
        assert!(party.ask(&drawn(), behind).is_err(), "{behind:?}");
    }
    assert!(party.ask(&HolderRequest::Sum { what: fine(), sampled: false }, &[1]).is_err());
    assert!(party.ask(&HolderRequest::Basis(None), &[0]).is_err());
    // Bits beyond the last unit are nobody's.
    assert_eq!(party.ask(&drawn(), &[0xff, 0xff]).unwrap(), first);
    assert_eq!(party.ask(&drawn(), &[0, 0xfe]).unwrap(), [0; 3]);
    assert_eq!(party.sum(fine()).unwrap(), first, "nothing that was refused has changed it");
}

#[test]
fn a_party_without_records_says_zeros() {
    let mut party = Asked::new(0);
    assert_eq!(party.sum(gradient(&[0.1, 0.2, 0.3], 1.0)).unwrap(), [0; 3]);
    let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    party.ask(&HolderRequest::Basis(Some((&identity[..]).into())), &[]).unwrap();
    let moment = RecordSum::SecondMoment { row_norm: 1.0, whole: true };
    assert_eq!(party.sum(moment).unwrap(), [0; 9]);
    let counts = RecordSum::ColumnSums { features: (&[0][..]).into(), counted: true };
    assert_eq!(party.sum(counts).unwrap(), [0; 2]);
}

/// After a crash a party has the same table and the same key, and goes on from how far it was: in the
/// basis that it was told, and answering no round again.
#[test]
fn a_party_goes_on_from_how_far_it_was() {
    let (mut party, mut again) = (Asked::new(9), Asked::new(9));
    let rotated = [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
    party.ask(&HolderRequest::Basis(Some((&rotated[..]).into())), &[]).unwrap();
    let before = party.sum(gradient(&[0.1, 0.2, 0.3], 1.0)).unwrap();
    assert_ne!(Asked::new(9).sum(gradient(&[0.1, 0.2, 0.3], 1.0)).unwrap(), before);
    again.table.recall(party.table.progress().clone()).unwrap();
    assert!(matches!(again.sum(gradient(&[0.0; 3], 1.0)), Err(Refusal::RoundReleased(1))));
    again.round = 2;
    assert_eq!(again.sum(gradient(&[0.1, 0.2, 0.3], 1.0)).unwrap(), before);
    // What was of other rows is refused, and changes nothing.
    let mut wide = party.table.progress().clone();
    wide.basis = Some(vec![0.0; 4]);
    assert!(again.table.recall(wide).is_err());
    assert_eq!(again.sum(gradient(&[0.1, 0.2, 0.3], 1.0)).unwrap(), before);
}
