//! The private table, opened.

use std::ops::Range;
use std::sync::Arc;

use reticent_data::{Dense, Rows, Table};
use reticent_problem::Shape;
use reticent_problem::losses::{Loss, LossTarget};

use super::grid::MAX_RECORDS;
use super::images::{Images, Made, most_bytes};
use super::rows::{RowAccess, SeenRows, with_rows};
use super::threads;

/// A loss over private rows.
#[derive(Clone, Copy)]
pub struct PrivateLoss<'a> {
    pub private: &'a Private,
    pub loss: &'a dyn Loss,
}

/// A table together with what every pass needs: upper bounds of the row norms and the users'
/// records.
#[derive(Debug)]
pub struct Private {
    table: Arc<Table>,
    /// Upper bounds of `‖(aᵢ, intercept)‖`.
    norms: Vec<f64>,
    users: Option<UserRecords>,
    /// The constant behind the intercept; 0 when there is none. It counts in the norm of the row.
    intercept: f64,
    /// What stands in for the rows, and the norms and the constant of those that came.
    images: Option<(Images, Vec<f64>, f64)>,
}

/// The records of each user, as one list with bounds.
#[derive(Debug)]
pub struct UserRecords {
    bounds: Vec<usize>,
    records: Vec<u32>,
}

/// Why a table cannot be summed over. Never says anything about the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// Users were to be protected on a table without any.
    #[error(
        "unit 'user' needs a column that says whose record each row is: give `user_column = NAME`"
    )]
    NoUsers,
    /// More rows than sums can be exact for.
    #[error(
        "the table has more than {allowed} records, the most that sums are exact for: split it"
    )]
    TooManyRecords {
        /// The limit.
        allowed: usize,
    },
    /// Rows that no reader makes.
    #[error(
        "the table is not well formed: every number must be finite, and the columns of a sparse row must ascend, below the width"
    )]
    Malformed,
    /// Weights that are none.
    #[error(
        "a weight of the table is not a number from 0 to 1: encode the table under the schema of the job"
    )]
    WrongWeight,
    /// Targets that the loss does not take.
    #[error(
        "a target of the table is none that the loss takes (−1 and +1 for two classes, 0 to k−1 for k, otherwise a \
         number from −1 to 1): encode the table under the schema of the job"
    )]
    WrongTarget,
}

/// An upper bound of a norm, from the floating-point sum of its `len` squares: relative error below
/// `len·2⁻⁵³` for the sum, and squares below 10⁻³⁰⁸ that came out as zero.
#[inline]
pub fn norm_above(sum_of_squares: f64, len: usize) -> f64 {
    let len = len as f64;
    sum_of_squares.sqrt() * (1.0 + f64::EPSILON * (len + 8.0)) + 1e-150 * len.sqrt()
}

/// An upper bound of the norm of a vector.
pub fn length_above(vector: &[f64]) -> f64 {
    norm_above(vector.iter().map(|v| v * v).sum(), vector.len())
}

impl Private {
    /// A table whose records are protected one by one. `intercept` is the constant behind the
    /// intercept, 0 for none.
    pub fn by_record(table: impl Into<Arc<Table>>, intercept: f64) -> Result<Self, TableError> {
        Private::new(table.into(), None, intercept)
    }

    /// A table whose users are protected, each with all its records.
    pub fn by_user(table: impl Into<Arc<Table>>, intercept: f64) -> Result<Self, TableError> {
        let table = table.into();
        let users = UserRecords::new(table.users.as_deref().ok_or(TableError::NoUsers)?);
        Private::new(table, Some(users), intercept)
    }

    fn new(
        table: Arc<Table>,
        users: Option<UserRecords>,
        intercept: f64,
    ) -> Result<Self, TableError> {
        let count = table.len();
        if count > MAX_RECORDS {
            return Err(TableError::TooManyRecords { allowed: MAX_RECORDS });
        }
        let norms = norms_above(&SeenRows::from(&table.rows), count, intercept);
        if !well_formed(&table.rows, &norms) {
            return Err(TableError::Malformed);
        }
        let weighs = |weights: &Vec<f64>| {
            weights.len() == count
                && threads::hold(count, |piece| {
                    weights[piece].iter().all(|weight| (0.0..=1.0).contains(weight))
                })
        };
        if !table.weights.as_ref().is_none_or(weighs) {
            return Err(TableError::WrongWeight);
        }
        Ok(Private { table, norms, users, intercept, images: None })
    }

