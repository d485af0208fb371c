//! The private table, opened. Nothing outside this crate can name what is in here.

use reticent_accountant::Unit;
use reticent_data::{Rows, Table};
use reticent_problem::Shape;

use crate::grid::MAX_RECORDS;
use crate::refusal::Refusal;
use crate::rows::RowAccess;

/// A table together with what every pass needs: upper bounds of the row norms and the users' records.
#[derive(Debug)]
pub(crate) struct Private {
    table: Table,
    /// Upper bounds of `‖(aᵢ, intercept)‖`.
    norms: Vec<f64>,
    users: Option<Users>,
    /// The constant behind the intercept; 0 when there is none. It counts in the norm of the row.
    intercept: f64,
}

/// The records of each user, as one list with bounds.
#[derive(Debug)]
pub(crate) struct Users {
    bounds: Vec<usize>,
    records: Vec<u32>,
}

/// An upper bound of a norm, from the floating-point sum of its `len` squares: relative error below
/// `len·2⁻⁵³` for the sum, and squares below 10⁻³⁰⁸ that came out as zero.
#[inline]
pub(crate) fn norm_above(sum_of_squares: f64, len: usize) -> f64 {
    let len = len as f64;
    sum_of_squares.sqrt() * (1.0 + f64::EPSILON * (len + 8.0)) + 1e-150 * len.sqrt()
}

impl Private {
    pub fn new(table: Table, unit: Unit, intercept: f64) -> Result<Self, Refusal> {
        let count = table.len();
        if count > MAX_RECORDS {
            return Err(Refusal::TooManyRecords { allowed: MAX_RECORDS });
        }
        let square = |i| match &table.rows {
            Rows::Dense(rows) => rows.square_norm(i),
            Rows::Sparse(rows) => rows.square_norm(i),
        };
        let len = table.rows.columns() + 1;
        let norms = (0..count).map(|i| norm_above(square(i) + intercept * intercept, len)).collect();
        let users = match unit {
            Unit::Record => None,
            Unit::User => Some(Users::new(table.users.as_deref().ok_or(Refusal::NoUsers)?)),
        };
        Ok(Private { table, norms, users, intercept })
    }

    pub fn rows(&self) -> &Rows {
        &self.table.rows
    }

    pub fn features(&self) -> usize {
        self.table.rows.columns()
    }

    pub fn records(&self) -> usize {
        self.norms.len()
    }

    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    pub fn shape(&self, outputs: usize) -> Shape {
        Shape { features: self.features(), outputs, intercept: self.intercept != 0.0 }
    }

    pub fn users(&self) -> Option<&Users> {
        self.users.as_ref()
    }

    /// How many units a neighbour may differ in one of: records, or users.
    pub fn units(&self) -> usize {
        self.users.as_ref().map_or(self.records(), |users| users.bounds.len() - 1)
    }

    pub fn records_of(&self, user: usize) -> &[u32] {
        self.users.as_ref().map_or(&[], |users| &users.records[users.bounds[user]..users.bounds[user + 1]])
    }

    /// The weight of record `i` in the mean: each unit has the same, and shares it among its records.
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

    #[inline]
    pub fn target(&self, i: usize) -> f64 {
        self.table.targets[i]
    }

    #[inline]
    pub fn norm_above(&self, i: usize) -> f64 {
        self.norms[i]
    }

    /// The scores of record `i` at the parameter `at`, the intercept included.
    #[inline(always)]
    pub fn scores(&self, rows: &impl RowAccess, i: usize, at: &[f64], scores: &mut [f64]) {
        let (weights, last) = at.split_at(self.features() * scores.len());
        match scores {
            [score] => *score = rows.dot(i, weights) + last.first().map_or(0.0, |b| b * self.intercept),
            many => {
                many.fill(0.0);
                many.iter_mut().zip(last).for_each(|(score, b)| *score = b * self.intercept);
                rows.dot_many(i, weights, many);
            }
        }
    }
}

impl Users {
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
        Users { bounds, records }
    }
}
