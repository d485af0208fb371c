//! A table that grows by records.

use crate::cache::CacheSpill;
use crate::error::FileProblem;
use crate::schema::{Role, Schema};
use crate::{Cell, Csr, DataError, Dense, EncodedRow, Encoder, Purpose, Rows, Table};
use std::collections::TryReserveError;

/// A table that grows by records, from one file or from several.
pub(crate) struct Filling<'s> {
    pub(crate) schema: &'s Schema,
    pub(crate) purpose: Purpose,
    pub(crate) encoder: Encoder,
    row: EncodedRow,
    table: Table,
    /// The party of each row, where a column says it.
    parties: Option<Vec<u32>>,
    /// Where rows go that are not kept in memory.
    spill: Option<CacheSpill>,
    /// Records are counted and not kept.
    checking: bool,
    records: u64,
    /// The tables of parts that were put here, empty: their memory is used again.
    spare: Vec<Table>,
}

/// Bytes that an empty table of a part may have.
const SPARE: usize = 4 << 20;

impl<'s> Filling<'s> {
    pub(crate) fn new(schema: &'s Schema, purpose: Purpose) -> Self {
        Self::with(schema, purpose, Encoder::new(schema, purpose))
    }

    fn with(schema: &'s Schema, purpose: Purpose, encoder: Encoder) -> Self {
        let width = schema.width();
        let rows = if schema.sparse() {
            Rows::Sparse(Csr::empty(width))
        } else {
            Rows::Dense(Dense::empty(width))
        };
        let user = purpose == Purpose::Fit
            && schema.columns().iter().any(|c| matches!(c.role(), Role::User(_)));
        let users = user.then(Vec::new);
        let dealt = purpose == Purpose::Fit && schema.parties_from().is_some();
        let weighted = purpose == Purpose::Fit && schema.weight().is_some();
        let weights = weighted.then(Vec::new);
        Self {
            schema,
            purpose,
            encoder,
            row: EncodedRow::default(),
            table: Table { rows, targets: Vec::new(), users, weights, names: Vec::new() },
            parties: dealt.then(Vec::new),
            spill: None,
            checking: false,
            records: 0,
            spare: Vec::new(),
        }
    }

    /// Keeps no record: it is enough that they can be read.
    pub(crate) fn checking(mut self, counts: bool) -> Self {
        self.checking = true;
        if counts {
            self.encoder = self.encoder.counting(self.schema);
        }
        self
    }

    /// Keeps no more rows in memory than a block of a file has.
    pub(crate) fn spilling(mut self, spill: CacheSpill) -> Self {
        self.spill = Some(spill);
        self
    }

    /// Writes the rows to the file, where there is one and they are enough.
    pub(crate) fn settle(&mut self) -> Result<(), DataError> {
        self.spill_rows(false)
    }

    fn spill_rows(&mut self, last: bool) -> Result<(), DataError> {
        if let Some(spill) = &mut self.spill
            && spill.take(&self.table, last)?
        {
            self.table.clear();
        }
        Ok(())
    }

    /// The file, now that all rows are in it, and the places of its owners by the numbers that they
    /// have there.
    pub(crate) fn finish_spilling(mut self) -> Result<(Option<CacheSpill>, Vec<u32>), DataError> {
        self.spill_rows(true)?;
        let places = self.encoder.places();
        Ok((self.spill, places))
    }

    /// Makes room for so many records, and for so many values where rows are sparse and their number
    /// is known.
    pub(crate) fn reserve(
        &mut self,
        records: usize,
        values: Option<usize>,
        file: &str,
    ) -> Result<(), DataError> {
        let Table { rows, targets, .. } = &mut self.table;
        let reserved = match rows {
            Rows::Dense(m) => m.values.try_reserve_exact(records.saturating_mul(m.columns)),
            Rows::Sparse(m) => m
                .indptr
                .try_reserve_exact(records)
                .and_then(|()| m.indices.try_reserve_exact(values.unwrap_or(0)))
                .and_then(|()| m.values.try_reserve_exact(values.unwrap_or(0))),
        };
        reserved
            .and_then(|()| targets.try_reserve_exact(records))
            .map_err(|_| DataError::file(file, FileProblem::TooLarge))
    }

