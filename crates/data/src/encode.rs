//! Fields to numbers. Fitting and predicting use this one encoder, so a model sees what it was trained on.

use crate::labels::Lookup;
use crate::schema::{Numeric, Role, Schema, TargetKind};
use crate::{CellProblem, Csr, Dense, Rows, Table, norm, number};
use std::collections::HashMap;

/// What the table is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Features, targets and users are read.
    Fit,
    /// Features alone; target, user and ignored columns may be absent.
    Predict,
}

/// A field of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// A null.
    Missing,
    /// Text; may be one of the missing tokens.
    Text(&'a [u8]),
    /// A number.
    Number(f64),
    /// An integer; kept as one, so that a long identifier keeps its last digits.
    Whole(i128),
    /// A truth value: 1 or 0 as a number, `true` or `false` as a category.
    Flag(bool),
}

/// One encoded record. Kept and cleared between records, so that reading allocates nothing per record.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Row {
    /// Encoded columns that are not zero, ascending.
    pub indices: Vec<u32>,
    /// Their values.
    pub values: Vec<f64>,
    /// The target, when it is read.
    pub target: f64,
    /// The owner, when there is one.
    pub user: u32,
}

impl Row {
    /// Forgets the last record.
    pub fn clear(&mut self) {
        self.indices.clear();
        self.values.clear();
    }

    pub(crate) fn push(&mut self, index: u32, value: f64) {
        if value != 0.0 {
            self.indices.push(index);
            self.values.push(value);
        }
    }
}

/// A schema made ready for many records.
#[derive(Debug)]
pub struct Encoder {
    slots: Vec<Slot>,
    tokens: Vec<Vec<u8>>,
    trim: bool,
    row_norm: f64,
    users: HashMap<Vec<u8>, u32>,
}

#[derive(Debug)]
enum Slot {
    Number { at: u32, numeric: Numeric, missing: f64 },
    Category { at: u32, lookup: Lookup, missing: Option<u32>, unknown: Option<u32> },
    Class { kind: TargetKind, lookup: Lookup, missing: Option<f64>, allowed: String },
    Range { kind: TargetKind, missing: Option<f64> },
    User,
    Skip,
}

impl Encoder {
    /// Prepares `schema`; for [`Purpose::Predict`] target and user columns are skipped.
    pub fn new(schema: &Schema, purpose: Purpose) -> Self {
        let fit = purpose == Purpose::Fit;
        let mut at = 0_u32;
        let mut slots = Vec::with_capacity(schema.columns().len());
        for column in schema.columns() {
            slots.push(match column.role() {
                Role::Numeric(n) => Slot::Number { at, numeric: n.clone(), missing: n.encoded_missing() },
                Role::Categorical(c) => Slot::Category {
                    at,
                    lookup: Lookup::new(&c.categories),
                    missing: c.missing.map(|i| i as u32),
                    unknown: c.unknown.map(|i| i as u32),
                },
                Role::Target(t) if fit => match &t.kind {
                    TargetKind::Classes(labels) => {
                        let missing = t.missing.as_deref().and_then(|m| labels.position(m));
                        Slot::Class {
                            lookup: Lookup::new(labels),
                            missing: missing.map(|i| t.kind.encode_class(i)),
                            allowed: labels.spellings().collect::<Vec<_>>().join(", "),
                            kind: t.kind.clone(),
                        }
                    }
                    TargetKind::Range { .. } => {
                        let missing = t.missing.as_deref().and_then(|m| number::parse(m.as_bytes()));
                        Slot::Range {
                            missing: missing.map(|x| t.kind.encode_number(x)),
                            kind: t.kind.clone(),
                        }
                    }
                },
                Role::User if fit => Slot::User,
                _ => Slot::Skip,
            });
            at += column.width() as u32;
        }
        Self {
            slots,
            tokens: schema.missing_tokens().iter().map(|t| t.clone().into_bytes()).collect(),
            trim: schema.trim(),
            row_norm: schema.row_norm(),
            users: HashMap::new(),
        }
    }

    /// Whether schema column `slot` has to be in the file.
    pub(crate) fn reads(&self, slot: usize) -> bool {
        !matches!(self.slots[slot], Slot::Skip)
    }

