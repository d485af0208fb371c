//! Many numbers of which none may be lost: in memory, 8 bytes each, or in runs in a private file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Numbers that all piles of an evaluation hold before they write, where there is a folder: 64 MiB.
pub(crate) const HELD: usize = 8 << 20;

/// Numbers of a run that are read at a time.
const READ: usize = 8 << 10;

/// In which order numbers come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PileOrder {
    /// As they came.
    Arrival,
    /// By `total_cmp`.
    Size,
}

/// Numbers that come back in an order.
#[derive(Debug)]
pub(crate) struct NumberPile {
    order: PileOrder,
    /// Those that are in memory, and how many these may be.
    held: Vec<f64>,
    most: usize,
    count: u64,
    folder: Option<PathBuf>,
    runs: Option<PileRuns>,
}

/// A file without a name from its beginning, as a cache file is, with runs of numbers.
#[derive(Debug)]
struct PileRuns {
    file: File,
    /// Where each run lies, in bytes.
    places: Vec<Range<u64>>,
}

impl NumberPile {
    /// An empty one. With a folder it holds `most` numbers, and others are in a file there.
    pub(crate) fn new(order: PileOrder, folder: Option<&Path>, most: usize) -> Self {
        let folder = folder.map(Path::to_path_buf);
        NumberPile { order, held: Vec::new(), most: most.max(1), count: 0, folder, runs: None }
    }

    /// One more.
    pub(crate) fn push(&mut self, number: f64) -> Result<(), Error> {
        self.held.push(number);
        self.count += 1;
        match &self.folder {
            Some(folder) if self.held.len() >= self.most => {
                let folder = folder.clone();
                self.write(&folder).map_err(|error| Error::written(&folder, &error))
            }
            _ => Ok(()),
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    fn write(&mut self, folder: &Path) -> io::Result<()> {
        self.arrange();
        let runs = match &mut self.runs {
            Some(runs) => runs,
            none => none.insert(PileRuns { file: pile_file(folder)?, places: Vec::new() }),
        };
        let start = runs.places.last().map_or(0, |place| place.end);
        runs.file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::with_capacity(8 * READ);
        for some in self.held.chunks(READ) {
            bytes.clear();
            some.iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
            runs.file.write_all(&bytes)?;
        }
        runs.places.push(start..start + 8 * self.held.len() as u64);
        self.held.clear();
        Ok(())
    }

    fn arrange(&mut self) {
        if self.order == PileOrder::Size {
            self.held.sort_unstable_by(f64::total_cmp);
        }
    }

    /// All of them, from the first on. It may be asked again, and more may be added.
    pub(crate) fn read(&mut self) -> Result<PileReader<'_>, Error> {
        self.arrange();
        let folder = self.folder.as_deref().unwrap_or_else(|| Path::new(""));
        let runs = self.runs.as_ref();
        let places = runs.into_iter().flat_map(|runs| runs.places.iter().cloned());
        let mut parts: Vec<PilePart<'_>> =
            places.map(|place| PilePart { place, some: Vec::new(), held: &[] }).collect();
        parts.push(PilePart { place: 0..0, some: Vec::new(), held: &self.held });
        let file = runs.map(|runs| &runs.file);
        let mut reader =
            PileReader { order: self.order, folder, file, parts, next: BinaryHeap::new() };
        (0..reader.parts.len()).try_for_each(|part| reader.draw(part))?;
        Ok(reader)
    }
}

/// A file without a name that nobody else may open.
fn pile_file(folder: &Path) -> io::Result<File> {
    let file = tempfile::tempfile_in(folder)?;
    // A file that never had a name is made by the permissions of any other.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

/// A run that is being read.
struct PilePart<'p> {
    /// What is left of it in the file.
    place: Range<u64>,
    /// What was read of it, the next one last.
    some: Vec<f64>,
    /// What is left of it in memory.
    held: &'p [f64],
}

/// The numbers of a pile in their order.
pub(crate) struct PileReader<'p> {
    order: PileOrder,
    folder: &'p Path,
    file: Option<&'p File>,
    parts: Vec<PilePart<'p>>,
    /// The next number of each run, by its key; in the order of arrival runs have keys of their own.
    next: BinaryHeap<Reverse<(i64, usize, u64)>>,
}

