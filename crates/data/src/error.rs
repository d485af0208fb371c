//! What can be wrong with a file. A message names the file, the line, the column and what is
//! allowed, and **never a value from the data**, not even an undeclared column name: where a header
//! was forgotten, the "names" are the first record.

use crate::{CacheError, SchemaError};
use thiserror::Error;

/// An enumeration of what can be wrong, each with what the user can do about it.
macro_rules! with_hints {
    (
        $(#[$of:meta])*
        pub enum $name:ident {
            $(
                $(#[$about:meta])*
                $variant:ident $(($($held:tt)*))? $({$($fields:tt)*})? => $hint:literal,
            )*
        }
    ) => {
        $(#[$of])*
        pub enum $name {
            $($(#[$about])* $variant $(($($held)*))? $({$($fields)*})?,)*
        }

        impl $name {
            /// What the user can do about it.
            pub(crate) fn own_hint(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $hint,)*
                }
            }
        }
    };
}
pub(crate) use with_hints;

/// A cell of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CellPlace {
    /// The file as the user named it.
    pub file: String,
    /// Line in a text file, record in a Parquet file; from 1.
    pub line: u64,
    /// Column name from the schema.
    pub column: String,
}

impl std::fmt::Display for CellPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: column `{}`", self.file, self.line, self.column)
    }
}

/// Why a table could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file as a whole.
    #[error("{file}: {problem}")]
    File {
        /// The file as the user named it.
        file: String,
        /// What is wrong with the file.
        problem: FileProblem,
    },
    /// A problem with one line.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// The file as the user named it.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with the line.
        problem: LineProblem,
    },
    /// A problem with one cell.
    #[error("{place} {problem}")]
    Cell {
        /// The line or row, and the column.
        place: CellPlace,
        /// What is wrong with the cell.
        problem: CellProblem,
    },
    /// The schema, or how it is used.
    #[error(transparent)]
    Schema(#[from] SchemaError),
    /// The file that the table is read into.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

with_hints! {
/// A problem of a whole file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// Cannot be opened.
    #[error("cannot be opened: {0}")]
    Open(String) => "check the path and the permissions",
    /// A read failed part way.
    #[error("reading failed after line {line}: {reason}")]
    Read {
        /// Last line that was read.
        line: u64,
        /// The message of the reader.
        reason: String,
    } => "the file may be cut short or damaged; fetch or compress it again",
    /// Neither the name nor the schema says which format it is.
    #[error(
        "the name does not tell the format; known: .csv .tsv .data .libsvm .svm .parquet, also with .gz .xz .bz2 .zst or .zip"
    )]
    UnknownFormat => "say the format with `format`: csv, tsv, libsvm or parquet",
    /// Another encoding of text.
    #[error("the text is in UTF-16, and only UTF-8 is read")]
    Utf16 => "write it as UTF-8, for example with `iconv -f UTF-16 -t UTF-8`",
    /// Another encoding of text.
    #[error("the text is in UTF-32, and only UTF-8 is read")]
    Utf32 => "write it as UTF-8, for example with `iconv -f UTF-32 -t UTF-8`",
    /// Bytes that no text has.
    #[error("the file is not text: it has zero bytes in its first line")]
    NotText => "write the table as text in UTF-8; if it is a Parquet file, give `format = parquet`",
    /// An archive that is not one packed file.
    #[error("the .zip archive cannot be read: {0}")]
    Zip(String) => "unpack it, or pack the one table with gzip",
    /// It has to be read from its end.
    #[error("{0} cannot be read from standard input")]
    NotFromStandardInput(&'static str) => "save it to a file and give its name",
    /// More than the memory holds.
    #[error("the table does not fit into the memory")]
    TooLarge => "use a machine with more memory, or leave columns out",
    /// Format and schema do not go together.
    #[error("{0}")]
    WrongFormat(&'static str) =>
        "features in a schema is for LIBSVM files, [[column]] entries are for tables",
    /// Built without the feature `parquet`.
    #[error("this build reads no Parquet files; known: csv, tsv, libsvm")]
    NoParquet => "build with the feature `parquet`, or convert the file to CSV",
    /// Nothing in it.
    #[error("the file is empty")]
    Empty => "give a file with at least one record",
    /// Nothing below the header.
    #[error("the file has a header but no records")]
    NoRecords => "give a file with at least one record",
    /// A table in which columns have names, under a schema whose columns have places: whose a row is would be told by
    /// another column than the one that a budget knows.
    #[error("the file names its columns, and the schema says header = false and whose each row is")]
    NamedColumns => "leave header out of the schema",
    /// A declared column is not there.
    #[error("the file has no column `{0}`, which the schema declares")]
    MissingColumn(String) =>
        "check the spelling in the schema; if the fields are not between commas, set delimiter; if the file \
         has no header line, set header = false",
    /// The column to split by is not there.
    #[error("the file has no column `{0}` to split by")]
    NoKeyColumn(String) =>
        "name a column as its header does; without a header, as the schema does or as column_1, column_2, …",
    /// A column that was asked for is not there.
    #[error("the file has no column `{0}` to keep")]
    NoSuchColumn(String) =>
        "name a column as its header does; a LIBSVM file has none, and without a header only declared columns \
         have a name",
    /// A column is there that nobody declared.
    #[error("column {position} of the file is not declared in the schema; declared: {declared}")]
    UndeclaredColumn {
        /// Position in the header, from 1.
        position: usize,
        /// The names that the schema knows.
        declared: String,
    } =>
        "add a [[column]] entry (kind = \"ignored\" skips it), or set undeclared = \"ignore\"; if the first \
         line is a record, set header = false",
    /// Twice the same name.
    #[error("the header names column `{0}` twice")]
    DuplicateColumn(String) => "rename one of the two columns in the file",
    /// A header that seems to be a record.
    #[error("the first line looks like a record and not like the names of columns: {0}")]
    HeaderOfValues(&'static str) =>
        "give `no_header` if the first line is a record, or `header` if these are the names of the columns",
    /// One field only, with another delimiter in it.
    #[error("the first line has one field, and {0:?} in it")]
    OtherDelimiter(char) =>
        "give `format = tsv` if tabs are between the fields, or `delimiter = ','`",
    /// A dataset whose parts do not go together, or not with the schema.
    #[error("{0}")]
    Shape(String) => "give parts of the same length, and as many columns as there are features",
    /// A Parquet column of a kind that has no meaning here.
    #[error(
        "column `{column}` has the type {found}; readable are numbers, text, truth values and days, not nested"
    )]
    ColumnType {
        /// Column name from the schema.
        column: String,
        /// The type that was found.
        found: String,
    } =>
        "give days kind = \"date\"; declare others as ignored, or convert them before writing the file",
}
}

