//! From a dataset to an encoded table, or record by record to whoever asks.

#[cfg(feature = "arrow")]
use super::arrow::ArrowColumns;
use super::{Dataset, Features, NAME, Owners, Targets, shape};
use crate::error::FileProblem;
use crate::filling::Filling;
use crate::source::{place, ready};
use crate::{
    Cell, CellProblem, DataError, EncodedRow, Encoder, Purpose, Schema, Table, TargetKind,
    Undeclared,
};

/// What a cell of a record is read from.
#[derive(Clone, Copy)]
enum CellSource {
    Column(usize),
    Target,
    Owner,
    Weight,
}

/// One record as it is looked at: its number, and its values where rows are sparse.
struct DatasetRecord {
    at: usize,
    /// Columns with their values, ascending.
    values: Vec<(u32, f64)>,
}

/// The encoded table of a dataset, for fitting or evaluating. The schema must have its roles settled.
///
/// Not a method, so that who may hold a dataset cannot look into the encoded rows: only a crate that
/// may use this one can name it.
///
/// # Errors
/// If the dataset does not have the columns of the schema, or a cell cannot be read under it.
pub fn encode(dataset: &Dataset<'_>, schema: &Schema) -> Result<Table, DataError> {
    Ok(dataset.encode(schema)?.0)
}

/// The same, and the party of each row as 0, 1, 2, … in byte order of the ids, where the dataset or a
/// column says it.
///
/// # Errors
/// As [`encode`].
pub fn encode_dealt(
    dataset: &Dataset<'_>,
    schema: &Schema,
) -> Result<(Table, Option<Vec<u32>>), DataError> {
    dataset.encode(schema)
}

/// Encodes every record of a dataset and hands it on; `false` ends it. For [`Purpose::Predict`]
/// targets and owners are not looked at. Columns that the schema does not declare are passed over.
///
/// # Errors
/// As [`encode`].
pub fn visit_dataset(
    dataset: &Dataset<'_>,
    schema: &Schema,
    purpose: Purpose,
    record: &mut dyn FnMut(&EncodedRow) -> bool,
) -> Result<(), DataError> {
    let schema = &Schema { undeclared: Undeclared::Ignore, ..schema.clone() };
    let mut filling = Filling::new(schema, purpose);
    dataset.each(&mut filling, |filling| Ok(filling.hand_on(&mut *record)))
}