    /// Has the images of the rows stand in for them: `images[k]`, one after the other, is that of
    /// the unit vector `k`, the constant behind the intercept being the last coordinate. `None`
    /// gives the rows back. Norms are those of the numbers that are there, whatever the images.
    pub fn set_basis(&mut self, images: Option<&[f64]>) {
        self.set_basis_within(images, most_bytes());
    }

    fn set_basis_within(&mut self, images: Option<&[f64]>, most: usize) {
        if let Some((_, norms, intercept)) = self.images.take() {
            (self.norms, self.intercept) = (norms, intercept);
        }
        let Some(images) = images else { return };
        let intercept = std::mem::replace(&mut self.intercept, 0.0);
        let images = Images::new(&self.table.rows, images, intercept, most);
        let seen = images.seen(&self.table.rows, intercept);
        let norms = norms_above(&seen, self.records(), 0.0);
        let norms = std::mem::replace(&mut self.norms, norms);
        self.images = Some((images, norms, intercept));
    }

    /// The table, for its memory to be used again; `None` while others have it too.
    pub fn into_table(self) -> Option<Table> {
        Arc::into_inner(self.table)
    }

    /// A table of the images of the rows, with the targets, weights and users of these: what
    /// [`Private::set_basis`] has stand in for the rows, to the bit. It has no constant behind it.
    pub fn into_images(self, map: &[f64]) -> Table {
        let images = Made::all_of(&self.table.rows, map, self.intercept);
        Table { rows: Rows::Dense(images), ..Arc::unwrap_or_clone(self.table) }
    }

    /// How many coordinates a row has as it came, the constant behind the intercept included.
    pub fn native_width(&self) -> usize {
        let intercept = self.images.as_ref().map_or(self.intercept, |(_, _, constant)| *constant);
        self.table.rows.columns() + usize::from(intercept != 0.0)
    }

    /// Refuses targets that `loss` does not take: what it declares of its slope and its curvature
    /// is about those alone.
    pub fn check_targets(&self, loss: &dyn Loss) -> Result<(), TableError> {
        let takes = loss.target();
        let of = |target: &f64| match takes {
            LossTarget::Binary => target.abs() == 1.0,
            LossTarget::Classes(classes) => {
                (0.0..classes as f64).contains(target) && target.fract() == 0.0
            }
            LossTarget::Real => target.abs() <= 1.0,
        };
        let targets = &self.table.targets;
        let takes_all = threads::hold(targets.len(), |piece| targets[piece].iter().all(of));
        match takes_all {
            true => Ok(()),
            false => Err(TableError::WrongTarget),
        }
    }

    /// The table, while its rows are as they came.
    pub fn native_table(&self) -> Option<&Arc<Table>> {
        self.images.is_none().then_some(&self.table)
    }

