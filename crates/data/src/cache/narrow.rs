//! A matrix of doubles in as few bytes as its bits survive, column by column: nothing for a column
//! that is one number, a byte for one that has at most 256, a single where every number is one, and
//! a double otherwise. Rows lie one behind the other, and in a row the columns of each form. Some rows
//! are unpacked at a time, column by column, in loops without a choice.

use super::bytes::Bytes;

/// The most numbers that a byte tells apart.
const CODES: usize = 256;

/// Places of the table by which numbers of a column are found; a power of two, well above [`CODES`].
const PLACES: usize = 1024;

/// Bytes of numbers that are unpacked at a time: they stay in the first-level cache.
const STRIP: usize = 16 << 10;

/// In which form a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NarrowForm {
    Constant,
    Codes,
    Single,
    Double,
}

impl NarrowForm {
    const ALL: [Self; 4] = [Self::Constant, Self::Codes, Self::Single, Self::Double];
}

/// The different numbers of a column, by their bits, in the order in which they were met.
struct Met {
    places: [u16; PLACES],
    numbers: Vec<u64>,
}

impl Met {
    fn new() -> Self {
        Met { places: [0; PLACES], numbers: Vec::with_capacity(CODES) }
    }

    fn clear(&mut self) {
        self.places.fill(0);
        self.numbers.clear();
    }

    /// The code of a number; `None` where there are too many.
    #[inline]
    fn code(&mut self, bits: u64) -> Option<u8> {
        let mut at = (bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54) as usize;
        loop {
            match self.places[at] {
                0 if self.numbers.len() == CODES => return None,
                0 => {
                    self.numbers.push(bits);
                    self.places[at] = self.numbers.len() as u16;
                    return Some((self.numbers.len() - 1) as u8);
                }
                code if self.numbers[code as usize - 1] == bits => return Some((code - 1) as u8),
                _ => at = (at + 1) % PLACES,
            }
        }
    }
}

/// A number as a single, where that is the same number.
#[inline]
fn single(value: f64) -> Option<f32> {
    let narrow = value as f32;
    (f64::from(narrow).to_bits() == value.to_bits()).then_some(narrow)
}

/// Packs rows of `columns` numbers behind `out`; no numbers are no bytes.
pub(super) fn pack(values: &[f64], columns: usize, out: &mut Vec<u8>) {
    let rows = values.len().checked_div(columns).unwrap_or(0);
    if rows == 0 {
        return;
    }
    let mut met = Met::new();
    let mut forms = Vec::with_capacity(columns);
    let mut codes = vec![0_u8; rows * columns];
    for column in 0..columns {
        let own = || values.iter().skip(column).step_by(columns);
        met.clear();
        let told = own().zip(codes.iter_mut().skip(column).step_by(columns)).all(|(value, to)| {
            let code = met.code(value.to_bits());
            code.inspect(|code| *to = *code).is_some()
        });
        let listed = rows + 8 * met.numbers.len();
        let form = match told {
            true if met.numbers.len() <= 1 => NarrowForm::Constant,
            _ if (!told || listed > 4 * rows) && own().all(|v| single(*v).is_some()) => {
                NarrowForm::Single
            }
            true if listed < 8 * rows => NarrowForm::Codes,
            _ => NarrowForm::Double,
        };
        out.push(form as u8);
        if matches!(form, NarrowForm::Constant | NarrowForm::Codes) {
            out.push((met.numbers.len() - 1) as u8);
            met.numbers.iter().for_each(|bits| out.extend_from_slice(&bits.to_le_bytes()));
        }
        forms.push(form);
    }
    let of = |form: NarrowForm| -> Vec<usize> {
        forms.iter().enumerate().filter(|(_, own)| **own == form).map(|(at, _)| at).collect()
    };
    let (listed, singles, doubles) =
        (of(NarrowForm::Codes), of(NarrowForm::Single), of(NarrowForm::Double));
    for (values, codes) in values.chunks_exact(columns).zip(codes.chunks_exact(columns)) {
        out.extend(listed.iter().map(|&at| codes[at]));
        for &at in &singles {
            out.extend_from_slice(&(values[at] as f32).to_le_bytes());
        }
        for &at in &doubles {
            out.extend_from_slice(&values[at].to_le_bytes());
        }
    }
}

/// Where the numbers of a row go: the columns of each form, which lie together in its bytes.
#[derive(Default)]
struct NarrowRow {
    constants: Vec<(usize, f64)>,
    listed: Vec<usize>,
    /// The numbers of the columns that are told by codes, [`CODES`] for each.
    numbers: Vec<f64>,
    singles: Vec<usize>,
    doubles: Vec<usize>,
}

