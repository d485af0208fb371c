//! `reticent export`: a model for other tools, preprocessing included.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use reticent::internal::{NewFile, check_new};
use reticent::{Error, ExportFormat, SqlNames};
use serde::Serialize;

use super::shared::{not_private, one_of, read_model};
use crate::answer::Answer;
use crate::failure::CommandFailure;

#[derive(Debug, Args)]
#[command(
    after_help = "docs/export.md describes the use of each format. The file includes bounds, missing and unknown \
                  values and the row norm; predictions agree with `reticent predict` to twelve digits. The \
                  certificate is in model.json: keep that file."
)]
pub struct ExportArgs {
    /// The model: model.json, or the folder that it is in
    model: PathBuf,

    /// The format
    #[arg(long, value_parser = one_of!(ExportFormat))]
    to: ExportFormat,

    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Overwrite an existing file
    #[arg(long, requires = "out")]
    force: bool,

    /// SQL: the table to score, as NAME or SCHEMA.NAME
    #[arg(long, value_name = "NAME", default_value = "data")]
    table: String,

    /// SQL: a column of the table to put before the prediction, such as a key; may be repeated
    #[arg(long, value_name = "COLUMN")]
    keep: Vec<String>,
}

/// The file that was written.
#[derive(Serialize)]
struct WrittenModel {
    out: String,
    bytes: usize,
}

impl ExportArgs {
    /// Does it.
    pub fn run(self, as_json: bool) -> Result<Answer, CommandFailure> {
        let ExportArgs { model, to, out, force, table, keep } = self;
        let is_sql = to == ExportFormat::Sql;
        if !is_sql && !keep.is_empty() {
            return Err(CommandFailure::Usage {
                message: "--keep is for SQL: the other formats are models and read no table"
                    .to_owned(),
                hint: "leave it out".to_owned(),
            });
        }
        let model = read_model(&model)?;
        let without_key = is_sql && keep.is_empty();
        let bytes = model.export(to, &SqlNames::new(table, keep))?;
        let mut remarks: Vec<String> = not_private(model.certificate()).into_iter().collect();
        if without_key {
            remarks.push(
                "A SELECT has no order: name a key with --keep to tell whose prediction is whose."
                    .to_owned(),
            );
        }
        let Some(out) = out else {
            if as_json {
                return Err(CommandFailure::Usage {
                    message: "--json says what was written, and nothing is without --out"
                        .to_owned(),
                    hint: "give --out FILE, or leave --json out".to_owned(),
                });
            }
            let mut place = io::stdout().lock();
            place.write_all(&bytes).and_then(|()| place.flush()).map_err(CommandFailure::Output)?;
            return Ok(Answer { remarks, ..Answer::default() });
        };
        check_new(&out, force)?;
        let mut file = NewFile::create(&out)?;
        file.write_all(&bytes).map_err(|error| Error::written(&out, &error))?;
        file.finish()?;
        let out = out.display().to_string();
        let text = format!("Wrote {out}.\n");
        let written = WrittenModel { out, bytes: bytes.len() };
        Ok(Answer { remarks, ..Answer::of(text, &written) })
    }

    /// Whether all that it says is that a file was written.
    pub fn writes_a_file(&self) -> bool {
        self.out.is_some()
    }
}
