//! What can be wrong with a file. A message names the file, the line, the column and what is allowed, and
//! **never a value from the data**, not even an undeclared column name: where a header was forgotten, the
//! "names" are the first record.

use crate::SchemaError;
use thiserror::Error;

/// A cell of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file as the user named it.
    pub file: String,
    /// Line in a text file, record in a Parquet file; from 1.
    pub line: u64,
    /// Column name from the schema.
    pub column: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: column `{}`", self.file, self.line, self.column)
    }
}

/// Why a table could not be read.
#[derive(Debug, Error)]
pub enum DataError {
    /// The file as a whole.
    #[error("{file}: {problem}")]
    File {
        /// The file as the user named it.
        file: String,
        /// What is wrong.
        problem: FileProblem,
    },
    /// One line.
    #[error("{file}:{line}: {problem}")]
    Line {
        /// The file as the user named it.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong.
        problem: LineProblem,
    },
    /// One cell.
    #[error("{place} {problem}")]
    Cell {
        /// Where.
        place: Place,
        /// What is wrong.
        problem: CellProblem,
    },
    /// The schema, or how it is used.
    #[error(transparent)]
    Schema(#[from] SchemaError),
}

/// A problem of a whole file.
#[derive(Debug, Error)]
pub enum FileProblem {
    /// Cannot be opened.
    #[error("cannot be opened: {0}")]
    Open(String),
    /// A read failed part way.
    #[error("reading failed after line {line}: {reason}")]
    Read {
        /// Last line that was read.
        line: u64,
        /// What the reader said.
        reason: String,
    },
    /// Neither the name nor the schema says which format it is.
    #[error(
        "the name does not tell the format; known: .csv .tsv .data .libsvm .svm .parquet, also with .gz or .xz"
    )]
    UnknownFormat,
    /// Format and schema do not go together.
    #[error("{0}")]
    WrongFormat(&'static str),
    /// Built without the feature `parquet`.
    #[error("this build reads no Parquet files; known: csv, tsv, libsvm")]
    NoParquet,
    /// Nothing in it.
    #[error("the file is empty")]
    Empty,
    /// Nothing below the header.
    #[error("the file has a header but no records")]
    NoRecords,
    /// A declared column is not there.
    #[error("the file has no column `{0}`, which the schema declares")]
    MissingColumn(String),
    /// A column that was asked for is not there.
    #[error("the file has no column `{0}` to keep")]
    NoSuchColumn(String),
    /// A Parquet file has its contents at the end, so it cannot be read as it comes.
    #[error("Parquet cannot be read from a pipe; give the file by its name, or pipe CSV")]
    PipedParquet,
    /// A column is there that nobody declared.
    #[error("column {position} of the file is not declared in the schema; declared: {declared}")]
    UndeclaredColumn {
        /// Position in the header, from 1.
        position: usize,
        /// The names that the schema knows.
        declared: String,
    },
    /// Twice the same name.
    #[error("the header names column `{0}` twice")]
    DuplicateColumn(String),
    /// A Parquet column of a kind that has no meaning here.
    #[error(
        "column `{column}` has the type {found}; readable are numbers, text and truth values, not nested"
    )]
    ColumnType {
        /// Column name from the schema.
        column: String,
        /// Its type.
        found: String,
    },
}

/// Why the system did not open a file, in a user's words.
pub(crate) fn system_words(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".into(),
        kind => kind.to_string(),
    }
}

/// A problem of one line.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LineProblem {
    /// Too few or too many fields.
    #[error("the record has {found} fields where {expected} are expected")]
    Ragged {
        /// Fields on this line.
        found: usize,
        /// Fields as in the header or schema.
        expected: usize,
    },
    /// A LIBSVM item that is no `index:value`.
    #[error("item {0} is not of the form index:value")]
    Pair(usize),
    /// A LIBSVM index above the declared width.
    #[error("item {item} has an index beyond the declared {features} features; allowed: 1 to {features}")]
    IndexBeyond {
        /// Item on the line, from 1.
        item: usize,
        /// Declared width.
        features: u32,
    },
    /// LIBSVM counts from one.
    #[error("item {0} has index 0; indices start at 1")]
    IndexZero(usize),
    /// Twice the same LIBSVM index.
    #[error("a feature index occurs twice")]
    IndexTwice,
    /// A LIBSVM value that is not a number.
    #[error("the value of item {0} is not a number")]
    NotNumber(usize),
    /// A LIBSVM value that is NaN or infinite.
    #[error("the value of item {0} is not finite (NaN or infinity)")]
    NotFinite(usize),
}