    /// The rows, or what stands in for them.
    pub fn rows(&self) -> SeenRows<'_> {
        match &self.images {
            Some((images, _, intercept)) => images.seen(&self.table.rows, *intercept),
            None => SeenRows::from(&self.table.rows),
        }
    }

    /// How many features a row has.
    pub fn features(&self) -> usize {
        self.rows().columns()
    }

    /// How many records there are.
    pub fn records(&self) -> usize {
        self.norms.len()
    }

    /// The constant behind the intercept; 0 when there is none.
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// The layout of a parameter with this many outputs.
    pub fn shape(&self, outputs: usize) -> Shape {
        Shape { features: self.features(), outputs, intercept: self.intercept != 0.0 }
    }

    /// The users, where they are what is protected.
    pub fn users(&self) -> Option<&UserRecords> {
        self.users.as_ref()
    }

    /// How many units a neighbour may differ in one of: records, or users.
    pub fn units(&self) -> usize {
        self.users.as_ref().map_or(self.records(), |users| users.bounds.len() - 1)
    }

    /// The records of a user.
    pub fn records_of(&self, user: usize) -> &[u32] {
        self.users
            .as_ref()
            .map_or(&[], |users| &users.records[users.bounds[user]..users.bounds[user + 1]])
    }

    /// The share of record `i` in the mean: each unit has the same, and shares it among its
    /// records.
    pub fn weight(&self, i: usize) -> f64 {
        let shared = match (&self.users, &self.table.users) {
            (Some(_), Some(of)) => self.records_of(of[i] as usize).len(),
            _ => 1,
        };
        1.0 / (self.units() * shared) as f64
    }

    /// The records of a unit: those of a user, or the one record.
    pub fn records_in(&self, unit: usize) -> std::borrow::Cow<'_, [u32]> {
        match &self.users {
            Some(_) => self.records_of(unit).into(),
            None => vec![unit as u32].into(),
        }
    }

    /// The target of record `i`.
    #[inline]
    pub fn target(&self, i: usize) -> f64 {
        self.table.targets[i]
    }

    /// How much each record counts, from 0 to 1; `None` where all count once. A record's loss is
    /// multiplied by it, and what is made of the loss is clipped after that.
    #[inline]
    pub fn weights(&self) -> Option<&[f64]> {
        self.table.weights.as_deref()
    }

    /// What record `i` counts.
    #[inline]
    pub fn times_weight(&self, i: usize, value: f64) -> f64 {
        self.weights().map_or(value, |weights| value * weights[i])
    }

    /// An upper bound of `‖(aᵢ, intercept)‖`.
    #[inline]
    pub fn norm_above(&self, i: usize) -> f64 {
        self.norms[i]
    }

    /// Those of several records, one after the other.
    #[inline]
    pub fn norms_above(&self, records: Range<usize>) -> &[f64] {
        &self.norms[records]
    }

    /// The targets of all records.
    pub fn targets(&self) -> &[f64] {
        &self.table.targets
    }

    /// The scores of record `i` at the parameter `at`, the intercept included.
    #[inline(always)]
    pub fn scores(&self, rows: &impl RowAccess, i: usize, at: &[f64], scores: &mut [f64]) {
        let (weights, last) = at.split_at(self.features() * scores.len());
        match scores {
            [score] => {
                *score = rows.dot(i, weights) + last.first().map_or(0.0, |b| b * self.intercept)
            }
            many => {
                many.fill(0.0);
                many.iter_mut().zip(last).for_each(|(score, b)| *score = b * self.intercept);
                rows.dot_many(i, weights, many);
            }
        }
    }
}

/// Upper bounds of `‖(aᵢ, intercept)‖`.
fn norms_above(rows: &SeenRows<'_>, count: usize, intercept: f64) -> Vec<f64> {
    let len = rows.columns() + 1;
    let mut norms = vec![0.0; count];
    let numbers = with_rows!(*rows, rows => rows.bytes_per_row()) / size_of::<f64>();
    // Each is a function of its row alone, whatever piece it is in.
    threads::fill(&mut norms, numbers, |first, norms| {
        with_rows!(*rows, rows => rows.square_norms(first, norms));
        for norm in norms {
            *norm = norm_above(*norm + intercept * intercept, len);
        }
    });
    norms
}

/// Whether sums over these rows, with bounds of their norms, can be clipped. Readers make no others; a
/// table that was never a file may have been made by anybody.
fn well_formed(rows: &Rows, norms: &[f64]) -> bool {
    let finite = |values: &[f64]| {
        threads::hold(values.len(), |piece| values[piece].iter().all(|value| value.is_finite()))
    };
    match rows {
        // The square of what is not finite is not either, and no sum that it is in.
        Rows::Dense(Dense { rows, columns, values }) => {
            (values.len() == rows * columns && finite(norms)) || finite(values)
        }
        Rows::Sparse(rows) => {
            let ascends = |indices: &[u32]| {
                indices.is_sorted_by(|a, b| a < b)
                    && indices.last().is_none_or(|&last| (last as usize) < rows.columns)
            };
            let all_ascend = |mut piece: Range<usize>| piece.all(|i| ascends(rows.row(i).0));
            finite(&rows.values) && threads::hold(rows.rows(), all_ascend)
        }
    }
}

