//! Footers and page headers, walked through before the library reads them.
//!
//! They are in Thrift's compact protocol. The library passes over fields that it does not know, a
//! list by as many elements as it claims. Neither a truth value in a list, which takes no byte
//! there, nor the end of the file stops it: a claim of two thousand million elements, in six bytes,
//! keeps it busy for a minute. The format has no list of truth values and no map, so that a file
//! with one is damaged. Nor does the library look at the type of a field that it knows; here that
//! has to be right, so that both see the same fields. Then the time is linear in the bytes.

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::io::{ErrorKind, Read};

/// What a field of the format holds.
#[derive(Clone, Copy)]
enum FieldKind {
    Truth,
    Byte,
    Whole,
    Real,
    Text,
    Struct(Fields),
    List(&'static FieldKind),
    /// No field has this number.
    Gap,
}
use FieldKind::{Byte, Gap, List, Real, Struct, Text, Truth, Whole};

/// The fields of a struct, which are numbered from 1.
type Fields = &'static [FieldKind];

const EMPTY: FieldKind = Struct(&[]);
const UNIT: FieldKind = Struct(&[EMPTY, EMPTY, EMPTY]);
const TIME: FieldKind = Struct(&[Truth, UNIT]);
const WHOLES: FieldKind = List(&Whole);
const TEXTS: FieldKind = List(&Text);
const PAIRS: FieldKind = List(&Struct(&[Text, Text]));
const CIPHER: FieldKind = Struct(&[Text, Text, Truth]);
const DECIMAL: FieldKind = Struct(&[Whole, Whole]);
const INTEGER: FieldKind = Struct(&[Byte, Truth]);
const VARIANT: FieldKind = Struct(&[Byte]);
const GEOMETRY: FieldKind = Struct(&[Text]);
const GEOGRAPHY: FieldKind = Struct(&[Text, Whole]);
const LOGICAL: FieldKind = Struct(&[
    Gap, Gap, Gap, Gap, DECIMAL, Gap, TIME, TIME, Gap, INTEGER, Gap, Gap, Gap, Gap, Gap, VARIANT,
    GEOMETRY, GEOGRAPHY,
]);
const ELEMENT: FieldKind =
    Struct(&[Whole, Whole, Whole, Text, Whole, Whole, Whole, Whole, Whole, LOGICAL]);
const STATISTICS: FieldKind = Struct(&[Text, Text, Whole, Whole, Text, Text, Truth, Truth, Whole]);
const ENCODINGS: FieldKind = List(&Struct(&[Whole, Whole, Whole]));
const SIZES: FieldKind = Struct(&[Whole, WHOLES, WHOLES]);
const REGION: FieldKind = Struct(&[Struct(&[Real; 8]), WHOLES]);
const COLUMN: FieldKind = Struct(&[
    Whole, WHOLES, TEXTS, Whole, Whole, Whole, Whole, PAIRS, Whole, Whole, Whole, STATISTICS,
    ENCODINGS, Whole, Whole, SIZES, REGION,
]);
const CRYPTO: FieldKind = Struct(&[EMPTY, Struct(&[TEXTS, Text])]);
const CHUNK: FieldKind = Struct(&[Text, Whole, COLUMN, Whole, Whole, Whole, Whole, CRYPTO, Text]);
const SORTING: FieldKind = List(&Struct(&[Whole, Truth, Truth]));
const GROUP: FieldKind = Struct(&[List(&CHUNK), Whole, Whole, SORTING, Whole, Whole, Whole]);
const ORDERS: FieldKind = List(&Struct(&[EMPTY, EMPTY]));
const CIPHERS: FieldKind = Struct(&[CIPHER, CIPHER]);
const FOOTER: Fields =
    &[Whole, List(&ELEMENT), Whole, List(&GROUP), PAIRS, Text, ORDERS, CIPHERS, Text];
const DATA: FieldKind = Struct(&[Whole, Whole, Whole, Whole, STATISTICS]);
const DICTIONARY: FieldKind = Struct(&[Whole, Whole, Truth]);
const DATA_2: FieldKind = Struct(&[Whole, Whole, Whole, Whole, Whole, Whole, Truth, STATISTICS]);
const PAGE: Fields = &[Whole, Whole, Whole, Whole, DATA, EMPTY, DICTIONARY, DATA_2];

const SHORT: &str = "the file ends within a header";

/// Structs and lists within each other; the format has fewer.
const DEEPEST: u8 = 64;

/// The bytes of the end: the length of the footer and the mark.
const END: u64 = 8;

/// A file whose footer is sound, and whose page headers are walked through before they are read.
pub(super) struct Walked<R>(R);

impl<R: ChunkReader> Walked<R> {
    pub(super) fn new(source: R) -> Result<Self> {
        // What is too short for a footer the library refuses.
        if let Some(end) = source.len().checked_sub(END) {
            let length = source.get_bytes(end, 4)?;
            let length = length.iter().rev().fold(0, |n, &byte| n << 8 | u64::from(byte));
            if let Some(start) = end.checked_sub(length) {
                walk(&mut &*source.get_bytes(start, length as usize)?, FOOTER)?;
            }
        }
        Ok(Self(source))
    }
}

impl<R: ChunkReader> Length for Walked<R> {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl<R: ChunkReader> ChunkReader for Walked<R> {
    type T = R::T;

