//! A schema inside a model: its columns are written and read one at a time, as what stands for a column in
//! a file takes more than twice its memory.

use std::fmt;
use std::sync::Arc;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::raw::{RawColumn, RawSchema, raw_column};
use super::{Column, Schema};

/// Columns to write.
struct WrittenColumns(Arc<Vec<Column>>);

impl Serialize for WrittenColumns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(raw_column))
    }
}

/// Columns that were read, each understood.
#[derive(Default)]
struct ReadColumns(Vec<Column>);

impl<'de> Deserialize<'de> for ReadColumns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ColumnReader)
    }
}

struct ColumnReader;

impl<'de> Visitor<'de> for ColumnReader {
    type Value = ReadColumns;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of columns")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ReadColumns, A::Error> {
        let mut columns = Vec::new();
        while let Some(raw) = items.next_element::<RawColumn>()? {
            columns.push(raw.column().map_err(A::Error::custom)?);
        }
        columns.shrink_to_fit();
        Ok(ReadColumns(columns))
    }
}

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let columns = WrittenColumns(Arc::clone(&self.columns));
        RawSchema::of(self.clone(), columns).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawSchema::<ReadColumns>::deserialize(deserializer)?;
        let schema = raw.understood(|columns| Ok(columns.0)).and_then(Schema::checked);
        schema.map_err(D::Error::custom)
    }
}