impl UserRecords {
    /// A counting sort of the records by user; users are numbered from 0 without gaps.
    fn new(of: &[u32]) -> Self {
        let count = of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut bounds = vec![0; count + 1];
        of.iter().for_each(|&user| bounds[user as usize + 1] += 1);
        (0..count).for_each(|user| bounds[user + 1] += bounds[user]);
        let mut next = bounds.clone();
        let mut records = vec![0; of.len()];
        for (record, &user) in of.iter().enumerate() {
            records[next[user as usize]] = record as u32;
            next[user as usize] += 1;
        }
        UserRecords { bounds, records }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pass::{Ask, Pass, Slopes};
    use super::*;
    use reticent_data::{Csr, Dense};
    use reticent_problem::losses;

    fn table(sparse: bool) -> Table {
        let value = |at: usize| ((at * 37 + 11) % 23) as f64 / 11.0 - 1.0;
        let rows = if sparse {
            Rows::Sparse(Csr {
                indptr: (0..=20).map(|i| 2 * i).collect(),
                indices: (0..20).flat_map(|i| [i % 2, 2 + i % 3]).collect(),
                values: (0..40).map(value).collect(),
                columns: 5,
            })
        } else {
            Rows::Dense(Dense { rows: 20, columns: 5, values: (0..100).map(value).collect() })
        };
        Table {
            rows,
            targets: (0..20).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect(),
            users: Some((0..20).map(|i| i / 4).collect()),
            weights: None,
            names: vec!["x".to_owned(); 5],
        }
    }

    /// Images that are made whenever they are looked at are those that are kept, to the bit.
    #[test]
    fn images_are_the_same_whether_they_are_kept_or_not() {
        let map: Vec<f64> = (0..36).map(|at| ((at * 29 + 7) % 17) as f64 / 8.0 - 1.0).collect();
        let loss = losses::parse("logistic", None).unwrap();
        for (sparse, by_user) in [(false, false), (true, false), (false, true), (true, true)] {
            let sums: Vec<_> = [usize::MAX, 0]
                .into_iter()
                .map(|most| {
                    let mut private = match by_user {
                        true => Private::by_user(table(sparse), 0.3).unwrap(),
                        false => Private::by_record(table(sparse), 0.3).unwrap(),
                    };
                    private.set_basis_within(Some(&map), most);
                    let ask = Ask {
                        private: &private,
                        loss: &*loss,
                        slopes: Slopes::At(&[0.3, -0.2, 0.5, 0.1, 0.0, -0.4]),
                        clip: 0.7,
                        chosen: None,
                    };
                    let mut out = vec![0; 6];
                    Pass::default().clipped_sum(&ask, &mut out);
                    (out, private.norms.clone(), private.native_width())
                })
                .collect();
            assert_eq!(sums[0], sums[1], "sparse {sparse}, users {by_user}");
            assert!(sums[0].0.iter().any(|sum| *sum != 0));
        }
    }

    /// Sums on the grid are exact up to so many; rows without columns take no memory.
    #[test]
    fn more_records_than_a_sum_can_hold_are_refused() {
        let rows = Rows::Dense(Dense { rows: MAX_RECORDS + 1, columns: 0, values: Vec::new() });
        let table =
            Table { rows, targets: Vec::new(), users: None, weights: None, names: Vec::new() };
        let refused = Private::by_record(table, 0.0);
        assert!(matches!(refused, Err(TableError::TooManyRecords { allowed: MAX_RECORDS })));
    }

    /// Squares that a sum in floating point loses one by one, and squares that are zero in it.
    #[test]
    fn a_norm_is_never_below_the_true_one() {
        let (many, small) = (1_000_000_u32, 1e-17);
        let sum = (0..many).fold(1.0, |sum, _| sum + small);
        assert_eq!(sum, 1.0, "each is below half a unit in the last place");
        let truth = (1.0 + f64::from(many) * small).sqrt();
        assert!(norm_above(sum, many as usize + 1) >= truth && truth > 1.0);

        let tiny = 1.5e-162_f64;
        assert_eq!(tiny * tiny, 0.0);
        assert!(norm_above(0.0, 10_000) >= tiny * 100.0);
        assert!(norm_above(1.0, 4) < 1.0 + 1e-14, "and not far above it");
    }
}