impl NarrowRow {
    /// What is said of `columns` columns before their rows.
    fn read(bytes: &mut Bytes<'_>, columns: usize) -> Option<Self> {
        let mut row = NarrowRow::default();
        for column in 0..columns {
            let form = *NarrowForm::ALL.get(usize::from(bytes.byte()?))?;
            match form {
                NarrowForm::Single => row.singles.push(column),
                NarrowForm::Double => row.doubles.push(column),
                NarrowForm::Constant | NarrowForm::Codes => {
                    let count = usize::from(bytes.byte()?) + 1;
                    let numbers = bytes.take(8 * count)?.as_chunks::<8>().0;
                    let mut numbers = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes));
                    if form == NarrowForm::Constant {
                        row.constants.push((column, numbers.next()?));
                        continue;
                    }
                    row.listed.push(column);
                    row.numbers.extend(numbers);
                    row.numbers.resize(row.listed.len() * CODES, 0.0);
                }
            }
        }
        Some(row)
    }

    /// Bytes of a row.
    fn width(&self) -> usize {
        self.listed.len() + 4 * self.singles.len() + 8 * self.doubles.len()
    }

    /// Some rows of `columns` numbers, from as many of [`NarrowRow::width`] bytes.
    fn write(&self, packed: &[u8], columns: usize, out: &mut [f64]) {
        for &(at, number) in &self.constants {
            out.chunks_exact_mut(columns).for_each(|row| row[at] = number);
        }
        // Numbers that lie as they did: a copy.
        if self.doubles.len() == columns {
            let doubles = packed.as_chunks::<8>().0;
            out.iter_mut().zip(doubles).for_each(|(out, bytes)| *out = f64::from_le_bytes(*bytes));
            return;
        }
        let mut from = 0;
        for (&at, numbers) in self.listed.iter().zip(self.numbers.as_chunks::<CODES>().0) {
            self.each(packed, from, (at, columns), out, |[code]: [u8; 1]| {
                numbers[usize::from(code)]
            });
            from += 1;
        }
        for &at in &self.singles {
            self.each(packed, from, (at, columns), out, |bytes| f32::from_le_bytes(bytes).into());
            from += 4;
        }
        for &at in &self.doubles {
            self.each(packed, from, (at, columns), out, f64::from_le_bytes);
            from += 8;
        }
    }

    /// One column of some rows: its bytes are `from` on in each row.
    #[inline(always)]
    fn each<const N: usize>(
        &self,
        packed: &[u8],
        from: usize,
        (at, columns): (usize, usize),
        out: &mut [f64],
        number: impl Fn([u8; N]) -> f64,
    ) {
        let rows = out.chunks_exact_mut(columns).zip(packed.chunks_exact(self.width()));
        for (row, packed) in rows {
            if let Some(bytes) = packed[from..].first_chunk::<N>() {
                row[at] = number(*bytes);
            }
        }
    }
}

/// Unpacks `rows` rows of `columns` numbers into `out`; `None` where the bytes are none of these.
pub(super) fn unpack(
    bytes: &mut Bytes<'_>,
    rows: usize,
    columns: usize,
    out: &mut Vec<f64>,
) -> Option<()> {
    if rows == 0 || columns == 0 {
        out.clear();
        return Some(());
    }
    let row = NarrowRow::read(bytes, columns)?;
    let width = row.width();
    let packed = bytes.take(rows.checked_mul(width)?)?;
    // Every number is written over.
    out.resize(rows.checked_mul(columns)?, 0.0);
    let strip = (STRIP / (8 * columns)).max(8);
    for (i, out) in out.chunks_mut(strip * columns).enumerate() {
        let rows = out.len() / columns;
        row.write(&packed[i * strip * width..][..rows * width], columns, out);
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(values: &[f64], columns: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        pack(values, columns, &mut bytes);
        let mut back = vec![7.0; 3];
        let mut read = Bytes::new(&bytes);
        unpack(&mut read, values.len() / columns, columns, &mut back).unwrap();
        assert!(read.is_empty());
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(values));
        bytes
    }

    /// What each form is for, in bytes a row.
    #[test]
    fn a_column_is_as_narrow_as_its_bits_survive() {
        let (rows, of) = (4000, |f: &dyn Fn(usize) -> f64| (0..4000).map(f).collect::<Vec<f64>>());
        let bytes = |values: Vec<f64>| packed(&values, 1).len();
        assert!(bytes(of(&|_| 0.1)) < 20);
        assert!((rows..rows + 2100).contains(&bytes(of(&|i| (i % 256) as f64 / 3.0))));
        assert!((4 * rows..4 * rows + 20).contains(&bytes(of(&|i| i as f64))));
        assert!((8 * rows..8 * rows + 20).contains(&bytes(of(&|i| i as f64 / 3.0))));
        assert!(packed(&[], 3).is_empty());
        let signs = of(&|i| if i % 2 == 0 { 0.0 } else { -0.0 });
        assert!(bytes(signs) < rows + 30, "and a zero keeps its sign");
    }

    proptest! {
        /// Whatever the numbers are and however columns are mixed, the bits come back.
        #[test]
        fn the_bits_of_every_number_come_back(
            (columns, rows, kinds) in (1..9_usize, 0..400_usize, prop::collection::vec(0..6_u8, 9)),
            seed in any::<u64>(),
        ) {
            let mut state = seed | 1;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                state >> 8
            };
            let values: Vec<f64> = (0..rows * columns).map(|at| match kinds[at % columns] {
                0 => 0.5,
                1 => (next() % 3) as f64,
                2 => next() as f32 as f64,
                3 => next() as f64 / 3.0,
                4 => f64::from_bits(next() << 7),
                _ => [0.0, -0.0, 1e-310, f64::MAX, f64::MIN_POSITIVE][next() as usize % 5],
            }).collect();
            packed(&values, columns);
        }
    }
}
