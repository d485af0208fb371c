//! Places in a sparse matrix, in the integers that other programs have them in.

use std::borrow::Cow;

/// Row starts or columns of a sparse matrix, counted from 0. SciPy has them as `i32` or `i64`, Rust
/// as `usize` or `u32`; all are read where they are.
#[derive(Clone, Debug)]
pub enum Indices<'a> {
    /// As `i32`.
    I32(Cow<'a, [i32]>),
    /// As `i64`.
    I64(Cow<'a, [i64]>),
    /// As `u32`.
    U32(Cow<'a, [u32]>),
    /// As `usize`.
    Usize(Cow<'a, [usize]>),
}

impl Indices<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Indices::I32(all) => all.len(),
            Indices::I64(all) => all.len(),
            Indices::U32(all) => all.len(),
            Indices::Usize(all) => all.len(),
        }
    }

    /// Number `i`; a negative one is beyond every matrix.
    pub(super) fn at(&self, i: usize) -> usize {
        match self {
            Indices::I32(all) => usize::try_from(all[i]).unwrap_or(usize::MAX),
            Indices::I64(all) => usize::try_from(all[i]).unwrap_or(usize::MAX),
            Indices::U32(all) => all[i] as usize,
            Indices::Usize(all) => all[i],
        }
    }
}

macro_rules! integers {
    ($($variant:ident $of:ty,)*) => { $(
        impl<'a> From<&'a [$of]> for Indices<'a> {
            fn from(all: &'a [$of]) -> Self { Indices::$variant(all.into()) }
        }
        impl<'a> From<&'a Vec<$of>> for Indices<'a> {
            fn from(all: &'a Vec<$of>) -> Self { Indices::$variant(all.into()) }
        }
        impl<'a, const N: usize> From<&'a [$of; N]> for Indices<'a> {
            fn from(all: &'a [$of; N]) -> Self { Indices::$variant((&all[..]).into()) }
        }
        impl From<Vec<$of>> for Indices<'_> {
            fn from(all: Vec<$of>) -> Self { Indices::$variant(all.into()) }
        }
    )* };
}

integers! {
    I32 i32,
    I64 i64,
    U32 u32,
    Usize usize,
}

/// Whether the parts make a matrix; otherwise why not, without a word about any value.
pub(super) fn check(
    indptr: &Indices<'_>,
    indices: &Indices<'_>,
    values: usize,
    columns: usize,
) -> Result<(), String> {
    if indices.len() != values {
        return Err("its sparse rows have not as many columns as values".to_owned());
    }
    if indptr.len() == 0 || indptr.at(0) != 0 || indptr.at(indptr.len() - 1) != values {
        return Err("its row starts do not go from 0 to the number of values".to_owned());
    }
    let mut row = Vec::new();
    for i in 1..indptr.len() {
        let (from, to) = (indptr.at(i - 1), indptr.at(i));
        if from > to || to > values {
            return Err("its row starts do not ascend".to_owned());
        }
        row.clear();
        row.extend((from..to).map(|at| indices.at(at)));
        if row.iter().any(|&column| column >= columns) {
            return Err(format!("a sparse row has a column beyond the {columns} that there are"));
        }
        if !row.is_sorted() {
            row.sort_unstable();
        }
        if row.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("a sparse row has a column twice".to_owned());
        }
    }
    Ok(())
}
