//! A handle on a private table: it can be loaded and handed to a gate, and nothing else.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use reticent_accountant::{Adjacency, Unit};
use reticent_data::{DataError, Dataset, ReadOptions, Rows, Schema, SharedListener, Skew, Table};
use reticent_noise::{Digest, Entropy, EntropyError, Hasher};

use crate::fingerprint::ContentHasher;
use crate::queries::wrong;
use crate::refusal::Refusal;
use crate::sums::TableError;

/// What 53 random bits are divided by.
const UNIT: f64 = (1_u64 << 53) as f64;

/// Private data, unopened. There is no way to look into it but through a [`Gate`](crate::Gate).
pub struct PrivateTable {
    table: Arc<Table>,
    /// Whether the schema was drafted from it.
    drafted_from: bool,
    /// What it was encoded under; `None` for a table that was never encoded here.
    schema: Option<Arc<Schema>>,
    /// The party of each row, where that was read.
    parties: Option<Arc<Vec<u32>>>,
}

/// Not derived: it would show the rows.
impl std::fmt::Debug for PrivateTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PrivateTable(..)")
    }
}

impl PrivateTable {
    /// Reads a table under a schema that has the roles of the job (see [`Schema::with_roles`]).
    pub fn load(
        path: &Path,
        reading: impl Into<ReadOptions>,
        schema: &Schema,
    ) -> Result<Self, DataError> {
        Self::load_all(&[path.to_path_buf()], reading, schema)
    }

    /// Reads several files as one table; a person is the same in all of them.
    pub fn load_all(
        paths: &[PathBuf],
        reading: impl Into<ReadOptions>,
        schema: &Schema,
    ) -> Result<Self, DataError> {
        let schema = schema.with_roles(None, None)?;
        let (table, drafted_from, parties) =
            reticent_data::load_and_compare(paths, reading, &schema)?;
        Ok(PrivateTable::read(table, drafted_from, schema, parties))
    }

    /// The same, with the digest of what each file holds under `key`, as
    /// [`content`](crate::tables::content) has it: of the very bytes that were read, once.
    ///
    /// # Errors
    /// As [`PrivateTable::load_all`].
    pub fn load_known(
        paths: &[PathBuf],
        reading: impl Into<ReadOptions>,
        schema: &Schema,
        key: &[u8; 32],
    ) -> Result<(Self, Vec<Digest>), DataError> {
        let schema = schema.with_roles(None, None)?;
        let hasher = Rc::new(RefCell::new(ContentHasher::new(key)));
        let listener: SharedListener = hasher.clone();
        let (table, drafted_from, parties) =
            reticent_data::load_and_tell(paths, reading, &schema, &listener)?;
        let found = std::mem::take(&mut hasher.borrow_mut().found);
        Ok((PrivateTable::read(table, drafted_from, schema, parties), found))
    }

    /// Encodes a table in memory under a schema that has the roles of the job. The dataset is read
    /// where it is; the encoded table is the one copy.
    ///
    /// A draft of a schema knows the file that it was drafted from, and values in memory are no
    /// file: whether they are the same cannot be told here. Unless the draft says that its file is
    /// public, they are taken to be the same, and were then read without being paid for.
    ///
    /// # Errors
    /// If the dataset does not have the columns of the schema, or a cell cannot be read under it.
    pub fn encode(dataset: &Dataset<'_>, schema: &Schema) -> Result<Self, DataError> {
        let schema = schema.with_roles(None, None)?;
        let (table, parties) = reticent_data::encode_dealt(dataset, &schema)?;
        let drafted_from = schema.drafted().is_some_and(|drafted| !drafted.public());
        Ok(PrivateTable::read(table, drafted_from, schema, parties))
    }

    fn read(table: Table, drafted_from: bool, schema: Schema, parties: Option<Vec<u32>>) -> Self {
        let (table, schema) = (Arc::new(table), Some(Arc::new(schema)));
        PrivateTable { table, drafted_from, schema, parties: parties.map(Arc::new) }
    }

