//! `reticent schema`: the description of a table, drafted from public data or checked against a
//! table.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use reticent::internal::tables::{self, Thoroughness, check, skeleton};
use reticent::internal::write_text;
use reticent::tables::draft_schema;
use reticent::tables::{DraftOptions, Format, ReadCounts, ReadOptions};
use serde::Serialize;

use super::shared::format;
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::flags::in_flags;
use crate::layout::{columns, wrapped};
use crate::number;
use crate::progress::waiting;

#[derive(Debug, Subcommand)]
pub enum SchemaCommand {
    /// Draft a schema from a file that is PUBLIC: bounds, categories and norms are read from it
    Init(Init),
    /// Compare a table with a schema, and show what each column becomes
    Check(SchemaCheckArgs),
}

#[derive(Debug, Args)]
pub struct Init {
    /// A public file of the same shape as the private table; with --header-only the table itself
    file: PathBuf,

    /// Read only the names (and in Parquet the types) of the columns, no values, and mark settings
    /// that you must supply as TODO
    #[arg(long)]
    header_only: bool,

    /// Overwrite --out
    #[arg(long, requires = "out")]
    force: bool,

    /// The column to predict
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,

    /// Column of user ids
    #[arg(long, value_name = "COLUMN")]
    user_column: Option<String>,

    /// The first line is a record; columns are then called column_1, column_2, …
    #[arg(long)]
    no_header: bool,

    /// The first line has the names of the columns, even if it looks like a record
    #[arg(long, conflicts_with = "no_header")]
    header: bool,

    /// The character before the decimals of numbers
    #[arg(long, value_name = "CHARACTER", value_parser = [",", "."], default_value = ".")]
    decimal: String,

    /// The character between fields, if it is not the usual one of the format
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    delimiter: Option<u8>,

    /// The format of the file, if its name does not show it
    #[arg(long, value_parser = format())]
    format: Option<Format>,

    /// The longest record of a text file, in bytes [default: 64000000]
    #[arg(long, value_name = "BYTES", value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    max_line: Option<u64>,

    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct SchemaCheckArgs {
    /// The table
    data: PathBuf,

    /// The schema
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,

    /// The column to predict, if the schema does not set it
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,

    /// Column of user ids
    #[arg(long, value_name = "COLUMN")]
    user_column: Option<String>,

    /// Read only the header, no records
    #[arg(long)]
    header_only: bool,

    /// Count missing, unknown and clipped values, shortened rows, classes and users; the counts are
    /// NOT PRIVATE
    #[arg(long, conflicts_with = "header_only")]
    counts: bool,

    /// The format of the table, if its name does not show it
    #[arg(long, value_parser = format())]
    format: Option<Format>,

    /// The longest record of a text file, in bytes [default: 64000000]
    #[arg(long, value_name = "BYTES", value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    max_line: Option<u64>,
}

impl SchemaCommand {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        match self {
            SchemaCommand::Init(init) => init.run(),
            SchemaCommand::Check(check) => check.run(),
        }
    }
}

/// Refuses a file that is there.
fn writes_over_nothing(out: Option<&Path>) -> Result<(), CommandFailure> {
    match out.filter(|out| out.exists()) {
        None => Ok(()),
        Some(out) => Err(CommandFailure::Usage {
            message: format!("{} is there already", out.display()),
            hint: "write to another file, or give --force to write over it".to_owned(),
        }),
    }
}

impl Init {
    fn run(self) -> Result<Answer, CommandFailure> {
        writes_over_nothing(self.out.as_deref().filter(|_| !self.force))?;
        let from = self.file.display().to_string();
        let (toml, mut remarks) = self.draft(&from)?;
        let out = self.out;
        let again = remarks.iter().any(|remark| is_to_draft_again(remark));
        if let Some(out) = out.as_deref().filter(|_| again) {
            remarks.push(format!("To draft again to {}, give --force too.", out.display()));
        }
        let remarks = remarks.iter().map(|remark| in_flags(remark)).collect();
        let toml = in_comments(&toml);
        let answer = match out {
            None => {
                let drafted = DraftedSchema { schema: Some(&toml), out: None, from };
                Answer::of(toml.clone(), &drafted)
            }
            Some(out) => {
                write_text(&toml, &out)?;
                let drafted = DraftedSchema { schema: None, out: Some(&out), from };
                Answer::of(format!("Wrote {}.\n", out.display()), &drafted)
            }
        };
        Ok(Answer { remarks, ..answer })
    }

