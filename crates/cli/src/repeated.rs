//! A file that was given twice by a slip.

use std::path::PathBuf;

/// A guarantee is about one record, or the records of one user; a file that was taken twice has two
/// of everybody. Where a budget pays, that is refused.
pub fn given_twice(paths: &[PathBuf]) -> Option<String> {
    let places: Vec<_> = paths.iter().map(|path| path.canonicalize().ok()).collect();
    let again =
        (1..paths.len()).find(|&i| places[i].is_some() && places[..i].contains(&places[i]))?;
    Some(format!(
        "{} is given twice: each of its records is in the table twice, and where the unit is the record, the \
         guarantee is about one of the two.",
        paths[again].display()
    ))
}