    /// Another table, of some of its rows.
    fn part(table: Table, drafted_from: bool, schema: &Option<Arc<Schema>>) -> Self {
        PrivateTable { table: Arc::new(table), drafted_from, schema: schema.clone(), parties: None }
    }

    /// Another handle on the same table, which is in memory once: for several gates, each with its
    /// own books and its own noise.
    pub fn share(&self) -> Self {
        PrivateTable {
            table: Arc::clone(&self.table),
            drafted_from: self.drafted_from,
            schema: self.schema.clone(),
            parties: self.parties.clone(),
        }
    }

    /// A table for each owner in the user column, in byte order of the ids; `None` without such
    /// a column.
    pub fn split_by_user(self) -> Option<Vec<PrivateTable>> {
        let (drafted_from, schema) = (self.drafted_from, self.schema);
        let part = |table| PrivateTable::part(table, drafted_from, &schema);
        Some(Arc::unwrap_or_clone(self.table).split_by_user()?.into_iter().map(part).collect())
    }

    /// The same records as those of one person: of a party that is protected as a whole. `None` where
    /// it says whose each row is, and may have several.
    pub fn of_one_person(self) -> Option<PrivateTable> {
        if self.has_owners() {
            return None;
        }
        let mut table = Arc::unwrap_or_clone(self.table);
        table.users = Some(vec![0; table.len()]);
        Some(PrivateTable { table: Arc::new(table), ..self })
    }

    /// A table for each party that a row is said to be with, in byte order of the ids, with the persons
    /// of each, or as one unit each where parties are `whole`; `None` where nobody says it. A person with
    /// rows at several of them is as many persons.
    pub fn split_by_party(self, whole: bool) -> Option<Vec<PrivateTable>> {
        let (drafted_from, schema) = (self.drafted_from, self.schema);
        let part = |table| PrivateTable::part(table, drafted_from, &schema);
        let parties = self.parties?;
        let table = match whole {
            true => Table { users: None, ..Arc::unwrap_or_clone(self.table) },
            false => Arc::unwrap_or_clone(self.table),
        };
        Some(table.split_by_party(&parties).into_iter().map(part).collect())
    }

    /// Whether it says with which party each row is.
    pub fn has_parties(&self) -> bool {
        self.parties.is_some()
    }

    /// Tables for `parties` parties, dealt by the place of a record, a public rule and a public seed:
    /// a record that is replaced stays with its party. For simulations: in a real run every party
    /// loads its own.
    pub fn split(
        self,
        parties: usize,
        skew: Skew,
        seed: u64,
    ) -> Result<Vec<PrivateTable>, EntropyError> {
        let mut entropy = Entropy::seeded(seed);
        self.dealt(parties, skew, &mut |_| Ok(entropy.below(1 << 53)? as f64 / UNIT))
    }

    /// The same by what a record says in place of where it stands: where one may be there or not, all
    /// others stay with their parties. Records that are alike are with one party.
    pub fn split_by_content(
        self,
        parties: usize,
        skew: Skew,
        seed: u64,
    ) -> Result<Vec<PrivateTable>, EntropyError> {
        let table = Arc::clone(&self.table);
        let (mut last, mut words) = (None, [0; 4]);
        self.dealt(parties, skew, &mut |record| {
            match last.replace(record) == Some(record) {
                true => words.rotate_left(1),
                false => words = content_words(&table, record, seed),
            }
            Ok((words[0] >> 11) as f64 / UNIT)
        })
    }