/// A problem of one cell.
#[derive(Debug, Clone, Error, PartialEq, Eq)]
pub enum CellProblem {
    /// Text where a number belongs.
    #[error("is numeric, but the field is not a number")]
    NotNumber,
    /// NaN or infinite.
    #[error("is numeric, but the field is not finite (NaN or infinity)")]
    NotFinite,
    /// A label that no class spells.
    #[error("holds a label outside its classes; allowed: {0}")]
    OutsideClasses(String),
    /// No label.
    #[error("is the target, but the field is missing")]
    TargetMissing,
    /// No owner.
    #[error("names the user, but the field is missing")]
    UserMissing,
}

impl DataError {
    pub(crate) fn file(file: &str, problem: FileProblem) -> Self {
        Self::File { file: file.into(), problem }
    }

    pub(crate) fn line(file: &str, line: u64, problem: LineProblem) -> Self {
        Self::Line { file: file.into(), line, problem }
    }

    pub(crate) fn cell(file: &str, line: u64, column: &str, problem: CellProblem) -> Self {
        Self::Cell { place: Place { file: file.into(), line, column: column.into() }, problem }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::File { problem, .. } => problem.hint(),
            Self::Line { problem, .. } => problem.hint(),
            Self::Cell { problem, .. } => problem.hint(),
            Self::Schema(e) => e.hint(),
        }
    }
}

impl FileProblem {
    fn hint(&self) -> &'static str {
        match self {
            Self::Open(_) => "check the path and the permissions",
            Self::Read { .. } => "the file may be cut short or damaged; fetch or compress it again",
            Self::UnknownFormat => "say the format with --format: csv, tsv, libsvm or parquet",
            Self::WrongFormat(_) => {
                "`features` in a schema is for LIBSVM files, [[column]] entries are for tables"
            }
            Self::NoParquet => "build with the feature `parquet`, or convert the file to CSV",
            Self::Empty | Self::NoRecords => "give a file with at least one record",
            Self::MissingColumn(_) => {
                "check the spelling in the schema; if the fields are not between commas, set delimiter; if the file \
                 has no header line, set header = false"
            }
            Self::NoSuchColumn(_) => {
                "name a column as its header does; a LIBSVM file has none, and without a header only declared columns \
                 have a name"
            }
            Self::PipedParquet => "give the file by its name, or pipe CSV",
            Self::UndeclaredColumn { .. } => {
                "add a [[column]] entry (kind = \"ignored\" skips it), or set undeclared = \"ignore\"; if the first \
                 line is a record, set header = false"
            }
            Self::DuplicateColumn(_) => "rename one of the two columns in the file",
            Self::ColumnType { .. } => "declare the column as ignored, or convert it before writing the file",
        }
    }
}

impl LineProblem {
    fn hint(&self) -> &'static str {
        match self {
            Self::Ragged { .. } => "check the delimiter and the quoting of this line",
            Self::Pair(_) => "a LIBSVM line reads: label index:value index:value …",
            Self::IndexBeyond { .. } => {
                "declare the full number of features, the same for every file of a job"
            }
            Self::IndexZero(_) => "add one to every index of the file",
            Self::IndexTwice => "keep one value per feature",
            Self::NotNumber(_) | Self::NotFinite(_) => {
                "write a finite decimal number such as 1, -0.5 or 2e-3"
            }
        }
    }
}

impl CellProblem {
    fn hint(&self) -> &'static str {
        match self {
            Self::NotNumber | Self::NotFinite => {
                "correct the field; if it stands for a missing value, add its spelling to missing_tokens"
            }
            Self::OutsideClasses(_) => "correct the label, or add its spelling to the classes in the schema",
            Self::TargetMissing => "remove the record, or give the target a `missing` value in the schema",
            Self::UserMissing => "every record needs an owner when records are grouped by user",
        }
    }
}
