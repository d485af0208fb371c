//! A table that a caller has in memory, before it is encoded.
//!
//! The same encoder reads it as reads files, so the same values give the same table. Nothing is
//! read off the values: what they may be is declared by the [`Schema`], and they are clipped to it.
//!
//! **Copies.** Slices are read where they are; a `Vec` is taken as it is. What is made is the
//! encoded table, once, with room for all rows reserved before the first: 8 bytes a value of a dense
//! matrix, 12 of a sparse one, 8 a target and 4 an owner.

#[cfg(feature = "arrow")]
mod arrow;
mod content;
mod indices;
#[cfg(feature = "ndarray")]
mod ndarray;
mod read;

use std::borrow::Cow;
use std::fmt;

#[cfg(feature = "arrow")]
use arrow_array::RecordBatch;

use crate::error::FileProblem;
use crate::{Cell, DataError};
pub use content::visit_content;
pub use indices::Indices;
pub use read::{encode, encode_dealt, visit_dataset};

/// What messages call it.
const NAME: &str = "the dataset";

/// Rows as a caller has them, with their targets and owners.
///
/// # Examples
/// ```
/// use reticent_data::{Dataset, Schema, Target, encode};
/// let x = [25.0, 120.0, 50.0, 140.0];
/// let data = Dataset::dense(&x[..], 2, 2)?.with_targets(&["no", "yes"])?;
/// let bounds = [(0.0, 100.0), (80.0, 200.0)];
/// let schema = Schema::bounded(&bounds, Target::classes(["no", "yes"])?)?;
/// let table = encode(&data, &schema)?;
/// assert_eq!(table.rows.dense_row(1), [0.0, 0.0]);
/// assert_eq!(table.targets, [-1.0, 1.0]);
/// # Ok::<(), reticent_data::DataError>(())
/// ```
#[derive(Clone)]
pub struct Dataset<'a> {
    features: Features<'a>,
    /// The names of the columns; without them they are in the order of the schema.
    names: Option<Vec<String>>,
    targets: Option<Targets<'a>>,
    owners: Option<Owners<'a>>,
    /// With which party each row is.
    parties: Option<Owners<'a>>,
    weights: Option<Cow<'a, [f64]>>,
}

/// Not derived: it would show the rows.
impl fmt::Debug for Dataset<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Dataset({} columns)", self.columns())
    }
}

/// The columns, as they are laid out.
#[derive(Clone)]
enum Features<'a> {
    RowMajor {
        values: Cow<'a, [f64]>,
        rows: usize,
        columns: usize,
    },
    ColumnMajor {
        values: Cow<'a, [f64]>,
        rows: usize,
        columns: usize,
    },
    Csr {
        indptr: Indices<'a>,
        indices: Indices<'a>,
        values: Cow<'a, [f64]>,
        columns: usize,
    },
    #[cfg(feature = "arrow")]
    Arrow(Cow<'a, [RecordBatch]>),
}

