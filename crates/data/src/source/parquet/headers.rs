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
enum FieldKind {
    Truth,
    Byte,
    Whole,
    Real,
    Text,
    Struct(Fields),
    List(&'static FieldKind),
}
use FieldKind::{Byte, List, Real, Struct, Text, Truth, Whole};

/// The fields of a struct by their numbers.
type Fields = &'static [(i16, FieldKind)];

const NONE: Fields = &[];
const KEY_VALUE: FieldKind = Struct(&[(1, Text), (2, Text)]);
const UNIT: Fields = &[(1, Struct(NONE)), (2, Struct(NONE)), (3, Struct(NONE))];
const TIME: Fields = &[(1, Truth), (2, Struct(UNIT))];
const CIPHER: Fields = &[(1, Text), (2, Text), (3, Truth)];
const LOGICAL: Fields = &[
    (5, Struct(&[(1, Whole), (2, Whole)])),
    (7, Struct(TIME)),
    (8, Struct(TIME)),
    (10, Struct(&[(1, Byte), (2, Truth)])),
    (16, Struct(&[(1, Byte)])),
    (17, Struct(&[(1, Text)])),
    (18, Struct(&[(1, Text), (2, Whole)])),
];
const ELEMENT: Fields = &[
    (1, Whole),
    (2, Whole),
    (3, Whole),
    (4, Text),
    (5, Whole),
    (6, Whole),
    (7, Whole),
    (8, Whole),
    (9, Whole),
    (10, Struct(LOGICAL)),
];
const STATISTICS: Fields = &[
    (1, Text),
    (2, Text),
    (3, Whole),
    (4, Whole),
    (5, Text),
    (6, Text),
    (7, Truth),
    (8, Truth),
    (9, Whole),
];
const BOX: Fields =
    &[(1, Real), (2, Real), (3, Real), (4, Real), (5, Real), (6, Real), (7, Real), (8, Real)];
const COLUMN: Fields = &[
    (1, Whole),
    (2, List(&Whole)),
    (3, List(&Text)),
    (4, Whole),
    (5, Whole),
    (6, Whole),
    (7, Whole),
    (8, List(&KEY_VALUE)),
    (9, Whole),
    (10, Whole),
    (11, Whole),
    (12, Struct(STATISTICS)),
    (13, List(&Struct(&[(1, Whole), (2, Whole), (3, Whole)]))),
    (14, Whole),
    (15, Whole),
    (16, Struct(&[(1, Whole), (2, List(&Whole)), (3, List(&Whole))])),
    (17, Struct(&[(1, Struct(BOX)), (2, List(&Whole))])),
];
const CHUNK: Fields = &[
    (1, Text),
    (2, Whole),
    (3, Struct(COLUMN)),
    (4, Whole),
    (5, Whole),
    (6, Whole),
    (7, Whole),
    (8, Struct(&[(1, Struct(NONE)), (2, Struct(&[(1, List(&Text)), (2, Text)]))])),
    (9, Text),
];
const GROUP: Fields = &[
    (1, List(&Struct(CHUNK))),
    (2, Whole),
    (3, Whole),
    (4, List(&Struct(&[(1, Whole), (2, Truth), (3, Truth)]))),
    (5, Whole),
    (6, Whole),
    (7, Whole),
];
const FOOTER: Fields = &[
    (1, Whole),
    (2, List(&Struct(ELEMENT))),
    (3, Whole),
    (4, List(&Struct(GROUP))),
    (5, List(&KEY_VALUE)),
    (6, Text),
    (7, List(&Struct(&[(1, Struct(NONE)), (2, Struct(NONE))]))),
    (8, Struct(&[(1, Struct(CIPHER)), (2, Struct(CIPHER))])),
    (9, Text),
];
const DATA: Fields = &[(1, Whole), (2, Whole), (3, Whole), (4, Whole), (5, Struct(STATISTICS))];
const DATA_2: Fields = &[
    (1, Whole),
    (2, Whole),
    (3, Whole),
    (4, Whole),
    (5, Whole),
    (6, Whole),
    (7, Truth),
    (8, Struct(STATISTICS)),
];
const PAGE: Fields = &[
    (1, Whole),
    (2, Whole),
    (3, Whole),
    (4, Whole),
    (5, Struct(DATA)),
    (6, Struct(NONE)),
    (7, Struct(&[(1, Whole), (2, Whole), (3, Truth)])),
    (8, Struct(DATA_2)),
];

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
            let kind = fields.iter().find(|field| field.0 == id).map(|field| &field.1);
            self.value(head & 15, kind, false, depth)?;
        }
    }

    /// A value of this type on the wire, `kind` by the format where it knows the field.
    fn value(&mut self, wire: u8, kind: Option<&FieldKind>, listed: bool, depth: u8) -> Result<()> {
        let right = match kind {
            None => true,
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
            12 => self.fields(if let Some(Struct(fields)) = kind { fields } else { NONE }, depth),
            13 => self.pass(16),
            _ => refuse("a header has a map or a value of no known type"),
        }
    }
}