    /// The draft, and what is to be known of it.
    fn draft(&self, from: &str) -> Result<(String, Vec<String>), CommandFailure> {
        let options = DraftOptions::default().with(|it| {
            it.format = self.format;
            it.no_header = self.no_header;
            it.header = self.header;
            it.delimiter = self.delimiter;
            it.decimal_comma = self.decimal == ",";
            it.target = self.target.clone();
            it.user = self.user_column.clone();
            it.max_line = self.max_line;
        });
        if self.header_only {
            let (toml, mut remarks) = skeleton(&self.file, &options)?;
            remarks.push(format!(
                "Only the names of the columns of {from} were read: see that they are names, and no record. Put what \
                 you know in the place of every TODO."
            ));
            return Ok((toml, remarks));
        }
        let draft = waiting("reading the file", || draft_schema(&self.file, &options))?;
        let remark = format!(
            "{from} was taken as PUBLIC: what the draft says is read from it. Check every bound and category before \
             you use it on private data."
        );
        let questions =
            draft.questions.into_iter().map(|question| format!("To decide: {question}"));
        let remarks = std::iter::once(remark).chain(draft.remarks).chain(questions).collect();
        Ok((draft.toml, remarks))
    }
}

/// A draft, or the file that it was written to.
#[derive(Serialize)]
struct DraftedSchema<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<&'a Path>,
    from: String,
}

/// A table, and how a schema reads it.
#[derive(Serialize)]
struct CheckedTable<'a> {
    fits: bool,
    records_read: bool,
    records: Option<u64>,
    counts: Option<&'a ReadCounts>,
    private: bool,
    encoded_columns: usize,
    names: Vec<String>,
    row_norm: f64,
    curves: usize,
    pairs: &'a [[String; 2]],
    public_n: Option<u64>,
    target: Option<&'a str>,
    sparse: bool,
}

/// Whether a remark is answered by another draft.
fn is_to_draft_again(remark: &str) -> bool {
    remark.contains("draft again")
}

/// A draft whose comments name flags as they are typed.
fn in_comments(toml: &str) -> String {
    let line = |line: &str| if line.starts_with('#') { in_flags(line) } else { line.to_owned() };
    toml.split_inclusive('\n').map(line).collect()
}

/// Above and beside every count.
const NOT_PRIVATE: &str = "These counts are NOT PRIVATE: they are taken from the table as it is, without noise, and \
                           no certificate covers them. They are for whoever holds the table, to find mistakes in a \
                           schema; a schema that is changed to fit them is no longer public.";

impl SchemaCheckArgs {
    fn run(self) -> Result<Answer, CommandFailure> {
        let mut schema = tables::Schema::read(&self.schema)?;
        if self.target.is_some() || self.user_column.is_some() {
            schema = schema.with_roles(self.target.as_deref(), self.user_column.as_deref())?;
        }
        let params = match (self.header_only, self.counts) {
            (true, _) => Thoroughness::Header,
            (false, false) => Thoroughness::Values,
            (false, true) => Thoroughness::Counts,
        };
        let reading = ReadOptions::from(self.format).with(|it| it.max_line = self.max_line);
        let checked = waiting("reading the table", || check(&self.data, reading, &schema, params))?;
        let mut text = checked.summary;
        if let Some(counts) = &checked.counts {
            text += &format!("\n{}\n{}", wrapped(NOT_PRIVATE), counted(counts));
        }
        let fields = CheckedTable {
            fits: checked.fits,
            records_read: !self.header_only,
            records: checked.records,
            counts: checked.counts.as_ref(),
            private: checked.counts.is_none(),
            encoded_columns: schema.width(),
            names: schema.encoded_names(),
            row_norm: schema.line_norm(),
            curves: schema.curved(),
            pairs: schema.pairs(),
            public_n: schema.public_n(),
            target: schema.target().map(|(name, _)| name),
            sparse: schema.sparse(),
        };
        let remarks = checked.counts.iter().map(|_| "The counts are NOT PRIVATE.".to_owned());
        Ok(Answer { remarks: remarks.collect(), ..Answer::of(text, &fields) })
    }
}

/// The counts as a table: a line for each column, and one for each category or class.
fn counted(counts: &ReadCounts) -> String {
    let number = |n: Option<u64>| n.map(|n| n.to_string()).unwrap_or_default();
    let head = ["column", "records", "missing", "unknown", "clipped"].map(str::to_owned).to_vec();
    let mut rows = vec![head];
    for column in &counts.columns {
        let (unknown, clipped) = (number(column.unknown), number(column.clipped));
        rows.push(vec![
            column.name.clone(),
            String::new(),
            number(column.missing),
            unknown,
            clipped,
        ]);
        for (value, n) in column.values.iter().flatten() {
            let empty = String::new();
            rows.push(vec![
                format!("  {value}"),
                n.to_string(),
                empty.clone(),
                empty.clone(),
                empty,
            ]);
        }
    }
    let mut lines =
        vec![format!("{} records", counts.records), format!("{} rows shortened", counts.shortened)];
    lines.extend(counts.users.map(|users| format!("{users} users")));
    format!("{}\n  {}\n", columns(&rows, 2, 1), lines.join(", "))
}

/// One character between fields.
pub fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !b"\"\n\r".contains(byte) => Ok(*byte),
        _ => Err("one ASCII character is needed, other than a quote or a line break; \\t is a tab"
            .to_owned()),
    }
}