/// Why the system did not open a file, in a user's words.
pub(crate) fn system_words(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".into(),
        kind => kind.to_string(),
    }
}

with_hints! {
/// A problem of one line.
#[derive(Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineProblem {
    /// Too few or too many fields.
    #[error("the record has {found} fields where {expected} are expected")]
    Ragged {
        /// Fields on this line.
        found: usize,
        /// Fields as in the header or schema.
        expected: usize,
    } => "check the delimiter and the quoting of this line",
    /// A quote that is opened and not closed.
    #[error("a quoted field is not closed before the end of the file")]
    Unclosed =>
        "close the quote, or double it where it is meant: \"a \"\"quoted\"\" word\"; records behind an open \
         quote would be lost",
    /// A quote that is closed by another field's.
    #[error("a quoted field goes on behind its closing quote")]
    BehindQuote =>
        "close the quote, or double it where it is meant: \"a \"\"quoted\"\" word\"; records behind an open \
         quote would be lost",
    /// An empty line where it might be a record.
    #[error("the line is blank, and in a file of one column that may or may not be a record")]
    Blank => "write \"\" for a missing value, or remove the line",
    /// Bytes that are no text.
    #[error("the text is not UTF-8")]
    NotUtf8 => "write the file as UTF-8, for example with `iconv -f LATIN1 -t UTF-8`",
    /// Bytes that no text has.
    #[error("the record has zero bytes, which no text has")]
    ZeroBytes => "write the file again: a copy of it may have broken off",
    /// Too long.
    #[error("the record is longer than {0} bytes")]
    TooLong(usize) =>
        "check that the file is a table and that its quotes are closed; `max_line` allows longer records",
    /// A LIBSVM comment that might have been a record.
    #[error("the comment may hide a record or a part of one")]
    Comment => "remove the comment, or write it without `number:number` behind a record",
    /// A LIBSVM item that is no `index:value`.
    #[error("item {0} is not of the form index:value")]
    Pair(usize) => "a LIBSVM line reads: label index:value index:value …",
    /// A LIBSVM index above the declared width.
    #[error(
        "item {item} has an index beyond the declared {features} features; allowed: 1 to {features}"
    )]
    IndexBeyond {
        /// Item on the line, from 1.
        item: usize,
        /// The number of features that the schema declares.
        features: u32,
    } => "declare the full number of features, the same for every file of a job",
    /// LIBSVM counts from one.
    #[error("item {0} has index 0; indices start at 1")]
    IndexZero(usize) => "add one to every index of the file",
    /// Twice the same LIBSVM index.
    #[error("a feature index occurs twice")]
    IndexTwice => "keep one value per feature",
    /// A LIBSVM index below the one before it.
    #[error("item {0} has an index below that of the item before it")]
    Descending(usize) =>
        "sort the items of each record by index; two records that have run into one look like this too",
    /// A LIBSVM value that is not a number.
    #[error("the value of item {0} is not a number")]
    NotNumber(usize) => "write a finite decimal number such as 1, -0.5 or 2e-3",
    /// A LIBSVM value that is NaN or infinite.
    #[error("the value of item {0} is not finite (NaN or infinity)")]
    NotFinite(usize) => "write a finite decimal number such as 1, -0.5 or 2e-3",
}
}

