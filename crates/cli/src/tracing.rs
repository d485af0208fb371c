//! `--trace`: what a run comes to, iteration by iteration, in a file with a note beside it.

use std::path::PathBuf;

use clap::Args;
use reticent::internal::{check_folder, check_new};
use reticent::trace::{PublicData, Trace, Tracing};
use reticent::{Error, Files, PrivateTable};
use serde::Serialize;

use crate::answer::Answer;
use crate::delivery::{Content, Piece, beside};
use crate::failure::CommandFailure;
use crate::layout::wrapped;
use crate::number;
use crate::sheet::{Sheet, SheetColumn};

#[derive(Debug, Args)]
#[command(next_help_heading = "A trace of the run (docs/traces.md)")]
pub struct TraceFlags {
    /// Write a trace of the run, a row for each iteration, to FILE.csv or FILE.parquet
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,

    /// The number of iterations from row to row [default: 1]
    #[arg(long, value_name = "N", value_parser = number::whole::<u64>, requires = "trace", allow_negative_numbers = true)]
    pub trace_every: Option<u64>,

    /// The table is public: the trace also has objective and metrics, and is NOT PRIVATE. The model
    /// and its certificate do not change
    #[arg(long, requires = "trace")]
    pub public_data: bool,

    /// A public test table, evaluated at every row
    #[arg(long, value_name = "FILE", requires = "public_data")]
    pub test: Option<PathBuf>,
}

impl TraceFlags {
    /// Refuses what cannot be, before any work is done.
    pub fn check(&self, with_budget: bool, force: bool) -> Result<(), CommandFailure> {
        let Some(path) = &self.trace else { return Ok(()) };
        Sheet::check(path)?;
        check_folder(path.parent().unwrap_or(path))?;
        check_new(path, force)?;
        check_new(&beside(path), force)?;
        if self.public_data && with_budget {
            return Err(CommandFailure::Usage {
                message: "a table that has a budget is not public".to_owned(),
                hint: "leave out --public-data or --budget".to_owned(),
            });
        }
        Ok(())
    }

    /// How the run is traced, if it is: with the table where that is public.
    pub fn tracing<'p>(&self, public: Option<&'p mut PublicData>) -> Option<Tracing<'p>> {
        let every = self.trace_every.unwrap_or(1);
        self.trace.as_ref().map(|_| Tracing::new(every, public))
    }

    /// A table that is public, read once for the run and for who looks on; with the test table, which
    /// is read as the table is.
    pub fn public(
        &self,
        data: &Files,
        load: impl FnOnce(&Files) -> Result<PrivateTable, Error>,
        looks_on: impl FnOnce(PrivateTable) -> Result<PublicData, Error>,
    ) -> Result<Option<(PrivateTable, PublicData)>, Error> {
        if !self.public_data {
            return Ok(None);
        }
        let table = load(data)?;
        let public = looks_on(table.share())?;
        let public = match &self.test {
            Some(path) => {
                public.with_test(Files::one(path.clone()).with(|it| it.reading = data.reading))?
            }
            None => public,
        };
        Ok(Some((table, public)))
    }

    /// The trace with its note, to be handed over.
    pub fn piece(trace: &Trace, answer: &mut Answer) -> Piece {
        if trace.not_private {
            answer.remarks.push(trace.note().to_owned());
        }
        let columns = trace.columns().into_iter();
        let sheet = Sheet(columns.map(SheetColumn::of_numbers).collect());
        let content = Content::Table { sheet, note: wrapped(trace.note()) + "\n" };
        Piece { key: "trace".to_owned(), what: " (the trace of the run)".to_owned(), content }
    }

    /// What tells a traced run from others.
    pub fn asked(&self) -> AskedTrace {
        AskedTrace {
            traced: self.trace.is_some(),
            every: self.trace_every,
            public: self.public_data,
            test: self.test.clone(),
        }
    }
}

/// A trace, as a budget tells a job with it from others.
#[derive(Serialize)]
pub struct AskedTrace {
    traced: bool,
    every: Option<u64>,
    public: bool,
    test: Option<PathBuf>,
}