/// What is predicted, one for each row.
#[derive(Clone)]
pub enum Targets<'a> {
    /// Numbers; under a schema with classes, labels that are numbers.
    Numbers(Cow<'a, [f64]>),
    /// Places among the classes of the schema, from 0.
    Classes(Cow<'a, [u32]>),
    /// Labels, as the schema spells them.
    Labels(Vec<Cow<'a, str>>),
}

/// Whose each row is.
#[derive(Clone)]
pub enum Owners<'a> {
    /// Numbers that stand for persons.
    Ids(Cow<'a, [u64]>),
    /// The same with a sign.
    Signed(Cow<'a, [i64]>),
    /// The same as floating-point numbers, which must be whole and exact.
    Reals(Cow<'a, [f64]>),
    /// Names that stand for persons.
    Names(Vec<Cow<'a, str>>),
    /// Ids of any kind, and the place of each row's among them. An id may stand there twice.
    Coded(Vec<Owner<'a>>, Cow<'a, [u32]>),
}

/// An id, as a caller has it.
#[derive(Clone)]
pub enum Owner<'a> {
    /// A text; an integer in decimal digits is that integer.
    Name(Cow<'a, str>),
    /// A floating-point number.
    Real(f64),
}

impl Owners<'_> {
    /// The id of a row.
    fn cell(&self, at: usize) -> Cell<'_> {
        match self {
            Owners::Ids(all) => Cell::Whole(i128::from(all[at])),
            Owners::Signed(all) => Cell::Whole(i128::from(all[at])),
            Owners::Reals(all) => Cell::Number(all[at]),
            Owners::Names(all) => Cell::Text(all[at].as_bytes()),
            Owners::Coded(ids, places) => match &ids[places[at] as usize] {
                Owner::Name(name) => Cell::Text(name.as_bytes()),
                Owner::Real(x) => Cell::Number(*x),
            },
        }
    }
}

impl<'a> Dataset<'a> {
    fn of(features: Features<'a>) -> Self {
        Dataset { features, names: None, targets: None, owners: None, parties: None, weights: None }
    }

    /// A matrix whose rows stand one behind the other (C order).
    ///
    /// # Errors
    /// If there are not `rows × columns` values.
    pub fn dense(
        values: impl Into<Cow<'a, [f64]>>,
        rows: usize,
        columns: usize,
    ) -> Result<Self, DataError> {
        let values = sized(values.into(), rows, columns)?;
        Ok(Self::of(Features::RowMajor { values, rows, columns }))
    }

    /// A matrix whose columns stand one behind the other (Fortran order).
    ///
    /// # Errors
    /// If there are not `rows × columns` values.
    pub fn dense_by_column(
        values: impl Into<Cow<'a, [f64]>>,
        rows: usize,
        columns: usize,
    ) -> Result<Self, DataError> {
        let values = sized(values.into(), rows, columns)?;
        Ok(Self::of(Features::ColumnMajor { values, rows, columns }))
    }

    /// A matrix in compressed sparse rows: row `i` has its values at `indptr[i]..indptr[i + 1]`.
    /// The columns of a row need not ascend.
    ///
    /// # Errors
    /// If the three do not make a matrix, or a column is beyond `columns` or occurs twice in a row.
    pub fn csr(
        indptr: impl Into<Indices<'a>>,
        indices: impl Into<Indices<'a>>,
        values: impl Into<Cow<'a, [f64]>>,
        columns: usize,
    ) -> Result<Self, DataError> {
        let (indptr, indices, values) = (indptr.into(), indices.into(), values.into());
        indices::check(&indptr, &indices, values.len(), columns).map_err(shape)?;
        Ok(Self::of(Features::Csr { indptr, indices, values, columns }))
    }

    /// Arrow record batches, read as a Parquet file with these columns would be. The target and the
    /// owners are columns of theirs, or given beside them.
    ///
    /// # Errors
    /// If there is no batch, or they differ in their columns.
    #[cfg(feature = "arrow")]
    pub fn arrow(batches: impl Into<Cow<'a, [RecordBatch]>>) -> Result<Self, DataError> {
        let batches = batches.into();
        let names = arrow::names(&batches).map_err(shape)?;
        Ok(Dataset { names: Some(names), ..Self::of(Features::Arrow(batches)) })
    }

    /// The names of the columns, by which the schema then finds them in any order.
    ///
    /// # Errors
    /// If there are not as many as columns.
    pub fn with_names<S: Into<String>>(
        mut self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<Self, DataError> {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let columns = self.columns();
        if names.len() != columns {
            return Err(shape(format!("there are {} names for {columns} columns", names.len())));
        }
        self.names = Some(names);
        Ok(self)
    }

    /// What is predicted: numbers, places among the classes, or labels.
    ///
    /// # Errors
    /// If there are not as many as rows.
    pub fn with_targets(mut self, targets: impl Into<Targets<'a>>) -> Result<Self, DataError> {
        let targets = targets.into();
        self.as_many(targets.len(), "targets")?;
        self.targets = Some(targets);
        Ok(self)
    }

    /// Whose each row is.
    ///
    /// # Errors
    /// If there are not as many as rows.
    pub fn with_owners(mut self, owners: impl Into<Owners<'a>>) -> Result<Self, DataError> {
        self.owners = Some(self.ids(owners.into(), "owners")?);
        Ok(self)
    }

    /// With which party each row is, where [`Dataset::with_owners`] says whose it is: a person is then
    /// a person within a party.
    ///
    /// # Errors
    /// If there are not as many as rows.
    pub fn with_parties(mut self, parties: impl Into<Owners<'a>>) -> Result<Self, DataError> {
        self.parties = Some(self.ids(parties.into(), "parties")?);
        Ok(self)
    }

    fn ids(&self, ids: Owners<'a>, what: &str) -> Result<Owners<'a>, DataError> {
        self.as_many(ids.len(), what)?;
        if let Owners::Coded(known, places) = &ids
            && places.iter().any(|&place| place as usize >= known.len())
        {
            return Err(shape(format!(
                "one of the {what} has a place beyond the ids that there are"
            )));
        }
        Ok(ids)
    }

    /// How much each row counts; the schema says the largest weight.
    ///
    /// # Errors
    /// If there are not as many as rows.
    pub fn with_weights(mut self, weights: impl Into<Cow<'a, [f64]>>) -> Result<Self, DataError> {
        let weights = weights.into();
        self.as_many(weights.len(), "weights")?;
        self.weights = Some(weights);
        Ok(self)
    }

    fn as_many(&self, given: usize, what: &str) -> Result<(), DataError> {
        // How many rows there are may be private, and is the caller's to know.
        if given == self.rows() {
            return Ok(());
        }
        Err(shape(format!("there is not one of the {what} for each row")))
    }

    fn rows(&self) -> usize {
        match &self.features {
            Features::RowMajor { rows, .. } | Features::ColumnMajor { rows, .. } => *rows,
            Features::Csr { indptr, .. } => indptr.len() - 1,
            #[cfg(feature = "arrow")]
            Features::Arrow(batches) => batches.iter().map(RecordBatch::num_rows).sum(),
        }
    }

    fn columns(&self) -> usize {
        match &self.features {
            Features::RowMajor { columns, .. }
            | Features::ColumnMajor { columns, .. }
            | Features::Csr { columns, .. } => *columns,
            #[cfg(feature = "arrow")]
            Features::Arrow(batches) => batches[0].num_columns(),
        }
    }
}

fn shape(what: String) -> DataError {
    DataError::file(NAME, FileProblem::Shape(what))
}

/// The values, if they are a matrix of this size.
fn sized(values: Cow<'_, [f64]>, rows: usize, columns: usize) -> Result<Cow<'_, [f64]>, DataError> {
    if rows.checked_mul(columns) == Some(values.len()) {
        return Ok(values);
    }
    Err(shape(format!("its values are not rows of {columns} columns, as many as were said")))
}

impl Targets<'_> {
    fn len(&self) -> usize {
        match self {
            Targets::Numbers(all) => all.len(),
            Targets::Classes(all) => all.len(),
            Targets::Labels(all) => all.len(),
        }
    }
}

impl Owners<'_> {
    fn len(&self) -> usize {
        match self {
            Owners::Ids(all) => all.len(),
            Owners::Signed(all) => all.len(),
            Owners::Reals(all) => all.len(),
            Owners::Names(all) => all.len(),
            Owners::Coded(_, places) => places.len(),
        }
    }
}

/// Slices, arrays and vectors of what a column may be.
macro_rules! columns {
    ($($type:ident $variant:ident $of:ty,)*) => { $(
        impl<'a> From<&'a [$of]> for $type<'a> {
            fn from(all: &'a [$of]) -> Self { $type::$variant(all.into()) }
        }
        impl<'a> From<&'a Vec<$of>> for $type<'a> {
            fn from(all: &'a Vec<$of>) -> Self { $type::$variant(all.into()) }
        }
        impl<'a, const N: usize> From<&'a [$of; N]> for $type<'a> {
            fn from(all: &'a [$of; N]) -> Self { $type::$variant((&all[..]).into()) }
        }
        impl From<Vec<$of>> for $type<'_> {
            fn from(all: Vec<$of>) -> Self { $type::$variant(all.into()) }
        }
    )* };
}

columns! {
    Targets Numbers f64,
    Targets Classes u32,
    Owners Ids u64,
    Owners Signed i64,
    Owners Reals f64,
}

/// The same of text.
macro_rules! texts {
    ($($type:ident $variant:ident $of:ty,)*) => { $(
        impl<'a> From<&'a [$of]> for $type<'a> {
            fn from(all: &'a [$of]) -> Self {
                $type::$variant(all.iter().map(|text| (&**text).into()).collect())
            }
        }
        impl<'a> From<&'a Vec<$of>> for $type<'a> {
            fn from(all: &'a Vec<$of>) -> Self { all.as_slice().into() }
        }
        impl<'a, const N: usize> From<&'a [$of; N]> for $type<'a> {
            fn from(all: &'a [$of; N]) -> Self { all.as_slice().into() }
        }
    )* };
}

texts! {
    Targets Labels &'a str,
    Targets Labels String,
    Owners Names &'a str,
    Owners Names String,
}
