//! `reticent count`: how many records, or users, there are, and of each class, with noise.

use std::path::PathBuf;

use clap::Args;
use reticent::accountant::Adjacency;
use reticent::tables::{Format, ReadOptions};
use reticent::{Counted, Files, Guarantee, Run, Spec, check_new};
use serde_json::{Value, json};

use super::shared::{CERTIFICATE, certificate_fields, certificate_rows, format, not_private};
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number::show;
use crate::progress::JobBar;
use crate::purse::{PurseFlags, done};
use crate::repeated::given_twice;

#[derive(Debug, Args)]
#[command(mut_args(of_a_count))]
pub struct CountArgs {
    /// The table; several files are read as one
    #[arg(required = true)]
    data: Vec<PathBuf>,

    /// The schema of the table (TOML, see docs/schema.md)
    #[arg(long, value_name = "FILE")]
    schema: PathBuf,

    /// The column whose classes are counted, where the schema does not say
    #[arg(long, value_name = "COLUMN")]
    target: Option<String>,

    /// The column that says whose row it is: users are then counted, and protected
    #[arg(long, value_name = "COLUMN")]
    user_column: Option<String>,

    /// How the table is written, where its name does not tell
    #[arg(long, value_parser = format())]
    format: Option<Format>,

    /// Count each class of the target
    #[arg(long)]
    by_class: bool,

    /// Write the certificate to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    #[command(flatten)]
    guarantee: Guarantee,

    #[command(flatten)]
    purse: PurseFlags,
}

impl CountArgs {
    /// Does it.
    pub fn run(self) -> Result<Answer, CommandFailure> {
        let spec = Spec {
            schema: Some(self.schema),
            target: self.target,
            user_column: self.user_column,
            guarantee: self.guarantee,
            ..Spec::default()
        };
        let job = spec.count(self.by_class).map_err(|error| CommandFailure::of("count", error))?;
        if let Some(out) = &self.out {
            check_new(out, false)?;
        }
        let reading = ReadOptions { format: self.format, max_line: None };
        let data = Files { paths: self.data, reading };
        let purse = self.purse.open(&self.guarantee, &data, "count", || job.plan_beforehand())?;
        let mut bar = JobBar::new("question");
        let mut watch = |stage| bar.watch(stage);
        let run = Run::watched(&mut watch);
        let open = |table: &Files, run: &mut Run<'_>| job.open(table, run);
        let done = done(purse, &data, job.user_column(), open, run);
        bar.finish();
        let (counted, receipt) = done.map_err(|failure| failure.by("count"))?;
        let mut answer = answer(&counted);
        answer.remarks.extend(given_twice(&data.paths));
        if let Some(out) = &self.out {
            answer.write("certificate", CERTIFICATE, &json!(counted.certificate), out);
        }
        if let Some(receipt) = receipt {
            receipt.add_to(&mut answer);
        }
        Ok(answer)
    }
}

/// A count has a budget, and divides by nothing.
fn of_a_count(flag: clap::Arg) -> clap::Arg {
    match flag.get_id().as_str() {
        "epsilon" | "delta" => flag.required(true),
        "adjacency" => flag.help(
            "Which tables must be hard to tell apart [default: add-remove, and replace-one by class]",
        ),
        "public_n" => flag.hide(true),
        _ => flag,
    }
}

fn answer(counted: &Counted) -> Answer {
    let Counted { total, classes, deviation, certificate } = counted;
    let unit = certificate.unit;
    // All of them are public under replace-one, and have no noise.
    let exact = certificate.adjacency == Adjacency::ReplaceOne;
    let row = |name: &str, value: String| vec![name.to_owned(), value];
    let whole = |number: f64| format!("{number:.0}");
    let of_all = if exact { " (public)" } else { "" };
    let mut rows = vec![row(&format!("{unit}s"), whole(*total) + of_all)];
    rows.extend(classes.iter().map(|(name, number)| row(&format!("  {name}"), whole(*number))));
    rows.push(row("noise of an answer", format!("standard deviation {}", show(*deviation))));
    let mut text = columns(&rows, 2, 2);
    text += &format!("\n{}", columns(&certificate_rows(certificate), 2, 2));
    text += &format!("\n{}", wrapped(&format!("What this means. {}", certificate.meaning)));
    let mut object = certificate_fields(certificate);
    let each: Vec<Value> =
        classes.iter().map(|(name, number)| json!({ "class": name, "count": number })).collect();
    object.extend([
        ("count".to_owned(), json!(total)),
        ("classes".to_owned(), json!(each)),
        ("deviation".to_owned(), json!(deviation)),
    ]);
    let remarks = not_private(certificate).into_iter().chain(certificate.weaknesses()).collect();
    Answer { text, object: json!(object), remarks }
}