    /// Tables for `parties` parties, each with whole persons; `None` where nobody says whose a row is.
    /// Who is where follows from the order of the ids, so that a neighbour may have others elsewhere:
    /// for whoever is trusted with all of it, and shows nothing of a party's size.
    pub fn split_persons(self, parties: usize, seed: u64) -> Option<Vec<PrivateTable>> {
        let (drafted_from, schema) = (self.drafted_from, self.schema);
        let part = |table| PrivateTable::part(table, drafted_from, &schema);
        let place = |person: u32| {
            let digest = Hasher::new("reticent person").number(seed).number(person.into()).finish();
            let [word, ..] = digest.as_chunks::<8>().0 else { return 0 };
            (u64::from_le_bytes(*word) % parties.max(1) as u64) as usize
        };
        let tables = Arc::unwrap_or_clone(self.table).split_owners(parties, place)?;
        Some(tables.into_iter().map(part).collect())
    }

    /// Part `number` of `of` parts that together are the table: records in their order, or whole
    /// persons.
    ///
    /// # Errors
    /// If persons are to be kept whole and nobody says whose a row is.
    pub(crate) fn section(self, number: usize, of: usize, unit: Unit) -> Result<Self, Refusal> {
        let (records, parts) = (self.table.len(), of);
        let parts = match unit {
            Unit::User => self.split_persons(parts, 0).ok_or(TableError::NoUsers)?,
            Unit::Party => return Err(wrong("a table in shards has no parties to protect")),
            // The middle of the section of a record, so that nothing is rounded into another.
            Unit::Record => self.dealt(parts, Skew::Iid, &mut |record| {
                Ok(((record * parts / records.max(1)) as f64 + 0.5) / parts as f64)
            })?,
        };
        parts.into_iter().nth(number).ok_or_else(|| wrong("there is no such part of the table"))
    }

    fn dealt(
        self,
        parties: usize,
        skew: Skew,
        uniform: &mut dyn FnMut(usize) -> Result<f64, EntropyError>,
    ) -> Result<Vec<PrivateTable>, EntropyError> {
        let (drafted_from, schema) = (self.drafted_from, self.schema);
        let part = |table| PrivateTable::part(table, drafted_from, &schema);
        Ok(self.table.split(parties, skew, uniform)?.into_iter().map(part).collect())
    }

    /// The number of records, where it is public: records are protected, and a neighbour replaces
    /// one. Otherwise `None`.
    pub fn public_count(&self, unit: Unit, adjacency: Adjacency) -> Option<u64> {
        ((unit, adjacency) == (Unit::Record, Adjacency::ReplaceOne))
            .then_some(self.table.len() as u64)
    }

    /// The number of persons, where it is public: of a party whose persons are its own, and a neighbour
    /// replaces one of them by another of the same party (proofs/noisy-sums.md). The caller says that it is so.
    pub fn persons_of_party(&self, adjacency: Adjacency) -> Option<u64> {
        (adjacency == Adjacency::ReplaceOne && self.has_owners())
            .then_some(self.table.user_count() as u64)
    }

    /// Whether it was encoded under this schema: bounds, codes and norms are those of the schema,
    /// and a job counts on its own. A table that was never encoded is under none.
    pub fn is_under(&self, schema: &Schema) -> bool {
        let roles = schema.with_roles(None, None);
        self.schema.as_deref().zip(roles.ok().as_ref()).is_some_and(|(own, other)| own == other)
    }

    /// Whether it says whose each row is.
    pub fn has_owners(&self) -> bool {
        self.table.users.is_some()
    }

