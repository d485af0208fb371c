//! Any public sparse matrix `A`, from lines `row column value`.
//!
//! Rows count from 0; a column is a feature, by name or, where no name is a number, by number from
//! 0. There are as many rows as the largest row number says. Entries at the same place are added
//! up. What follows `#` is a remark.

use super::{Constraint, Entry, in_file};
use crate::catalogue::{Parameter, Range};
use crate::graph::{feature, lines, number};
use crate::{ParseError, SparseMatrix};

/// Far more rows than any model needs; a slip of the keyboard must not ask for terabytes.
const MOST_ROWS: usize = 100_000_000;

pub(super) const ENTRY: Entry = Entry {
    name: "matrix",
    parameters: &[Parameter::required("file", Range::File)],
    about: "the penalty acts on A times the coefficients, A a public sparse matrix; a line per entry: row \
            feature value",
    build: |arguments, context| {
        let text = context.file(&arguments.file)?;
        let matrix = SparseMatrix::parse(&text, context.features)
            .map_err(|e| in_file(&arguments.file, e))?;
        let spec = format!("{}:{}", ENTRY.name, arguments.file);
        Ok(Constraint { spec, ..Constraint::from_matrix(matrix) })
    },
};

impl SparseMatrix {
    /// Reads a matrix from lines `row column value`. Rows count from 0; a column is a feature, by
    /// name or, where no name is a number, by number from 0. Entries at the same place are added
    /// up, and what follows `#` is a remark.
    ///
    /// # Errors
    /// [`ParseError::Line`], with the line, for one that is not understood, and for a text without
    /// any entry.
    pub fn parse(text: &str, features: &[String]) -> Result<Self, ParseError> {
        let mut triplets = Vec::new();
        let mut last = 0;
        for (line, words) in lines(text) {
            last = line;
            let fail = |problem| ParseError::Line { file: String::new(), line, problem };
            let [row, column, value] = words[..] else {
                return Err(fail(format!(
                    "{} words; an entry is written `row feature value`",
                    words.len()
                )));
            };
            let row =
                row.parse::<usize>().ok().filter(|r| *r < MOST_ROWS).ok_or_else(|| {
                    fail(format!("`{row}` is not a row number; rows count from 0"))
                })?;
            let column = feature(column, features).map_err(fail)?;
            triplets.push((row, column, number(value).map_err(fail)?));
        }
        if triplets.is_empty() {
            let problem = "no entry; an entry is written `row feature value`".to_owned();
            return Err(ParseError::Line { file: String::new(), line: last + 1, problem });
        }
        let rows = triplets.iter().map(|t| t.0 + 1).max().unwrap_or(0);
        Ok(SparseMatrix::from_triplets(rows, features.len(), &triplets))
    }
}