    /// The library asks for the end of the file, and then for nothing but page headers.
    fn get_read(&self, start: u64) -> Result<R::T> {
        if start.saturating_add(END) != self.len() {
            walk(&mut self.0.get_read(start)?, PAGE)?;
        }
        self.0.get_read(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// Walks through a struct.
fn walk(bytes: &mut dyn Read, fields: Fields) -> Result<()> {
    HeaderWalk { bytes }.fields(fields, DEEPEST)
}

fn refuse<T>(what: &str) -> Result<T> {
    Err(ParquetError::General(what.into()))
}

struct HeaderWalk<'a> {
    bytes: &'a mut dyn Read,
}

impl HeaderWalk<'_> {
    fn byte(&mut self) -> Result<u8> {
        let mut byte = [0];
        self.bytes.read_exact(&mut byte).map_err(|e| match e.kind() {
            ErrorKind::UnexpectedEof => ParquetError::EOF(SHORT.into()),
            _ => e.into(),
        })?;
        Ok(byte[0])
    }

    fn pass(&mut self, count: u64) -> Result<()> {
        let passed = std::io::copy(&mut (&mut *self.bytes).take(count), &mut std::io::sink())?;
        if passed < count { refuse(SHORT) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..70).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 127).checked_shl(shift).unwrap_or(0);
            if byte < 128 {
                return Ok(number);
            }
        }
        refuse("a number in a header is too long")
    }

    fn fields(&mut self, fields: Fields, depth: u8) -> Result<()> {
        let mut id = 0_i16;
        loop {
            let head = self.byte()?;
            if head & 15 == 0 {
                return Ok(());
            }
            id = match head >> 4 {
                // Signs alternate: 0, −1, 1, −2, …
                0 => {
                    let n = self.number()?;
                    (n >> 1) as i16 ^ -((n & 1) as i16)
                }
                step => id.wrapping_add(i16::from(step)),
            };
            let kind = usize::try_from(id).ok().and_then(|id| fields.get(id.checked_sub(1)?));
            self.value(head & 15, kind, false, depth)?;
        }
    }

    /// A value of this type on the wire, `kind` by the format where it knows the field.
    fn value(&mut self, wire: u8, kind: Option<&FieldKind>, listed: bool, depth: u8) -> Result<()> {
        let right = match kind {
            None | Some(Gap) => true,
            Some(Truth) => matches!(wire, 1 | 2),
            Some(Byte) => wire == 3,
            Some(Whole) => matches!(wire, 4..=6),
            Some(Real) => wire == 7,
            Some(Text) => wire == 8,
            Some(List(_)) => wire == 9,
            Some(Struct(_)) => wire == 12,
        };
        if !right {
            return refuse("a field of a header is not of the type that it has in the format");
        }
        let Some(depth) = depth.checked_sub(1) else {
            return refuse("a header has too many structs within each other");
        };
        match wire {
            1 | 2 if listed => refuse("a header has a list of truth values"),
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.number().map(|_| ()),
            7 => self.pass(8),
            8 => {
                let length = self.number()?;
                self.pass(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.number()? } else { u64::from(head >> 4) };
                let element = if let Some(List(element)) = kind { Some(*element) } else { None };
                (0..count).try_for_each(|_| self.value(head & 15, element, true, depth))
            }
            12 => self.fields(if let Some(Struct(fields)) = kind { fields } else { &[] }, depth),
            13 => self.pass(16),
            _ => refuse("a header has a map or a value of no known type"),
        }
    }
}
