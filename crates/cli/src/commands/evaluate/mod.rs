//! `reticent evaluate`: how good a model is on a table. Within a budget the figures are private and
//! have a certificate; without one they are not, and it says so.

mod plain;
mod private;

use std::path::{Path, PathBuf};

use clap::Args;
use reticent::internal::all_named_files;
use reticent::tables::{Format, ReadOptions};
use reticent::{Error, Files};

use super::shared::{Threshold, format, read_model};
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::number;
use plain::Pictures;
use private::PrivateFlags;

const HELP: &str = "Without --epsilon the numbers are NOT PRIVATE: they are computed from the table without noise, \
                    and no certificate covers them. With --epsilon and --delta a job pays for one noisy answer, and \
                    all figures are computed from it, with intervals (docs/evaluate.md).";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct Evaluate {
    #[command(flatten)]
    what: ModelAndTable,

    /// Two classes: the probability above which the second is predicted (of a hinge loss, the
    /// score), or prior, its share by --class-prior of the fit [default: 0.5, score 0]
    #[arg(long, value_name = "T", value_parser = Threshold::parse, allow_negative_numbers = true)]
    threshold: Option<Threshold>,

    /// Draw roc.svg, precision-recall.svg and calibration.svg (if the model has probabilities) into
    /// this folder; not within a budget
    #[arg(long, value_name = "DIR", conflicts_with = "epsilon")]
    plots: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long)]
    force: bool,

    /// Read the table into a file without a name in this folder, in place of memory; without a budget,
    /// what ranks its records
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,

    #[command(flatten)]
    private: PrivateFlags,
}

/// A saved model and the table it is measured on, which may be several files.
#[derive(Debug, Args)]
pub struct ModelAndTable {
    /// The model: model.json, or the folder that it is in
    pub model: PathBuf,

    /// The table: CSV, TSV, LIBSVM or Parquet; text also as .gz, .xz, .bz2, .zst or .zip; - is
    /// standard input. Several files, a folder or a pattern are read as one table
    #[arg(required = true)]
    data: Vec<PathBuf>,

    /// The format of the table, if its name does not tell
    #[arg(long, value_parser = format())]
    format: Option<Format>,

    /// The longest record of a text file, in bytes [default: 64000000]
    #[arg(long, value_name = "BYTES", value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    max_line: Option<u64>,
}

impl ModelAndTable {
    /// The files of the table.
    fn files(&self, cache: Option<PathBuf>) -> Result<Files, Error> {
        let reading = ReadOptions::from(self.format).with(|it| it.max_line = self.max_line);
        let files = Files::all(all_named_files(Path::new(""), &self.data)?);
        Ok(files.with(|it| (it.reading, it.cache) = (reading, cache)))
    }
}

impl Evaluate {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let model = read_model(&self.what.model)?;
        let threshold = self.threshold.map(|given| given.of(&model)).transpose()?;
        let files = self.what.files(self.cache)?;
        if self.private.is_asked() {
            return self.private.run(&model, (&self.what.model, files), threshold, self.force);
        }
        let pictures = Pictures { folder: self.plots.as_ref(), force: self.force };
        plain::run(&model, &files, threshold, pictures)
    }
}
