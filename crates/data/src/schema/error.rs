//! What can be wrong with a schema. All of it is public, so messages may quote it.

use crate::error::with_hints;
use thiserror::Error;

with_hints! {
/// Why a schema was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// No schema was given.
    #[error("no schema was given, and nothing about private data is guessed from the data")]
    None =>
        "write a schema (see docs/schema.md), or draft one from PUBLIC data of the same shape with \
         `reticent schema init FILE`; for LIBSVM, `features = N` and `row_norm = R` are enough",
    /// The schema file cannot be opened.
    #[error("{file}: the schema cannot be read: {reason}")]
    Open {
        /// The schema file.
        file: String,
        /// What the operating system said.
        reason: String,
    } => "check the path and the permissions",
    /// Not TOML, or a key that does not exist. The line itself is not shown: it may be a record,
    /// where a table was given for the schema.
    #[error("the schema is not valid: {0}")]
    Syntax(String) => "see docs/schema.md for every key and an example",
    /// An error inside a named file.
    #[error("{file}: {source}")]
    In {
        /// The schema file.
        file: String,
        /// What is wrong in it.
        source: Box<SchemaError>,
    } => "",
    /// The row norm is out of range.
    #[error("row_norm is {0}; allowed: a number from 1e-100 to 1e100, above 0")]
    RowNorm(f64) => "1 is the usual choice; rows with a larger norm are scaled down to it",
    /// The public number of records is out of range.
    #[error("public_n is 0; allowed: a whole number from 1")]
    PublicN => "give a count that is public, or leave public_n out",
    /// Not what a draft writes.
    #[error("[drafted] has a key or a digest that is not one; allowed: 64 hexadecimal digits each")]
    Drafted => "draft the schema again with `reticent schema init FILE`",
    /// The delimiter is not one byte.
    #[error("delimiter is {0:?}; allowed: one ASCII character other than a quote or a line break")]
    Delimiter(String) => "write for example delimiter = \",\" or delimiter = \"\\t\"",
    /// Not one of the two.
    #[error("decimal is {0:?}; allowed: \".\" or \",\"")]
    Decimal(String) => "leave it out where numbers have a point",
    /// One character for two things.
    #[error("decimal and delimiter are both \",\"")]
    DecimalIsDelimiter =>
        "say which character is between the fields, for example delimiter = \";\"",
    /// A draft that nobody has filled in.
    #[error("row_norm is still \"TODO\"")]
    OpenRowNorm =>
        "the square root of the number of feature columns shortens no row whose features are from -1 to 1; a \
         smaller one needs less noise",
    /// Something about one column.
    #[error("column `{column}` {what}")]
    Column {
        /// The name of the column.
        column: String,
        /// What is wrong with it.
        what: String,
    } => "correct the [[column]] entry; see docs/schema.md",
    /// Something about a pair of columns.
    #[error("the pair {pair} {what}")]
    Pair {
        /// The two columns.
        pair: String,
        /// What is wrong with it.
        what: String,
    } => "correct `pairs` at the top of the schema; see docs/curves.md",
    /// Twice the same name.
    #[error("column `{0}` is declared twice")]
    DuplicateColumn(String) => "keep one entry per column",
    /// A name without a column.
    #[error("there is no column `{given}`; declared: {allowed}")]
    UnknownColumn {
        /// The name that was asked for.
        given: String,
        /// The names that exist.
        allowed: String,
    } => "check the spelling, or declare the column in the schema",
    /// Ignored and user columns say nothing about values.
    #[error("column `{0}` cannot be the target: the schema gives it neither classes nor a range")]
    NotATarget(String) => "give it kind = \"target\" with `classes`, or with `lower` and `upper`",
    /// More than one target and no choice.
    #[error("several columns are declared as target: {0}")]
    SeveralTargets(String) => "choose one with `target`",
    /// A target is needed.
    #[error("no column is declared as target")]
    NoTarget => "give one column kind = \"target\", or choose one with `target`",
    /// More than one user column.
    #[error("several columns are declared as user; allowed: one")]
    SeveralUsers => "choose one with `user_column`",
    /// More than one column of weights.
    #[error("several columns are declared as weight; allowed: one")]
    SeveralWeights => "give the others kind = \"ignored\"",
    /// The same column twice.
    #[error("column `{0}` cannot be both the target and the user")]
    TargetIsUser(String) => "name two different columns",
    /// LIBSVM has no such column.
    #[error("a LIBSVM file has no user column")]
    UserInLibsvm => "use a CSV or Parquet file to group records by user",
    /// LIBSVM has no such column.
    #[error("a LIBSVM file has no column of parties")]
    PartiesInLibsvm => "use a CSV or Parquet file to read the party of each record",
    /// A column that already says something else.
    #[error("column `{0}` cannot say with which party a row is: the schema gives it another kind than ignored")]
    NoPartyColumn(String) => "give it `kind = \"ignored\"` in the schema, or name another column",
    /// Features and columns.
    #[error("a schema with `features` (LIBSVM) may declare only a target column")]
    ColumnsInLibsvm => "leave `features` out for a table, or the other columns for LIBSVM",
    /// LIBSVM has no such column.
    #[error("a LIBSVM file has no column of weights")]
    WeightInLibsvm => "use a CSV or Parquet file, or give the weights beside a table in memory",
    /// d = 0.
    #[error(
        "no feature is declared (d = 0); allowed: at least one numeric or categorical column, or features >= 1"
    )]
    NoFeatures =>
        "declare the columns that the model may use; if a file seems to have one column only, say its delimiter",
    /// More columns than an index can name.
    #[error("the schema encodes to {0} columns; allowed: up to 4294967295")]
    TooWide(usize) => "declare fewer categories",
}
}

impl SchemaError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::In { source, .. } => source.hint(),
            other => other.own_hint(),
        }
    }
}
