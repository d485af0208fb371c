//! `reticent split`: one table into a file to train on and one to test on, nobody in both.

use std::ffi::OsStr;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use reticent::Error;
use reticent::internal::tables::{SplitRule, split_file};
use reticent::internal::{NewFile, check_new};
use reticent::tables::{Format, ReadOptions, Schema};
use serde::Serialize;

use super::schema::delimiter;
use super::shared::format;
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::number;
use crate::predictions::PACKED;
use crate::progress::waiting;

#[derive(Debug, Args)]
#[command(
    after_help = "A hash of the user id assigns persons to the files: the same command writes the same files, and \
                  nobody is in both. Both files are as private as the table: a split is not a release, and costs no \
                  budget (docs/evaluate.md)."
)]
pub struct SplitArgs {
    /// The table: CSV or TSV, also as .gz, .xz, .bz2, .zst or .zip
    data: PathBuf,

    /// User ID column; ids are compared as in a fit [default: the user column of the schema]
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,

    /// The schema of the table, for its user column and the layout of the file
    #[arg(long, value_name = "FILE", required_unless_present = "by")]
    schema: Option<PathBuf>,

    /// The share of persons in the test file
    #[arg(long, value_name = "SHARE", default_value = "0.25", value_parser = number::parse, allow_negative_numbers = true)]
    share: f64,

    /// Any word; another word gives another split
    #[arg(long, value_name = "WORD", default_value = "")]
    seed: String,

    /// The training file, plain text
    #[arg(long, value_name = "FILE")]
    train: PathBuf,

    /// The test file, plain text
    #[arg(long, value_name = "FILE")]
    test: PathBuf,

    /// Overwrite existing files
    #[arg(long)]
    force: bool,

    /// The first line is a record; columns are then called column_1, column_2, …
    #[arg(long)]
    no_header: bool,

    /// The character between fields, if it is not the usual one of the format
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,

    /// The format of the table, if its name does not show it
    #[arg(long, value_parser = format())]
    format: Option<Format>,

    /// The longest record, in bytes [default: 64000000]
    #[arg(long, value_name = "BYTES", value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    max_line: Option<u64>,
}

impl SplitArgs {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        if !(self.share > 0.0 && self.share < 1.0) {
            return Err(usage(
                &format!("--share {}: it is not between 0 and 1", self.share),
                "give the share of persons to test on, such as 0.25",
            ));
        }
        let schema = self.schema.as_deref().map(Schema::read).transpose()?;
        let by = self.by.as_deref().or(schema.as_ref().and_then(Schema::user));
        let Some(by) = by else {
            return Err(usage("the schema has no user column", "say with --by whose a record is"));
        };
        for out in [&self.train, &self.test] {
            if !is_text(out) {
                return Err(usage(
                    &format!("{}: what is split is written as plain text", out.display()),
                    "give a name that ends in .csv or .tsv",
                ));
            }
            check_new(out, self.force)?;
            if let Some(folder) = out.parent() {
                std::fs::create_dir_all(folder).map_err(|error| Error::written(out, &error))?;
            }
        }
        if place(&self.train) == place(&self.test) {
            return Err(usage("--train and --test are the same file", "name two files"));
        }
        let rule = SplitRule {
            by,
            share: self.share,
            seed: &self.seed,
            schema: schema.as_ref(),
            reading: ReadOptions::from(self.format).with(|it| it.max_line = self.max_line),
            delimiter: self.delimiter,
            no_header: self.no_header,
        };
        waiting("splitting", || write(&self.data, &rule, [&self.train, &self.test]))?;
        let text = format!(
            "Wrote {} (to train on)\n  and {} (to test on): nobody is in both. Both are as private as the table.\n",
            self.train.display(),
            self.test.display()
        );
        let (train, test, share) = (&self.train, &self.test, self.share);
        Ok(Answer::of(text, &SplitFiles { train, test, by, share }))
    }
}

/// The two files, and how records were assigned to them.
#[derive(Serialize)]
struct SplitFiles<'a> {
    train: &'a Path,
    test: &'a Path,
    by: &'a str,
    share: f64,
}

/// Whether a file of this name is taken for plain text.
fn is_text(out: &Path) -> bool {
    let ending = out.extension().and_then(OsStr::to_str).unwrap_or_default();
    let mut other = PACKED.iter().chain(&["parquet", "xlsx", "xls", "ods"]);
    !other.any(|other| ending.eq_ignore_ascii_case(other))
}

/// Where a file will be, however its folder is written. Folders are there by now.
fn place(out: &Path) -> (PathBuf, Option<&OsStr>) {
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    (folder.canonicalize().unwrap_or_else(|_| folder.to_owned()), out.file_name())
}

/// Both files appear when both are whole.
fn write(data: &Path, rule: &SplitRule<'_>, out: [&PathBuf; 2]) -> Result<(), CommandFailure> {
    let [train, test] = out;
    let mut files = [train, test].map(|path| NewFile::as_private_as(data, path));
    let mut failed = None;
    let mut buffers = [Vec::new(), Vec::new()];
    let mut flush = |side: usize, buffer: &mut Vec<u8>| {
        let written = match &mut files[side] {
            Ok(file) => file.write_all(buffer).map_err(|error| Error::written(out[side], &error)),
            // Said when the file is finished.
            Err(_) => return ControlFlow::Break(()),
        };
        buffer.clear();
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    split_file(data, rule, &mut |side, line| {
        buffers[side].extend_from_slice(line);
        match buffers[side].len() < 1 << 16 {
            true => ControlFlow::Continue(()),
            false => flush(side, &mut buffers[side]),
        }
    })
    .map_err(Error::from)?;
    for (side, buffer) in buffers.iter_mut().enumerate() {
        let _ = flush(side, buffer);
    }
    if let Some(error) = failed {
        return Err(error.into());
    }
    let [train, test] = files;
    let (train, test) = (train?, test?);
    train.finish()?;
    Ok(test.finish()?)
}

fn usage(message: &str, hint: &str) -> CommandFailure {
    CommandFailure::Usage { message: message.to_owned(), hint: hint.to_owned() }
}
