//! What reading a table met, counted. Exact counts of private records: NOT PRIVATE.

use crate::schema::{Role, Schema, TargetKind};
use serde::Serialize;

/// What reading a table met. Nothing in here is protected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReadCounts {
    /// The number of records read.
    pub records: u64,
    /// Rows that were scaled down to the row norm.
    pub shortened: u64,
    /// Different owners, where there is a user column.
    pub users: Option<u64>,
    /// What happened in each column that was read.
    pub columns: Vec<ColumnCounts>,
}

/// Counts of what happened in one column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnCounts {
    /// The name of the column.
    pub name: String,
    /// The number of missing fields; for a column that is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<u64>,
    /// Values that are in no category; for a categorical column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<u64>,
    /// Numbers outside the bounds; for a column that has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clipped: Option<u64>,
    /// Records of each category or class, in order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<(String, u64)>>,
}

impl ReadCounts {
    pub(crate) fn new(schema: &Schema) -> Self {
        let columns = schema.columns().iter().map(|column| {
            let (numeric, labels) = match column.role() {
                Role::Numeric(_) | Role::Date(_) | Role::Weight(_) => (true, None),
                Role::Categorical(c) => (false, Some(&c.categories)),
                Role::Target(t) => match t.kind() {
                    TargetKind::Classes(labels) => (false, Some(labels)),
                    TargetKind::Range { .. } => (true, None),
                },
                Role::Ignored | Role::User(_) => (false, None),
            };
            ColumnCounts {
                name: column.name().into(),
                missing: (*column.role() != Role::Ignored).then_some(0),
                unknown: matches!(column.role(), Role::Categorical(_)).then_some(0),
                clipped: numeric.then_some(0),
                values: labels.map(|l| l.names().map(|name| (name.to_string(), 0)).collect()),
            }
        });
        Self { records: 0, shortened: 0, users: None, columns: columns.collect() }
    }
}

impl ColumnCounts {
    pub(crate) fn label(&mut self, i: usize) {
        if let Some((_, n)) = self.values.as_mut().and_then(|values| values.get_mut(i)) {
            *n += 1;
        }
    }

    pub(crate) fn outside(&mut self) {
        self.clipped = self.clipped.map(|n| n + 1);
    }

    pub(crate) fn absent(&mut self) {
        self.missing = self.missing.map(|n| n + 1);
    }

    pub(crate) fn unlisted(&mut self) {
        self.unknown = self.unknown.map(|n| n + 1);
    }
}
