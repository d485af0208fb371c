//! Public files, as they are published.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use liblzma::bufread::XzDecoder;

use crate::error::ExperimentError;
use crate::table::RowTable;

fn open(path: &Path) -> Result<Box<dyn BufRead>, ExperimentError> {
    let file = BufReader::new(File::open(path).map_err(|why| ExperimentError::file(path, why))?);
    if path.extension().is_some_and(|end| end == "xz") {
        return Ok(Box::new(BufReader::new(XzDecoder::new(file))));
    }
    Ok(Box::new(file))
}

/// A row as it is in a LIBSVM file.
type Labelled = (f64, Vec<(u32, f64)>);

/// A LIBSVM file of two classes, rows scaled to norm 1; the larger label is +1.
pub(super) fn libsvm(path: &Path, columns: usize) -> Result<RowTable, ExperimentError> {
    Ok(classes(columns, libsvm_rows(path, columns)?))
}

/// Adult in two LIBSVM files, with a column of ones behind the others, rows scaled to norm 1.
pub(super) fn adult_whole(first: &Path, second: &Path) -> Result<RowTable, ExperimentError> {
    const ONES: u32 = 123;
    let mut rows = libsvm_rows(first, ONES as usize)?;
    rows.extend(libsvm_rows(second, ONES as usize)?);
    rows.iter_mut().for_each(|(_, row)| row.push((ONES, 1.0)));
    Ok(classes(ONES as usize + 1, rows))
}

fn libsvm_rows(path: &Path, columns: usize) -> Result<Vec<Labelled>, ExperimentError> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text).map_err(|why| ExperimentError::file(path, why))?;
    let wrong = || ExperimentError::file(path, "it is not a LIBSVM file of this many columns");
    let mut rows: Vec<Labelled> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        let label = words.next().and_then(|word| word.parse().ok()).ok_or_else(wrong)?;
        let pair = |word: &str| -> Option<(u32, f64)> {
            let (index, value) = word.split_once(':')?;
            let index: u32 = index.parse().ok()?;
            (1..=columns as u32).contains(&index).then_some((index - 1, value.parse().ok()?))
        };
        let row: Option<Vec<_>> = words.map(pair).collect();
        rows.push((label, row.ok_or_else(wrong)?));
    }
    Ok(rows)
}

fn classes(columns: usize, rows: Vec<Labelled>) -> RowTable {
    let largest = rows.iter().map(|row| row.0).fold(f64::NEG_INFINITY, f64::max);
    let mut table = RowTable::new(columns, true);
    for (label, row) in rows {
        table.push(row, if label == largest { 1.0 } else { -1.0 });
    }
    table
}

/// The bounds of the numbers of Adult, and its words: column by column.
const ADULT: [Option<(f64, f64)>; 14] = [
    Some((17.0, 90.0)),
    None,
    Some((1e4, 1.5e6)),
    None,
    Some((1.0, 16.0)),
    None,
    None,
    None,
    None,
    None,
    Some((0.0, 99_999.0)),
    Some((0.0, 4_356.0)),
    Some((1.0, 99.0)),
    None,
];

/// Adult: numbers scaled by their bounds to ±1, words by their place in the order of the alphabet,
/// and all divided by √14; rows with a missing value are left out, as in DPA19.
pub(super) fn adult(path: &Path) -> Result<RowTable, ExperimentError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .trim(csv::Trim::All)
        .flexible(true)
        .from_reader(open(path)?);
    let mut rows: Vec<csv::StringRecord> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|why| ExperimentError::file(path, why))?;
        if record.len() == 15 && record.iter().all(|word| word != "?") {
            rows.push(record);
        }
    }
    let words: Vec<Vec<String>> = (0..14)
        .map(|column| {
            let mut all: Vec<String> = rows.iter().map(|row| row[column].to_owned()).collect();
            all.sort_unstable();
            all.dedup();
            all
        })
        .collect();
    let mut table = RowTable::new(14, true);
    for row in &rows {
        let value = |column: usize| -> Option<f64> {
            let share = match ADULT[column] {
                Some((low, high)) => (row[column].parse::<f64>().ok()? - low) / (high - low),
                None => {
                    let at = words[column].binary_search_by(|word| (**word).cmp(&row[column]));
                    at.ok()? as f64 / (words[column].len() - 1).max(1) as f64
                }
            };
            Some((2.0 * share - 1.0).clamp(-1.0, 1.0) / 14_f64.sqrt())
        };
        let values: Option<Vec<f64>> = (0..14).map(value).collect();
        let values = values.ok_or_else(|| ExperimentError::file(path, "a number was expected"))?;
        let target = if row[14].starts_with(">50K") { 1.0 } else { -1.0 };
        table.push((0..).zip(values), target);
    }
    Ok(table)
}

/// Forest cover: columns scaled by their largest values, rows to norm 1; class 2 is +1. With `ones`
/// there is a column of them behind the others.
pub(super) fn covtype(path: &Path, ones: bool) -> Result<RowTable, ExperimentError> {
    let mut reader = csv::Reader::from_reader(open(path)?);
    let mut rows: Vec<Vec<f32>> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|why| ExperimentError::file(path, why))?;
        let row: Option<Vec<f32>> = record.iter().map(|word| word.parse().ok()).collect();
        let row = row.filter(|row| row.len() == 55);
        rows.push(
            row.ok_or_else(|| ExperimentError::file(path, "55 numbers a row were expected"))?,
        );
    }
    // The class is the last number, and gives its place to the ones.
    let targets: Vec<f64> =
        rows.iter().map(|row| if row[54] == 2.0 { 1.0 } else { -1.0 }).collect();
    rows.iter_mut().for_each(|row| row[54] = 1.0);
    let columns = if ones { 55 } else { 54 };
    Ok(scaled(columns, rows.iter().map(|row| &row[..columns]).zip(targets.iter().copied())))
}

/// Columns divided by their largest absolute values (which are at least 1), rows by their norms
/// where those are above 1.
pub(super) fn scaled<'r>(
    columns: usize,
    rows: impl Iterator<Item = (&'r [f32], f64)> + Clone,
) -> RowTable {
    let mut most = vec![1.0_f32; columns];
    for (row, _) in rows.clone() {
        most.iter_mut().zip(row).for_each(|(most, value)| *most = most.max(value.abs()));
    }
    let mut table = RowTable::new(columns, true);
    for (row, target) in rows {
        let scaled = row.iter().zip(&most).map(|(value, most)| f64::from(value / most));
        table.push((0..).zip(scaled), target);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_as_they_are_published() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("small");
        std::fs::write(&path, "1 1:3 3:4\n2 2:0.5\n").unwrap();
        let table = libsvm(&path, 3).unwrap();
        assert_eq!(table.targets, [-1.0, 1.0]);
        assert_eq!(table.row(0).collect::<Vec<_>>(), [(0, 0.6), (2, 0.8)]);
        assert!(libsvm(&path, 2).is_err());
        let line = "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, Cuba";
        let text = format!("{line}, <=50K\n{}, >50K\n\n", line.replace("State-gov", "?"));
        std::fs::write(&path, &text).unwrap();
        assert_eq!(adult(&path).unwrap().len(), 1, "rows with a ? are left out");
        std::fs::write(&path, text.replace('?', "Private")).unwrap();
        assert_eq!(adult(&path).unwrap().targets, [-1.0, 1.0]);
    }
}
