//! Some rows of a table as bytes, and back: features, targets, weights and owners, all of them to
//! the bit.

use super::bytes::{Bytes, put_length, put_whole};
use super::narrow::{pack, unpack};
use crate::{Csr, Dense, Rows, Table};

/// What a block has beside its rows.
const SPARSE: u8 = 1;
const TARGETS: u8 = 2;
const WEIGHTS: u8 = 4;
const OWNERS: u8 = 8;

/// The bytes of a block. Names are not in it: they are the schema's.
pub(super) fn write(table: &Table, out: &mut Vec<u8>) {
    let Table { rows, targets, users, weights, .. } = table;
    let flag = |is: bool, flag: u8| if is { flag } else { 0 };
    out.push(
        flag(matches!(rows, Rows::Sparse(_)), SPARSE)
            | flag(!targets.is_empty(), TARGETS)
            | flag(weights.is_some(), WEIGHTS)
            | flag(users.is_some(), OWNERS),
    );
    put_length(rows.len(), out);
    put_length(rows.columns(), out);
    match rows {
        Rows::Dense(rows) => pack(&rows.values, rows.columns, out),
        Rows::Sparse(rows) => {
            put_whole(rows.indptr.windows(2).map(|ends| (ends[1] - ends[0]) as u32), out);
            put_whole(rows.indices.iter().copied(), out);
            pack(&rows.values, 1, out);
        }
    }
    pack(targets, 1, out);
    weights.iter().for_each(|weights| pack(weights, 1, out));
    users.iter().for_each(|users| put_whole(users.iter().copied(), out));
}

/// Reads a block into `table`, whose memory is used again; `None` where the bytes are none.
pub(super) fn read(bytes: &[u8], table: &mut Table) -> Option<()> {
    let mut bytes = Bytes::new(bytes);
    let flags = bytes.byte()?;
    let has = |flag: u8| flags & flag != 0;
    let (count, columns) = (bytes.length()?, bytes.length()?);
    let rows = std::mem::replace(&mut table.rows, Rows::Dense(Dense::default()));
    table.rows = match has(SPARSE) {
        true => Rows::Sparse(read_sparse(&mut bytes, (count, columns), rows)?),
        false => {
            let mut values = match rows {
                Rows::Dense(rows) => rows.values,
                Rows::Sparse(rows) => rows.values,
            };
            unpack(&mut bytes, count, columns, &mut values)?;
            Rows::Dense(Dense { rows: count, columns, values })
        }
    };
    table.targets.clear();
    if has(TARGETS) {
        unpack(&mut bytes, count, 1, &mut table.targets)?;
    }
    match has(WEIGHTS) {
        true => unpack(&mut bytes, count, 1, table.weights.get_or_insert_default())?,
        false => table.weights = None,
    }
    match has(OWNERS) {
        true => {
            let users = table.users.get_or_insert_default();
            users.clear();
            bytes.whole(count, |user| users.push(user))?;
        }
        false => table.users = None,
    }
    bytes.is_empty().then_some(())
}

fn read_sparse(bytes: &mut Bytes<'_>, (count, columns): (usize, usize), used: Rows) -> Option<Csr> {
    let mut rows = match used {
        Rows::Sparse(rows) => Csr { columns, ..rows },
        Rows::Dense(_) => Csr::empty(columns),
    };
    let Csr { indptr, indices, values, .. } = &mut rows;
    indptr.clear();
    indptr.push(0);
    let mut end = 0_usize;
    bytes.whole(count, |length| {
        end += length as usize;
        indptr.push(end);
    })?;
    indices.clear();
    bytes.whole(end, |index| indices.push(index))?;
    unpack(bytes, end, 1, values)?;
    Some(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables() -> Vec<Table> {
        let value = |at: usize| ((at * 37 + 11) % 23) as f64 / 11.0 - 1.0;
        let dense = Dense { rows: 30, columns: 4, values: (0..120).map(value).collect() };
        let mut sparse = Csr::empty(70_000);
        for i in 0..30_u32 {
            let indices: Vec<u32> = (0..i % 4).map(|k| i + 20_000 * k).collect();
            let values: Vec<f64> = indices.iter().map(|&k| value(k as usize)).collect();
            sparse.push(&indices, &values);
        }
        let table = |rows, users, weights| Table {
            rows,
            targets: (0..30).map(|i| value(i).signum()).collect(),
            users,
            weights,
            names: Vec::new(),
        };
        let weights = Some((0..30).map(|i| i as f64 / 30.0).collect());
        vec![
            table(Rows::Dense(dense.clone()), None, weights.clone()),
            table(Rows::Sparse(sparse.clone()), Some((0..30).map(|i| i * 9000).collect()), None),
            table(Rows::Dense(dense), Some((0..30).collect()), None),
            table(Rows::Sparse(sparse), None, weights),
            table(Rows::Dense(Dense { rows: 30, columns: 0, values: Vec::new() }), None, None),
        ]
    }

    #[test]
    fn a_block_comes_back_whatever_was_read_before_it() {
        let mut read_into = tables().remove(1);
        for table in tables() {
            let mut bytes = Vec::new();
            write(&table, &mut bytes);
            read(&bytes, &mut read_into).unwrap();
            assert_eq!(read_into, table);
        }
    }

    #[test]
    fn bytes_that_are_no_block_are_told() {
        for table in tables() {
            let mut bytes = Vec::new();
            write(&table, &mut bytes);
            for end in 0..bytes.len() {
                assert!(read(&bytes[..end], &mut table.clone()).is_none(), "{end}");
            }
            bytes.push(0);
            assert!(read(&bytes, &mut table.clone()).is_none());
        }
    }
}