impl PileReader<'_> {
    /// The next one.
    pub(crate) fn next(&mut self) -> Result<Option<f64>, Error> {
        let Some(Reverse((_, part, bits))) = self.next.pop() else { return Ok(None) };
        self.draw(part)?;
        Ok(Some(f64::from_bits(bits)))
    }

    /// The next number of a run, among the others.
    fn draw(&mut self, part: usize) -> Result<(), Error> {
        let own = &mut self.parts[part];
        if own.some.is_empty() && !own.place.is_empty() {
            let read = self.file.map_or(Ok(()), |file| own.fill(file));
            read.map_err(|error| Error::read(self.folder, "a file in", &error))?;
        }
        let found = own.some.pop().or_else(|| own.held.split_off_first().copied());
        let key = |number: f64| match self.order {
            PileOrder::Arrival => 0,
            PileOrder::Size => key(number),
        };
        self.next.extend(found.map(|number| Reverse((key(number), part, number.to_bits()))));
        Ok(())
    }
}

impl PilePart<'_> {
    fn fill(&mut self, mut file: &File) -> io::Result<()> {
        let len = (self.place.end - self.place.start).min(8 * READ as u64);
        let mut bytes = vec![0; len as usize];
        file.seek(SeekFrom::Start(self.place.start))?;
        file.read_exact(&mut bytes)?;
        self.place.start += len;
        let numbers = bytes.as_chunks::<8>().0.iter().rev();
        self.some.extend(numbers.map(|bytes| f64::from_le_bytes(*bytes)));
        Ok(())
    }
}

/// A whole number by which numbers are in the order of `total_cmp`.
fn key(number: f64) -> i64 {
    let bits = number.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize) -> Vec<f64> {
        let odd = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY, -1e-310];
        let number = |i: usize| match i % 5 {
            0 => odd[i / 5 % odd.len()],
            _ => ((i * 7919) % 1009) as f64 / 7.0 - 60.0,
        };
        (0..count).map(number).collect()
    }

    fn bits(pile: &mut NumberPile) -> Vec<u64> {
        let (mut all, mut reader) = (Vec::new(), pile.read().unwrap());
        while let Some(number) = reader.next().unwrap() {
            all.push(number.to_bits());
        }
        all
    }

    /// In memory and in runs of any length they are those that came, and nothing is left in the folder.
    #[test]
    fn all_numbers_come_back_in_their_order_wherever_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let came = numbers(30_000);
        let mut sorted = came.clone();
        sorted.sort_by(f64::total_cmp);
        for (order, wanted) in [(PileOrder::Arrival, &came), (PileOrder::Size, &sorted)] {
            for (at, most) in [(None, 1), (Some(folder.path()), 20_000), (Some(folder.path()), 999)]
            {
                let mut pile = NumberPile::new(order, at, most);
                came.iter().for_each(|&number| pile.push(number).unwrap());
                assert_eq!(pile.runs.is_some(), at.is_some());
                assert!(at.is_none() || pile.held.len() < most);
                assert_eq!(pile.count(), 30_000);
                let wanted: Vec<u64> = wanted.iter().map(|number| number.to_bits()).collect();
                assert_eq!(bits(&mut pile), wanted, "{order:?} {most}");
                assert_eq!(bits(&mut pile), wanted, "again");
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_file_of_numbers_is_its_users_alone_and_a_folder_that_is_not_there_is_told() {
        let folder = tempfile::tempdir().unwrap();
        #[cfg(unix)]
        {
            let mut pile = NumberPile::new(PileOrder::Size, Some(folder.path()), 1);
            pile.push(1.0).unwrap();
            let found = pile.runs.as_ref().unwrap().file.metadata().unwrap().permissions();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&found) & 0o777, 0o600);
        }
        let missing = folder.path().join("none");
        let mut pile = NumberPile::new(PileOrder::Size, Some(&missing), 1);
        assert!(matches!(pile.push(1.0), Err(Error::Write { .. })));
    }
}
