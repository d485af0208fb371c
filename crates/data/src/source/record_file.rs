//! What is common to all formats. A format is a file that implements [`RecordFile`], and a line in
//! [`with_file`]; whoever wants to know what is in a file is a [`FileConsumer`], of any format.

use super::delimited::{DelimitedFile, by_position, place};
use super::libsvm::LibsvmFile;
#[cfg(feature = "parquet")]
use super::parquet::{ParquetFile, SharedFile, sound};
use super::stream::{KeptCell, KeptKind};
use super::watch::Watch;
use super::{Depth, Format, ReadLimits, ReadOptions, open, parallel, ready};
use crate::error::FileProblem;
use crate::filling::Filling;
use crate::{Cell, CellProblem, DataError, IdForm, Purpose, Role, Schema, SchemaError, Table};
use std::path::Path;

/// What is known of a file before its first record.
pub(super) enum FileHead {
    /// The names of its columns.
    Names(Vec<Vec<u8>>),
    /// No names: the fields of its first record, and its line.
    Fields { first: Vec<Vec<u8>>, line: u64 },
    /// A label and pairs of index and value.
    Pairs,
}

impl FileHead {
    /// The names of the columns, invented where there are none.
    pub(super) fn names(&self) -> Vec<String> {
        let text = |name: &Vec<u8>| String::from_utf8_lossy(name).into_owned();
        match self {
            FileHead::Names(names) => names.iter().map(text).collect(),
            FileHead::Fields { first, .. } => {
                (1..=first.len()).map(|i| format!("column_{i}")).collect()
            }
            FileHead::Pairs => vec!["label".into()],
        }
    }
}

/// What a column holds, as far as its type tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "text tells no types"))]
pub(super) enum ColumnShape {
    /// Text that may stand for anything.
    Untyped,
    Number,
    Day,
    Text,
    Truth,
    /// Of a type that is not read.
    Unreadable,
}

/// A file, opened.
pub(super) trait RecordFile {
    /// Records that are read at a time.
    type Block: RecordBlock + Send;

    fn head(&self) -> &FileHead;

    /// What is wrong with a file without records.
    fn no_records(&self) -> FileProblem {
        FileProblem::NoRecords
    }

    fn shape(&self, _column: usize) -> ColumnShape {
        ColumnShape::Untyped
    }

    /// Whether a column can have this role; otherwise the name of its type.
    fn readable(&self, _column: usize, _role: &Role) -> Result<(), String> {
        Ok(())
    }

    /// What a column holds that is handed on as it is; otherwise the name of its type.
    fn kind(&self, _column: usize) -> Result<KeptKind, String> {
        Ok(KeptKind::Text)
    }

    /// The next records, of which these columns are read; `None` behind the last.
    fn next(&mut self, columns: &[usize]) -> Result<Option<Self::Block>, DataError>;
}

/// The fields of the first line of a text file, which may be names or a record.
pub(super) fn first_line(source: &impl RecordFile) -> Option<Vec<&[u8]>> {
    match source.head() {
        FileHead::Names(first) | FileHead::Fields { first, .. }
            if source.shape(0) == ColumnShape::Untyped =>
        {
            Some(first.iter().map(Vec::as_slice).collect())
        }
        _ => None,
    }
}

/// Some records of a file, in its order.
pub(super) trait RecordBlock {
    /// Tells of the cells of these columns, until the consumer has had enough: then it is `false`.
    fn each(self, columns: &[usize], consumer: &mut impl CellConsumer) -> Result<bool, DataError>;
}

/// Who is told of records, cell by cell.
pub(super) trait CellConsumer {
    /// The cell of the column at this place among those that are read, and its line or record.
    fn cell(
        &mut self,
        line: u64,
        column: usize,
        cell: Result<Cell<'_>, CellProblem>,
    ) -> Result<(), DataError>;

    /// The same of a field of a text.
    #[inline]
    fn text(&mut self, line: u64, column: usize, text: &[u8]) -> Result<(), DataError> {
        self.cell(line, column, Ok(Cell::Text(text)))
    }

    /// A value of an encoded column.
    fn pair(&mut self, _index: u32, _value: f64) {}

    /// A record is complete; `false` ends the reading.
    fn end(&mut self) -> Result<bool, DataError>;
}

/// Who wants to know what is in a file.
pub(super) trait FileConsumer {
    fn consume(self, file: &str, source: impl RecordFile) -> Result<(), DataError>;
}

