//! Values that leave without noise. Nothing here is protected, and the names say so: predictions for records
//! that somebody asked about, and the quality of a model on a table.

use reticent_data::{Rows, Table};
use reticent_problem::Shape;
use reticent_statistics::quality::{classification, regression};
use reticent_sums::RowAccess;

use crate::table::PrivateTable;

pub use reticent_statistics::quality::Quality;

/// A linear model: a row-major matrix of this shape, and the constant that its intercept is multiplied with.
#[derive(Clone, Copy, Debug)]
pub struct Linear<'a> {
    /// The layout of the parameter.
    pub shape: Shape,
    /// The parameter.
    pub parameter: &'a [f64],
    /// The constant behind the intercept.
    pub intercept: f64,
}

/// The scores of every record, a row of `shape.outputs` each.
pub fn scores(table: &PrivateTable, model: &Linear<'_>) -> Vec<f64> {
    all_scores(table.table(), model)
}

fn all_scores(table: &Table, model: &Linear<'_>) -> Vec<f64> {
    match &table.rows {
        Rows::Dense(rows) => scores_of(rows, table.len(), model),
        Rows::Sparse(rows) => scores_of(rows, table.len(), model),
    }
}

fn scores_of(rows: &impl RowAccess, count: usize, model: &Linear<'_>) -> Vec<f64> {
    let Shape { features, outputs, .. } = model.shape;
    let (weights, last) = model.parameter.split_at(features * outputs);
    let mut all = vec![0.0; count * outputs];
    for (i, scores) in all.chunks_exact_mut(outputs).enumerate() {
        scores.iter_mut().zip(last).for_each(|(score, b)| *score = b * model.intercept);
        rows.dot_many(i, weights, scores);
    }
    all
}

/// The quality of `model` on a table with targets; `decode` brings an encoded number back to its own units, and
/// is `None` for classes.
pub fn evaluate(table: &PrivateTable, model: &Linear<'_>, decode: Option<&dyn Fn(f64) -> f64>) -> Quality {
    let table = table.table();
    let scores = all_scores(table, model);
    let targets = &table.targets;
    match decode {
        Some(decode) => regression(&scores, targets, decode),
        None if model.shape.outputs == 1 => {
            let both: Vec<f64> = scores.iter().flat_map(|&s| [0.0, s]).collect();
            let classes: Vec<usize> = targets.iter().map(|&b| usize::from(b > 0.0)).collect();
            classification(&both, &classes, 2)
        }
        None => {
            let classes: Vec<usize> = targets.iter().map(|&b| b as usize).collect();
            classification(&scores, &classes, model.shape.outputs)
        }
    }
}
