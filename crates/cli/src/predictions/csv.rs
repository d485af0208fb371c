//! Predictions as CSV.

use std::io::Write;

use ::csv::{QuoteStyle, Terminator, Writer, WriterBuilder};
use reticent::Predicted;
use reticent::tables::{KeptCell, KeptKind};

use super::{PredictionColumns, Sink, TextSink, is_formula};
use crate::failure::CommandFailure;

/// Lines are made in memory, a batch at a time, and then written in one go.
pub struct Csv<P> {
    place: P,
    columns: PredictionColumns,
    lines: Writer<Vec<u8>>,
    /// Whether what a spreadsheet would take for a formula has an apostrophe before it.
    guarded: bool,
}

impl<P: TextSink> Csv<P> {
    pub fn new(place: P, columns: PredictionColumns, guarded: bool) -> Self {
        Csv { place, columns, lines: lines(Vec::new()), guarded }
    }

    /// Text that is not ours.
    fn text(&mut self, cell: &[u8]) {
        // Writing to memory does not fail.
        let _ = match self.guarded && is_formula(cell) {
            true => self.lines.write_field([b"'", cell].concat()),
            false => self.lines.write_field(cell),
        };
    }

    fn hand_on(&mut self) -> Result<(), CommandFailure> {
        let done = std::mem::replace(&mut self.lines, lines(Vec::new()));
        // Writing to memory does not fail.
        let mut bytes = done.into_inner().unwrap_or_default();
        self.place.write_all(&bytes).map_err(|error| self.place.failure(error))?;
        bytes.clear();
        self.lines = lines(bytes);
        Ok(())
    }
}

fn lines(buffer: Vec<u8>) -> Writer<Vec<u8>> {
    WriterBuilder::new()
        .quote_style(QuoteStyle::Necessary)
        .terminator(Terminator::Any(b'\n'))
        .from_writer(buffer)
}

impl<P: TextSink> Sink for Csv<P> {
    fn head(&mut self, _: &[KeptKind]) -> Result<(), CommandFailure> {
        self.columns.names().iter().for_each(|name| self.text(name.as_bytes()));
        let _ = self.lines.write_record(None::<&[u8]>);
        self.hand_on()
    }

    fn put(&mut self, batch: Predicted) -> Result<(), CommandFailure> {
        let classes = self.columns.classes.clone().unwrap_or_default();
        let mut text = Vec::new();
        for i in 0..batch.records {
            for column in &batch.kept {
                match &column[i] {
                    KeptCell::Text(bytes) => self.text(bytes),
                    other => drop(self.lines.write_field(as_text(other, &mut text))),
                }
            }
            if let Some(&class) = batch.classes.get(i) {
                self.text(classes[class].as_bytes());
            }
            for column in &batch.numbers {
                let _ = self.lines.write_field(as_text(&KeptCell::Number(column[i]), &mut text));
            }
            let _ = self.lines.write_record(None::<&[u8]>);
        }
        self.hand_on()
    }

    fn finish(self: Box<Self>) -> Result<(), CommandFailure> {
        self.place.close()
    }
}

/// A cell in its shortest form that reads back the same; very large and very small numbers with an
/// exponent.
fn as_text<'a>(cell: &KeptCell, text: &'a mut Vec<u8>) -> &'a [u8] {
    text.clear();
    // Writing to memory does not fail.
    let _ = match cell {
        KeptCell::Missing => Ok(()),
        KeptCell::Text(bytes) => text.write_all(bytes),
        KeptCell::Number(x) => write!(text, "{x:?}"),
        KeptCell::Whole(n) => write!(text, "{n}"),
        KeptCell::Flag(b) => write!(text, "{b}"),
    };
    text
}