/// How a text file is laid out, as far as its format leaves it open.
pub(super) struct TextLayout {
    pub(super) delimiter: u8,
    pub(super) header: bool,
    /// Whether the names of a header are taken without the space around them.
    pub(super) trim: bool,
    /// The columns of a LIBSVM file, and whether its labels may be missing.
    pub(super) features: u32,
    pub(super) unlabelled: bool,
    pub(super) limits: ReadLimits,
}

/// Opens a file of this format, and hands it on.
pub(super) fn with_file(
    path: &Path,
    format: Format,
    layout: &TextLayout,
    watch: Option<&Watch<'_>>,
    consumer: impl FileConsumer,
) -> Result<(), DataError> {
    let file = &*open::name(path);
    let text = || {
        let reader = open::open(path)?;
        Ok::<_, DataError>(match watch {
            Some(watch) => watch.over(reader),
            None => reader,
        })
    };
    match format {
        Format::Csv | Format::Tsv => {
            consumer.consume(file, DelimitedFile::open(text()?, file, layout)?)
        }
        Format::Libsvm => consumer.consume(file, LibsvmFile::open(text()?, file, layout)),
        Format::Parquet if open::is_standard(path) => {
            Err(DataError::file(file, FileProblem::NotFromStandardInput("a Parquet file")))
        }
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            let source = open::plain(path)?;
            if let Some(watch) = watch {
                watch.pass(&source).map_err(|e| open::failed(file, &e))?;
            }
            let source = SharedFile::new(source).map_err(|e| open::failed(file, &e))?;
            sound(file, || consumer.consume(file, ParquetFile::open(source, file)?))
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(DataError::file(file, FileProblem::NoParquet)),
    }
}

/// Opens a file that a schema describes, and hands it on.
pub(super) fn with_described(
    path: &Path,
    reading: ReadOptions,
    (schema, purpose): (&Schema, Purpose),
    watch: Option<&Watch<'_>>,
    consumer: impl FileConsumer,
) -> Result<(), DataError> {
    open::no_folder(path)?;
    let format = Format::decide(path, reading.format, schema)
        .map_err(|problem| DataError::file(&open::name(path), problem))?;
    ready(schema, purpose)?;
    let layout = TextLayout::of(format, schema, purpose, reading.limits())?;
    with_file(path, format, &layout, watch, consumer)
}

impl TextLayout {
    /// How the schema says that it is.
    fn of(
        format: Format,
        schema: &Schema,
        purpose: Purpose,
        limits: ReadLimits,
    ) -> Result<Self, SchemaError> {
        let delimiter = match format {
            Format::Csv | Format::Tsv => format.delimiter(schema)?,
            Format::Libsvm | Format::Parquet => b',',
        };
        Ok(Self { limits, ..Self::with(delimiter, schema, purpose) })
    }

    /// The same with this delimiter.
    pub(super) fn with(delimiter: u8, schema: &Schema, purpose: Purpose) -> Self {
        Self {
            delimiter,
            header: schema.header(),
            trim: schema.trim(),
            features: schema.features().unwrap_or(0),
            unlabelled: purpose == Purpose::Predict,
            limits: ReadLimits::default(),
        }
    }
}

/// (schema column, file column) for what is read, in schema order, and the names of the file's
/// columns, which are the schema's where the file has none.
pub(super) type PlacedColumns = (Vec<(usize, usize)>, Vec<Vec<u8>>);

/// Where the columns are that are read.
pub(super) fn placed(
    source: &impl RecordFile,
    filling: &Filling<'_>,
    file: &str,
) -> Result<PlacedColumns, DataError> {
    let schema = filling.schema;
    let (columns, names) = match source.head() {
        FileHead::Names(_)
            if filling.purpose != Purpose::Predict && !schema.header() && says_whose(schema) =>
        {
            return Err(DataError::file(file, FileProblem::NamedColumns));
        }
        FileHead::Names(names) => {
            let all: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
            (place(&all, schema, &filling.encoder, file)?, names.clone())
        }
        FileHead::Fields { first, line } => by_position(first.len(), *line, filling, file)?,
        FileHead::Pairs => {
            let is_target = |c: &crate::Column| matches!(c.role(), Role::Target(_));
            let target = schema.columns().iter().position(is_target);
            (target.map(|slot| (slot, 0)).into_iter().collect(), Vec::new())
        }
    };
    for &(slot, column) in &columns {
        let (name, role) = (schema.columns()[slot].name(), schema.columns()[slot].role());
        // A party has an id, as a person has.
        let party = Role::User(IdForm::default());
        let role = if schema.parties_from() == Some(name) { &party } else { role };
        source.readable(column, role).map_err(|found| unreadable(file, name, found))?;
    }
    Ok((columns, names))
}