impl Dataset<'_> {
    fn encode(&self, schema: &Schema) -> Result<(Table, Option<Vec<u32>>), DataError> {
        let mut filling = Filling::new(schema, Purpose::Fit);
        filling.reserve(self.rows(), self.stored(), NAME)?;
        self.each(&mut filling, |filling| filling.end(NAME).map(|()| true))?;
        let (mut table, mut parties) = filling.finish_dealt();
        if self.owners.is_some() && schema.user().is_none() {
            table.users = Some(self.numbered(schema)?);
        }
        if let Some(beside) = &self.parties {
            if let Some(column) = schema.parties_from() {
                let why =
                    format!("it says with which party each row is, and so does column `{column}`");
                return Err(shape(why));
            }
            parties = Some(self.parties_numbered(beside, schema)?);
        }
        Ok((table, parties))
    }

    /// Tells `end` of every record that is complete, until it says `false`.
    fn each(
        &self,
        filling: &mut Filling<'_>,
        mut end: impl FnMut(&mut Filling<'_>) -> Result<bool, DataError>,
    ) -> Result<(), DataError> {
        let schema = filling.schema;
        ready(schema, filling.purpose)?;
        if self.rows() == 0 {
            return Err(DataError::file(NAME, FileProblem::NoRecords));
        }
        let parts = self.parts(filling)?;
        #[cfg(feature = "arrow")]
        let arrow = self.arrow_columns(schema, &parts)?;
        let mut record = DatasetRecord { at: 0, values: Vec::new() };
        for at in 0..self.rows() {
            record.at = at;
            self.look_at(&mut record, schema.features().is_some());
            let number = at as u64 + 1;
            for &(slot, part) in &parts {
                let cell = match part {
                    #[cfg(feature = "arrow")]
                    CellSource::Column(column) if arrow.is_some() => {
                        arrow.as_ref().map_or(Ok(Cell::Missing), |arrow| arrow.cell(at, column))
                    }
                    CellSource::Column(column) => Ok(Cell::Number(self.value(&record, column))),
                    CellSource::Target => self.target(at, schema),
                    CellSource::Owner => Ok(self.owner(at)),
                    CellSource::Weight => Ok(self.weight(at)),
                };
                let name = schema.columns()[slot].name();
                let cell = cell.map_err(|p| DataError::cell(NAME, number, name, p))?;
                filling.put(slot, cell, NAME, number)?;
            }
            if schema.features().is_some() {
                push(&record, filling)?;
            }
            if !end(filling)? {
                break;
            }
        }
        Ok(())
    }

    /// (schema column, where it is read from), in schema order.
    fn parts(&self, filling: &Filling<'_>) -> Result<Vec<(usize, CellSource)>, DataError> {
        let schema = filling.schema;
        let (mut names, expected): (Vec<&str>, usize) = match (schema.features(), &self.names) {
            // Columns of a schema with `features` have no names.
            (Some(features), _) => (Vec::new(), features as usize),
            (None, Some(names)) => (names.iter().map(String::as_str).collect(), names.len()),
            (None, None) => {
                let names: Vec<&str> = schema.features_in_order().collect();
                let count = names.len();
                (names, count)
            }
        };
        if self.columns() != expected {
            let columns = self.columns();
            let why = format!("it has {columns} columns, and the schema has {expected} features");
            return Err(shape(why));
        }
        let mut parts: Vec<CellSource> = (0..names.len()).map(CellSource::Column).collect();
        if let (Some(_), Some((name, _))) = (&self.targets, schema.target()) {
            names.push(name);
            parts.push(CellSource::Target);
        }
        if let (Some(_), Some(name)) = (&self.owners, schema.user()) {
            names.push(name);
            parts.push(CellSource::Owner);
        }
        match (&self.weights, schema.weight()) {
            (Some(_), Some((name, _))) => {
                names.push(name);
                parts.push(CellSource::Weight);
            }
            // Who gives weights means them: a table is not fitted as if there were none.
            (Some(_), None) if filling.purpose == Purpose::Fit => {
                let why = "it has weights, and the schema has no column of kind weight";
                return Err(shape(why.to_owned()));
            }
            _ => {}
        }
        let names: Vec<&[u8]> = names.into_iter().map(str::as_bytes).collect();
        let columns = place(&names, schema, &filling.encoder, NAME)?;
        Ok(columns.into_iter().map(|(slot, field)| (slot, parts[field])).collect())
    }

    /// Takes the values of a record, where they are sparse, or wanted as pairs.
    fn look_at(&self, record: &mut DatasetRecord, pairs: bool) {
        let (at, values) = (record.at, &mut record.values);
        values.clear();
        match &self.features {
            Features::Csr { indptr, indices, values: all, .. } => {
                let span = indptr.at(at)..indptr.at(at + 1);
                values.extend(span.map(|i| (indices.at(i) as u32, all[i])));
                if !values.is_sorted_by_key(|&(column, _)| column) {
                    values.sort_unstable_by_key(|&(column, _)| column);
                }
            }
            _ if pairs => {
                let columns = 0..self.columns() as u32;
                let none = DatasetRecord { at, values: Vec::new() };
                values.extend(columns.map(|j| (j, self.value(&none, j as usize))));
            }
            _ => {}
        }
    }

    fn value(&self, record: &DatasetRecord, column: usize) -> f64 {
        match &self.features {
            Features::RowMajor { values, columns, .. } => values[record.at * columns + column],
            Features::ColumnMajor { values, rows, .. } => values[column * rows + record.at],
            Features::Csr { .. } => {
                let found = record.values.binary_search_by_key(&(column as u32), |&(j, _)| j);
                found.map_or(0.0, |at| record.values[at].1)
            }
            #[cfg(feature = "arrow")]
            Features::Arrow(_) => f64::NAN,
        }
    }

    fn target<'c>(&'c self, at: usize, schema: &'c Schema) -> Result<Cell<'c>, CellProblem> {
        Ok(match &self.targets {
            None => Cell::Missing,
            Some(Targets::Numbers(all)) => Cell::Number(all[at]),
            Some(Targets::Labels(all)) => Cell::Text(all[at].as_bytes()),
            Some(Targets::Classes(all)) => match schema.target().map(|(_, target)| target.kind()) {
                Some(TargetKind::Classes(labels)) if (all[at] as usize) < labels.len() => {
                    Cell::Text(labels.name(all[at] as usize).as_bytes())
                }
                Some(TargetKind::Classes(labels)) => {
                    let allowed = format!("places from 0 to {}", labels.len() - 1);
                    return Err(CellProblem::OutsideClasses(allowed));
                }
                _ => Cell::Number(f64::from(all[at])),
            },
        })
    }

    fn owner(&self, at: usize) -> Cell<'_> {
        self.owners.as_ref().map_or(Cell::Missing, |owners| owners.cell(at))
    }

    fn weight(&self, at: usize) -> Cell<'_> {
        self.weights.as_ref().map_or(Cell::Missing, |all| Cell::Number(all[at]))
    }

    /// The first row of each owner that was given beside the columns, in the order in which owners
    /// are numbered under this schema: what they are called is for the caller to look up.
    ///
    /// # Errors
    /// If an owner is missing, or may be two persons.
    pub fn owners_in_order(&self, schema: &Schema) -> Result<Vec<usize>, DataError> {
        let numbers = self.numbered(schema)?;
        let count = numbers.iter().max().map_or(0, |&last| last as usize + 1);
        let mut first = vec![usize::MAX; count];
        for (row, &number) in numbers.iter().enumerate().rev() {
            first[number as usize] = row;
        }
        Ok(first)
    }

    /// The owners as 0, 1, 2, … in byte order of the ids, told apart as in a column of users.
    fn numbered(&self, schema: &Schema) -> Result<Vec<u32>, DataError> {
        let mut encoder = Encoder::new(schema, Purpose::Fit);
        let owner = |at: usize| {
            let number = encoder.owner(self.owner(at));
            number.map_err(|problem| DataError::cell(NAME, at as u64 + 1, "owners", problem))
        };
        let mut owners = (0..self.rows()).map(owner).collect::<Result<Vec<u32>, _>>()?;
        let places = encoder.places();
        owners.iter_mut().for_each(|owner| *owner = places[*owner as usize]);
        Ok(owners)
    }

    /// The parties as 0, 1, 2, … in byte order of the ids.
    fn parties_numbered(
        &self,
        parties: &Owners<'_>,
        schema: &Schema,
    ) -> Result<Vec<u32>, DataError> {
        let mut encoder = Encoder::new(schema, Purpose::Fit);
        let party = |at: usize| {
            let number = encoder.party(parties.cell(at));
            number.map_err(|problem| DataError::cell(NAME, at as u64 + 1, "parties", problem))
        };
        let mut parties = (0..self.rows()).map(party).collect::<Result<Vec<u32>, _>>()?;
        let places = encoder.party_places();
        parties.iter_mut().for_each(|party| *party = places[*party as usize]);
        Ok(parties)
    }

    /// Values that the encoded table will hold, where that is known.
    fn stored(&self) -> Option<usize> {
        match &self.features {
            Features::Csr { values, .. } => Some(values.len()),
            _ => None,
        }
    }

    #[cfg(feature = "arrow")]
    fn arrow_columns(
        &self,
        schema: &Schema,
        parts: &[(usize, CellSource)],
    ) -> Result<Option<ArrowColumns<'_>>, DataError> {
        let Features::Arrow(batches) = &self.features else { return Ok(None) };
        if schema.features().is_some() {
            return Err(shape("a schema with `features` has no named columns".to_owned()));
        }
        let used = parts.iter().filter_map(|&(slot, part)| match part {
            CellSource::Column(column) => Some((slot, column)),
            CellSource::Target | CellSource::Owner | CellSource::Weight => None,
        });
        let (slots, used): (Vec<usize>, Vec<usize>) = used.unzip();
        let columns = ArrowColumns::new(batches, &used);
        for (slot, column) in slots.into_iter().zip(used) {
            columns.check(column, schema.columns()[slot].name())?;
        }
        Ok(Some(columns))
    }
}

/// The values of a record, straight into the encoded columns of a schema with `features`.
fn push(record: &DatasetRecord, filling: &mut Filling<'_>) -> Result<(), DataError> {
    for &(column, value) in &record.values {
        if !value.is_finite() {
            let (number, name) = (record.at as u64 + 1, (column + 1).to_string());
            return Err(DataError::cell(NAME, number, &name, CellProblem::NotFinite));
        }
        filling.push(column, value);
    }
    Ok(())
}