    /// Encodes one field of schema column `slot` into `row`. Columns must come in schema order.
    pub fn put(&mut self, slot: usize, cell: Cell<'_>, row: &mut Row) -> Result<(), CellProblem> {
        let cell = self.meant(cell);
        match &self.slots[slot] {
            Slot::Skip => {}
            Slot::Number { at, numeric, missing } => {
                let value = finite(cell)?.map_or(*missing, |x| numeric.encode(x));
                row.push(*at, value);
            }
            Slot::Category { at, lookup, missing, unknown } => {
                let category = with_text(cell, |text| lookup.find(text).or(*unknown)).unwrap_or(*missing);
                if let Some(i) = category {
                    row.push(at + i, 1.0);
                }
            }
            Slot::Class { kind, lookup, missing, allowed } => {
                row.target = match with_text(cell, |text| lookup.find(text)) {
                    Some(Some(i)) => kind.encode_class(i as usize),
                    Some(None) => return Err(CellProblem::OutsideClasses(allowed.clone())),
                    None => missing.ok_or(CellProblem::TargetMissing)?,
                };
            }
            Slot::Range { kind, missing } => {
                row.target = match finite(cell)? {
                    Some(x) => kind.encode_number(x),
                    None => missing.ok_or(CellProblem::TargetMissing)?,
                };
            }
            Slot::User => {
                let users = &mut self.users;
                row.user = with_text(cell, |text| match users.get(text) {
                    Some(&id) => id,
                    None => {
                        let id = users.len() as u32;
                        users.insert(text.to_vec(), id);
                        id
                    }
                })
                .ok_or(CellProblem::UserMissing)?;
            }
        }
        Ok(())
    }

    /// Scales a complete record into the row norm.
    pub fn finish(&self, row: &mut Row) {
        norm::shrink_into(&mut row.values, self.row_norm);
    }

    /// Cuts spaces off and recognises the missing tokens.
    fn meant<'a>(&self, cell: Cell<'a>) -> Cell<'a> {
        match cell {
            Cell::Text(text) => {
                let text = if self.trim { text.trim_ascii() } else { text };
                if self.tokens.iter().any(|t| t == text) { Cell::Missing } else { Cell::Text(text) }
            }
            // Some writers put NaN for null; whoever declares that spelling missing means this one too.
            Cell::Number(x) if x.is_nan() && self.tokens.iter().any(|t| t == b"NaN") => Cell::Missing,
            other => other,
        }
    }
}

/// The finite number in a cell, `None` when it is missing.
fn finite(cell: Cell<'_>) -> Result<Option<f64>, CellProblem> {
    let x = match cell {
        Cell::Missing => return Ok(None),
        Cell::Number(x) => x,
        Cell::Whole(n) => n as f64,
        Cell::Flag(b) => f64::from(b),
        Cell::Text(text) => number::parse(text).ok_or(CellProblem::NotNumber)?,
    };
    if x.is_finite() { Ok(Some(x)) } else { Err(CellProblem::NotFinite) }
}

/// A cell as text, `None` when it is missing.
fn with_text<T>(cell: Cell<'_>, f: impl FnOnce(&[u8]) -> T) -> Option<T> {
    match cell {
        Cell::Missing => None,
        Cell::Text(text) => Some(f(text)),
        Cell::Number(x) => Some(f(x.to_string().as_bytes())),
        Cell::Whole(n) => Some(f(n.to_string().as_bytes())),
        Cell::Flag(b) => Some(f(if b { b"true" } else { b"false" })),
    }
}

/// A table that grows by records.
pub(crate) struct Builder {
    table: Table,
    fit: bool,
}

impl Builder {
    pub(crate) fn new(schema: &Schema, purpose: Purpose) -> Self {
        let width = schema.width();
        let rows =
            if schema.sparse() { Rows::Sparse(Csr::empty(width)) } else { Rows::Dense(Dense::empty(width)) };
        let fit = purpose == Purpose::Fit;
        let user = fit && schema.columns().iter().any(|c| matches!(c.role(), Role::User));
        let users = user.then(Vec::new);
        Self { table: Table { rows, targets: Vec::new(), users, names: schema.encoded_names() }, fit }
    }

    pub(crate) fn push(&mut self, row: &Row) {
        self.table.rows.push(&row.indices, &row.values);
        if self.fit {
            self.table.targets.push(row.target);
        }
        if let Some(users) = &mut self.table.users {
            users.push(row.user);
        }
    }

    pub(crate) fn finish(mut self) -> Table {
        self.table.shrink();
        self.table
    }
}