fn says_whose(schema: &Schema) -> bool {
    schema.user().is_some() || schema.parties_from().is_some()
}

/// A column of a type that is not read.
pub(super) fn unreadable(file: &str, column: &str, found: String) -> DataError {
    DataError::file(file, FileProblem::ColumnType { column: column.into(), found })
}

/// Cells into a table, or into the hands of whoever is told of complete records: `columns` are
/// encoded, and those behind them are kept as they are.
pub(super) struct Feed<'f, 's, E> {
    pub(super) file: &'f str,
    pub(super) filling: &'f mut Filling<'s>,
    pub(super) columns: &'f [(usize, usize)],
    /// The names and types of the kept columns, and their cells.
    pub(super) keep: &'f [String],
    pub(super) kinds: &'f [KeptKind],
    pub(super) kept: Vec<KeptCell>,
    /// Told of every record that is complete.
    pub(super) end: E,
}

impl<E> CellConsumer for Feed<'_, '_, E>
where
    E: FnMut(&mut Filling<'_>, &[KeptCell]) -> Result<bool, DataError>,
{
    #[inline]
    fn cell(
        &mut self,
        line: u64,
        column: usize,
        cell: Result<Cell<'_>, CellProblem>,
    ) -> Result<(), DataError> {
        let slot = self.columns.get(column).map(|&(slot, _)| slot);
        let kept = column.wrapping_sub(self.columns.len());
        let cell = cell.map_err(|problem| {
            let name = match slot {
                Some(slot) => self.filling.schema.columns()[slot].name(),
                None => &self.keep[kept],
            };
            DataError::cell(self.file, line, name, problem)
        })?;
        match slot {
            Some(slot) => self.filling.put(slot, cell, self.file, line),
            None => {
                self.kept[kept].put(cell, self.kinds[kept]);
                Ok(())
            }
        }
    }

    #[inline]
    fn text(&mut self, line: u64, column: usize, text: &[u8]) -> Result<(), DataError> {
        match self.columns.get(column) {
            Some(&(slot, _)) if self.filling.put_digits(slot, text) => Ok(()),
            _ => self.other_text(line, column, text),
        }
    }

    fn pair(&mut self, index: u32, value: f64) {
        self.filling.push(index, value);
    }

    fn end(&mut self) -> Result<bool, DataError> {
        (self.end)(self.filling, &self.kept)
    }
}

impl<E> Feed<'_, '_, E>
where
    Self: CellConsumer,
{
    /// Kept out of the loop over fields, most of which are plain numbers.
    #[inline(never)]
    fn other_text(&mut self, line: u64, column: usize, text: &[u8]) -> Result<(), DataError> {
        self.cell(line, column, Ok(Cell::Text(text)))
    }
}

/// All records of a file into a table, on all cores; they are put behind those that are there.
pub(super) struct LoadFile<'f, 's> {
    pub(super) filling: &'f mut Filling<'s>,
    pub(super) depth: Depth,
}

impl FileConsumer for LoadFile<'_, '_> {
    fn consume(self, file: &str, mut source: impl RecordFile) -> Result<(), DataError> {
        let filling = self.filling;
        let (columns, _) = placed(&source, filling, file)?;
        if self.depth == Depth::Header {
            return Ok(());
        }
        let before = filling.records();
        let fields: Vec<usize> = columns.iter().map(|&(_, field)| field).collect();
        parallel::encode(
            filling,
            file,
            || source.next(&fields),
            |block, part| {
                let end = |part: &mut Filling<'_>, _: &[KeptCell]| part.end(file).map(|()| true);
                let (keep, kinds, kept) = (&[][..], &[][..], Vec::new());
                let mut feed =
                    Feed { file, filling: part, columns: &columns, keep, kinds, kept, end };
                block.each(&fields, &mut feed).map(|_| ())
            },
        )?;
        if filling.records() == before {
            Err(DataError::file(file, source.no_records()))
        } else {
            Ok(())
        }
    }
}

/// Reads an open file into a table of its own.
pub(super) fn parsed(
    source: impl RecordFile,
    file: &str,
    schema: &Schema,
    purpose: Purpose,
) -> Result<Table, DataError> {
    let mut filling = Filling::new(schema, purpose);
    LoadFile { filling: &mut filling, depth: Depth::Values }.consume(file, source)?;
    Ok(filling.finish())
}