with_hints! {
/// A problem of one cell.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellProblem {
    /// Text where a number belongs.
    #[error("is numeric, but the field is not a number")]
    NotNumber =>
        "correct the field; if it stands for a missing value, add its spelling to missing_tokens",
    /// NaN or infinite.
    #[error("is numeric, but the field is not finite (NaN or infinity)")]
    NotFinite =>
        "correct the field; if it stands for a missing value, add its spelling to missing_tokens",
    /// A label that no class spells.
    #[error("holds a label outside its classes; allowed: {0}")]
    OutsideClasses(String) => "correct the label, or add its spelling to the classes in the schema",
    /// A label that no class spells, in a LIBSVM file.
    #[error("holds a label outside its classes; allowed: {0}")]
    OutsideLabels(String) =>
        "say the labels of the file with `classes`, for example `classes = 0,1`, or in the schema",
    /// A category that is not in the list, under `unknown = "error"`.
    #[error("holds a value outside its categories")]
    OutsideCategories => "add it to the categories, or let unknown name a category or \"ignore\"",
    /// No day.
    #[error(
        "is a date, but the field is not a day from 0001-01-01 to 9999-12-31 written as YYYY-MM-DD"
    )]
    NotDay =>
        "write days as 1970-01-31; if it stands for a missing value, add it to missing_tokens",
    /// Text that is no text.
    #[error("holds text that is not UTF-8")]
    NotUtf8 => "write the file with text as UTF-8",
    /// No label.
    #[error("is the target, but the field is missing")]
    TargetMissing => "remove the record, or give the target a `missing` value in the schema",
    /// No weight.
    #[error("says how much a record counts, but the field is missing")]
    WeightMissing => "remove the record, or give the column a `missing` number in the schema",
    /// No owner.
    #[error("names the user, but the field is missing")]
    UserMissing => "every record needs an owner when records are grouped by user",
    /// No party.
    #[error("names the party, but the field is missing")]
    PartyMissing => "every record needs a party where a column says with which one it is",
    /// An owner that may be somebody else too.
    #[error(
        "names the user, but the field is a floating-point number that is not whole, or too large to be exact, or the \
         schema reads ids as text"
    )]
    UserFloat =>
        "one person must not have two ids: write ids as integers or as text; `as = \"text\"` of the user column \
         keeps all spellings of a text apart",
    /// An owner that is spelt in many ways.
    #[error("names the user, but the field is a point in time that is no whole day")]
    UserMoment =>
        "one person must not have two ids: write ids as integers or as text; `as = \"text\"` of the user column \
         keeps all spellings of a text apart",
    /// An owner that is an integer to some programs, and text to others.
    #[error(
        "names the user, but the field has a point or a comma behind its digits that is not the decimal one of the schema"
    )]
    UserSeparator =>
        "one person must not have two ids: write whole numbers as digits alone, or set `decimal` to what the file \
         has; `as = \"text\"` of the user column keeps all spellings of a text apart",
    /// An owner within quotes that are no part of the format.
    #[error("names the user, but the field has quotes around it")]
    UserQuotes =>
        "one person must not have two ids: in CSV a quote stands directly behind the delimiter; `as = \"text\"` of \
         the user column keeps all spellings of a text apart",
}
}

impl DataError {
    pub(crate) fn file(file: &str, problem: FileProblem) -> Self {
        Self::File { file: file.into(), problem }
    }

    pub(crate) fn line(file: &str, line: u64, problem: LineProblem) -> Self {
        Self::Line { file: file.into(), line, problem }
    }

    pub(crate) fn cell(file: &str, line: u64, column: &str, problem: CellProblem) -> Self {
        Self::Cell { place: CellPlace { file: file.into(), line, column: column.into() }, problem }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { problem: FileProblem::OtherDelimiter(';'), .. } => {
                "give `delimiter = ';'` if it is between the fields, or `delimiter = ','`"
            }
            Self::File { problem: FileProblem::OtherDelimiter('|'), .. } => {
                "give `delimiter = '|'` if it is between the fields, or `delimiter = ','`"
            }
            Self::File { problem, .. } => problem.own_hint(),
            Self::Line { problem, .. } => problem.own_hint(),
            Self::Cell { problem, .. } => problem.own_hint(),
            Self::Schema(e) => e.hint(),
            Self::Cache(e) => e.hint(),
        }
    }
}