    /// Whether this is the very table that the schema was drafted from, or may be, and nobody says
    /// that it is public: what the schema says of it was then read without being paid for.
    pub fn drafted_the_schema(&self) -> bool {
        self.drafted_from
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn into_table(self) -> Arc<Table> {
        self.table
    }
}

/// Words that follow from a seed and from what a record says, and from nothing else in the table. Who
/// owns it is not said: owners are numbered by all that there are.
fn content_words(table: &Table, record: usize, seed: u64) -> [u64; 4] {
    let mut hasher = Hasher::new("reticent deal by content");
    hasher.number(seed);
    let mut hash = |at: u64, value: f64| {
        hasher.number(at).numbers(&[value]);
    };
    // Alike whether rows are dense or sparse.
    match &table.rows {
        Rows::Dense(rows) => {
            let values = rows.row(record).iter().zip(0..);
            values.filter(|(value, _)| **value != 0.0).for_each(|(&value, at)| hash(at, value));
        }
        Rows::Sparse(rows) => {
            let (indices, values) = rows.row(record);
            let values = indices.iter().zip(values).filter(|(_, value)| **value != 0.0);
            values.for_each(|(&at, &value)| hash(at.into(), value));
        }
    }
    let last = table.targets.get(record).into_iter();
    hasher.numbers(&last.copied().collect::<Vec<_>>());
    let digest = hasher.finish();
    let (words, _) = digest.as_chunks::<8>();
    std::array::from_fn(|k| words.get(k).map_or(0, |word| u64::from_le_bytes(*word)))
}

/// For tables that were never a file: simulations and tests.
impl From<Table> for PrivateTable {
    fn from(table: Table) -> Self {
        PrivateTable::part(table, false, &None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reticent_data::Dense;

    /// The rows of each party, of a table of these.
    fn dealt(values: &[f64], skew: &str) -> Vec<Vec<f64>> {
        let (rows, columns) = (values.len(), 1);
        let rows = Rows::Dense(Dense { rows, columns, values: values.to_vec() });
        let targets = values.iter().map(|value| value.signum()).collect();
        let table = Table { rows, targets, users: None, weights: None, names: Vec::new() };
        let parts =
            PrivateTable::from(table).split_by_content(5, skew.parse().unwrap(), 7).unwrap();
        let values = |part: &PrivateTable| match &part.table.rows {
            Rows::Dense(rows) => rows.values.clone(),
            Rows::Sparse(_) => Vec::new(),
        };
        parts.iter().map(values).collect()
    }

    /// By place, everybody behind a record that is removed would be with another party: what is said
    /// of a neighbour of one party would be said of none (proofs/noisy-sums.md).
    #[test]
    fn one_record_less_moves_no_other_to_another_party() {
        let all: Vec<f64> = (0..200).map(|i| f64::from(i) / 100.0 - 1.005).collect();
        for skew in ["iid", "size:1", "label:0.5"] {
            let whole = dealt(&all, skew);
            assert!(whole.iter().all(|part| part.len() > 5), "{skew}");
            for gone in [0, 57, 199] {
                let mut rest = all.clone();
                rest.remove(gone);
                let mut wanted = whole.clone();
                wanted.iter_mut().for_each(|part| part.retain(|value| *value != all[gone]));
                assert_eq!(dealt(&rest, skew), wanted, "{skew} without {gone}");
            }
        }
        let halves = dealt(&all, "iid");
        assert!(halves.iter().all(|part| (20..60).contains(&part.len())), "{halves:?}");
    }

    #[test]
    fn a_count_is_handed_out_where_it_is_public_alone() {
        let mut rows = Dense::empty(1);
        (0..3).for_each(|_| rows.push_sparse(&[0], &[0.5]));
        let table = |users| -> PrivateTable {
            let names = vec!["x".to_owned()];
            Table {
                rows: Rows::Dense(rows.clone()),
                targets: vec![1.0; 3],
                users,
                weights: None,
                names,
            }
            .into()
        };
        let anonymous = table(None);
        assert!(!anonymous.has_owners() && table(Some(vec![0, 1, 1])).has_owners());
        assert_eq!(anonymous.public_count(Unit::Record, Adjacency::ReplaceOne), Some(3));
        for (unit, adjacency) in [
            (Unit::Record, Adjacency::AddRemove),
            (Unit::User, Adjacency::ReplaceOne),
            (Unit::User, Adjacency::AddRemove),
        ] {
            assert_eq!(anonymous.public_count(unit, adjacency), None);
        }
    }
}
