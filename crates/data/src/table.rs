//! Encoded rows with their targets and owners.

use crate::{Csr, Dense};
use std::collections::TryReserveError;
use std::mem::size_of;

/// The features, dense or sparse. Which of the two is decided by the schema alone, never by the
/// data.
#[derive(Debug, Clone, PartialEq)]
pub enum Rows {
    /// All entries, row by row.
    Dense(Dense),
    /// Compressed sparse rows.
    Sparse(Csr),
}

impl Rows {
    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Dense(m) => m.rows,
            Self::Sparse(m) => m.rows(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of encoded columns, without an intercept.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense(m) => m.columns,
            Self::Sparse(m) => m.columns,
        }
    }

    /// A copy of row `i`, zeros written out. For tests and small work; a pass over the data uses
    /// the arrays.
    pub fn dense_row(&self, i: usize) -> Vec<f64> {
        match self {
            Self::Dense(m) => m.row(i).to_vec(),
            Self::Sparse(m) => {
                let mut out = vec![0.0; m.columns];
                let (indices, values) = m.row(i);
                for (&j, &v) in indices.iter().zip(values) {
                    out[j as usize] = v;
                }
                out
            }
        }
    }

    /// Appends a row, or says that there is no memory for it.
    pub(crate) fn push(&mut self, indices: &[u32], values: &[f64]) -> Result<(), TryReserveError> {
        match self {
            Self::Dense(m) => {
                m.values.try_reserve(m.columns)?;
                m.push_sparse(indices, values);
            }
            Self::Sparse(m) => {
                m.indptr.try_reserve(1)?;
                m.indices.try_reserve(indices.len())?;
                m.values.try_reserve(values.len())?;
                m.push(indices, values);
            }
        }
        Ok(())
    }

    /// Puts the rows of another matrix of this shape behind these.
    fn append(&mut self, more: &Self) -> Result<(), TryReserveError> {
        match (self, more) {
            (Self::Dense(m), Self::Dense(more)) => {
                m.values.try_reserve(more.values.len())?;
                m.values.extend_from_slice(&more.values);
                m.rows += more.rows;
            }
            (Self::Sparse(m), Self::Sparse(more)) => {
                m.indptr.try_reserve(more.rows())?;
                m.indices.try_reserve(more.indices.len())?;
                m.values.try_reserve(more.values.len())?;
                let before = m.indices.len();
                m.indptr.extend(more.indptr[1..].iter().map(|&end| before + end));
                m.indices.extend_from_slice(&more.indices);
                m.values.extend_from_slice(&more.values);
            }
            _ => unreachable!("the schema alone says which of the two it is"),
        }
        Ok(())
    }
}

/// What a file becomes. Rows carry no intercept constant and have norm at most the schema's row
/// norm.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The features of each record.
    pub rows: Rows,
    /// One per row; empty when the table was read for prediction. Two classes are −1 and +1, more
    /// classes are 0, 1, 2, …, a range is scaled to [−1, 1].
    pub targets: Vec<f64>,
    /// Owner of each row as 0, 1, 2, … in byte order of the ids, when there is a user column.
    pub users: Option<Vec<u32>>,
    /// How much each row counts, from 0 to 1, when there is a column of weights.
    pub weights: Option<Vec<f64>>,
    /// Names of the encoded columns.
    pub names: Vec<String>,
}

/// Without rows and columns.
impl Default for Table {
    fn default() -> Self {
        let rows = Rows::Dense(Dense::default());
        Table { rows, targets: Vec::new(), users: None, weights: None, names: Vec::new() }
    }
}

impl Table {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of different owners; the number of rows when there is no user column.
    pub fn user_count(&self) -> usize {
        match &self.users {
            Some(users) => users.iter().max().map_or(0, |&u| u as usize + 1),
            None => self.len(),
        }
    }

    /// Puts the rows of another table under the same schema behind these; `owners` has the numbers
    /// here of the owners there.
    pub(crate) fn append(&mut self, more: &Self, owners: &[u32]) -> Result<(), TryReserveError> {
        self.rows.append(&more.rows)?;
        self.targets.try_reserve(more.targets.len())?;
        self.targets.extend_from_slice(&more.targets);
        if let (Some(users), Some(more)) = (&mut self.users, &more.users) {
            users.try_reserve(more.len())?;
            users.extend(more.iter().map(|&user| owners[user as usize]));
        }
        if let (Some(weights), Some(more)) = (&mut self.weights, &more.weights) {
            weights.try_reserve(more.len())?;
            weights.extend_from_slice(more);
        }
        Ok(())
    }