    /// Records so far.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// Whether the records can be encoded in parts: where they are counted, they are not.
    pub(crate) fn has_parts(&self) -> bool {
        !self.encoder.is_counting()
    }

    /// An empty one, for some of the records.
    pub(crate) fn part(&mut self) -> Self {
        let mut part = Self::with(self.schema, self.purpose, self.encoder.again());
        if let Some(table) = self.spare.pop() {
            part.table = table;
        }
        part.checking = self.checking;
        part
    }

    /// Puts the records of a part behind those that are there.
    pub(crate) fn append(&mut self, mut part: Self, file: &str) -> Result<(), DataError> {
        self.records += part.records;
        let (owners, parties) = self.encoder.adopt(part.encoder);
        if let (Some(own), Some(more)) = (&mut self.parties, part.parties) {
            let room = own.try_reserve(more.len());
            room.map_err(|_| DataError::file(file, FileProblem::TooLarge))?;
            own.extend(more.iter().map(|&party| parties[party as usize]));
        }
        let added = self.table.append(&part.table, &owners);
        added.map_err(|_| DataError::file(file, FileProblem::TooLarge))?;
        if part.table.bytes() <= SPARE {
            part.table.clear();
            self.spare.push(part.table);
        }
        Ok(())
    }

    /// A field of the record that is being read.
    #[inline]
    pub(crate) fn put(
        &mut self,
        slot: usize,
        cell: Cell<'_>,
        file: &str,
        line: u64,
    ) -> Result<(), DataError> {
        self.encoder.put(slot, cell, &mut self.row).map_err(|problem| {
            DataError::cell(file, line, self.schema.columns()[slot].name(), problem)
        })
    }

    /// A field of plain digits; `false` where it is none, or has to be looked at otherwise.
    #[inline]
    pub(crate) fn put_digits(&mut self, slot: usize, text: &[u8]) -> bool {
        self.encoder.put_digits(slot, text, &mut self.row)
    }

    /// A value of an encoded column.
    pub(crate) fn push(&mut self, index: u32, value: f64) {
        self.row.push(index, value);
    }

    /// The record is complete.
    pub(crate) fn end(&mut self, file: &str) -> Result<(), DataError> {
        self.encoder.finish(&mut self.row);
        self.records += 1;
        if !self.checking {
            self.keep().map_err(|_| DataError::file(file, FileProblem::TooLarge))?;
        }
        self.row.clear();
        Ok(())
    }

    /// The record is complete and handed to `f`; nothing of it is kept.
    pub(crate) fn hand_on<T>(&mut self, f: impl FnOnce(&EncodedRow) -> T) -> T {
        self.encoder.finish(&mut self.row);
        self.records += 1;
        let said = f(&self.row);
        self.row.clear();
        said
    }

    fn keep(&mut self) -> Result<(), TryReserveError> {
        let Table { rows, targets, users, weights, .. } = &mut self.table;
        rows.push(&self.row.indices, &self.row.values)?;
        if self.purpose == Purpose::Fit {
            targets.try_reserve(1)?;
            targets.push(self.row.target);
        }
        if let Some(users) = users {
            users.try_reserve(1)?;
            users.push(self.row.user);
        }
        if let Some(parties) = &mut self.parties {
            parties.try_reserve(1)?;
            parties.push(self.row.party);
        }
        if let Some(weights) = weights {
            weights.try_reserve(1)?;
            weights.push(self.row.weight);
        }
        Ok(())
    }

    /// The table, now that all owners are known and have their numbers.
    pub(crate) fn finish(self) -> Table {
        self.finish_dealt().0
    }

    /// The same, and the party of each row, where a column says it.
    pub(crate) fn finish_dealt(mut self) -> (Table, Option<Vec<u32>>) {
        if let Some(parties) = &mut self.parties {
            let places = self.encoder.party_places();
            parties.iter_mut().for_each(|party| *party = places[*party as usize]);
        }
        if let Some(users) = &mut self.table.users {
            let places = self.encoder.places();
            users.iter_mut().for_each(|user| *user = places[*user as usize]);
        }
        self.table.names = self.schema.encoded_names();
        self.table.shrink();
        (self.table, self.parties)
    }
}
