//! The rows of each person together, without all rows in memory: they are dealt to parts by the
//! place of their person, in one scan, and each part is then put in order in memory.

use super::cached_rows::CachedPeople;
use super::file::{CacheError, CacheFile, CacheWriter};
use crate::Table;
use std::path::Path;

/// Bytes of rows of a part, at least; a person's rows are always in one.
const PART: usize = 64 << 20;

/// Parts, at most: each has some rows in memory while rows are dealt.
const MOST_PARTS: usize = 256;

/// Bytes of rows of a part that are written at a time.
const PIECE: usize = 256 << 10;

/// A file with the rows of each person together, persons by their places, the rows of a person in
/// their order.
pub(super) fn group(
    file: &CacheFile,
    people: &CachedPeople,
    folder: &Path,
    block: usize,
) -> Result<CacheFile, CacheError> {
    group_in_parts(file, people, folder, (PART, block))
}

fn group_in_parts(
    file: &CacheFile,
    people: &CachedPeople,
    folder: &Path,
    (part, block): (usize, usize),
) -> Result<CacheFile, CacheError> {
    let (mut bytes, mut table) = (Vec::new(), Table::default());
    let mut rows_of = vec![0; people.rows.len()];
    for (&place, &rows) in people.places.iter().zip(&people.rows) {
        rows_of[place as usize] = rows as usize;
    }
    // The first place of each part, by what an average row takes.
    let mut firsts = vec![0_u32];
    let mut dealt = CacheWriter::new(folder)?;
    let mut parts: Vec<DealtPart> = Vec::new();
    for number in 0..file.blocks() {
        file.read(number, &mut bytes, &mut table)?;
        if number == 0 {
            let row = table.stored() / table.len().max(1);
            let all: usize = rows_of.iter().sum();
            let most = (part.max(all * row / MOST_PARTS) / row.max(1)).max(1);
            let mut rows = 0;
            for (place, own) in (0..).zip(&rows_of) {
                if rows > 0 && rows + own > most {
                    firsts.push(place);
                    rows = 0;
                }
                rows += own;
            }
            parts.resize_with(firsts.len(), DealtPart::default);
        }
        for (i, &user) in table.users.iter().flatten().enumerate() {
            let place = *people.places.get(user as usize).ok_or(CacheError::Changed)?;
            let part = &mut parts[firsts.partition_point(|&first| first <= place) - 1];
            part.rows.push_row(&table, i, Some(place));
            if part.rows.stored() >= PIECE {
                part.write(&mut dealt)?;
            }
        }
    }
    parts.iter_mut().try_for_each(|part| part.write(&mut dealt))?;
    in_order(&dealt.finish(), &parts, folder, block)
}

/// The rows of some persons.
#[derive(Default)]
struct DealtPart {
    /// Those that are not written yet.
    rows: Table,
    /// The numbers of the blocks of the others.
    blocks: Vec<usize>,
}

impl DealtPart {
    fn write(&mut self, dealt: &mut CacheWriter) -> Result<(), CacheError> {
        if !self.rows.is_empty() {
            let number = dealt.blocks();
            dealt.write(number, &self.rows, self.rows.len())?;
            self.blocks.push(number);
            self.rows.clear();
        }
        Ok(())
    }
}

/// The parts one behind the other, each in the order of its persons, in blocks of whole persons.
fn in_order(
    dealt: &CacheFile,
    parts: &[DealtPart],
    folder: &Path,
    enough: usize,
) -> Result<CacheFile, CacheError> {
    let mut writer = CacheWriter::new(folder)?;
    let (mut bytes, mut piece) = (Vec::new(), Table::default());
    // The block that is being filled, and whose its last row is.
    let (mut block, mut persons, mut last) = (Table::default(), 0_u32, None);
    for part in parts {
        let mut all = Table::default();
        for &number in &part.blocks {
            dealt.read(number, &mut bytes, &mut piece)?;
            (0..piece.len()).for_each(|i| all.push_row(&piece, i, None));
        }
        let Some(places) = all.users.take() else { continue };
        let mut order: Vec<usize> = (0..places.len()).collect();
        // Stable: a person's sum is made in the order of the table.
        order.sort_by_key(|&i| places[i]);
        for i in order {
            if last != Some(places[i]) {
                if block.stored() >= enough {
                    writer.write(writer.blocks(), &block, persons as usize)?;
                    block.clear();
                    persons = 0;
                }
                last = Some(places[i]);
                persons += 1;
            }
            block.push_row(&all, i, Some(persons - 1));
        }
    }
    if !block.is_empty() {
        writer.write(writer.blocks(), &block, persons as usize)?;
    }
    Ok(writer.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Csr, Dense, Rows};

    /// The rows of a table, those of each person together: by sorting them in memory.
    fn sorted(table: &Table, places: &[u32]) -> Table {
        let users = table.users.clone().unwrap();
        let mut order: Vec<usize> = (0..table.len()).collect();
        order.sort_by_key(|&i| places[users[i] as usize]);
        let mut sorted = Table::default();
        order.iter().for_each(|&i| sorted.push_row(table, i, Some(places[users[i] as usize])));
        sorted
    }

    #[test]
    fn the_rows_of_a_person_are_together_and_in_their_order() {
        let users: Vec<u32> = (0..900_u32).map(|i| if i < 40 { i } else { i * i % 40 }).collect();
        let places: Vec<u32> = (0..40).map(|user| (user * 7 + 3) % 40).collect();
        let mut rows = vec![0; 40];
        users.iter().for_each(|&user| rows[user as usize] += 1);
        let people = CachedPeople { places: places.clone(), rows };
        let dense =
            Dense { rows: 900, columns: 2, values: (0..1800).map(|i| i as f64 / 7.0).collect() };
        let mut sparse = Csr::empty(9);
        (0..900_u32).for_each(|i| match i % 3 {
            0 => sparse.push(&[], &[]),
            _ => sparse.push(&[i % 9], &[f64::from(i)]),
        });
        for rows in [Rows::Dense(dense), Rows::Sparse(sparse)] {
            let targets = (0..900).map(f64::from).collect();
            let weights = Some((0..900).map(|i| f64::from(i) / 900.0).collect());
            let table =
                Table { rows, targets, users: Some(users.clone()), weights, names: Vec::new() };
            let folder = tempfile::tempdir().unwrap();
            let mut writer = CacheWriter::new(folder.path()).unwrap();
            for number in 0..9 {
                let mut block = Table::default();
                let own = 100 * number..100 * (number + 1);
                own.for_each(|i| block.push_row(&table, i, None));
                writer.write(number, &block, 100).unwrap();
            }
            let file = writer.finish();
            let wanted = sorted(&table, &places);
            for (part, enough) in [(1, 500), (2000, 1), (usize::MAX / 2, 1 << 20)] {
                let grouped =
                    group_in_parts(&file, &people, folder.path(), (part, enough)).unwrap();
                assert_eq!(grouped.units(), 40);
                let (mut all, mut block, mut before) = (Table::default(), Table::default(), 0);
                for number in 0..grouped.blocks() {
                    grouped.read(number, &mut Vec::new(), &mut block).unwrap();
                    let own = block.users.clone().unwrap();
                    (0..block.len()).for_each(|i| all.push_row(&block, i, Some(before + own[i])));
                    assert_eq!(grouped.places()[number].units as u32, own.last().unwrap() + 1);
                    before += own.last().unwrap() + 1;
                }
                assert_eq!(all, wanted, "{part}");
            }
        }
    }
}
