//! `reticent schema`: the description of a table, drafted from public data or checked against a table.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use reticent::tables::{self, DraftOptions, Format, check};
use reticent::{draft_schema, write_text};
use serde_json::json;

use super::shared::format;
use crate::answer::Answer;
use crate::failure::Failure;
use crate::progress::waiting;

#[derive(Debug, Subcommand)]
pub enum Schema {
    /// Draft a schema from a file that is PUBLIC: bounds, categories and norms are read from it
    Init(Init),
    /// Compare a table with a schema, and show what each column becomes
    Check(Check),
}

#[derive(Debug, Args)]
pub struct Init {
    /// A public file of the same shape as the private table
    file: PathBuf,

    /// The column to predict
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,

    /// The column that says whose row it is
    #[arg(long, value_name = "COLUMN")]
    user_column: Option<String>,

    /// The first line is a record; columns are then called column_1, column_2, …
    #[arg(long)]
    no_header: bool,

    /// The character between fields, where it is not the usual one
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,

    /// How the file is written, where its name does not tell
    #[arg(long, value_parser = format())]
    format: Option<Format>,

    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct Check {
    /// The table
    data: PathBuf,

    /// The schema
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,

    /// The column to predict, where the schema does not say
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,

    /// The column that says whose row it is
    #[arg(long, value_name = "COLUMN")]
    user_column: Option<String>,

    /// Read the header alone, not the records
    #[arg(long)]
    header_only: bool,

    /// How the table is written, where its name does not tell
    #[arg(long, value_parser = format())]
    format: Option<Format>,
}

impl Schema {
    /// Does it.
    pub fn run(self) -> Result<Answer, Failure> {
        match self {
            Schema::Init(init) => init.run(),
            Schema::Check(check) => check.run(),
        }
    }
}

impl Init {
    fn run(self) -> Result<Answer, Failure> {
        let Init { file, target, user_column, no_header, delimiter, format, out } = self;
        let options = DraftOptions { format, no_header, delimiter, target, user: user_column };
        let draft = waiting("reading the file", || draft_schema(&file, &options))?;
        let remark = format!(
            "{} was taken as PUBLIC: what the draft says is read from it. Check every bound and category before \
             you use it on private data.",
            file.display()
        );
        let (text, object) = match out {
            None => (draft.toml.clone(), json!({ "schema": draft.toml, "from": file.display().to_string() })),
            Some(out) => {
                write_text(&draft.toml, &out)?;
                let (from, out) = (file.display().to_string(), out.display().to_string());
                (format!("Wrote {out}.\n"), json!({ "out": out, "from": from }))
            }
        };
        Ok(Answer { text, object, remarks: vec![remark] })
    }
}

impl Check {
    fn run(self) -> Result<Answer, Failure> {
        let mut schema = tables::Schema::read(&self.schema)?;
        if self.target.is_some() || self.user_column.is_some() {
            schema = schema.with_roles(self.target.as_deref(), self.user_column.as_deref())?;
        }
        let text =
            waiting("reading the table", || check(&self.data, self.format, &schema, !self.header_only))?;
        let object = json!({
            "fits": true,
            "records_read": !self.header_only,
            "encoded_columns": schema.width(),
            "names": schema.encoded_names(),
            "row_norm": schema.row_norm(),
            "public_n": schema.public_n(),
            "target": schema.target().map(|(name, _)| name),
            "sparse": schema.sparse(),
        });
        Ok(Answer { text, object, remarks: Vec::new() })
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !b"\"\n\r".contains(byte) => Ok(*byte),
        _ => {
            Err("one ASCII character is needed, other than a quote or a line break; \\t is a tab".to_owned())
        }
    }
}
