//! What can be summed over records, as a value with public numbers alone: it can be sent to whoever
//! holds the rows. Who is in the sum is not part of it.
//!
//! Each kind has a clip, which no unit's vector is longer than whatever its records are, a grid of
//! integers, and how much of the noise of `z` clips it needs: what its sensitivity rests on, in one
//! place (proofs/sensitivity-clipped-sum.md). The arithmetic of a kind is in the file of its query,
//! which cites the note that proves it.

use std::borrow::Cow;

use reticent_accountant::Adjacency;
use reticent_problem::losses::Loss;
use reticent_problem::{LossTarget, Shape};
use serde::{Deserialize, Serialize};

use super::bin_counts::{self, Bins};
use super::{
    check_clip, check_point, column_sums, coordinate, count, curvature, errors, gradient,
    histogram, log_odds_line, score, second_moment, wrong,
};
use crate::holder::TableHolder;
use crate::refusal::Refusal;
use crate::sums::{Grid, RecordStatistic, Slopes, Squares};

/// What is summed over the units: of a record its own, of a user the mean over its records, clipped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RecordSum<'a> {
    /// Gradients at a point.
    Gradient { at: Cow<'a, [f64]>, clip: f64 },
    /// Gradients at the first point less those at the second.
    Correction { at: Cow<'a, [f64]>, from: Cow<'a, [f64]>, clip: f64 },
    /// One coordinate of the gradients at a point.
    Coordinate { at: Cow<'a, [f64]>, index: usize, clip: f64 },
    /// Squares of rows that are scaled down to a norm.
    SecondMoment { row_norm: f64, whole: bool },
    /// The same times the second derivative of the loss, which counts for no more than `most`.
    Curvature { at: Cow<'a, [f64]>, row_norm: f64, most: f64 },
    /// 1 for a value at or below a threshold.
    Count { of: RecordStatistic, at_most: f64 },
    /// The error of a prediction.
    Score { at: Cow<'a, [f64]> },
    /// Who is taken for what, and how log-odds are spread.
    Histogram { at: Cow<'a, [f64]>, cut: f64, edges: Cow<'a, [f64]> },
    /// How far a model of a number is off.
    Errors { at: Cow<'a, [f64]>, counted: bool },
    /// What moves a line through log-odds, which count for no more than `most`.
    LogOddsLine { at: Cow<'a, [f64]>, line: [f64; 2], most: f64 },
    /// Bins of columns.
    BinCounts { of: Cow<'a, [Bins]> },
    /// Columns.
    ColumnSums { features: Cow<'a, [usize]>, counted: bool },
}

impl RecordSum<'_> {
    /// Refuses numbers that cannot be, for a parameter of this shape.
    pub fn check(&self, shape: Shape) -> Result<(), Refusal> {
        match self {
            RecordSum::Gradient { at, clip } => {
                check_clip(*clip)?;
                check_point(at, shape)
            }
            RecordSum::Correction { at, from, clip } => {
                check_clip(*clip)?;
                check_point(at, shape)?;
                check_point(from, shape)
            }
            RecordSum::Coordinate { at, index, clip } => {
                check_clip(*clip)?;
                check_point(at, shape)?;
                coordinate::check_index(*index, shape)
            }
            RecordSum::SecondMoment { row_norm, whole } => {
                second_moment::check(*row_norm, *whole, shape)
            }
            RecordSum::Curvature { at, row_norm, most } => {
                check_point(at, shape)?;
                curvature::check(*row_norm, *most, shape)
            }
            RecordSum::Count { of, at_most } => count::check(*of, *at_most, shape),
            RecordSum::Score { at } | RecordSum::Errors { at, .. } => check_point(at, shape),
            RecordSum::Histogram { at, cut, edges } => {
                check_point(at, shape)?;
                histogram::check(*cut, edges, shape)
            }
            RecordSum::LogOddsLine { at, line, most } => {
                check_point(at, shape)?;
                log_odds_line::check(line, *most, shape)
            }
            RecordSum::BinCounts { of } => bin_counts::check(of, shape),
            RecordSum::ColumnSums { features, .. } => column_sums::check(features, shape),
        }
    }

    /// Refuses what is of another kind of target than the loss takes.
    pub fn fits(&self, loss: &dyn Loss) -> Result<(), Refusal> {
        match (self, loss.target()) {
            (RecordSum::Histogram { .. }, LossTarget::Real) => {
                Err(wrong("a model of a number has no classes to count"))
            }
            (RecordSum::Errors { .. }, LossTarget::Binary | LossTarget::Classes(_)) => {
                Err(wrong("a model of classes is not off by a number"))
            }
            (RecordSum::LogOddsLine { .. }, LossTarget::Real | LossTarget::Classes(_)) => {
                Err(wrong("a line through log-odds is for two classes"))
            }
            _ => Ok(()),
        }
    }

    /// What is summed, by its name.
    pub fn kind(&self) -> &'static str {
        match self {
            RecordSum::Gradient { .. } => "gradient",
            RecordSum::Correction { .. } => "correction",
            RecordSum::Coordinate { .. } => "coordinate",
            RecordSum::SecondMoment { .. } => "second moment",
            RecordSum::Curvature { .. } => "curvature",
            RecordSum::Count { .. } => "count",
            RecordSum::Score { .. } => "score",
            RecordSum::Histogram { .. } => "histogram",
            RecordSum::Errors { .. } => "errors",
            RecordSum::LogOddsLine { .. } => "log-odds line",
            RecordSum::BinCounts { .. } => "bin counts",
            RecordSum::ColumnSums { .. } => "column sums",
        }
    }

    /// How many numbers the sum has.
    pub fn len(&self, shape: Shape) -> usize {
        match self {
            RecordSum::Gradient { .. } | RecordSum::Correction { .. } => shape.len(),
            RecordSum::Coordinate { .. } | RecordSum::Count { .. } | RecordSum::Score { .. } => 1,
            RecordSum::SecondMoment { whole, .. } => second_moment::width(*whole, shape).pow(2),
            RecordSum::Curvature { .. } => shape.len().pow(2),
            RecordSum::Histogram { edges, .. } => histogram::cells(shape, edges).count(),
            RecordSum::Errors { counted, .. } => errors::weights(*counted).len(),
            RecordSum::LogOddsLine { .. } => log_odds_line::LEN,
            RecordSum::BinCounts { of } => bin_counts::len(of),
            RecordSum::ColumnSums { features, counted } => features.len() + usize::from(*counted),
        }
    }

    /// The largest norm of one unit's vector.
    pub fn clip(&self) -> f64 {
        match self {
            RecordSum::Gradient { clip, .. }
            | RecordSum::Correction { clip, .. }
            | RecordSum::Coordinate { clip, .. } => *clip,
            RecordSum::SecondMoment { row_norm, .. } => row_norm * row_norm,
            RecordSum::Curvature { row_norm, most, .. } => most * row_norm * row_norm,
            RecordSum::Count { .. }
            | RecordSum::Score { .. }
            | RecordSum::Histogram { .. }
            | RecordSum::LogOddsLine { .. } => 1.0,
            RecordSum::Errors { counted, .. } => errors::clip(*counted),
            RecordSum::BinCounts { of } => bin_counts::clip(of),
            RecordSum::ColumnSums { features, counted } => column_sums::clip(features, *counted),
        }
    }

    /// The grid of its integers.
    pub fn grid(&self, shape: Shape) -> Grid {
        let len = self.len(shape);
        match self {
            RecordSum::SecondMoment { whole, .. } => {
                Grid::of_squares(second_moment::width(*whole, shape))
            }
            RecordSum::Curvature { .. } => Grid::of_squares(shape.len()),
            // For twice the coordinates: see their notes.
            RecordSum::Histogram { .. } | RecordSum::Errors { .. } => Grid::new(2 * len),
            _ => Grid::new(len),
        }
    }

    /// One step of the grid, in the units of what is summed.
    pub fn step(&self, shape: Shape) -> f64 {
        self.grid(shape).step(self.clip())
    }

    /// What the noise of `z` clips is multiplied with: half of what a replacement moves the sum by,
    /// or all that a removal does, in clips.
    pub fn noise(&self, adjacency: Adjacency) -> f64 {
        if adjacency == Adjacency::AddRemove {
            return 1.0;
        }
        match self {
            RecordSum::Gradient { .. }
            | RecordSum::Correction { .. }
            | RecordSum::Coordinate { .. }
            | RecordSum::LogOddsLine { .. }
            | RecordSum::ColumnSums { .. } => 1.0,
            RecordSum::SecondMoment { .. } | RecordSum::Curvature { .. } => second_moment::REPLACED,
            RecordSum::Count { .. } | RecordSum::Score { .. } => count::REPLACED,
            RecordSum::Histogram { .. } | RecordSum::BinCounts { .. } => histogram::REPLACED,
            RecordSum::Errors { .. } => errors::replaced(),
        }
    }

    /// Adds it up over the rows of a table: over the `chosen` units, or over all of them.
    pub(crate) fn add_up(
        &self,
        table: &mut TableHolder,
        loss: &dyn Loss,
        chosen: Option<&[u32]>,
        out: &mut [i64],
    ) {
        let grid = self.grid(table.private.shape(loss.outputs()));
        let over = SumScope { clip: self.clip(), grid, chosen };
        match self {
            RecordSum::Gradient { at, clip } => {
                gradient::add_up(table, loss, (Slopes::At(at), *clip), chosen, out);
            }
            RecordSum::Correction { at, from, clip } => {
                let slopes = Slopes::Between(at, from);
                gradient::add_up(table, loss, (slopes, *clip), chosen, out);
            }
            RecordSum::Coordinate { at, index, .. } => {
                coordinate::add_up(table, loss, (at, *index), &over, out);
            }
            RecordSum::SecondMoment { row_norm, whole } => {
                let squares = Squares { row_norm: *row_norm, whole: *whole };
                second_moment::add_up(table, squares, &over, out);
            }
            RecordSum::Curvature { at, row_norm, most } => {
                curvature::add_up(table, loss, (at, *row_norm, *most), &over, out);
            }
            RecordSum::Count { of, at_most } => count::add_up(table, (*of, *at_most), &over, out),
            RecordSum::Score { at } => score::add_up(table, loss, at, &over, out),
            RecordSum::Histogram { at, cut, edges } => {
                histogram::add_up(table, loss, (at, *cut, edges), &over, out);
            }
            RecordSum::Errors { at, counted } => {
                errors::add_up(table, (at, *counted), &over, out);
            }
            RecordSum::LogOddsLine { at, line, most } => {
                log_odds_line::add_up(table, (at, line, *most), &over, out);
            }
            RecordSum::BinCounts { of } => bin_counts::add_up(table, of, &over, out),
            RecordSum::ColumnSums { features, counted } => {
                column_sums::add_up(table, (features, *counted), &over, out);
            }
        }
    }
}

/// What a sum of vectors is over.
pub(super) struct SumScope<'a> {
    clip: f64,
    pub grid: Grid,
    chosen: Option<&'a [u32]>,
}

impl<'a> SumScope<'a> {
    /// Those of so many units.
    pub fn of(&self, units: usize) -> crate::sums::Vectors<'a> {
        let SumScope { clip, grid, chosen } = *self;
        crate::sums::Vectors { units, chosen, clip, grid }
    }
}