    /// Bytes of what is stored.
    pub(crate) fn stored(&self) -> usize {
        let rows = match &self.rows {
            Rows::Dense(m) => m.values.len() * size_of::<f64>(),
            Rows::Sparse(m) => m.indptr.len() * size_of::<usize>() + 12 * m.indices.len(),
        };
        rows + self.targets.len() * size_of::<f64>()
    }

    /// Leaves no row, and the memory for others.
    pub(crate) fn clear(&mut self) {
        match &mut self.rows {
            Rows::Dense(m) => {
                m.rows = 0;
                m.values.clear();
            }
            Rows::Sparse(m) => {
                m.indptr.truncate(1);
                m.indices.clear();
                m.values.clear();
            }
        }
        self.targets.clear();
        self.users.iter_mut().for_each(Vec::clear);
        self.weights.iter_mut().for_each(Vec::clear);
    }

    /// Puts row `i` of another table behind these, with this owner or its own. An empty table becomes
    /// like the other.
    pub fn push_row(&mut self, from: &Self, i: usize, owner: Option<u32>) {
        if self.is_empty() {
            self.become_like(from, owner.is_some());
        }
        match (&mut self.rows, &from.rows) {
            (Rows::Dense(m), Rows::Dense(from)) => {
                m.values.extend_from_slice(from.row(i));
                m.rows += 1;
            }
            (Rows::Sparse(m), Rows::Sparse(from)) => {
                let (indices, values) = from.row(i);
                m.push(indices, values);
            }
            _ => unreachable!("the schema alone says which of the two it is"),
        }
        self.targets.extend(from.targets.get(i));
        let owner = owner.or_else(|| Some(from.users.as_ref()?[i]));
        self.users.iter_mut().for_each(|users| users.extend(owner));
        let weight = from.weights.as_ref().map(|weights| weights[i]);
        self.weights.iter_mut().for_each(|weights| weights.extend(weight));
    }

    fn become_like(&mut self, from: &Self, owned: bool) {
        match (&mut self.rows, &from.rows) {
            (Rows::Dense(m), Rows::Dense(from)) => m.columns = from.columns,
            (Rows::Sparse(m), Rows::Sparse(from)) => m.columns = from.columns,
            (rows, Rows::Dense(from)) => *rows = Rows::Dense(Dense::empty(from.columns)),
            (rows, Rows::Sparse(from)) => *rows = Rows::Sparse(Csr::empty(from.columns)),
        }
        let owned = owned || from.users.is_some();
        self.users = owned.then(|| self.users.take().unwrap_or_default());
        self.weights = from.weights.is_some().then(|| self.weights.take().unwrap_or_default());
    }

    /// Bytes that the arrays hold.
    pub fn bytes(&self) -> usize {
        let rows = match &self.rows {
            Rows::Dense(m) => m.values.capacity() * size_of::<f64>(),
            Rows::Sparse(m) => {
                m.indptr.capacity() * size_of::<usize>()
                    + m.indices.capacity() * size_of::<u32>()
                    + m.values.capacity() * size_of::<f64>()
            }
        };
        let users = self.users.as_ref().map_or(0, |u| u.capacity() * size_of::<u32>());
        let weights = self.weights.as_ref().map_or(0, Vec::capacity);
        rows + users + (self.targets.capacity() + weights) * size_of::<f64>()
    }

    /// Gives spare capacity back.
    ///
    /// While a table grows its arrays are enlarged by the allocator's `realloc`, which for large
    /// blocks moves pages instead of copying them, so the spare part is address space and not
    /// memory. Reading the file twice to know its length first would cost a second decompression.
    pub(crate) fn shrink(&mut self) {
        match &mut self.rows {
            Rows::Dense(m) => m.values.shrink_to_fit(),
            Rows::Sparse(m) => {
                m.indptr.shrink_to_fit();
                m.indices.shrink_to_fit();
                m.values.shrink_to_fit();
            }
        }
        self.targets.shrink_to_fit();
        if let Some(users) = &mut self.users {
            users.shrink_to_fit();
        }
        if let Some(weights) = &mut self.weights {
            weights.shrink_to_fit();
        }
    }
}
