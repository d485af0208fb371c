//! `reticent count`: how many records, or users, there are, and of each class, with noise.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use reticent::accountant::{Adjacency, Unit};
use reticent::tables::{Format, ReadOptions};
use reticent::{Counted, Files, Spec, Watch, check_new, write_text};
use serde_json::{Value, json};

use super::shared::{certificate_fields, certificate_rows, format, not_private, weak};
use crate::answer::Answer;
use crate::failure::CommandFailure;
use crate::layout::{columns, wrapped};
use crate::number::{self, show};
use crate::progress::JobBar;
use crate::purse::PurseFlags;
use crate::repeated::given_twice;

#[derive(Debug, Args)]
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

    /// How much privacy may be spent
    #[arg(long, value_name = "E", value_parser = number::parse, allow_negative_numbers = true)]
    epsilon: f64,

    /// The chance that epsilon does not hold
    #[arg(long, value_name = "D", value_parser = number::parse, allow_negative_numbers = true)]
    delta: f64,

    /// Which tables must be hard to tell apart [default: add-remove, and replace-one by class]
    #[arg(long, value_parser = PossibleValuesParser::new(Adjacency::ALL.iter().map(|member| member.name()))
        .try_map(|name| name.parse::<Adjacency>()))]
    adjacency: Option<Adjacency>,

    /// What is counted and protected [default: user where a user column is declared, otherwise
    /// record]
    #[arg(long, value_parser = PossibleValuesParser::new(Unit::ALL.iter().map(|member| member.name()))
        .try_map(|name| name.parse::<Unit>()))]
    unit: Option<Unit>,

    /// Write the certificate to this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,

    /// Draw the noise from this seed, for tests: the result is then NOT PRIVATE
    #[arg(long, value_name = "N", value_parser = number::whole::<u64>, allow_negative_numbers = true)]
    seed: Option<u64>,

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
            epsilon: Some(self.epsilon),
            delta: Some(self.delta),
            adjacency: self.adjacency,
            unit: self.unit,
            seed: self.seed,
            ..Spec::default()
        };
        let of_count = |error| CommandFailure::of("count", error);
        let job = spec.count(self.by_class).map_err(of_count)?;
        if let Some(out) = &self.out {
            check_new(out, false)?;
        }
        let reading = ReadOptions { format: self.format, max_line: None };
        let data = Files { paths: self.data, reading };
        let purse = self.purse.open(&spec, &data, "count", || job.plan_beforehand())?;
        let mut bar = JobBar::new("question");
        let mut watch = |stage| bar.watch(stage);
        let done = match purse {
            Some(purse) => {
                let user = job.user_column();
                let open = |table: &Files, watch: &mut Watch<'_>| job.open(table, watch);
                let paid = purse.pay(user.as_deref(), open, &mut watch);
                paid.map(|(done, paid)| (done, Some(paid)))
            }
            None => {
                let done = job.open(&data, &mut watch).and_then(|ready| ready.run(&mut watch));
                done.map(|done| (done, None)).map_err(of_count)
            }
        };
        bar.finish();
        let (counted, receipt) = done?;
        let mut answer = answer(&counted);
        answer.remarks.extend(given_twice(&data.paths));
        if let Some(out) = &self.out {
            write_text(&format!("{:#}\n", json!(counted.certificate)), out)?;
            answer.text += &format!("\nWrote {} (the certificate).\n", out.display());
            answer.object["certificate"] = json!(out);
        }
        if let Some(receipt) = receipt {
            receipt.add_to(&mut answer);
        }
        Ok(answer)
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
    let remarks = not_private(certificate).into_iter().chain(weak(certificate)).collect();
    Answer { text, object: json!(object), remarks }
}
